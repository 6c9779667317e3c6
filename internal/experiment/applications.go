package experiment

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/application"
	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Application is an application that users submit at a site, once or again and again. Its
// file is that which "switchyard submit" reads; what it says of the behavior of each
// component is what that really does.
type Application struct {
	Name string `toml:"name"`
	File Path   `toml:"file"`
	Site string `toml:"site"`
	User string `toml:"user"`

	Start protocol.Duration `toml:"start"` // of the first, after the beginning
	Count int               `toml:"count"`
	Every protocol.Duration `toml:"every"`
	Rate  float64           `toml:"rate"`  // a day, at random times; 0: by Every
	Cases int               `toml:"cases"` // of each component, in one application

	Noise      settings.Share `toml:"noise"`
	Overlap    settings.Share `toml:"overlap"`
	Misstated  float64        `toml:"misstated"` // the most by which a number that the user states is wrong, as a factor
	Unstated   bool           `toml:"unstated"`  // the user states nothing of the behavior
	Growth     float64        `toml:"growth"`    // of what it does, from each submission to the next
	Unmeasured []string       `toml:"unmeasured"`

	Objective     string         `toml:"objective"` // instead of what the file says, as the rest
	ComputeWeight *config.Factor `toml:"compute_weight"`
	WaitWeight    *config.Factor `toml:"wait_weight"`
	EnergyWeight  *config.Factor `toml:"energy_weight"`
	DataWeight    *config.Factor `toml:"data_weight"`
	MaxCost       string         `toml:"max_cost"`
	MaxTime       string         `toml:"max_time"`
	WaitingCost   string         `toml:"waiting_cost"`
}

// SetDefaults implements [settings.Defaulter].
func (a *Application) SetDefaults() { *a = Application{User: "user", Count: 1, Cases: 1, Misstated: 1} }

// What sites may leave unmeasured of a run.
const (
	noCPU        = "cpu"
	noEnergy     = "energy"
	noOperations = "operations"
	noAccesses   = "accesses"
	noTraffic    = "traffic"
)

func counters() []string { return []string{noCPU, noEnergy, noOperations, noAccesses, noTraffic} }

// applicationFile is the file of an application and its scripts, as they were read.
type applicationFile struct {
	text    string
	scripts map[string]batchscript.Script
}

// application is the index of those that have a name; -1: there is none.
func (p *Plan) application(name string) int {
	return slices.IndexFunc(p.Applications, func(a Application) bool { return a.called() == name })
}

// called is the name, or that of the file.
func (a *Application) called() string {
	return cmp.Or(a.Name, strings.TrimSuffix(filepath.Base(string(a.File)), ".toml"))
}

// The most that a table may make.
const (
	maxSubmissions = 100_000
	maxCases       = 10_000
	maxRepeats     = 1_000_000
	maxFactor      = 1000
)

func (p *Plan) checkApplications(c *checker) {
	for i := range p.Applications {
		a, key := &p.Applications[i], fmt.Sprintf("application[%d]", i)
		if a.File == "" {
			c.Problem(key+".file", "is missing; name a file of an application, as \"switchyard submit\" takes it")
		}
		if at := p.application(a.called()); at != i && a.File != "" {
			c.Problem(key+".name", "%q is another application too; give each a name of its own", a.called())
		}
		p.known(c, key+".site", a.Site)
		a.check(c, key)
	}
	if len(p.Applications) > 0 && slices.Contains(p.All(), Ideal) {
		c.Problem("scheme", "%q has one virtual machine, and components of applications run by their machines; use another scheme", Ideal)
	}
}

func (a *Application) check(c *checker, key string) {
	c.span(key+".start", a.Start, 0)
	c.span(key+".every", a.Every, 0)
	c.within(key+".count", a.Count, maxSubmissions)
	c.within(key+".cases", a.Cases, maxCases)
	if a.Count <= maxSubmissions && a.Cases <= maxCases && a.Count*a.Cases > maxRepeats {
		c.Problem(key+".count", "%d times %d cases are more than %d", a.Count, a.Cases, maxRepeats)
	}
	a.checkTimes(c, key)
	a.checkErrors(c, key)
	if _, ok := cost.Objective(a.Objective).Weights(); a.Objective != "" && !ok {
		c.Problem(key+".objective", "invalid objective %q; use %s", a.Objective, oneOf(cost.Objectives()))
	}
	if a.Objective != "" {
		c.idle(key, "an objective", []idleKey{
			{"compute_weight", a.ComputeWeight != nil},
			{"wait_weight", a.WaitWeight != nil},
			{"energy_weight", a.EnergyWeight != nil},
			{"data_weight", a.DataWeight != nil},
		})
	}
}

