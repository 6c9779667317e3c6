package dashboard_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/dashboard"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPagesInBrowser shows the pages at three widths, light and dark. Nothing on them is wider than the window or hard to read, and the
// browser has nothing to complain of. It draws them into the directory that DASHBOARD_SCREENSHOTS names, for people to look at
// (`make dashboard-check`).
func TestPagesInBrowser(t *testing.T) {
	t.Parallel()
	studies := t.TempDir()
	writeStudy(t, filepath.Join(studies, "half-a-year"), "Half a year of three sites under four policies", time.Now())
	p, issuer := openAtIssuer(t, busyGrid(), dashboard.Config{Studies: studies}, func(c *api.Config) {
		c.Site, c.Alarms = "aurora", nil
		addDay(t, c.Network.Pages)
	})
	b := openTab(t, p.at, issuer.Issuer)
	p.showAll(t, b, map[string]string{"sign-in": "/sign-in", "signed-out": "/jobs"})
	b.open(p.at + "/sign-in")
	secret, _ := p.token(t, accesstokens.All()...)
	b.signIn(secret)
	p.showAll(t, b, map[string]string{
		"grid": "/", "jobs": "/jobs", "job": "/jobs/1000000000003", "schedule": "/schedule?hours=6", "quotes": "/quotes", "applications": "/applications",
		"reference": "/reference", "site": "/site", "studies": "/studies", "cancel": "/jobs/1000000000003/cancel", "drain": "/sites/borealis/drain",
		"reload": "/reload", "nothing": "/nothing",
	})
}

