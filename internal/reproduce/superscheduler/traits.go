package superscheduler

import (
	"cmp"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// traits are what the means of a schedule do not show.
type traits struct {
	median, ninety, longest float64 // waits, s

	// Of the jobs that fit the largest machine alone.
	wide      float64 // how many
	wideWait  float64 // mean wait, s
	wideShare float64 // of the waits of all, %
	wideLate  float64 // that start after the last submission, %
	restWait  float64 // mean wait of all others, s

	anyBelow float64   // part of the time until the last submission in which some machine is below δ, %
	below    []float64 // the same of each machine
}

// traitsOf are those of a schedule.
func traitsOf(o *experiment.Outcome) traits {
	var t traits
	last := protocol.Instant(0)
	for i := range o.Jobs {
		last = max(last, o.Jobs[i].Submit)
	}
	t.addWaits(o, last)
	t.addBelow(o, last)
	return t
}

// addWaits needs one job that ran.
func (t *traits) addWaits(o *experiment.Outcome, last protocol.Instant) {
	bound := secondLargest(o.Plan)
	var waits []float64
	wide, late, ofWide, ofAll := 0, 0, 0.0, 0.0
	for i := range o.Jobs {
		job, placed := &o.Jobs[i], o.Result.Placements[i]
		if placed.Site < 0 {
			continue
		}
		wait := float64(placed.Start.Sub(job.Submit)) / float64(protocol.Second)
		waits = append(waits, wait)
		ofAll += wait
		if job.CPUs <= bound {
			continue
		}
		wide++
		ofWide += wait
		if placed.Start > last {
			late++
		}
	}
	if len(waits) == 0 {
		return
	}
	slices.Sort(waits)
	t.median, t.ninety, t.longest = waits[len(waits)/2], waits[len(waits)*9/10], waits[len(waits)-1]
	t.wide, t.wideWait, t.wideLate = float64(wide), ofWide/float64(wide), 100*float64(late)/float64(wide)
	t.wideShare, t.restWait = 100*ofWide/ofAll, (ofAll-ofWide)/float64(len(waits)-wide)
}

// secondLargest is the number of CPUs beyond which jobs fit one machine alone.
func secondLargest(p *experiment.Plan) int {
	var cpus []int
	for i := range p.Sites {
		cpus = append(cpus, p.CPUs(i))
	}
	slices.Sort(cpus)
	return cpus[len(cpus)-2]
}

// addBelow follows the CPUs of the nodes that jobs are allocated.
func (t *traits) addBelow(o *experiment.Outcome, last protocol.Instant) {
	type change struct {
		at   protocol.Instant
		site int
		cpus int
	}
	var changes []change
	machines := make([]engine.Machine, len(o.Plan.Sites))
	for site := range machines {
		machines[site] = engine.WholeNode(o.Plan.Sites[site].LocalSched.Capacity(0)) // as all of the paper's
	}
	for i := range o.Jobs {
		placed := o.Result.Placements[i]
		if placed.Site < 0 {
			continue
		}
		units, _ := machines[placed.Site].Units(protocol.Request{CPUs: o.Jobs[i].CPUs, WallTime: 1})
		held := machines[placed.Site].CPUs(units)
		changes = append(changes, change{placed.Start, placed.Site, held}, change{placed.End, placed.Site, -held})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	busy, below := make([]int, len(o.Plan.Sites)), make([]float64, len(o.Plan.Sites))
	least, now, anyBelow := int64(o.Plan.Rounds.VolunteerBelow), protocol.Instant(0), 0.0
	pass := func(until protocol.Instant) {
		some := false
		for site := range busy {
			if int64(busy[site])*protocol.PPM < least*int64(o.Plan.CPUs(site)) {
				some = true
				below[site] += float64(until - now)
			}
		}
		if some {
			anyBelow += float64(until - now)
		}
		now = until
	}
	for _, c := range changes {
		if c.at > last {
			break
		}
		pass(c.at)
		busy[c.site] += c.cpus
	}
	pass(last)
	for site := range below {
		t.below = append(t.below, 100*below[site]/float64(last))
	}
	t.anyBelow = 100 * anyBelow / float64(last)
}

// wide are the waits of jobs by their size.
func wide() exhibit {
	sweeps := []sweep{
		{experiment: heavy, observed: true, schemes: []experiment.Scheme{experiment.Local, experiment.Sender, experiment.Receiver, experiment.Symmetric}},
		{experiment: sixMonths, observed: true, schemes: []experiment.Scheme{experiment.Local, experiment.Sender, experiment.Receiver}},
	}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-wide", Title: "waits of the jobs that fit M1 alone, over 1,220 CPUs", Paper: "[SS] Figures 3 and 4, whose means do not show them"}, sweeps: sweeps,
		notes: []string{"Late jobs start after the last submission."},
		build: func(s *study, r *reproduce.Report) error {
			of := func(title, unit string, digits int, value func(*traits) float64) trait {
				return trait{reproduce.Column{Key: strings.ReplaceAll(title, " ", "_"), Title: title, Unit: unit, Digits: digits}, value}
			}
			columns := []trait{
				of("median wait", "s", 0, func(t *traits) float64 { return t.median }), of("90 % wait up to", "s", 0, func(t *traits) float64 { return t.ninety }),
				of("longest", "s", 0, func(t *traits) float64 { return t.longest }), of("wide jobs", "", 0, func(t *traits) float64 { return t.wide }),
				of("their wait", "s", 0, func(t *traits) float64 { return t.wideWait }), of("of all waiting", "%", 1, func(t *traits) float64 { return t.wideShare }),
				of("late", "%", 1, func(t *traits) float64 { return t.wideLate }), of("wait of all others", "s", 0, func(t *traits) float64 { return t.restWait }),
			}
			for _, w := range sweeps {
				r.Tables = append(r.Tables, s.traitsTable(s.title(r, s.plans[w.experiment].Name, w), []sweep{w}, columns))
			}
			return nil
		},
	}
}

// trait is a column of traits.
type trait struct {
	reproduce.Column

	of func(*traits) float64
}

// traitsTable has a row for each scheme of the sweeps.
func (s *study) traitsTable(title string, sweeps []sweep, columns []trait) reproduce.Table {
	t := reproduce.Table{Title: title, Stub: "scheme"}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for _, w := range sweeps {
		for _, scheme := range w.schemes {
			line := reproduce.Row{Label: scheme.Label()}
			if len(sweeps) > 1 {
				line.Label = w.experiment + ", " + line.Label
			}
			all := s.traitsOf(w, scheme)
			for _, c := range columns {
				values := make([]float64, len(all))
				for i := range all {
					values[i] = c.of(&all[i])
				}
				line.Cells = append(line.Cells, cell(values))
			}
			t.Rows = append(t.Rows, line)
		}
	}
	return t
}

// volunteers is how long sites would volunteer.
func volunteers() exhibit {
	schemes := []experiment.Scheme{experiment.Sender, experiment.Symmetric}
	sweeps := []sweep{{experiment: heavy, observed: true, schemes: schemes}, {experiment: light, observed: true, schemes: schemes}}
	return exhibit{
		Exhibit: reproduce.Exhibit{Name: "ss-volunteers", Title: "part of the time until the last submission in which machines are busy below δ = 0.7", Paper: "[SS 2.1.3]"}, sweeps: sweeps,
		build: func(s *study, r *reproduce.Report) error {
			columns := []trait{{reproduce.Column{Key: "any", Title: "any", Unit: "%", Digits: 1}, func(t *traits) float64 { return t.anyBelow }}}
			for i := range s.plans[heavy].Sites {
				name := machine(s.plans[heavy].Sites[i].Name)
				columns = append(columns, trait{reproduce.Column{Key: name, Title: name, Unit: "%", Digits: 1}, func(t *traits) float64 { return t.below[i] }})
			}
			r.Tables = append(r.Tables, s.traitsTable("", sweeps, columns))
			return nil
		},
	}
}
