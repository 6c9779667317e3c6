package workload

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// placing chooses the periods of the batches of one size class.
type placing struct {
	allJobs, allWork float64 // of the batches
	jobs, work       lack
	had              []float64 // work of the periods in the log, CPU·ms
	largest          []int     // CPUs of a job
	placed           []batch
}

func newPlacing(p *Profile, class int, batches []batch) *placing {
	n := len(p.Periods)
	newLack := func() lack { return lack{of: make([]float64, n), sums: make([]float64, n)} }
	c := placing{jobs: newLack(), work: newLack(), had: make([]float64, n), largest: make([]int, n)}
	for i := range batches {
		c.allJobs += float64(len(batches[i].jobs))
		c.allWork += batches[i].work
	}
	jobs, work := 0.0, 0.0
	for _, period := range p.Periods {
		jobs += float64(period[2*class])
		work += float64(period[2*class+1])
	}
	for i, period := range p.Periods {
		c.jobs.of[i] = float64(period[2*class]) / max(1, jobs)
		c.work.of[i] = float64(period[2*class+1]) / max(1, work)
		c.had[i] = float64(period[2*class+1]) * 1000
		c.largest[i] = period[len(period)-1]
	}
	return &c
}

// place places batches, those first that are the largest part of all jobs or of all
// work: each in a period that lacks as many jobs, and as much work if that is the larger
// part, at random in proportion to what it lacks of the larger. What no period lacks
// whole is halved.
func (c *placing) place(batches []batch, rng *rand.Rand) {
	slices.SortStableFunc(batches, func(a, b batch) int {
		return cmp.Compare(max(c.parts(&b)), max(c.parts(&a)))
	})
	for i := range batches {
		c.placeOne(&batches[i], rng)
	}
}

// parts are those of all jobs and of all work.
func (c *placing) parts(b *batch) (jobs, work float64) {
	return float64(len(b.jobs)) / c.allJobs, b.work / c.allWork
}

// lackSlack makes up for the rounding of sums of parts.
const lackSlack = 1e-9

func (c *placing) placeOne(b *batch, rng *rand.Rand) {
	jobs, work := c.parts(b)
	lacks, heavy := &c.jobs, work > jobs
	if heavy {
		lacks = &c.work
	}
	holds := func(i int) bool { return c.jobs.of[i] >= jobs-lackSlack && b.widest <= c.largest[i] }
	fits := func(i int) bool { return holds(i) && c.work.of[i] >= work }
	period := lacks.try(fits, rng)
	switch {
	case period >= 0:
	case heavy:
		period = lacks.pick(fits, rng)
	default:
		period = lacks.pick(holds, rng)
	}
	switch {
	case period >= 0:
		b.period = period
	case len(b.jobs) > 1:
		half := len(b.jobs) / 2
		for _, jobs := range [][]Job{b.jobs[:half], b.jobs[half:]} {
			part := batchOf(jobs)
			c.placeOne(&part, rng)
		}
		return
	default:
		b.period = c.lacksMost(jobs, b.widest)
	}
	c.jobs.of[b.period] -= jobs
	c.work.of[b.period] -= work
	c.placed = append(c.placed, *b)
}

// lack is what periods lack, in parts of what all have.
type lack struct {
	of    []float64
	sums  []float64 // those of an earlier time, see [pick]
	picks int       // left until they are summed again
}

// A pick from the sums of an earlier time that does not fit is tried again a few times.
// That saves most of the time of looking at all periods for each batch.
const (
	picksPerSum = 64
	pickTries   = 8
)

// try draws one of the periods that fit in proportion to what they lack, or about so;
// -1: it found none.
func (l *lack) try(fits func(int) bool, rng *rand.Rand) int {
	if l.picks == 0 {
		l.picks = picksPerSum
		l.sum(func(int) bool { return true })
	}
	l.picks--
	if l.sums[len(l.sums)-1] > 0 {
		for range pickTries {
			if i := pick(l.sums, rng); fits(i) {
				return i
			}
		}
	}
	return -1
}

// pick is as try, but looks at all periods; -1: none fits.
func (l *lack) pick(fits func(int) bool, rng *rand.Rand) int {
	if i := l.try(fits, rng); i >= 0 {
		return i
	}
	l.picks = 0
	if l.sum(fits); l.sums[len(l.sums)-1] == 0 {
		return -1
	}
	return pick(l.sums, rng)
}

// sum sums up what those lack that count.
func (l *lack) sum(counts func(int) bool) {
	sum := 0.0
	for i, of := range l.of {
		if of > 0 && counts(i) {
			sum += of
		}
		l.sums[i] = sum
	}
}

// lacksMost is the period that lacks most work of those that lack a job, and had one
// as wide, if there are such.
func (c *placing) lacksMost(job float64, widest int) int {
	best, bestOf := 0, -1
	for i := range c.work.of {
		of := 0
		if c.jobs.of[i] >= job-lackSlack {
			of += 2
		}
		if widest <= c.largest[i] {
			of++
		}
		if of > bestOf || of == bestOf && c.work.of[i] > c.work.of[best] {
			best, bestOf = i, of
		}
	}
	return best
}

// submit appends a batch's jobs: from a time that is drawn by the hours of the day, or
// as early as lets the last of them come within the period.
func (p *Profile) submit(jobs []Job, b *batch, rng *rand.Rand) []Job {
	low := p.base() + b.period*p.seconds()
	begin, end := max(low, p.Begin), min(low+p.seconds(), p.Begin+p.Span+1)
	bounds := func(hour int) (from, to int) {
		return max(low+hour*secondsPerHour, begin), max(begin, min(low+(hour+1)*secondsPerHour, end))
	}
	sums, sum := make([]float64, p.Period), 0.0
	for hour := range sums {
		from, to := bounds(hour)
		if to > from {
			// An hour without a batch in the log is possible, so that each period has one.
			sum += (float64(p.Hours[(low/secondsPerHour+hour)%24]) + lackSlack) * float64(to-from)
		}
		sums[hour] = sum
	}
	from, to := bounds(pick(sums, rng))
	at := float64(from) + rng.Float64()*float64(to-from)
	offsets := make([]float64, len(b.jobs))
	for i := 1; i < len(offsets); i++ {
		gaps := Deciles(p.Gaps[min(batchLevel(len(b.jobs)), len(p.Gaps))-1])
		offsets[i] = offsets[i-1] + gaps.at(rng.Float64())
	}
	lasts, scale := offsets[len(offsets)-1], 1.0
	if over := at + lasts - float64(end-1); over > 0 {
		if at = max(float64(begin), at-over); at+lasts > float64(end-1) {
			scale = (float64(end-1) - at) / lasts
		}
	}
	for i, j := range b.jobs {
		second := min(int(at+offsets[i]*scale), end-1) - p.Begin
		j.Submit = protocol.Instant(second) * protocol.Instant(protocol.Second)
		jobs = append(jobs, j)
	}
	return jobs
}
