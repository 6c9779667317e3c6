package workload_test

import (
	"cmp"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestNorduGridSystems(t *testing.T) {
	t.Parallel()
	systems := workload.NorduGridSystems()
	cores, fixed, names := 0, 0, map[string]bool{}
	for _, s := range systems {
		cores += s.Cores
		if s.FixedPrice {
			fixed++
		}
		names[s.Name] = true
		if s.Cores < 50 || s.MilliwattsPerCore < 5000 || s.MilliwattsPerCore > 25_000 || s.MflopsPerCore < 5000 || s.MaxRequest != s.Cores {
			t.Errorf("%+v is no system of the time", s)
		}
	}
	if len(systems) != 50 || cores != 356_856 || fixed != 24 || len(names) != 50 {
		t.Errorf("%d systems of %d names with %d cores, %d with fixed prices", len(systems), len(names), cores, fixed)
	}
	if again := workload.NorduGridSystems(); !slices.Equal(again, systems) {
		t.Error("the table is not always the same")
	}
}

// Every area has a series of prices, and every series is used.
func TestNorduGridAreas(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(sharedData(t, "prices", "nordu-2014"))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, s := range workload.NorduGridSystems() {
		used[s.PriceArea+".csv.gz"] = true
	}
	for _, file := range files {
		if !used[file.Name()] {
			t.Errorf("no system has the prices of %s", file.Name())
		}
		delete(used, file.Name())
	}
	if len(used) > 0 {
		t.Errorf("there are no prices for %v", used)
	}
}

// runOf is a run time of the log: most are short.
func runOf(job int) protocol.Duration {
	if job%40 < 26 {
		return 20 * protocol.Second
	}
	return protocol.Duration(job%40-25) * 20 * protocol.Minute
}

// logOf is a log of sites with so many serial jobs each, one job a minute.
func logOf(jobs ...int) *workload.Trace {
	trace := &workload.Trace{Header: workload.Header{" Acknowledge: the log's owner"}}
	for site, n := range jobs {
		for i := range n {
			r := workload.UnknownRecord()
			r.ID, r.Submit = int64(len(trace.Records)+1), protocol.Instant(i)*60_000
			r.Run, r.CPUs, r.Partition, r.User = runOf(i), 1, site+1, site
			trace.Records = append(trace.Records, r)
		}
	}
	slices.SortStableFunc(trace.Records, func(a, b workload.Record) int { return cmp.Compare(a.Submit, b.Submit) })
	return trace
}

func nordugrid(t testing.TB, log *workload.Trace, o workload.NorduGridOptions, seed uint64) *workload.Grid {
	t.Helper()
	grid, err := workload.NorduGrid(log, o, seed)
	if err != nil {
		t.Fatal(err)
	}
	return grid
}

// TestNorduGridKeepsOverruns: what the log's jobs asked for cuts them, unless they
// are to run as long as they did; either way it is told.
func TestNorduGridKeepsOverruns(t *testing.T) {
	t.Parallel()
	log := logOf(400)
	recorded := int64(0)
	for i := range log.Records {
		recorded += int64(log.Records[i].Run)
		log.Records[i].ReqTime = 20 * protocol.Second
	}
	for _, keep := range []bool{false, true} {
		g := nordugrid(t, log, workload.NorduGridOptions{Jobs: 400, Unscaled: true, KeepOverruns: keep}, 1)
		work := int64(0)
		for _, job := range g.Jobs {
			work += job.Work()
		}
		want, over := int64(400*20*protocol.Second), [2]int{140, 0} // 14 of 40 run longer
		if keep {
			want, over = recorded, [2]int{0, 140}
		}
		if c := g.Cleaning; work != want || c.Records != 400 || c.Jobs != 400 || [2]int{c.Cut, c.Kept} != over || c.Overran() <= 0.9 {
			t.Errorf("keep %t: work %d, want %d; %s", keep, work, want, c)
		}
	}
}

func TestNorduGridDealsSites(t *testing.T) {
	t.Parallel()
	counts := make([]int, 60) // sites; of these 51 are dealt to the largest system again
	total := 0
	for i := range counts {
		counts[i] = 100 - i
		total += counts[i]
	}
	slices.Reverse(counts)
	g := nordugrid(t, logOf(counts...), workload.NorduGridOptions{Jobs: total, Unscaled: true}, 1)
	order := slices.Clone(g.Systems)
	slices.SortStableFunc(order, func(a, b workload.System) int { return b.Cores - a.Cores })
	for i, l := range g.Loads() {
		rank := slices.IndexFunc(order, func(s workload.System) bool { return s.Name == g.Systems[i].Name })
		want := 100 - rank
		if rank < 10 {
			want += 50 - rank
		}
		if l.Jobs != want {
			t.Errorf("the system of rank %d has %d jobs, want %d", rank, l.Jobs, want)
		}
	}
	if g.Credits[0] != " Acknowledge: the log's owner" {
		t.Errorf("credits: %q", g.Credits)
	}
}

func TestNorduGridScales(t *testing.T) {
	t.Parallel()
	const jobs = 2000
	log := logOf(1500, 900)
	g := nordugrid(t, log, workload.NorduGridOptions{Jobs: jobs, History: 300}, 3)
	mean, users := 0.0, map[int]int{}
	for i, j := range g.Jobs {
		mean += float64(j.Run) / float64(protocol.Hour) / jobs
		users[j.User] = j.Origin
		if j.Estimate < j.Run || j.Estimate > g.Systems[j.Origin].MaxRun || j.Run%1000 != 0 || i > 0 && j.Submit < g.Jobs[i-1].Submit {
			t.Fatalf("job %+v", j)
		}
	}
	if !near(mean, 3.4*8.8, 0.001) || g.History != 300 || len(users) != 2 || users[0] == users[1] {
		t.Errorf("a mean of %.3f h, %d of history, users at systems %v", mean, g.History, users)
	}
	if days := float64(g.Span()) / float64(protocol.Day); !near(days, 90*jobs/126_344.0, 0.001) {
		t.Errorf("%d jobs in %.3f days", jobs, days)
	}
	plain := nordugrid(t, log, workload.NorduGridOptions{Jobs: jobs, Unscaled: true}, 3)
	for i, j := range plain.Jobs {
		if j.ID != g.Jobs[i].ID || j.Origin != g.Jobs[i].Origin || j.Run > 280*protocol.Minute {
			t.Fatalf("job %+v is %+v unscaled", g.Jobs[i], j)
		}
		if factor := float64(g.Jobs[i].Run) / float64(j.Run); !near(factor, float64(g.Jobs[0].Run)/float64(plain.Jobs[0].Run), 0.01) {
			t.Fatalf("job %+v is %+v unscaled", g.Jobs[i], j)
		}
	}
	if again := nordugrid(t, log, workload.NorduGridOptions{Jobs: jobs, History: 300}, 3); !reflect.DeepEqual(again, g) {
		t.Error("one seed gives two workloads")
	}
	if other := nordugrid(t, log, workload.NorduGridOptions{Jobs: jobs, History: 300}, 4); reflect.DeepEqual(other.Jobs, g.Jobs) {
		t.Error("two seeds give one workload")
	}
}

// The sample is of the whole log: each job is as likely as the others.
func TestNorduGridSamples(t *testing.T) {
	t.Parallel()
	log := logOf(1000)
	kept := make([]float64, 1001)
	const seeds = 60
	for seed := range uint64(seeds) {
		g := nordugrid(t, log, workload.NorduGridOptions{Jobs: 300, Unscaled: true}, seed)
		if len(g.Jobs) != 300 || g.Jobs[0].Submit != 0 {
			t.Fatalf("%d jobs, the first at %d", len(g.Jobs), g.Jobs[0].Submit)
		}
		for _, j := range g.Jobs {
			kept[j.ID]++
		}
	}
	for _, part := range [][]float64{kept[1:251], kept[251:501], kept[501:751], kept[751:]} {
		sum := 0.0
		for _, n := range part {
			sum += n
		}
		if share := sum / seeds / 250; math.Abs(share-0.3) > 0.015 {
			t.Errorf("%.3f of a quarter of the log are kept, want 0.3", share)
		}
	}
}

func TestNorduGridRefuses(t *testing.T) {
	t.Parallel()
	wide, lost, empty := logOf(300), logOf(300), logOf(300)
	for i := range wide.Records {
		wide.Records[i].CPUs = 100_000
		lost.Records[i].Partition = workload.Unknown
		empty.Records[i].Run = 0
	}
	type options = workload.NorduGridOptions
	tests := map[string]struct {
		log     *workload.Trace
		options options
		want    string
	}{
		"no log":       {&workload.Trace{}, options{}, "log: it has no jobs with a run time"},
		"zero runs":    {empty, options{}, "log: it has no jobs with a run time"},
		"too few":      {logOf(300), options{}, "jobs: 126344 are not from 200 to the 300 of the log"},
		"few wanted":   {logOf(300), options{Jobs: 100}, "jobs: 100 are not from 200"},
		"all history":  {logOf(300), options{Jobs: 250, History: 250}, "history: 250"},
		"wide":         {wide, options{Jobs: 250}, "log: job 1 asks for 100000 cores"},
		"no partition": {lost, options{Jobs: 250}, "log: 300 jobs have no partition"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := workload.NorduGrid(test.log, test.options, 1)
			wantError(t, err, test.want)
		})
	}
}

