package price

import (
	"slices"
	"sort"

	"github.com/switchyard-hpc/switchyard/internal/int128"
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
	before int128.Number // of price times ms, from the first span's start
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
		one.before = last.before.Plus(int128.Product(last.price, int64(start-last.start)))
	}
	m.spans = append(m.spans, one)
}

// Cost is what a power draw in milliwatts costs from an instant on for d, rounded
// to the nearest millionth of the currency's unit: the overlap with each slot is
// counted exactly ([MC] equation 7).
func (m *Meter) Cost(milliwatts int64, from protocol.Instant, d protocol.Duration) protocol.Micro {
	if m == nil || milliwatts <= 0 || d <= 0 {
		return 0
	}
	total := m.upTo(from.Add(d)).Plus(m.upTo(from).Negative())
	return protocol.Micro(total.Times(milliwatts).Nearest(protocol.MegawattHour))
}

// Starts is when work may start: the tenth percentile, the median and the ninetieth.
type Starts struct{ Low, Middle, High protocol.Instant }

// At is a start that is known.
func At(start protocol.Instant) Starts { return Starts{start, start, start} }

// StartTenths are how many starts stand for all.
const StartTenths = 10

// Tenths are starts that are as likely as each other: either end, and four evenly within either half.
func (s Starts) Tenths() (all [StartTenths]protocol.Instant) {
	const half = 4
	for i := range half {
		part := protocol.Duration(2*i + 1)
		all[1+i] = s.Low.Add(s.Middle.Sub(s.Low) / (2 * half) * part)
		all[1+half+i] = s.Middle.Add(s.High.Sub(s.Middle) / (2 * half) * part)
	}
	all[0], all[StartTenths-1] = s.Low, s.High
	return all
}

// MeanCost is [Meter.Cost] for work that may start at several times: the mean over these.
func (m *Meter) MeanCost(milliwatts int64, s Starts, d protocol.Duration) protocol.Micro {
	if s.Low == s.High {
		return m.Cost(milliwatts, s.Middle, d)
	}
	if m == nil || milliwatts <= 0 || d <= 0 {
		return 0
	}
	var total int128.Number
	for _, start := range s.Tenths() {
		total = total.Plus(m.upTo(start.Add(d)).Plus(m.upTo(start).Negative()))
	}
	return protocol.Micro(total.Times(milliwatts).Nearest(protocol.MegawattHour, StartTenths))
}

// Steps are the prices of a MWh from an instant on until another one, and then their mean; none
// of no meter.
func (m *Meter) Steps(from, until protocol.Instant) (all []protocol.PriceStep) {
	if m == nil {
		return nil
	}
	add := func(from protocol.Instant, price int64) {
		if n := len(all); n == 0 || all[n-1].PerHour != protocol.Micro(price) {
			all = append(all, protocol.PriceStep{From: from, PerHour: protocol.Micro(price)})
		}
	}
	first := sort.Search(len(m.spans), func(i int) bool { return m.spans[i].start > from }) - 1
	if first < 0 {
		add(from, m.mean)
	} else {
		add(m.spans[first].start, m.spans[first].price)
	}
	for i := first + 1; i < len(m.spans); i++ {
		if m.spans[i].start >= until || len(all) == protocol.MaxSteps-1 {
			add(m.spans[i].start, m.mean)
			break
		}
		add(m.spans[i].start, m.spans[i].price)
	}
	return all
}

// upTo is the sum of price times ms from the first slot's start to t; negative times
// price before it.
func (m *Meter) upTo(t protocol.Instant) int128.Number {
	i, found := slices.BinarySearchFunc(m.spans, t, func(s span, t protocol.Instant) int {
		return int(min(1, max(-1, s.start-t)))
	})
	if !found {
		i--
	}
	if i < 0 {
		return int128.Product(m.mean, int64(t-m.spans[0].start))
	}
	return m.spans[i].before.Plus(int128.Product(m.spans[i].price, int64(t-m.spans[i].start)))
}

// mean is the time-weighted mean of the slots' prices.
func mean(slots []Slot) int64 {
	var total int128.Number
	length := int64(0)
	for _, slot := range slots {
		total = total.Plus(int128.Product(clamp(slot.Price), int64(slot.Length)))
		length += int64(slot.Length)
	}
	return total.Nearest(max(1, length))
}

func clamp(price protocol.Micro) int64 { return int64(min(max(price, -maxPrice), maxPrice)) }

// maxPrice keeps sums over centuries within 128 bits.
const maxPrice = 1_000_000 * protocol.Unit
