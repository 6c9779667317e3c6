package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/localsched/changes"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Without an id, status tells how the site is; the power only where there is a budget.
func TestStatusOfTheSite(t *testing.T) {
	t.Parallel()
	until := protocol.InstantOf(time.Date(2026, 11, 21, 23, 0, 0, 0, time.Local))
	for want, told := range map[string]*api.Power{
		"": nil,
		"Power      the running jobs draw 1.2 kW; a budget of 3 kW\n":                                                    {Draw: 1_200_000, Budget: new(int64(3_000_000))},
		"Power      the running jobs draw 0 W; no budget until 2026-11-21 23:00:00, then a budget of 3 kW\n":             {Until: until, Next: new(int64(3_000_000))},
		"Power      the running jobs draw 0 W; a budget of 0 W until 2026-11-21 23:00:00, then a budget of 3 kW\n":       {Budget: new(int64(0)), Until: until, Next: new(int64(3_000_000))},
		"Power      the running jobs draw 90 W; a budget of 0.5 W until 2026-11-21 23:00:00, then no budget\n":           {Draw: 90_000, Budget: new(int64(500)), Until: until},
		"Power      the running jobs draw 0 W, 8 kW are kept for jobs that wait in the batch system; a budget of 3 kW\n": {Pending: 8_000_000, Budget: new(int64(3_000_000))},
		"Power      the running jobs draw 1 W; a budget of 2 W until 2026-11-21 23:00:00, then a budget of 1.5 MW\n":     {Draw: 1000, Budget: new(int64(2000)), Until: until, Next: new(int64(1_500_000_000))},
	} {
		socket := serve(t, &fakeNode{power: told})
		got := command(t, socket, "", "status")
		_, rest, found := strings.Cut(got.stdout, "Rules      initiation sender, policy tc, local queue easy\n")
		if got.code != 0 || !found || rest != want || !strings.HasPrefix(got.stdout, "Site       aurora (number 1)\nPeer ") {
			t.Errorf("got %+v, want %q", got, want)
		}
		var info api.Info
		got = command(t, socket, "", "status", "--json")
		if err := json.Unmarshal([]byte(got.stdout), &info); err != nil || !reflect.DeepEqual(info.Power, told) {
			t.Errorf("as JSON: %+v, %v", got, err)
		}
	}
}

// TestStatusNotes has the site tell what its operator should know, whatever stands in it.
func TestStatusNotes(t *testing.T) {
	t.Parallel()
	socket := serve(t, &fakeNode{notes: []string{"no cgroups", "a\x1b[31m name"}})
	got := command(t, socket, "", "status")
	if !strings.Contains(got.stdout, "\nNote       no cgroups\nNote       a") || strings.Contains(got.stdout, "\x1b") {
		t.Errorf("got %q", got.stdout)
	}
	var info api.Info
	got = command(t, socket, "", "status", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &info); err != nil || len(info.Notes) != 2 {
		t.Errorf("as JSON: %+v, %v", got, err)
	}
}

func TestPowerOf(t *testing.T) {
	t.Parallel()
	signal, err := power.NewSignal([]power.Step{{At: 10, Limit: 0}, {At: 20, Limit: 700}, {At: 30, Limit: power.Unlimited}})
	if err != nil {
		t.Fatal(err)
	}
	for now, want := range map[protocol.Instant]api.Power{
		9:  {Draw: 5, Until: 10, Next: new(int64(0))},
		10: {Draw: 5, Budget: new(int64(0)), Until: 20, Next: new(int64(700))},
		29: {Draw: 5, Budget: new(int64(700)), Until: 30},
		30: {Draw: 5},
	} {
		if got := powerOf(signal, 5, now); !reflect.DeepEqual(*got, want) {
			t.Errorf("at %d: %+v, want %+v", now, *got, want)
		}
	}
}

// seriesFeed has one budget for all time that it is asked for.
type seriesFeed struct {
	price.Feed

	kilowatts protocol.Micro
	err       error
}

