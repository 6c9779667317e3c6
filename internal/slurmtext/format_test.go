package slurmtext_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// instant is a Saturday.
func instant() protocol.Instant {
	return protocol.InstantOf(time.Date(2026, 11, 28, 9, 5, 7, 0, time.UTC))
}

func clock(style string) *slurmtext.Clock {
	return &slurmtext.Clock{Now: instant().Add(protocol.Hour), Zone: time.UTC, Style: style}
}

func job() *slurmtext.Job {
	awt := 2 * protocol.Hour
	return &slurmtext.Job{
		Clock: clock(""), Cluster: "north", UID: 1000, GID: 100, Group: "users",
		Job: view.Job{
			ID: 1000000000042, Name: "tides", User: "ada", State: protocol.Pending, Reason: "AllSitesDeclined (south: full)", CPUs: 4,
			WallTime: protocol.Day, Submitted: instant(), CommittedAt: instant(), QuotedAWT: &awt, Site: "south", Origin: "north",
			Stdout: "/home/ada/out-%j", Resources: []protocol.Resource{{Name: "gpu", Type: "a100", Count: 2, Per: protocol.PerNode}},
		},
	}
}

// TestFormats reads formats of squeue with all that they may have.
func TestFormats(t *testing.T) {
	t.Parallel()
	columns := slurmtext.QueueColumns()
	for format, want := range map[string]string{
		"%i %j":          "1000000000042 tides",
		"%.8j|":          "   tides|",
		"%8j|":           "tides   |",
		"%3j|%.3j":       "tid|tid",
		"x%i%%%j|":       "x1000000000042tides|",
		"%i %!x %j":      "1000000000042 %!x tides",
		"%10%":           "%10",
		"%3l|%.3l":       "1-0|1-00:00:00", // times to the right are never cut
		"%4Y|%.4Y":       "sout|south",
		"%3i|%.3i":       "1000000000042|1000000000042", // a part of an ID may be that of another job
		"":               "",
		"%R":             "(AllSitesDeclined)",
		"%b %o %a":       "gres:gpu:a100:2 (null) (null)",
		"%S":             "2026-11-28T11:05:07",
		"%e":             "2026-11-29T11:05:07",
		"%99999999999i$": "1000000000042" + strings.Repeat(" ", 1<<16-13) + "$",
	} {
		f, _ := slurmtext.ParseLetters(columns, format)
		if got := f.Line(job()); got != want {
			t.Errorf("%s: %.80q, want %.80q", format, got, want)
		}
	}
	for format, want := range map[string]string{
		"JobID:14,Name:.8":   "1000000000042    tides",
		"name":               "tides               ",
		"Name:0":             "tides",
		"StdOut:40+,nosuch:": "/home/ada/out-1000000000042             +",
		"TRES-alloc:0":       "cpu=4,node=1,billing=4,gres/gpu:a100=2",
	} {
		f, _ := slurmtext.ParseNames(columns, format)
		if got := f.Line(job()); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
	if f, _ := slurmtext.ParseLetters(columns, "%3l|%.3l|%4N|%.4N|%.3i"); f.Header() != "TIM|TIM|NODE|NODELIST|JOB" {
		t.Errorf("titles: %s", f.Header())
	}
	if _, unknown := slurmtext.ParseLetters(columns, "%i %!x%"); len(unknown) != 1 || unknown[0] != "!" {
		t.Errorf("unknown letters: %q", unknown)
	}
	if _, unknown := slurmtext.ParseNames(columns, "jobid,foo,bar:3"); strings.Join(unknown, " ") != "foo bar" {
		t.Errorf("unknown names: %q", unknown)
	}
}

// TestColumnsAreFoundOnce: no two columns of a list have one letter or one name, as the second would never be printed.
func TestColumnsAreFoundOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	once := func(list, name string) {
		if name != "" && name != "\x00" && seen[list+name] {
			t.Errorf("%s has %q twice", list, name)
		}
		seen[list+name] = true
	}
	for _, c := range slurmtext.QueueColumns() {
		once("squeue", string(c.Letter))
		once("squeue -O ", strings.ToLower(c.Name))
	}
	for _, c := range slurmtext.InfoColumns() {
		once("sinfo", string(c.Letter))
		once("sinfo -O ", strings.ToLower(c.Name))
	}
	for _, c := range slurmtext.AccountingColumns() {
		once("sacct ", strings.ToLower(c.Name))
	}
}

