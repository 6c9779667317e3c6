package slurm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testprogram"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (s *site) quote(t testing.TB, query localsched.Query) []protocol.Quote {
	t.Helper()
	quotes, err := s.Quote(t.Context(), query)
	if err != nil || len(quotes) != len(query.Jobs) {
		t.Fatal(quotes, err)
	}
	return quotes
}

// queryOf asks for small jobs of a number of shapes.
func queryOf(jobs, shapes int) (query localsched.Query) {
	for i := range jobs {
		query.Jobs = append(query.Jobs, protocol.Request{
			Job: protocol.NewJobID(7, uint64(i)), CPUs: 1, WallTime: protocol.Duration(1+i%shapes) * protocol.Minute,
		})
	}
	return query
}

// near reports whether a wait is about that long. Slurm rounds limits and starts.
func near(got, want protocol.Duration) bool {
	return got > want-75*protocol.Second && got < want+75*protocol.Second
}

func TestQuote(t *testing.T) {
	t.Parallel()
	siteC.Lock()
	defer siteC.Unlock()
	s := openSite(t, "siteC", nil)
	request := func(cpus int, limit protocol.Duration) protocol.Request {
		return protocol.Request{Job: protocol.NewJobID(7, uint64(cpus)), CPUs: cpus, WallTime: limit}
	}
	const tenMinutes = 10 * protocol.Minute
	if got := s.quote(t, localsched.Query{Jobs: []protocol.Request{request(1, protocol.Hour)}})[0]; got.AWT != 0 || got.ERT != protocol.Hour {
		t.Errorf("on the empty machine: %+v", got)
	}
	busy := guest("exec sleep 1000")
	busy.Spec.CPUs, busy.Spec.WallTime = allCPUs-2, tenMinutes
	s.submit(t, busy)
	s.awaitRunning(t, busy.Tag)
	eventually(t, "the load counts it", func() bool {
		load, err := s.Load(t.Context())
		return err == nil && load.Busy == allCPUs-2 && load.CPUs == allCPUs
	})
	promise := localsched.Tentative{Tag: guest("").Tag, Request: request(allCPUs, 2*tenMinutes)}
	for _, c := range []struct {
		what    string
		ahead   []localsched.Tentative
		request protocol.Request
		want    protocol.Duration
	}{
		{"beside what runs", nil, request(2, protocol.Hour), 0},
		{"after what runs", nil, request(4, protocol.Hour), tenMinutes},
		{"after a promise", []localsched.Tentative{promise}, request(4, protocol.Hour), 3 * tenMinutes},
		{"in the hole before a promise", []localsched.Tentative{promise}, request(2, 5*protocol.Minute), 0},
		{"a promise that has come", []localsched.Tentative{{Tag: busy.Tag, Request: busy.Spec.Request}}, request(4, protocol.Hour), tenMinutes},
	} {
		got := s.quote(t, localsched.Query{Jobs: []protocol.Request{c.request}, Ahead: c.ahead})[0]
		if got.Declined != "" || !near(got.AWT, c.want) || got.AWTLow > got.AWT || got.AWT > got.AWTHigh {
			t.Errorf("%s: %+v, want %v", c.what, got, c.want)
		}
	}
	for cpus, reason := range map[int]string{allCPUs + 1: "PartitionConfig"} {
		if got := s.quote(t, localsched.Query{Jobs: []protocol.Request{request(cpus, protocol.Hour)}})[0]; !strings.Contains(got.Declined, reason) {
			t.Errorf("%+v, want %s", got, reason)
		}
	}
	if err := s.Kill(t.Context(), busy.Tag); err != nil {
		t.Error(err)
	}
	s.awaitEnd(t, busy.Tag)
	if data, err := os.ReadFile(s.config.Dir + "/observed.json"); err != nil || !strings.Contains(string(data), `"actual_ms"`) {
		t.Errorf("what was observed is %s, %v", data, err)
	}
}

