package main

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// curveText is a file of prices: so many units for every hour of the days around now.
func curveText(price int) string {
	var out strings.Builder
	out.WriteString("start,price_eur_per_mwh\n")
	now := time.Now().UTC().Truncate(time.Hour)
	for hour := -48; hour < 48; hour++ {
		fmt.Fprintf(&out, "%s,%d\n", now.Add(time.Duration(hour)*time.Hour).Format(time.RFC3339), price)
	}
	return out.String()
}

// electric are tables of a site that goes by cost alone, and buys its electricity in the
// area of its own name.
const electric = `
[power]
watts_per_cpu = 20000.5

[policy.mcmf]
weight = 0

[prices]
area = %q
feed = %q
refresh_interval = "1s"
`

// pricedByFile is a site that reads its prices from a file in dir.
func pricedByFile(t *testing.T, dir, name string, cpus, price int, more string) testbed.Machine {
	t.Helper()
	config := filepath.Join(dir, name+".feed")
	writeText(t, filepath.Join(dir, name+".csv"), curveText(price))
	writeText(t, config, fmt.Sprintf("[[file]]\npath = %q\nformat = \"csv\"\narea = %q\n", name+".csv", name))
	return testbed.Machine{
		Name: protocol.SiteName(name), CPUs: cpus, Policy: "mcmf",
		More: fmt.Sprintf(electric+"config = %q\n%s", name, "file", config, more),
	}
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Three sites under mcmf: aurora is dear, borealis cheap and takes one job in a cycle,
// cygnus has its prices from a plugin and protects its own users.
func TestElectricity(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	contract := tempFile(t, "contract.toml", "area = \"cygnus\"\ncurrency = \"EUR\"\nzone = \"UTC\"\nprice = 90\n")
	g := makeGrid(t,
		pricedByFile(t, dir, "aurora", 2, 200, ""),
		pricedByFile(t, dir, "borealis", 4, 20, ""),
		testbed.Machine{Name: "cygnus", CPUs: 2, Policy: "mcmf", More: fmt.Sprintf(
			electric+"\n[guest_limits]\nmax_cpu_share = 0.5\n\n[[plugin]]\nname = \"market\"\nkind = \"price\"\npath = %q\nconfig = %q\n",
			"cygnus", "market", builtInPlugin(t, "tariff"), contract)},
	)
	for _, site := range g.Sites {
		edit(t, site, `initiation = "sender"`, `initiation = "cycle"`)
	}
	edit(t, g.Sites[1], "max_jobs_per_cycle = 0", "max_jobs_per_cycle = 1")
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	aurora, borealis := g.Sites[0], g.Sites[1]
	for _, site := range g.Sites {
		reported(t, g, site, "electricity: "+string(site.Name)+" in EUR, known until 20")
	}
	quotesNameCosts(t, g, aurora)
	cheapestWins(t, g, aurora)
	fullSiteGetsItLater(t, g, aurora)
	localUsersAreProtected(t, g, aurora)
	badPrices(t, g, aurora, borealis, filepath.Join(dir, "borealis.csv"))
}

// reported waits until a site's own line in "sites" has the text.
func reported(t *testing.T, g *grid, site *testbed.Site, text string) {
	t.Helper()
	for ctx := patience(t); ; time.Sleep(50 * time.Millisecond) {
		got := g.at(t, site, "", "sites", "--no-header")
		own, _, _ := strings.Cut(got.stdout, "\n")
		if strings.Contains(own, text) {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%q never appears in\n%s%s", text, got.stdout, got.stderr)
		}
	}
}

func quotesNameCosts(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	got := g.at(t, site, "#!/bin/sh\n#SWITCHYARD --power-share=50%\n", "quote", "-n", "2", "-t", "30", "--stage-in-size=1G")
	for _, want := range []string{ // 2 CPUs · 20,000.5 W · 50 % for half an hour: 10.00025 kWh
		"aurora .*  2.00005 EUR ", "borealis .*  0.200005 EUR ", "cygnus .*  guests would have 100.0 % of the CPUs, the site allows 50.0 %",
	} {
		if !regexp.MustCompile("(?m)^" + want).MatchString(got.stdout) {
			t.Errorf("%q is missing in\n%s%s", want, got.stdout, got.stderr)
		}
	}
}

func cheapestWins(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	id := g.submit(t, site, trivialScript)
	if job := g.until(t, site, id, ended); job.Site != "borealis" || job.State != protocol.Completed {
		t.Errorf("it ran at %s: %+v", job.Site, job)
	}
	got := g.at(t, site, "", "explain", "--long", id.String())
	for _, want := range []string{"borealis is chosen: flow of 1 jobs over 3 sites", "→  borealis", "energy 0.40001 EUR", "energy 4.0001 EUR"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing in\n%s%s", want, got.stdout, got.stderr)
		}
	}
}

func fullSiteGetsItLater(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	client := site.Client()
	defer client.Close()
	job := protocol.Job{
		Spec: protocol.Spec{
			Request: protocol.Request{CPUs: 1, WallTime: protocol.Minute}, Name: "twin", Sites: []protocol.SiteName{"borealis"},
		},
		Payload: &protocol.Payload{
			Script: []byte(trivialScript), WorkDir: g.work,
			Stdout: filepath.Join(g.work, "twin-%j.out"), Stderr: filepath.Join(g.work, "twin-%j.out"),
		},
	}
	submitted, err := client.Submit(patience(t), api.Submission{Jobs: []protocol.Job{job, job}})
	if err != nil || len(submitted.Jobs) != 2 {
		t.Fatalf("submitted %+v, %v", submitted, err)
	}
	rounds := map[protocol.RoundID]bool{}
	for _, id := range submitted.Jobs {
		if got := g.until(t, site, id, ended); got.Site != "borealis" || got.State != protocol.Completed {
			t.Errorf("%s ran at %s: %+v", id, got.Site, got)
		}
		facts, err := client.Explain(patience(t), protocol.JobName{Job: id})
		if err != nil {
			t.Fatal(err)
		}
		for _, fact := range facts {
			if fact.Kind == event.LogRoundDecided {
				rounds[fact.Round] = true
			}
		}
	}
	if len(rounds) != 2 {
		t.Errorf("both were placed in the rounds %v, though the site takes one in a cycle", rounds)
	}
}

