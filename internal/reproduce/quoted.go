package reproduce

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// logGrid is a grid of three sites with two months of jobs that real users submitted. No site has prices.
type logGrid struct {
	scene sceneName
	label string
	sites []loggedSite
	users bool // one log for all sites, each user at one of them
}

// loggedSite is a site with a log and the month in which its jobs begin.
type loggedSite struct {
	name, file string
	cpus       int
	from       time.Time // on the log's clock
}

func logGrids() []logGrid {
	const kth, sp2, paragon, blue = "KTH-SP2-1996-2.1-cln.swf.gz", "SDSC-SP2-1998-4.2-cln.swf.gz", "SDSC-Par-1996-3.1-cln.swf.gz", "SDSC-BLUE-2000-4.2-cln.swf.gz"
	month := func(year int, month time.Month) time.Time { return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC) }
	spring := month(2001, time.March)
	return []logGrid{
		{scene: "logs-1", label: "KTH, SDSC SP2, Paragon (1)", sites: []loggedSite{
			{"kth", kth, 100, month(1996, time.October)}, {"sp2", sp2, 128, month(1998, time.May)}, {"paragon", paragon, 400, month(1996, time.April)},
		}},
		{scene: "logs-2", label: "KTH, SDSC SP2, Paragon (2)", sites: []loggedSite{
			{"kth", kth, 100, month(1997, time.February)}, {"sp2", sp2, 128, month(1999, time.March)}, {"paragon", paragon, 400, month(1996, time.August)},
		}},
		{scene: "logs-3", label: "Blue Horizon in three", users: true, sites: []loggedSite{
			{"a", blue, 384, spring}, {"b", blue, 384, spring}, {"c", blue, 384, spring},
		}},
	}
}

// logged is the scene of a grid of logs.
func (s *study) logged(g *logGrid) (*scene, error) {
	made := &scene{}
	var bySite [][]workload.Job
	for i, site := range g.sites {
		easy, err := engine.Named("easy")
		if err != nil {
			return nil, err
		}
		made.sites = append(made.sites, sim.Site{
			Machine: sim.Machine{Name: protocol.SiteName(site.name), Nodes: site.cpus, CPUsPerNode: 1}, Local: easy,
		})
		jobs, err := s.twoMonths(site)
		if err != nil {
			return nil, err
		}
		own := jobs[:0]
		for _, job := range jobs {
			if !g.users || max(job.User, 0)%len(g.sites) == i {
				own = append(own, job)
			}
		}
		bySite = append(bySite, own)
	}
	made.jobs = workload.Merge(bySite...)
	return made, nil
}

// twoMonths are a log's jobs of two months; its first ones if the options say how many.
func (s *study) twoMonths(site loggedSite) ([]workload.Job, error) {
	trace, err := s.data.trace(site.file)
	if err != nil {
		return nil, err
	}
	var window workload.CleanOptions
	if n := s.options.Jobs; n > 0 {
		trace.Records = trace.Records[:min(n, len(trace.Records))]
	} else {
		for _, end := range []struct {
			at    *protocol.Instant
			clock time.Time
		}{{&window.From, site.from}, {&window.To, site.from.AddDate(0, 2, 0)}} {
			if *end.at, err = trace.Header.At(end.clock); err != nil {
				return nil, fmt.Errorf("%s: %w", site.file, err)
			}
		}
	}
	jobs, _ := workload.Clean(trace, window)
	return jobs, nil
}

// estimate is what a site may quote as the wait by which policies place jobs.
type estimate struct {
	key, title string
	method     waitpredict.Method // empty: the bare plan, which is all that policies read of auto
}

func placedBy() []estimate {
	return []estimate{
		{"plan", "plan (auto)", ""},
		{"median", "its median", waitpredict.Median},
		{"mean", "its mean", waitpredict.Mean},
		{"adaptive", "adaptive", waitpredict.Adaptive},
		{"ibl", "IBL", waitpredict.IBL},
		{"qbets", "QBETS", waitpredict.QBETS},
	}
}

// placingPolicies are trials without a scene and an estimate.
func placingPolicies() []trial {
	return []trial{{policy: builtin.TC}, {policy: builtin.MCMF, delay: mcmf.DefaultDelayPrice, cycle: cycle}}
}

// quoted places jobs by each of the estimates.
func quoted() exhibit {
	e := exhibit{Exhibit: Exhibit{Name: "quoted", Title: "which estimate of waits places best", Paper: "[MC 3.1], which places by adaptive"}}
	row := func(g *logGrid, p trial) (alone trial, placed []trial) {
		p.scene = g.scene
		for _, one := range placedBy() {
			t := p
			t.waits = one.method
			placed = append(placed, t)
		}
		return trial{scene: g.scene, policy: builtin.Local}, placed
	}
	for _, g := range logGrids() {
		for _, p := range placingPolicies() {
			alone, placed := row(&g, p)
			e.trials = append(append(e.trials, alone), placed...)
		}
	}
	e.build = func(_ context.Context, s *study, r *Report) error {
		r.Seeds, r.Prices = nil, ""
		r.Notes = append(r.Notes,
			"Three sites with two months of a log's jobs each, the estimates of the users, EASY; each site places its own jobs, without prices, by the waits that all quote:",
			"tc at each submission, mcmf each minute. Nothing is drawn. By default (auto) policies read the plan, and people the estimate that erred least.")
		t := Table{Title: "Mean wait", Stub: "grid, policy", Measure: "min", Columns: []Column{{"local", "no grid", "min", 1}}}
		for _, one := range placedBy() {
			t.Columns = append(t.Columns, Column{one.key, one.title, "min", 1})
		}
		for _, g := range logGrids() {
			for _, p := range placingPolicies() {
				alone, placed := row(&g, p)
				cells := []Cell{Ours(s.each(alone, meanWait)...)}
				for _, one := range placed {
					cells = append(cells, Ours(s.each(one, meanWait)...))
				}
				t.Rows = append(t.Rows, Row{g.label + ", " + p.policy, cells})
			}
		}
		r.Tables = append(r.Tables, t)
		return nil
	}
	return e
}
