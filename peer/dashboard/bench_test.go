package dashboard_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
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

// BenchmarkViewers has ten browsers follow a page of 50 sites and 10,000 jobs, in which something changes every second, for a
// second each. It measures the CPU time of the peer and of what loads the pages, in percent of a core; no browser draws them.
func BenchmarkViewers(b *testing.B) {
	for _, path := range []string{"/", "/jobs"} {
		b.Run(strings.ReplaceAll("page"+path, "/", "-"), func(b *testing.B) {
			grid := largeGrid()
			grid.events = eventstream.New(1, 1, 0)
			pages, err := dashboard.New(dashboard.Config{Events: grid.events})
			if err != nil {
				b.Fatal(err)
			}
			p := open(b, grid, func(c *api.Config) { c.Network.Rate, c.Network.Pages = 1e6, pages })
			p.signIn(b)
			loads := make(chan error, 1)
			for range 10 {
				go func() {
					if err := p.view(b.Context(), path, loads); b.Context().Err() == nil {
						loads <- err
					}
				}()
			}
			before, seen := cpuTime(b), 0
			second := time.NewTicker(time.Second)
			defer second.Stop()
			for b.Loop() {
				for waiting := true; waiting; {
					select {
					case err := <-loads:
						if err != nil {
							b.Fatal(err)
						}
						seen++
					case <-second.C:
						waiting = false
					}
				}
				grid.change(func() { grid.sites[1].Busy = (grid.sites[1].Busy + 1) % grid.sites[1].CPUs })
			}
			b.ReportMetric(100*(cpuTime(b)-before).Seconds()/b.Elapsed().Seconds(), "%core")
			b.ReportMetric(float64(seen)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}

// signIn has the browser be that of a user: visitors without one may load fewer pages.
func (p *pages) signIn(b *testing.B) {
	b.Helper()
	secret, _ := p.token(b, accesstokens.Read)
	if status, text := p.post(b, "/sign-in", url.Values{"token": {secret}}); status != http.StatusOK {
		b.Fatalf("%d %s", status, text)
	}
}

// view loads a page whenever it has changed, until ctx ends, and says so each time.
func (p *pages) view(ctx context.Context, path string, loads chan<- error) error {
	load := func(path string) (io.ReadCloser, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.at+path, http.NoBody)
		if err != nil {
			return nil, err
		}
		response, err := p.browser.Do(request)
		if err != nil {
			return nil, err
		}
		return response.Body, nil
	}
	changes, err := load("/changes")
	if err != nil {
		return err
	}
	defer changes.Close()
	for lines := bufio.NewScanner(changes); lines.Scan(); {
		if lines.Text() != "event: changed" {
			continue
		}
		page, err := load(path)
		if err != nil {
			return err
		}
		if _, err = io.Copy(io.Discard, page); err != nil {
			return err
		}
		if err = page.Close(); err != nil {
			return err
		}
		select {
		case loads <- nil:
		case <-ctx.Done():
			return nil
		}
	}
	return ctx.Err()
}

// cpuTime is what this process has used.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
