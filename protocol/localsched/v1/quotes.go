package localschedv1

import (
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeQuotes checks and converts the answers to a query's jobs. A quote without
// a term that others have gets it, with the amount 0. The error names the quote
// and the field.
func EncodeQuotes(jobs []protocol.Request, quotes []protocol.Quote) (*QuoteResponse, error) {
	if len(quotes) != len(jobs) {
		return nil, fmt.Errorf("%d quotes for %d jobs", len(quotes), len(jobs))
	}
	n := len(quotes)
	m := &QuoteResponse{
		Declined: make([]string, n), Awt: make([]int64, n), AwtLow: make([]int64, n),
		AwtHigh: make([]int64, n), Ert: make([]int64, n), Bound: make([]int64, n), Delay: make([]int64, n),
		Note: make([]string, n),
	}
	for i := range quotes {
		q := &quotes[i]
		if q.Job != jobs[i].Job {
			return nil, fmt.Errorf("quotes[%d]: is for job %v, not %v; keep the order of the jobs", i, q.Job, jobs[i].Job)
		}
		if q.Declined != "" {
			m.Declined[i] = wire.Clip(q.Declined, MaxReason)
			continue
		}
		m.Awt[i], m.AwtLow[i] = wire.EncodeSpan(q.AWT), wire.EncodeSpan(q.AWTLow)
		m.AwtHigh[i], m.Ert[i] = wire.EncodeSpan(q.AWTHigh), wire.EncodeSpan(q.ERT)
		m.Bound[i], m.Delay[i] = wire.EncodeSpan(q.Bound), wire.EncodeSpan(q.Delay)
		m.Note[i] = wire.Clip(q.Note, wire.MaxNote)
		if err := wire.First(checkWaits(q), m.price(i, q)); err != nil {
			return nil, fmt.Errorf("quotes[%d]: %w", i, err)
		}
	}
	m.Bound, m.Delay, m.Note = wire.Sparse(m.GetBound()), wire.Sparse(m.GetDelay()), wire.Sparse(m.GetNote())
	return m, nil
}

// DecodeQuotes checks and converts the answers to a query's jobs. The error names
// the column, or the quote and the field.
func DecodeQuotes(m *QuoteResponse, jobs []protocol.Request) ([]protocol.Quote, error) {
	if err := checkColumns(m, len(jobs)); err != nil || len(jobs) == 0 {
		return nil, err
	}
	quotes := make([]protocol.Quote, len(jobs))
	terms := make([]protocol.Term, len(jobs)*len(m.GetTerms()))
	bounds, delays := wire.Dense(m.GetBound(), len(jobs)), wire.Dense(m.GetDelay(), len(jobs))
	notes := wire.Dense(m.GetNote(), len(jobs))
	for i := range quotes {
		q := &quotes[i]
		q.Job, q.Declined, q.Note = jobs[i].Job, m.GetDeclined()[i], notes[i]
		q.AWT, q.AWTLow = wire.DecodeSpan(m.GetAwt()[i]), wire.DecodeSpan(m.GetAwtLow()[i])
		q.AWTHigh, q.ERT = wire.DecodeSpan(m.GetAwtHigh()[i]), wire.DecodeSpan(m.GetErt()[i])
		q.Bound, q.Delay = wire.DecodeSpan(bounds[i]), wire.DecodeSpan(delays[i])
		check := checkWaits
		if q.Declined != "" {
			check = checkDeclined
		}
		if err := wire.First(check(q), checkNote(q.Note, q.Declined), m.read(i, q, &terms)); err != nil {
			return nil, fmt.Errorf("quotes[%d]: %w", i, err)
		}
	}
	return quotes, nil
}

// price enters the terms of a quote in the columns.
func (x *QuoteResponse) price(i int, q *protocol.Quote) error {
	if err := x.agree(q.Currency); err != nil {
		return err
	}
	for k, term := range q.Terms {
		for _, earlier := range q.Terms[:k] {
			if earlier.Name == term.Name {
				return fmt.Errorf("terms[%d]: name: %q is there twice", k, term.Name)
			}
		}
		column, err := x.column(term.Name)
		if err != nil {
			return fmt.Errorf("terms[%d]: %w", k, err)
		}
		column.Amount[i] = int64(term.Amount)
	}
	if len(q.Terms) > 0 && q.Currency == "" {
		return wire.Present("currency", false)
	}
	return nil
}

// agree takes the currency of a quote, which must be that of all.
func (x *QuoteResponse) agree(currency string) error {
	if currency != "" && x.GetCurrency() != "" && currency != x.GetCurrency() {
		return fmt.Errorf("currency: is %s, but %s in an earlier quote", currency, x.GetCurrency())
	}
	if currency != "" {
		x.Currency = currency
	}
	return wire.AtMost("currency", len(currency), wire.MaxCurrency)
}

// column is that of a term; a new one is 0 everywhere.
func (x *QuoteResponse) column(name string) (*Term, error) {
	for _, term := range x.GetTerms() {
		if term.GetName() == name {
			return term, nil
		}
	}
	term := &Term{Name: name, Amount: make([]int64, len(x.GetAwt()))}
	x.Terms = append(x.Terms, term)
	return term, wire.First(wire.Required("name", name, wire.MaxName), wire.AtMost("terms", len(x.GetTerms()), wire.MaxTerms))
}

// read takes the terms of a quote from the columns, into room that all share.
func (x *QuoteResponse) read(i int, q *protocol.Quote, room *[]protocol.Term) error {
	if q.Declined != "" {
		for _, term := range x.GetTerms() {
			if term.GetAmount()[i] != 0 {
				return fmt.Errorf("terms: a declined quote has none, but %s is %d", term.GetName(), term.GetAmount()[i])
			}
		}
		return nil
	}
	q.Currency = x.GetCurrency()
	if n := len(x.GetTerms()); n > 0 {
		q.Terms, *room = (*room)[:n:n], (*room)[n:]
	}
	for k, term := range x.GetTerms() {
		q.Terms[k] = protocol.Term{Name: term.GetName(), Amount: protocol.Micro(term.GetAmount()[i])}
	}
	return nil
}

func checkColumns(m *QuoteResponse, n int) error {
	if err := wire.First(
		wire.Length("declined", len(m.GetDeclined()), n),
		wire.Length("awt", len(m.GetAwt()), n),
		wire.Length("awt_low", len(m.GetAwtLow()), n),
		wire.Length("awt_high", len(m.GetAwtHigh()), n),
		wire.Length("ert", len(m.GetErt()), n),
		wire.SparseLength("bound", len(m.GetBound()), n),
		wire.SparseLength("delay", len(m.GetDelay()), n),
		wire.SparseLength("note", len(m.GetNote()), n),
		wire.AtMost("terms", len(m.GetTerms()), wire.MaxTerms),
		wire.AtMost("currency", len(m.GetCurrency()), wire.MaxCurrency),
		wire.Present("currency", m.GetCurrency() != "" || len(m.GetTerms()) == 0),
	); err != nil {
		return err
	}
	for k, term := range m.GetTerms() {
		if err := wire.First(wire.Required("name", term.GetName(), wire.MaxName), wire.Length("amount", len(term.GetAmount()), n)); err != nil {
			return fmt.Errorf("terms[%d]: %w", k, err)
		}
		for _, earlier := range m.GetTerms()[:k] {
			if earlier.GetName() == term.GetName() {
				return fmt.Errorf("terms[%d]: name: %q is there twice", k, term.GetName())
			}
		}
	}
	return nil
}

// checkNote checks what people should know of a quote or a plan.
func checkNote(note, declined string) error {
	if note != "" && declined != "" {
		return errors.New("note: a declined job has none; say it in declined")
	}
	return wire.AtMost("note", len(note), wire.MaxNote)
}

func checkDeclined(q *protocol.Quote) error {
	if q.AWT != 0 || q.AWTLow != 0 || q.AWTHigh != 0 || q.ERT != 0 || q.Bound != 0 || q.Delay != 0 {
		return errors.New("awt: a declined quote has no times; use 0")
	}
	return wire.AtMost("declined", len(q.Declined), MaxReason)
}

func checkWaits(q *protocol.Quote) error {
	if err := wire.First(
		wire.Amount("awt", q.AWT),
		wire.Amount("awt_low", q.AWTLow),
		wire.Amount("awt_high", q.AWTHigh),
		wire.Amount("ert", q.ERT),
		wire.Amount("bound", q.Bound),
		wire.Amount("delay", q.Delay),
	); err != nil {
		return err
	}
	stated := q.AWTLow != 0 || q.AWTHigh != 0
	if stated && (q.AWTLow > q.AWT || q.AWT > q.AWTHigh) {
		return fmt.Errorf("awt: %v is outside its range %v to %v", q.AWT, q.AWTLow, q.AWTHigh)
	}
	return nil
}
