package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// unlimited is no budget, in watts.
const unlimited = math.MaxInt64

// powerRun is the time for which a job ran, by what its script has noted, and what it drew meanwhile.
// Its true end is not before until: a script that is killed notes no end.
type powerRun struct {
	name        string
	watts       int64
	from, until time.Time
}

// powerRule is a budget that is told from one time on and must be kept from a later one on. Until then
// the one before it may still be the rule.
type powerRule struct {
	reported, kept time.Time
	watts          int64
}

// allowed is the most that a job which starts at a time may take the running ones to. The rules are
// in the order of time, and the first one is told before all.
func allowed(rules []powerRule, at time.Time) int64 {
	next, _ := slices.BinarySearchFunc(rules, at, func(r powerRule, at time.Time) int {
		if r.reported.After(at) {
			return 1
		}
		return -1
	})
	now := rules[next-1]
	if next > 1 && at.Before(now.kept) {
		return max(now.watts, rules[next-2].watts)
	}
	return now.watts
}

// excesses are the starts that took the running jobs beyond the budget. What runs when a budget
// begins or falls may run on; it counts, but is none.
func excesses(runs []powerRun, rules []powerRule) (wrong []string) {
	slices.SortFunc(runs, func(a, b powerRun) int { return a.from.Compare(b.from) })
	for i, one := range runs {
		drawn := int64(0)
		for _, other := range runs[:i+1] {
			if !other.until.Before(one.from) {
				drawn += other.watts
			}
		}
		if limit := allowed(rules, one.from); drawn > limit {
			wrong = append(wrong, fmt.Sprintf("%s started at %s, when all drew %d W and the budget was %d W",
				one.name, one.from.Format(time.StampMilli), drawn, limit))
		}
	}
	return wrong
}

// What a job that notes when it runs writes: "start", lines with nothing more than a time, and "end".
const (
	noteStart = "start"
	noteEnd   = "end"
)

// runNotes are what the runs of a job have noted.
type runNotes struct {
	starts, ends int
	from, until  time.Time
}

// readNotes reads them. No file is no run.
func readNotes(path string) (n runNotes, err error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return n, nil
	}
	for line := range strings.Lines(string(text)) {
		what, stamp, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		seconds, wrong := strconv.ParseFloat(stamp, 64)
		if wrong != nil {
			return n, fmt.Errorf("%s: the line %q: %w", path, line, wrong)
		}
		n.until = time.UnixMicro(int64(seconds * 1e6))
		switch what {
		case noteStart:
			n.starts++
			n.from = n.until
		case noteEnd:
			n.ends++
		}
	}
	return n, err
}

// dayScript is a job that notes when it runs, in a file, so many times in a row. It starts no other
// process for that.
const dayScript = `#!/bin/bash
#SBATCH --job-name=%[1]s --ntasks=%[2]d --time=1 --output=/dev/null
#SWITCHYARD --power-share=%[3]d%%
LC_ALL=C
exec 8>>'%[4]s' 9<> <(:)
printf '` + noteStart + ` %%s\n' "$EPOCHREALTIME" >&8
for ((i = 0; i < %[5]d; i++)); do
	read -r -t 0.25 -u 9
	printf 'still %%s\n' "$EPOCHREALTIME" >&8
done
printf '` + noteEnd + ` %%s\n' "$EPOCHREALTIME" >&8
`

// makeTasks makes the jobs of the day, of which some work at half of their power.
func (d *powerDay) makeTasks() {
	for i := range dayJobs {
		cpus, share, beats := 1+d.rng.IntN(4), 50*(1+d.rng.IntN(2)), 4+d.rng.IntN(10)
		name := fmt.Sprintf("day-%02d", i+1)
		d.tasks = append(d.tasks, testbed.Task{
			Name: name, CPUs: cpus, Script: fmt.Sprintf(dayScript, name, cpus, share, d.notes(name), beats),
		})
		d.draws = append(d.draws, int64(1000*cpus*share/100))
	}
}

// notes is the file in which a job notes when it runs.
func (d *powerDay) notes(name string) string { return filepath.Join(d.work, name+".notes") }