func (a *Application) checkTimes(c *checker, key string) {
	switch {
	case !(a.Rate >= 0 && a.Rate <= 1e6):
		c.Problem(key+".rate", "%v is not a number from 0 to 1000000 a day", a.Rate)
	case a.Rate > 0 && a.Every > 0:
		c.Problem(key+".every", "has no effect with a rate; leave one out")
	case a.Count > 1 && a.Rate == 0 && a.Every == 0:
		c.Problem(key+".every", "is missing; say how long after one the next is submitted, or set a rate")
	}
}

func (a *Application) checkErrors(c *checker, key string) {
	if !(a.Misstated >= 1 && a.Misstated <= maxFactor) {
		c.Problem(key+".misstated", "%v is not a factor from 1 to %d", a.Misstated, maxFactor)
	}
	if a.Unstated && a.Misstated != 1 {
		c.Problem(key+".misstated", "has no effect when nothing is stated; leave it out")
	}
	if !(a.Growth > -1 && a.Growth <= 1) {
		c.Problem(key+".growth", "%v is not a part above -1, up to 1", a.Growth)
	}
	if a.Noise >= settings.Whole {
		c.Problem(key+".noise", "is all of a run time; use less than 1")
	}
	for i, name := range a.Unmeasured {
		if !slices.Contains(counters(), name) {
			c.Problem(fmt.Sprintf("%s.unmeasured[%d]", key, i), "%q is nothing that is measured; use %s", name, oneOf(counters()))
		}
	}
}

func (c *checker) within(key string, n, most int) {
	if n < 1 || n > most {
		c.Problem(key, "%d is outside 1 to %d", n, most)
	}
}

// openApplications reads the files of all applications and their scripts.
func (p *Plan) openApplications() (errs []error) {
	p.files = make([]*applicationFile, len(p.Applications))
	for i := range p.Applications {
		a := &p.Applications[i]
		text, err := os.ReadFile(string(a.File))
		if err != nil {
			errs = append(errs, fmt.Errorf("open the application: %w", err))
			continue
		}
		p.files[i] = &applicationFile{text: string(text), scripts: map[string]batchscript.Script{}}
		if _, err = p.files[i].read(a, readScript); err != nil {
			errs = append(errs, err)
			p.files[i] = nil
		}
	}
	return errs
}

func readScript(path string) (batchscript.Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return batchscript.Script{}, fmt.Errorf("the batch script %s %s", path, settings.Unreadable(err))
	}
	return batchscript.Script{Name: path, Data: data}, nil
}

// read is the application as its user submits it. Scripts are kept; new ones come from
// where open says.
func (f *applicationFile) read(a *Application, open func(string) (batchscript.Script, error)) (*batchscript.Batch, error) {
	from := application.Source{Name: string(a.File), Text: f.text, Script: func(path string) (batchscript.Script, error) {
		if script, known := f.scripts[path]; known || open == nil {
			return script, nil
		}
		script, err := open(path)
		if err == nil {
			f.scripts[path] = script
		}
		return script, err
	}}
	batch, _, err := application.Read(from, a.options(), batchscript.Origin{User: a.User, Host: a.Site, Dir: "/"})
	if err != nil {
		return nil, err
	}
	for i := range batch.Jobs {
		if !batch.Jobs[i].Component.Behavior.Stated() {
			at := problems.Place{File: string(a.File), Key: "component[" + batch.Jobs[i].Spec.Name + "].behavior"}
			return nil, problems.List{{Place: at, Text: "is missing; the simulator runs the component by it"}}.OfFile(1)
		}
	}
	return &batch, nil
}

