package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Choice is what the authors' released code does otherwise than we do
// (facts/mcmf-experiments.md sections 3 to 5).
type Choice string

// The choices.
const (
	WholeHours Choice = "whole-hours" // estimates are rounded to whole hours, with one more hour; a run pays each hour that it touches
	KnownAhead Choice = "known"       // all prices are known ahead; TWOPRICE's percentiles are those of the whole period
	Floor      Choice = "floor"       // costs of a cycle that range over less than a dollar count as if they ranged over one
	Steps      Choice = "steps"       // costs are rounded to a ten-thousandth, where the paper has a hundredth
	FiveJobs   Choice = "max-q"       // MaxQ is 5
	Unscaled   Choice = "unscaled"    // INST takes estimates as they are, however fast the system is
	Fractions  Choice = "fractions"   // costs have the term of [sim.AuthorsCost] without the power, as the paper's dollars: estimates are not rounded for them
	History    Choice = "history"     // of the authors' sample, 500 jobs for each system go to their origin and are not measured
)

// Choices lists the choices.
func Choices() []Choice {
	return []Choice{WholeHours, KnownAhead, Floor, Steps, FiveJobs, Unscaled, Fractions, History}
}

func choiceNames() string {
	var names []string
	for _, c := range Choices() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// authors are the choices that concern what a policy is shown.
type authors struct{ hours, floor, unscaled, fractions bool }

// with is the trial with choices of the authors'. Only the history makes another baseline.
func (t trial) with(choices ...Choice) trial {
	for _, c := range choices {
		if t.policy == builtin.Local && c != History {
			continue
		}
		switch c {
		case WholeHours:
			t.authors.hours = true
		case KnownAhead:
			t.forecast = priceforecast.Known
		case Floor:
			t.authors.floor = true
		case Steps:
			t.scale = authorsSteps
		case FiveJobs:
			t.maxQ = authorsMaxQ
		case Unscaled:
			t.authors.unscaled = t.policy == builtin.Inst
		case Fractions:
			t.authors.fractions = true
		case History:
			if t.scene == sample {
				t.scene = sampleEnd
			}
		}
	}
	return t
}

const (
	authorsMaxQ  = 5
	authorsSteps = 10_000
)

// released shows a portal's policy what the released code computes of each quote.
type released struct {
	policy.Policy
	authors

	variant  string
	scene    *scene
	outlooks [][]price.Forecast // by site, see [area.outlook]
	through  []int              // the jobs that the portal places, in the order in which it numbers them
	first    protocol.JobID     // of the first of these; 0: not known yet
}

// released is the policy of a portal with the authors' choices.
func (t trial) released(s *scene, cfg *sim.Config, outlooks [][]price.Forecast) (policy.Policy, error) {
	if a := t.authors; !a.hours && !a.unscaled && !a.fractions {
		return cfg.Policy, nil
	}
	if !t.portal {
		return nil, fmt.Errorf("%s: the authors' choices %s, %s and %s need one portal", t, WholeHours, Unscaled, Fractions)
	}
	r := &released{Policy: cfg.Policy, authors: t.authors, variant: t.policy, scene: s, outlooks: outlooks}
	for i := range s.jobs {
		if cfg.ThroughGrid(i) {
			r.through = append(r.through, i)
		}
	}
	return r, nil
}

// Describe implements [policy.Describer].
func (r *released) Describe() policy.Description { return policy.Describe(r.Policy) }

// Decide implements [policy.Policy].
func (r *released) Decide(ctx context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	in.ERT, in.Cost = slices.Clone(in.ERT), slices.Clone(in.Cost)
	for j := range in.Jobs {
		if r.first == 0 {
			r.first = in.Jobs[j].ID
		}
		nth := int(in.Jobs[j].ID - r.first) //nolint:gosec // jobs are numbered as they come
		job := &r.scene.jobs[r.through[nth]]
		if job.CPUs != in.Jobs[j].CPUs {
			return nil, nil, fmt.Errorf("job %d of the workload is not job %v of the portal: one was refused", r.through[nth], in.Jobs[j].ID)
		}
		now := job.Submit.Add(in.Jobs[j].Waited)
		for s := range in.Sites {
			at, site := in.At(j, s), r.scene.index(in.Sites[s].Name)
			if in.AWT[at] == protocol.Never || site < 0 {
				continue
			}
			priced := in.ERT[at]
			if r.hours {
				in.ERT[at] = wholeHours(in.ERT[at])
			}
			if !r.fractions {
				priced = in.ERT[at]
			}
			if cost, ok := r.cost(site, job.CPUs, now, in.AWT[at], priced); ok && (r.hours || r.fractions) {
				in.Cost[at] = cost
			}
			if r.unscaled {
				in.ERT[at] = job.Estimate
				if r.hours {
					in.ERT[at] = wholeHours(job.Estimate)
				}
			}
		}
	}
	return r.Policy.Decide(ctx, in)
}

// wholeHours is a whole hour more than the whole hours of a duration.
func wholeHours(d protocol.Duration) protocol.Duration { return d - d%protocol.Hour + protocol.Hour }

// cost is what the released code takes a run to cost, from what the site knows; ok is false
// if the site does not look ahead so far.
func (r *released) cost(site, cpus int, now protocol.Instant, wait, run protocol.Duration) (cost protocol.Micro, ok bool) {
	start := r.scene.starts[site]
	known := on(r.outlooks[site], int(now.Sub(start)/protocol.Day))
	series := known.Prices
	switch r.variant {
	case builtin.Inst:
		wait = 0
	case builtin.TwoPrice:
		series = known.TwoPrice
	}
	from := protocol.Instant(now.Add(wait).Sub(start))
	if last := series.Slots[len(series.Slots)-1].End(); from.Add(run) >= last {
		return 0, false
	}
	power := int64(cpus) * r.scene.sites[site].Electricity.Milliwatts
	return protocol.Micro(math.Round(sim.AuthorsCost(series, power, from, from.Add(run)) * float64(protocol.Unit))), true
}

// index is the place of a site by its name; negative for the portal.
func (s *scene) index(name protocol.SiteName) int {
	return slices.IndexFunc(s.sites, func(one sim.Site) bool { return one.Name == name })
}

// step is a further choice of the authors', after those before it.
type step struct {
	label   string
	choices []Choice
}

// steps are the way from ours to theirs, and the choice that makes most of the difference alone.
func steps(choices ...Choice) []step {
	titles := map[Choice]string{
		WholeHours: "whole hours", KnownAhead: "prices known ahead", Floor: "a range of costs of $1 at least", Steps: "costs to a ten-thousandth",
		FiveJobs: "MaxQ 5", Unscaled: "INST's estimates not scaled", History: "the first 4,000 jobs as history",
		Fractions: "costs of decisions as the paper's dollars",
	}
	all := []step{{label: "ours"}}
	for i, c := range choices {
		all = append(all, step{"+ " + titles[c], choices[:i+1]})
	}
	return append(all, step{"ours, and only " + titles[Fractions], []Choice{Fractions}})
}

// walk makes the authors' choices one after the other.
func (o *Options) walk() exhibit {
	rivals := []struct {
		label, key, policy string
		weight             int
		response, cost     float64 // of the paper, over its baseline
	}{
		{"MCMF w = 25 %", "mcmf", builtin.MCMF, usual, 75.4, 97.0},
		{"MCMF w = 0", "mcmf_w0", builtin.MCMF, 0, 172.9, 81.1},
		{"INST w = 25 %", "inst", builtin.Inst, usual, 546.1, 89.1},
		{"TWOPRICE w = 25 %", "twoprice", builtin.TwoPrice, usual, 74.7, 100.7},
	}
	tables := []struct {
		title string
		scene sceneName
		steps []step
	}{
		{"A drawn workload", xsede, steps(WholeHours, KnownAhead, Floor, Steps, FiveJobs, Unscaled, Fractions)},
		{"The authors' sample", sample, steps(WholeHours, KnownAhead, Floor, Steps, FiveJobs, Unscaled, Fractions, History)},
	}
	of := func(t trial, scene sceneName, one step) trial {
		t.scene = scene
		return t.with(one.choices...)
	}
	e := exhibit{
		Exhibit: Exhibit{
			Name: "walk", Title: "the authors' choices, one after the other, each with those before it",
			Paper: "[MC] Table IV",
		},
		waits: o.Waits,
	}
	for _, table := range tables {
		for _, one := range table.steps {
			e.trials = append(e.trials, of(o.baseline(), table.scene, one))
			for _, v := range rivals {
				e.trials = append(e.trials, of(o.portal(v.policy, v.weight), table.scene, one))
			}
		}
	}
	e.build = func(_ context.Context, s *study, r *Report) error {
		r.Notes = append(r.Notes, "All values are in percent of the baseline's. The paper stands beside all choices of the released code, and beside a guess: that decisions counted what the paper's dollars count.",
			"The paper's workload is not available.")
		for _, table := range tables {
			t := Table{Title: table.title, Stub: "choices"}
			for _, v := range rivals {
				t.Columns = append(t.Columns, Column{v.key + "_response_rel", v.label + ": response", "%", 1}, Column{v.key + "_cost_rel", "cost", "%", 1}, Column{v.key + "_authors_rel", "authors' way", "%", 1})
			}
			for _, one := range table.steps {
				row := Row{Label: one.label}
				base, shown := of(o.baseline(), table.scene, one), slices.Contains(one.choices, Unscaled) || slices.Contains(one.choices, Fractions)
				for _, v := range rivals {
					t := of(o.portal(v.policy, v.weight), table.scene, one)
					row.Cells = append(row.Cells,
						Ours(s.against(t, base, relative(meanResponse))...).besideKnown(v.response, shown),
						Ours(s.against(t, base, relative(cost))...),
						Ours(s.against(t, base, relative(authorsCost))...).besideKnown(v.cost, shown))
				}
				t.Rows = append(t.Rows, row)
			}
			r.Tables = append(r.Tables, t)
		}
		return nil
	}
	return e
}
