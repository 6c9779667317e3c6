package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/accounting"
	"github.com/switchyard-hpc/switchyard/peer/notices"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSettlement submits jobs that run at a partner that charges for them, one of which is requeued there. Both sites list
// them, sum them up alike with all runs, and agree on a statement; one that was altered is not valid.
func TestSettlement(t *testing.T) {
	charges, received := "[cost.cpu]\nprice = 3600\n", filepath.Join(t.TempDir(), "notices")
	notify := "[notify]\ncommand = [\"/bin/sh\", \"-c\", \"cat >>'" + received + "'; echo >>'" + received + "'\"]\n"
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 2, Currency: "CHF", More: charges + notify}, testbed.Machine{Name: "borealis", CPUs: 4, Currency: "CHF", More: charges})
	aurora, borealis := g.Sites[0], g.Sites[1]
	first := g.submit(t, aurora, "#!/bin/sh\n[ -n \"$SLURM_RESTART_COUNT\" ] || exec sleep 1000\nsleep 0.2\n", "--sites=borealis", "-n", "2")
	g.until(t, aurora, first, running)
	if got := g.at(t, aurora, "", "requeue", first.String()); got.code != 0 {
		t.Fatalf("requeue: %+v", got)
	}
	second := g.submit(t, aurora, "#!/bin/sh\nexit 3\n", "--sites=borealis")
	if got := g.at(t, aurora, "", "wait", first.String(), second.String()); got.code != 3 {
		t.Fatalf("wait: %+v", got)
	}
	// The partner archives a guest when its origin has the result.
	for ctx := patience(t); len(g.past(t, borealis, "--guests", "--origin=aurora")) < 2; time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("the partner has not archived its guests")
		}
	}
	g.notified(t, received, second)
	past := g.past(t, aurora, "--since=now-1days")
	if len(past) != 2 || past[0].Site != "borealis" || past[0].Bill == nil {
		t.Fatalf("history: %+v", past)
	}
	runs := g.past(t, aurora, "--duplicates", "-j", first.String())
	if len(runs) != 2 || runs[0].Earlier || !runs[1].Earlier || runs[1].State != protocol.Cancelled || runs[1].Ran == 0 || runs[1].Bill == nil {
		t.Fatalf("history --duplicates: %+v", runs)
	}
	usage := g.at(t, aurora, "", "usage", "--by=site", "--csv", "--no-header").stdout
	if theirs := g.at(t, borealis, "", "usage", "--by=site", "--csv", "--no-header", "--guests").stdout; theirs != usage || !strings.HasPrefix(usage, "borealis,3,") {
		t.Errorf("usage: %q there, and %q here", theirs, usage)
	}

	file, countersigned := filepath.Join(g.work, "statement.json"), filepath.Join(g.work, "countersigned.json")
	month := accounting.MonthOf(past[0].Ended).String()
	g.statement(t, borealis, 0, "write", "aurora", "--month", month, "--out", file)
	got := g.statement(t, aurora, 0, "compare", file, "--countersign", countersigned, "--json")
	var settled statementJSON
	if err := json.Unmarshal([]byte(got.stdout), &settled); err != nil || len(settled.Disputes) != 0 || len(settled.Totals) != 1 || settled.Totals[0].Jobs != 3 ||
		settled.Totals[0].Cost != past[0].Bill.Cost.Plus(past[1].Bill.Cost).Plus(runs[1].Bill.Cost) || settled.Totals[0].Cost == 0 {
		t.Errorf("%v: %+v", err, got)
	}
	if got = g.statement(t, borealis, 0, "verify", countersigned); !strings.Contains(got.stdout, "Countersigned by aurora ") || strings.Contains(squeezed(got.stdout), "JOB FIELD ") {
		t.Errorf("%+v", got)
	}

	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	altered := filepath.Join(g.work, "altered.json")
	writeText(t, altered, strings.Replace(string(data), `"cpus": 2`, `"cpus": 4`, 1))
	if got = g.statement(t, aurora, 1, "compare", altered); !strings.Contains(got.stderr, "signature is not by the key of the site") {
		t.Errorf("altered: %+v", got)
	}
	g.statement(t, borealis, 1, "compare", file) // its own
	g.statement(t, aurora, exitNotFound, "write", "nobody", "--month", month)
	g.statement(t, aurora, exitUsage, "write", "borealis", "--month", "November")
	g.statement(t, aurora, exitNotFound, "verify", filepath.Join(g.work, "none.json"))
}

// notified waits until a command was notified that a job is there, and that it has failed.
func (g *grid) notified(t *testing.T, received string, id protocol.JobID) {
	t.Helper()
	for ctx := patience(t); ; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(received)
		if ctx.Err() != nil {
			t.Fatalf("the command got %q, %v", text, err)
		}
		var states []string
		for line := range strings.Lines(string(text)) {
			var notice notices.Notice
			if json.Unmarshal([]byte(line), &notice) == nil && notice.Job.ID == id {
				states = append(states, notice.Job.State.String())
			}
		}
		if len(states) > 0 && states[len(states)-1] == "FAILED" {
			if states[0] != "PENDING" {
				t.Errorf("the command was notified of %q", states)
			}
			return
		}
	}
}

// past are the jobs that history lists at a site.
func (g *grid) past(t *testing.T, site *testbed.Site, args ...string) []view.Job {
	t.Helper()
	var past view.History
	got := g.at(t, site, "", append([]string{"history", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(got.stdout), &past); err != nil || got.code != 0 {
		t.Fatalf("history: %v in %+v", err, got)
	}
	return past.Jobs
}

// statement runs a command about statements at a site, which must exit so.
func (g *grid) statement(t *testing.T, site *testbed.Site, code int, args ...string) result {
	t.Helper()
	got := g.at(t, site, "", append([]string{"statement", args[0], "--config", site.Config}, args[1:]...)...)
	if got.code != code {
		t.Fatalf("statement %q: %+v", args, got)
	}
	return got
}

// TestStatementShowsDisputes: the disputed lines are a table, and the exit code is 1.
func TestStatementShowsDisputes(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	b := books{app: &app{stdout: &out}}
	signed := accounting.Signed{Statement: accounting.Statement{By: "south", With: "north", Month: "2026-11", Lines: []accounting.Line{
		{Job: someID, Site: "south", CPUs: 2, Ran: protocol.Hour, Cost: protocol.Unit, Currency: "CHF"},
	}}}
	if err := b.print(&signed, []accounting.Dispute{{Job: someID, Field: "cost", Theirs: "2.00 CHF", Ours: hostile}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Statement of south with north for 2026-11, signed by south", "south north 1 2.00 ", " 1.00 CHF\n", "JOB FIELD south north\n", "1000000000042 cost 2.00 CHF ",
	} {
		if !strings.Contains(squeezed(out.String()), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for line := range strings.Lines(out.String()) {
		if err := protocol.CheckText(strings.TrimSuffix(line, "\n")); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}
