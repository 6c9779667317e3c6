package peerv1

import (
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// checkMessage says what is wrong with a message, if anything. Both directions
// use it, so that nothing is sent that would be refused.
func checkMessage(m protocol.Message) error {
	if tag, ok := noticeTag(m); ok {
		return checkTag(tag)
	}
	switch m := m.(type) {
	case protocol.QuoteRequest:
		return checkQuoteRequest(m)
	case protocol.QuoteReply:
		return checkQuoteReply(m)
	case protocol.Volunteer:
		return wire.First(checkLoad(m.Load), wire.Amount("valid_ms", m.Valid))
	case protocol.Offer:
		return wire.First(
			wire.In("spec", checkSpec(m.Spec)), checkEpoch("epoch", m.Epoch), checkPayload(m.Payload),
			wire.Amount("start_ms", m.Start), wire.Amount("tolerance_ms", m.Tolerance),
		)
	case protocol.Prepared:
		return wire.First(checkTag(m.Tag), wire.Amount("start_ms", m.Start), checkTariff(m.Tariff))
	case protocol.Refused:
		return wire.First(checkTag(m.Tag), wire.Text("reason", m.Reason, MaxReason))
	case protocol.Status:
		return checkStatus(m)
	case protocol.StatusAck:
		return checkTag(m.Tag)
	case protocol.Result:
		return checkResult(m)
	case protocol.Recall:
		return checkTag(m.Tag)
	case protocol.Fenced:
		return checkFenced(m)
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
		wire.Text("reckon", string(m.Reckon), maxReckon),
		wire.Count("extra", m.Extra),
		atMost("extra", m.Extra, protocol.MaxExtra),
	)
}

func checkQuoteReply(m protocol.QuoteReply) error {
	return wire.First(
		wire.AtMost("quotes", len(m.Quotes), MaxJobs),
		checkLoad(m.Load),
		wire.Count("free", m.Free),
		wire.Count("accept", m.Accept),
		wire.Amount("valid_ms", m.Valid),
		wire.Count("most_cpus", m.MostCPUs),
		wire.Each("quotes", m.Quotes, checkQuote),
		checkExtra(m.Extra),
	)
}

func checkExtra(waits []protocol.Duration) error {
	if err := wire.AtMost("extra_ms", len(waits), protocol.MaxExtra-1); err != nil {
		return err
	}
	for i, wait := range waits {
		if wait < 0 || (i > 0 && wait < waits[i-1]) {
			return fmt.Errorf("extra_ms[%d]: is %d; waits are not negative and do not fall", i, int64(wait))
		}
	}
	return nil
}

func atMost(field string, n, most int) error {
	if n > most {
		return fmt.Errorf("%s: is %d, at most %d is allowed", field, n, most)
	}
	return nil
}

func checkQuote(q protocol.Quote) error {
	if err := wire.First(
		checkJob("job", q.Job),
		wire.Text("declined", q.Declined, MaxReason),
		wire.Amount("awt_ms", q.AWT),
		wire.Amount("awt_low_ms", q.AWTLow),
		wire.Amount("awt_high_ms", q.AWTHigh),
		wire.Amount("ert_ms", q.ERT),
		wire.Amount("bound_ms", q.Bound),
		wire.Text("note", q.Note, wire.MaxNote),
		checkTerms(q),
	); err != nil {
		return err
	}
	if q.Declined != "" {
		return checkDeclined(q)
	}
	return checkWaits(q)
}

func checkDeclined(q protocol.Quote) error {
	if q.AWT != 0 && q.AWT != protocol.Never {
		return fmt.Errorf("awt_ms: is %d in a declined quote; use 0 or never", int64(q.AWT))
	}
	if len(q.Terms) > 0 {
		return errors.New("terms: a declined quote has none")
	}
	if q.Note != "" {
		return errors.New("note: a declined quote has none; say it in declined")
	}
	return nil
}

func checkWaits(q protocol.Quote) error {
	if q.AWT == protocol.Never {
		return errors.New("awt_ms: is never, but the quote is not declined")
	}
	stated := q.AWTLow != 0 || q.AWTHigh != 0
	if stated && (q.AWTLow > q.AWT || q.AWT > q.AWTHigh) {
		return fmt.Errorf("awt_ms: %d is outside its range %d to %d", int64(q.AWT), int64(q.AWTLow), int64(q.AWTHigh))
	}
	return nil
}

func checkTerms(q protocol.Quote) error {
	return wire.First(
		wire.Text("currency", q.Currency, wire.MaxCurrency),
		wire.Present("currency", q.Currency != "" || len(q.Terms) == 0),
		checkAmounts(q.Terms),
	)
}

func checkAmounts(terms []protocol.Term) error {
	if err := wire.AtMost("terms", len(terms), wire.MaxTerms); err != nil {
		return err
	}
	for i, term := range terms {
		if err := wire.Required("name", term.Name, wire.MaxName); err != nil {
			return fmt.Errorf("terms[%d]: %w", i, err)
		}
		for _, earlier := range terms[:i] {
			if earlier.Name == term.Name {
				return fmt.Errorf("terms[%d]: name: %q is there twice", i, term.Name)
			}
		}
	}
	return nil
}

func checkTariff(t *protocol.Tariff) error {
	if t == nil {
		return nil
	}
	return wire.In("tariff", wire.First(
		wire.Required("currency", t.Currency, wire.MaxCurrency),
		wire.Present("charges", len(t.Charges) > 0),
		wire.AtMost("charges", len(t.Charges), wire.MaxTerms),
		wire.Each("charges", t.Charges, checkCharge),
	))
}

func checkCharge(c protocol.Charge) error {
	if err := wire.First(
		wire.Required("name", c.Name, wire.MaxName),
		wire.Amount("units", c.Units),
		wire.Amount("per", c.Per),
		wire.Present("per", c.Per > 0 || len(c.Steps) == 0),
		wire.AtMost("from_ms", len(c.Steps), protocol.MaxSteps),
	); err != nil {
		return err
	}
	for i, step := range c.Steps {
		if step.From < 0 || (i > 0 && step.From <= c.Steps[i-1].From) {
			return fmt.Errorf("from_ms[%d]: is %d; prices begin in order", i, int64(step.From))
		}
	}
	return nil
}

func checkBill(b *protocol.Bill) error {
	if b == nil {
		return nil
	}
	return wire.In("bill", wire.First(
		wire.Amount("start_ms", b.Start), wire.Required("currency", b.Currency, wire.MaxCurrency), checkAmounts(b.Terms),
	))
}

func checkStatus(m protocol.Status) error {
	if m.State != protocol.Pending && m.State != protocol.Running {
		return fmt.Errorf("state: %v is neither PENDING nor RUNNING", m.State)
	}
	return wire.First(
		checkTag(m.Tag),
		wire.Text("reason", m.Reason, MaxReason),
		wire.Amount("waited_ms", m.Waited),
		wire.Amount("ran_ms", m.Ran),
		wire.Amount("at_ms", m.At),
	)
}

func checkResult(m protocol.Result) error {
	return wire.First(
		checkTag(m.Tag), checkOutcome(m.Outcome), checkContents(m.Contents, m.Outcome.Files),
		wire.Amount("started_ms", m.Started), wire.Amount("ended_ms", m.Ended), wire.Amount("at_ms", m.At),
		wire.Present("at_ms", m.At != 0 || m.Ended == 0),
	)
}

func checkOutcome(o protocol.Outcome) error {
	if !o.State.Terminal() {
		return fmt.Errorf("state: %v is not a last state", o.State)
	}
	if o.Signal < 0 || o.Signal > 127 {
		return fmt.Errorf("signal: %d is outside 0 to 127", o.Signal)
	}
	if o.Signal != 0 && o.ExitCode != 0 {
		return fmt.Errorf("exit_code: is %d, but signal %d ended the job", o.ExitCode, o.Signal)
	}
	if err := wire.First(
		wire.Count("exit_code", o.ExitCode),
		wire.Text("reason", o.Reason, MaxReason),
		wire.Amount("waited_ms", o.Waited),
		wire.Amount("ran_ms", o.Ran),
		wire.Usage("usage", o.Usage),
		checkBill(o.Bill),
	); err != nil {
		return err
	}
	return checkFiles(o.Files)
}

// checkContents checks that a result brings all of its files or none.
func checkContents(contents [][]byte, files []protocol.File) error {
	if len(contents) == 0 {
		return nil
	}
	if len(contents) != len(files) {
		return fmt.Errorf("contents: are of %d files, and the job has %d", len(contents), len(files))
	}
	total := 0
	for i, content := range contents {
		if int64(len(content)) != files[i].Size {
			return fmt.Errorf("contents[%d]: has %d bytes, and its file %d", i, len(content), files[i].Size)
		}
		total += len(content)
	}
	return wire.AtMost("contents", total, protocol.MaxContents)
}

func checkFiles(files []protocol.File) error {
	seen := map[protocol.Stream]bool{}
	for i, f := range files {
		if err := wire.First(checkStream(f.Stream), wire.Amount("size", f.Size)); err != nil {
			return fmt.Errorf("files[%d]: %w", i, err)
		}
		if seen[f.Stream] {
			return fmt.Errorf("files[%d]: stream: %v is there twice", i, f.Stream)
		}
		seen[f.Stream] = true
	}
	return nil
}

func checkStream(s protocol.Stream) error {
	if s != protocol.Stdout && s != protocol.Stderr {
		return fmt.Errorf("stream: %v is unknown", s)
	}
	return nil
}

func checkFenced(m protocol.Fenced) error {
	if err := checkTag(m.Tag); err != nil {
		return err
	}
	if m.Current <= m.Tag.Epoch {
		return fmt.Errorf("current: epoch %d is not above the fenced epoch %d", m.Current, m.Tag.Epoch)
	}
	return nil
}