func (f *seriesFeed) Prices(_ context.Context, query price.Query) (s price.Series, err error) {
	for at := query.From; at < query.Until; at = at.Add(protocol.Day) {
		s.Slots = append(s.Slots, price.Slot{Start: at, Length: protocol.Day, Price: f.kilowatts * protocol.Unit})
	}
	return s, f.err
}

// keeper keeps the budget of a configuration, with a series if there is a feed for it, and
// notes what the batch system is given.
func keeper(cfg *config.Config, feed price.Feed) (k *budgetKeeper, given *[]engine.Budget) {
	k = &budgetKeeper{log: slog.New(slog.DiscardHandler), cfg: cfg, news: make(chan struct{}, 1)}
	if feed != nil {
		k.series = &pricefeed.Source{Feed: feed, Refresh: func(context.Context) error { return nil }}
	}
	k.made.Store(&engine.Budget{})
	given = new([]engine.Budget)
	k.begin(func(b engine.Budget) error {
		*given = append(*given, b)
		return nil
	})
	return k, given
}

func budgeted(kilowatts config.Kilowatts, series string) *config.Config {
	cfg := config.Default()
	cfg.Power.WattsPerCPU, cfg.Power.Budget, cfg.Power.Series.Feed = 30_000_000, kilowatts*1_000_000, series
	return cfg
}

// The batch system hears of a budget when it is another one, and not otherwise; what a
// feed does not tell stays as it was.
func TestBudgetKeeperTellsWhatIsNew(t *testing.T) {
	t.Parallel()
	feed := &seriesFeed{kilowatts: 7}
	k, given := keeper(budgeted(9, "response"), feed)
	limits := func() (now []int64) {
		for _, b := range *given {
			limit, _ := b.Signal.At(protocol.InstantOf(time.Now()))
			now = append(now, limit/1_000_000)
		}
		return now
	}
	for i, step := range []struct {
		kilowatts protocol.Micro
		err       error
		want      []int64
	}{
		{7, nil, []int64{7}},
		{7, nil, []int64{7}},
		{5, nil, []int64{7, 5}},
		{4, errors.New("closed"), []int64{7, 5}},
		{4, nil, []int64{7, 5, 4}},
		{12, nil, []int64{7, 5, 4, 9}}, // the fixed budget is lower
	} {
		feed.kilowatts, feed.err = step.kilowatts, step.err
		if err := k.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := limits(); !reflect.DeepEqual(got, step.want) {
			t.Errorf("step %d: given %v, want %v", i, got, step.want)
		}
	}
	if got := k.current().Rates; got != (power.Rates{Busy: 30_000_000}) {
		t.Errorf("rates %+v", got)
	}
}

