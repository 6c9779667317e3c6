package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// checker gathers all that is wrong with the values of a plan.
type checker struct{ *settings.Reader }

// newChecker checks a plan that is made of one that was read.
func (p *Plan) newChecker() *checker {
	r := settings.NewReader(p)
	maps.Copy(r.Places(), p.places)
	return &checker{r}
}

// fault is the first thing that is wrong, without its place.
func (c *checker) fault() error {
	if faults := problems.Of(c.Err()); faults != nil {
		return &KeyError{Key: faults[0].Key, Err: errors.New(faults[0].Text)}
	}
	return nil
}

// check reports every value that cannot be, or that contradicts another.
func (p *Plan) check(c *checker) {
	p.checkTop(c)
	p.checkGrid(c)
	p.checkSites(c)
	for i := range p.Workloads {
		p.checkWorkload(c, fmt.Sprintf("workload[%d]", i), &p.Workloads[i])
	}
	p.checkFaults(c)
	p.checkPlugins(c)
	p.checkPolicy(c)
	p.checkElectricity(c)
	p.checkData(c)
	p.checkPower(c)
	p.checkApplications(c)
	p.broker(c.Reader)
}

func (p *Plan) checkTop(c *checker) {
	if p.configured() {
		p.checkConfigured(c)
	} else if _, err := ParseScheme(string(p.Scheme)); err != nil {
		c.Problem("scheme", "%v", err)
	}
	for i, name := range p.Compare {
		if p.configured() {
			break
		}
		if _, err := ParseScheme(name); err != nil {
			c.Problem(fmt.Sprintf("compare[%d]", i), "%v", err)
		}
	}
	c.AtLeast("seed", p.Seed, 0)
	c.AtLeast("seeds", p.Seeds, 1)
	if p.Seeds > maxRuns {
		c.Problem("seeds", "%d is more than %d", p.Seeds, maxRuns)
	}
	c.AtLeast("history", p.History, 0)
	c.AtLeast("check", p.Check, 0)
	c.factor("load", p.Load)
	if p.Estimates != Perfect && p.Estimates != FromTrace {
		c.Problem("estimates", "%q is neither %q nor %q", p.Estimates, Perfect, FromTrace)
	}
}

// checkGrid checks what holds for all sites.
func (p *Plan) checkGrid(c *checker) {
	p.Rounds.Check(c.Reader, "rounds")
	p.Moves.Check(c.Reader, "moves")
	c.AtLeast("partners", p.Partners, 0)
	c.span("perturb", p.Perturb, 0)
	c.OneOf("localsched.wait_prediction", p.LocalSched.WaitPrediction, config.WaitMethods()...)
	c.network("network", p.Network)
}

// checkConfigured checks the schemes of sites that are simulated as they are configured.
func (p *Plan) checkConfigured(c *checker) {
	schemes := []Scheme{Configured, Local}
	if !slices.Contains(schemes, p.Scheme) {
		c.Problem("scheme", "%q is none of sites that are simulated as they are configured; use %s", p.Scheme, oneOf(schemes))
	}
	for i, name := range p.Compare {
		if !slices.Contains(schemes, Scheme(name)) {
			c.Problem(fmt.Sprintf("compare[%d]", i), "%q is none of sites that are simulated as they are configured; use %s", name, oneOf(schemes))
		}
	}
}

func (p *Plan) checkPower(c *checker) {
	for _, bound := range []struct {
		key string
		of  float64
	}{{"power.low", p.Power.Low}, {"power.high", p.Power.High}} {
		if !(bound.of >= 0.01 && bound.of <= protocol.MaxPower/protocol.PPM) {
			c.Problem(bound.key, "%v is not a factor from 0.01 to %d", bound.of, protocol.MaxPower/protocol.PPM)
		}
	}
	if p.Power.High < p.Power.Low {
		c.Problem("power.high", "%v is less than low, %v", p.Power.High, p.Power.Low)
	}
}

func (c *checker) network(key string, n Network) {
	c.span(key+".latency", n.Latency, 0)
	c.span(key+".jitter", n.Jitter, 0)
	c.probability(key+".loss", n.Loss)
	c.probability(key+".duplicate", n.Duplicate)
}

