package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// The loads at which jobs are drawn.
const (
	leastLoad = 0.01
	mostLoad  = 100.0
)

// Generate draws jobs from the model, in the order of their submissions and numbered
// from 1. A span of 0 is that of the log, with as many jobs as it has; a shorter span
// has its first periods, a longer one repeats its whole weeks, or days if it has no
// week, each time with other random numbers. Times are whole seconds at a load
// and a service of 1. Users are not known, the origin is 0. A bias is an error: sizes
// are those of the log.
func (m *PeriodModel) Generate(o Options, seed uint64) ([]Job, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if load := factorOrOne(o.Load); !(load >= leastLoad && load <= mostLoad) {
		return nil, fmt.Errorf("options: load: %v is not a factor from %v to %v", load, leastLoad, mostLoad)
	}
	end := m.span() // in the log's time
	if o.Span == 0 {
		o.Span = end
	} else {
		end = protocol.Duration(math.Ceil(float64(o.Span) * factorOrOne(o.Load)))
	}
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	if o.Bias != 0 {
		return nil, fmt.Errorf("options: bias: %v does not apply to a model of periods, whose sizes are those of its log; omit it", o.Bias)
	}
	if o.Machine == (Machine{}) {
		o.Machine = m.Machine
	}
	jobs, err := m.laps(o, protocol.Instant(end), seed)
	if err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	for i := range jobs {
		jobs[i].ID = int64(i) + 1
	}
	return jobs, nil
}

// span is the time in which a lap's jobs are submitted.
func (m *PeriodModel) span() protocol.Duration {
	return protocol.Duration(m.Profile.Span)*protocol.Second + 1
}

// lapLength is the time after which the log is repeated.
func (p *Profile) lapLength() protocol.Duration {
	for _, whole := range []protocol.Duration{7 * protocol.Day, protocol.Day} {
		if laps := protocol.Duration(p.Span) * protocol.Second / whole; laps > 0 {
			return laps * whole
		}
	}
	return protocol.Duration(p.Span)*protocol.Second + protocol.Second
}

// laps draws as many laps as there are up to an end in the log's time.
func (m *PeriodModel) laps(o Options, end protocol.Instant, seed uint64) ([]Job, error) {
	load := factorOrOne(o.Load)
	length := m.Profile.lapLength()
	if expected := float64(end) / float64(length) * float64(m.Profile.jobs()); expected > maxModelJobs {
		return nil, fmt.Errorf("the model gives %.3g jobs in this span, more than %d; shorten span_ms or lower load", expected, maxModelJobs)
	}
	var jobs []Job
	for lap, begin, last := 0, protocol.Instant(0), false; !last; lap, begin = lap+1, begin.Add(length) {
		last = end.Sub(begin) <= m.span()
		for _, j := range m.lap(mixBits(seed) + uint64(lap)) {
			at := begin.Add(protocol.Duration(j.Submit))
			if at >= end || !last && protocol.Duration(j.Submit) >= length {
				break
			}
			if j.CPUs = o.fitted(j.CPUs, m.Machine); j.CPUs == 0 {
				continue
			}
			j.Submit = protocol.Instant(math.Floor(float64(at) / load))
			jobs = append(jobs, j.longer(factorOrOne(o.Service)))
		}
	}
	switch {
	case len(jobs) == 0:
		return nil, errors.New("none of the model's jobs fits the machine in this span; set scale or lengthen span_ms")
	case o.Jobs > len(jobs):
		return nil, fmt.Errorf("jobs: %d are wanted and the model gives %d in this span; raise load", o.Jobs, len(jobs))
	}
	return thinned(jobs, o.Jobs, seed), nil
}

// fitted is how many CPUs a job of the model's machine requests on that of the options,
// 0 if it does not fit.
func (o Options) fitted(cpus int, from Machine) int {
	if o.Scale {
		cpus = scaleUp(cpus, o.Machine.CPUs(), from.CPUs())
	}
	if cpus > o.Machine.CPUs() {
		return 0
	}
	if o.SizeUnit == SizeInNodes {
		return o.Machine.NodesOf(cpus) * o.Machine.CPUsPerNode
	}
	return cpus
}

