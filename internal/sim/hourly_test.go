package sim_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestCurveByHand:
//
//	hour      0           1           2
//	8 CPUs  ##|######     |     .     |
//	4 CPUs    |     ######|###########|##
func TestCurveByHand(t *testing.T) {
	t.Parallel()
	uses := []sim.Use{
		{Start: -hour / 4, End: hour / 2, CPUs: 8, Draw: 800},
		{Start: hour / 2, End: 3 * hour, CPUs: 4, Draw: 1000},
		{Start: hour, End: hour, CPUs: 99, Draw: 99},     // for no time
		{Start: 2 * hour, End: hour, CPUs: 99, Draw: 99}, // backwards
		{Start: -hour, End: 0, CPUs: 99, Draw: 99},       // before
		{Start: 5 * hour / 2, End: 9 * hour, CPUs: 99, Draw: 99},
	}
	want := []sim.Bin{
		{Start: 0, Length: protocol.Hour, CPUs: 6, Draw: 900},
		{Start: hour, Length: protocol.Hour, CPUs: 4, Draw: 1000},
		{Start: 2 * hour, Length: protocol.Hour / 2, CPUs: 4, Draw: 1000},
	}
	if got := sim.Curve(uses, 0, 5*hour/2, protocol.Hour); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if sim.Curve(uses, hour, hour, protocol.Hour) != nil || sim.Curve(uses, hour, 0, protocol.Hour) != nil || sim.Curve(uses, 0, hour, 0) != nil {
		t.Error("a curve of no time")
	}
}

// TestCurveByDefinition: as each millisecond on its own.
func TestCurveByDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		instant := rapid.Map(rapid.Int64Range(-40, 40), func(ms int64) protocol.Instant { return protocol.Instant(ms) })
		uses := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sim.Use {
			return sim.Use{
				Start: instant.Draw(t, "start"), End: instant.Draw(t, "end"),
				CPUs: rapid.IntRange(0, 1e9).Draw(t, "CPUs"), Draw: rapid.Int64Range(0, 1e11).Draw(t, "draw"),
			}
		}), 0, 8).Draw(t, "uses")
		from, until := instant.Draw(t, "from"), instant.Draw(t, "until")
		bin := protocol.Duration(rapid.Int64Range(1, 30).Draw(t, "bin"))
		next := from
		for _, got := range sim.Curve(uses, from, until, bin) {
			want := sim.Bin{Start: next, Length: min(bin, until.Sub(next))}
			cpus, draw := int64(0), int64(0)
			for ; next < want.Start.Add(want.Length); next++ {
				for _, use := range uses {
					if use.Start <= next && next < use.End {
						cpus += int64(use.CPUs)
						draw += use.Draw
					}
				}
			}
			want.CPUs, want.Draw = float64(cpus)/float64(want.Length), float64(draw)/float64(want.Length)
			if got != want {
				t.Fatalf("%+v, want %+v", got, want)
			}
		}
		if next != max(from, until) {
			t.Fatalf("the bins end at %d, not at %d", next, until)
		}
	})
}

// TestDayCurveByHand: two days and a half from noon on, by a clock that shows 6 in the
// morning at the instant 0. A CPU works from 9 to 11 of the second day, and two from 23:30 of
// the first on for an hour.
func TestDayCurveByHand(t *testing.T) {
	t.Parallel()
	const clock = 6 * protocol.Hour
	from := 6 * hour // noon
	uses := []sim.Use{
		{Start: 27 * hour, End: 29 * hour, CPUs: 1, Draw: 500},
		{Start: from + hour*23/2, End: from + hour*25/2, CPUs: 2, Draw: 1000},
	}
	for _, bin := range []protocol.Duration{protocol.Minute, protocol.Hour / 2, protocol.Hour} {
		day := sim.DayCurve(sim.Curve(uses, from, from+60*hour, bin), protocol.Hour, clock)
		if len(day) != 24 {
			t.Fatalf("a day has %d hours", len(day))
		}
		for h, got := range day {
			want := sim.Bin{Start: protocol.Instant(h) * hour, Length: 2 * protocol.Hour}
			if h >= 12 {
				want.Length = 3 * protocol.Hour
			}
			switch h {
			case 9, 10:
				want.CPUs, want.Draw = 0.5, 250
			case 23:
				want.CPUs, want.Draw = 1.0/3, 500.0/3
			case 0:
				want.CPUs, want.Draw = 0.5, 250
			}
			if math.Abs(got.CPUs-want.CPUs) > 1e-9 || math.Abs(got.Draw-want.Draw) > 1e-9 || got.Start != want.Start || got.Length != want.Length {
				t.Errorf("%v: hour %d is %+v, want %+v", bin, h, got, want)
			}
		}
	}
}

