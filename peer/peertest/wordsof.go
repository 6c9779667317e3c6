package peertest

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// message puts a message into words.
func (c *scribe) message(m protocol.Message) string { //nolint:cyclop,funlen // one line for each kind of message
	switch m := m.(type) {
	case protocol.QuoteRequest:
		names := make([]string, len(m.Jobs))
		for i, spec := range m.Jobs {
			names[i] = c.job(spec.Job)
		}
		return strings.TrimSpace(m.Kind() + " " + strings.Join(names, " "))
	case protocol.QuoteReply:
		var out strings.Builder
		fmt.Fprintf(&out, "%s, %d of %d CPUs busy", m.Kind(), m.Load.Busy, m.Load.CPUs)
		for _, q := range m.Quotes {
			fmt.Fprintf(&out, ", %s", c.quote(q))
		}
		out.WriteString(terms(m))
		return out.String()
	case protocol.Volunteer:
		return fmt.Sprintf("%s, %d of %d CPUs busy, for %v", m.Kind(), m.Load.Busy, m.Load.CPUs, m.Valid)
	case protocol.Offer:
		return fmt.Sprintf("%s %s:%d", m.Kind(), c.job(m.Spec.Job), m.Epoch)
	case protocol.Refused:
		return fmt.Sprintf("%s %s%s%s", m.Kind(), c.tag(m.Tag), marks("full", m.Full), because(m.Reason))
	case protocol.Status:
		return fmt.Sprintf("%s %s seq %d %v%s", m.Kind(), c.tag(m.Tag), m.Seq, m.State, because(m.Reason))
	case protocol.Watermark:
		return fmt.Sprintf("%s change %d, has seen change %d%s", m.Kind(), m.Life.Generation, m.Seen.Generation,
			marks("twin", m.Twin.Boot != 0, "overlapped", m.Overlapped))
	case protocol.PlannedStarts:
		parts := make([]string, len(m.Starts))
		for i, s := range m.Starts {
			parts[i] = fmt.Sprintf("%s in %v", c.tag(s.Tag), s.Wait)
		}
		return m.Kind() + " " + strings.Join(parts, ", ")
	case protocol.StatusAck:
		return fmt.Sprintf("%s %s seq %d", m.Kind(), c.tag(m.Tag), m.Seq)
	case protocol.Result:
		return fmt.Sprintf("%s %s %s", m.Kind(), c.tag(m.Tag), outcome(m.Outcome))
	case protocol.Recall:
		return m.Kind() + " " + c.tag(m.Tag) + marks("cancel", m.Cancel)
	case protocol.Fenced:
		return fmt.Sprintf("%s %s by epoch %d", m.Kind(), c.tag(m.Tag), m.Current)
	case protocol.Prepared:
		return m.Kind() + " " + c.tag(m.Tag)
	case protocol.Grant:
		return m.Kind() + " " + c.tag(m.Tag)
	case protocol.Accept:
		return m.Kind() + " " + c.tag(m.Tag)
	case protocol.PrepareExpired:
		return m.Kind() + " " + c.tag(m.Tag)
	case protocol.ResultAck:
		return m.Kind() + " " + c.tag(m.Tag)
	case protocol.Recalled:
		return m.Kind() + " " + c.tag(m.Tag)
	case protocol.DecisionQuery:
		return m.Kind() + " " + c.tag(m.Tag)
	case protocol.Abort:
		return m.Kind() + " " + c.tag(m.Tag)
	case protocol.UnknownJob:
		return m.Kind() + " " + c.tag(m.Tag)
	case protocol.OutcomeQuery:
		return m.Kind() + " " + c.job(m.Job)
	case protocol.JobOutcome:
		return fmt.Sprintf("%s %s %v", m.Kind(), c.job(m.Job), m.State)
	case protocol.ElementsQuery:
		return fmt.Sprintf("%s %s %v", m.Kind(), c.job(m.Array), m.Elements)
	case protocol.ElementsOutcome:
		text := fmt.Sprintf("%s %s completed %v, others %v", m.Kind(), c.job(m.Array), m.Completed, m.Others)
		if m.Unknown {
			text += ", unknown"
		}
		if m.NoArray {
			text += ", no array"
		}
		return text
	case protocol.UseReport:
		parts := make([]string, len(m.Uses))
		for i, u := range m.Uses {
			parts[i] = fmt.Sprintf("%s@%s %v", u.User, u.Origin, protocol.Duration(u.Amount))
			if u.Remaining != 0 {
				parts[i] += fmt.Sprintf(" and %v remaining", protocol.Duration(u.Remaining))
			}
		}
		return m.Kind() + " " + strings.Join(parts, ", ")
	}
	return m.Kind()
}

