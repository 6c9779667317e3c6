package price

import (
	"math"
	"math/bits"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Meter adds up what electricity costs over spans of time. Time for which a series
// has no price costs the mean of its slots. A Meter does not change.
type Meter struct {
	spans []span
	mean  int64
}

// span is a time with one price, after what all before it add up to.
type span struct {
	start  protocol.Instant
	price  int64
	before sum // of price times ms, from the first span's start
}

// NewMeter prepares a series; nil when it has no slot. Prices beyond a million a MWh
// count as that.
func NewMeter(s Series) *Meter {
	if len(s.Slots) == 0 {
		return nil
	}
	m := &Meter{mean: mean(s.Slots)}
	for i, slot := range s.Slots {
		m.begin(slot.Start, clamp(slot.Price))
		if i+1 == len(s.Slots) || s.Slots[i+1].Start > slot.End() {
			m.begin(slot.End(), m.mean)
		}
	}
	return m
}

func (m *Meter) begin(start protocol.Instant, price int64) {
	one := span{start: start, price: price}
	if n := len(m.spans); n > 0 {
		last := &m.spans[n-1]
		one.before = last.before.plus(product(last.price, int64(start-last.start)))
	}
	m.spans = append(m.spans, one)
}

// Cost is what a draw of so many milliwatts costs from an instant on for d, rounded
// to the nearest millionth of the currency's unit: the overlap with each slot is
// counted exactly ([MC] equation 7).
func (m *Meter) Cost(milliwatts int64, from protocol.Instant, d protocol.Duration) protocol.Micro {
	if m == nil || milliwatts <= 0 || d <= 0 {
		return 0
	}
	total := m.upTo(from.Add(d)).plus(m.upTo(from).negative())
	return protocol.Micro(total.times(uint64(milliwatts)).over(milliwattMSOfMWh))
}

// milliwattMSOfMWh is a MWh in milliwatts times milliseconds.
const milliwattMSOfMWh = 1_000_000_000 * 3_600_000

// upTo is the sum of price times ms from the first slot's start to t; negative times
// price before it.
func (m *Meter) upTo(t protocol.Instant) sum {
	i, found := slices.BinarySearchFunc(m.spans, t, func(s span, t protocol.Instant) int {
		return int(min(1, max(-1, s.start-t)))
	})
	if !found {
		i--
	}
	if i < 0 {
		return product(m.mean, int64(t-m.spans[0].start))
	}
	return m.spans[i].before.plus(product(m.spans[i].price, int64(t-m.spans[i].start)))
}

// mean is the time-weighted mean of the slots' prices.
func mean(slots []Slot) int64 {
	var total sum
	length := uint64(0)
	for _, slot := range slots {
		total = total.plus(product(clamp(slot.Price), int64(slot.Length)))
		length += uint64(slot.Length) //nolint:gosec // not negative
	}
	return total.over(max(1, length))
}

func clamp(price protocol.Micro) int64 { return int64(min(max(price, -maxPrice), maxPrice)) }

// maxPrice keeps sums over centuries within 128 bits.
const maxPrice = 1_000_000 * protocol.Unit

// sum is a signed number of 128 bits.
type sum struct {
	high int64
	low  uint64
}

func product(a, b int64) sum {
	high, low := bits.Mul64(uint64(a), uint64(b)) //nolint:gosec // two's complement
	signed := int64(high)                         //nolint:gosec // two's complement
	if a < 0 {
		signed -= b
	}
	if b < 0 {
		signed -= a
	}
	return sum{high: signed, low: low}
}

func (s sum) plus(t sum) sum {
	low, carry := bits.Add64(s.low, t.low, 0)
	return sum{high: s.high + t.high + int64(carry), low: low} //nolint:gosec // 0 or 1
}

func (s sum) negative() sum {
	low, borrow := bits.Sub64(0, s.low, 0)
	return sum{high: -s.high - int64(borrow), low: low} //nolint:gosec // 0 or 1
}

// times stays at the largest number where it would overflow.
func (s sum) times(n uint64) sum {
	if s.high < 0 {
		return s.negative().times(n).negative()
	}
	carry, low := bits.Mul64(s.low, n)
	over, high := bits.Mul64(uint64(s.high), n)
	high, more := bits.Add64(high, carry, 0)
	if over+more > 0 || high > math.MaxInt64 {
		return sum{high: math.MaxInt64, low: math.MaxUint64}
	}
	return sum{high: int64(high), low: low}
}

// over divides, to the nearest, halves away from 0; at most the largest int64.
func (s sum) over(n uint64) int64 {
	if s.high < 0 {
		return -s.negative().over(n)
	}
	low, carry := bits.Add64(s.low, n/2, 0)
	high := uint64(s.high) + carry
	if high >= n {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(high, low, n)
	return int64(min(quotient, math.MaxInt64))
}