// showAll checks and draws pages, which have names.
func (p *pages) showAll(t *testing.T, b *tab, paths map[string]string) {
	t.Helper()
	to := os.Getenv("DASHBOARD_SCREENSHOTS")
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		path := paths[name]
		b.open(p.at + path)
		for _, line := range b.complaints() {
			t.Errorf("%s: %s", path, line)
		}
		for _, width := range []int{400, 800, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				b.resize(width, scheme)
				for _, fault := range evaluate[[]string](b, legible) {
					t.Errorf("%s, %d pixels wide, %s: %s", path, width, scheme, fault)
				}
				if to == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(to, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), b.picture(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		b.checkNames(path)
		b.checkFocus(path)
	}
}

// addDay has the pages have seen a day of loads.
func addDay(t *testing.T, pages api.Pages) {
	t.Helper()
	drawn, ok := pages.(*dashboard.Dashboard)
	if !ok {
		t.Fatalf("%T", pages)
	}
	now := protocol.InstantOf(time.Now())
	for at := now.Add(-protocol.Duration(24) * protocol.Hour); at < now; at = at.Add(5 * protocol.Minute) {
		sites := slices.Clone(busyGrid().sites)
		for i := range sites {
			phase := 2*math.Pi*float64(now.Sub(at))/float64(24*protocol.Hour) + float64(i)
			sites[i].Busy = int(float64(sites[i].CPUs) * (0.55 + 0.4*math.Sin(phase)))
		}
		drawn.AddLoads(at, sites)
	}
}

// busyGrid is a grid with enough on it to look at.
func busyGrid() *gridOf {
	now, age, old := protocol.InstantOf(time.Now()), protocol.Second, 20*protocol.Minute
	names := []protocol.SiteName{"aurora", "borealis", "cygnus", "draco"}
	grid := &gridOf{facts: busyStory(now)}
	for i, cpus := range []int{128, 256, 512, 96} {
		grid.sites = append(grid.sites, view.Site{
			Site: names[i], Number: protocol.SiteNumber(i + 1), Link: "up", CPUs: cpus, Busy: cpus * (9 - i) / 10, Queued: 12 - 3*i, Age: &age, GuestJobs: 2 * i,
			SentJobs: 5 * i, Draw: int64(cpus) * 20,
		})
	}
	grid.sites[0].Self, grid.sites[0].Link = true, "self"
	grid.sites[3].Link, grid.sites[3].Age, grid.sites[3].LastSeen = "unresponsive", &old, now.Add(-old)
	for i := range 60 {
		job := view.Job{
			ID: protocol.JobID(1_000_000_000_003 + i), Name: []string{"wing-mesh", "<script>alert(1)</script>", "ensemble", "spectra"}[i%4],
			User: []string{"ann", "bob", "cem"}[i%3], Origin: names[i%5/4*2], CPUs: 8 << (i % 4), WallTime: protocol.Duration(1+i%3) * protocol.Hour,
			Submitted: now.Add(-protocol.Duration(i) * 10 * protocol.Minute), Site: names[i%3], State: protocol.Running,
		}
		job.Guest = job.Origin != names[0]
		job.Started = job.Submitted.Add(3 * protocol.Minute)
		switch {
		case i >= 20:
			job.State, job.Ran = protocol.Completed, protocol.Duration(20+i)*protocol.Minute
			job.Ended = min(now, job.Started.Add(job.Ran))
			job.Waits = &view.QuotedWaits{At: job.Submitted, AWT: protocol.Duration(i%7) * protocol.Minute, Low: protocol.Duration(i%4) * protocol.Minute, Median: protocol.Duration(1+i%5) * protocol.Minute, High: protocol.Duration(2+i%6) * protocol.Minute, ERT: 70 * protocol.Minute}
			if i%11 == 0 {
				job.State, job.ExitCode = protocol.Failed, 2
			}
			grid.ended = append(grid.ended, job)
			continue
		case i%3 == 2:
			job.State, job.Started, job.Reason = protocol.Pending, 0, ""
			job.Planned = &view.PlannedStart{Start: now.Add(protocol.Duration(i*10) * protocol.Minute), Stated: now}
		case i%7 == 4:
			job.State, job.Started, job.Site, job.Reason = protocol.Pending, 0, "", view.ReasonAllDeclined
		}
		if i%6 == 1 {
			job.Application, job.Component = 1_000_000_000_004, []string{"mesh", "solve", "render"}[i/6%3]
			job.Objectives = &view.Objectives{
				Application: protocol.Application{Name: "wing", MaxCost: 90_000_000, MaxTime: 24 * protocol.Hour, Currency: "EUR"}, Components: 4, Spent: 41_500_000, SpentCurrency: "EUR",
			}
		}
		grid.jobs = append(grid.jobs, job)
	}
	return grid
}

// busyStory is the story of the first job.
func busyStory(now protocol.Instant) []event.LogEvent {
	quote := func(site protocol.SiteName, wait, run protocol.Duration, cpu, energy protocol.Micro) view.Quote {
		return view.Quote{
			Site: site, AWT: wait, AWTLow: wait / 2, Median: wait, AWTHigh: 3 * wait, ERT: run, Cost: cpu + energy, Currency: "EUR", RUS: 620_000,
			Terms: []view.PriceTerm{{Name: "cpu", Amount: cpu}, {Name: "energy", Amount: energy}},
		}
	}
	return []event.LogEvent{
		{At: now, Kind: event.LogJobSubmitted, Text: "wing-mesh"},
		{At: now.Add(protocol.Second), Kind: event.LogRoundOpened, Round: 17},
		{
			At: now.Add(2 * protocol.Second), Kind: event.LogRoundDecided, Site: "cygnus", Round: 17, Text: "least turnaround, 1:04:00", Silent: []string{"draco"}, Duration: 812,
			Quotes: []view.Quote{
				quote("aurora", 41*protocol.Minute, protocol.Hour, 3_200_000, 810_000), quote("cygnus", 4*protocol.Minute, protocol.Hour, 3_600_000, 420_000),
				{Site: "borealis", Declined: "no node has 64 GB of memory", RUS: 910_000},
			},
		},
		{At: now.Add(3 * protocol.Second), Kind: event.LogJobOffered, Site: "cygnus", Epoch: 1},
		{At: now.Add(3 * protocol.Second), Kind: event.LogJobHandedOff, Site: "cygnus", Epoch: 1, Duration: 140},
		{At: now.Add(3 * protocol.Minute), Kind: event.LogJobStarted, Site: "cygnus", Epoch: 1},
	}
}