// TestDayCurveKeepsAll: whatever the bins and the clock, the day's energy and time are those
// of the curve, and each stretch has its place.
func TestDayCurveKeepsAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		of := func(most protocol.Duration, name string) protocol.Duration {
			return protocol.Duration(rapid.Int64Range(1, int64(most)).Draw(t, name))
		}
		start := protocol.Instant(of(9*protocol.Day, "start")) - 4*24*hour
		uses := []sim.Use{{Start: start, End: start.Add(of(5*protocol.Day, "run")), CPUs: 3, Draw: 7_000}}
		from := protocol.Instant(of(9*protocol.Day, "from")) - 4*24*hour
		curve := sim.Curve(uses, from, from.Add(of(5*protocol.Day, "time")), of(9*protocol.Hour, "bin")+protocol.Minute)
		bin := of(protocol.Day-protocol.Minute, "bin of the day") + protocol.Minute
		day := sim.DayCurve(curve, bin, of(2*protocol.Day, "clock")-protocol.Day)
		sum := func(bins []sim.Bin) (length protocol.Duration, cpus, draw float64) {
			for _, one := range bins {
				length += one.Length
				cpus += one.CPUs * float64(one.Length)
				draw += one.Draw * float64(one.Length)
			}
			return length, cpus, draw
		}
		length, cpus, draw := sum(curve)
		l, c, d := sum(day)
		if l != length || math.Abs(c-cpus) > 1e-9*cpus || math.Abs(d-draw) > 1e-9*draw {
			t.Fatalf("the day is %v, %v and %v; the curve %v, %v and %v", l, c, d, length, cpus, draw)
		}
		for i, one := range day {
			if one.Start != protocol.Instant(protocol.Duration(i)*bin) || one.Start >= 24*hour {
				t.Fatalf("bin %d starts at %v", i, one.Start)
			}
		}
	})
}

// TestDayCurveAcrossBorders: a bin of the curve counts in each stretch of the day for the
// time that it has there, also past midnight, where the last stretch is shorter.
func TestDayCurveAcrossBorders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		start, end protocol.Instant
		bin        protocol.Duration
		want       map[int]protocol.Duration
	}{
		{19 * hour / 2, 23 * hour / 2, protocol.Hour, map[int]protocol.Duration{
			9: protocol.Hour / 2, 10: protocol.Hour, 11: protocol.Hour / 2,
		}},
		{45 * hour / 2, 53 * hour / 2, 5 * protocol.Hour, map[int]protocol.Duration{
			4: 3 * protocol.Hour / 2, 0: 5 * protocol.Hour / 2,
		}},
	} {
		curve := []sim.Bin{{Start: test.start, Length: test.end.Sub(test.start), CPUs: 2, Draw: 7}}
		for i, got := range sim.DayCurve(curve, test.bin, 0) {
			want := sim.Bin{Start: protocol.Instant(protocol.Duration(i) * test.bin), Length: test.want[i]}
			if want.Length > 0 {
				want.CPUs, want.Draw = 2, 7
			}
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	}
}

// TestDayCurveOfNothing: an hour knows nothing of the rest of the day, and a day has no bins
// of no length or of more than itself.
func TestDayCurveOfNothing(t *testing.T) {
	t.Parallel()
	curve := sim.Curve([]sim.Use{{End: hour, CPUs: 1, Draw: 5}}, 0, hour, protocol.Hour)
	day := sim.DayCurve(curve, protocol.Hour, -protocol.Hour)
	want := sim.Bin{Start: 23 * hour, Length: protocol.Hour, CPUs: 1, Draw: 5}
	at := slices.IndexFunc(day, func(b sim.Bin) bool { return b.Length > 0 })
	if at != 23 || day[at] != want || day[22] != (sim.Bin{Start: 22 * hour}) {
		t.Errorf("%+v", day)
	}
	if sim.DayCurve(curve, 0, 0) != nil || sim.DayCurve(curve, protocol.Day+1, 0) != nil {
		t.Error("a day of bins that are no part of it")
	}
}

// BenchmarkCurve is half a year of minutes with 50,000 jobs, and the day that they make.
func BenchmarkCurve(b *testing.B) {
	var uses []sim.Use
	for i := range 50_000 {
		start := protocol.Instant(i) * 5 * 60 * second
		uses = append(uses, sim.Use{Start: start, End: start + 3*hour/2, CPUs: 2048, Draw: 10_000_000})
	}
	for b.Loop() {
		sim.DayCurve(sim.Curve(uses, 0, 184*24*hour, protocol.Minute), protocol.Minute, 0)
	}
}
