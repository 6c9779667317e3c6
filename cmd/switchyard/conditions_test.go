package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestConditionsOverSites: jobs of three origins, most of which run at other sites, depend on each other. The peer of one is killed
// while the job for which they all wait ends, and a job that runs is requeued: none starts before what it waits for, and each runs
// once.
func TestConditionsOverSites(t *testing.T) {
	g := startPatientGrid(t, testbed.Machine{Name: "aurora", CPUs: 4}, testbed.Machine{Name: "borealis", CPUs: 4}, testbed.Machine{Name: "cygnus", CPUs: 4})
	c := conditions{grid: g, times: filepath.Join(g.work, "times")}
	aurora, borealis, cygnus := g.Sites[0], g.Sites[1], g.Sites[2]

	first := c.submit(t, aurora, "first", c.door("first"), "--sites=borealis")
	fails := c.submit(t, borealis, "fails", "exit 3", "--sites=aurora", "-d", "afterany:"+first)
	ok := c.submit(t, borealis, "ok", "", "--sites=cygnus", "-d", "afterok:"+first)
	onFailure := c.submit(t, cygnus, "onFailure", "", "--sites=borealis", "-d", "afternotok:"+fails)
	both := c.submit(t, cygnus, "both", "", "-d", "afterok:"+ok+",afternotok:"+fails)
	either := c.submit(t, aurora, "either", "", "--sites=cygnus", "-d", "afterok:"+fails+"?afterany:"+onFailure)
	never := c.submit(t, cygnus, "never", "", "-d", "afternotok:"+first, "--kill-on-invalid-dep=yes")
	waits := c.submit(t, aurora, "waits", "", "-d", "afterok:"+fails)
	last := c.submit(t, borealis, "last", "", "-d", "afterany:"+never+":"+both+":"+either)

	again := c.submit(t, borealis, "again", c.door("again"), "--sites=cygnus", "--requeue")
	behind := c.submit(t, aurora, "behind", "", "--sites=borealis", "-d", "afterok:"+again)

	array := c.submit(t, cygnus, "array", `[ $SLURM_ARRAY_TASK_ID != 2 ] || exit 1`, "--array=1-3", "--sites=aurora", "-d", "afterany:"+first)
	follows := c.submit(t, cygnus, "follows", "", "--array=1-3", "--sites=borealis", "-d", "aftercorr:"+array, "--kill-on-invalid-dep=yes")
	whole := c.submit(t, borealis, "whole", "", "-d", "afternotok:"+array)

	// Arrays of two origins whose elements correspond: the one that waits is of the site that is killed, and the other way round.
	far := c.submit(t, borealis, "far", c.door("far")+`; [ $SLURM_ARRAY_TASK_ID != 2 ] || exit 1`, "--array=1-3%2", "--sites=borealis")
	near := c.submit(t, aurora, "near", "", "--array=1-4", "--sites=cygnus", "-d", "aftercorr:"+far, "--kill-on-invalid-dep=yes")
	middle := c.submit(t, aurora, "middle", c.door("middle"), "--array=1-2%1", "--sites=cygnus")
	echo := c.submit(t, borealis, "echo", "", "--array=1-2", "--sites=aurora", "-d", "aftercorr:"+middle)

	one := c.submit(t, aurora, "single", c.door("single"), "-J", "alone", "--sites=cygnus")
	two := c.submit(t, aurora, "second", "", "-J", "alone", "--sites=borealis", "-d", "singleton")

	// The start of a job that runs at another site than its origin.
	c.until(t, aurora, first, running)
	started := c.submit(t, cygnus, "started", "", "--sites=aurora", "-d", "after:"+first)
	late := c.submit(t, cygnus, "late", "", "-d", "after:"+first+"+1")
	c.until(t, cygnus, started, ended)

	// Jobs of two origins that wait for each other.
	left := c.submit(t, borealis, "left", "", "-d", "afterany:"+late)
	right := c.submit(t, aurora, "right", "", "-d", "afterany:"+left)
	wantWords(t, g.at(t, borealis, "", "update", "-d", "afterany:"+right, left), 0, "")
	c.waiting(t, borealis, left, right)
	c.waiting(t, aurora, right, left)
	wantWords(t, g.at(t, borealis, "", "update", "-d", "", left), 0, "")

	// Another run of a job for which one of another origin waits.
	c.until(t, borealis, again, running)
	c.began(t, "again")
	wantWords(t, g.at(t, borealis, "", "requeue", again), 0, "")
	c.until(t, borealis, again, func(job view.Job) bool { return job.Restarts == 1 && running(job) })
	c.began(t, "again.1")
	c.waiting(t, aurora, behind, again)
	c.open(t, "again")
	c.until(t, aurora, one, running)
	c.waiting(t, aurora, two, "singleton")
	c.open(t, "single")

	c.until(t, aurora, near+"_4", ended)
	c.waiting(t, aurora, near, far)
	c.waiting(t, borealis, echo, middle)
	c.until(t, aurora, middle+"_1", running)

	// The job on which the others depend ends while its origin is down.
	if err := aurora.Kill(); err != nil {
		t.Error(err)
	}
	c.open(t, "first")
	c.ended(t, "first")
	c.open(t, "far")
	c.open(t, "middle")
	for _, name := range []string{"far.1", "far.2", "far.3", "middle.1"} {
		c.ended(t, name)
	}
	c.waiting(t, borealis, echo, middle)
	for id, site := range map[string]*testbed.Site{ok: borealis, fails: borealis, never: cygnus, array: cygnus} {
		c.waiting(t, site, id, first)
	}
	if err := aurora.Start(); err != nil {
		t.Error(err)
	}
	if err := g.Linked(patience(t)); err != nil {
		t.Error(err)
	}

	for site, jobs := range map[*testbed.Site]map[string]protocol.State{
		aurora: {
			first: protocol.Completed, either: protocol.Completed, behind: protocol.Completed, right: protocol.Completed, one: protocol.Completed, two: protocol.Completed,
			near + "_1": protocol.Completed, near + "_2": protocol.Cancelled, near + "_3": protocol.Completed, near + "_4": protocol.Cancelled,
			middle + "_1": protocol.Completed, middle + "_2": protocol.Completed,
		},
		borealis: {
			far + "_1": protocol.Completed, far + "_2": protocol.Failed, far + "_3": protocol.Completed, echo + "_1": protocol.Completed, echo + "_2": protocol.Completed,
			fails: protocol.Failed, ok: protocol.Completed, again: protocol.Completed, whole: protocol.Completed, last: protocol.Completed,
		},
		cygnus: {
			onFailure: protocol.Completed, both: protocol.Completed, never: protocol.Cancelled, started: protocol.Completed,
			array + "_1": protocol.Completed, array + "_2": protocol.Failed, array + "_3": protocol.Completed,
			follows + "_1": protocol.Completed, follows + "_2": protocol.Cancelled, follows + "_3": protocol.Completed,
		},
	} {
		for id, state := range jobs {
			if job := c.until(t, site, id, ended); job.State != state {
				t.Errorf("%s (%s) ended as %v (%s), want %v", id, job.Name, job.State, job.Reason, state)
			}
		}
	}
	c.until(t, aurora, waits, func(job view.Job) bool { return strings.HasPrefix(job.Reason, view.ReasonDependencyNever+" (") })
	wantWords(t, g.at(t, aurora, "", "cancel", waits), 0, "")

	c.order(t)
	c.history(t, first, ok, both, last)
	c.history(t, first, fails, onFailure, either, last)
	c.lateStart(t, cygnus, late)
}

