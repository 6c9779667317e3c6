package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fair are the fairness scores of the sites ([MC] equation 9): for each site, those of
// the seeds. Wanted chooses among the jobs; nil: all.
func (s *study) fair(t, base trial, wanted func(o *outcome, i int) bool) [][]float64 {
	var bySite [][]float64
	for seed, one := range s.outcomes[t] {
		choose := func(i int) bool { return wanted == nil || wanted(one, i) }
		scores := one.cfg.Fairness(one.jobs, s.outcomes[base][seed].result, one.result, choose)
		if bySite == nil {
			bySite = make([][]float64, len(scores))
		}
		for site, score := range scores {
			bySite[site] = append(bySite[site], score)
		}
	}
	return bySite
}

// fairness is [MC] Figure 10.
func (o *Options) fairness() exhibit {
	all := o.portal(builtin.MCMF, usual)
	half := all
	half.stays = protocol.PPM / 2
	high, highHalf := o.portal(builtin.MCMF, protocol.PPM/2), o.portal(builtin.MCMF, protocol.PPM/2)
	highHalf.stays = protocol.PPM / 2
	through := func(o *outcome, i int) bool { return o.cfg.ThroughGrid(i) }
	kept := func(o *outcome, i int) bool { return !o.cfg.ThroughGrid(i) }
	scores := []struct {
		key, title string
		trial      trial
		wanted     func(*outcome, int) bool
	}{
		{"all_w25", "all grid, w = 25 %", all, nil},
		{"half_grid_w25", "half grid, w = 25 %: grid jobs", half, through},
		{"half_local_w25", "local jobs", half, kept},
		{"all_w50", "all grid, w = 50 %", high, nil},
		{"half_grid_w50", "half grid, w = 50 %: grid jobs", highHalf, through},
		{"half_local_w50", "local jobs", highHalf, kept},
	}
	return exhibit{
		Exhibit: Exhibit{Name: "fig10", Title: "fairness of MCMF to each system's users (equation 9; above 1 they gain)", Paper: "[MC] Figure 10"},
		waits:   o.Waits, trials: []trial{o.baseline(), all, half, high, highHalf},
		build: func(_ context.Context, s *study, r *Report) error {
			t := Table{Stub: "system", Columns: []Column{{"baseline_wait_min", "wait without the grid", "min", 1}}}
			systems := s.outcomes[o.baseline()][0].systems
			for site := range systems {
				t.Rows = append(t.Rows, Row{systems[site].Name, []Cell{
					Ours(s.each(o.baseline(), func(o *outcome) float64 { return o.metrics.Sites[site].MeanWait / 60 })...),
				}})
			}
			for _, score := range scores {
				t.Columns = append(t.Columns, Column{score.key, score.title, "", 3})
				for site, values := range s.fair(score.trial, o.baseline(), score.wanted) {
					t.Rows[site].Cells = append(t.Rows[site].Cells, geometric(values))
				}
			}
			r.Tables = append(r.Tables, t)
			return nil
		},
	}
}

// guard is a protection of local users, with its label.
type guard struct {
	label   string
	protect rules.Protection
}

func guards() []guard {
	return []guard{
		{"none", rules.Protection{}},
		{"delay 1 h", rules.Protection{Delay: protocol.Hour}},
		{"no delay", rules.Protection{Delay: protocol.Millisecond}},
		{"guests 50 %", rules.Protection{Share: protocol.PPM / 2}},
		{"guests 25 %", rules.Protection{Share: protocol.PPM / 4}},
		{"guests 10 %", rules.Protection{Share: protocol.PPM / 10}},
		{"no delay, guests 25 %", rules.Protection{Delay: protocol.Millisecond, Share: protocol.PPM / 4}},
	}
}

// protect is what [guest_limits] does for equation 9, and what it costs. Every site has a
// peer, since to a portal's sites all jobs are guests.
func (o *Options) protect() exhibit {
	under := func(t trial, g guard) trial {
		t.protect = g.protect
		return t
	}
	planned := []struct {
		label string
		trial trial
	}{
		{"MCMF w = 25 %", o.peers(usual).plan()},
		{"MCMF w = 100 %", o.peers(protocol.PPM).plan()},
		{"MCMF w = 100 %, placed at once", o.atOnce(0)},
		{"MCMF w = 100 %, placed at once, costs to a millionth", o.atOnce(mcmf.MaxScale)},
	}
	e := exhibit{
		Exhibit: Exhibit{Name: "protect", Title: "protection of local users: equation 9 of each system, and its price", Paper: "[MC 5.6], which has no protection"},
		waits:   waitpredict.Plan, trials: []trial{o.baseline()},
	}
	for _, p := range planned {
		for _, g := range guards() {
			e.trials = append(e.trials, under(p.trial, g))
		}
	}
	e.build = func(_ context.Context, s *study, r *Report) error {
		r.Notes = append(r.Notes, "A peer at each site. Delay: a guest is declined if planning shows a waiting job of the site's own delayed by more.",
			"Guests: the share of the CPUs that guests may hold or wait for.")
		for _, p := range planned {
			t := Table{Title: p.label, Stub: "protection", Columns: []Column{
				{"response_rel", "response over baseline", "%", 1},
				{"cost_rel", "cost over baseline", "%", 1},
				{"moved_pct", "moved", "%", 1},
				{"least", "least of the systems", "", 4},
			}}
			for _, system := range s.outcomes[o.baseline()][0].systems {
				t.Columns = append(t.Columns, Column{"fairness_" + system.Name, system.Name, "", 3})
			}
			for _, g := range guards() {
				one := under(p.trial, g)
				row := Row{g.label, []Cell{
					Ours(s.against(one, o.baseline(), relative(meanResponse))...), Ours(s.against(one, o.baseline(), relative(cost))...),
					Ours(s.each(one, moved)...),
				}}
				scores := s.fair(one, o.baseline(), nil)
				row.Cells = append(row.Cells, Ours(leastOf(scores)...))
				for _, values := range scores {
					row.Cells = append(row.Cells, geometric(values))
				}
				t.Rows = append(t.Rows, row)
			}
			r.Tables = append(r.Tables, t)
		}
		return nil
	}
	return e
}

// atOnce has every job placed when it comes, by its response alone and with planned waits.
func (o *Options) atOnce(scale int) trial {
	t := o.peers(protocol.PPM).plan()
	t.cycle, t.maxQ, t.scale = 0, 0, scale
	return t
}

// leastOf is the score of the worst site for each seed.
func leastOf(bySite [][]float64) []float64 {
	least := slices.Clone(bySite[0])
	for _, values := range bySite {
		for seed, v := range values {
			least[seed] = min(least[seed], v)
		}
	}
	return least
}

// messagesOfTurnaround notes what the superscheduler's own policy needs.
func messagesOfTurnaround(s *study, r *Report) {
	tc := s.outcomes[s.options.turnaround()][0].metrics
	r.Notes = append(r.Notes, fmt.Sprintf("For comparison, turnaround cost (tc) needs %.1f messages a job (first seed).", tc.MessagesPerJob))
}
