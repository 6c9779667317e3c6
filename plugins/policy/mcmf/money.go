package mcmf

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// money is whose prices can be compared: those in the commonest currency. Others are
// as unknown as prices that are not named.
type money struct {
	currency string // empty: no site that has quoted names prices
	counts   []bool // by site
	all      bool   // all of them count
}

// compare finds the currency of most sites that have quoted; of equally common ones
// the first by name.
func compare(in *policy.Snapshot, runs []protocol.Duration) money {
	var currencies []string
	for s := range in.Sites {
		if currency := in.Sites[s].Currency; currency != "" && quotes(in, runs, s) {
			currencies = append(currencies, currency)
		}
	}
	slices.Sort(currencies)
	m := money{counts: make([]bool, len(in.Sites)), all: true}
	for most, i := 0, 0; i < len(currencies); {
		n := 1
		for i+n < len(currencies) && currencies[i+n] == currencies[i] {
			n++
		}
		if n > most {
			most, m.currency = n, currencies[i]
		}
		i += n
	}
	for s := range in.Sites {
		m.counts[s] = m.currency != "" && in.Sites[s].Currency == m.currency
		m.all = m.all && m.counts[s]
	}
	return m
}

// quotes says whether a site has quoted any job.
func quotes(in *policy.Snapshot, runs []protocol.Duration, s int) bool {
	for j := range in.Jobs {
		if runs[in.At(j, s)] != protocol.Never {
			return true
		}
	}
	return false
}
