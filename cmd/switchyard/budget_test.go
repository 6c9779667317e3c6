package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/localsched/changefeed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Without an id, status tells how the site is; the power only where there is a budget.
func TestStatusOfTheSite(t *testing.T) {
	t.Parallel()
	until := protocol.InstantOf(time.Date(2026, 11, 21, 23, 0, 0, 0, time.Local))
	for want, reported := range map[string]*api.Power{
		"": nil,
		"Power      the running jobs draw 1.2 kW; a budget of 3 kW\n":                                                      {Draw: 1_200_000, Budget: new(int64(3_000_000))},
		"Power      the running jobs draw 0 W; no budget until 2026-11-21 23:00:00, then a budget of 3 kW\n":               {Until: until, Next: new(int64(3_000_000))},
		"Power      the running jobs draw 0 W; a budget of 0 W until 2026-11-21 23:00:00, then a budget of 3 kW\n":         {Budget: new(int64(0)), Until: until, Next: new(int64(3_000_000))},
		"Power      the running jobs draw 90 W; a budget of 0.5 W until 2026-11-21 23:00:00, then no budget\n":             {Draw: 90_000, Budget: new(int64(500)), Until: until},
		"Power      the running jobs draw 0 W, 8 kW are reserved for jobs pending in the batch system; a budget of 3 kW\n": {Pending: 8_000_000, Budget: new(int64(3_000_000))},
		"Power      the running jobs draw 1 W; a budget of 2 W until 2026-11-21 23:00:00, then a budget of 1.5 MW\n":       {Draw: 1000, Budget: new(int64(2000)), Until: until, Next: new(int64(1_500_000_000))},
	} {
		socket := serve(t, &fakeNode{power: reported})
		got := command(t, socket, "", "status")
		_, rest, found := strings.Cut(got.stdout, "Rules      initiation sender, policy tc, local queue easy\n")
		if got.code != 0 || !found || rest != want || !strings.HasPrefix(got.stdout, "Site       aurora (number 1)\nPeer ") {
			t.Errorf("got %+v, want %q", got, want)
		}
		var info api.Info
		got = command(t, socket, "", "status", "--json")
		if err := json.Unmarshal([]byte(got.stdout), &info); err != nil || !reflect.DeepEqual(info.Power, reported) {
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

// Alarms stand in status, in sites, and in the JSON of both. The end of the roster stands in sites once, with this site.
func TestAlarmsAreShown(t *testing.T) {
	t.Parallel()
	const alarm, roster = "power budget: [power.series]: closed", "roster 5 ends 2026-12-01"
	socket := serve(t, &fakeNode{alarms: []string{alarm}, roster: roster, replyF: always(view.Sites{Sites: []view.Site{
		{Site: "aurora", Self: true, Link: "self"}, {Site: "borealis", Link: "up"},
	}}, nil)})
	if got := command(t, socket, "", "status"); got.code != 0 || !strings.Contains(got.stdout, "\nAlarm      "+alarm+"\n") {
		t.Errorf("status: %+v", got)
	}
	if got := command(t, socket, "", "sites"); got.code != 0 || strings.Count(got.stdout, "ALARM: "+alarm+"; "+roster+"; ") != 1 || strings.Count(got.stdout, roster) != 1 {
		t.Errorf("sites: %+v", got)
	}
	for _, args := range [][]string{{"status", "--json"}, {"sites", "--json"}} {
		var info api.Info
		got := command(t, socket, "", args...)
		if err := json.Unmarshal([]byte(got.stdout), &info); err != nil || fmt.Sprint(info.Alarms) != "["+alarm+"]" || info.Roster != roster {
			t.Errorf("%v: %+v, %v", args, got, err)
		}
	}
}

// "config check" looks at the feed that a power budget goes by, and its files.
func TestConfigCheckLooksAtTheBudgetsFeed(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), siteKey(t)
	feed := filepath.Join(dir, "feed.toml")
	writeText(t, feed, "[[file]]\npath = \"response.csv\"\nformat = \"csv\"\narea = \"response\"\ncurrency = \"XXX\"\nunit = \"MWh\"\nslot = \"1h\"\n")
	check := func(area, want string) {
		t.Helper()
		got := command(t, "", "", "config", "check", "--config", tempFile(t, "site.toml", fmt.Sprintf("[site]\nname = \"north\"\nnumber = 1\nkey = %q\n"+
			"[power]\nwatts_per_cpu = 30\n[power.series]\nfeed = \"file\"\nconfig = %q\narea = %q\n", key, feed, area)))
		if (got.code == 0) != (want == "") || !strings.Contains(got.stderr, want) {
			t.Errorf("config check: %+v, want %q", got, want)
		}
	}
	check("response", "response.csv: no such file")
	hour := time.Now().UTC().Truncate(time.Hour)
	writeText(t, filepath.Join(dir, "response.csv"), fmt.Sprintf("start,price\n%s,5\n%s,5\n", hour.Format(time.RFC3339), hour.Add(time.Hour).Format(time.RFC3339)))
	check("response", "")
	check("respond", `[power.series] area: the power budget goes by it: the feed does not know this area: "respond"; there are response`)
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
	held := func(job view.Job) bool { return job.Reason == changefeed.PowerBudget }

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

// On a machine in partitions a small job has one of 512 nodes for itself.
func TestPartitions(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 4096, LocalSched: "machine = \"bgp\"\ncpus = 4096\nkill_grace = \"1s\"\n" +
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
	if job := g.until(t, aurora, ids[2], func(view.Job) bool { return true }); job.State != protocol.Pending {
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
	held := func(job view.Job) bool { return job.Reason == changefeed.PowerBudget }
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
