package sim

import "github.com/switchyard-hpc/switchyard/protocol"

// Use is a part of a machine that is in use for a time: by a job, as a rule.
type Use struct {
	Start, End protocol.Instant
	CPUs       int
	Draw       int64 // milliwatts
}

// Bin is the mean use over a stretch of time.
type Bin struct {
	Start  protocol.Instant
	Length protocol.Duration // that the means are over
	CPUs   float64           // that are busy
	Draw   float64           // milliwatts
}

// Curve is the mean use in each stretch of length bin of a time, one after another; the
// last one is shorter if bins do not fill the time. Each use counts for its exact overlap
// with a bin, in integers: they hold 100 MW for a day. There are no bins of no time.
func Curve(uses []Use, from, until protocol.Instant, bin protocol.Duration) []Bin {
	if until <= from || bin < 1 {
		return nil
	}
	bins := make([]Bin, (until.Sub(from)-1)/bin+1)
	for i := range bins {
		start := from.Add(protocol.Duration(i) * bin)
		bins[i] = Bin{Start: start, Length: min(bin, until.Sub(start))}
	}
	cpus, draw := make([]int64, len(bins)), make([]int64, len(bins)) // CPU·ms, and mW·ms
	for _, use := range uses {
		start, end := max(use.Start, from), min(use.End, until)
		for i := start.Sub(from) / bin; start < end; i++ {
			next := min(end, bins[i].Start.Add(bin))
			held := int64(next.Sub(start))
			cpus[i] += held * int64(use.CPUs)
			draw[i] += held * use.Draw
			start = next
		}
	}
	for i := range bins {
		bins[i].CPUs = float64(cpus[i]) / float64(bins[i].Length)
		bins[i].Draw = float64(draw[i]) / float64(bins[i].Length)
	}
	return bins
}

// DayCurve is what a curve is like over the day, as in [BG] Figure 5: the mean over all days
// for each stretch of length bin of the day. Starts are counted from midnight by the site's
// clock, which shows clock at the instant 0 of the curve and never changes for summer. Bins
// of the curve that lie across a border of the day's count on either side for what is there.
// A stretch of the day of which the curve knows nothing has no length.
func DayCurve(curve []Bin, bin, clock protocol.Duration) []Bin {
	if bin < 1 || bin > protocol.Day {
		return nil
	}
	day := make([]Bin, (protocol.Day-1)/bin+1)
	for i := range day {
		day[i].Start = protocol.Instant(protocol.Duration(i) * bin)
	}
	for _, part := range curve {
		at, left := timeOfDay(part.Start, clock), part.Length
		for left > 0 {
			to := &day[at/bin]
			held := min(left, bin-at%bin, protocol.Day-at)
			to.Length += held
			to.CPUs += float64(held) * part.CPUs
			to.Draw += float64(held) * part.Draw
			at, left = (at+held)%protocol.Day, left-held
		}
	}
	for i := range day {
		day[i].CPUs = ratio(day[i].CPUs, float64(day[i].Length))
		day[i].Draw = ratio(day[i].Draw, float64(day[i].Length))
	}
	return day
}

// timeOfDay is what a clock shows since midnight.
func timeOfDay(at protocol.Instant, clock protocol.Duration) protocol.Duration {
	return ((protocol.Duration(at)+clock)%protocol.Day + protocol.Day) % protocol.Day
}