// conditions are jobs that write down when they begin and end.
type conditions struct {
	*grid

	times string // the file: for each a line with a name, what of it, and an instant in ns
}

// door is a command that waits until a file is there.
func (c *conditions) door(name string) string {
	return "while [ ! -e " + filepath.Join(c.work, name) + ".door ]; do sleep 0.05; done"
}

func (c *conditions) open(t *testing.T, name string) {
	t.Helper()
	writeText(t, filepath.Join(c.work, name)+".door", "")
}

// submit submits a job of one CPU that runs a command between its lines.
func (c *conditions) submit(t *testing.T, site *testbed.Site, name, command string, args ...string) string {
	t.Helper()
	script := fmt.Sprintf(`#!/bin/sh
name=%s
[ -z "$SLURM_ARRAY_TASK_ID" ] || name=$name.$SLURM_ARRAY_TASK_ID
[ "${SLURM_RESTART_COUNT:-0}" = 0 ] || name=$name.$SLURM_RESTART_COUNT
now() { echo $name $1 $(date +%%s%%N) >> %s; }
now begin
trap 'now end' EXIT
%s
`, name, c.times, command)
	return c.grid.submit(t, site, script, append([]string{"-J", name, "--time=10"}, args...)...).String()
}

// until is as that of the grid, for a job by its name.
func (c *conditions) until(t *testing.T, site *testbed.Site, id string, wanted func(view.Job) bool) view.Job {
	t.Helper()
	name, err := protocol.ParseJobName(id)
	if err != nil {
		t.Fatal(err)
	}
	job, _ := name.ID()
	return c.grid.until(t, site, job, wanted)
}

