package experiment

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Plan is an experiment as its file describes it. The tags are the file's keys;
// [Reference] explains them.
type Plan struct {
	Name      string   `toml:"name"`
	About     string   `toml:"about"`
	Scheme    Scheme   `toml:"scheme"`
	Compare   []string `toml:"compare"` // schemes that are run beside it
	Seed      int      `toml:"seed"`    // the first
	Seeds     int      `toml:"seeds"`   // of a sweep
	Estimates string   `toml:"estimates"`
	Load      float64  `toml:"load"` // divides all times between submissions
	History   int      `toml:"history"`
	Check     int      `toml:"check"`

	GridShare settings.Share    `toml:"grid_share"` // of the jobs after the history, that go through the grid
	Perturb   protocol.Duration `toml:"perturb"`    // bound of the error of each quoted wait

	Sites     []Site     `toml:"site"`
	Workloads []Workload `toml:"workload"`
	Partners  int        `toml:"partners"` // of each site; 0: all others
	Network   Network    `toml:"network"`
	Links     []Link     `toml:"link"`
	Cuts      []Cut      `toml:"cut"`
	Crashes   []Crash    `toml:"crash"`
	Currency  string     `toml:"currency"` // of the sites' prices; empty: there are none
	Plugins   []Plugin   `toml:"plugin"`

	// The tables of a site's configuration that hold for all sites.
	Policy      config.Policy      `toml:"policy"`
	Rounds      config.Rounds      `toml:"rounds"`
	Moves       config.Moves       `toml:"moves"`
	GuestLimits config.GuestLimits `toml:"guest_limits"`
	FairShare   config.FairShare   `toml:"fairshare"`
	LocalSched  LocalSched         `toml:"localsched"`

	Applications   []Application         `toml:"application"`
	ExchangeRates  config.ExchangeRates  `toml:"exchange_rates"`
	WaitingCosts   []config.WaitingCost  `toml:"waiting_cost"`
	DefaultWeights config.DefaultWeights `toml:"default_weights"`
	Tune           *Tuning               `toml:"tune"` // nil: nothing is searched for
	Candidates     []Candidate           `toml:"candidate"`

	Electricity Electricity `toml:"electricity"`
	Power       Power       `toml:"power"`
	Data        Data        `toml:"data"`

	began     protocol.Instant // of the traces of sites as they are configured; 0: by Electricity
	onlyPark  bool             // nothing is simulated
	places    settings.Places  // of the keys; nil: the plan is of no file
	inputs    []input          // of the workloads, in their order; none before Open
	supplies  []*supply        // of the sites, in their order; nil: without electricity
	notes     []string
	fileNotes []string           // notes about the file
	files     []*applicationFile // of the applications, in their order; none before Open

	started map[string]*pluginhost.Plugin // by name; none before Start
}

// What estimates of run times the jobs have.
const (
	Perfect   = "perfect" // the run times
	FromTrace = "trace"   // what users asked for
)

// Site is a machine of the grid [SS Table 1] and its local scheduler.
type Site struct {
	Name     string `toml:"name"`
	Config   Path   `toml:"config"`   // of a live site, which is simulated as it is configured; empty: the tables below describe the site
	Currency string `toml:"currency"` // of what it charges; empty: that of the plan

	// The tables of the site's configuration, see [Plan.checkTables].
	LocalSched config.LocalSched `toml:"localsched"` // with an empty WaitPrediction: that of the plan
	Tariff     config.Tariff     `toml:"tariff"`
	Power      config.Power      `toml:"power"`  // without Budget: its jobs may draw any power
	Prices     config.Prices     `toml:"prices"` // with an empty TimeZone: that of [Electricity]
	Cost       config.Cost       `toml:"cost"`

	// Prices of electricity in the experiment itself, instead of a feed of Prices.
	Area      string           `toml:"area"`  // of the file of prices; empty: its only one
	Price     *settings.Amount `toml:"price"` // per MWh, when no period has one; nil: there is no tariff
	Periods   []feeds.Period   `toml:"period"`
	PriceFile *feeds.PriceFile `toml:"price_file"`

	NodeGroups []NodeGroup `toml:"node_group"` // none: its nodes are alike

	Latency    sim.Latencies     `toml:"latency"`
	PeerSeed   int               `toml:"peer_seed"`   // 0: by the seed of the run
	FirstCheck protocol.Duration `toml:"first_check"` // after the start of the experiment; 0: drawn from the seed

	live    *config.Config // of a site that is simulated as it is configured; nil: none
	charges *cost.Charges  // of Cost; nil: it charges nothing by it
}

// Workload is where jobs come from: those of one site from a trace or a model, or those
// of several from one trace or from the model of a grid.
type Workload struct {
	Site string `toml:"site"`

	Trace      Path   `toml:"trace"`
	Split      string `toml:"split"`  // field that names the site; empty: all jobs are of Site
	Format     string `toml:"format"` // of the trace; empty: by the file's name
	From       string `toml:"from"`   // on the site's clock
	To         string `toml:"to"`
	SkipQueues []int  `toml:"skip_queues"`
	SkipStatus []int  `toml:"skip_status"`
	SkipZero   bool   `toml:"skip_zero_runs"`
	Overruns   bool   `toml:"keep_overruns"`
	Lenient    bool   `toml:"lenient"`
	Latencies  Path   `toml:"latencies"` // of its jobs; empty: those of the sites that run them
	Requests   Path   `toml:"requests"`  // of its jobs beyond CPUs and time; empty: none

	Model     string            `toml:"model"` // a built-in one
	ModelFile Path              `toml:"model_file"`
	Span      protocol.Duration `toml:"span"` // of an added trace, its first part; 0: that of a [workload.PeriodModel], or [workload.Table6Span]
	Service   float64           `toml:"service"`
	Bias      float64           `toml:"bias"`
	Jobs      int               `toml:"jobs"`
	Scale     bool              `toml:"scale"`
	SizeUnit  string            `toml:"size_unit"` // one of [workload.SizeUnits]

	Load float64 `toml:"load"` // of this workload, times that of the plan

	added bool // by [Plan.Join]: without a span, its jobs are submitted over the time of the others
}

