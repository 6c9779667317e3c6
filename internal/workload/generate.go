package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Options say how jobs are drawn from a [Model]. The zero value of each but
// Span leaves the model as it is.
type Options struct {
	Span    protocol.Duration `json:"span_ms" toml:"span_ms"` // jobs are submitted in [0, Span); 0: that of a [PeriodModel]
	Load    float64           `json:"load"    toml:"load"`    // divides the inter-arrival times; 0 is 1
	Service float64           `json:"service" toml:"service"` // multiplies the service times; 0 is 1
	Jobs    int               `json:"jobs"    toml:"jobs"`    // how many are wanted in expectation, by dropping some at random; 0: all

	// Bias places sizes between the smallest and the largest of each class. At
	// 0 they are uniform; a job lies at the fraction u^β of its class, u uniform
	// and β = (1−Bias)/(1+Bias), so that the mean fraction is (1+Bias)/2. At −1
	// all have the class's smallest size, at 1 the largest. In the widest class
	// of the model the fraction is one of the logarithm of the size.
	Bias float64 `json:"bias" toml:"bias"`
	// SizeUnit is what jobs request. The classes of [SS] Tables 2 to 4 are in
	// CPUs, and a job has its nodes for itself "regardless of the number of CPUs
	// actually consumed" [SS 3]: Job.CPUs is what it requests and uses,
	// [Machine.NodesOf] how many nodes it is allocated.
	SizeUnit SizeUnit `json:"size_unit" toml:"size_unit"`

	// Machine is where the jobs are submitted, if that is not the model's
	// machine. The classes that fit it whole keep their sizes and the others are
	// left out, unless Scale is set: then the bounds of all classes are scaled by
	// the ratio of the machines' CPUs. Run times are not scaled by speed.
	Machine Machine `json:"machine" toml:"machine"`
	Scale   bool    `json:"scale"   toml:"scale"`
}

// SizeUnit is the unit in which the jobs of a model request CPUs.
type SizeUnit string

// The size units. Empty is [SizeInCPUs].
const (
	SizeInCPUs  SizeUnit = "cpu"  // any number of CPUs
	SizeInNodes SizeUnit = "node" // all CPUs of whole nodes
)

// SizeUnits are the valid units.
func SizeUnits() []string { return []string{string(SizeInCPUs), string(SizeInNodes)} }

// maxModelJobs bounds what one model may be asked for: a mistaken rate in a file
// should be an error and not the end of memory.
const maxModelJobs = 100_000_000

// validate checks what does not depend on the model.
func (o Options) validate() error {
	switch {
	case o.Span <= 0:
		return fmt.Errorf("span_ms: %d, the span must be positive", int64(o.Span))
	case o.Load != 0 && !isPositive(o.Load):
		return fmt.Errorf("load: %v is not a positive factor", o.Load)
	case o.Service != 0 && !isPositive(o.Service):
		return fmt.Errorf("service: %v is not a positive factor", o.Service)
	case o.Jobs < 0:
		return fmt.Errorf("jobs: %d is negative", o.Jobs)
	case !(o.Bias >= -1 && o.Bias <= 1):
		return fmt.Errorf("bias: %v is not from -1 to 1", o.Bias)
	case o.SizeUnit != "" && !slices.Contains(SizeUnits(), string(o.SizeUnit)):
		return fmt.Errorf("size_unit: invalid unit %q", o.SizeUnit)
	}
	if o.Machine == (Machine{}) {
		return nil
	}
	if err := o.Machine.Validate(); err != nil {
		return fmt.Errorf("machine.%w", err)
	}
	return nil
}

// Expected returns how many jobs the options draw from the model in
// expectation: the sum over its classes of [HyperErlang.Renewals], or Jobs if
// that is given. The seeds of a model with rare long gaps lie several percent
// around it.
func (m Model) Expected(o Options) (float64, error) {
	p, err := m.plan(o)
	if err != nil {
		return 0, err
	}
	return p.expected * p.keep, nil
}

