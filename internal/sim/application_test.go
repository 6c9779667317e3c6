package sim_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// node is a CPU of 1 Gflop/s with a fast memory and network.
func node() protocol.Machine {
	return protocol.Machine{Flops: 1e9, Words: 1e9, Network: 1e8, Latency: 1000}
}

// brokers is a grid of sites a, b, c of eight CPUs, each twice as fast as the one before it.
func brokers(t testing.TB) sim.Config {
	t.Helper()
	decides, err := iss.New(iss.Default())
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Config{Seed: 1, Scheme: sim.Distributed, Policy: decides, Tuning: rules.RuntimeConfig{Initiation: policy.Sender}, Check: 1}
	for i, name := range []protocol.SiteName{"a", "b", "c"} {
		machine := node()
		machine.Flops <<= i
		cfg.Sites = append(cfg.Sites, sim.Site{
			Machine: sim.Machine{Name: name, Nodes: 8, CPUsPerNode: 1, MHz: 1000, Gamma: machine}, Local: engine.EASY(),
		})
	}
	return cfg
}

// component computes for so many seconds on a CPU of site a, and is stated as it is.
func component(cpus int, seconds int64) sim.Component {
	b := protocol.Behavior{Mflop: seconds * 1000 * int64(cpus), Mwords: 1}
	return sim.Component{
		Spec:   protocol.Spec{Request: protocol.Request{CPUs: cpus, WallTime: protocol.Hour}, Name: "solve"},
		Stated: protocol.Component{Name: "solve", Behavior: b, Alpha: protocol.PPM, Gamma: protocol.PPM, Delta: protocol.PPM},
		True:   b, Measured: sim.Measured{CPU: true, Energy: true, Operations: true, Accesses: true, Traffic: true},
	}
}

// asks is an application that wants to be fast and has no limits.
func asks(at protocol.Duration, components ...sim.Component) sim.Application {
	return sim.Application{
		At: protocol.Instant(at), User: "ada", Components: components,
		Objectives: protocol.Application{Beta: protocol.PPM, MaxCost: protocol.Unlimited, MaxTime: protocol.Never, Rates: []protocol.WaitingRate{{PerHour: protocol.Unit}}},
	}
}

