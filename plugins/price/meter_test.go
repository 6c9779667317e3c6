package price_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestMeterCost(t *testing.T) {
	t.Parallel()
	// 10 a MWh, 30 a MWh, nothing known, -20 a MWh: the mean is 20/3.
	m := price.NewMeter(price.Series{Slots: []price.Slot{
		slot(0, 10*protocol.Unit), slot(hour, 30*protocol.Unit), slot(3*hour, -20*protocol.Unit),
	}})
	const megawatt = 1_000_000_000
	for name, c := range map[string]struct {
		from protocol.Instant
		d    protocol.Duration
		want protocol.Micro
	}{
		"a whole hour":              {0, protocol.Hour, 10 * protocol.Unit},
		"parts of two hours":        {hour / 2, protocol.Hour, 20 * protocol.Unit},
		"a negative hour earns":     {3 * hour, protocol.Hour, -20 * protocol.Unit},
		"an unknown hour: the mean": {2 * hour, protocol.Hour, 6_666_667},
		"before the first":          {-hour, protocol.Hour, 6_666_667},
		"after the last":            {9 * hour, protocol.Hour, 6_666_667},
		"all known hours":           {0, 4 * protocol.Hour, 26_666_667},
		"no time":                   {0, 0, 0},
	} {
		if got := m.Cost(megawatt, c.from, c.d); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := m.Cost(megawatt/1000, 0, protocol.Hour/2); got != 5_000 {
		t.Errorf("a kilowatt for half an hour costs %d, want 5000", got)
	}
	if price.NewMeter(price.Series{}).Cost(1, 0, 1) != 0 {
		t.Error("no prices, no cost")
	}
}

// Cost is the sum over all slots of price times overlap, however large.
func TestMeterAddsUpExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s price.Series
		end := quarter * protocol.Instant(rapid.IntRange(-1000, 1000).Draw(t, "first"))
		for range rapid.IntRange(1, 8).Draw(t, "slots") {
			one := price.Slot{
				Start: end, Length: price.Resolution * protocol.Duration(rapid.IntRange(1, 96).Draw(t, "length")),
				Price: protocol.Micro(rapid.Int64Range(-1e12, 1e12).Draw(t, "price")),
			}
			s.Slots, end = append(s.Slots, one), one.End()
		}
		first := s.Slots[0].Start
		from := protocol.Instant(rapid.Int64Range(int64(first), int64(end)).Draw(t, "from"))
		d := protocol.Duration(rapid.Int64Range(0, int64(end-from)).Draw(t, "d"))
		power := rapid.Int64Range(0, 1e12).Draw(t, "power")
		want := new(big.Int)
		for _, one := range s.Slots {
			overlap := min(one.End(), from.Add(d)).Sub(max(one.Start, from))
			part := new(big.Int).Mul(big.NewInt(int64(one.Price)), big.NewInt(int64(max(0, overlap))))
			want.Add(want, part)
		}
		want.Mul(want, big.NewInt(power))
		got := new(big.Int).Mul(big.NewInt(int64(price.NewMeter(s).Cost(power, from, d))), big.NewInt(3_600_000_000_000_000))
		if diff := want.Sub(want, got); diff.CmpAbs(big.NewInt(1_800_000_000_000_000)) > 0 {
			t.Fatalf("off by %v of 3.6e15", diff)
		}
	})
}

// The mean over ten starts is that of their costs, to the rounding; of one start it is its cost.
func TestMeanCost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		slots := []price.Slot{}
		for i := range rapid.IntRange(1, 48).Draw(t, "hours") {
			slots = append(slots, price.Slot{
				Start: protocol.Instant(i) * protocol.Instant(protocol.Hour), Length: protocol.Hour,
				Price: protocol.Micro(rapid.Int64Range(-500, 3000).Draw(t, "price")) * protocol.Unit,
			})
		}
		m := price.NewMeter(price.Series{Slots: slots})
		at := func(what string) protocol.Duration {
			return protocol.Duration(rapid.Int64Range(0, int64(16*protocol.Hour)/8).Draw(t, what)) * 8 // eighths are whole
		}
		low := protocol.Instant(at("low"))
		middle := low.Add(at("middle"))
		s := price.Starts{Low: low, Middle: middle, High: middle.Add(at("high"))}
		run, draw := protocol.Duration(rapid.Int64Range(1, int64(protocol.Day)).Draw(t, "run")), rapid.Int64Range(1, 1e9).Draw(t, "mW")
		sum := m.Cost(draw, s.Low, run) + m.Cost(draw, s.High, run)
		for i := range protocol.Duration(4) {
			sum += m.Cost(draw, s.Low.Add((2*i+1)*(s.Middle.Sub(s.Low)/8)), run) + m.Cost(draw, s.Middle.Add((2*i+1)*(s.High.Sub(s.Middle)/8)), run)
		}
		if got := m.MeanCost(draw, s, run); got*10-sum > 10 || sum-got*10 > 10 {
			t.Fatalf("the mean is %d, ten starts come to %d", got, sum)
		}
		if got, want := m.MeanCost(draw, price.At(middle), run), m.Cost(draw, middle, run); got != want {
			t.Fatalf("of one start %d, want %d", got, want)
		}
	})
}