// options are the table's keys that stand for options of "switchyard submit".
func (a *Application) options() (options []batchscript.Setting) {
	add := func(long, value string) {
		if value != "" {
			options = append(options, batchscript.Setting{Long: long, Value: value})
		}
	}
	add("objective", a.Objective)
	add("max-cost", a.MaxCost)
	add("max-time", a.MaxTime)
	add("waiting-cost", a.WaitingCost)
	for _, weight := range []struct {
		long string
		of   *config.Factor
	}{{"compute-weight", a.ComputeWeight}, {"wait-weight", a.WaitWeight}, {"energy-weight", a.EnergyWeight}, {"data-weight", a.DataWeight}} {
		if weight.of != nil {
			add(weight.long, weight.of.TOML())
		}
	}
	return options
}

// applications are those that come, in the order of their times.
func (p *Plan) applications(seed uint64) ([]sim.Application, error) {
	if len(p.files) != len(p.Applications) {
		return nil, errNotOpen
	}
	var all []sim.Application
	for i := range p.Applications {
		a := &p.Applications[i]
		if p.files[i] == nil {
			return nil, errNotOpen
		}
		batch, err := p.files[i].read(a, nil)
		if err != nil {
			return nil, err
		}
		name := fnv.New64a()
		_, _ = name.Write([]byte(a.called())) // never fails
		rng := rand.New(rand.NewPCG(seed, name.Sum64()))
		all = append(all, a.submissions(batch, p.site(a.Site), rng)...)
	}
	slices.SortStableFunc(all, func(a, b sim.Application) int { return cmp.Compare(a.At, b.At) })
	return all, nil
}

// submissions are those of one table. Users err alike each time.
func (a *Application) submissions(batch *batchscript.Batch, site int, rng *rand.Rand) []sim.Application {
	parts := make([]sim.Component, len(batch.Jobs))
	for k := range batch.Jobs {
		parts[k] = a.component(&batch.Jobs[k].Job, rng)
	}
	all := make([]sim.Application, a.Count)
	at := protocol.Instant(a.Start)
	for i := range all {
		all[i] = sim.Application{At: at, Origin: site, User: a.User, Objectives: *batch.Application}
		all[i].Objectives.Name = a.called()
		for n := range a.Cases {
			for _, c := range parts {
				c.True = times(c.True, func() float64 { return math.Pow(1+a.Growth, float64(i)) })
				if c.Stated.Together > 0 {
					c.Stated.Together += n * len(parts)
				}
				all[i].Components = append(all[i].Components, c)
			}
		}
		gap := a.Every
		if a.Rate > 0 {
			gap = protocol.Duration(rng.ExpFloat64() * float64(protocol.Day) / a.Rate)
		}
		at = at.Add(gap)
	}
	return all
}

func (a *Application) component(job *protocol.Job, rng *rand.Rand) sim.Component {
	c := sim.Component{
		Spec: job.Spec, Stated: job.Component, True: job.Component.Behavior,
		Noise: int(a.Noise), Overlap: int(a.Overlap),
		Measured: sim.Measured{
			CPU: a.measured(noCPU), Energy: a.measured(noEnergy), Operations: a.measured(noOperations),
			Accesses: a.measured(noAccesses), Traffic: a.measured(noTraffic),
		},
	}
	c.Stated.Behavior = times(c.True, func() float64 { return math.Pow(a.Misstated, 2*rng.Float64()-1) })
	if a.Unstated {
		c.Stated.Behavior = protocol.Behavior{}
	}
	return c
}

func (a *Application) measured(what string) bool { return !slices.Contains(a.Unmeasured, what) }

// times is a behavior whose amounts are each multiplied by a factor of its own.
func times(b protocol.Behavior, factor func() float64) protocol.Behavior {
	for _, amount := range []*int64{&b.Mflop, &b.Mwords, &b.Sent, &b.Messages} {
		if by := factor(); *amount > 0 {
			const most = 1 << 60
			*amount = max(1, int64(min(most, math.Round(float64(*amount)*by))))
		}
	}
	return b
}

// components is how many the applications have.
func components(applications []sim.Application) (n int) {
	for i := range applications {
		n += len(applications[i].Components)
	}
	return n
}
