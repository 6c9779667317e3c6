package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Calendar is the months to draw jobs for. The workload's time begins with the
// first of them, at a local midnight.
type Calendar struct {
	FirstDay time.Weekday
	Forward  protocol.Instant // when the site's clocks go forward by an hour; 0: they do not
	Months   []Month          // one after the other
}

// Month is one of a [Calendar].
type Month struct {
	Name string
	Days int
	Jobs int // that are submitted in it, exactly
	// Load is their work in proportion to what the machine can do in the month; 0: as
	// the model has it.
	Load float64
}

// local is what the site's clock shows, since the midnight at which it began.
func (c *Calendar) local(t protocol.Instant) protocol.Duration {
	if c.Forward > 0 && t >= c.Forward {
		return protocol.Duration(t) + protocol.Hour
	}
	return protocol.Duration(t)
}

// At is the beginning of a month; the one after the last is the end.
func (c *Calendar) At(month int) protocol.Instant {
	at := protocol.Instant(0)
	for _, m := range c.Months[:month] {
		at = at.Add(protocol.Duration(m.Days) * protocol.Day)
	}
	if winter := at - protocol.Instant(protocol.Hour); c.Forward > 0 && winter >= c.Forward {
		return winter
	}
	return at
}

func (c *Calendar) validate() error {
	if c.FirstDay < time.Sunday || c.FirstDay > time.Saturday {
		return fmt.Errorf("first_day: %d is not a day of the week, 0 (Sunday) to 6", c.FirstDay)
	}
	total := 0
	for i, m := range c.Months {
		total += m.Jobs
		switch {
		case m.Days < 1 || m.Days > 366:
			return fmt.Errorf("months[%d].days: %d are not from 1 to 366", i, m.Days)
		case m.Jobs < 0 || total > maxModelJobs:
			return fmt.Errorf("months[%d].jobs: %d are not from 0 to %d in all", i, m.Jobs, maxModelJobs)
		case m.Load != 0 && !isPositive(m.Load):
			return fmt.Errorf("months[%d].load: %v is not a positive factor", i, m.Load)
		}
	}
	return nil
}

// Generate draws the jobs of the months from a seed, in the order of their submits
// and numbered from 1. Times are whole seconds. A month with a load has its habits
// tilted: those of a kind are drawn in proportion to a power of the kind's mean
// work, so that larger and longer jobs become more frequent, or rarer, and each kind
// stays as it is. The power is chosen so that the jobs drawn have the load, as
// nearly as whole jobs can; Generate fails if that is not within a part in twenty.
func (m *Monthly) Generate(c Calendar, seed uint64) ([]Job, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("calendar: %w", err)
	}
	var jobs []Job
	for i, month := range c.Months {
		d := monthDraw{
			model: m, jobs: month.Jobs, begin: c.At(i), end: c.At(i + 1),
			seed: mixBits(seed) + uint64(i),
		}
		d.hours = m.hours(&c, d.begin, d.end)
		if d.hours[len(d.hours)-1] == 0 && month.Jobs > 0 {
			return nil, fmt.Errorf("calendar: months[%d]: %s: on its days of the week no batch of the model begins", i, month.Name)
		}
		drawn, err := d.loaded(month.Load)
		if err != nil {
			return nil, fmt.Errorf("calendar: months[%d]: %s: %w", i, month.Name, err)
		}
		jobs = append(jobs, drawn...)
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	for i := range jobs {
		jobs[i].ID = int64(i) + 1
	}
	return jobs, nil
}

// hours returns how many batches of the log begin in the hours from begin on, each
// with those before it.
func (m *Monthly) hours(c *Calendar, begin, end protocol.Instant) []float64 {
	var sums []float64
	sum := 0.0
	for at := begin; at < end; at = at.Add(protocol.Hour) {
		clock := int(c.local(at) / protocol.Hour)
		sum += float64(m.Hours[clock%24] * m.Days[(clock/24+int(c.FirstDay))%7])
		sums = append(sums, sum)
	}
	return sums
}

