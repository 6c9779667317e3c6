package mcmf

import "slices"

// money is whose prices can be compared: those in the currency of the price of a delay, or
// else in the commonest one, with the electricity if any tells it. Others are as unknown as prices that are not named.
type money struct {
	currency string // empty: no site that offers itself names prices
	counts   []bool // by site
	all      bool   // all of them count
}

// compare finds whose prices count. Where some tell what the electricity costs, those
// that do not are not cheaper for it: their prices do not count.
func (c *cycle) compare() money {
	in := c.in
	m := money{currency: c.currency(), counts: make([]bool, len(in.Sites)), all: true}
	priced := false
	for s := range in.Sites {
		m.counts[s] = m.currency != "" && in.Sites[s].Currency == m.currency
		priced = priced || (m.counts[s] && !in.Sites[s].NoEnergy && c.offers(s))
	}
	for s := range in.Sites {
		m.counts[s] = m.counts[s] && (!priced || !in.Sites[s].NoEnergy)
		m.all = m.all && m.counts[s]
	}
	return m
}

// currency is that in which prices are compared.
func (c *cycle) currency() string {
	if c.ByPrice && c.Currency != "" {
		return c.Currency
	}
	return c.commonest()
}

// commonest is the currency of most sites with open pairs; of equally common ones the
// first by name.
func (c *cycle) commonest() (currency string) {
	var currencies []string
	for s := range c.in.Sites {
		if named := c.in.Sites[s].Currency; named != "" && c.offers(s) {
			currencies = append(currencies, named)
		}
	}
	slices.Sort(currencies)
	for most, i := 0, 0; i < len(currencies); {
		n := 1
		for i+n < len(currencies) && currencies[i+n] == currencies[i] {
			n++
		}
		if n > most {
			most, currency = n, currencies[i]
		}
		i += n
	}
	return currency
}

// offers says whether a site takes jobs and has quoted any.
func (c *cycle) offers(s int) bool {
	for j := range c.in.Jobs {
		if c.open(j, s) {
			return true
		}
	}
	return false
}