// TestTimes prints instants in the styles of SLURM_TIME_FORMAT, and durations.
func TestTimes(t *testing.T) {
	t.Parallel()
	for style, want := range map[string]string{
		"":              "2026-11-28T09:05:07",
		"standard":      "2026-11-28T09:05:07",
		"%s":            "1795856707",
		"%d.%m.%y %R%%": "28.11.26 09:05%",
		"%-d %b %Q %":   "28 Nov %Q %",
		"relative":      "09:05:07",
	} {
		if got := clock(style).Time(instant(), ""); got != want {
			t.Errorf("%s: %s, want %s", style, got, want)
		}
	}
	for days, want := range map[int]string{-1: "Ystday 09:05", 1: "Tomorr 09:05", 3: "Tue 09:05", 20: "18 Dec 09:05", -800: "19 Sep 2024"} {
		at := instant().Add(protocol.Duration(days) * protocol.Day)
		if got := clock("relative").Time(at, ""); got != want {
			t.Errorf("relative, %d days later: %s, want %s", days, got, want)
		}
	}
	if got := clock("").Heading(); got != "Sat Nov 28 10:05:07 2026" {
		t.Errorf("the heading is %s", got)
	}
	for span, want := range map[protocol.Duration]string{
		5 * protocol.Second: "0:05", protocol.Hour: "1:00:00", 2*protocol.Day + protocol.Minute: "2-00:01:00", -protocol.Second: "0:00",
	} {
		if got := slurmtext.Span(span); got != want {
			t.Errorf("%d ms: %s, want %s", span, got, want)
		}
	}
}

// TestAccounting fills up, marks and delimits the fields of sacct.
func TestAccounting(t *testing.T) {
	t.Parallel()
	one := &slurmtext.Record{Job: *job()}
	one.Name = "a long name"
	for format, want := range map[string]string{
		"jobid%15,jobname%5": "  1000000000042 a lo+ ",
		"jobname%-5":         "a lo+ ",
		"jobid%4":            "1000000000042 ",
		"submit%10":          "2026-11-28 ",
		"jobn":               "a long na+ ",
	} {
		f, unknown := slurmtext.ParseAccounting(format, "", false)
		if got := f.Line(one); got != want || unknown != "" {
			t.Errorf("%s: %q, want %q (%q)", format, got, want, unknown)
		}
	}
	for ending, want := range map[bool]string{true: "1000000000042|PENDING|", false: "1000000000042|PENDING"} {
		f, _ := slurmtext.ParseAccounting("jobid,state", "|", ending)
		if got := f.Line(one); got != want {
			t.Errorf("ending %v: %q, want %q", ending, got, want)
		}
	}
	if _, unknown := slurmtext.ParseAccounting("jobid,foo", "", false); unknown != "foo" {
		t.Errorf("the unknown field is %q", unknown)
	}
}

// TestSites groups sites as sinfo groups nodes.
func TestSites(t *testing.T) {
	t.Parallel()
	site := func(name protocol.SiteName, cpus, busy int, link string) *slurmtext.Node {
		return &slurmtext.Node{Site: view.Site{Site: name, CPUs: cpus, Nodes: 2, Busy: busy, Link: link}, Clock: clock("")}
	}
	nodes := []*slurmtext.Node{site("a1", 8, 0, "self"), site("a2", 16, 0, "up"), site("b", 8, 3, "up"), site("c", 8, 0, "down"), site("d", 4, 4, "up")}
	for format, want := range map[string]string{
		"%t %D %N %c":    "idle 4 a[1-2] 4+;mix 2 b 4;down* 2 c 4;alloc 2 d 2",
		"%C":             "7/29/8/44",
		"%A %F":          "4/4 4/4/2/10",
		"%P %a %l":       "grid* up infinite",
		"%T":             "idle;mixed;down*;allocated",
		"%n":             "a1;a2;b;c;d",
		"%t %2N|%.2N":    "idle a[|a[;mix b | b;down* c | c;alloc d | d",
		"%G %f %E %m %z": "(null) (null) none 0 2+:1:1",
	} {
		f, unknown := slurmtext.ParseLetters(slurmtext.InfoColumns(), format)
		var lines []string
		for _, row := range slurmtext.Group(nodes, f, false, false) {
			lines = append(lines, f.Line(row))
		}
		if got := strings.Join(lines, ";"); got != want || len(unknown) > 0 {
			t.Errorf("%s: %s, want %s (%q)", format, got, want, unknown)
		}
	}
	f, _ := slurmtext.ParseLetters(slurmtext.InfoColumns(), "%t %c")
	if rows := slurmtext.Group(nodes, f, true, false); len(rows) != 5 {
		t.Errorf("%d rows of exact values", len(rows))
	}
	rows := slurmtext.Group(nodes, f, false, false)
	slurmtext.Sort(slurmtext.InfoColumns(), rows, "-t")
	var states []string
	for _, row := range rows {
		states = append(states, row.Nodes[0].State())
	}
	if got := strings.Join(states, " "); got != "down* mixed allocated idle" {
		t.Errorf("sorted by state: %s", got)
	}
}

