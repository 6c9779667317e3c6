package peertest

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// scribe puts steps into words. Jobs are named by their origin and their order
// there, as a1; a placement of epoch 2 is a1:2.
type scribe struct {
	names map[protocol.SiteNumber]protocol.SiteName
	first map[protocol.SiteNumber]uint64 // sequence number of a site's first job
}

// testJobs is more than one question is about.
const testJobs = 1 << 20

func (c *scribe) job(id protocol.JobID) string {
	n := id.Origin()
	if left := protocol.SeqsPerSite - id.Seq(); left <= testJobs {
		return fmt.Sprintf("%s?%d", c.names[n], left) // of a question
	}
	return fmt.Sprintf("%s%d", c.names[n], id.Seq()+1-c.first[n])
}

func (c *scribe) tag(t protocol.Tag) string { return fmt.Sprintf("%s:%d", c.job(t.Job), t.Epoch) }

// step says what an event made a peer do, one line each.
func (c *scribe) step(site protocol.SiteName, ev event.Event, ready event.Ready) []string {
	var lines []string
	add := func(format string, args ...any) {
		lines = append(lines, fmt.Sprintf("%s:   ", site)+fmt.Sprintf(format, args...))
	}
	for _, rec := range ready.Records {
		if text := c.record(rec); text != "" {
			add("row %s", text)
		}
	}
	for _, m := range ready.Messages {
		add("send %s %s", m.To, c.message(m.Body))
	}
	for _, call := range ready.Calls {
		if _, watch := call.Op.(event.WatchOp); !watch { // there is always one
			add("call %s", c.op(call.Op))
		}
	}
	for _, f := range ready.LogEvents {
		add("event %s", c.fact(f))
	}
	for _, a := range ready.Answers {
		add("answer %s", c.reply(a.Reply))
	}
	if len(lines) == 0 && idle(ev) {
		return nil
	}
	return append([]string{fmt.Sprintf("%s: %s", site, c.event(ev))}, lines...)
}

// idle says whether an event is not worth a line when nothing comes of it.
func idle(ev event.Event) bool {
	switch ev := ev.(type) {
	case event.Tick, event.DigestSeen, event.AskQueue, event.AskSites, event.AskShares, event.AskJob, event.AskOutput, event.AskRunHistory, event.AskRecovery:
		return true
	case event.CallDone:
		switch ev.Result.(type) { //nolint:gochecksumtype // something comes of all others
		case event.ForgetResult, event.DiscardResult:
			return true
		}
	case event.MessageIn, event.Connected, event.Disconnected, event.MemberSeen, event.Submit, event.Cancel, event.SetHold, event.SetDrain, event.Update, event.Requeue, event.Recover, event.TestSubmit, event.Reconfigure, event.SetPartners, event.ChangePrices, event.ClockSet:
	}
	return false
}

func (c *scribe) event(ev event.Event) string { //nolint:cyclop // one case for each kind of event
	switch ev := ev.(type) {
	case event.MessageIn:
		return fmt.Sprintf("hears %s %s", ev.From, c.message(ev.Body))
	case event.Connected:
		return fmt.Sprintf("connected %s", ev.Card.Site)
	case event.Disconnected:
		return fmt.Sprintf("disconnected %s", ev.Site)
	case event.CallDone:
		if ev.Err != nil {
			return "call fails: " + ev.Err.Error()
		}
		return "call done: " + c.result(ev.Result)
	case event.Submit:
		return fmt.Sprintf("asked to submit %d jobs", len(ev.Jobs))
	case event.Cancel:
		return "asked to cancel " + c.job(ev.Job)
	case event.SetHold:
		if ev.Hold {
			return "asked to hold " + c.job(ev.Job)
		}
		return "asked to release " + c.job(ev.Job)
	case event.SetDrain:
		if ev.Scope == "" {
			return fmt.Sprintf("asked to resume %s", ev.Site)
		}
		return fmt.Sprintf("asked to drain %s (%s)", ev.Site, ev.Scope)
	case event.Update:
		return "asked to change " + c.job(ev.Job) + ": " + ev.Change.String()
	case event.Requeue:
		return "asked to requeue " + c.job(ev.Job) + marks("by force", ev.Force)
	case event.Recover:
		return "an operator lets this store go on"
	case event.Reconfigure:
		return fmt.Sprintf("tuned to %s, policy %s", ev.Runtime.Initiation, ev.Runtime.Policy.Name)
	case event.SetPartners:
		return fmt.Sprintf("given %d partners", len(ev.Partners))
	case event.ChangePrices:
		return "given another feed of prices"
	case event.DigestSeen:
		return fmt.Sprintf("sees the digest of %s: %d of %d CPUs busy", ev.Digest.Site, ev.Digest.Load.Busy, ev.Digest.Load.CPUs)
	case event.MemberSeen:
		return fmt.Sprintf("sees site %s number %d", ev.Site, ev.Number)
	case event.Tick:
		return "tick"
	case event.TestSubmit, event.AskQueue, event.AskJob, event.AskOutput, event.AskSites, event.AskShares, event.AskRunHistory, event.AskRecovery, event.ClockSet:
	}
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", ev), "event."))
}

