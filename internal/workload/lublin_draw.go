package workload

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// The streams of random numbers of a class.
const (
	lublinGaps = iota
	lublinRuns
	lublinSizes
	lublinStreams
)

// lublinSource is a model made ready: it gives one job after the other.
type lublinSource struct {
	classes []lublinArrivals
	least   float64 // s that jobs run
	limit   float64
	last    int64 // number of the last job
}

// open makes a model ready to be drawn from.
func (l Lublin) open(seed uint64) (*lublinSource, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	s := &lublinSource{least: max(float64(l.LeastRun)/1000, 1), limit: math.Inf(1)}
	if l.Limit > 0 {
		s.limit = float64(l.Limit) / 1000
	}
	for i := range l.Classes {
		stream := func(purpose int) *rand.Rand { return randomStream(seed, i*lublinStreams+purpose) }
		class, err := l.arrivals(&l.Classes[i], math.Log(s.least))
		if err != nil {
			return nil, fmt.Errorf("model: classes[%d].%w", i, err)
		}
		class.gaps, class.runs, class.sizes = stream(lublinGaps), stream(lublinRuns), stream(lublinSizes)
		class.advance()
		s.classes = append(s.classes, class)
	}
	return s, nil
}

// next draws the next job of the class whose next arrival is the earliest.
func (s *lublinSource) next() Job {
	c := &s.classes[0]
	for i := range s.classes {
		if s.classes[i].at < c.at {
			c = &s.classes[i]
		}
	}
	at := protocol.Instant(min(c.at, longestDraw)) * 1000
	c.advance()
	cpus := c.size()
	run := protocol.Duration(min(max(math.Floor(c.run(cpus)), math.Ceil(s.least)), s.limit) * 1000)
	s.last++
	return Job{ID: s.last, User: -1, Submit: at, Run: run, Estimate: run, CPUs: cpus}
}

// lublinArrivals is one class made ready, and where its arrivals stand.
type lublinArrivals struct {
	*LublinClass

	gap, short, long   cutGamma
	gaps, runs, sizes  *rand.Rand
	load               float64
	weights            [halfHours]float64 // of the half-hours of the day, 1 in the mean
	start, bucket, day int64              // half-hour of the day at the beginning, and now; whole days since
	points             float64            // of the weight of the half-hour that are used up
	at                 float64            // the next arrival, s
}

const (
	halfHours       = 48
	halfHour        = 1800 // s
	cycleFirst      = 11   // the reference's day begins with this half-hour
	halfHoursAnHour = 2
)

func (l Lublin) arrivals(c *LublinClass, leastLog float64) (a lublinArrivals, err error) {
	a = lublinArrivals{LublinClass: c, load: factorOrOne(l.Load), start: int64(l.StartHour) * halfHoursAnHour}
	a.bucket = a.start
	if a.gap, err = c.rush().within(0, l.MaxLogGap); err != nil {
		return a, fmt.Errorf("gap.%w", err)
	}
	if a.short, err = c.Short.within(leastLog, l.MaxLogRun); err != nil {
		return a, fmt.Errorf("short.%w", err)
	}
	if a.long, err = c.Long.within(leastLog, l.MaxLogRun); err != nil {
		return a, fmt.Errorf("long.%w", err)
	}
	a.weights, err = c.Cycle()
	return a, err
}

// rush is the distribution of the logarithms of gaps over the whole day.
func (c *LublinClass) rush() Gamma { return Gamma{Shape: c.Gap.Shape * c.Rush, Scale: c.Gap.Scale} }

// Cycle returns how much arrives in each half-hour of the day, from midnight, with
// 1 as the mean. The model's day is a gamma distribution over the half-hours 11 to
// 58, of which half-hour i has the probability from i−½ to i+½.
func (c *LublinClass) Cycle() ([halfHours]float64, error) {
	var weights [halfHours]float64
	sum := 0.0
	for i := cycleFirst; i < cycleFirst+halfHours; i++ {
		w := c.Daily.Below(float64(i)+0.5) - c.Daily.Below(float64(i)-0.5)
		weights[(i-1)%halfHours] = w
		sum += w
	}
	for i := range weights {
		weights[i] *= halfHours / sum
		if !(weights[i] > leastMass) {
			return weights, fmt.Errorf("daily.shape, daily.scale: %v and %v leave half-hours of the day without arrivals",
				c.Daily.Shape, c.Daily.Scale)
		}
	}
	return weights, nil
}

// advance finds the next arrival: the gap is used up as the weights of the
// half-hours let it, so that time passes quickly in the rush hours.
func (a *lublinArrivals) advance() {
	a.points += math.Exp(a.gap.draw(a.gaps)) / halfHour / a.load
	days := math.Floor(a.points / halfHours) // the weights of a day sum to its half-hours
	a.day += int64(days)
	a.points -= days * halfHours
	for a.points > a.weights[a.bucket] {
		a.points -= a.weights[a.bucket]
		if a.bucket++; a.bucket == halfHours {
			a.bucket = 0
			a.day++
		}
	}
	passed := a.day*halfHours + a.bucket - a.start
	a.at = halfHour * (float64(passed) + a.points/a.weights[a.bucket])
}

// size draws how many CPUs a job asks for.
func (a *lublinArrivals) size() int {
	u, part, within := a.sizes.Float64(), a.sizes.Float64(), a.sizes.Float64()
	if u <= a.Serial {
		return 1
	}
	low, high := a.Low, a.Medium
	if part > a.Lower {
		low, high = a.Medium, a.High
	}
	size := low + (high-low)*within
	if u <= a.Serial+a.PowerOfTwo {
		size = math.Round(size)
	}
	return int(math.Round(math.Exp2(min(size, a.High))))
}

// run draws a run time in seconds.
func (a *lublinArrivals) run(cpus int) float64 {
	short := min(max(a.Slope*float64(cpus)+a.Short0, 0), 1)
	from := a.long
	if a.runs.Float64() < short {
		from = a.short
	}
	return math.Exp(from.draw(a.runs))
}
