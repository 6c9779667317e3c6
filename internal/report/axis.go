package report

import (
	"math"
	"slices"
)

// axis maps numbers to points: low lies at from, high at to.
type axis struct {
	low, high float64
	from, to  float64
	log       bool
	ticks     []tick
}

type tick struct {
	value float64
	label string
}

// at is where a number lies.
func (a *axis) at(x float64) float64 {
	low, high := a.low, a.high
	if a.log {
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	return a.from + (a.to-a.from)*(x-low)/(high-low)
}

// newAxis shows numbers of a kind from low to high.
func newAxis(low, high float64, kind Kind, log bool) axis {
	a := axis{low: low, high: high, log: log}
	switch {
	case low < high:
	case log:
		a.low, a.high = low/2, low*2
	default:
		a.low, a.high = low-1, low+1
	}
	switch {
	case log:
		a.ticks = ticksAt(logarithmic(a.low, a.high), kind)
	case kind == Time:
		a.ticks = ticksAt(multiples(timeStep(a.high-a.low), a.low, a.high), kind)
	default:
		a.ticks = ticksAt(multiples(roundStep(a.high-a.low), a.low, a.high), Number)
	}
	return a
}

// room is what the labels of the axis need beside it.
func (a *axis) room() float64 {
	most := 0.0
	for _, t := range a.ticks {
		most = max(most, wide(t.label, 8))
	}
	return most + 6
}

// end is where the axis ends at the right, with room for half of the label at its last tick.
func (a *axis) end() float64 {
	room := 8.0
	if len(a.ticks) > 0 {
		room = max(room, wide(a.ticks[len(a.ticks)-1].label, 8)/2)
	}
	return width - margin - room
}

// timeStep divides minutes, hours or days. Its ticks are fewer than others, for their
// labels are long.
func timeStep(span float64) float64 {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	steps := []float64{
		1, 2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
		hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day,
	}
	if at := slices.IndexFunc(steps, func(step float64) bool { return span/step < 5.5 }); at >= 0 {
		return steps[at]
	}
	return day * roundStep(span/day)
}

// roundStep is 1, 2 or 5 times a power of ten, about a fifth of a range: four to ten ticks.
func roundStep(span float64) float64 {
	rough := span / 5
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step := power
	for _, times := range []float64{2, 5, 10} {
		if rough > 0.7*times*power {
			step = times * power
		}
	}
	return step
}

func multiples(step, low, high float64) []float64 {
	if step <= 0 || math.IsInf(step, 0) || low+step == low {
		return nil
	}
	var at []float64
	for i := math.Ceil(low / step); i*step <= high; i++ {
		at = append(at, i*step)
	}
	return at
}

// logarithmic are 1, 2 and 5 times each power of ten.
func logarithmic(low, high float64) []float64 {
	var at []float64
	for power := math.Pow(10, math.Floor(math.Log10(low))); power <= high && power > 0; power *= 10 {
		for _, times := range []float64{1, 2, 5} {
			if x := times * power; low <= x && x <= high {
				at = append(at, x)
			}
		}
	}
	return at
}

func ticksAt(at []float64, k Kind) []tick {
	ticks := make([]tick, len(at))
	for i, x := range at {
		ticks[i] = tick{x, k.Text(x)}
	}
	return ticks
}

// across draws a line at each tick of the y axis, with its label to the left.
func (d *drawing) across(x, y *axis) {
	for _, t := range y.ticks {
		at := y.at(t.value)
		d.line("grid", point{x.from, at}, point{x.to, at})
		d.say("end", x.from-4, at+3, t.label)
	}
}

// below draws the x axis at the foot of the y axis, with its ticks and as many of their
// labels as have room.
func (d *drawing) below(x, y *axis) {
	d.line("ink", point{x.from, y.from}, point{x.to, y.from})
	free := math.Inf(-1)
	for _, t := range x.ticks {
		at, half := x.at(t.value), wide(t.label, 8)/2
		d.line("ink", point{at, y.from}, point{at, y.from + 3})
		if at-half > free {
			d.say("middle", at, y.from+12, t.label)
			free = at + half
		}
	}
}
