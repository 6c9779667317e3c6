package dashboard_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/dashboard"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// screens are the directory for pictures and a browser. Tests without them are skipped.
func screens(t *testing.T) (to, browser string) {
	t.Helper()
	if to = os.Getenv("DASHBOARD_SCREENSHOTS"); to == "" {
		t.Skip("DASHBOARD_SCREENSHOTS names no directory; use make dashboard-check")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium on this machine; install it to look at the pages")
	}
	return to, browser
}

// browserArgs are those of a browser without a screen.
func browserArgs(t *testing.T) []string {
	t.Helper()
	return []string{
		"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", "--hide-scrollbars",
		"--ignore-certificate-errors", "--enable-logging=stderr", "--user-data-dir=" + t.TempDir(),
	}
}

// TestScreenshots draws the pages in a browser, at two widths, light and dark, into the directory that DASHBOARD_SCREENSHOTS names, for
// people to look at (`make dashboard-check`). What the browser complains of fails it: a script error, or what the policy forbids.
func TestScreenshots(t *testing.T) { //nolint:paralleltest // a browser needs the whole machine
	to, browser := screens(t)
	studies := t.TempDir()
	writeStudy(t, filepath.Join(studies, "half-a-year"), "Half a year of three sites under four policies", time.Now())
	p := openDrawn(t, busyGrid(), dashboard.Config{Studies: studies}, func(c *api.Config) {
		c.Site, c.Network.Public, c.Alarms = "aurora", true, nil
		addDay(t, c.Network.Pages)
	})
	for name, path := range map[string]string{
		"grid": "/", "jobs": "/jobs", "job": "/jobs/1000000000003", "schedule": "/schedule?hours=6", "quotes": "/quotes", "applications": "/applications",
		"reference": "/reference", "site": "/site", "studies": "/studies", "sign-in": "/sign-in",
	} {
		for _, wide := range []int{400, 1280} {
			for scheme, setting := range map[string]string{"light": "1", "dark": "0"} {
				file := filepath.Join(to, fmt.Sprintf("%s-%d-%s.png", name, wide, scheme))
				command := exec.CommandContext(t.Context(), browser, append(browserArgs(t), fmt.Sprintf("--window-size=%d,1000", wide),
					"--blink-settings=preferredColorScheme="+setting, "--screenshot="+file, p.at+path)...)
				var said bytes.Buffer
				command.Stderr = &said
				if err := command.Run(); err != nil {
					t.Fatalf("%s: %v\n%s", path, err, said.String())
				}
				for line := range strings.Lines(said.String()) {
					if strings.Contains(line, "CONSOLE") {
						t.Errorf("%s: %s", path, line)
					}
				}
			}
		}
	}
}

// overheard are pages whose requests are noted.
type overheard struct {
	api.Pages

	requests chan *http.Request
}

func (o *overheard) Show(w http.ResponseWriter, r *http.Request, visitor *api.Visitor) {
	select {
	case o.requests <- r:
	default: // the test has ended
	}
	o.Pages.Show(w, r, visitor)
}

// TestScreenshotsFollow: the script of a page loads it for the change that the peer names.
func TestScreenshotsFollow(t *testing.T) { //nolint:paralleltest // a browser needs the whole machine
	_, browser := screens(t)
	grid := smallGrid()
	requests := make(chan *http.Request, 1000)
	p := open(t, grid, func(c *api.Config) {
		c.Network.Public, c.Network.Pages = true, &overheard{c.Network.Pages, requests}
	})
	ctx, stop := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, browser, append(browserArgs(t), "--remote-debugging-port=0", p.at+"/jobs")...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		_ = command.Wait()
	}()
	loads := 0
	for r := range requests {
		switch r.URL.Path {
		case "/changes":
			grid.change(func() { grid.busier(0) })
		case "/jobs":
			if loads++; loads == 1 {
				continue // the browser itself
			}
			if number, err := strconv.Atoi(r.Header.Get("Switchyard-Change")); err != nil || number < 1 {
				t.Errorf("the page was loaded for change %q", r.Header.Get("Switchyard-Change"))
			}
			return
		}
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
