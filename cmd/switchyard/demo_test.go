package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// startDemo starts the demo as a process of its own, in a folder of the test.
func startDemo(t *testing.T, args ...string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	dir = filepath.Join(shortDir(t), "d")
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(patience(t))
	t.Cleanup(cancel)
	cmd = exec.CommandContext(ctx, plainBinary(t), append([]string{"demo", "--dir", dir}, args...)...)
	cmd.Env = append(os.Environ(), asBinary+"="+testCommit)
	return cmd, dir
}

func TestDemoShowsThatAllJobsRanOnce(t *testing.T) {
	t.Parallel()
	cmd, dir := startDemo(t, "--jobs", "10", "--initiation", "receiver", "--localsched", "firstfit")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("All 10 jobs ran exactly once and their results are back at aurora")) {
		t.Errorf("%v\n%s", err, out)
	}
	rows := regexp.MustCompile(`(?m)^[0-9]+  (sum|primes|hash)-[0-9]+ +aurora +(aurora|borealis|cygnus) .* 0$`).FindAll(out, -1)
	if len(rows) != 10 {
		t.Errorf("the table has %d jobs in\n%s", len(rows), out)
	}
	if !bytes.Contains(out, []byte("COMPLETED cygnus")) {
		t.Errorf("no job ran elsewhere:\n%s", out)
	}
	for _, want := range []string{
		"Their rules: initiation receiver, policy tc, local queue firstfit; φ 1 s, σ 2s.",
		"The event log of ",
	} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	// The job of the story waited for a volunteer, or came when there was one already.
	if !regexp.MustCompile(` volunteers to take jobs|round [0-9]+: (borealis|cygnus) is chosen`).Match(out) {
		t.Errorf("no volunteer took the job of the story:\n%s", out)
	}
	noTrace(t, dir)
}

func TestDemoWithPolicyLocalKeepsJobsAtHome(t *testing.T) {
	t.Parallel()
	cmd, dir := startDemo(t, "--jobs", "6", "--policy", "local")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("All 6 jobs ran exactly once")) ||
		bytes.Contains(out, []byte("COMPLETED cygnus")) || bytes.Contains(out, []byte("COMPLETED borealis")) {
		t.Errorf("%v\n%s", err, out)
	}
	noTrace(t, dir)
}

func TestDemoGoesByTheCostOfElectricity(t *testing.T) {
	t.Parallel()
	cmd, dir := startDemo(t, "--jobs", "10", "--policy", "mcmf")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"Their rules: initiation cycle, policy mcmf, local queue easy; φ 1 s, σ 2s.",
		"Every 2s the jobs that wait are placed together; a site takes 4 of them at most.",
		"is chosen: flow of ", " EUR  ", "Electricity, at 20 kW a CPU: ",
		"All 10 jobs ran exactly once",
	} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	bill := regexp.MustCompile(`Electricity, .*: ([0-9.]+) EUR; with every job at its origin, ([0-9.]+) EUR`).FindSubmatch(out)
	if bill == nil || bytes.Compare(bill[1], bill[2]) >= 0 { // all are below 10
		t.Errorf("nothing is saved: %q", bill)
	}
	noTrace(t, dir)
}

func TestDemoShowsApplications(t *testing.T) {
	t.Parallel()
	cmd, dir := startDemo(t, "--policy", "iss", "--jobs", "4")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"Their rules: initiation cycle, policy iss, local queue easy; ", "Submitting 2 applications and 4 jobs at aurora",
		"Component solve of the application of job ", "at most 5.00 CHF; at most 0:01:00", " EUR  ", "weighted: K_e ",
		"\n→  ", "COMPONENT  USER ", "ocean at cygnus and air at ", " started together, ", "All 9 jobs ran exactly once",
	} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	rows := regexp.MustCompile(`(?m)^(weather|wing) +(ocean|mesh) .* CHF +(-|5\.00 CHF) .*$`).FindAll(out, -1)
	if len(rows) != 2 {
		t.Errorf("the table has %d applications in\n%s", len(rows), out)
	}
	noTrace(t, dir)
}

func TestDemoRefusesRulesThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--policy", "tcc"}, {"--initiation", "cycle"}, {"--localsched", "fifo"},
	} {
		if got := command(t, "", "", append([]string{"demo"}, args...)...); got.code != 2 || got.stdout != "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// However the user leaves, the demo stops what it has started.
func TestDemoCleansUpWhenItIsLeft(t *testing.T) {
	t.Parallel()
	for _, how := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE} {
		t.Run(how.String(), func(t *testing.T) {
			t.Parallel()
			cmd, dir := startDemo(t, "--jobs", "12")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err = cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for lines.Scan() && !strings.Contains(lines.Text(), "RUNNING") {
			}
			if how == syscall.SIGPIPE {
				_ = out.Close() // the reader goes; the demo goes on and ends well
			} else if err = cmd.Process.Signal(how); err != nil {
				t.Error(err)
			}
			err = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 130 && how != syscall.SIGPIPE {
				t.Errorf("it ended by %v", err)
			}
			noTrace(t, dir)
		})
	}
}

// noTrace checks that the folder is gone, and every process that knows it.
func noTrace(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is still there", dir)
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err == nil && bytes.Contains(line, []byte(dir)) {
			t.Errorf("still running: %s", bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		}
	}
}
