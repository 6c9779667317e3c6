package peerv1

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// checkMessage says what is wrong with a message, if anything. Both directions
// use it, so that nothing is sent that would be refused.
func checkMessage(m protocol.Message) error { //nolint:cyclop // one case for each kind
	if tag, ok := noticeTag(m); ok {
		return checkTag(tag)
	}
	switch m := m.(type) {
	case protocol.QuoteRequest:
		return checkQuoteRequest(m)
	case protocol.QuoteReply:
		return checkQuoteReply(m)
	case protocol.Volunteer:
		return wire.First(commonv1.CheckLoad(m.Load), wire.Amount("valid_ms", m.Valid))
	case protocol.Offer:
		return wire.First(
			wire.In("spec", checkSpec(m.Spec)), checkEpoch("epoch", m.Epoch), commonv1.CheckPayload(m.Payload),
			wire.Amount("start_ms", m.Start), wire.Amount("tolerance_ms", m.Tolerance),
		)
	case protocol.Prepared:
		return wire.First(checkTag(m.Tag), wire.Amount("start_ms", m.Start), checkTariff(m.Tariff))
	case protocol.Refused:
		return wire.First(checkTag(m.Tag), wire.Text("reason", m.Reason, MaxReason))
	case protocol.Status:
		return checkStatus(m)
	case protocol.PlannedStarts:
		return wire.First(
			wire.Present("starts", len(m.Starts) > 0), wire.AtMost("starts", len(m.Starts), protocol.MaxPlannedStarts),
			wire.Each("starts", m.Starts, checkPlannedStart),
		)
	case protocol.StatusAck:
		return checkTag(m.Tag)
	case protocol.Result:
		return checkResult(m)
	case protocol.Recall:
		return checkTag(m.Tag)
	case protocol.UnknownJob:
		return checkTag(m.Tag)
	case protocol.Fenced:
		return checkFenced(m)
	case protocol.OutcomeQuery:
		return wire.First(checkJob("job", m.Job), wire.Text("user", m.User, protocol.MaxUser))
	case protocol.JobOutcome:
		return checkJobOutcome(m)
	case protocol.ElementsQuery:
		return wire.First(
			checkJob("array", m.Array), wire.Required("user", m.User, protocol.MaxUser),
			wire.Present("elements", !m.Elements.IsZero()), checkRuns("elements", m.Elements),
		)
	case protocol.ElementsOutcome:
		return wire.First(
			checkJob("array", m.Array), wire.Text("user", m.User, protocol.MaxUser), checkRuns("completed", m.Completed), checkRuns("others", m.Others),
		)
	case protocol.UseReport:
		return wire.First(
			wire.Present("at_ms", m.At > 0), wire.Present("half_life_ms", m.HalfLife > 0), wire.Amount("half_life_ms", m.HalfLife),
			wire.AtMost("uses", len(m.Uses), protocol.MaxUses), wire.Each("uses", m.Uses, checkUse),
		)
	case protocol.Watermark:
		return wire.First(
			wire.Present("life", m.Life.Boot > 0), checkLife("life", m.Life), checkLife("seen", m.Seen),
			checkSeq(m.SeenSeq), checkLife("twin", m.Twin),
		)
	default:
		return fmt.Errorf("the type %T has no form on the wire", m)
	}
}

func checkQuoteRequest(m protocol.QuoteRequest) error {
	return wire.First(
		wire.Amount("deadline_ms", m.Deadline),
		wire.AtMost("jobs", len(m.Jobs), MaxJobs),
		wire.Each("jobs", m.Jobs, checkSpec),
		wire.Text("energy_pricing", string(m.EnergyPricing), maxEnergyPricing),
		wire.Count("marginal_jobs", m.MarginalJobs),
		atMost("marginal_jobs", m.MarginalJobs, protocol.MaxMarginalJobs),
	)
}

func checkPlannedStart(s protocol.PlannedStart) error {
	return wire.First(checkTag(s.Tag), wire.Amount("wait_ms", s.Wait))
}

func checkUse(u protocol.Use) error {
	association := protocol.Association{Account: u.Account}
	return wire.First(
		wire.In("origin", u.Origin.Validate()), association.CheckAssociation(), wire.Required("user", u.User, protocol.MaxUser), wire.In("user", protocol.CheckText(u.User)),
		wire.Amount("period", u.Period), wire.Amount("cpu_ms", u.Amount), wire.Amount("remaining_cpu_ms", u.Remaining),
	)
}

func checkJobOutcome(m protocol.JobOutcome) error {
	return wire.First(checkJob("job", m.Job), wire.Text("user", m.User, protocol.MaxUser), wire.Amount("started_ms", m.Started), wire.Amount("ended_ms", m.Ended))
}

func checkRuns(field string, x protocol.Indexes) error {
	return wire.First(wire.AtMost(field, len(x), protocol.MaxElementRuns), wire.In(field, x.Check()))
}