// TestFewQuestions counts how often Slurm is asked: each question takes a job id.
func TestFewQuestions(t *testing.T) {
	t.Parallel()
	siteC.Lock()
	defer siteC.Unlock()
	s := openSite(t, "siteC", func(c *slurm.Config) {
		c.Poll = time.Hour // all is asked about one look: a job of before may still be completing
		slurm.SetAskPatience(c, ample)
	})
	next := func() (id int) {
		out := s.cluster.must(t, "sbatch", "--test-only", "-t", "1", "--wrap", "true")
		if _, err := fmt.Sscanf(out, "sbatch: Job %d", &id); err != nil {
			t.Fatal(out, err)
		}
		return id
	}
	// Some who ask the same at the same time share the answer.
	before := next()
	var all sync.WaitGroup
	for range 24 {
		all.Go(func() { s.quote(t, localsched.Query{Jobs: []protocol.Request{{CPUs: 3, WallTime: protocol.Minute}}}) })
	}
	all.Wait()
	if asked := next() - before - 1; asked != 1 {
		t.Errorf("Slurm was asked %d times for 24 quotes of one shape", asked)
	}
	query := queryOf(500, 10)
	before = next()
	begin := time.Now()
	s.quote(t, query)
	if asked := next() - before - 1; asked != 4 {
		t.Errorf("Slurm was asked %d times for 500 quotes of 10 shapes", asked)
	}
	s.quote(t, query)
	s.quote(t, query)
	before = next()
	s.quote(t, query)
	if asked := next() - before - 1; asked != 0 {
		t.Errorf("Slurm was asked %d times for what it had said about the same queue", asked)
	}
	t.Logf("2000 quotes in %v", time.Since(begin))
}

// Where root may submit nothing, its question is refused, but the job is not: it will
// be somebody else's.
func TestRootMayNotSubmit(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteD", nil)
	if out, err := s.cluster.run("sbatch", "--test-only", "-t", "1", "--wrap", "true"); err == nil || !strings.Contains(out, "Invalid user id") {
		t.Fatalf("root may submit: %v, %s", err, out)
	}
	if got := s.quote(t, queryOf(1, 1))[0]; got.Declined != "" {
		t.Errorf("the quote is %+v", got)
	}
}

// TestRefusalsAreAskedAgain: what Slurm refused, because a node was down for a moment, is
// not refused for as long as the queue stays the same.
func TestRefusalsAreAskedAgain(t *testing.T) {
	t.Parallel()
	if got := slurm.Remembered(time.Hour); got != "no such nodes" {
		t.Errorf("a fresh refusal is remembered as %q", got)
	}
	if got := slurm.Remembered(0); got != "" {
		t.Errorf("one that holds no more is remembered as %q", got)
	}
}

// TestSharedLooks (K10) counts the looks at a queue that answers slowly.
func TestSharedLooks(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	gate, count := filepath.Join(dir, "open"), filepath.Join(dir, "count")
	looks := func() int {
		data, err := os.ReadFile(count)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), "\n")
	}
	openGate := func() {
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openGate()
	s := openSite(t, "siteA", func(c *slurm.Config) {
		c.Poll = time.Hour
		c.Bin = commandsWith(t, `exec /usr/bin/scontrol "$@"`)
		squeue := filepath.Join(c.Bin, "squeue")
		script := "#!/bin/sh\necho >>" + count + "\nuntil [ -e " + gate + " ]; do sleep .02; done\nexec /usr/bin/squeue \"$@\"\n"
		if err := os.Remove(squeue); err != nil {
			t.Fatal(err)
		}
		testprogram.Write(t, squeue, script)
	})
	shut := func() (before int) {
		if err := os.Remove(gate); err != nil {
			t.Fatal(err)
		}
		return looks()
	}
	before := shut()
	s.Unsee()
	var all sync.WaitGroup
	for range 24 {
		all.Go(func() { s.quote(t, queryOf(1, 1)) })
	}
	eventually(t, "the queue is asked for", func() bool { return looks() > before })
	openGate()
	all.Wait()
	if got := looks() - before; got != 1 {
		t.Errorf("24 quotes at once have looked at the queue %d times", got)
	}

	// One who needs to see a change does not share a look that began before it.
	before = shut()
	s.Unsee()
	all.Go(func() { s.quote(t, queryOf(1, 1)) })
	eventually(t, "the queue is asked for", func() bool { return looks() > before })
	for range 5 {
		all.Go(func() {
			if err := s.Look(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	openGate()
	all.Wait()
	if got := looks() - before; got < 2 {
		t.Errorf("a look that began before has served who needs to see what came after: %d looks", got)
	}
}
