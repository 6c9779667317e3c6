package sim_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// sharedData is the data of others that is not in the repository.
const sharedData = "../../../shared/data"

// referenceTraces have reference schedules, made by pyss.
func referenceTraces() map[string]int {
	return map[string]int{"5K_sample_clean": 128, "lublin_256_est": 256, "lublin_256_perfect": 256}
}

func perCPUMachine(n int) engine.Machine {
	return engine.PerCPU(protocol.Capacity{CPUs: n, Nodes: 1})
}

// TestReferenceSchedules compares every start with pyss, byte by byte. Without priorities, multifactor is EASY.
func TestReferenceSchedules(t *testing.T) {
	t.Parallel()
	for trace, procs := range referenceTraces() {
		for _, name := range engine.Names() {
			t.Run(trace+" "+name, func(t *testing.T) {
				t.Parallel()
				jobs, like := readJobs(t, filepath.Join(sharedData, "traces", trace+".swf.gz")), name
				if name == engine.MultifactorName {
					like = "easy"
				}
				want := readGzip(t, filepath.Join(sharedData, "reference", "schedules", trace+"_"+like+".csv.gz"))
				compareStarts(t, jobs, procs, name, want)
			})
		}
	}
}

// TestBatchTie: how far one pass for a whole time stamp is from pyss's rule was
// measured before with another program.
func TestBatchTie(t *testing.T) {
	t.Parallel()
	want := map[string]int{"5K_sample_clean": 5, "lublin_256_est": 8093, "lublin_256_perfect": 0}
	for trace, procs := range referenceTraces() {
		t.Run(trace, func(t *testing.T) {
			t.Parallel()
			jobs := readJobs(t, filepath.Join(sharedData, "traces", trace+".swf.gz"))
			pyss := mustSchedule(t, jobs, procs, engine.EASY(), sim.TiePyss)
			batch := mustSchedule(t, jobs, procs, engine.EASY(), sim.TieBatch)
			differ := 0
			for i := range pyss {
				if pyss[i] != batch[i] {
					differ++
				}
			}
			if differ != want[trace] {
				t.Errorf("%d of %d starts differ, want %d", differ, len(jobs), want[trace])
			}
		})
	}
}

// TestExcerptSchedules holds the first jobs of two of the reference traces
// against starts by this program, written when the whole traces gave pyss's
// starts to the byte. UPDATE_GOLDEN writes them anew.
func TestExcerptSchedules(t *testing.T) {
	t.Parallel()
	for _, trace := range []string{"lublin_256_est", "lublin_256_perfect"} {
		t.Run(trace, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", trace+".swf"))
			if err != nil {
				t.Fatal(err)
			}
			jobs := parseJobs(t, data)
			var got bytes.Buffer
			got.WriteString("policy,tie,starts in s of the jobs in order\n")
			for _, name := range engine.Names() {
				for _, tie := range []sim.Tie{sim.TiePyss, sim.TieBatch} {
					fmt.Fprintf(&got, "%s,%s", name, tie)
					for _, start := range mustSchedule(t, jobs, 256, mustNamed(t, name), tie) {
						fmt.Fprintf(&got, ",%d", start/protocol.Instant(protocol.Second))
					}
					got.WriteString("\n")
				}
			}
			golden := filepath.Join("testdata", trace+".starts.csv")
			if os.Getenv("UPDATE_GOLDEN") != "" {
				err = os.WriteFile(golden, got.Bytes(), 0o600)
			}
			want, readErr := os.ReadFile(golden)
			if err = errors.Join(err, readErr); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("the starts of %s differ from %s", trace, golden)
			}
		})
	}
}

// TestScheduleMisfits: a job that is too wide is reported, and the others are
// scheduled as if it had not come.
func TestScheduleMisfits(t *testing.T) {
	t.Parallel()
	jobs := []workload.Job{
		{ID: 7, Submit: 10, Run: 5, Estimate: 5, CPUs: 4},
		{ID: 8, Submit: 11, Run: 5, Estimate: 5, CPUs: 5},
		{ID: 9, Submit: 11, Run: 5, Estimate: 5, CPUs: 1},
	}
	for _, tie := range []sim.Tie{sim.TiePyss, sim.TieBatch} {
		starts, misfits, err := sim.Schedule(jobs, perCPUMachine(4), engine.FCFS(), tie)
		if err != nil || !slices.Equal(starts, []protocol.Instant{10, sim.NeverStarts, 15}) {
			t.Errorf("%s: starts %v, %v", tie, starts, err)
		}
		if len(misfits) != 1 || misfits[0].Index != 1 || misfits[0].Reason == "" {
			t.Errorf("%s: misfits %+v", tie, misfits)
		}
	}
}

