package peerv1

import (
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
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
		return first(checkLoad(m.Load), amount("valid_ms", m.Valid))
	case protocol.Offer:
		return first(in("spec", checkSpec(m.Spec)), checkEpoch("epoch", m.Epoch), checkPayload(m.Payload))
	case protocol.Refused:
		return first(checkTag(m.Tag), text("reason", m.Reason, MaxReason))
	case protocol.Status:
		return checkStatus(m)
	case protocol.StatusAck:
		return checkTag(m.Tag)
	case protocol.Result:
		return first(checkTag(m.Tag), checkOutcome(m.Outcome))
	case protocol.Recall:
		return checkTag(m.Tag)
	case protocol.Fenced:
		return checkFenced(m)
	default:
		return fmt.Errorf("the type %T has no form on the wire", m)
	}
}

func checkQuoteRequest(m protocol.QuoteRequest) error {
	if err := first(amount("deadline_ms", m.Deadline), atMost("jobs", len(m.Jobs), MaxJobs)); err != nil {
		return err
	}
	for i := range m.Jobs {
		if err := checkSpec(m.Jobs[i]); err != nil {
			return fmt.Errorf("jobs[%d]: %w", i, err)
		}
	}
	return nil
}

func checkQuoteReply(m protocol.QuoteReply) error {
	if err := first(
		atMost("quotes", len(m.Quotes), MaxJobs),
		checkLoad(m.Load),
		count("free", m.Free),
		count("accept", m.Accept),
		amount("valid_ms", m.Valid),
	); err != nil {
		return err
	}
	for i := range m.Quotes {
		if err := checkQuote(m.Quotes[i]); err != nil {
			return fmt.Errorf("quotes[%d]: %w", i, err)
		}
	}
	return nil
}

func checkQuote(q protocol.Quote) error {
	if err := first(
		checkJob("job", q.Job),
		text("declined", q.Declined, MaxReason),
		amount("awt_ms", q.AWT),
		amount("awt_low_ms", q.AWTLow),
		amount("awt_high_ms", q.AWTHigh),
		amount("ert_ms", q.ERT),
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
	if err := first(
		atMost("terms", len(q.Terms), maxTerms),
		text("currency", q.Currency, 16),
		present("currency", q.Currency != "" || len(q.Terms) == 0),
	); err != nil {
		return err
	}
	for i, term := range q.Terms {
		if err := first(present("name", term.Name != ""), text("name", term.Name, 64)); err != nil {
			return fmt.Errorf("terms[%d]: %w", i, err)
		}
		for _, earlier := range q.Terms[:i] {
			if earlier.Name == term.Name {
				return fmt.Errorf("terms[%d]: name: %q is there twice", i, term.Name)
			}
		}
	}
	return nil
}

func checkStatus(m protocol.Status) error {
	if m.State != protocol.Pending && m.State != protocol.Running {
		return fmt.Errorf("state: %v is neither PENDING nor RUNNING", m.State)
	}
	return first(
		checkTag(m.Tag),
		text("reason", m.Reason, MaxReason),
		amount("waited_ms", m.Waited),
		amount("ran_ms", m.Ran),
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
	if err := first(
		count("exit_code", o.ExitCode),
		text("reason", o.Reason, MaxReason),
		amount("waited_ms", o.Waited),
		amount("ran_ms", o.Ran),
	); err != nil {
		return err
	}
	return checkFiles(o.Files)
}

func checkFiles(files []protocol.File) error {
	seen := map[protocol.Stream]bool{}
	for i, f := range files {
		if err := first(checkStream(f.Stream), amount("size", f.Size)); err != nil {
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
