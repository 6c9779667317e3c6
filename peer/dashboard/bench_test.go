package dashboard_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/dashboard"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// largeGrid has 50 sites, 10,000 jobs, of which one in ten runs, and 2000 that have ended.
func largeGrid() *gridOf {
	grid := busyGrid()
	template, ended := grid.jobs[0], grid.ended[0]
	now, age := protocol.InstantOf(time.Now()), protocol.Second
	grid.sites, grid.jobs, grid.ended = nil, nil, nil
	name := func(i int) protocol.SiteName { return protocol.SiteName(fmt.Sprintf("site%02d", i%50)) }
	for i := range 50 {
		grid.sites = append(grid.sites, view.Site{Site: name(i), Number: protocol.SiteNumber(i + 1), Self: i == 0, Link: "up", CPUs: 1024, Busy: 20 * i, Queued: i, Age: &age})
	}
	for i := range 10_000 {
		job := template
		job.ID, job.Name, job.User, job.Origin, job.Guest = protocol.JobID(1_000_000_000_001+i), fmt.Sprintf("job%d", i), fmt.Sprintf("user%d", i%200), name(0), false
		job.Site, job.State, job.Started, job.Submitted = name(i), protocol.Pending, 0, now.Add(-protocol.Duration(i)*protocol.Second)
		if i%10 == 0 {
			job.State, job.Started = protocol.Running, now.Add(-protocol.Minute)
		}
		grid.jobs = append(grid.jobs, job)
	}
	for i := range 2000 {
		job := ended
		job.ID, job.Origin, job.Site, job.Guest = protocol.JobID(1_000_000_020_001+i), name(0), name(i), false
		grid.ended = append(grid.ended, job)
	}
	return grid
}

// BenchmarkPages loads pages of 50 sites and 10,000 jobs over TLS, the answers of the peer included.
func BenchmarkPages(b *testing.B) {
	p := open(b, largeGrid(), func(c *api.Config) { c.Network.Rate = 1e6 })
	p.signIn(b)
	for _, path := range []string{"/", "/jobs", "/jobs/1000000000001", "/schedule", "/quotes", "/applications", "/site"} {
		b.Run(strings.ReplaceAll("page"+path, "/", "-"), func(b *testing.B) {
			size := 0
			for b.Loop() {
				status, _, text := p.get(b, path)
				if size = len(text); status != http.StatusOK {
					b.Fatalf("%d %s", status, text)
				}
			}
			b.ReportMetric(float64(size)/1000, "KB")
		})
	}
}

// followed are the pages of [largeGrid] that browsers follow.
func followed() []string {
	return []string{"/", "/jobs", "/jobs/1000000000001", "/schedule", "/applications"}
}

// BenchmarkViewers has ten browsers follow a page of 50 sites and 10,000 jobs, in which a site and a job change every second, for a
// second each: tabs of one user, or ten users with a page each. The browsers are another process, which draws nothing; %core is the CPU time
// of this one, the peer's, in percent of a core.
func BenchmarkViewers(b *testing.B) {
	for _, path := range followed() {
		for _, users := range []int{1, 10} {
			b.Run(fmt.Sprintf("page%s/users=%d", strings.ReplaceAll(path, "/", "-"), users), func(b *testing.B) {
				benchmarkViewers(b, path, users)
			})
		}
	}
}

func benchmarkViewers(b *testing.B, path string, users int) {
	b.Helper()
	grid := largeGrid()
	grid.events = eventstream.New(1, 1, 0)
	pages, err := dashboard.New(dashboard.Config{Events: grid.events})
	if err != nil {
		b.Fatal(err)
	}
	p := open(b, grid, func(c *api.Config) { c.Network.Rate, c.Network.Pages = 1e6, pages })
	wanted := viewers{At: p.at, Authority: p.authority, Path: path}
	for i := range 10 {
		wanted.Cookies = append(wanted.Cookies, p.session(b, fmt.Sprint("user", i%users)))
	}
	stop := startViewers(b, wanted)
	before := cpuTime(b)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for b.Loop() {
		<-second.C
		grid.change(func() {
			grid.busier(1)
			grid.jobs[1].CPUs = grid.jobs[1].CPUs%64 + 1
		})
	}
	used := cpuTime(b) - before
	all := stop()
	b.ReportMetric(100*used.Seconds()/b.Elapsed().Seconds(), "%core")
	b.ReportMetric(float64(all.Pages)/b.Elapsed().Seconds(), "pages/s")
	if all.Pages > 0 {
		b.ReportMetric(float64(all.Took.Milliseconds())/float64(all.Pages), "ms/page")
	}
}

// session begins a session of a user, and returns its cookie.
func (p *pages) session(b *testing.B, user string) string {
	b.Helper()
	secret, _ := p.tokenOf(b, user, accesstokens.Read)
	signing := *p
	signing.browser = p.newBrowser(b)
	defer signing.browser.CloseIdleConnections()
	if status, text := signing.post(b, "/sign-in", url.Values{"token": {secret}}); status != http.StatusOK {
		b.Fatalf("%d %s", status, text)
	}
	at, err := url.Parse(p.at)
	if err != nil {
		b.Fatal(err)
	}
	return signing.browser.Jar.Cookies(at)[0].String()
}

// signIn has the browser be that of a user: visitors without one may load fewer pages.
func (p *pages) signIn(b *testing.B) {
	b.Helper()
	secret, _ := p.token(b, accesstokens.Read)
	if status, text := p.post(b, "/sign-in", url.Values{"token": {secret}}); status != http.StatusOK {
		b.Fatalf("%d %s", status, text)
	}
}