// TestScheduleTies: A ends early at 10, when B and then C come. Under pyss's rule
// B has a pass before that end is known; with one pass, all is known.
func TestScheduleTies(t *testing.T) {
	t.Parallel()
	jobs := []workload.Job{
		{ID: 1, Submit: 0, Run: 10, Estimate: 20, CPUs: 3},
		{ID: 2, Submit: 10, Run: 4, Estimate: 4, CPUs: 4},
		{ID: 3, Submit: 10, Run: 5, Estimate: 5, CPUs: 1},
	}
	for tie, want := range map[sim.Tie][]protocol.Instant{
		sim.TiePyss:  {0, 15, 10},
		sim.TieBatch: {0, 10, 14},
	} {
		if got := mustSchedule(t, jobs, 4, engine.EASY(), tie); !slices.Equal(got, want) {
			t.Errorf("%s: starts %v, want %v", tie, got, want)
		}
	}
}

func TestScheduleErrors(t *testing.T) {
	t.Parallel()
	good := workload.Job{ID: 1, Submit: 5, Run: 1, Estimate: 1, CPUs: 1}
	for _, c := range []struct {
		name, tie, want string
		change          func(*workload.Job)
	}{
		{"unknown tie", "random", "random", func(*workload.Job) {}},
		{"out of order", "pyss", "job 2", func(j *workload.Job) { j.Submit = 4 }},
		{"no run time", "pyss", "job 2", func(j *workload.Job) { j.Run = 0 }},
		{"runs too long", "pyss", "job 2", func(j *workload.Job) { j.Run = 2 }},
	} {
		bad := good
		bad.ID = 2
		c.change(&bad)
		_, _, err := sim.Schedule([]workload.Job{good, bad}, perCPUMachine(4), engine.EASY(), sim.Tie(c.tie))
		if !errors.Is(err, sim.ErrNoSchedule) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error that names %s", c.name, err, c.want)
		}
	}
	if _, err := sim.ParseTie("batch"); err != nil {
		t.Error(err)
	}
}

func mustNamed(t *testing.T, name string) engine.Policy {
	t.Helper()
	policy, err := engine.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

func mustSchedule(
	t *testing.T, jobs []workload.Job, procs int, policy engine.Policy, tie sim.Tie,
) []protocol.Instant {
	t.Helper()
	starts, _, err := sim.Schedule(jobs, perCPUMachine(procs), policy, tie)
	if err != nil {
		t.Fatal(err)
	}
	return starts
}

func compareStarts(t *testing.T, jobs []workload.Job, procs int, policy string, want []byte) {
	t.Helper()
	starts, misfits, err := sim.Schedule(jobs, perCPUMachine(procs), mustNamed(t, policy), sim.TiePyss)
	if err != nil || len(misfits) > 0 {
		t.Fatalf("%v, misfits %v", err, misfits)
	}
	got := startsCSV(jobs, starts)
	if bytes.Equal(got, want) {
		return
	}
	g, w := bufio.NewScanner(bytes.NewReader(got)), bufio.NewScanner(bytes.NewReader(want))
	shown, differ := 0, 0
	for g.Scan() && w.Scan() {
		if g.Text() == w.Text() {
			continue
		}
		differ++
		if shown++; shown <= 5 {
			t.Errorf("start %q, want %q", g.Text(), w.Text())
		}
	}
	t.Fatalf("%d of %d starts differ", differ, len(jobs))
}

// startsCSV writes starts as the reference schedules have them.
func startsCSV(jobs []workload.Job, starts []protocol.Instant) []byte {
	var b bytes.Buffer
	b.WriteString("job_id,start\n")
	for i, start := range starts {
		fmt.Fprintf(&b, "%d,%d\n", jobs[i].ID, start/protocol.Instant(protocol.Second))
	}
	return b.Bytes()
}

func readJobs(t testing.TB, path string) []workload.Job {
	t.Helper()
	return parseJobs(t, readGzip(t, path))
}

func parseJobs(t testing.TB, swf []byte) []workload.Job {
	t.Helper()
	trace, err := workload.ReadSWF(bytes.NewReader(swf), workload.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	jobs, _ := workload.Clean(trace, workload.CleanOptions{})
	return jobs
}

// readGzip reads a file of the shared data.
func readGzip(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("the shared data is not here: %v", err)
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	data, err := io.ReadAll(zip)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data
}
