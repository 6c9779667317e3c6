package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
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