// longer is the job with its times multiplied.
func (j Job) longer(factor float64) Job {
	if factor != 1 {
		j.Run = max(1, protocol.Duration(math.Round(float64(j.Run)*factor)))
		j.Estimate = max(j.Run, protocol.Duration(math.Round(float64(j.Estimate)*factor)))
	}
	return j
}

// thinned drops jobs at random until the wanted number is left; 0: none is dropped.
func thinned(jobs []Job, wanted int, seed uint64) []Job {
	if wanted == 0 {
		return jobs
	}
	rng := randomStream(seed, 0)
	kept, left := jobs[:0], wanted
	for i := range jobs {
		if rng.IntN(len(jobs)-i) < left {
			kept = append(kept, jobs[i])
			left--
		}
	}
	return kept
}

// batch is jobs of one kind that come one soon after the other.
type batch struct {
	jobs   []Job
	work   float64 // CPU·ms
	widest int     // CPUs
	period int
}

func batchOf(jobs []Job) batch {
	b := batch{jobs: jobs}
	for i := range jobs {
		b.work += float64(jobs[i].Work())
		b.widest = max(b.widest, jobs[i].CPUs)
	}
	return b
}

// lap draws the jobs of the log's span, the first of them at 0 and the last at its end.
// Kinds have random numbers of their own.
func (m *PeriodModel) lap(seed uint64) []Job {
	p := &m.Profile
	byClass := make([][]batch, len(p.Widths))
	for i := range p.Kinds {
		k := &p.Kinds[i]
		class := p.class(k.CPUs[len(k.CPUs)-1])
		byClass[class] = append(byClass[class], k.draw(float64(p.Alike)/protocol.PPM, randomStream(seed, i))...)
	}
	rng := randomStream(seed, len(p.Kinds))
	var jobs []Job
	for class, batches := range byClass {
		if len(batches) == 0 {
			continue
		}
		placing := newPlacing(p, class, batches)
		placing.place(batches, rng)
		placing.calibrate()
		for i := range placing.placed {
			jobs = p.submit(jobs, &placing.placed[i], rng)
		}
	}
	p.calibrate(jobs)
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	jobs[0].Submit, jobs[len(jobs)-1].Submit = 0, protocol.Instant(p.Span)*protocol.Instant(protocol.Second)
	return jobs
}

// draw draws the batches of a kind. Each part of the kind's times and sizes has its
// share of the jobs, so that no draw has more long or wide jobs than another. Jobs in
// the order of their times make batches of like jobs; as many of them change places at
// random as the correlation asks for.
func (k *PeriodKind) draw(alike float64, rng *rand.Rand) []batch {
	jobs := make([]Job, k.Jobs)
	spread := k.spread()
	for i := range jobs {
		part := i * len(k.Runs) / k.Jobs
		run := float64(k.Runs[part]) + spread[part]*(2*rng.Float64()-1)
		jobs[i] = Job{
			User: -1, Run: protocol.Duration(max(1, math.Round(run))) * protocol.Second,
			Estimate: protocol.Duration(k.Estimates[part]) * protocol.Second,
		}
	}
	var moved []int
	for i := range jobs {
		if rng.Float64() >= math.Sqrt(alike) {
			moved = append(moved, i)
		}
	}
	rng.Shuffle(len(moved), func(a, b int) { jobs[moved[a]], jobs[moved[b]] = jobs[moved[b]], jobs[moved[a]] })
	lengths := k.lengths(rng)
	batches := make([]batch, len(lengths))
	at := 0
	for i, length := range lengths {
		batches[i].jobs = jobs[at : at+length : at+length]
		at += length
	}
	at = 0
	for _, i := range rng.Perm(len(batches)) {
		for n := range batches[i].jobs {
			batches[i].jobs[n].CPUs = k.CPUs[at*len(k.CPUs)/k.Jobs]
			at++
		}
		batches[i] = batchOf(batches[i].jobs)
	}
	return batches
}

// spread is how far run times lie around the means of the parts: as far as half the way
// to the nearest other mean, and not beyond the estimate, so that the mean stays.
func (k *PeriodKind) spread() []float64 {
	rising := slices.Clone(k.Runs)
	slices.Sort(rising)
	spread := make([]float64, len(k.Runs))
	for i, run := range k.Runs {
		at, _ := slices.BinarySearch(rising, run)
		far := run - 1
		if at > 0 {
			far = min(far, run-rising[at-1])
		}
		if at+1 < len(rising) {
			far = min(far, rising[at+1]-run)
		}
		spread[i] = min(float64(far)/2, float64(k.Estimates[i]-run))
	}
	return spread
}