func (c *scribe) quote(q protocol.Quote) string {
	if q.Declined != "" {
		return fmt.Sprintf("%s declined%s", c.job(q.Job), because(q.Declined))
	}
	text := fmt.Sprintf("%s waits %v runs %v%s", c.job(q.Job), q.AWT, q.ERT, costs(q.Cost(), q.Currency))
	if q.Delay != 0 {
		text += fmt.Sprintf(" delays %v", q.Delay)
	}
	return text
}

// terms says what a reply says of all its jobs, if that is worth a word.
func terms(m protocol.QuoteReply) string {
	var out strings.Builder
	offers := 0
	for _, q := range m.Quotes {
		if q.Declined == "" {
			offers++
		}
	}
	if m.MaxJobs < offers {
		fmt.Fprintf(&out, ", takes %d", m.MaxJobs)
	}
	for i, longer := range m.MarginalWaits {
		fmt.Fprintf(&out, ", job %d waits %v more", i+2, longer)
	}
	return out.String()
}

// costs is a price in millionths of the currency's unit, nothing without a currency.
func costs(amount protocol.Micro, currency string) string {
	if currency == "" {
		return ""
	}
	return fmt.Sprintf(" costs %d µ%s", amount, currency)
}

func outcome(o protocol.Outcome) string {
	text := o.State.String()
	if o.ExitCode != 0 {
		text += fmt.Sprintf(" exit %d", o.ExitCode)
	}
	if o.Signal != 0 {
		text += fmt.Sprintf(" signal %d", o.Signal)
	}
	return text + fmt.Sprintf(" after %v", o.Ran) + because(o.Reason)
}

// op puts a call into words.
func (c *scribe) op(op event.Op) string { //nolint:cyclop // one line for each kind of call
	switch op := op.(type) {
	case event.QuoteOp:
		names := make([]string, len(op.Query.Jobs))
		for i, r := range op.Query.Jobs {
			names[i] = c.job(r.Job)
		}
		parts := []string{"quote " + strings.Join(names, " ")}
		for _, one := range op.Query.Ahead {
			parts = append(parts, "behind "+c.job(one.Tag.Job))
		}
		return strings.Join(parts, ", ")
	case event.SubmitOp:
		return "submit " + c.tag(op.Job.Tag) + marks("guest", op.Job.Guest) + " as " + op.Job.Account
	case event.StageInOp:
		return fmt.Sprintf("stage %s in from %s", c.tag(op.Tag), op.From)
	case event.LookupOp:
		return "find " + c.tag(op.Tag)
	case event.WithdrawOp:
		return "withdraw " + c.tag(op.Tag)
	case event.KillOp:
		return "kill " + c.tag(op.Tag)
	case event.WatchOp:
		return "watch"
	case event.ForgetOp:
		return "forget " + c.tag(op.Tag)
	case event.PrioritizeOp:
		return fmt.Sprintf("prioritize %d", len(op.Priorities))
	case event.PlannedStartsOp:
		return fmt.Sprintf("planned starts of %d", len(op.Tags))
	case event.CollectOp:
		return fmt.Sprintf("collect %s from %s", c.tag(op.Tag), op.From)
	case event.DiscardOp:
		return "discard what has come of " + c.tag(op.Tag)
	case event.DecideOp:
		return "decide"
	case event.ParetoOp:
		return "front"
	case event.ReserveOp:
		return "reserve " + c.tag(op.Hold.Tag) + " from " + op.Hold.Start.Time().Format("15:04:05.000")
	case event.CancelReservationOp:
		return "release " + c.tag(op.Tag)
	case event.ArchiveOp:
		return fmt.Sprintf("look %d jobs up in the archive", len(op.Jobs))
	case event.PriceOp:
		return "price of " + op.Area
	}
	return fmt.Sprintf("%T", op)
}