// Generate draws jobs from the model, in the order of their submits (at one
// instant in the order of the classes) and numbered from 1. Each class has its own streams of random numbers for
// arrivals, run times, sizes and for what is dropped, all made from the seed:
// what is changed in one of them leaves the others as they are. Estimates equal
// run times, the user is not known, the origin is 0.
func (m Model) Generate(o Options, seed uint64) ([]Job, error) {
	p, err := m.plan(o)
	if err != nil {
		return nil, err
	}
	var jobs []Job
	for _, s := range p.streams {
		jobs = s.draw(jobs, p.span, p.keep, seed)
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	for i := range jobs {
		jobs[i].ID = int64(i) + 1
	}
	return jobs, nil
}

// modelPlan is a model made ready for one set of options.
type modelPlan struct {
	span     float64 // s
	expected float64 // jobs, before any are dropped
	keep     float64 // the probability that a job stays
	streams  []classStream
}

// classStream is one class made ready.
type classStream struct {
	class            int // its index in the model: it chooses the random numbers
	arrival, service HyperErlang
	size             sizeRule
}

func (m Model) plan(o Options) (*modelPlan, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	if o.Machine == (Machine{}) {
		o.Machine = m.Machine
	}
	p := &modelPlan{span: float64(o.Span) / 1000, keep: 1}
	widest := m.widest()
	for i, c := range m.Classes {
		low, high, ok := o.bounds(c, m.Machine)
		if !ok {
			continue
		}
		s := classStream{
			class: i, arrival: c.Arrival.Times(1 / factorOrOne(o.Load)), service: c.Service.Times(factorOrOne(o.Service)),
			size: o.rule(low, high, i == widest),
		}
		p.expected += s.arrival.Renewals(p.span)
		p.streams = append(p.streams, s)
	}
	return p, p.thin(o)
}

// thin sets the probability to keep a job.
func (p *modelPlan) thin(o Options) error {
	switch {
	case len(p.streams) == 0:
		return fmt.Errorf("options: machine: none of the model's classes fits its %d CPUs; set scale", o.Machine.CPUs())
	case !(p.expected <= maxModelJobs):
		return fmt.Errorf("options: the model gives %.3g jobs in this span, more than %d; "+
			"shorten span_ms or lower load", p.expected, maxModelJobs)
	case o.Jobs == 0:
		return nil
	case float64(o.Jobs) > p.expected:
		return fmt.Errorf("options: jobs: %d are wanted and the model gives %.0f in this span; raise load",
			o.Jobs, p.expected)
	}
	p.keep = float64(o.Jobs) / p.expected
	return nil
}

func factorOrOne(factor float64) float64 {
	if factor == 0 {
		return 1
	}
	return factor
}

// bounds returns the CPUs of a class on the machine of the options; false: the
// class is left out there.
func (o Options) bounds(c Class, from Machine) (low, high int, ok bool) {
	if o.Scale {
		return scaleUp(c.Min, o.Machine.CPUs(), from.CPUs()), scaleUp(c.Max, o.Machine.CPUs(), from.CPUs()), true
	}
	return c.Min, c.Max, c.Max <= o.Machine.CPUs()
}

// scaleUp returns cpus · to / from, rounded up. All are below 2³¹.
func scaleUp(cpus, to, from int) int {
	return int((int64(cpus)*int64(to) + int64(from) - 1) / int64(from))
}

// sizeRule draws sizes from low to high units.
type sizeRule struct {
	low, high int // units
	unit      int // CPUs
	power     float64
	log       bool
}

func (o Options) rule(low, high int, log bool) sizeRule {
	r := sizeRule{low: low, high: high, unit: 1, power: (1 - o.Bias) / (1 + o.Bias), log: log}
	if o.SizeUnit == SizeInNodes {
		r.unit = o.Machine.CPUsPerNode
		r.low, r.high = o.Machine.NodesOf(low), o.Machine.NodesOf(high)
	}
	return r
}

// cpus returns the size at u in [0, 1). The last unit has its share like the
// others, so the span reaches to high + 1.
func (r sizeRule) cpus(u float64) int {
	low, end := float64(r.low), float64(r.high)+1
	fraction := math.Pow(u, r.power)
	size := low + fraction*(end-low)
	if r.log {
		size = low * math.Pow(end/low, fraction)
	}
	return min(max(int(size), r.low), r.high) * r.unit
}

// The streams of random numbers of a class.
const (
	arrivalStream = iota
	serviceStream
	sizeStream
	keepStream
	streamsPerClass
)

// draw appends the class's jobs. A dropped job uses up its random numbers too,
// so that those that stay are the same at any wanted count.
func (s classStream) draw(jobs []Job, span, keep float64, seed uint64) []Job {
	source := func(purpose int) *rand.Rand { return randomStream(seed, s.class*streamsPerClass+purpose) }
	arrival, service := source(arrivalStream), source(serviceStream)
	size, kept := source(sizeStream), source(keepStream)
	for at := s.arrival.draw(arrival); at < span; at += s.arrival.draw(arrival) {
		run := max(s.service.Sample(service), 1)
		cpus := s.size.cpus(size.Float64())
		if kept.Float64() >= keep {
			continue
		}
		jobs = append(jobs, Job{
			User: -1, Submit: protocol.Instant(at * 1000), Run: run, Estimate: run, CPUs: cpus,
		})
	}
	return jobs
}

// randomStream returns one of the independent streams of a seed. Seed and index
// are mixed first, because a PCG started at neighbouring states gives related
// numbers.
func randomStream(seed uint64, index int) *rand.Rand {
	first := mixBits(seed)
	second := mixBits(first ^ uint64(index)) //nolint:gosec // an index is not negative
	return rand.New(rand.NewPCG(first, second))
}

// mixBits is the finaliser of SplitMix64: a bijection that changes about half
// of all bits with each bit of x.
func mixBits(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// JobModel is a model that jobs of a machine are drawn from: a [Model] or a
// [PeriodModel].
type JobModel interface {
	// On is the machine that the model is of.
	On() Machine
	// Validate reports the first thing that is wrong, by its place in a file.
	Validate() error
	// Generate draws jobs in the order of their submissions, numbered from 1, with the
	// origin 0.
	Generate(o Options, seed uint64) ([]Job, error)
}

// Source is one site's share of a workload of several.
type Source struct {
	Model   JobModel
	Options Options
}

// Site is the machine where the jobs are submitted.
func (s Source) Site() Machine {
	if s.Options.Machine == (Machine{}) {
		return s.Model.On()
	}
	return s.Options.Machine
}

// Mix draws the jobs of several sites and merges them ([Merge]): the origin of
// each is the index of its source, and numbers start at 1 at each origin. Each
// source has random numbers of its own, made from the seed and its index.
func Mix(sources []Source, seed uint64) ([]Job, error) {
	if len(sources) == 0 {
		return nil, errors.New("sources: none to draw jobs from")
	}
	sites := make([][]Job, len(sources))
	for i, s := range sources {
		jobs, err := s.Model.Generate(s.Options, mixBits(seed)+uint64(i))
		if err != nil {
			return nil, fmt.Errorf("sources[%d]: %w", i, err)
		}
		sites[i] = jobs
	}
	return Merge(sites...), nil
}