// aside is what is allowed for hearing of a budget, beyond the poll of the peer: the time in which
// what waits in Slurm's queue is taken back, and a job that has just started has noted it. Machines
// that are busy take longer for everything.
func (d *powerDay) aside(ctx context.Context) time.Duration {
	slowest := time.Duration(0)
	for range 5 {
		began := time.Now()
		if err := exec.CommandContext(ctx, "sh", "-c", ":").Run(); err != nil {
			d.t.Error(err)
		}
		slowest = max(slowest, time.Since(began))
	}
	return time.Second + 20*slowest
}

// check waits until all jobs have ended, and looks at what they have noted.
func (d *powerDay) check(ctx context.Context, ids []protocol.JobID) {
	d.t.Helper()
	var ran []powerRun
	lost, limited := 0, 0
	for i, task := range d.tasks {
		if ids[i] == 0 {
			continue // which was told
		}
		job := d.outlasts(ctx, d.t, d.site, ids[i])
		n, err := readNotes(d.notes(task.Name))
		switch {
		case err != nil:
			d.t.Error(err)
		case job.State == protocol.NodeFail && n.starts <= 1: // Slurm forgot it after its start, and killed it
			lost++
		case job.State != protocol.Completed || n.starts != 1 || n.ends != 1:
			d.t.Errorf("%s: %s; it started %d times and came %d times to its end", task.Name, display.State(job), n.starts, n.ends)
		}
		if n.starts > 0 {
			run := powerRun{name: task.Name, watts: d.draws[i], from: n.from, until: n.until}
			ran = append(ran, run)
			if allowed(d.rules, run.from) != unlimited {
				limited++
			}
		}
	}
	for _, wrong := range excesses(ran, d.rules) {
		d.t.Error(wrong)
	}
	log, err := os.ReadFile(d.site.Log)
	d.t.Logf("%d jobs, %d of them lost after their start; %d started under a budget, and %d times some were taken back (%v)",
		len(ids), lost, limited, strings.Count(string(log), "jobs_withdrawn"), err)
	noneUnknown(ctx, d.t, d.Sites[0], ids)
	d.noneCounts(ctx)
}

// noneCounts waits until nothing is counted any more.
func (d *powerDay) noneCounts(ctx context.Context) {
	d.t.Helper()
	client := d.site.Client()
	defer client.Close()
	for ; ; time.Sleep(50 * time.Millisecond) {
		info, err := client.Info(ctx)
		if err == nil && info.Power != nil && info.Power.Draw == 0 && info.Power.Pending == 0 {
			return
		}
		if ctx.Err() != nil {
			d.t.Fatalf("when all jobs have ended the peer still counts %+v, %v", info.Power, err)
		}
	}
}

// Which starts are beyond the budget.
func TestExcesses(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	job := func(watts int64, from, until int) powerRun { return powerRun{"job", watts, at(from), at(until)} }
	// None at first, 10 W told at 100, 4 W at 200, 20 W at 300. Each must be kept 5 s after it was told.
	rules := []powerRule{{at(0), at(0), unlimited}, {at(100), at(105), 10}, {at(200), at(205), 4}, {at(300), at(305), 20}}
	for name, c := range map[string]struct {
		jobs []powerRun
		want int
	}{
		"none before it is told":           {[]powerRun{job(50, 10, 20), job(50, 15, 20)}, 0},
		"just within":                      {[]powerRun{job(6, 110, 120), job(4, 111, 119)}, 0},
		"beyond":                           {[]powerRun{job(6, 110, 120), job(5, 111, 119)}, 1},
		"one after the other":              {[]powerRun{job(6, 110, 120), job(5, 121, 130)}, 0},
		"what ran before counts":           {[]powerRun{job(50, 90, 120), job(1, 110, 120), job(1, 121, 122)}, 1},
		"what ran before runs on":          {[]powerRun{job(50, 90, 190)}, 0},
		"as long as it need not be kept":   {[]powerRun{job(50, 104, 150), job(50, 105, 150)}, 1},
		"the one before holds until then":  {[]powerRun{job(10, 204, 210), job(1, 204, 206)}, 1},
		"from then on it does":             {[]powerRun{job(5, 205, 210), job(4, 212, 213)}, 1},
		"a higher one may be used at once": {[]powerRun{job(20, 301, 310)}, 0},
		"and is no more than it is":        {[]powerRun{job(20, 301, 310), job(1, 302, 303)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := excesses(c.jobs, rules); len(got) != c.want {
				t.Errorf("got %q, want %d", got, c.want)
			}
		})
	}
}
