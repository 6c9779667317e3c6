package experiment

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/parallel"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// Sweep is what is run: every combination of the values, under every scheme of
// the plan, for every seed.
type Sweep struct {
	Plan    *Plan
	Axes    []Axis
	Joining []string // sites of the plan: each point is run with and without them
	Seeds   int      // from Plan.Seed on
	Workers int      // 0: one for each CPU
	// Observe is called with each simulation and the index of its seed, from several goroutines at a time. It
	// may be nil. What it keeps of an outcome stays in memory until the sweep is over.
	Observe func(seed int, o *Outcome)
}

// Axis is a key and the values that it takes.
type Axis struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Set adds an axis, as [ParseAxis] reads it. Values of scheme are no axis, but the
// schemes of the plan.
func (s *Sweep) Set(text string) error {
	axis, err := ParseAxis(text)
	if err != nil {
		return err
	}
	if axis.Key != "scheme" {
		if slices.ContainsFunc(s.Axes, func(other Axis) bool { return other.Key == axis.Key }) {
			return fmt.Errorf("%s is set twice", axis.Key)
		}
		s.Axes = append(s.Axes, axis)
		return nil
	}
	plan, err := s.Plan.With(Setting{axis.Key, axis.Values[0]})
	if err != nil {
		return err
	}
	for _, name := range axis.Values[1:] {
		if _, err := ParseScheme(name); err != nil {
			return err
		}
	}
	plan.Compare = axis.Values[1:]
	s.Plan = plan
	return nil
}

// maxRuns bounds the simulations of a sweep: one more digit than asked for should be
// an error and not the end of memory.
const maxRuns = 20_000

// Membership says whether the joining sites exchange jobs with the others.
type Membership string

// The memberships. A sweep without joining sites has neither.
const (
	Apart  Membership = "apart"  // the others are a grid, each joining site is alone
	Joined Membership = "joined" // all are one grid
)

// Swept is the outcome of a [Sweep], as it is printed in JSON.
type Swept struct {
	Experiment string   `json:"experiment"`
	Currency   string   `json:"currency,omitempty"` // of the costs of electricity and of applications
	Seeds      []uint64 `json:"seeds"`
	Axes       []Axis   `json:"axes,omitempty"`
	Joining    []string `json:"joining,omitempty"`
	// Submitted is over which time jobs are submitted, with the first of the values, if sites join.
	Submitted []Submissions `json:"submitted,omitempty"`
	Records   []Records     `json:"records,omitempty"` // of the traces
	Points    []Point       `json:"points"`            // by setting, then scheme, then membership
}

// Point is one combination of a sweep: means over its seeds, by the keys of
// [sim.Metrics].
type Point struct {
	Scheme     Scheme                    `json:"scheme"`
	Settings   map[string]string         `json:"settings"`
	Membership Membership                `json:"membership,omitempty"`
	Metrics    map[string]report.Average `json:"metrics"`
	Sites      []SitePoint               `json:"sites"`
}

// SitePoint is a site's part of a point, by the keys of [sim.SiteMetrics].
type SitePoint struct {
	Site    string                    `json:"site"`
	Metrics map[string]report.Average `json:"metrics"`
	// Gain is, for the sites of a joined grid, what each metric is more than
	// apart, from seed to seed; its interval is that of the differences.
	Gain map[string]report.Average `json:"gain,omitempty"`
}

// cell is a point before its seeds are run.
type cell struct {
	plan       *Plan
	scheme     Scheme
	settings   []Setting
	membership Membership
	outcomes   []sim.Metrics // by seed
	energies   []*Energy     // by seed; nil: there is none

	applications []*Applications // by seed; nil: there are none
}

// Run simulates all. The order of what it returns and every byte of it depend on
// the sweep alone. Progress is called with the number of finished runs, from one
// goroutine at a time; it may be nil.
func (s *Sweep) Run(ctx context.Context, progress func(done, of int)) (*Swept, error) {
	cells, err := s.cells()
	if err != nil {
		return nil, err
	}
	submitted, err := s.submitted(cells)
	if err != nil {
		return nil, err
	}
	if err := s.simulate(ctx, cells, progress); err != nil {
		return nil, err
	}
	swept := &Swept{Experiment: s.Plan.Name, Axes: s.Axes, Joining: s.Joining, Submitted: submitted, Records: s.Plan.records()}
	if s.Plan.electric() || len(s.Plan.Applications) > 0 {
		swept.Currency = s.Plan.Currency
	}
	for i := range s.Seeds {
		swept.Seeds = append(swept.Seeds, s.seed(i))
	}
	for i := range cells {
		swept.Points = append(swept.Points, cells[i].point(apartOf(cells, i)))
	}
	return swept, nil
}

