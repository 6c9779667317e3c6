package workload_test

import (
	"encoding/csv"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func xsede(t testing.TB, o workload.XSEDEOptions, seed uint64) *workload.Grid {
	t.Helper()
	grid, err := workload.XSEDE(o, seed)
	if err != nil {
		t.Fatal(err)
	}
	return grid
}

// sharedData returns the path of a file or folder of the shared data.
func sharedData(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "shared", "data"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return path
}

// The table is the authors', but for the slip of one clock.
func TestXSEDESystems(t *testing.T) {
	t.Parallel()
	file, err := os.Open(sharedData(t, "xsede_sites.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	systems := workload.XSEDESystems()
	if len(systems) != len(rows)-1 {
		t.Fatalf("%d systems of %d", len(systems), len(rows)-1)
	}
	cores := 0
	for i, row := range rows[1:] {
		want := workload.System{
			Name: row[1], PriceArea: row[2], Cores: int(number(row[3])), MilliwattsPerCore: int(math.Round(1000 * number(row[4]))),
			ZoneLag: protocol.Duration(number(row[5])) * protocol.Hour, MflopsPerCore: int(math.Round(1000 * number(row[6]))),
			MaxRun: protocol.Duration(number(row[7])) * protocol.Second, MaxRequest: int(number(row[8])),
			FixedPrice: row[1] == "Darter",
		}
		if row[1] == "Lonestar" {
			want.ZoneLag = -protocol.Hour // the authors have it two hours ahead
		}
		if systems[i] != want {
			t.Errorf("got %+v, want %+v", systems[i], want)
		}
		cores += systems[i].Cores
	}
	if cores != 76_256 {
		t.Errorf("the grid has %d cores, Table II says 76256", cores)
	}
}

// The statistics of [MC 4.3.1], and those of the authors' sample.
func TestXSEDEStatistics(t *testing.T) {
	t.Parallel()
	const seeds = 10
	run, rate, days := 0.0, 0.0, 0.0
	var load [8]workload.SystemLoad
	for seed := range uint64(seeds) {
		g := xsede(t, workload.XSEDEOptions{}, seed+1)
		if len(g.Jobs) != 14_000 || g.History != 4000 {
			t.Fatalf("%d jobs with %d of history", len(g.Jobs), g.History)
		}
		rate += float64(len(g.Jobs)) / (float64(g.Span()) / float64(protocol.Hour)) / 8 / seeds
		days += float64(g.Jobs[len(g.Jobs)-1].Submit-g.Jobs[g.History].Submit) / float64(protocol.Day) / seeds
		for i, l := range g.Loads() {
			run += l.Run * float64(l.Jobs) / float64(len(g.Jobs)) / 3600 / seeds
			load[i].Jobs += l.Jobs
			load[i].Load += l.Load / seeds
			load[i].Serial += l.Serial / seeds
			load[i].PowerOfTwo += l.PowerOfTwo / seeds
			load[i].Longest += l.Longest / seeds
		}
	}
	t.Logf("mean run %.2f h, %.2f arrivals a system and hour, 10,000 jobs in %.1f days", run, rate, days)
	if !near(run, 8.8, 0.02) || !near(rate, 3.22, 0.06) || !near(days, 15.5, 0.06) {
		t.Error("this is not near 8.8 h, 3.22 an hour, 15 to 16 days")
	}
	sample := [8]struct {
		jobs int // of 4100
		load float64
	}{{725, 0.91}, {421, 0.56}, {374, 0.07}, {676, 0.73}, {331, 0.48}, {481, 0.36}, {591, 0.60}, {501, 0.59}}
	for i, want := range sample {
		got, name := load[i], workload.XSEDESystems()[i].Name
		jobs := float64(got.Jobs) * 4100 / 14_000 / seeds
		t.Logf("%-10s %.0f jobs of 4100 (%d), load %.3f (%.2f), serial %.3f, powers of two %.3f, largest estimate %.3f",
			name, jobs, want.jobs, got.Load, want.load, got.Serial, got.PowerOfTwo, got.Longest)
		if !near(jobs, float64(want.jobs), 0.15) || math.Abs(got.Load-want.load) > 0.1 {
			t.Errorf("%s: %.0f jobs, load %.3f; the sample has %d, %.2f", name, jobs, got.Load, want.jobs, want.load)
		}
		if got.Serial < 0.225 || got.Serial > 0.275 || got.PowerOfTwo < 0.81 || got.PowerOfTwo > 0.88 {
			t.Errorf("%s: serial %.3f, powers of two %.3f", name, got.Serial, got.PowerOfTwo)
		}
		if i < 6 && (got.Longest < 0.22 || got.Longest > 0.34) || i >= 6 && got.Longest > 0.03 {
			t.Errorf("%s: %.3f of the jobs ask for the largest estimate", name, got.Longest)
		}
	}
}

func TestXSEDEJobsAreProper(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		g := xsede(t, workload.XSEDEOptions{History: -1, Jobs: 3000}, seed)
		numbers := make([]int64, len(g.Systems))
		for i, j := range g.Jobs {
			s := g.Systems[j.Origin]
			numbers[j.Origin]++
			switch {
			case i > 0 && j.Submit < g.Jobs[i-1].Submit, j.ID != numbers[j.Origin]:
				t.Fatalf("job %+v stands at %d", j, i)
			case j.Run < 30*protocol.Minute || j.Run > j.Estimate || j.Estimate > s.MaxRun:
				t.Fatalf("job %+v runs too short or too long for %+v", j, s)
			case j.CPUs < 1 || j.CPUs > s.MaxRequest:
				t.Fatalf("job %+v is too wide for %+v", j, s)
			}
		}
	}
}

// The estimates that are asked for most are the largest and full hours; at the two
// systems with three days they are spread over 49 to 58 hours.
func TestXSEDEEstimateModes(t *testing.T) {
	t.Parallel()
	g := xsede(t, workload.XSEDEOptions{History: -1, Jobs: 4000}, 1)
	counts := make([]map[protocol.Duration]int, len(g.Systems))
	totals := make([]int, len(g.Systems))
	for _, j := range g.Jobs {
		if counts[j.Origin] == nil {
			counts[j.Origin] = map[protocol.Duration]int{}
		}
		counts[j.Origin][j.Estimate]++
		totals[j.Origin]++
	}
	for i, s := range g.Systems {
		mode, most, late := protocol.Duration(0), 0, 0
		for at, n := range counts[i] {
			if n > most {
				mode, most = at, n
			}
			if at >= 49*protocol.Hour && at <= 58*protocol.Hour && at%protocol.Hour == 0 {
				late += n
			}
		}
		if s.MaxRun <= 2*protocol.Day && mode != s.MaxRun {
			t.Errorf("%s: the mode is %s", s.Name, mode)
		}
		if share := float64(late) / float64(totals[i]); s.MaxRun > 2*protocol.Day && (share < 0.2 || share > 0.35) {
			t.Errorf("%s: %.2f ask for 49 to 58 hours", s.Name, share)
		}
	}
}

func TestXSEDEOptions(t *testing.T) {
	t.Parallel()
	all := xsede(t, workload.XSEDEOptions{History: -1, Jobs: 2500}, 7)
	bare := func(jobs []workload.Job) []workload.Job {
		cut := slices.Clone(jobs)
		for i := range cut {
			cut[i].Estimate = 0
		}
		return cut
	}
	if few := xsede(t, workload.XSEDEOptions{History: -1, Jobs: 1500}, 7); few.History != 0 ||
		!slices.Equal(bare(few.Jobs), bare(all.Jobs[:1500])) {
		t.Error("the first jobs are not the same at another count")
	}
	if busy := xsede(t, workload.XSEDEOptions{History: -1, Jobs: 2500, Load: 2}, 7); !near(float64(busy.Span()), float64(all.Span())/2, 0.15) {
		t.Errorf("twice the load takes %s of %s", busy.Span(), all.Span())
	}
	for jobs := 1; jobs < 400; jobs += 80 {
		for _, j := range xsede(t, workload.XSEDEOptions{History: -1, Jobs: jobs}, uint64(jobs)).Jobs {
			if j.Estimate < j.Run {
				t.Fatalf("of %d jobs, one is %+v", jobs, j)
			}
		}
	}
	for want, o := range map[string]workload.XSEDEOptions{
		"jobs: -1 after 4000 of history": {Jobs: -1},
		"load: -3":                       {Load: -3},
		"jobs: 10000 after 9223372036854775807 of history are": {History: math.MaxInt},
	} {
		_, err := workload.XSEDE(o, 1)
		wantError(t, err, want)
	}
}

// The bytes of a workload are part of what is published with a seed.
func TestXSEDEGolden(t *testing.T) {
	t.Parallel()
	if got := hashOf(xsede(t, workload.XSEDEOptions{History: -1, Jobs: 2000}, 1).Jobs); got != goldenXSEDE {
		t.Errorf("the hash is %#x, want %#x", got, uint64(goldenXSEDE))
	}
}

const goldenXSEDE = 0x7c916bca6b7077ac

func hashOf(jobs []workload.Job) uint64 {
	h := fnv.New64a()
	for _, j := range jobs {
		for _, v := range []int64{j.ID, int64(j.Origin), int64(j.Submit), int64(j.Run), int64(j.Estimate), int64(j.CPUs)} {
			h.Write(strconv.AppendInt(nil, v, 10))
			h.Write([]byte{' '})
		}
	}
	return h.Sum64()
}

func BenchmarkXSEDE(b *testing.B) {
	b.ReportAllocs()
	jobs := 0
	for b.Loop() {
		jobs += len(xsede(b, workload.XSEDEOptions{}, 1).Jobs)
	}
	b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
}