// LocalSched is what the table [localsched] of a site's configuration says here of all sites.
type LocalSched struct {
	WaitPrediction string `toml:"wait_prediction"` // a method of prediction
}

// Power bounds the power of jobs, as factors of the sites' [MC 5.9].
type Power struct {
	Low  float64 `toml:"low"`
	High float64 `toml:"high"`
}

// Network is what happens to messages between sites.
type Network struct {
	Latency   protocol.Duration `toml:"latency"`
	Jitter    protocol.Duration `toml:"jitter"`
	Loss      float64           `toml:"loss"`
	Duplicate float64           `toml:"duplicate"`
}

// Link is what happens on the link of two sites, or of one and all others, instead.
type Link struct {
	A         string            `toml:"a"`
	B         string            `toml:"b"` // empty: all sites
	Latency   protocol.Duration `toml:"latency"`
	Jitter    protocol.Duration `toml:"jitter"`
	Loss      float64           `toml:"loss"`
	Duplicate float64           `toml:"duplicate"`
}

// Cut parts two sites, or one from all others, for a while.
type Cut struct {
	A     string            `toml:"a"`
	B     string            `toml:"b"` // empty: all sites
	From  protocol.Duration `toml:"from"`
	Until protocol.Duration `toml:"until"`
}

// Crash stops a site's peer for a while.
type Crash struct {
	Site string            `toml:"site"`
	At   protocol.Duration `toml:"at"`
	For  protocol.Duration `toml:"for"`
}

// Default returns the plan that a file without keys would describe. The tables of sites'
// configurations have the defaults of those, but that no policy decides in the place of one
// that failed: the simulation ends.
func Default() Plan {
	live := config.Default()
	live.Policy.Fallback = ""
	return Plan{
		Scheme: Sender, Seed: 1, Seeds: 10, Estimates: FromTrace, Load: 1, GridShare: settings.Whole,
		Policy: live.Policy, Rounds: live.Rounds, Moves: live.Moves, GuestLimits: live.GuestLimits, FairShare: live.FairShare, DefaultWeights: live.DefaultWeights,
		LocalSched:  LocalSched{WaitPrediction: live.LocalSched.WaitPrediction},
		Electricity: Electricity{Start: "2026-01-01 00:00", Zone: "UTC", Forecast: live.Prices.Forecast},
		Power:       Power{Low: 1, High: 1},
	}
}

// defaultMHz is the speed of a CPU that a site does not state. If no site states one, all
// are equally fast.
const defaultMHz = 1000

// SetDefaults implements [settings.Defaulter]. The tables have the defaults of a site's
// configuration, but that what holds for all sites replaces the method of wait predictions
// and the time zone.
func (s *Site) SetDefaults() {
	live := config.Default()
	*s = Site{LocalSched: live.LocalSched, Power: live.Power, Prices: live.Prices}
	s.LocalSched.MHz, s.LocalSched.WaitPrediction, s.Prices.TimeZone = defaultMHz, "", ""
}

func defaultSite() (s Site) {
	s.SetDefaults()
	return s
}

// SetDefaults implements [settings.Defaulter].
func (w *Workload) SetDefaults() {
	*w = Workload{Service: 1, SizeUnit: string(workload.SizeInCPUs), Load: 1}
}

func defaultWorkload() (w Workload) {
	w.SetDefaults()
	return w
}

// clone returns a plan that may be changed without changing this one. What was
// read from files is shared.
func (p *Plan) clone() *Plan {
	c := *p
	c.Compare = slices.Clone(p.Compare)
	c.Sites = slices.Clone(p.Sites)
	c.Workloads = slices.Clone(p.Workloads)
	c.inputs = slices.Clone(p.inputs)
	c.Links = slices.Clone(p.Links)
	c.Cuts = slices.Clone(p.Cuts)
	c.Crashes = slices.Clone(p.Crashes)
	c.Plugins = slices.Clone(p.Plugins)
	c.Data.Links, c.Data.Sizes = slices.Clone(p.Data.Links), slices.Clone(p.Data.Sizes)
	c.supplies = slices.Clone(p.supplies)
	c.ownBroker()
	return &c
}

// All returns the plan's scheme and those that it is compared with, in the order
// of [Schemes].
func (p *Plan) All() []Scheme {
	var all []Scheme
	for _, s := range append(Schemes(), Configured) {
		if s == p.Scheme || slices.Contains(p.Compare, string(s)) {
			all = append(all, s)
		}
	}
	return all
}

// site is the index of a site; -1: there is none of the name.
func (p *Plan) site(name string) int {
	return slices.IndexFunc(p.Sites, func(s Site) bool { return s.Name == name })
}
