package appassign

import (
	"math"
	"math/bits"
)

// prices are what the limits that components share cost them in a relaxation. Any that are
// not negative give a bound.
type prices struct {
	money float64   // of a millionth against MaxCost
	place []float64 // of a place at each site
	room  []float64 // of all the CPU time of each site
}

// free are no prices at all.
func (in *instance) free() prices {
	return prices{place: make([]float64, len(in.sites)), room: make([]float64, len(in.sites))}
}

func (p *prices) clone() prices {
	return prices{p.money, append([]float64(nil), p.place...), append([]float64(nil), p.room...)}
}

// shift is the binary point of the whole-number prices of money, and of shares of room.
const (
	moneyShift = 20
	roomShift  = 30
)

// exactPrices are prices in whole numbers, from which bounds are proven.
type exactPrices struct {
	money       uint64 // in 2⁻²⁰
	place, room []int64
}

// exact rounds prices, and bounds them so that no sum of what they ask overflows.
func (in *instance) exact(p *prices) exactPrices {
	n := len(in.p.Components)
	most := float64(int64(1)<<58) / float64((n+1)*(len(in.sites)+1))
	round := func(of []float64) []int64 {
		out := make([]int64, len(of))
		for i, price := range of {
			out[i] = int64(min(price, most))
		}
		return out
	}
	whole := max(float64(in.ceiling)*float64(n), math.Abs(float64(in.maxCost)))
	money := min(p.money, float64(int64(1)<<59)/whole)
	return exactPrices{money: uint64(money * (1 << moneyShift)), place: round(p.place), room: round(p.room)}
}

// asked is what an amount costs at a price of money, rounded down.
func asked(money uint64, amount int64) int64 {
	if amount >= 0 {
		high, low := bits.Mul64(money, uint64(amount))
		return int64(high<<(64-moneyShift) | low>>moneyShift) //nolint:gosec // the price is bounded
	}
	high, low := bits.Mul64(money, uint64(-amount))
	low, carry := bits.Add64(low, 1<<moneyShift-1, 0)
	return -int64((high+carry)<<(64-moneyShift) | low>>moneyShift) //nolint:gosec // the price is bounded
}

// shared is what a share of the room at a site costs, rounded down.
func shared(room, share int64) int64 {
	high, low := bits.Mul64(uint64(room), uint64(share)) //nolint:gosec // not negative
	return int64(high<<(64-roomShift) | low>>roomShift)  //nolint:gosec // at most the price
}

// given is what the limits pay back, rounded so that the bound stays one.
func (in *instance) given(p *exactPrices) int64 {
	sum := int64(0)
	if p.money > 0 {
		sum = -asked(p.money, -in.maxCost) // up
	}
	for s, price := range p.place {
		sum += price * int64(in.sites[s].accept)
	}
	for _, price := range p.room {
		sum += price
	}
	return sum
}
