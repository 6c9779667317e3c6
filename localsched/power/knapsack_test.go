package power_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/power"
)

// bruteForce tries all sets. Of the largest it is the first in the order of the queue:
// bit 0 is the last item, so that the highest number wins.
func bruteForce(items []power.Item, units int, draw int64) []bool {
	best, most := 0, 0
	for set := range 1 << len(items) {
		sum, fits := 0, true
		freeUnits, left := units, draw
		for i, item := range items {
			if set>>(len(items)-1-i)&1 == 0 {
				continue
			}
			fits = fits && item.Units >= 1 && item.Draw >= 0 && item.Units <= freeUnits && item.Draw <= left
			if !fits {
				break
			}
			sum += item.Units
			freeUnits -= item.Units
			left -= item.Draw
		}
		if fits && sum >= most {
			best, most = set, sum
		}
	}
	chosen := make([]bool, len(items))
	for i := range chosen {
		chosen[i] = best>>(len(items)-1-i)&1 == 1
	}
	return chosen
}

// TestChooseIsBest: the best of all sets, and of equals the first, for windows of one
// Chooser after another; with steps of many sizes, and draws up to the largest number.
func TestChooseIsBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c power.Chooser
		for range rapid.IntRange(1, 3).Draw(t, "windows") {
			step := rapid.SampledFrom([]int{1, 2, 512}).Draw(t, "step")
			largest := rapid.SampledFrom([]int64{3, 10, 1000, math.MaxInt64}).Draw(t, "largest")
			items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) power.Item {
				return power.Item{
					Units: step * rapid.IntRange(-1, 6).Draw(t, "units"),
					Draw:  rapid.Int64Range(-1, largest).Draw(t, "draw"),
				}
			}), 0, 10).Draw(t, "items")
			units := rapid.IntRange(-1, 20*step).Draw(t, "free units")
			draw := rapid.OneOf(rapid.Int64Range(-1, largest), rapid.Just(min(largest, math.MaxInt64/4)*4)).Draw(t, "budget")
			if got, want := c.Choose(items, units, draw), bruteForce(items, units, draw); !slices.Equal(got, want) {
				t.Fatalf("%v in %d units and %d mW: %v, want %v", items, units, draw, got, want)
			}
		}
	})
}

// TestChooseByHand.
func TestChooseByHand(t *testing.T) {
	t.Parallel()
	const yes, no = true, false
	for name, test := range map[string]struct {
		items []power.Item
		units int
		draw  int64
		want  []bool
	}{
		// A table in the shape of [BG] Figure 1: in the order of the queue, J1 and J2 take 8 of
		// 9 nodes and 140 W; the best set takes all 9 and 145 W.
		"as in Figure 1": {
			[]power.Item{{4, 70_000}, {4, 70_000}, {3, 45_000}, {3, 50_000}, {3, 50_000}},
			9, 150_000,
			[]bool{no, no, yes, yes, yes},
		},
		"nothing waits":                {nil, 9, 100, []bool{}},
		"no units":                     {[]power.Item{{1, 1}}, 0, 100, []bool{no}},
		"no power":                     {[]power.Item{{1, 1}}, 9, 0, []bool{no}},
		"less than none":               {[]power.Item{{1, 0}}, 9, -1, []bool{no}},
		"free of power":                {[]power.Item{{1, 0}, {2, 1}}, 9, 0, []bool{yes, no}},
		"exactly all power":            {[]power.Item{{1, 60}, {1, 40}}, 9, 100, []bool{yes, yes}},
		"a milliwatt too much":         {[]power.Item{{1, 60}, {1, 41}}, 9, 100, []bool{yes, no}},
		"more units than less power":   {[]power.Item{{1, 1}, {5, 100}}, 9, 100, []bool{no, yes}},
		"the first of equals":          {[]power.Item{{2, 50}, {2, 10}, {2, 50}}, 2, 100, []bool{yes, no, no}},
		"the first item before cheap":  {[]power.Item{{3, 90}, {1, 10}, {2, 10}, {1, 10}}, 4, 100, []bool{yes, yes, no, no}},
		"large numbers":                {[]power.Item{{1, math.MaxInt64}, {1, 1}, {1, math.MaxInt64 - 1}}, 3, math.MaxInt64, []bool{no, yes, yes}},
		"large machines":               {[]power.Item{{math.MaxInt, 1}, {math.MaxInt, 1}}, math.MaxInt, 5, []bool{yes, no}},
		"too large to look for":        {[]power.Item{{1, 1}, {math.MaxInt, 5}}, math.MaxInt, 5, []bool{yes, no}},
		"what never fits has no steps": {[]power.Item{{1, 200}, {512, 60}, {512, 60}, {1024, 100}}, 40_960, 100, []bool{no, no, no, yes}},
	} {
		var c power.Chooser
		if got := c.Choose(test.items, test.units, test.draw); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestChooseIsBounded: a table that would be too large leaves out the end of the queue,
// whose items then fill what the best of the others leave.
func TestChooseIsBounded(t *testing.T) {
	t.Parallel()
	const million = 1_000_000
	items := []power.Item{{4*million + 1, 70}, {4*million - 1, 40}, {4 * million, 30}, {million / 2, 20}, {million, 20}}
	var c power.Chooser
	// Three rows of eight million cells are more than there may be, so the best of the first
	// two is sought, the larger one. The third does not fit beside it; with the second it would.
	if got := c.Choose(items, 8*million-1, 100); !slices.Equal(got, []bool{true, false, false, true, false}) {
		t.Errorf("of two items and the rest: %v", got)
	}
	// Two rows are too many: all in order.
	for i := range items {
		items[i].Units *= 3
	}
	items[4].Units++
	if got := c.Choose(items, 24*million-3, 100); !slices.Equal(got, []bool{true, false, false, true, false}) {
		t.Errorf("in order: %v", got)
	}
}

// TestChooseKeepsItsMemory is alone, because it counts allocations.
func TestChooseKeepsItsMemory(t *testing.T) {
	items, units, draw := window(100, 1280, 32)
	var c power.Chooser
	c.Choose(items, units, draw)
	if n := testing.AllocsPerRun(5, func() { c.Choose(items, units, draw) }); n > 0 {
		t.Errorf("%v allocations a call", n)
	}
}

// window is a queue of jobs that draw 20 to 33 kW a rack of 32 cards, to the milliwatt, for a
// machine of so many steps of so many units, and a budget of 1,000 kW.
func window(jobs, steps, step int) (items []power.Item, units int, draw int64) {
	random := rand.New(rand.NewPCG(1, 2))
	perStep := int64(40_000_000 / steps)
	for range jobs {
		size := 1 + int(random.ExpFloat64()*float64(steps)/20)
		items = append(items, power.Item{Units: size * step, Draw: int64(size) * perStep * (20_000 + random.Int64N(13_001)) / 1000})
	}
	return items, steps * step, 1_000_000_000
}

// BenchmarkChoose has 100 jobs and a budget of 1,000 kW, of which 10,000 steps of 100 W
// would be made. On the largest machine jobs have any number of CPUs.
func BenchmarkChoose(b *testing.B) {
	for _, machine := range []struct {
		name        string
		steps, size int
	}{{"80 midplanes", 80, 512}, {"1280 cards", 1280, 32}, {"163840 CPUs", 163_840, 1}} {
		b.Run(machine.name, func(b *testing.B) {
			items, units, draw := window(100, machine.steps, machine.size)
			var c power.Chooser
			b.ReportAllocs()
			for b.Loop() {
				c.Choose(items, units, draw)
			}
		})
	}
}
