package process_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// alike is a job of a program that has run before.
func alike(t testing.TB, like uint64, script string) localsched.Submission {
	t.Helper()
	job := guest(t, script)
	job.Spec.Like = like
	return job
}

// drawOf is what a job of this likeness is taken to draw, in milliwatts.
func (s *site) drawOf(t testing.TB, job localsched.Submission) int64 {
	t.Helper()
	job.Payload.Script = []byte("#!/bin/sh\nsleep 300\n")
	s.awaitRunning(t, s.submit(t, job))
	draw := s.load(t).Draw
	if err := s.Kill(t.Context(), job.Tag); err != nil {
		t.Fatal(err)
	}
	s.awaitEnd(t, job.Tag)
	return draw
}

// TestLearnsWhatJobsDraw: by the processor time of the script and of what it has left
// behind. What was learnt survives a restart, and counts in the queue and in quotes.
func TestLearnsWhatJobsDraw(t *testing.T) {
	t.Parallel()
	const idle, busy, short = 1, 2, 3
	s := openSite(t, func(c *process.Config) { c.Budget, c.Learn = engine.Budget{Rates: watts()}, true })
	// An orphan works, and the script waits until it has.
	work := `(sh -c 'i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; : >done' &) ; while [ ! -e done ]; do sleep 0.1; done; sleep 0.5`
	for _, job := range []localsched.Submission{
		alike(t, idle, "sleep 1.2"), alike(t, busy, work), alike(t, short, "true"),
	} {
		if outcome := s.awaitEnd(t, s.submit(t, job)); outcome.State != protocol.Completed {
			t.Fatalf("%+v", outcome)
		}
	}
	check := func(known bool) {
		t.Helper()
		slow, fast := s.drawOf(t, alike(t, idle, "")), s.drawOf(t, alike(t, busy, ""))
		if known != (slow < 400) || known != (slow+100 < fast && fast < 1000) {
			t.Errorf("they are taken to draw %d mW and %d mW; known: %v", slow, fast, known)
		}
		if draw := s.drawOf(t, alike(t, short, "")); draw != 1000 {
			t.Errorf("a run of no time has taught %d mW", draw)
		}
		stated := alike(t, idle, "")
		stated.Spec.Power = 700_000
		if draw := s.drawOf(t, stated); draw != 700 {
			t.Errorf("a job that states 700 mW is taken to draw %d", draw)
		}
	}
	check(true)
	s.reopen(t)
	check(true)
	if err := s.SetBudget(until(t, now().Add(protocol.Hour), 0)); err != nil {
		t.Fatal(err)
	}
	quotes, err := s.Quote(t.Context(), localsched.Query{Jobs: []protocol.Request{alike(t, idle, "").Spec.Request, alike(t, busy, "").Spec.Request}})
	if err != nil || quotes[0].Note == quotes[1].Note || quotes[0].Note == "" {
		t.Errorf("quoted %+v, %v", quotes, err)
	}
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	if err = os.WriteFile(filepath.Join(s.config.Dir, "likely"), []byte("likely 1\nold x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	check(false)
}

// TestMeasured: power lies between the rates as utilisation lies between 0 and 1.
func TestMeasured(t *testing.T) {
	t.Parallel()
	rates := watts()
	for name, c := range map[string]struct {
		cpus     int
		ran, cpu protocol.Duration
		state    protocol.State
		ppm      int
		ok       bool
	}{
		"idle":                   {1, 1000, 0, protocol.Completed, 250_000, true},
		"busy":                   {2, 1000, 2000, protocol.Completed, 1_000_000, true},
		"half":                   {2, 1000, 1000, protocol.Failed, 625_000, true},
		"more than it asked for": {1, 1000, 5000, protocol.Timeout, 1_000_000, true},
		"too short":              {1, 999, 999, protocol.Completed, 0, false},
		"nobody knows":           {1, 5000, 0, protocol.NodeFail, 0, false},
		"no CPUs":                {0, 1000, 500, protocol.Completed, 625_000, true},
		"for ever":               {math.MaxInt, math.MaxInt64, math.MaxInt64, protocol.Completed, 250_000, true},
	} {
		if ppm, ok := process.Measured(rates, c.cpus, c.state, c.ran, c.cpu); ppm != c.ppm || ok != c.ok {
			t.Errorf("%s: %d, %v; want %d, %v", name, ppm, ok, c.ppm, c.ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		r := power.Rates{Busy: rapid.Int64Range(1, power.MaxRate).Draw(t, "busy"), Idle: rapid.Int64Range(0, power.MaxRate).Draw(t, "idle")}
		cpus := rapid.IntRange(1, 1<<20).Draw(t, "CPUs")
		ran := protocol.Duration(rapid.Int64Range(1000, 1<<40).Draw(t, "ran"))
		cpu := protocol.Duration(rapid.Int64Range(0, 1<<60).Draw(t, "CPU time"))
		used := min(1, float64(cpu)/float64(cpus)/float64(ran))
		want := (float64(r.Idle) + used*(float64(r.Busy)-float64(r.Idle))) / float64(r.Busy) * protocol.PPM
		want = min(max(1, want), protocol.MaxPower)
		ppm, ok := process.Measured(r, cpus, protocol.Completed, ran, cpu)
		slack := 2 + 2*max(1, float64(r.Idle)/float64(r.Busy)) // a millionth of each rate, rounded down
		if !ok || math.Abs(float64(ppm)-want) > slack+protocol.PPM/float64(r.Busy) {
			t.Fatalf("%d ppm, want %f", ppm, want)
		}
	})
}