// instants are what the jobs have written, by name and what.
func (c *conditions) instants(t *testing.T) map[string]int64 {
	t.Helper()
	text, err := os.ReadFile(c.times)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	at := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			break // it is being written
		}
		ns, err := strconv.ParseInt(words[2], 10, 64)
		key := words[0] + " " + words[1]
		if err != nil || at[key] != 0 {
			t.Fatalf("%q: %v; a job has run twice, or this is no instant", line, err)
		}
		at[key] = ns
	}
	return at
}

// began waits until a job has written that it has begun.
func (c *conditions) began(t *testing.T, name string) { t.Helper(); c.written(t, name+" begin") }

func (c *conditions) ended(t *testing.T, name string) { t.Helper(); c.written(t, name+" end") }

func (c *conditions) written(t *testing.T, key string) {
	t.Helper()
	ctx := patience(t)
	for c.instants(t)[key] == 0 {
		if ctx.Err() != nil {
			t.Fatalf("%s: never", key)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// waiting expects a job to wait for another one, as queue and explain say.
func (c *conditions) waiting(t *testing.T, site *testbed.Site, id, awaited string) {
	t.Helper()
	got := c.at(t, site, "", "queue", "-j", id, "--format=%T %r %E")
	if !strings.Contains(got.stdout, "PENDING "+view.ReasonDependency+" ") || !strings.Contains(got.stdout, awaited) {
		t.Errorf("%s does not wait for %s: %+v", id, awaited, got)
	}
	wantWords(t, c.at(t, site, "", "explain", id), 0, view.ReasonDependency, awaited)
}

// order expects each job to have begun after what it waits for, and none that must not to have run.
func (c *conditions) order(t *testing.T) {
	t.Helper()
	at := c.instants(t)
	for later, earlier := range map[string][]string{
		"fails begin": {"first end"}, "ok begin": {"first end"}, "array.1 begin": {"first end"}, "array.2 begin": {"first end"}, "array.3 begin": {"first end"},
		"started begin": {"first begin"}, "first end": {"started end"}, "onFailure begin": {"fails end"}, "both begin": {"ok end", "fails end"},
		"either begin": {"onFailure end"}, "behind begin": {"again.1 end"}, "again.1 begin": {"again begin"}, "second begin": {"single end"},
		"follows.1 begin": {"array.1 end"}, "follows.3 begin": {"array.3 end"}, "whole begin": {"array.1 end", "array.2 end", "array.3 end"},
		"last begin": {"both end", "either end"}, "right begin": {"left end"},
		"near.1 begin": {"far.1 end"}, "near.3 begin": {"far.3 end"}, "echo.1 begin": {"middle.1 end"}, "echo.2 begin": {"middle.2 end"},
	} {
		for _, one := range earlier {
			if at[one] == 0 || at[later] < at[one] {
				t.Errorf("%s at %d, %s at %d", one, at[one], later, at[later])
			}
		}
	}
	for _, name := range []string{"never", "waits", "follows.2", "near.2", "near.4"} {
		if at[name+" begin"] != 0 {
			t.Errorf("%s has run", name)
		}
	}
}

// history expects jobs, each at its own origin, in this order in history and in sacct.
func (c *conditions) history(t *testing.T, ids ...string) {
	t.Helper()
	var before view.Job
	end := ""
	for _, id := range ids {
		job, err := protocol.ParseJobID(id)
		if err != nil {
			t.Fatal(err)
		}
		site := c.Sites[job.Origin()-1]
		past := c.past(t, site, "-j", id)
		out, code := c.slurmLine(t, site, "sacct -n -X -P -o start,end -j "+id)
		times := strings.Split(strings.TrimSpace(out), "|")
		if len(past) != 1 || code != 0 || len(times) != 2 {
			t.Errorf("%s: history %+v, sacct %q", id, past, out)
			continue
		}
		if past[0].Started < before.Ended || times[0] < end {
			t.Errorf("%s started at %v, %s by sacct, and %s had ended at %v, %s", id, past[0].Started, times[0], before.Name, before.Ended, end)
		}
		before, end = past[0], times[1]
	}
}

// lateStart expects a job not to have started within a minute of the start of the first one. The test does not last that long on a
// machine that is not busy.
func (c *conditions) lateStart(t *testing.T, site *testbed.Site, id string) {
	t.Helper()
	cancelled := c.at(t, site, "", "cancel", id)
	job := c.until(t, site, id, ended)
	at := c.instants(t)
	begin, ran := at["late begin"]
	switch {
	case ran && begin < at["first begin"]+int64(time.Minute):
		t.Errorf("it has begun %v after the other one", time.Duration(begin-at["first begin"]))
	case !ran && (cancelled.code != 0 || job.State != protocol.Cancelled):
		t.Errorf("it has not begun: %+v, %+v", cancelled, job)
	}
}