// tilted returns the weights of the habits, each with those before it.
func (m *Monthly) tilted(tilt float64) []float64 {
	sums := make([]float64, len(m.Habits))
	sum := 0.0
	for i, h := range m.Habits {
		sum += float64(h.Batches) * math.Pow(m.Kinds[h.Kind].work(), tilt)
		sums[i] = sum
	}
	return sums
}

// pick draws an index in proportion to the differences of rising sums.
func pick(sums []float64, rng *rand.Rand) int {
	u := rng.Float64() * sums[len(sums)-1]
	return min(sort.Search(len(sums), func(i int) bool { return sums[i] > u }), len(sums)-1)
}

// monthDraw is one month made ready.
type monthDraw struct {
	model      *Monthly
	jobs       int
	begin, end protocol.Instant
	hours      []float64 // see [Monthly.hours]
	seed       uint64
}

const (
	steepestTilt = 2    // of [monthDraw.loaded]
	tiltSteps    = 20   // halvings
	loadWithin   = 0.05 // of the wanted load
)

// loaded draws the month's jobs with a load. Every tilt is drawn with the same
// random numbers, so that the work rises with it but for the jumps of whole batches.
func (d *monthDraw) loaded(load float64) ([]Job, error) {
	if load == 0 || d.jobs == 0 {
		return d.draw(0), nil
	}
	var best []Job
	nearest := math.Inf(1)
	for low, high, step := -float64(steepestTilt), float64(steepestTilt), 0; step < tiltSteps; step++ {
		tilt := (low + high) / 2
		jobs := d.draw(tilt)
		over := d.load(jobs)/load - 1
		if math.Abs(over) < nearest {
			best, nearest = jobs, math.Abs(over)
		}
		if over < 0 {
			low = tilt
		} else {
			high = tilt
		}
	}
	if nearest > loadWithin {
		return nil, fmt.Errorf("load: %v is out of reach of %d jobs, the nearest is %.3f; change it or the jobs",
			load, d.jobs, d.load(best))
	}
	return best, nil
}

// load is the work of the jobs in proportion to what the machine can do in the month.
func (d *monthDraw) load(jobs []Job) float64 {
	work := 0.0
	for _, j := range jobs {
		work += float64(j.Work())
	}
	return work / float64(d.model.CPUs) / float64(d.end.Sub(d.begin))
}

// draw draws the month's jobs, batch by batch. Each has random numbers of its own,
// so that a longer one leaves the others as they are.
func (d *monthDraw) draw(tilt float64) []Job {
	habits := d.model.tilted(tilt)
	jobs := make([]Job, 0, d.jobs)
	for batch := 0; len(jobs) < d.jobs; batch++ {
		rng := randomStream(d.seed, batch)
		habit := &d.model.Habits[pick(habits, rng)]
		jobs = d.batch(jobs, habit, rng)
	}
	return jobs
}

// batch appends a habit's batch, as far as the month lasts and wants jobs.
func (d *monthDraw) batch(jobs []Job, habit *Habit, rng *rand.Rand) []Job {
	kind := &d.model.Kinds[habit.Kind]
	estimate := kind.Estimates[rng.IntN(len(kind.Estimates))]
	last := float64(habit.Batches) / float64(habit.Jobs) // the probability that a job is the last
	hour := d.begin.Add(protocol.Duration(pick(d.hours, rng)) * protocol.Hour)
	at := hour.Add(protocol.Duration(rng.IntN(3600)) * protocol.Second)
	for at < d.end && len(jobs) < d.jobs {
		run := max(1, math.Round(float64(estimate)*kind.Runs.at(rng.Float64())/protocol.PPM))
		jobs = append(jobs, Job{
			User: habit.User, Submit: at, CPUs: kind.CPUs,
			Run: protocol.Duration(run) * protocol.Second, Estimate: protocol.Duration(estimate) * protocol.Second,
		})
		if rng.Float64() < last {
			break
		}
		at = at.Add(protocol.Duration(math.Round(d.model.Gaps.at(rng.Float64()))) * protocol.Second)
	}
	return jobs
}
