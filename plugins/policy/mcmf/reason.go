package mcmf

import (
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/mincostflow"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

// decisions are the flow in the form that the peer reads.
func (c *cycle) decisions(systems []int32) []policy.Decision {
	in := c.in
	load := make([]int, len(in.Sites))
	served := 0
	for _, s := range systems {
		if s != mincostflow.Nowhere {
			load[s]++
			served++
		}
	}
	sent := make([]int, len(in.Sites))
	decisions := make([]policy.Decision, 0, served)
	for j, system := range systems {
		if system == mincostflow.Nowhere {
			continue
		}
		s := int(system)
		decisions = append(decisions, policy.Decision{
			Job: j, Site: s,
			Wait:   in.AWT[in.At(j, s)].Plus(growth(in.Sites[s].MarginalWaits, sent[s])),
			Reason: c.reason(j, s, load),
		})
		sent[s]++
	}
	return decisions
}

// reason says what the flow's choice costs, and what the cheapest alternative would
// have. Load is how many jobs the flow sends to each site.
func (c *cycle) reason(j, s int, load []int) string {
	in, at := c.in, c.in.At(j, s)
	slow, energy := c.response.scaled(hundred), c.energy.scaled(hundred)
	return "flow of " + strconv.Itoa(len(in.Jobs)) + " jobs over " + strconv.Itoa(len(in.Sites)) + " sites: cost " +
		number(c.costs[at]) + " of " + strconv.Itoa(c.Scale) + " here (response " + hundredths(slow.of(c.responseAt(at))) +
		", energy " + hundredths(c.energyTerm(j, s, &energy)) + c.guessed(s) + c.weighted() + "); " + c.alternative(j, s, load)
}

// weighted is the weight of the response, where that is not the same in each round.
func (c *cycle) weighted() string {
	if !c.ByPrice {
		return ""
	}
	return ", weight of the response " + decimal.Text(int64(c.weight), 6, 0) + " at " +
		c.DelayPrice.TextIn(c.money.currency) + " an hour"
}

// alternative says what the job's cheapest site but the chosen one would have cost, and
// what stood against it.
func (c *cycle) alternative(j, chosen int, load []int) string {
	other, ok := c.cheapestBut(j, chosen)
	if !ok {
		return "no other site quoted it"
	}
	here, there := c.costs[c.in.At(j, chosen)], c.costs[c.in.At(j, other)]
	word := "next: "
	if there < here {
		word = "cheapest alone: "
	}
	return word + string(c.in.Sites[other].Name) + ", cost " + number(there) + ", " + c.against(other, there < here, load)
}

// against is what stood against the alternative.
func (c *cycle) against(other int, cheaper bool, load []int) string {
	switch {
	case load[other] >= c.in.Sites[other].MaxJobs:
		return "which is full this cycle"
	case cheaper:
		return "which the others sent there make slower"
	}
	return "which has room"
}

// cheapestBut is the cheapest site for a job but for one, of equals the first; false if
// no other quoted it.
func (c *cycle) cheapestBut(j, but int) (cheapest int, ok bool) {
	least := mincostflow.Missing
	for s, cost := range c.costs[c.in.At(j, 0):c.in.At(j+1, 0)] {
		if s != but && cost < least {
			cheapest, least, ok = s, cost, true
		}
	}
	return cheapest, ok
}

// guessed says why an energy term is a guess, if it is one.
func (c *cycle) guessed(s int) string {
	switch currency := c.in.Sites[s].Currency; {
	case c.money.counts[s]:
		return ""
	case currency == "":
		return ", a guess: it names no prices"
	case currency == c.money.currency:
		return ", a guess: it does not tell what the electricity costs"
	default:
		return ", a guess: its prices are in " + currency + ", " + c.counted() + " " + c.money.currency
	}
}

// counted says why prices in the currency are those that count.
func (c *cycle) counted() string {
	if c.ByPrice && c.Currency != "" {
		return "an hour is paid in"
	}
	return "most in"
}

// hundred makes hundredths of the terms of equations 4 and 5.
const hundred = 100

func hundredths(n uint64) string {
	return strconv.FormatUint(n/hundred, 10) + "." + strconv.FormatUint(n/10%10, 10) + strconv.FormatUint(n%10, 10)
}

func number(cost int32) string { return strconv.Itoa(int(cost)) }