// submitted checks that the jobs of sites that join are submitted over the time of the others with all
// settings, and returns the times of the first.
func (s *Sweep) submitted(cells []cell) (first []Submissions, err error) {
	if len(s.Joining) == 0 {
		return nil, nil
	}
	for i := range cells {
		if i > 0 && cells[i].plan == cells[i-1].plan {
			continue
		}
		submitted, err := cells[i].plan.submissions()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = submitted
		}
	}
	return first, nil
}

func (s *Sweep) seed(i int) uint64 { return uint64(s.Plan.Seed) + uint64(i) } //nolint:gosec // checked: not negative

// Runs is how many simulations the sweep is.
func (s *Sweep) Runs() (int, error) {
	cells, err := s.cells()
	return len(cells) * s.Seeds, err
}

// cells lists the combinations in order: the last axis changes fastest.
func (s *Sweep) cells() ([]cell, error) {
	if s.Seeds < 1 {
		return nil, fmt.Errorf("%d seeds; a sweep needs at least 1", s.Seeds)
	}
	if len(s.Joining) > 0 && (s.Plan.GridShare != settings.Whole || s.Plan.Power.Low != s.Plan.Power.High) {
		return nil, errors.New("apart and joined, other jobs would be drawn for grid_share and [power]; leave these out to see what a site gains by joining")
	}
	runs := s.Seeds
	if runs > maxRuns {
		return nil, fmt.Errorf("%d seeds are more than %d simulations; give fewer", runs, maxRuns)
	}
	for _, axis := range s.Axes {
		if runs *= max(1, len(axis.Values)); runs > maxRuns {
			return nil, fmt.Errorf("more than %d simulations; give fewer values or seeds", maxRuns)
		}
	}
	var cells []cell
	for _, settings := range Combine(s.Axes) {
		plan, err := s.Plan.With(settings...)
		if err != nil {
			return nil, err
		}
		for _, scheme := range plan.All() {
			for _, m := range s.memberships(scheme) {
				cells = append(cells, cell{
					plan: plan, scheme: scheme, settings: settings, membership: m,
					outcomes: make([]sim.Metrics, s.Seeds), energies: make([]*Energy, s.Seeds),
					applications: make([]*Applications, s.Seeds),
				})
			}
		}
	}
	return cells, nil
}

// memberships of a scheme. Where all jobs stay at home it makes no difference.
func (s *Sweep) memberships(scheme Scheme) []Membership {
	switch {
	case len(s.Joining) == 0:
		return []Membership{""}
	case scheme == Local:
		return []Membership{Apart}
	}
	return []Membership{Apart, Joined}
}

// Combine lists all combinations of the axes' values, in the order of a sweep: the last axis changes fastest.
func Combine(axes []Axis) [][]Setting {
	all := [][]Setting{nil}
	for _, axis := range axes {
		var longer [][]Setting
		for _, settings := range all {
			for _, value := range axis.Values {
				longer = append(longer, append(slices.Clone(settings), Setting{axis.Key, value}))
			}
		}
		all = longer
	}
	return all
}

// task is a part of the sweep that one worker runs: some cells in turn, for one seed.
type task struct {
	cells []*cell
	seed  int
}

// tasks cuts the sweep. Where fairness compares schemes with the local one, those of one
// setting are run together, local first.
func (s *Sweep) tasks(cells []cell) []task {
	var all []task
	for first := 0; first < len(cells); {
		end := first + 1
		for end < len(cells) && cells[end].plan == cells[first].plan && cells[first].plan.electric() {
			end++
		}
		var together []*cell
		for i := first; i < end; i++ {
			together = append(together, &cells[i])
		}
		for seed := range s.Seeds {
			all = append(all, task{together, seed})
		}
		first = end
	}
	return all
}

// simulate runs every cell for every seed, several at once.
func (s *Sweep) simulate(ctx context.Context, cells []cell, progress func(done, of int)) error {
	tasks := s.tasks(cells)
	var count parallel.Counter
	if progress != nil {
		count.Tell = func(done int) { progress(done, len(cells)*s.Seeds) }
	}
	return parallel.Each(ctx, s.workers(), len(tasks), func(ctx context.Context, i int) error {
		return s.run(ctx, tasks[i], count.Add)
	})
}

// maxWorkers bounds the simulations at once, each of which holds its workload.
const maxWorkers = 256

func (s *Sweep) workers() int {
	if s.Workers > 0 {
		return min(s.Workers, maxWorkers)
	}
	return runtime.GOMAXPROCS(0)
}

// run runs a task, and tells after each of its simulations.
func (s *Sweep) run(ctx context.Context, t task, tell func()) error {
	var local *Outcome
	for _, c := range t.cells {
		if err := ctx.Err(); err != nil {
			return err
		}
		outcome, err := c.run(ctx, s.seed(t.seed), s.Joining)
		if err != nil {
			return fmt.Errorf("%s: %w", c.title(), err)
		}
		if c.scheme == Local {
			local = outcome
		}
		outcome.CompareWith(local)
		c.outcomes[t.seed], c.energies[t.seed] = outcome.Metrics, outcome.Energy
		c.applications[t.seed] = outcome.Applications
		if s.Observe != nil {
			s.Observe(t.seed, outcome)
		}
		tell()
	}
	return nil
}