func localUsersAreProtected(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	id := g.submit(t, site, trivialScript, "-n", "2", "--sites=cygnus")
	job := g.until(t, site, id, func(job view.Job) bool { return strings.Contains(job.Reason, "guests would have") })
	if want := "cygnus: guests would have 100.0 % of the CPUs, the site allows 50.0 %"; !strings.Contains(job.Reason, want) {
		t.Errorf("the reason is %q", job.Reason)
	}
	if got := g.at(t, site, "", "cancel", id.String()); got.code != 0 {
		t.Errorf("cancel: %+v", got)
	}
}

func badPrices(t *testing.T, g *grid, aurora, borealis *testbed.Site, file string) {
	t.Helper()
	writeText(t, file, "start,price_eur_per_kwh\n")
	reported(t, g, borealis, "electricity: old prices of borealis: ")
	reported(t, g, borealis, file+":1: ")
	id := g.submit(t, aurora, trivialScript)
	if job := g.until(t, aurora, id, ended); job.Site != "borealis" {
		t.Errorf("by its earlier prices borealis is the cheapest, and the job ran at %s", job.Site)
	}
	if err := borealis.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	if err := borealis.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.Linked(patience(t)); err != nil {
		t.Fatal(err)
	}
	reported(t, g, borealis, "electricity: no prices of borealis: ")
	id = g.submit(t, aurora, trivialScript, "--sites=borealis")
	if job := g.until(t, aurora, id, ended); job.State != protocol.Completed {
		t.Errorf("without prices: %+v", job)
	}
	writeText(t, file, curveText(20))
	reported(t, g, borealis, "electricity: borealis in EUR")
}

// "config check" reads the feed's configuration too.
func TestConfigCheckLooksAtTheFeed(t *testing.T) {
	t.Parallel()
	feed := tempFile(t, "feed.toml", "area = \"x\"\nprise = 3\ncurrency = \"euro\"\n")
	site := fmt.Sprintf("[site]\nname = \"north\"\nnumber = 1\n[power]\nwatts_per_cpu = 30\n"+
		"[prices]\narea = \"x\"\nfeed = \"tariff\"\nconfig = %q\n", feed)
	got := command(t, "", "", "config", "check", "--config", tempFile(t, "site.toml", site))
	for _, want := range []string{feed + ":2: prise: unknown key", feed + ":3: currency: ", "price: is missing", "zone: is missing"} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("%q is missing in\n%s", want, got.stderr)
		}
	}
	if got.code != 1 || got.stdout != "" {
		t.Errorf("got %+v", got)
	}
}

// A peer takes one area's column of a table, whatever the others are like.
func TestConfigCheckLooksAtOneArea(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), siteKey(t)
	feed := filepath.Join(dir, "feed.toml")
	writeText(t, filepath.Join(dir, "elspot.csv"), "datetime;Hours;FI;FRE\n01.01.2016;00 - 01;1;7\n01.01.2016;01 - 02;2;\n01.01.2016;02 - 03;3;8\n")
	writeText(t, feed, "[[file]]\npath = \"elspot.csv\"\nformat = \"nordpool\"\nzone = \"Europe/Oslo\"\ncurrency = \"EUR\"\n")
	for area, want := range map[string]string{"FI": "", "FRE": "elspot.csv:4: FRE has no price from", "NO1": `[prices] area: the power budget goes by it: the feed does not know this area: "NO1"; there are FI, FRE`} {
		site := fmt.Sprintf("[site]\nname = \"north\"\nnumber = 1\nkey = %q\n[power]\nwatts_per_cpu = 30\nbudget_kw = 1\nprice = 20.0\n"+
			"[prices]\narea = %q\nfeed = \"file\"\nconfig = %q\n", key, area, feed)
		got := command(t, "", "", "config", "check", "--config", tempFile(t, "site.toml", site))
		if (got.code == 0) != (want == "") || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: got %+v, want %q", area, got, want)
		}
	}
}

// The feeds of the example know what they should now, after its script for prices has run.
func TestElectricityExample(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "example")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "electricity"))); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "prices.sh")).CombinedOutput(); err != nil {
		t.Fatalf("prices.sh: %v\n%s", err, out)
	}
	now := protocol.InstantOf(time.Now())
	for _, site := range []string{"north", "south"} {
		text, err := os.ReadFile(filepath.Join(dir, site+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		alone, _, _ := strings.Cut(string(text), "[[partner]]") // whose key "keygen" would make
		writeText(t, filepath.Join(dir, site+".toml"), alone)
		cfg, err := config.Load(filepath.Join(dir, site+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		feed, err := pricefeed.Prices(cfg).Open(slog.New(slog.DiscardHandler))
		if err == nil {
			err = feed.Refresh()
		}
		if err != nil {
			t.Fatal(err)
		}
		series, err := feed.Prices(t.Context(), price.Query{Area: cfg.Prices.Area, From: now.Add(-protocol.Day), Until: now.Add(protocol.Day)})
		if err != nil || len(series.Slots) < 48 {
			t.Errorf("%s knows %d prices of these days, %v", site, len(series.Slots), err)
		}
	}
}