// The real log gives Table II's counts, and the means where they are scaled.
func TestNorduGridOfLCG(t *testing.T) {
	t.Parallel()
	log := readShared(t, "LCG.swf.gz")
	tests := map[string]struct {
		options    workload.NorduGridOptions
		run, days  float64
		longest    protocol.Duration
		golden     uint64
		mostLoaded float64
	}{
		"scaled":   {workload.NorduGridOptions{}, 29.92, 90, 0, goldenScaled, 0.1},
		"unscaled": {workload.NorduGridOptions{Unscaled: true}, 2.22, 11, 48 * protocol.Hour, goldenUnscaled, 0.1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := nordugrid(t, log, test.options, 1)
			mean, sites := 0.0, 0
			for _, j := range g.Jobs {
				mean += float64(j.Run) / float64(protocol.Hour) / float64(len(g.Jobs))
			}
			for _, l := range g.Loads() {
				if l.Jobs > 0 {
					sites++
				}
				if l.Load > test.mostLoaded || l.Serial != 1 {
					t.Errorf("a system has %+v; the log's jobs are serial and few for so many cores", l)
				}
			}
			days := float64(g.Span()) / float64(protocol.Day)
			if len(g.Jobs) != 126_344 || sites != 50 || !near(mean, test.run, 0.02) || !near(days, test.days, 0.001) {
				t.Errorf("%d jobs at %d systems, %.2f h in the mean, %.2f days", len(g.Jobs), sites, mean, days)
			}
			if test.longest > 0 && g.Systems[0].MaxRun != test.longest {
				t.Errorf("the longest is %s", g.Systems[0].MaxRun)
			}
			if got := hashOf(g.Jobs); got != test.golden {
				t.Errorf("the hash is %#x, want %#x", got, test.golden)
			}
		})
	}
}

const (
	goldenScaled   = 0x33ef6d696a0d7b64
	goldenUnscaled = 0x5d7bac24d17c8aa3
)

func BenchmarkNorduGrid(b *testing.B) {
	log := readShared(b, "LCG.swf.gz")
	b.ReportAllocs()
	jobs := 0
	for b.Loop() {
		jobs += len(nordugrid(b, log, workload.NorduGridOptions{}, 1).Jobs)
	}
	b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
}
