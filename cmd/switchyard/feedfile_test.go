package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A peer whose feeds of prices and of budgets have other configurations than before goes by these
// after a reload. With one that is wrong nothing is changed.
func TestReloadOpensAChangedFeed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	budget := filepath.Join(dir, "budget.feed")
	slots := func(name string, kilowatts int) string {
		var text strings.Builder
		text.WriteString("start,price\n")
		for hour := -2; hour < 48; hour++ {
			fmt.Fprintf(&text, "%s,%d\n", time.Now().UTC().Truncate(time.Hour).Add(time.Duration(hour)*time.Hour).Format(time.RFC3339), kilowatts)
		}
		writeText(t, filepath.Join(dir, name), text.String())
		return fmt.Sprintf("[[file]]\npath = %q\nformat = \"csv\"\narea = \"plug\"\ncurrency = \"XXX\"\nunit = \"MWh\"\nslot = \"1h\"\n", name)
	}
	writeText(t, budget, slots("first.csv", 30))
	g := makeGrid(t, pricedByFile(t, dir, "aurora", 2, 200, fmt.Sprintf("[power.series]\nfeed = \"file\"\nconfig = %q\narea = \"plug\"\n", budget)))
	edit(t, g.Sites[0], `refresh_interval = "1s"`, `refresh_interval = "10h"`) // the reload has the prices asked for
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	aurora := g.Sites[0]
	shows(t, g, aurora, 200, 30_000)

	prices := filepath.Join(dir, "aurora.feed")
	writeText(t, filepath.Join(dir, "cheap.csv"), curveText(20))
	text, err := os.ReadFile(prices)
	if err != nil {
		t.Fatal(err)
	}
	wrong := string(text) + "colour = 3\n"
	writeText(t, prices, wrong)
	writeText(t, budget, slots("second.csv", 40))
	if got := g.at(t, aurora, "", "reload"); got.code != 1 || !strings.Contains(got.stderr, "colour") || !strings.Contains(got.stderr, "the configuration was not changed") {
		t.Errorf("a wrong one: %+v", got)
	}
	writeText(t, prices, strings.Replace(string(text), "aurora.csv", "cheap.csv", 1))
	got := g.at(t, aurora, "", "reload")
	for _, path := range []string{"prices.config: " + prices, "power.series.config: " + budget} {
		if want := "changed        " + path + " as it was → as it is now\n"; got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing: %+v", want, got)
		}
	}
	shows(t, g, aurora, 20, 40_000)
	if got = g.at(t, aurora, "", "reload"); got.code != 0 || strings.Contains(got.stdout, ".config") {
		t.Errorf("again: %+v", got)
	}
}

// shows waits until a site has such a price of a MWh, and such a power budget.
func shows(t *testing.T, g *grid, site *testbed.Site, price, watts int64) {
	t.Helper()
	for ctx := patience(t); ; time.Sleep(50 * time.Millisecond) {
		var sites view.Sites
		got := g.at(t, site, "", "sites", "--json")
		err := json.Unmarshal([]byte(got.stdout), &sites)
		if err == nil && len(sites.Sites) == 1 {
			own := sites.Sites[0]
			if own.Price != nil && *own.Price == protocol.Micro(price)*protocol.Unit && own.Budget != nil && *own.Budget == watts {
				return
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("the price %d and the budget %d never appear in\n%s%s, %v", price, watts, got.stdout, got.stderr, err)
		}
	}
}
