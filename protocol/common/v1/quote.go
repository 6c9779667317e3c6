package commonv1

import (
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeQuote converts a quote.
func EncodeQuote(q protocol.Quote) *Quote {
	return &Quote{
		Job: uint64(q.Job), Declined: q.Declined,
		AwtMs: wire.EncodeSpan(q.AWT), AwtLowMs: wire.EncodeSpan(q.AWTLow), AwtHighMs: wire.EncodeSpan(q.AWTHigh),
		AwtMedianMs: wire.EncodeSpan(q.AWTMedian),
		ErtMs:       wire.EncodeSpan(q.ERT), BoundMs: wire.EncodeSpan(q.Bound), DelayMs: wire.EncodeSpan(q.Delay),
		Terms: wire.Convert(q.Terms, encodeTerm), Currency: q.Currency, Note: q.Note,
	}
}

// DecodeQuote converts a quote.
func DecodeQuote(m *Quote) protocol.Quote {
	return protocol.Quote{
		Job: protocol.JobID(m.GetJob()), Declined: m.GetDeclined(),
		AWT: wire.DecodeSpan(m.GetAwtMs()), AWTLow: wire.DecodeSpan(m.GetAwtLowMs()), AWTHigh: wire.DecodeSpan(m.GetAwtHighMs()),
		AWTMedian: wire.DecodeSpan(m.GetAwtMedianMs()),
		ERT:       wire.DecodeSpan(m.GetErtMs()), Bound: wire.DecodeSpan(m.GetBoundMs()), Delay: wire.DecodeSpan(m.GetDelayMs()),
		Terms: wire.Convert(m.GetTerms(), decodeTerm), Currency: m.GetCurrency(), Note: m.GetNote(),
	}
}

// CheckQuote checks a quote. A declined one may say that the wait is never.
func CheckQuote(q protocol.Quote) error {
	if err := wire.First(
		wire.Text("declined", q.Declined, protocol.MaxReason),
		wire.Amount("awt_ms", q.AWT),
		wire.Amount("awt_low_ms", q.AWTLow),
		wire.Amount("awt_high_ms", q.AWTHigh),
		wire.Amount("awt_median_ms", q.AWTMedian),
		wire.Amount("ert_ms", q.ERT),
		wire.Amount("bound_ms", q.Bound),
		wire.Amount("delay_ms", q.Delay),
		wire.Text("note", q.Note, protocol.MaxNote),
		wire.Text("currency", q.Currency, protocol.MaxCurrency),
		wire.Present("currency", q.Currency != "" || len(q.Terms) == 0),
		checkTerms(q.Terms),
	); err != nil {
		return err
	}
	if q.Declined != "" {
		return checkDeclined(q)
	}
	if stated := q.AWTLow != 0 || q.AWTHigh != 0; stated && (q.AWTLow > q.AWT || q.AWT > q.AWTHigh) {
		return wire.Wrong("awt_ms", "%v is outside its range %v to %v", q.AWT, q.AWTLow, q.AWTHigh)
	}
	if q.AWTMedian != 0 && (q.AWTLow > q.AWTMedian || q.AWTMedian > q.AWTHigh) {
		return wire.Wrong("awt_median_ms", "%v is outside its range %v to %v", q.AWTMedian, q.AWTLow, q.AWTHigh)
	}
	return nil
}

func checkDeclined(q protocol.Quote) error {
	switch {
	case (q.AWT != 0 && q.AWT != protocol.Never) || q.AWTLow != 0 || q.AWTMedian != 0 || q.AWTHigh != 0 || q.ERT != 0 || q.Bound != 0 || q.Delay != 0:
		return wire.Wrong("awt_ms", "a declined quote has no times; use 0")
	case len(q.Terms) > 0:
		return wire.Wrong("terms", "a declined quote has none")
	case q.Note != "":
		return wire.Wrong("note", "a declined quote has none; say it in declined")
	}
	return nil
}

func encodeTerm(t protocol.Term) *Term { return &Term{Name: t.Name, AmountMicro: int64(t.Amount)} }

func decodeTerm(m *Term) protocol.Term {
	return protocol.Term{Name: m.GetName(), Amount: protocol.Micro(m.GetAmountMicro())}
}

func checkTerms(terms []protocol.Term) error {
	if err := wire.AtMost("terms", len(terms), protocol.MaxTerms); err != nil {
		return err
	}
	for i, term := range terms {
		if err := wire.First(wire.Required("name", term.Name, protocol.MaxName), wire.Text("name", term.Name, protocol.MaxName)); err != nil {
			return wire.In(wire.Entry("terms", i), err)
		}
		for _, earlier := range terms[:i] {
			if earlier.Name == term.Name {
				return wire.In(wire.Entry("terms", i), wire.Wrong("name", "duplicate %q", term.Name))
			}
		}
	}
	return nil
}

func encodeBill(b *protocol.Bill) *Bill {
	if b == nil {
		return nil
	}
	return &Bill{StartMs: int64(b.Start), Currency: b.Currency, Terms: wire.Convert(b.Terms, encodeTerm)}
}

func decodeBill(m *Bill) *protocol.Bill {
	if m == nil {
		return nil
	}
	return &protocol.Bill{
		Start: protocol.Instant(m.GetStartMs()), Currency: m.GetCurrency(), Terms: wire.Convert(m.GetTerms(), decodeTerm),
	}
}

func checkBill(b *protocol.Bill) error {
	if b == nil {
		return nil
	}
	return wire.In("bill", wire.First(
		wire.Amount("start_ms", b.Start), wire.Required("currency", b.Currency, protocol.MaxCurrency), checkTerms(b.Terms),
	))
}
