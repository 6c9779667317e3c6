package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// stepRecord is what a script printed in two jobs of a real Slurm 22.05, of which one has two nodes.
const stepRecord, stepScript = "testdata/steps.txt", "testdata/steps.sh"

var stepJobs = []string{"-N 1 -n 4", "-N 2 -n 4 --ntasks-per-node=2"}

// TestStepsAsUnderSlurm runs a script with many steps at a site with the built-in batch system and compares what it prints
// with what it has printed under a real Slurm. With -update it runs it there.
func TestStepsAsUnderSlurm(t *testing.T) {
	t.Parallel()
	if *update {
		recordSteps(t)
	}
	recorded, err := os.ReadFile(stepRecord)
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(stepScript)
	if err != nil {
		t.Fatal(err)
	}
	g := stepGrid(t)
	var printed []string
	for _, options := range stepJobs {
		printed = append(printed, stepTranscript(g.stepOutput(t, string(script), strings.Fields(options)...)))
	}
	comparePrinted(t, strings.Join(printed, ""), string(recorded))
}

// stepGrid is a site with the built-in batch system, where jobs find srun.
func stepGrid(t *testing.T) *grid {
	t.Helper()
	g := makeGridFrom(t, testbed.Config{
		Binary: programOfAll(t), QuoteTimeout: quoteTimeout,
		Sites: []testbed.Machine{{Name: "aurora", LocalSched: "cpus = 8\nnodes = 2\nkill_grace = \"1s\""}},
	})
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	return g
}

// stepOutput is what a script prints that completes.
func (g *grid) stepOutput(t *testing.T, script string, options ...string) string {
	t.Helper()
	out := filepath.Join(g.work, "out"+strings.Join(options, ""))
	id := g.submit(t, g.Sites[0], script, append(options, "--output="+out, "--time=10")...)
	if job := g.until(t, g.Sites[0], id, ended); job.State != protocol.Completed {
		t.Errorf("%+v", job)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestStepsEnd: what ends a step before its tasks end by themselves, and that nothing of them is left.
func TestStepsEnd(t *testing.T) {
	t.Parallel()
	const script = `#!/bin/bash
PATH=${PATH##*:}:$PATH # the commands of Switchyard are the last in it
cd "$(mktemp -d)" || exit
until_gone() { while kill -0 "$1" 2>/dev/null; do sleep 0.05; done; }
until_there() { until [ -s "$1" ]; do sleep 0.05; done; }
echo 'A task is alone for too long:'
srun -n 2 -W 1 sh -c '[ $SLURM_PROCID = 1 ] || sleep 1000'; echo "= $?"
echo 'The time limit of the step:'
srun -n 1 -t 0:01 sleep 1000; echo "= $?"
echo 'A signal to srun:'
srun -n 1 sh -c 'trap "echo TERM; exit 3" TERM; echo >ready; while :; do sleep 0.05; done' &
until_there ready; kill -TERM $!; wait $!; echo "= $?"
echo 'srun is killed:'
srun -n 1 sh -c 'echo $$ >pid; exec sleep 1000' 2>/dev/null &
until_there pid; kill -KILL $!; wait $! 2>/dev/null; until_gone "$(cat pid)"; echo gone
echo 'A task leaves a process:'
srun -n 1 sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >left'; echo "= $?"
until_gone "$(cat left)"; echo gone
echo 'Its CPUs are free again after all that:'
srun -n 4 -I echo free
echo 'Output that cannot be written:'
srun -n 2 echo text >/dev/full; echo "= $?"
`
	const want = `A task is alone for too long:
srun: First task exited 1s ago
srun: StepId=JOB.0 task 0: running
srun: StepId=JOB.0 task 1: exited
srun: launch/slurm: _step_signal: Terminating StepId=JOB.0
srun: error: HOST: task 0: Terminated
= 143
The time limit of the step:
slurmstepd-HOST: error: *** STEP JOB.1 ON HOST CANCELLED AT TIME DUE TO TIME LIMIT ***
srun: error: HOST: task 0: Terminated
= 143
A signal to srun:
TERM
srun: error: HOST: task 0: Exited with exit code 3
= 3
srun is killed:
gone
A task leaves a process:
= 0
gone
Its CPUs are free again after all that:
free
free
free
free
Output that cannot be written:
srun: error: write the output of tasks: write /dev/stdout: no space left on device
= 1
`
	got := stepGrid(t).stepOutput(t, script, "-n", "4")
	for _, one := range []struct{ pattern, as string }{
		{regexp.QuoteMeta(shortHost()), "HOST"},
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`, "TIME"},
		{`\b\d{13}\b`, "JOB"},
		{`(?m)^(?:Terminated|/\S+: line \d+: .* Killed .*|srun: (?:Job \S+ step creation|Step created for job).*)\n`, ""},
	} {
		got = regexp.MustCompile(one.pattern).ReplaceAllString(got, one.as)
	}
	if got != want {
		t.Errorf("the script prints\n%s\nwant\n%s", got, want)
	}
}

// stepTranscript is what the script prints, without what differs from run to run, and from what Slurm says when it kills a step.
func stepTranscript(text string) string {
	for _, one := range []struct{ pattern, as string }{
		{`(?m)^(?:srun: (?:Job \S+ step creation|Step created for job|Force Terminated|Job step aborted)|slurmstepd-\S+: error: \*\*\* STEP).*\n`, ""},
		{`(?m)^Terminated\n`, ""}, // a shell says so if it comes to it
		{`\b(?:a[12]|` + regexp.QuoteMeta(shortHost()) + `)\b`, "HOST"},
		{`(StepId=|job |jobid=)\d+`, "${1}JOB"},
	} {
		text = regexp.MustCompile(one.pattern).ReplaceAllString(text, one.as)
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, apart(line)...)
		if strings.HasPrefix(line, "= ") { // the last of a step
			first := len(lines) - 1
			for first > 0 && !strings.HasPrefix(lines[first-1], "$ ") {
				first--
			}
			slices.Sort(lines[first : len(lines)-1])
		}
	}
	return strings.Join(lines, "")
}

var together = regexp.MustCompile(`^(srun: error: HOST: )tasks (\S+)(: .*\n)$`)

// apart gives each task a line of its own: those that end at about the same time may share one.
func apart(line string) (lines []string) {
	parts := together.FindStringSubmatch(line)
	if parts == nil {
		return []string{line}
	}
	ranks, err := protocol.ParseIndexes(parts[2])
	if err != nil {
		return []string{line}
	}
	for rank := range ranks.All() {
		lines = append(lines, fmt.Sprintf("%stask %d%s", parts[1], rank, parts[3]))
	}
	return lines
}

// shortHost is the name of this machine as Slurm shows it.
func shortHost() string {
	host, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	host, _, _ = strings.Cut(host, ".")
	return host
}

// recordSteps runs the script under a real Slurm.
func recordSteps(t *testing.T) {
	t.Helper()
	c := slurms{clusters: 1, nodes: 2, cpus: 4}.started(t)
	var recorded []string
	for i, options := range stepJobs {
		out := filepath.Join(c.base, fmt.Sprintf("steps-%d.txt", i))
		cmd := c.command(patience(t), append(append([]string{"sbatch"}, strings.Fields(options)...), "--wait", "--time=10", "--output="+out, stepScript)...)
		cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf("siteA"))
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, stepTranscript(string(text)))
	}
	if err := os.WriteFile(stepRecord, []byte(strings.Join(recorded, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}