func (c *scribe) record(rec row.Record) string {
	switch row := rec.Row.(type) {
	case row.Job:
		return "job " + c.jobRow(row)
	case row.Array:
		e := row.Ended
		return fmt.Sprintf("array %s of %v, pending %v, ended %d%s", c.job(row.ID()), row.Asked, row.Pending,
			e.Completed+e.Failed+e.Cancelled+e.Timeout+e.NodeFail, because(row.Cancelled.String()))
	case row.Guest:
		return fmt.Sprintf("guest %s:%d %s%s", c.job(row.Spec.Job), row.Epoch, row.Phase,
			marks("recalled", row.Recalled, "cancel", row.Cancel, "fenced", row.Fenced))
	case row.Run:
		return fmt.Sprintf("run %s %s%s%s", c.tag(row.Tag), row.Phase,
			marks("withdraw", row.Withdraw, "kill", row.Kill), because(row.Reason))
	case row.Archived:
		return fmt.Sprintf("archive %s %v%s", c.job(row.View.ID), row.View.State, because(row.View.Reason))
	case row.EarlierRun:
		return fmt.Sprintf("earlier run %s:%d %v%s", c.job(row.View.ID), row.View.Epoch, row.View.State, because(row.View.Reason))
	case row.Payload, row.Site, row.Generation, row.Partner, row.Dedup, row.Application, row.Executions, row.Use:
		return ""
	case row.Requeueable:
		return "requeueable " + c.job(row.ID())
	}
	switch rec.Table {
	case row.JobTable, row.ArrayTable, row.RequeueableTable, row.GuestTable, row.RunTable:
		return fmt.Sprintf("%s %s deleted", rec.Table, c.key(rec.Key))
	case row.PayloadTable, row.DedupTable, row.SiteTable, row.GenerationTable, row.PartnerTable, row.ApplicationTable, row.ExecutionTable, row.UseTable, row.ArchiveTable, row.EarlierTable:
	}
	return ""
}

func (c *scribe) jobRow(row row.Job) string {
	at := ""
	if row.Site != "" {
		at = " at " + string(row.Site)
	}
	return fmt.Sprintf("%s:%d %s%s, %v%s%s", c.job(row.Spec.Job), row.Epoch, row.Phase, at, row.State,
		marks("cancelling", row.Cancelling), because(row.Reason)+because(row.OperatorReason))
}

// key reads a row's key back.
func (c *scribe) key(key string) string {
	id, epoch, run := strings.Cut(key, ".")
	var n uint64
	if _, err := fmt.Sscan(strings.TrimLeft(id, "0"), &n); err != nil {
		return key
	}
	if run {
		return c.job(protocol.JobID(n)) + ":" + epoch
	}
	return c.job(protocol.JobID(n))
}

func marks(pairs ...any) string {
	var out strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if on, ok := pairs[i+1].(bool); ok && on {
			fmt.Fprintf(&out, " %v", pairs[i])
		}
	}
	return out.String()
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", reason)
}