// TestDrainedSites prints drained sites as sinfo and scontrol print drained nodes. One that takes jobs of this site's users is
// in no such state, and has a reason all the same.
func TestDrainedSites(t *testing.T) {
	t.Parallel()
	drain := func(scope view.DrainScope) *view.Drain {
		return &view.Drain{Scope: scope, Reason: "new disks", By: "op", Since: instant()}
	}
	const by = "op|2026-11-28T09:05:07"
	for _, one := range []struct {
		site        view.Site
		line, shown string
		states      string // those of -t that it is in
	}{
		{view.Site{Link: "self", Drain: drain(view.DrainStarts)}, "drain|drained|new disks|" + by + "|0/0/8/8", "State=IDLE+DRAIN ", "drain drained"},
		{view.Site{Link: "self", Drain: drain(view.DrainStarts), Busy: 3}, "drng|draining|new disks|" + by + "|3/0/5/8", "State=MIXED+DRAIN ", "drain draining drng"},
		{view.Site{Link: "up", Drain: drain(view.DrainBoth)}, "drain|drained|new disks|" + by + "|0/0/8/8", "State=IDLE+DRAIN ", "drain drained"},
		{view.Site{Link: "down", Drain: drain(view.DrainIsolated)}, "drain*|drained*|new disks|" + by + "|0/0/8/8", "State=DOWN*+DRAIN ", "drain drained"},
		{view.Site{Link: "up", Draining: "draining: power off"}, "drain|drained|power off|Unknown|Unknown|0/0/8/8", "State=IDLE+DRAIN ", "drain drained"},
		{view.Site{Link: "up", Draining: "draining: power off", Drain: drain(view.DrainReceiving)}, "drain|drained|power off|" + by + "|0/0/8/8", "State=IDLE+DRAIN ", "drain drained"},
		{view.Site{Link: "self", Drain: drain(view.DrainGuests)}, "idle|idle|draining, takes no guests: new disks|" + by + "|0/8/0/8", "State=IDLE ", "idle"},
	} {
		one.site.Site, one.site.CPUs, one.site.Nodes = "a1", 8, 2
		node := &slurmtext.Node{Site: one.site, Clock: clock("")}
		f, _ := slurmtext.ParseLetters(slurmtext.InfoColumns(), "%t|%T|%E|%u|%H|%C")
		if got := f.Line(&slurmtext.NodeRow{Nodes: []*slurmtext.Node{node}}); got != one.line {
			t.Errorf("sinfo: %s, want %s", got, one.line)
		}
		if got := slurmtext.ShowNode(node, oneLine); !strings.Contains(got, one.shown) || !strings.Contains(got, "Reason="+node.Why()) {
			t.Errorf("scontrol: %s, want %s", got, one.shown)
		}
		var states []string
		for _, state := range []string{"drain", "drained", "draining", "drng", "idle", "mix", "down"} {
			if node.InState(state) {
				states = append(states, state)
			}
		}
		if got := strings.Join(states, " "); got != one.states || !node.HasReason() {
			t.Errorf("%s: in the states %s, want %s; listed with a reason: %t", one.line, got, one.states, node.HasReason())
		}
		if flags, _ := node.JSON()["state_flags"].([]string); slices.Contains(flags, "DRAIN") != strings.Contains(one.states, "drain") {
			t.Errorf("%s: JSON has the flags %q", one.line, flags)
		}
	}
}

// TestNodesOfASite:: no format of any list fails, and its lines are as many as its rows.
func FuzzFormats(f *testing.F) {
	for _, format := range []string{"%i %.18j", "%all", "%", "%%", "jobid:8,name:.10+", "all", "jobid%-10,%5", "%.", "%9", "é%é", ":,%:"} {
		f.Add(format)
	}
	one := &slurmtext.Record{Job: *job()}
	f.Fuzz(func(t *testing.T, format string) {
		columns := slurmtext.QueueColumns()
		letters, _ := slurmtext.ParseLetters(columns, format)
		names, _ := slurmtext.ParseNames(columns, format)
		accounting, _ := slurmtext.ParseAccounting(format, "", false)
		for _, line := range []string{letters.Line(&one.Job), names.Line(&one.Job), accounting.Line(one)} {
			if strings.Contains(line, "\n") && !strings.Contains(format, "\n") {
				t.Fatalf("%q prints several lines: %q", format, line)
			}
		}
		slurmtext.Sort(columns, []*slurmtext.Job{&one.Job, job()}, format)
	})
}

// TestNodesOfASite: the record of a site has the CPUs and the memory of all its nodes.
func TestNodesOfASite(t *testing.T) {
	t.Parallel()
	clock := &slurmtext.Clock{Zone: time.UTC}
	var site view.Site
	site.Site, site.Link, site.CPUs, site.Nodes, site.MemoryMB = "a1", "self", 64, 4, 2000
	node := slurmtext.Node{Site: site, Clock: clock}
	for _, want := range []string{" CPUTot=64 ", "RealMemory=8000 ", "CfgTRES=cpu=64,mem=8000M,billing=64"} {
		if text := slurmtext.ShowNode(&node, slurmtext.RecordStyle{OneLine: true}); !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if memory := node.JSON()["real_memory"]; memory != int64(8000) {
		t.Errorf("in JSON: %v", memory)
	}
}