func (p *Plan) checkSites(c *checker) {
	if len(p.Sites) == 0 {
		c.Problem("site", "there is no machine; describe each in a table [[site]]")
	}
	for i := range p.Sites {
		p.checkSite(c, fmt.Sprintf("site[%d]", i), i)
	}
	if len(p.Workloads)+len(p.Applications) == 0 && !p.onlyPark {
		c.Problem("workload", "there are no jobs; say where they come from in a table [[workload]]")
	}
}

// checkSite checks a site, whose table has the key.
func (p *Plan) checkSite(c *checker, key string, i int) {
	s := &p.Sites[i]
	switch err := protocol.SiteName(s.Name).Validate(); {
	case s.Name == "":
		c.Problem(key+".name", "is missing; every site has a name")
	case err != nil:
		c.Problem(key+".name", "%v", err)
	case p.site(s.Name) != i:
		c.Problem(key+".name", "%q is the name of another site too", s.Name)
	}
	if s.live == nil {
		c.AtLeast(key+".localsched.mhz", s.LocalSched.MHz, 1)
	}
	if s.Tariff.CPUHour > 0 && p.Currency == "" {
		c.Problem("currency", "is missing; set the currency of the sums over all sites, such as \"EUR\"")
	}
	if s.LocalSched.CPUModel == nil && len(p.Applications) > 0 {
		c.Problem(key+".localsched.cpu_model", "is missing; components run by the Γ model, so describe the machine in a table [site.localsched.cpu_model]")
	}
	p.checkSupply(c, key, s)
	c.latency(key, s)
}

func (p *Plan) checkWorkload(c *checker, key string, w *Workload) {
	if w.ofGrid() {
		c.idle(key, "jobs of several sites, which name their site", []idleKey{{"site", w.Site != ""}})
	} else {
		p.known(c, key+".site", w.Site)
	}
	c.factor(key+".load", w.Load)
	sources := 0
	for _, given := range []string{string(w.Trace), w.Model, string(w.ModelFile)} {
		if given != "" {
			sources++
		}
	}
	switch {
	case sources != 1:
		c.Problem(key, "says %d times where its jobs come from; set one of trace, model and model_file", sources)
	case w.Trace != "":
		w.checkTrace(c, key)
		p.checkJobTables(c, key, w)
	default:
		w.checkModel(c, key)
		if w.Model == XSEDE {
			p.checkXSEDE(c, key, w)
		}
	}
}

func (w *Workload) checkTrace(c *checker, key string) {
	if w.Format != "" && !slices.Contains(Formats(), w.Format) {
		c.Problem(key+".format", "invalid trace format %q; use %s", w.Format, oneOf(Formats()))
	}
	for _, bound := range []Setting{{"from", w.From}, {"to", w.To}} {
		if _, err := parseClock(bound.Value); bound.Value != "" && err != nil {
			c.Problem(key+"."+bound.Key, "%v", err)
		}
	}
	if w.From != "" && w.To != "" && w.From >= w.To {
		c.Problem(key+".to", "%s is not after from, %s", w.To, w.From)
	}
	if w.Split != "" && w.Split != ByPartition && w.Split != BySite {
		c.Problem(key+".split", "invalid field %q; use %q, or %q, the 19th", w.Split, ByPartition, BySite)
	}
	usual := defaultWorkload()
	c.idle(key, "a trace", []idleKey{
		{"span", w.Span != usual.Span && !w.added},
		{"service", w.Service != usual.Service},
		{"bias", w.Bias != 0},
		{"jobs", w.Jobs != 0},
		{"scale", w.Scale},
		{"size_unit", w.SizeUnit != usual.SizeUnit},
	})
}