func achieve(t *testing.T, cfg sim.Config, jobs ...workload.Job) *sim.Result {
	t.Helper()
	r, err := sim.Run(context.Background(), cfg, jobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A component goes to the fastest machine, runs there as the Γ model has it, and jobs of the
// workload run beside it.
func TestComponentRunsByTheModel(t *testing.T) {
	t.Parallel()
	cfg := brokers(t)
	cfg.Applications = []sim.Application{asks(protocol.Minute, component(4, 100))}
	r := achieve(t, cfg, workload.Job{ID: 1, Run: protocol.Hour, Estimate: protocol.Hour, CPUs: 8})
	one := r.Applications[0]
	c := one.Components[0]
	if c.Site != 2 || c.State != protocol.Completed || c.CPUs != 4 || c.Ran != 25*protocol.Second || c.PredictedRunTime != c.Ran {
		t.Errorf("it ran so: %+v", c)
	}
	if one.Completion != c.End.Sub(protocol.Instant(protocol.Minute)) || !one.CostMet || !one.TimeMet {
		t.Errorf("the application: %+v", one)
	}
	if len(r.Placements) != 1 || r.Placements[0].Site != 0 {
		t.Errorf("the job of the workload: %+v", r.Placements)
	}
	if want := one.Completion; one.Waiting != protocol.Micro(math.Round(float64(want)/float64(protocol.Hour)*1e6)) {
		t.Errorf("waiting %v cost %d", want, one.Waiting)
	}
	cfg.Applications[0].Objectives.Rates = nil // nobody says what waiting costs: an hour costs one
	if silent := achieve(t, cfg).Applications[0]; silent.Waiting == 0 || silent.Completion == one.Completion && silent.Waiting != one.Waiting {
		t.Errorf("waiting %v cost %d where nobody says how much", silent.Completion, silent.Waiting)
	}
	all, sites := cfg.Utilization([]workload.Job{{Submit: 0}}, r)
	if math.Abs(sites[0]-1) > 1e-9 || sites[2] <= 0 || math.Abs(3*all-sites[0]-sites[1]-sites[2]) > 1e-9 {
		t.Errorf("utilization %v, %v", all, sites)
	}
}

// What was measured of a run is what it really did; what is not measured is not told.
func TestUsageIsWhatItDid(t *testing.T) {
	t.Parallel()
	cfg := brokers(t)
	for i := range cfg.Sites {
		cfg.Sites[i].Electricity.Milliwatts = 100_000
	}
	c := component(4, 100)
	c.True.Sent, c.True.Messages, c.True.CPUs = 1_000_000, 500, 4
	bare := c
	bare.Measured = sim.Measured{}
	cfg.Applications = []sim.Application{asks(0, c), asks(protocol.Hour, bare)}
	r := achieve(t, cfg)
	got := r.Applications[0].Components[0]
	want := protocol.Usage{
		CPU: 100 * protocol.Second, Energy: 4 * 100 * int64(got.Ran), Mflop: 400_000, Mwords: 1,
		Sent: 1_000_000, Messages: 500, MHz: 1000,
	}
	if got.Usage != want {
		t.Errorf("measured %+v, want %+v", got.Usage, want)
	}
	if other := r.Applications[1].Components[0].Usage; other != (protocol.Usage{MHz: 1000}) {
		t.Errorf("without counters %+v", other)
	}
}

// Noise and overlap change the real run, never what was foreseen of it at first, and never
// beyond the limit of time.
func TestNoiseOverlapAndLimit(t *testing.T) {
	t.Parallel()
	c := component(4, 100)
	c.True.Sent, c.True.CPUs = 1_000_000_000, 4 // 10 s
	c.Stated.Behavior = c.True
	run := func(change func(*sim.Component)) sim.AchievedComponent {
		cfg := brokers(t)
		changed := c
		change(&changed)
		cfg.Applications = []sim.Application{asks(0, changed)}
		return achieve(t, cfg).Applications[0].Components[0]
	}
	plain := run(func(*sim.Component) {})
	if plain.Ran != 35*protocol.Second {
		t.Errorf("25 s of computing and 10 s of communication take %v", plain.Ran)
	}
	if hidden := run(func(c *sim.Component) { c.Overlap = 500_000 }); hidden.Ran != 30*protocol.Second || hidden.PredictedRunTime != plain.PredictedRunTime {
		t.Errorf("half of it hidden: %v, foreseen %v", hidden.Ran, hidden.PredictedRunTime)
	}
	noisy := run(func(c *sim.Component) { c.Noise = 100_000 })
	if off := math.Abs(float64(noisy.Ran)/float64(plain.Ran) - 1); off == 0 || off > 0.1 {
		t.Errorf("with noise %v", noisy.Ran)
	}
	short := run(func(c *sim.Component) { c.Spec.WallTime = 20 * protocol.Second })
	if short.State != protocol.Timeout || short.Ran != 20*protocol.Second {
		t.Errorf("with too short a limit: %+v", short)
	}
}

// The frequency that a bill tells slows a component that computes at the peak and spares
// energy; the real bill is that of the real run.
func TestFrequencyOfTheBill(t *testing.T) {
	t.Parallel()
	cfg := brokers(t)
	price := 100 * protocol.Unit
	for i := range cfg.Sites {
		s := &cfg.Sites[i]
		s.Currency, s.Electricity.Milliwatts = "CHF", 1_000_000
		s.Costs = &cost.Charges{Currency: "CHF", Eco: &cost.Eco{
			Cooling: protocol.PPM, Price: &price, Frequencies: []int{1000, 500}, Slowdown: protocol.PPM,
		}}
	}
	c := component(8, 100)
	cfg.Applications = []sim.Application{asks(0, c)}
	got := achieve(t, cfg).Applications[0].Components[0]
	// 8 CPUs of 1 kW at a quarter of the power, for 50 s, at 100 CHF/MWh.
	if got.Usage.MHz != 500 || got.Ran != 50*protocol.Second || got.Usage.Energy != 100_000_000 || got.Cost != 2778 || got.Cost != got.PredictedCost {
		t.Errorf("at half the frequency: %+v", got)
	}
}

// A run that is ended at its limit costs its time until then, at any frequency, and brings the
// site as much.
func TestBillOfATimeout(t *testing.T) {
	t.Parallel()
	for _, frequencies := range [][]int{nil, {1000, 500}} {
		cfg := brokers(t)
		hourly := cost.NewCurve(cost.Calendar{}, 3600*protocol.Unit, nil)
		price := 100 * protocol.Unit
		for i := range cfg.Sites {
			s := &cfg.Sites[i]
			s.Currency, s.Electricity.Milliwatts = "CHF", 1_000_000
			s.Costs = &cost.Charges{
				Currency: "CHF", CPU: &cost.CPU{Own: hourly, Guest: hourly},
				Eco: &cost.Eco{Cooling: protocol.PPM, Price: &price, Frequencies: frequencies, Slowdown: protocol.PPM},
			}
		}
		c := component(4, 10_000) // 2500 s at the best site, and believed to take a tenth of that
		c.Stated.Behavior.Mflop /= 10
		c.Spec.WallTime = 1000 * protocol.Second
		cfg.Applications = []sim.Application{asks(0, c)}
		r := achieve(t, cfg)
		got := r.Applications[0].Components[0]
		// 1000 s of 4 CPUs, of 1 kW each at the full frequency and of a quarter at half of it.
		want, mhz := 4000*protocol.Unit+111_111, 1000
		if frequencies != nil {
			want, mhz = 4000*protocol.Unit+27_778, 500
		}
		if got.State != protocol.Timeout || got.Ran != 1000*protocol.Second || got.Usage.MHz != mhz || got.Cost != want {
			t.Errorf("%v: got %+v, want a cost of %d", frequencies, got, want)
		}
		if r.Ledgers[got.Site].Income != want {
			t.Errorf("%v: an income of %d, want %d", frequencies, r.Ledgers[got.Site].Income, want)
		}
	}
}

// Components that start together do so at the same instant, at several sites, also after
// other jobs and when a site goes down between two holds.
func TestComponentsStartTogether(t *testing.T) {
	t.Parallel()
	for name, crashes := range map[string][]sim.Crash{
		"while nothing happens":                              nil,
		"while the first holds its room and the second dies": {{Site: 1, At: 603, For: 3 * protocol.Minute}},
		"while a site of theirs is down":                     {{Site: 1, At: 601, For: 3 * protocol.Minute}},
		"while another site is down":                         {{Site: 2, At: 601, For: 3 * protocol.Minute}},
		"while their origin is down":                         {{Site: 0, At: 603, For: protocol.Minute}},
		"while two go down, one by one":                      {{Site: 1, At: 602, For: protocol.Minute}, {Site: 2, At: 30_000, For: protocol.Minute}},
		"while the origin goes down late":                    {{Site: 0, At: 8000, For: 10 * protocol.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := brokers(t)
			cfg.Network.Latency = 1
			cfg.Crashes = crashes
			first, second, third := component(8, 60), component(8, 60), component(2, 60)
			for i, c := range []*sim.Component{&first, &second, &third} {
				c.Stated.Together = 1
				c.Spec.Sites = []protocol.SiteName{cfg.Sites[i].Name}
			}
			cfg.Applications = []sim.Application{asks(600, first, second, third)}
			jobs := []workload.Job{
				{ID: 1, Origin: 0, Run: 90_000, Estimate: 100_000, CPUs: 8},
				{ID: 2, Origin: 1, Run: 20_000, Estimate: 30_000, CPUs: 8},
			}
			r := achieve(t, cfg, jobs...)
			parts := r.Applications[0].Components
			for i, c := range parts {
				if c.State != protocol.Completed || c.Start != parts[0].Start || c.Site != i {
					t.Errorf("component %d is %v (%s) and began at %v at site %d, the first at %v",
						i+1, c.State, c.Reason, c.Start, c.Site, parts[0].Start)
				}
			}
		})
	}
}

// The same seed gives the same, another one other noise.
func TestApplicationsAreDeterministic(t *testing.T) {
	t.Parallel()
	cfg := brokers(t)
	for i := range 20 {
		c := component(1+i%5, 200)
		c.Noise = 200_000
		a := asks(protocol.Duration(i)*protocol.Minute, c, component(2, 30))
		a.Origin = i % 3
		cfg.Applications = append(cfg.Applications, a)
	}
	jobs := work(50, 1)
	a, b := achieve(t, cfg, jobs...), achieve(t, cfg, jobs...)
	if !reflect.DeepEqual(a, b) {
		t.Error("two runs differ")
	}
	cfg.Seed = 2
	if c := achieve(t, cfg, jobs...); c.Hash == a.Hash {
		t.Error("another seed gives the same")
	}
}

// Where the policy looks at no wishes, components are plain jobs.
func TestPlainPoliciesRunComponents(t *testing.T) {
	t.Parallel()
	for name, scheme := range map[string]sim.Scheme{"distributed": sim.Distributed, "central": sim.Central} {
		cfg := brokers(t)
		cfg.Policy, cfg.Scheme = tc.New(tc.Config{}), scheme
		c := component(4, 100)
		c.Stated.Shapes = []protocol.Shape{{CPUs: 8, WallTime: protocol.Hour}}
		cfg.Applications = []sim.Application{asks(0, c, c)}
		for i, done := range achieve(t, cfg).Applications[0].Components {
			if done.State != protocol.Completed || done.CPUs != 4 || done.PredictedRunTime != 0 {
				t.Errorf("%s: component %d: %+v", name, i+1, done)
			}
		}
	}
}

// A moldable component takes the shape that is best, and the machine is checked by it.
func TestMoldableComponent(t *testing.T) {
	t.Parallel()
	cfg := brokers(t)
	c := component(1, 400)
	c.Stated.Shapes = []protocol.Shape{{CPUs: 2, WallTime: protocol.Hour}, {CPUs: 8, WallTime: protocol.Hour}}
	cfg.Applications = []sim.Application{asks(0, c)}
	if got := achieve(t, cfg).Applications[0].Components[0]; got.CPUs != 8 || got.Site != 2 || got.Ran != 400*protocol.Second/8/4 {
		t.Errorf("got %+v", got)
	}
}

// Data travel to the component and back, at the price of the link.
func TestDataOfComponents(t *testing.T) {
	t.Parallel()
	cfg := brokers(t)
	cfg.Sites[0].Currency = "CHF"
	link := sim.DataLink{Bandwidth: 100_000_000, PerGB: protocol.Unit, PerHour: 36 * protocol.Unit}
	cfg.Stage.Links = [][]sim.DataLink{{link, link, link}, {link, link, link}, {link, link, link}}
	c := component(4, 100)
	c.Spec.Data, c.Spec.DataOut = 1_000_000_000, 500_000_000
	c.Stated.Alpha, c.Stated.Gamma, c.Stated.Delta = 0, 0, 0
	cfg.Applications = []sim.Application{asks(0, c)}
	one := achieve(t, cfg).Applications[0]
	// 10 s there and 5 s back for 1.50, and 0.15 for the time of the link.
	if got := one.Components[0]; got.Site != 2 || one.Completion != 40*protocol.Second || one.Cost != 1_650_000 || got.PredictedCost != got.Cost {
		t.Errorf("%v, %+v", one.Completion, one)
	}
}

// Limits are kept or not by what really was.
func TestLimitsOfTheRealRun(t *testing.T) {
	t.Parallel()
	cfg := brokers(t)
	c := component(4, 100)
	c.Stated.Behavior.Mflop /= 10 // it is believed to take 2.5 s
	a := asks(0, c)
	a.Objectives.MaxTime = 10 * protocol.Second
	cfg.Applications = []sim.Application{a}
	if one := achieve(t, cfg).Applications[0]; one.Completion != 25*protocol.Second || one.TimeMet || !one.CostMet {
		t.Errorf("got %+v", one)
	}
}

func TestFaultyApplications(t *testing.T) {
	t.Parallel()
	cfg := brokers(t)
	bad := component(0, 1)
	silent := component(1, 1)
	silent.True = protocol.Behavior{}
	loud := component(1, 1)
	loud.Noise = protocol.PPM
	cfg.Sites[1].Gamma = protocol.Machine{}
	cfg.Applications = []sim.Application{asks(5, bad, silent, loud), asks(1), {Origin: 7, At: 9, Components: []sim.Component{component(1, 1)}}}
	_, err := sim.Run(context.Background(), cfg, nil, nil)
	for _, want := range []string{
		"site b states no machine", "component 1 of application 1: 0 CPUs", "component 2 of application 1: what it does is not stated",
		"component 3 of application 1: a noise", "application 2 is submitted before", "application 3 comes from site 7",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in: %v", want, err)
		}
	}
}

// off is the relative error of what was foreseen.
func off(c sim.AchievedComponent) float64 {
	return math.Abs(float64(c.PredictedRunTime)/float64(c.Ran) - 1)
}

// taught is the grid of a park: five runs of a class at one site, then one at each site at
// once, of a component of which users state everything wrong by a factor of up to five.
func taught(t *testing.T, class class, teacher int, seed uint64) (cfg sim.Config, last int) {
	t.Helper()
	cfg = brokers(t)
	cfg.Seed, cfg.Check, cfg.Sites = seed, 0, nil
	for _, s := range parkSites(t) {
		cfg.Sites = append(cfg.Sites, sim.Site{Machine: s, Local: engine.EASY()})
	}
	stated := class.behavior
	for i, amount := range []*int64{&stated.Mflop, &stated.Mwords, &stated.Sent, &stated.Messages} {
		wrong := math.Pow(5, 2*float64((seed*7919+uint64(i)*104729+uint64(teacher)*31)%1000)/999-1)
		*amount = int64(float64(*amount) * wrong)
	}
	at := protocol.Duration(0)
	add := func(site int) protocol.Duration {
		c := sim.Component{
			Spec: protocol.Spec{
				Request: protocol.Request{CPUs: class.cpus, WallTime: 1000 * protocol.Hour}, Name: "x",
				Sites: []protocol.SiteName{cfg.Sites[site].Name},
			},
			Stated: protocol.Component{Name: "x", Behavior: stated, Alpha: protocol.PPM},
			True:   class.behavior, Noise: 30_000, Overlap: 250_000,
			Measured: sim.Measured{CPU: true, Operations: true, Accesses: true, Traffic: true},
		}
		cfg.Applications = append(cfg.Applications, asks(at, c))
		return gamma.Predict(class.behavior, cfg.Sites[site].Gamma, class.cpus).Time
	}
	for range 5 {
		at += 2*add(teacher) + protocol.Minute
	}
	for site := range cfg.Sites {
		if cfg.Sites[site].CPUs() >= class.cpus {
			add(site)
		}
	}
	return cfg, 5
}

// Through peers, by what they foresaw and what then happened: five runs at one site tell how
// long the next takes there within 10 %, and at any other site within 25 %.
func TestPeersLearn(t *testing.T) {
	t.Parallel()
	for _, class := range parkClasses(t) {
		t.Run(class.name, func(t *testing.T) {
			t.Parallel()
			first := 0.0
			defer func() {
				if first < 0.5 {
					t.Errorf("the first runs were foreseen within %.0f %% by what users state: there is nothing to learn", 100*first)
				}
			}()
			for teacher, s := range parkSites(t) {
				if s.CPUs() < class.cpus {
					continue
				}
				for seed := range uint64(2) {
					cfg, last := taught(t, class, teacher, seed)
					for i, a := range achieve(t, cfg).Applications {
						c := a.Components[0]
						if c.State != protocol.Completed {
							t.Fatalf("run %d is %v: %s", i, c.State, c.Reason)
						}
						if i == 0 {
							first = max(first, off(c))
						}
						limit := 0.25
						if c.Site == teacher {
							limit = 0.10
						}
						if e := off(c); i >= last && e > limit {
							t.Errorf("seed %d, after five runs on %s, on %s: %.0f %% off", seed, s.Name, cfg.Sites[c.Site].Name, 100*e)
						}
					}
				}
			}
		})
	}
}