// title names a cell for messages.
func (c *cell) title() string {
	words := []string{"scheme " + string(c.scheme)}
	for _, one := range c.settings {
		words = append(words, one.Key+" = "+one.Value)
	}
	return strings.Join(words, ", ")
}

func (c *cell) run(ctx context.Context, seed uint64, joining []string) (*Outcome, error) {
	if c.membership == Apart {
		return c.plan.runApart(ctx, c.scheme, seed, joining)
	}
	return c.plan.Run(ctx, c.scheme, seed, nil)
}

// runApart simulates the grid without the joining sites, and each of these alone,
// with the jobs of the whole.
func (p *Plan) runApart(ctx context.Context, scheme Scheme, seed uint64, joining []string) (*Outcome, error) {
	if len(p.Applications) > 0 {
		return nil, errors.New("sites apart cannot run applications, which choose among all; compare experiments without [[application]]")
	}
	jobs, err := p.Jobs(seed)
	if err != nil {
		return nil, err
	}
	when, err := p.calendar(jobs, nil)
	if err != nil {
		return nil, err
	}
	cfg, err := p.config(ctx, scheme, seed, when)
	if err != nil {
		return nil, err
	}
	all := &sim.Result{Placements: make([]sim.Placement, len(jobs)), History: p.History}
	var stay []int
	for i := range p.Sites {
		if !slices.Contains(joining, p.Sites[i].Name) {
			stay = append(stay, i)
			continue
		}
		if err = p.runPart(ctx, Local, seed, []int{i}, jobs, when, all); err != nil {
			return nil, err
		}
	}
	if err = p.runPart(ctx, scheme, seed, stay, jobs, when, all); err != nil {
		return nil, err
	}
	return p.outcome(scheme, cfg, jobs, all), nil
}

// runPart simulates some sites on their own and enters what became of their jobs.
func (p *Plan) runPart(
	ctx context.Context, scheme Scheme, seed uint64, sites []int, jobs []workload.Job, when calendar, into *sim.Result,
) error {
	part, names := p.part(sites)
	part.History = 0
	var own []workload.Job
	var index []int
	for i, job := range jobs {
		if at := slices.Index(sites, job.Origin); at >= 0 {
			job.Origin = at
			own, index = append(own, job), append(index, i)
			if i < p.History {
				part.History++
			}
		}
	}
	if len(own) == 0 {
		return nil
	}
	cfg, err := part.config(ctx, scheme, seed, when)
	if err != nil {
		return err
	}
	result, err := sim.Run(ctx, cfg, own, nil)
	if err != nil {
		return fmt.Errorf("simulate %s: %w", strings.Join(names, " and "), err)
	}
	for i, placed := range result.Placements {
		if placed.Site >= 0 {
			placed.Site = sites[placed.Site]
		}
		into.Placements[index[i]] = placed
	}
	into.Traffic.Messages += result.Traffic.Messages
	into.Traffic.Bytes += result.Traffic.Bytes
	into.Traffic.Lost += result.Traffic.Lost
	return nil
}

// part is the plan with some of its sites, and what happens to them; and their
// names.
func (p *Plan) part(sites []int) (part *Plan, names []string) {
	part = p.clone()
	part.Sites, part.supplies, part.Links, part.Data.Links, part.Cuts, part.Crashes = nil, nil, nil, nil, nil, nil
	for _, i := range sites {
		part.Sites = append(part.Sites, p.Sites[i])
		part.supplies = append(part.supplies, p.supplies[i])
		names = append(names, p.Sites[i].Name)
	}
	both := func(a, b string) bool { return part.site(a) >= 0 && (b == "" || part.site(b) >= 0) }
	for _, l := range p.Links {
		if both(l.A, l.B) {
			part.Links = append(part.Links, l)
		}
	}
	for _, l := range p.Data.Links {
		if both(l.A, l.B) {
			part.Data.Links = append(part.Data.Links, l)
		}
	}
	for _, c := range p.Cuts {
		if both(c.A, c.B) {
			part.Cuts = append(part.Cuts, c)
		}
	}
	for _, c := range p.Crashes {
		if part.site(c.Site) >= 0 {
			part.Crashes = append(part.Crashes, c)
		}
	}
	return part, names
}

// apartOf is the cell that a joined one is compared with; nil: none.
func apartOf(cells []cell, i int) *cell {
	if cells[i].membership != Joined {
		return nil
	}
	return &cells[i-1] // memberships puts it right before
}