// lengths draws those of the batches, in random order: even between the bounds of each
// level, but for what makes the sum that of the jobs.
func (k *PeriodKind) lengths(rng *rand.Rand) []int {
	var lengths, room []int // room up to the end of the level
	fewest, _ := k.batched()
	extra := k.Jobs - fewest
	drawn, free := 0, 0
	for level, count := range k.Batches {
		for range count {
			more := rng.IntN(1 << level)
			lengths, room = append(lengths, 1<<level+more), append(room, 1<<level-1-more)
			drawn += more
			free += 1<<level - 1 - more
		}
	}
	for i, length := range lengths {
		switch over := length - 1<<batchLevel(length); {
		case drawn > extra:
			lengths[i] -= over - over*extra/drawn
		case free > 0:
			lengths[i] += room[i] * (extra - drawn) / free
		}
	}
	rng.Shuffle(len(lengths), func(a, b int) { lengths[a], lengths[b] = lengths[b], lengths[a] })
	left := k.Jobs
	for _, length := range lengths {
		left -= length
	}
	for i := 0; left > 0; i = (i + 1) % len(lengths) {
		if batchLevel(lengths[i]+1) == batchLevel(lengths[i]) {
			lengths[i]++
			left--
		}
	}
	return lengths
}

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

// mostStretch bounds the factor of [placing.calibrate].
const mostStretch = 2

// calibrate multiplies the run times in each period by a factor that makes its work
// that of the log, or nearer.
func (c *placing) calibrate() {
	drawn := make([]float64, len(c.had))
	for i := range c.placed {
		drawn[c.placed[i].period] += c.placed[i].work
	}
	for i := range c.placed {
		b := &c.placed[i]
		stretch(b.jobs, min(max(c.had[b.period]/drawn[b.period], 1.0/mostStretch), mostStretch))
	}
}

// calibrate makes the work of a lap that of the log.
func (p *Profile) calibrate(jobs []Job) {
	had, drawn := 0.0, 0.0
	for _, period := range p.Periods {
		for class := range p.Widths {
			had += float64(period[2*class+1]) * 1000
		}
	}
	for i := range jobs {
		drawn += float64(jobs[i].Work())
	}
	stretch(jobs, had/drawn)
}

// stretch multiplies run times, in whole seconds. Estimates stay, unless they are less.
func stretch(jobs []Job, factor float64) {
	for i := range jobs {
		j := &jobs[i]
		j.Run = protocol.Duration(max(1, math.Round(float64(j.Run)/float64(protocol.Second)*factor))) * protocol.Second
		j.Estimate = max(j.Estimate, j.Run)
	}
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

// FittedMachine draws the jobs of the machine of a model. A span of 0 is that of a
// [PeriodModel], or [Table6Span]. The header says at which time of which day of the week
// the jobs of a [PeriodModel] begin, in the first week of Unix time.
func FittedMachine(model JobModel, o Options, seed uint64) (*Grid, error) {
	m := model.On()
	g := &Grid{
		Name:    m.Name,
		Systems: []System{{Name: m.Name, Cores: m.CPUs(), MflopsPerCore: m.MHz, MaxRequest: m.CPUs()}},
	}
	if periods, ok := model.(*PeriodModel); ok {
		epoch := time.Unix(0, 0).UTC().Weekday()
		day := (periods.Profile.Weekday - int(epoch) + 7) % 7
		g.Credits = []string{
			HeaderField("UnixStartTime", strconv.Itoa(day*secondsPerDay+periods.Profile.Begin)), HeaderField("TimeZone", "0"),
		}
	} else {
		o.Span = cmp.Or(o.Span, Table6Span)
	}
	var err error
	if g.Jobs, err = model.Generate(o, seed); err != nil {
		return nil, err
	}
	for _, j := range g.Jobs {
		g.Systems[0].MaxRun = max(g.Systems[0].MaxRun, j.Estimate)
	}
	return g, nil
}