// The budget holds while electricity costs more than the threshold, by forecasts too, and
// is made anew when the peer has asked for prices.
func TestBudgetKeeperGoesByPrices(t *testing.T) {
	t.Parallel()
	cfg := budgeted(9, "")
	cfg.Prices.Area, cfg.Power.Price = "here", settings.Amount(protocol.Unit/2) // the feed has one hour, of 1
	watch, err := pricefeed.NewWatch(cfg.Prices)
	if err != nil {
		t.Fatal(err)
	}
	costs := func(feed price.Feed) {
		watch.SetSource(pricefeed.Source{Feed: feed, Refresh: func(context.Context) error { return nil }})
	}
	costs(flatFeed{})
	k, _ := keeper(cfg, nil)
	k.prices = watch
	k.prices.OnAhead(k.hear)
	if err = k.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := protocol.InstantOf(time.Now())
	for _, at := range []protocol.Instant{now, now.Add(protocol.Day), now.Add(10 * protocol.Day)} {
		if limit, _ := k.current().Signal.At(at); limit != 9*budget.Kilowatt {
			t.Errorf("at %v: %s", at.Time(), power.Text(limit))
		}
	}
	costs(flatFeed{errors.New("slow, and not asked")})
	next := budgeted(9, "")
	next.Prices.Area, next.Power.Price = "here", settings.Amount(2*protocol.Unit)
	if err = k.become(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if limit, until := k.current().Signal.At(now); limit != power.Unlimited || until != power.End {
		t.Errorf("where it costs less: %s", power.Text(limit))
	}
	<-k.news // the reload
	costs(flatFeed{})
	if _, err = k.prices.Ahead(t.Context(), price.Query{Area: "here", From: now, Until: now.Add(protocol.Hour)}); err != nil {
		t.Fatal(err)
	}
	if len(k.news) != 1 {
		t.Error("nobody hears that the peer has asked for prices")
	}
}

// While it runs, news make the budget anew.
func TestBudgetKeeperHearsNews(t *testing.T) {
	t.Parallel()
	feed := &seriesFeed{kilowatts: 7}
	k, _ := keeper(budgeted(9, "response"), feed)
	given := make(chan engine.Budget, 1)
	k.begin(func(b engine.Budget) error {
		given <- b
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- k.run(ctx) }()
	k.hear()
	b := <-given
	if limit, _ := b.Signal.At(protocol.InstantOf(time.Now())); limit != 7*budget.Kilowatt {
		t.Errorf("given %s", power.Text(limit))
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A reload changes the budget, takes it away and gives it again; what cannot be is refused
// before anything changes.
func TestBudgetKeeperReloads(t *testing.T) {
	t.Parallel()
	k, given := keeper(budgeted(9, ""), nil)
	if err := k.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, kilowatts := range []config.Kilowatts{12, 0, 3} {
		next := budgeted(kilowatts, "")
		if err := errors.Join(k.mayBecome(next), k.become(t.Context(), next)); err != nil {
			t.Fatal(err)
		}
	}
	now := protocol.InstantOf(time.Now())
	var limits []string
	for _, b := range *given {
		limit, _ := b.Signal.At(now)
		limits = append(limits, power.Text(limit))
	}
	if want := []string{"9 kW", "12 kW", "any power", "3 kW"}; !reflect.DeepEqual(limits, want) {
		t.Errorf("given %v, want %v", limits, want)
	}
	dark, priced, warm := budgeted(9, ""), budgeted(9, ""), budgeted(9, "")
	dark.Power.WattsPerCPU, priced.Power.Price, warm.Power.IdleWattsPerCPU = 0, 1, 30_500_000
	for want, next := range map[string]*config.Config{
		"needs watts_per_cpu": dark, "needs [prices]": priced,
		"idle_watts_per_cpu = 30.5 is more than watts_per_cpu, which is 30.0 until": warm,
	} {
		if err := k.mayBecome(next); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	k.begin(nil)
	if err := k.mayBecome(budgeted(9, "")); err == nil || !strings.Contains(err.Error(), "start the peer again") {
		t.Errorf("a batch system that cannot change: %v", err)
	}
}

// hoursAround are hours of UTC that a time is well within.
func hoursAround(now time.Time) string {
	const form = "15:00"
	return now.UTC().Add(-2*time.Hour).Format(form) + "-" + now.UTC().Add(5*time.Hour).Format(form)
}

// Under a budget of 1 kW two of aurora's four CPUs may work. A job beyond that waits, or
// goes where it starts sooner; with another budget it starts, without a restart.
func TestPowerBudget(t *testing.T) {
	g := startGrid(t,
		testbed.Machine{Name: "aurora", CPUs: 4, More: "[power]\nwatts_per_cpu = 500\nbudget_kw = 1\non_peak = \"" + hoursAround(time.Now()) + "\"\n"},
		testbed.Machine{Name: "borealis", CPUs: 2},
	)
	aurora := g.Sites[0]
	door := filepath.Join(g.work, "door")
	small := "#!/bin/sh\nwhile [ ! -e " + door + " ]; do sleep 0.05; done\n"
	held := func(job peer.JobView) bool { return job.Reason == changes.PowerBudget }

	big := g.submit(t, aurora, "#!/bin/sh\n", "-n", "4", "-t", "5")
	g.until(t, aurora, big, held)
	first := g.submit(t, aurora, small, "-n", "2", "-t", "60") // what is shorter does not delay the big one
	if job := g.until(t, aurora, first, running); job.Site != "aurora" {
		t.Errorf("a job within the budget runs at %s", job.Site)
	}
	second := g.submit(t, aurora, small, "-n", "2", "-t", "5")
	if job := g.until(t, aurora, second, running); job.Site != "borealis" {
		t.Errorf("a job beyond the budget runs at %s", job.Site)
	}
	third := g.submit(t, aurora, small, "-n", "2", "-t", "5", "--sites=aurora")
	g.until(t, aurora, third, held)
	tellsItsBudget(t, g, aurora)

	// A peer that starts again holds what it held.
	if err := errors.Join(aurora.Stop(stopPatience), aurora.Start(), g.Linked(patience(t))); err != nil {
		t.Fatal(err)
	}
	for _, id := range []protocol.JobID{big, third} {
		if job := g.until(t, aurora, id, held); job.State != protocol.Pending {
			t.Errorf("after a restart: %+v", job)
		}
	}
	edit(t, aurora, "budget_kw = 1\n", "budget_kw = 2\n")
	got := g.at(t, aurora, "", "reload")
	if got.code != 0 || !strings.Contains(got.stdout, "changed        power.budget_kw: 1.0 → 2.0\n") {
		t.Errorf("reload: %+v", got)
	}
	if job := g.until(t, aurora, third, running); job.Site != "aurora" {
		t.Errorf("with more power it runs at %s", job.Site)
	}
	writeText(t, door, "")
	if job := g.until(t, aurora, big, ended); job.Site != "aurora" || job.State != protocol.Completed {
		t.Errorf("at last: %+v", job)
	}
	for _, id := range []protocol.JobID{first, second, third} {
		g.until(t, aurora, id, ended)
	}
}

func tellsItsBudget(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	for command, wants := range map[string][]string{
		"status": {"Power      the running jobs draw 1 kW; a budget of 1 kW until "},
		"sites":  {" 1000/1000 W ", "2 idle CPUs withheld by the power budget"},
		"queue":  {"  PowerBudget\n"},
		"quote":  {"borealis  ", "the power budget is 1 kW, of which 0 W are left until 20", "Z; the job would draw 1 kW"},
	} {
		args := []string{command}
		if command == "quote" {
			args = append(args, "-n", "2", "-t", "5")
		}
		got := g.at(t, site, "#!/bin/sh\n", args...)
		for _, want := range wants {
			if got.code != 0 || !strings.Contains(got.stdout, want) {
				t.Errorf("%s: %q is missing in %+v", command, want, got)
			}
		}
	}
	got := g.at(t, site, "#!/bin/sh\n", "quote", "-n", "4", "-t", "5")
	if !strings.Contains(got.stdout, "off-peak only: the power budget is 1 kW until 20") {
		t.Errorf("a job beyond the whole budget: %+v", got)
	}
}

// The budget of the example holds after peak.sh, and has an end; later, it begins later.
func TestPowerBudgetExample(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "example")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "power-budget"))); err != nil {
		t.Fatal(err)
	}
	for when, limited := range map[string]bool{"now": true, "later": false} {
		if out, err := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "peak.sh"), when).CombinedOutput(); err != nil {
			t.Fatalf("peak.sh: %v\n%s", err, out)
		}
		text, err := os.ReadFile(filepath.Join(dir, "north.toml"))
		if err != nil {
			t.Fatal(err)
		}
		alone, _, _ := strings.Cut(string(text), "[[partner]]") // whose key "keygen" would make
		file := filepath.Join(dir, "alone.toml")
		writeText(t, file, alone)
		cfg, err := config.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		k, given := keeper(cfg, nil)
		if err := k.renew(t.Context()); err != nil || len(*given) != 1 {
			t.Fatalf("given %d budgets, %v", len(*given), err)
		}
		limit, until := k.current().Signal.At(protocol.InstantOf(time.Now()))
		if (limit == budget.Kilowatt) != limited || until == power.End {
			t.Errorf("%s: %s until %d", when, power.Text(limit), until)
		}
	}
}

