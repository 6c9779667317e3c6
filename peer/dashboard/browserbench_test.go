package dashboard_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/dashboard"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
)

// BenchmarkBrowser shows pages of 50 sites and 10,000 jobs in a browser on this machine. It measures how long after the navigation something
// is painted, and how long after a change is begun to be loaded it is shown; both have the answers of the peer in them.
func BenchmarkBrowser(b *testing.B) {
	for _, path := range []string{"/", "/jobs"} {
		b.Run(strings.ReplaceAll("page"+path, "/", "-"), func(b *testing.B) {
			grid := largeGrid()
			grid.events = eventstream.New(1, 1, 0)
			p := openDrawn(b, grid, dashboard.Config{}, func(c *api.Config) { c.Network.Rate = 1e6 })
			secret, _ := p.token(b, accesstokens.Read)
			tab := openTab(b, p.at)
			tab.open(p.at + "/sign-in")
			tab.signIn(secret)
			painted, updated, busy := 0.0, 0.0, 500
			for b.Loop() {
				tab.open(p.at + path)
				tab.until(`performance.getEntriesByName("first-contentful-paint").length > 0 && document.getElementById("live").textContent === "Up to date."`)
				painted += evaluate[float64](tab, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
				evaluate[bool](tab, `(() => {
					window.shown = 0;
					new MutationObserver(() => { window.shown = window.shown || performance.now(); }).observe(document.getElementById("content"), { childList: true, subtree: true });
					return true;
				})()`)
				busy++
				grid.change(func() {
					grid.sites = slices.Clone(grid.sites)
					grid.sites[1].Busy = busy
					grid.jobs = grid.jobs[1:]
				})
				tab.until(`window.shown > 0`)
				updated += evaluate[float64](tab, `window.shown - performance.getEntriesByName(location.href).at(-1).startTime`)
			}
			b.ReportMetric(painted/float64(b.N), "paint-ms")
			b.ReportMetric(updated/float64(b.N), "update-ms")
		})
	}
}
