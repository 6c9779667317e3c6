package view

import "github.com/switchyard-hpc/switchyard/protocol"

// QuotedPrice is the price that a job was placed at.
type QuotedPrice struct {
	Cost     protocol.Micro    `json:"cost_micro"`
	Currency string            `json:"currency"`
	Run      protocol.Duration `json:"run_ms"`                 // that it was for
	Energy   *protocol.Micro   `json:"energy_micro,omitempty"` // the part for electricity; nil: none is named
}

// HeldPrice is what the hours cost in which a site holds room for a job, by the tariff that came
// with the answer.
type HeldPrice struct {
	Cost     protocol.Micro    `json:"cost_micro"`
	Currency string            `json:"currency"`
	Terms    []PriceTerm       `json:"terms"`
	Start    protocol.Instant  `json:"start_ms"` // since when room is held
	Run      protocol.Duration `json:"run_ms"`   // that it is for: the prediction, or else the time limit
}

// TestSubmitResult answers [TestSubmit]: for each job every site's quote, best first.
type TestSubmitResult struct {
	Elsewhere

	Jobs  [][]Quote    `json:"jobs"`
	Front *ParetoFront `json:"front,omitempty"` // when it was asked for
}

// ParetoFront are the choices of sites and CPU counts for an application that no other one beats
// in both cost and time, the fastest first [IS 4.2]; and the one that its weights and limits
// choose, which others may beat.
type ParetoFront struct {
	Currency  string        `json:"currency"`
	Points    []ParetoPoint `json:"points"`
	Truncated bool          `json:"truncated,omitempty"` // there are more choices than these, which are spaced by steps of time
	Gap       int           `json:"gap_ppm"`             // of the cost of each point above the least, at most
	Reason    string        `json:"reason,omitempty"`    // why there is none, or what the limits rule out
}

// ParetoPoint is one such choice.
type ParetoPoint struct {
	Time    protocol.Duration `json:"time_ms"`    // from now until all data are back
	Cost    protocol.Micro    `json:"cost_micro"` // K_e + K_l + K_eco + K_d, unweighted
	Chosen  bool              `json:"chosen"`     // by the user's weights and limits
	Choices []ParetoChoice    `json:"choices"`    // one for each component
}

// ParetoChoice is where a component would run.
type ParetoChoice struct {
	Site protocol.SiteName `json:"site"`
	CPUs int               `json:"cpus"`
	Wait protocol.Duration `json:"wait_ms"`
	Run  protocol.Duration `json:"run_ms"`
	Cost protocol.Micro    `json:"cost_micro"`
}

// Quote is one site's quote as people see it.
type Quote struct {
	Site     protocol.SiteName  `json:"site"`
	Declined string             `json:"declined,omitempty"`
	AWT      protocol.Duration  `json:"awt_ms"` // by which policies place the job
	AWTLow   protocol.Duration  `json:"awt_p10_ms"`
	Median   protocol.Duration  `json:"awt_p50_ms"` // predicted from earlier jobs
	AWTHigh  protocol.Duration  `json:"awt_p90_ms"`
	ERT      protocol.Duration  `json:"ert_ms"`
	Transfer protocol.Duration  `json:"transfer_ms,omitempty"` // of the job's data to the site; it goes on while the job waits
	Bound    protocol.Duration  `json:"bound_ms"`              // starts within it with a probability of nominally 95 %; 0: not stated
	Note     string             `json:"note,omitempty"`        // what else to know of the wait
	Terms    []PriceTerm        `json:"terms,omitempty"`
	Cost     protocol.Micro     `json:"cost_micro"` // of all terms
	Currency string             `json:"currency,omitempty"`
	RUS      int                `json:"rus_ppm"`
	Age      *protocol.Duration `json:"rus_age_ms,omitempty"` // nil if no load of the site is known
	CPUs     int                `json:"cpus,omitempty"`       // of a component that may run on several counts
	Money    *Money             `json:"money,omitempty"`      // the terms as an application's costs, in its currency
}

// NewQuote is a site's quote for people, with how busy the site is and how old that is.
func NewQuote(site protocol.SiteName, q protocol.Quote, load protocol.Load, age *protocol.Duration) Quote {
	return Quote{
		Site: site, Declined: q.Declined, AWT: q.AWT, AWTLow: q.AWTLow, Median: q.AWTMedian, AWTHigh: q.AWTHigh, ERT: q.ERT,
		RUS: load.RUS(), Age: age,
		Bound: q.Bound, Terms: PriceTerms(q.Terms), Cost: q.Cost(), Currency: q.Currency, Note: q.Note,
	}
}

// Money are the cost terms of [IS 4.2] of one quote.
type Money struct {
	CPU      protocol.Micro `json:"cpu_cost_micro"`
	License  protocol.Micro `json:"license_cost_micro"`
	Energy   protocol.Micro `json:"energy_cost_micro"`
	Data     protocol.Micro `json:"data_cost_micro"`
	Cost     protocol.Micro `json:"cost_micro"` // of the quote, in this currency
	Currency string         `json:"currency"`
}

// ATT is the approximate turnaround time: the wait, or until the job's data are there
// ([MC] equation 10), and the run time; [protocol.Never] when the quote is declined.
func (q *Quote) ATT() protocol.Duration {
	if q.Declined != "" {
		return protocol.Never
	}
	return max(q.AWT, q.Transfer).Plus(q.ERT)
}

// PriceTerm is one named part of a quote's price.
type PriceTerm struct {
	Name   string         `json:"name"`
	Amount protocol.Micro `json:"amount_micro"`
}

// PriceTerms shows the terms of a quote or a bill.
func PriceTerms(terms []protocol.Term) []PriceTerm {
	out := make([]PriceTerm, 0, len(terms)) // a list, also in JSON
	for _, one := range terms {
		out = append(out, PriceTerm{Name: one.Name, Amount: one.Amount})
	}
	return out
}

func (TestSubmitResult) reply() {}