// On a machine in partitions a small job has one of 512 nodes for itself.
func TestPartitions(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 4096, LocalSched: "machine = \"bgp\"\ncpus = 4096\ngrace = \"1s\"\n" +
		"[localsched.bgp]\npartitions = \"racks 1x1\"\n"})
	aurora := g.Sites[0]
	door := filepath.Join(g.work, "door")
	script := "#!/bin/sh\nwhile [ ! -e " + door + " ]; do sleep 0.05; done\n"
	var ids []protocol.JobID
	for range 3 {
		ids = append(ids, g.submit(t, aurora, script, "-n", "2", "-t", "5"))
	}
	for _, id := range ids[:2] {
		g.until(t, aurora, id, running)
	}
	got := g.at(t, aurora, "", "sites", "--no-header")
	if !strings.HasPrefix(fields(got.stdout), "aurora 1 self 4096 4096 100 % 1 ") {
		t.Errorf("both midplanes are taken, but sites says %+v", got)
	}
	if job := g.until(t, aurora, ids[2], func(peer.JobView) bool { return true }); job.State != protocol.Pending {
		t.Errorf("a third job: %+v", job)
	}
	writeText(t, door, "")
	for _, id := range ids {
		if job := g.until(t, aurora, id, ended); job.State != protocol.Completed {
			t.Errorf("got %+v", job)
		}
	}
}