// result puts a call's answer into words.
func (c *scribe) result(r event.Result) string { //nolint:cyclop // one line for each kind of result
	switch r := r.(type) {
	case event.QuoteResult:
		parts := make([]string, len(r.Quotes))
		for i, q := range r.Quotes {
			parts[i] = c.quote(q)
		}
		return "quoted " + strings.Join(parts, ", ")
	case event.SubmitResult:
		if r.Refused != "" {
			return "refused" + because(r.Refused)
		}
		return "submitted"
	case event.StageInResult:
		return "staged in" + because(r.Failed)
	case event.LookupResult:
		return r.Presence.String()
	case event.WithdrawResult:
		return r.Withdrawal.String()
	case event.KillResult:
		return "killed"
	case event.WatchResult:
		return "watched " + c.changes(r.Watched.Changes)
	case event.ForgetResult:
		return "forgotten"
	case event.PrioritizeResult:
		return "prioritized"
	case event.PlannedStartsResult:
		return fmt.Sprintf("%d planned starts", len(r.Starts))
	case event.CollectResult:
		if r.Gone {
			return "gone"
		}
		return "collected" + because(r.Problem)
	case event.DiscardResult:
		return "discarded"
	case event.DecideResult:
		return fmt.Sprintf("decided for %d jobs", len(r.Decisions))
	case event.ParetoResult:
		return fmt.Sprintf("front of %d points", len(r.Front.Points))
	case event.ReserveResult:
		if r.Refused != "" {
			return "refused" + because(r.Refused)
		}
		return "reserved from " + r.Start.Time().Format("15:04:05.000")
	case event.CancelReservationResult:
		return "released"
	case event.ArchiveResult:
		return fmt.Sprintf("found %d jobs in the archive", len(r.Ended))
	case event.PriceResult:
		return fmt.Sprintf("priced %d slots", len(r.Prices.Slots))
	}
	return fmt.Sprintf("%T", r)
}

func (c *scribe) changes(changes []localsched.Change) string {
	parts := make([]string, len(changes))
	for i, change := range changes {
		parts[i] = fmt.Sprintf("%s %v", c.tag(change.Tag), change.State)
	}
	return strings.Join(parts, ", ")
}

func (c *scribe) fact(f event.LogEvent) string {
	text := string(f.Kind)
	if f.Job != 0 {
		text += " " + c.job(f.Job)
	}
	if f.Site != "" {
		text += " " + string(f.Site)
	}
	if f.State != 0 {
		text += " " + f.State.String()
	}
	text += because(f.Text) + siteQuotes(f.Quotes)
	if f.OmittedQuotes > 0 {
		text += fmt.Sprintf("; and %d others", f.OmittedQuotes)
	}
	if len(f.Silent) > 0 {
		text += "; silent: " + strings.Join(f.Silent, " ")
	}
	return text
}

func (c *scribe) reply(r view.Reply) string {
	switch r := r.(type) {
	case view.Submitted:
		parts := make([]string, len(r.Jobs))
		for i, id := range r.Jobs {
			parts[i] = c.job(id)
		}
		return "submitted " + strings.Join(parts, " ") + because(strings.Join(r.Notices, "; "))
	case view.Done:
		return "done" + because(r.Notice)
	case view.Refusal:
		parts := []string{fmt.Sprintf("refused %s%s", r.Code, because(r.Reason))}
		for _, no := range r.Sites {
			parts = append(parts, fmt.Sprintf("%s: %s", no.Site, no.Reason))
		}
		return strings.Join(parts, "; ")
	case view.TestSubmitResult:
		return quoted(r)
	case view.Job, view.Queue, view.Sites, view.RunHistory, view.Recovery, view.Shares:
	}
	return fmt.Sprintf("%T", r)
}

func quoted(r view.TestSubmitResult) string {
	parts := []string{"quoted"}
	for _, quotes := range r.Jobs {
		parts = append(parts, siteQuotes(quotes))
	}
	return strings.Join(parts, "")
}

func siteQuotes(quotes []view.Quote) string {
	var out strings.Builder
	for _, q := range quotes {
		if q.Declined != "" {
			fmt.Fprintf(&out, "; %s declined%s", q.Site, because(q.Declined))
			continue
		}
		fmt.Fprintf(&out, "; %s waits %v runs %v%s", q.Site, q.AWT, q.ERT, costs(q.Cost, q.Currency))
	}
	return out.String()
}
