package recordedgrid_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/recordedgrid"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/recording"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var update = flag.Bool("update", false, "write the expected output")

// sites are the names and CPUs of the recorded grid.
var sites = []struct {
	name string
	cpus int
}{{"north", 4}, {"south", 4}, {"west", 8}}

// configText is the configuration of one of the sites.
func configText(site int, initiation, decides string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "[site]\nname = %q\nnumber = %d\n[localsched]\ncpus = %d\nnodes = 1\nmemory = \"8GB\"\n[policy]\nname = %q\n[policy.tc]\nturnaround_tolerance = \"1s\"\n",
		sites[site].name, site+1, sites[site].cpus, decides)
	fmt.Fprintf(&out, "[rounds]\ninitiation = %q\nlocal_wait_threshold = \"1s\"\ncheck_interval = \"20s\"\ncycle_interval = \"8s\"\n", initiation)
	for other := range sites {
		if other != site {
			fmt.Fprintf(&out, "[[partner]]\nname = %q\npublic_key_file = \"elsewhere.pub\"\nmax_jobs = 1000\nusers = { \"*\" = \"guest\" }\n", sites[other].name)
		}
	}
	return out.String()
}

// recorded simulates a grid of slow sites, records it, and returns the directory of the recordings and the
// configurations.
func recorded(t *testing.T, initiation, decides string, requests ...*protocol.Spec) (dir string, configs map[protocol.SiteName]string) {
	t.Helper()
	dir, configs = t.TempDir(), map[protocol.SiteName]string{}
	cfg := sim.Config{Seed: 7, Scheme: sim.Distributed, Policy: local.New(), Begin: 1_800_000_000_000, Requests: requests}
	cfg.Network.Latency = 3
	for i, site := range sites {
		path := filepath.Join(dir, site.name+".toml")
		if err := os.WriteFile(path, []byte(configText(i, initiation, decides)), 0o600); err != nil {
			t.Fatal(err)
		}
		live, err := config.LoadElsewhere(path)
		if err != nil {
			t.Fatal(err)
		}
		configs[protocol.SiteName(site.name)] = path
		one := sim.Site{
			Machine: sim.Machine{Name: protocol.SiteName(site.name), Nodes: 1, CPUsPerNode: site.cpus, MemoryMB: int64(live.LocalSched.Memory)}, Local: engine.EASY(),
			Latencies:  sim.Latencies{Commit: 4, Call: 1, Submit: 5, Start: 60, End: 20},
			FirstCheck: protocol.Duration(7000 + 3000*i),
		}
		made := live.BuiltIn(decides)
		one.Peer = &sim.Peer{Config: live.Peer(config.Parts{Policy: policy.Describe(made), Capacity: one.Capacity()}), Decides: made}
		cfg.Sites = append(cfg.Sites, one)
	}
	var writers []*recording.Writer
	cfg.Record = func(site protocol.SiteName) sim.Recorder {
		w, err := recording.Create(filepath.Join(dir, string(site)+".rec"), recording.Options{Software: "test", Buffer: 1 << 20, Grace: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		writers = append(writers, w)
		return w
	}
	if _, err := sim.Run(t.Context(), cfg, recordedJobs(), nil); err != nil {
		t.Fatal(err)
	}
	for _, w := range writers {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir, configs
}

// recordedJobs are more than the sites take at once.
func recordedJobs() []workload.Job {
	rng := rand.New(rand.NewPCG(3, 5))
	jobs := make([]workload.Job, 60)
	at := protocol.Instant(8000)
	for i := range jobs {
		run := protocol.Duration(4000 + rng.Int64N(36_000))
		jobs[i] = workload.Job{ID: int64(i + 1), Origin: min(rng.IntN(6), 3) % 3, Submit: at, Run: run, Estimate: 2 * run, CPUs: 1 << rng.IntN(3)}
		at += protocol.Instant(rng.ExpFloat64() * 3500)
	}
	return jobs
}

// simulated is the comparison of a recorded grid.
func simulated(t *testing.T, dir string, configs map[protocol.SiteName]string, change recordedgrid.Change) (*recordedgrid.Grid, *recordedgrid.Report) {
	t.Helper()
	grid, err := recordedgrid.Read([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err = grid.Write(out, configs, change); err != nil {
		t.Fatal(err)
	}
	return grid, compared(t, grid, filepath.Join(out, recordedgrid.File), change)
}

// compared runs an experiment of the grid and compares.
func compared(t *testing.T, grid *recordedgrid.Grid, file string, change recordedgrid.Change) *recordedgrid.Report {
	t.Helper()
	plan, err := experiment.Read(file)
	if err == nil {
		err = plan.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := plan.Run(t.Context(), plan.Scheme, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	compared, err := grid.Compare(t.Context(), outcome, 50, change == recordedgrid.Change{})
	if err != nil {
		t.Fatal(err)
	}
	return compared.Report(change.Policy)
}

// TestRecordedGridIsSimulated: of a grid whose latencies do not vary, the simulation of its recordings is what happened,
// to 50 ms, and its latencies are measured.
func TestRecordedGridIsSimulated(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ initiation, policy string }{
		{"sender", "tc"}, {"receiver", "tc"}, {"symmetric", "tc"}, {"cycle", "mcmf"}, {"cycle", "iss"},
	} {
		t.Run(one.initiation+" "+one.policy, func(t *testing.T) {
			t.Parallel()
			dir, configs := recorded(t, one.initiation, one.policy)
			grid, report := simulated(t, dir, configs, recordedgrid.Change{})
			if report.Jobs != 60 || report.Same != 60 || report.Recorded.Moved == 0 || len(grid.Notes) > 0 {
				t.Errorf("%+v\n%s", grid.Notes, report.Text())
			}
			for _, link := range grid.Links {
				if link.Latency != 3 || link.Lost > 0 {
					t.Errorf("link %+v", link)
				}
			}
			for _, site := range grid.Sites {
				if l := site.Latencies; site.Ahead != 0 || l.Commit != 4 || l.Call != 1 || l.Start != 60 || l.End != 20 {
					t.Errorf("site %+v", site)
				}
			}
		})
	}
}

// TestRequestsAreSimulated: jobs that request memory, sites, data, tasks and least times run in the simulation as they were recorded.
// Without their requests they do not.
func TestRequestsAreSimulated(t *testing.T) {
	t.Parallel()
	requests := make([]*protocol.Spec, len(recordedJobs()))
	for i := range requests {
		switch i % 4 {
		case 0:
			requests[i] = &protocol.Spec{Request: protocol.Request{MemoryMB: 5000}}
		case 1:
			requests[i] = &protocol.Spec{Sites: []protocol.SiteName{"south", "west"}, Data: 3_000_000_000, DataOut: 1_000_000}
		case 2:
			requests[i] = &protocol.Spec{Request: protocol.Request{Nodes: 1, Layout: protocol.Layout{MaxNodes: 1}, Power: 400_000}}
		case 3:
			requests[i] = &protocol.Spec{Request: protocol.Request{MinTime: recordedJobs()[i].Run}}
		}
	}
	dir, configs := recorded(t, "sender", "tc", requests...)
	grid, report := simulated(t, dir, configs, recordedgrid.Change{})
	if report.Jobs != 60 || report.Same != 60 || len(grid.Notes) > 0 {
		t.Errorf("%+v\n%s", grid.Notes, report.Text())
	}
	out := t.TempDir()
	if err := grid.Write(out, configs, recordedgrid.Change{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(out, recordedgrid.File)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	leastTimes := 0
	for site := range configs {
		requested, err := os.ReadFile(filepath.Join(out, string(site)+"-requests.csv"))
		if err != nil {
			t.Fatal(err)
		}
		leastTimes += len(regexp.MustCompile(`(?m),[0-9]+$`).FindAll(requested, -1)) // the last column
	}
	if leastTimes != len(requests)/4 {
		t.Errorf("%d jobs have a least time, want %d", leastTimes, len(requests)/4)
	}
	without := regexp.MustCompile("(?m)^requests = .*$").ReplaceAll(text, nil)
	if err := os.WriteFile(file, without, 0o600); err != nil {
		t.Fatal(err)
	}
	if plain := compared(t, grid, file, recordedgrid.Change{}); plain.SameSite > 50 {
		t.Errorf("without requests\n%s", plain.Text())
	}
}

// TestReportOfAnotherPolicy: what is printed of the recorded jobs under another policy has no classes.
func TestReportOfAnotherPolicy(t *testing.T) {
	t.Parallel()
	dir, configs := recorded(t, "sender", "tc")
	_, report := simulated(t, dir, configs, recordedgrid.Change{Policy: "mcmf"})
	if report.Classes != nil || report.Same == report.Jobs || report.Policy != "mcmf" {
		t.Errorf("%+v", report)
	}
	got := report.Text()
	const golden = "testdata/mcmf.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("printed\n%s\nand expected (go test ./internal/recordedgrid -update)\n%s", got, want)
	}
}

// TestRecordingsThatAreRefused: a missing partner, two lives of a peer, a lost end, and configurations that do not fit.
func TestRecordingsThatAreRefused(t *testing.T) {
	t.Parallel()
	dir, configs := recorded(t, "sender", "tc")
	file := func(site string) string { return filepath.Join(dir, site+".rec") }
	text, err := os.ReadFile(file("west"))
	if err != nil {
		t.Fatal(err)
	}
	cut, twice := filepath.Join(t.TempDir(), "cut.rec"), filepath.Join(t.TempDir(), "twice.rec")
	if err = os.WriteFile(cut, text[:len(text)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	if err = os.WriteFile(twice, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, paths := range map[string][]string{
		"the recording of site west is missing, a partner of north": {file("north"), file("south")},
		"site west has two recordings":                              {dir, twice},
		"its end is missing":                                        {file("north"), file("south"), cut},
		"has no recordings":                                         {t.TempDir()},
		"no such file":                                              {file("east")},
	} {
		if _, err = recordedgrid.Read(paths); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q, got %v", paths, want, err)
		}
	}
	grid, err := recordedgrid.Read([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	delete(configs, "south")
	if err := grid.Write(t.TempDir(), configs, recordedgrid.Change{}); err == nil || !strings.Contains(err.Error(), "the configuration of site south is missing") {
		t.Errorf("without a configuration: %v", err)
	}
}