func checkQuoteReply(m protocol.QuoteReply) error {
	return wire.First(
		wire.AtMost("quotes", len(m.Quotes), MaxJobs),
		commonv1.CheckLoad(m.Load),
		wire.Count("free", m.Free),
		wire.Count("max_jobs", m.MaxJobs),
		wire.Amount("valid_ms", m.Valid),
		wire.Count("max_cpus", m.MaxCPUs),
		wire.Text("draining", m.Draining, MaxReason),
		wire.Each("quotes", m.Quotes, checkQuote),
		checkExtra(m.MarginalWaits),
	)
}

func checkExtra(waits []protocol.Duration) error {
	if err := wire.AtMost("marginal_wait_ms", len(waits), protocol.MaxMarginalJobs-1); err != nil {
		return err
	}
	for i, wait := range waits {
		if wait < 0 || (i > 0 && wait < waits[i-1]) {
			return wire.Wrong(wire.Entry("marginal_wait_ms", i), "is %d; waits are not negative and do not fall", int64(wait))
		}
	}
	return nil
}

func atMost(field string, n, most int) error {
	if n > most {
		return wire.Wrong(field, "is %d, at most %d is allowed", n, most)
	}
	return nil
}

func checkQuote(q protocol.Quote) error {
	return wire.First(checkJob("job", q.Job), commonv1.CheckQuote(q), checkWait(q))
}

// checkWait checks what a quote says to another site.
func checkWait(q protocol.Quote) error {
	switch {
	case q.Delay != 0:
		return wire.Wrong("delay_ms", "is not for another site")
	case q.AWT == protocol.Never && q.Declined == "":
		return wire.Wrong("awt_ms", "is never, but the quote is not declined")
	}
	return nil
}

func checkTariff(t *protocol.Tariff) error {
	if t == nil {
		return nil
	}
	return wire.In("tariff", wire.First(
		wire.Required("currency", t.Currency, protocol.MaxCurrency),
		wire.Present("charges", len(t.Charges) > 0),
		wire.AtMost("charges", len(t.Charges), protocol.MaxTerms),
		wire.Each("charges", t.Charges, checkCharge),
	))
}

func checkCharge(c protocol.Charge) error {
	if err := wire.First(
		wire.Required("name", c.Name, protocol.MaxName),
		wire.Amount("units", c.Units),
		wire.Amount("per", c.Per),
		wire.Present("per", c.Per > 0 || len(c.Steps) == 0),
		wire.AtMost("from_ms", len(c.Steps), protocol.MaxSteps),
	); err != nil {
		return err
	}
	for i, step := range c.Steps {
		if step.From < 0 || (i > 0 && step.From <= c.Steps[i-1].From) {
			return wire.Wrong(wire.Entry("from_ms", i), "is %d; prices begin in order", int64(step.From))
		}
	}
	return nil
}

func checkStatus(m protocol.Status) error {
	if m.State != protocol.Pending && m.State != protocol.Running {
		return wire.Wrong("state", "%v is neither PENDING nor RUNNING", m.State)
	}
	return wire.First(
		checkTag(m.Tag),
		wire.Text("reason", m.Reason, MaxReason),
		wire.Amount("waited_ms", m.Waited),
		wire.Amount("ran_ms", m.Ran),
		wire.Amount("at_ms", m.At),
		wire.Amount("time_limit_ms", m.TimeLimit),
	)
}

func checkResult(m protocol.Result) error {
	return wire.First(
		checkTag(m.Tag), commonv1.CheckOutcome(m.Outcome), checkContents(m.Contents, m.Outcome.Files),
		wire.Amount("started_ms", m.Started), wire.Amount("ended_ms", m.Ended), wire.Amount("at_ms", m.At),
		wire.Present("at_ms", m.At != 0 || m.Ended == 0),
	)
}

// checkContents checks that a result brings all of its files or none.
func checkContents(contents [][]byte, files []protocol.File) error {
	if len(contents) == 0 {
		return nil
	}
	if len(contents) != len(files) {
		return wire.Wrong("contents", "are of %d files, and the job has %d", len(contents), len(files))
	}
	total := 0
	for i, content := range contents {
		if int64(len(content)) != files[i].Size {
			return wire.Wrong(wire.Entry("contents", i), "has %d bytes, and its file %d", len(content), files[i].Size)
		}
		total += len(content)
	}
	return wire.AtMost("contents", total, protocol.MaxContents)
}

func checkFenced(m protocol.Fenced) error {
	if err := checkTag(m.Tag); err != nil {
		return err
	}
	if m.Current <= m.Tag.Epoch {
		return wire.Wrong("current", "epoch %d is not above the fenced epoch %d", m.Current, m.Tag.Epoch)
	}
	return nil
}
