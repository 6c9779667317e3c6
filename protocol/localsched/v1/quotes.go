package localschedv1

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeQuotes converts one quote for each job of a query, in order. A quote in another order
// than the jobs, or one that contradicts itself, is an error: it could not be seen from afar.
// Of a declined quote the reason alone travels; texts that are too long are cut.
func EncodeQuotes(jobs []protocol.Request, quotes []protocol.Quote) (*QuoteResponse, error) {
	if len(quotes) != len(jobs) {
		return nil, fmt.Errorf("%d quotes for %d jobs", len(quotes), len(jobs))
	}
	m := &QuoteResponse{Quotes: make([]*commonv1.Quote, len(quotes))}
	currency := ""
	for i, q := range quotes {
		if q.Declined != "" {
			q = protocol.Quote{Job: q.Job, Declined: wire.Clip(q.Declined, MaxReason)}
		}
		q.Note = wire.Clip(q.Note, protocol.MaxNote)
		if err := checkQuote(q, jobs[i].Job, &currency); err != nil {
			return nil, wire.In(wire.Entry("quotes", i), err)
		}
		m.Quotes[i] = commonv1.EncodeQuote(q)
	}
	return m, nil
}

// DecodeQuotes checks and converts the quotes for the jobs of a query. The error names the
// entry and the field.
func DecodeQuotes(m *QuoteResponse, jobs []protocol.Request) ([]protocol.Quote, error) {
	if err := wire.Length("quotes", len(m.GetQuotes()), len(jobs)); err != nil || len(jobs) == 0 {
		return nil, err
	}
	quotes, currency := make([]protocol.Quote, len(jobs)), ""
	for i, one := range m.GetQuotes() {
		quotes[i] = commonv1.DecodeQuote(one)
		if err := checkQuote(quotes[i], jobs[i].Job, &currency); err != nil {
			return nil, wire.In(wire.Entry("quotes", i), err)
		}
	}
	return quotes, nil
}

// checkQuote checks a quote for a job, whose currency must be that of the quotes before it.
func checkQuote(q protocol.Quote, of protocol.JobID, currency *string) error {
	switch {
	case q.Job != of:
		return fmt.Errorf("is for job %v, not %v; keep the order of the jobs", q.Job, of)
	case q.Currency != "" && *currency != "" && q.Currency != *currency:
		return wire.Wrong("currency", "is %s, but %s in an earlier quote", q.Currency, *currency)
	case q.Currency != "":
		*currency = q.Currency
	}
	return commonv1.CheckQuote(q)
}