// "config check" lists what is wrong with a file of partitions, with its lines.
func TestConfigCheckLooksAtThePartitions(t *testing.T) {
	t.Parallel()
	file := tempFile(t, "cards.csv", "card,A-0,32\ncard,A-1,32\npartition,P,65,torus,A\npartition,Q,32,mesh,B\n")
	site := fmt.Sprintf("[site]\nname = \"north\"\nnumber = 1\n[localsched]\nmachine = \"bgp\"\ncpus = 256\n[localsched.bgp]\npartitions = %q\n", file)
	got := command(t, "", "", "config", "check", "--config", tempFile(t, "site.toml", site))
	for _, want := range []string{file + ":3: P is to have 65 nodes", file + ":4: there is no card \"B\""} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("%q is missing in\n%s", want, got.stderr)
		}
	}
	if got.code != 1 || got.stdout != "" {
		t.Errorf("got %+v", got)
	}
}

// Before a batch system that knows nothing of power, a gate holds what the budget does not
// allow, over a restart too, until a reload raises it.
func TestPowerBudgetBeforeAPlugin(t *testing.T) {
	g := startGrid(t, testbed.Machine{
		Name: "aurora", LocalSched: fmt.Sprintf("plugin = %q", enginePlugin),
		More: "[power]\nwatts_per_cpu = 1000\nbudget_kw = 1\n\n" + pluginTables(t, "localsched", enginePlugin, ""),
	})
	aurora := g.Sites[0]
	door := filepath.Join(g.work, "door")
	script := "#!/bin/sh\nwhile [ ! -e " + door + " ]; do sleep 0.05; done\n"
	held := func(job peer.JobView) bool { return job.Reason == changes.PowerBudget }
	var ids []protocol.JobID
	for range 2 { // it has two CPUs
		ids = append(ids, g.submit(t, aurora, script, "-t", "5"))
	}
	g.until(t, aurora, ids[0], running)
	g.until(t, aurora, ids[1], held)
	if got := g.at(t, aurora, "", "status"); !strings.Contains(got.stdout, "the running jobs draw 1 kW; a budget of 1 kW\n") {
		t.Errorf("status: %+v", got)
	}
	if err := errors.Join(aurora.Stop(stopPatience), aurora.Start(), g.Linked(patience(t))); err != nil {
		t.Fatal(err)
	}
	g.until(t, aurora, ids[1], held)
	edit(t, aurora, "budget_kw = 1\n", "budget_kw = 2\n")
	if got := g.at(t, aurora, "", "reload"); got.code != 0 || !strings.Contains(got.stdout, "changed        power.budget_kw") {
		t.Errorf("reload: %+v", got)
	}
	g.until(t, aurora, ids[1], running)
	writeText(t, door, "")
	for _, id := range ids {
		if job := g.until(t, aurora, id, ended); job.State != protocol.Completed {
			t.Errorf("got %+v", job)
		}
	}
}
