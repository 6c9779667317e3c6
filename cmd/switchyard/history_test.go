package main

import (
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// pastJobs are jobs that have ended, the last first.
func pastJobs() []view.Job {
	const start = 1_800_000_000_000 // 2027-01-15 08:00:00Z
	bill := func(cost protocol.Micro, currency string) *view.Bill {
		return &view.Bill{Cost: cost, Currency: currency}
	}
	return []view.Job{
		{
			ID: someID + 3, Name: "guest", User: "ann", Guest: true, Origin: "borealis", Site: "aurora", State: protocol.Completed, CPUs: 4,
			Submitted: start, Started: start, Ended: start + 7_200_000, Ran: protocol.Hour, Bill: bill(2*protocol.Unit, "CHF"),
		},
		{
			ID: someID + 2, Name: "mesh, a", User: "ann", Association: protocol.Association{Account: "Phys"}, Origin: "aurora", Site: "borealis",
			State: protocol.Failed, ExitCode: 3, CPUs: 2, Nodes: 1, Submitted: start - 5000, Started: start, Ended: start + 3_600_000, Ran: 30 * protocol.Minute,
			Usage: protocol.Usage{CPU: 20 * protocol.Minute, MemoryMB: 512, Energy: 7_200_000}, Bill: bill(protocol.Unit/2, "EUR"), Epoch: 2, WallTime: protocol.Hour,
		},
		{
			ID: someID + 1, Name: "solve", User: "bob", Origin: "aurora", Site: "aurora", State: protocol.Completed, CPUs: 8,
			Submitted: start, Started: start, Ended: start + 60_000, Ran: protocol.Minute, Energy: &view.JobEnergy{Used: 3_600_000},
		},
		{ID: someID, Name: "never", User: "ann", Origin: "aurora", State: protocol.Cancelled, Signal: 9, CPUs: 1, Ended: start - 1},
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	n := &fakeNode{past: pastJobs()}
	socket := serve(t, n)
	clock := func(at string) string {
		t.Helper()
		instant, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		return instant.Local().Format("2006-01-02 15:04:05")
	}
	got := command(t, socket, "", "history")
	for _, want := range []string{
		"JOBID  NAME     USER  ACCOUNT  SITE      STATE      EXIT  CPUS  STARTED              ENDED                    RAN    BILLED\n",
		"1000000000044  mesh, a  ann   Phys     borealis  FAILED      3:0     2  " + clock("2027-01-15T08:00:00Z") + "  " + clock("2027-01-15T09:00:00Z") + "  0:30:00  0.50 EUR\n",
		"1000000000042  never  ann  -  -  CANCELLED  0:9  1  -  " + clock("2027-01-15T07:59:59Z") + "  0:00:00  -\n",
	} {
		if !strings.Contains(squeezed(got.stdout), squeezed(want)) {
			t.Errorf("no %q in\n%s%s", want, got.stdout, got.stderr)
		}
	}
	if strings.Contains(got.stdout, "guest") || strings.Count(got.stdout, "JOBID") != 1 {
		t.Errorf("got\n%s", got.stdout)
	}
	if got = command(t, socket, "", "history", "--guests", "--no-header"); squeezed(got.stdout) != squeezed(
		"1000000000045 guest ann - borealis aurora COMPLETED 0:0 4 "+clock("2027-01-15T08:00:00Z")+" "+clock("2027-01-15T10:00:00Z")+" 1:00:00 2.00 CHF\n") {
		t.Errorf("guests:\n%s", got.stdout)
	}
	if got = command(t, socket, "", "history", "--limit=1", "--json-lines"); strings.Count(got.stdout, "\n") != 1 || !strings.Contains(got.stdout, `"id":1000000000044`) {
		t.Errorf("one line: %s%s", got.stdout, got.stderr)
	}
	var all view.History
	if got = command(t, socket, "", "history", "--json"); json.Unmarshal([]byte(got.stdout), &all) != nil || len(all.Jobs) != 3 {
		t.Errorf("JSON: %s%s", got.stdout, got.stderr)
	}
	records, err := csv.NewReader(strings.NewReader(command(t, socket, "", "history", "--csv").stdout)).ReadAll()
	if err != nil || len(records) != 4 {
		t.Fatalf("CSV: %v, %v", records, err)
	}
	job := map[string]string{}
	for i, title := range records[0] {
		job[title] = records[1][i]
	}
	for title, want := range map[string]string{
		"job": "1000000000044", "name": "mesh, a", "ended": "2027-01-15T09:00:00Z", "ran_ms": "1800000", "cpu_ms": "3600000", "used_cpu_ms": "1200000",
		"used_memory_mb": "512", "energy_mj": "7200000", "cost_micro": "500000", "currency": "EUR", "epoch": "2", "exit_code": "3", "time_limit_ms": "3600000",
	} {
		if job[title] != want {
			t.Errorf("CSV: %s is %q, want %q", title, job[title], want)
		}
	}
	if got = command(t, serve(t, &fakeNode{}), "", "history"); got.code != 0 || !strings.HasPrefix(strings.TrimSpace(got.stdout), "JOBID") {
		t.Errorf("of no jobs: %+v", got)
	}
}

// squeezed has one blank for several.
func squeezed(text string) string {
	for strings.Contains(text, "  ") {
		text = strings.ReplaceAll(text, "  ", " ")
	}
	return strings.TrimLeft(text, " ")
}

// TestHistoryAsks: every option becomes a condition, by the names of sacct too, and what cannot be meant is refused.
func TestHistoryAsks(t *testing.T) {
	t.Parallel()
	n := &fakeNode{}
	socket := serve(t, n)
	got := command(t, socket, "", "history", "-u", "ada,bob", "--accounts=phys", "--name=x", "-j", someID.String(), "--state=F,TO,OOM", "-w", "borealis,-",
		"--origin=north", "--starttime=2026-11-01T00:00:00", "-E", "uts1796083200")
	if got.code != 0 {
		t.Fatal(got)
	}
	want := view.HistoryFilter{
		Users: []string{"ada", "bob"}, Accounts: []string{"phys"}, Names: []string{"x"}, Jobs: []protocol.JobID{someID}, Sites: []protocol.SiteName{"borealis", ""},
		Origins: []protocol.SiteName{"north"}, States: []protocol.State{protocol.Failed, protocol.Timeout},
		Since: protocol.InstantOf(time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local)), Until: 1_796_083_200_000, Guests: view.WithoutGuests,
	}
	n.asking = n.asking[:1] // then it asks whether jobs were deleted
	if !reflect.DeepEqual(n.asking, []view.HistoryFilter{want}) {
		t.Errorf("asked %+v\nwant  %+v", n.asking, want)
	}
	if got = command(t, socket, "", "history", "-u", "0,ann", "-S", "1969-01-01"); got.code != 0 || !reflect.DeepEqual(n.asking[1], view.HistoryFilter{Users: []string{"root", "ann"}, Since: 1, Guests: view.WithoutGuests}) {
		t.Errorf("by user ID, since before 1970: %+v, %+v", got, n.asking)
	}
	n.asking = n.asking[:1]
	if got = command(t, socket, "", "history", "-s", "OOM"); got.code != 0 || len(n.asking) != 1 {
		t.Errorf("a state that no job has: %+v, %d questions", got, len(n.asking))
	}
	for line, want := range map[string]string{
		"history mesh":         `the run history of components is "switchyard runs mesh" now`,
		"history --all":        `renamed to "switchyard runs --all"`,
		"history --since=soon": `--since: "soon" is not an instant`,
		"history --since=2026-11-02 --until=2026-11-01": "is not after --since",
		"history --states=running":                      "no job ends as RUNNING",
		"history -u 4123456789":                         "no user of this machine has the ID 4123456789",
		"history --states=":                             "--states: empty value",
		"history --csv --json":                          "mutually exclusive",
		"history --json-lines --json":                   "mutually exclusive",
		"history --limit=-1":                            "invalid --limit=-1",
		"usage --by=colour":                             `jobs cannot be added up by "colour"; use user, account,`,
		"usage --by=user,user":                          "user is named twice",
		"usage --json --csv":                            "mutually exclusive",
	} {
		if got := command(t, socket, "", strings.Fields(line)...); got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit code %d, %q; want %q", line, got.code, got.stderr, want)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	socket := serve(t, &fakeNode{past: pastJobs()})
	for line, want := range map[string]string{
		"usage": "USER  JOBS  CPU HOURS  USED   ENERGY    BILLED\n" +
			"ann      1       0.00  0.00        -         -\n" +
			"ann      1       1.00  0.33  0.00200 kWh  0.50 EUR\n" +
			"bob      1       0.13  0.00  0.00100 kWh  -\n",
		"usage --by=none --guests --no-header": "   1  4.00  0.00  -  2.00 CHF\n",
		"usage --by=account,month,state --csv": "account,month,state,jobs,cpu_ms,used_cpu_ms,energy_mj,cost_micro,currency\n" +
			",2027-01,CANCELLED,1,0,0,0,0,\n,2027-01,COMPLETED,1,480000,0,3600000,0,\nphys,2027-01,FAILED,1,3600000,1200000,7200000,500000,EUR\n",
	} {
		if got := command(t, socket, "", strings.Fields(line)...); squeezed(got.stdout) != squeezed(want) || got.code != 0 {
			t.Errorf("%s:\n%s%s", line, got.stdout, got.stderr)
		}
	}
	var known view.Usage
	got := command(t, socket, "", "usage", "--by=site", "--json", "-u", "bob")
	if err := json.Unmarshal([]byte(got.stdout), &known); err != nil || len(known.Lines) != 1 || known.Lines[0].Site != "aurora" || known.Lines[0].CPUTime != 8*protocol.Minute {
		t.Errorf("JSON: %v\n%s", err, got.stdout)
	}
}

// TestCSVHasNoFormulas: a text that a spreadsheet would compute is marked as a text, and a number below 0 stays one.
func TestCSVHasNoFormulas(t *testing.T) {
	t.Parallel()
	job := view.Job{
		ID: someID, Name: "=HYPERLINK(\"http://x\")", User: "ann", Comment: "\t=1+1", Reason: "-1+1", WorkDir: "/a=b", State: protocol.Failed, Signal: 9,
		Association: protocol.Association{Account: "@sum", Partition: "+1"}, Origin: "aurora", Ended: 1, Bill: &view.Bill{Cost: -5, Currency: "EUR"},
	}
	socket := serve(t, &fakeNode{past: []view.Job{job}})
	read := func(args ...string) map[string]string {
		records, err := csv.NewReader(strings.NewReader(command(t, socket, "", args...).stdout)).ReadAll()
		if err != nil || len(records) != 2 {
			t.Fatalf("%v, %v", records, err)
		}
		cells := map[string]string{}
		for i, title := range records[0] {
			cells[title] = records[1][i]
		}
		return cells
	}
	past, sums := read("history", "--csv"), read("usage", "--csv", "--by=account,user")
	for _, c := range []struct{ got, want string }{
		{past["name"], `'=HYPERLINK("http://x")`},
		{past["comment"], `'\u0009=1+1`},
		{past["reason"], "'-1+1"},
		{past["account"], "'@sum"},
		{past["partition"], "'+1"},
		{past["work_dir"], "/a=b"},
		{past["user"], "ann"},
		{past["cost_micro"], "-5"},
		{sums["account"], "'@sum"},
		{sums["user"], "ann"},
		{sums["cost_micro"], "-5"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestDeletedJobsAreMissed: what is asked of a period of which the retention has deleted jobs is said to be incomplete.
func TestDeletedJobsAreMissed(t *testing.T) {
	t.Parallel()
	socket := serve(t, &fakeNode{past: pastJobs(), pruned: 1_700_000_000_000}) // 2023-11-14
	for line, missing := range map[string]bool{
		"history -S 2023-11-01": true, "history -S 2023-12-01": false, "usage -S 2023-11-01": true, "usage -S 2023-12-01": false,
		"history": false, "history -S 2023-11-01 --json": true, "usage -S 2023-11-01 --json": true, "usage --json": false,
	} {
		got := command(t, socket, "", strings.Fields(line)...)
		if strings.Contains(got.stderr, "incomplete: [retention] has deleted jobs that ended until 2023-11-1") != missing || got.code != 0 {
			t.Errorf("%s: %+v", line, got)
		}
		if asked := strings.Contains(line, "--json"); strings.Contains(got.stdout, `"pruned_ms": 1700000000000`) != asked {
			t.Errorf("%s: %s", line, got.stdout)
		}
	}
}
