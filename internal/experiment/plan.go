package experiment

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/plugins/catalog"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
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
	Check     int      `toml:"check"`

	Sites     []Site     `toml:"site"`
	Workloads []Workload `toml:"workload"`
	Peer      Peer       `toml:"peer"`
	Network   Network    `toml:"network"`
	Links     []Link     `toml:"link"`
	Cuts      []Cut      `toml:"cut"`
	Crashes   []Crash    `toml:"crash"`
	Currency  string     `toml:"currency"` // of the sites' prices; empty: there are none
	Plugins   []Plugin   `toml:"plugin"`

	inputs []input // of the workloads, in their order; none before Open
	notes  []string

	started map[string]*catalog.Plugin // by name; none before Start
}

// What estimates of run times the jobs have.
const (
	Perfect   = "perfect" // the run times
	FromTrace = "trace"   // what users asked for
)

// Site is a machine of the grid [SS Table 1] and its batch system.
type Site struct {
	Name        string `toml:"name"`
	Nodes       int    `toml:"nodes"`
	CPUsPerNode int    `toml:"cpus_per_node"`
	MHz         int    `toml:"mhz"`
	WholeNode   bool   `toml:"whole_node"`
	Policy      string `toml:"policy"` // of the batch system: by its name in the engine, or a plugin

	CPUHour settings.Amount `toml:"cpu_hour"` // what a CPU costs for an hour, in the plan's currency
}

// Workload is where jobs of one site come from: a trace, or a model.
type Workload struct {
	Site string `toml:"site"`

	Trace      Path   `toml:"trace"`
	Format     string `toml:"format"` // of the trace; empty: by the file's name
	From       string `toml:"from"`   // on the site's clock
	To         string `toml:"to"`
	SkipQueues []int  `toml:"skip_queues"`
	SkipStatus []int  `toml:"skip_status"`
	SkipZero   bool   `toml:"skip_zero_runs"`
	Lenient    bool   `toml:"lenient"`

	Model     string            `toml:"model"` // a built-in one
	ModelFile Path              `toml:"model_file"`
	Span      protocol.Duration `toml:"span"`
	Service   float64           `toml:"service"`
	Bias      float64           `toml:"bias"`
	Jobs      int               `toml:"jobs"`
	Scale     bool              `toml:"scale"`
	PartNodes bool              `toml:"part_nodes"`

	Load float64 `toml:"load"` // of this workload, times that of the plan
}

// Peer is what the peers of all sites are told.
type Peer struct {
	Policy    string            `toml:"policy"` // that decides rounds: builtInPolicy, or a plugin
	Phi       protocol.Duration `toml:"phi"`
	Sigma     protocol.Duration `toml:"sigma"`
	Delta     float64           `toml:"delta"`
	Epsilon   protocol.Duration `toml:"epsilon"`
	Recheck   int               `toml:"recheck"`
	Draw      int               `toml:"draw"`
	Stay      bool              `toml:"stay"`
	RoundJobs int               `toml:"round_jobs"`
	Ask       int               `toml:"ask"`      // 0: all
	Partners  int               `toml:"partners"` // 0: all
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
	B         string            `toml:"b"` // empty: everybody
	Latency   protocol.Duration `toml:"latency"`
	Jitter    protocol.Duration `toml:"jitter"`
	Loss      float64           `toml:"loss"`
	Duplicate float64           `toml:"duplicate"`
}

// Cut parts two sites, or one from all others, for a while.
type Cut struct {
	A     string            `toml:"a"`
	B     string            `toml:"b"` // empty: everybody
	From  protocol.Duration `toml:"from"`
	Until protocol.Duration `toml:"until"`
}

// Crash stops a site's peer for a while.
type Crash struct {
	Site string            `toml:"site"`
	At   protocol.Duration `toml:"at"`
	For  protocol.Duration `toml:"for"`
}

// Default returns the plan that a file without keys would describe. What it says
// of peers are the defaults of live ones, but that no site's partners are too
// many to ask.
func Default() Plan {
	return Plan{
		Scheme: Sender, Seed: 1, Seeds: 10, Estimates: FromTrace, Load: 1,
		Peer: Peer{
			Policy: builtInPolicy,
			Phi:    protocol.Minute, Sigma: 5 * protocol.Minute, Delta: 0.7, Epsilon: tc.DefaultEpsilon, RoundJobs: 64,
		},
	}
}

// SetDefaults implements [settings.Defaulter].
func (s *Site) SetDefaults() { *s = Site{CPUsPerNode: 1, MHz: 1000, Policy: "easy"} }

func defaultSite() (s Site) {
	s.SetDefaults()
	return s
}

// SetDefaults implements [settings.Defaulter].
func (w *Workload) SetDefaults() { *w = Workload{Span: workload.Table6Span, Service: 1, Load: 1} }

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
	return &c
}

// All returns the plan's scheme and those that it is compared with, in the order
// of [Schemes].
func (p *Plan) All() []Scheme {
	var all []Scheme
	for _, s := range Schemes() {
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
