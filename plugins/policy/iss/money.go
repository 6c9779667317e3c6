package iss

import (
	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// money are the terms of a quote [IS 4.2].
type money struct{ use, license, eco, data protocol.Micro }

// money are the terms of a row's quote at a site. A snapshot without them is without
// prices.
func (t *task) money(row, s int) money {
	at := t.in.At(row, s)
	of := func(column []protocol.Micro) protocol.Micro {
		if at < len(column) {
			return column[at]
		}
		return 0
	}
	return money{of(t.in.UsageCost), of(t.in.LicenseCost), of(t.in.EnergyCost), of(t.in.DataCost)}
}

// sum is what a limit of cost counts.
func (m money) sum() protocol.Micro { return m.use.Plus(m.license).Plus(m.eco).Plus(m.data) }

// weighted is what z counts.
func (m money) weighted(job *policy.Job) protocol.Micro {
	return weigh(term{m.use, job.Alpha}, term{m.license, job.Alpha}, term{m.eco, job.Gamma}, term{m.data, job.Delta})
}

// term is an amount and its weight, in parts per million.
type term struct {
	amount protocol.Micro
	weight int
}

// weigh sums up terms by their weights, rounded to a millionth, half up. What would
// overflow is the largest or least amount.
func weigh(terms ...term) protocol.Micro {
	sum := int128.Whole(protocol.PPM / 2) // its floor is rounded half up
	for _, t := range terms {
		sum = sum.Plus(int128.Product(int64(t.amount), int64(max(0, t.weight))))
	}
	return protocol.Micro(sum.Down(protocol.PPM))
}

// priced prints an amount with its currency.
func (t *task) priced(amount protocol.Micro) string {
	return amount.TextIn(t.in.Currency)
}