func (w *Workload) checkModel(c *checker, key string) {
	if _, ok := builtInModel(w.Model); w.Model != "" && !ok && w.Model != XSEDE {
		c.Problem(key+".model", "invalid model %q; use %s, %q for that grid, or model_file for your own", w.Model, oneOf(Models()), XSEDE)
	}
	if w.Span != 0 || c.Set(key+".span") {
		c.span(key+".span", w.Span, protocol.Second)
	}
	c.factor(key+".service", w.Service)
	c.AtLeast(key+".jobs", w.Jobs, 0)
	if !slices.Contains(workload.SizeUnits(), w.SizeUnit) {
		c.Problem(key+".size_unit", "invalid unit %q; use %s", w.SizeUnit, oneOf(workload.SizeUnits()))
	}
	if !(w.Bias >= -1 && w.Bias <= 1) {
		c.Problem(key+".bias", "%v is not from -1 to 1", w.Bias)
	}
	c.idle(key, "a model", []idleKey{
		{"format", w.Format != ""},
		{"from", w.From != ""},
		{"to", w.To != ""},
		{"skip_queues", len(w.SkipQueues) > 0},
		{"skip_status", len(w.SkipStatus) > 0},
		{"skip_zero_runs", w.SkipZero},
		{"keep_overruns", w.Overruns},
		{"lenient", w.Lenient},
		{"latencies", w.Latencies != ""},
		{"requests", w.Requests != ""},
		{"split", w.Split != ""},
	})
}

// checkXSEDE checks a workload of the grid.
func (p *Plan) checkXSEDE(c *checker, key string, w *Workload) {
	known := func(s workload.System) bool { return p.site(strings.ToLower(s.Name)) >= 0 }
	if !slices.ContainsFunc(workload.XSEDESystems(), known) {
		c.Problem(key+".model", "the systems of %q are %s; give at least one [[site]] such a name", XSEDE, xsedeNames())
	}
	usual := defaultWorkload()
	c.idle(key, "the model of a grid", []idleKey{
		{"span", w.Span != usual.Span},
		{"service", w.Service != usual.Service},
		{"bias", w.Bias != 0},
		{"scale", w.Scale},
		{"size_unit", w.SizeUnit != usual.SizeUnit},
	})
}

// idleKey is a key that would have no effect, and whether it is set.
type idleKey struct {
	name string
	set  bool
}

// idle refuses keys that would have no effect, because their writer thinks they
// have one.
func (c *checker) idle(key, with string, keys []idleKey) {
	for _, k := range keys {
		if k.set {
			c.Problem(key+"."+k.name, "has no effect with %s; leave it out", with)
		}
	}
}

func (p *Plan) checkFaults(c *checker) {
	for i, l := range p.Links {
		key := fmt.Sprintf("link[%d]", i)
		p.knownPair(c, key, l.A, l.B)
		c.network(key, Network{Latency: l.Latency, Jitter: l.Jitter, Loss: l.Loss, Duplicate: l.Duplicate})
	}
	for i, cut := range p.Cuts {
		key := fmt.Sprintf("cut[%d]", i)
		p.knownPair(c, key, cut.A, cut.B)
		c.span(key+".from", cut.From, 0)
		if cut.Until <= cut.From {
			c.Problem(key+".until", "must be later than from")
		}
	}
	for i, crash := range p.Crashes {
		key := fmt.Sprintf("crash[%d]", i)
		p.known(c, key+".site", crash.Site)
		c.span(key+".at", crash.At, 0)
		c.span(key+".for", crash.For, protocol.Millisecond)
	}
}

// knownPair checks that two keys name sites; the second may be empty.
func (p *Plan) knownPair(c *checker, key, a, b string) {
	p.known(c, key+".a", a)
	if b != "" {
		p.known(c, key+".b", b)
	}
	if a == b {
		c.Problem(key+".b", "is the same site as a")
	}
}

// known checks that a key names a site.
func (p *Plan) known(c *checker, key, name string) {
	switch {
	case name == "":
		c.Problem(key, "is missing; name a site")
	case p.site(name) < 0:
		c.Problem(key, "unknown name %q; no [[site]] has it", name)
	}
}

func (c *checker) price(key string, amount settings.Amount) {
	if amount < 0 {
		c.Problem(key, "is negative; a price is 0 or more")
	}
}

func (c *checker) span(key string, d, least protocol.Duration) {
	if d < least {
		c.Problem(key, "%v is less than %v", d, least)
	}
}

// factor checks a multiplier of times. Its bounds keep products of two of them and
// a trace's times far inside 64 bits.
func (c *checker) factor(key string, x float64) {
	if !(x >= 0.01 && x <= 100) {
		c.Problem(key, "%v is not a factor from 0.01 to 100", x)
	}
}

func (c *checker) probability(key string, x float64) {
	if !(x >= 0 && x < 1) {
		c.Problem(key, "%v is not a probability from 0 to below 1", x)
	}
}
