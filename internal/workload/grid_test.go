package workload_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// pair is a grid of two systems and four jobs.
func pair() *workload.Grid {
	const s = protocol.Second
	return &workload.Grid{
		Name:    "pair",
		Systems: []workload.System{{Name: "left hand", Cores: 10, MflopsPerCore: 5}, {Name: "right", Cores: 100, MflopsPerCore: 7}},
		Jobs: []workload.Job{
			{ID: 1, Origin: 0, User: -1, Submit: 1000, Run: 10 * s, Estimate: 20 * s, CPUs: 4},
			{ID: 1, Origin: 1, User: 3, Submit: 2000, Run: 100 * s, Estimate: 100 * s, CPUs: 1},
			{ID: 2, Origin: 1, User: 3, Submit: 2000, Run: 50 * s, Estimate: 60 * s, CPUs: 100},
			{ID: 2, Origin: 0, User: -1, Submit: 101_000, Run: 30 * s, Estimate: 40 * s, CPUs: 6},
		},
		History: 2,
		Credits: []string{" Acknowledge: somebody"},
	}
}

func TestGridTrace(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*workload.Grid{"by hand": pair(), "XSEDE": xsede(t, workload.XSEDEOptions{History: -1, Jobs: 1000}, 2)} {
		var file bytes.Buffer
		if err := workload.WriteSWF(&file, g.Trace("first note")); err != nil {
			t.Fatal(err)
		}
		trace := readTrace(t, name, file.Bytes())
		parts := workload.Split(trace, workload.SplitPartition)
		if len(parts) != len(g.Systems) {
			t.Fatalf("%s: %d partitions of %d systems", name, len(parts), len(g.Systems))
		}
		sites := make([][]workload.Job, len(parts))
		for i, part := range parts {
			if want := strings.ReplaceAll(g.Systems[i].Name, " ", "_"); part.Name != want {
				t.Errorf("%s: partition %d is %q, want %q", name, i, part.Name, want)
			}
			jobs, cleaning := workload.Clean(part.Trace, workload.CleanOptions{})
			if !cleaning.AsIs() {
				t.Errorf("%s: %s", name, cleaning)
			}
			for k := range jobs {
				jobs[k].ID = int64(k) + 1
			}
			sites[i] = jobs
		}
		if got := workload.Merge(sites...); !slices.Equal(got, g.Jobs) {
			t.Errorf("%s: the file has other jobs", name)
		}
		if cpus, _ := trace.Header.CPUs(); name == "by hand" && cpus != 110 {
			t.Errorf("the header says %d CPUs", cpus)
		}
		if note, _ := trace.Header.Value("Note"); note != "first note" {
			t.Errorf("the note is %q", note)
		}
		if who, _ := trace.Header.Value("Acknowledge"); name == "by hand" && who != "somebody" {
			t.Errorf("%q is acknowledged", who)
		}
	}
}

func TestGridLoads(t *testing.T) {
	t.Parallel()
	g := pair()
	if g.Span() != 100*protocol.Second {
		t.Errorf("the span is %s", g.Span())
	}
	want := []workload.SystemLoad{
		{Jobs: 2, Run: 20, Cores: 5, Estimate: 30, PowerOfTwo: 0.5, Longest: 0.5, Load: 220.0 / 1000},
		{Jobs: 2, Run: 75, Cores: 50.5, Estimate: 80, Serial: 0.5, PowerOfTwo: 0.5, Longest: 0.5, Load: 5100.0 / 10_000},
	}
	if got := g.Loads(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	g.Jobs = nil
	if got := g.Loads(); g.Span() != 0 || got[0] != (workload.SystemLoad{}) {
		t.Errorf("without jobs: %+v", got)
	}
}

func TestSystemMachine(t *testing.T) {
	t.Parallel()
	for _, s := range append(workload.XSEDESystems(), workload.NorduGridSystems()...) {
		if m := s.Machine(); m.Validate() != nil || m.CPUs() != s.Cores || m.MHz != s.MflopsPerCore || m.Name != s.Name {
			t.Errorf("%+v becomes %+v: %v", s, m, m.Validate())
		}
	}
}
