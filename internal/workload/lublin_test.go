package workload_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func lublinJobs(t rapid.TB, m workload.Lublin, jobs int, seed uint64) []workload.Job {
	t.Helper()
	drawn, err := m.Generate(jobs, seed)
	if err != nil {
		t.Fatal(err)
	}
	return drawn
}

// figures are the statistics of jobs that the model fixes.
type figures struct {
	serial, powers, cpus float64
	logRun               [3]float64 // quartiles
}

func figuresOf(jobs []workload.Job) (f figures) {
	n := float64(len(jobs))
	logs := make([]float64, len(jobs))
	for i, j := range jobs {
		logs[i] = math.Log(float64(j.Run) / 1000)
		f.cpus += float64(j.CPUs) / n
		if j.CPUs == 1 {
			f.serial += 1 / n
		}
		if j.CPUs&(j.CPUs-1) == 0 {
			f.powers += 1 / n
		}
	}
	slices.Sort(logs)
	for i := range f.logRun {
		f.logRun[i] = logs[(i+1)*len(logs)/4]
	}
	return f
}

// A trace that others made with the reference program, of a machine of 256 CPUs
// without classes, looks like ours.
func TestLublinIsTheReference(t *testing.T) {
	t.Parallel()
	reference, _ := workload.Clean(readShared(t, "lublin_256_perfect.swf.gz"), workload.CleanOptions{Perfect: true})
	want := figuresOf(reference)
	got := figuresOf(lublinJobs(t, workload.LublinTypeless().For(256), 15_000, 1))
	t.Logf("got %+v, want %+v", got, want)
	if !near(got.serial, want.serial, 0.05) || !near(got.powers, want.powers, 0.02) || !near(got.cpus, want.cpus, 0.06) {
		t.Errorf("sizes: got %+v, want %+v", got, want)
	}
	for i := range want.logRun {
		if math.Abs(got.logRun[i]-want.logRun[i]) > 0.12 {
			t.Errorf("quartile %d of the logarithms of run times is %.3f, want %.3f", i+1, got.logRun[i], want.logRun[i])
		}
	}
}

func TestLublinDefaults(t *testing.T) {
	t.Parallel()
	if classes := workload.Lublin99().Classes; len(classes) != 2 || len(workload.LublinTypeless().Classes) != 1 {
		t.Errorf("there are %d classes", len(classes))
	}
	for _, m := range []workload.Lublin{workload.Lublin99(), workload.LublinTypeless()} {
		if err := m.Validate(); err != nil {
			t.Error(err)
		}
		c := m.For(1024).Classes[0]
		if c.High != 10 || c.Medium != 7.5 || m.Classes[0].High != 7 {
			t.Errorf("for 1024 CPUs: %+v, before: %+v", c, m.Classes[0])
		}
	}
	small := workload.LublinTypeless().For(1)
	for _, j := range lublinJobs(t, small, 500, 1) {
		if j.CPUs != 1 {
			t.Fatalf("job %+v is on a machine of 1 CPU", j)
		}
	}
}

func TestLublinJobsAreProper(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]workload.Lublin{workload.Lublin99(), workload.LublinTypeless()}).Draw(t, "model")
		cpus := rapid.IntRange(1, 5000).Draw(t, "cpus")
		m = m.For(cpus)
		m.StartHour = rapid.IntRange(0, 23).Draw(t, "start")
		m.Load = rapid.SampledFrom([]float64{0, 0.01, 3, 1000}).Draw(t, "load")
		m.LeastRun = rapid.SampledFrom([]protocol.Duration{0, 1, 2 * protocol.Hour}).Draw(t, "least")
		m.Limit = rapid.SampledFrom([]protocol.Duration{0, 3 * protocol.Hour}).Draw(t, "limit")
		seed := rapid.Uint64().Draw(t, "seed")
		jobs := lublinJobs(t, m, 100, seed)
		if again := lublinJobs(t, m, 50, seed); !reflect.DeepEqual(again, jobs[:50]) {
			t.Fatal("the first jobs depend on how many are drawn")
		}
		last := protocol.Instant(0)
		for i, j := range jobs {
			most := protocol.Duration(math.Exp(12)) * protocol.Second
			if m.Limit > 0 {
				most = m.Limit
			}
			if j.ID != int64(i)+1 || j.User != -1 || j.Estimate != j.Run || j.CPUs < 1 || j.CPUs > cpus {
				t.Fatalf("job %+v is number %d on %d CPUs", j, i, cpus)
			}
			if j.Run < max(m.LeastRun, protocol.Second) || j.Run > most || j.Run%protocol.Second != 0 {
				t.Fatalf("job %+v runs outside of %d to %d", j, m.LeastRun, most)
			}
			if j.Submit < last || j.Submit%1000 != 0 {
				t.Fatalf("job %+v after %d", j, last)
			}
			last = j.Submit
		}
	})
}

// ofOneKind is a model of serial jobs whose logarithms of run times are of one
// gamma distribution.
func ofOneKind(run workload.Gamma) workload.Lublin {
	m := workload.LublinTypeless()
	m.MaxLogRun = 20
	c := &m.Classes[0]
	c.Serial, c.PowerOfTwo, c.Slope, c.Short0, c.Short = 1, 0, 0, 1, run
	return m
}

func TestLublinRunTimes(t *testing.T) {
	t.Parallel()
	for _, g := range []workload.Gamma{{Shape: 312, Scale: 0.03}, {Shape: 9, Scale: 0.8}, {Shape: 639.1, Scale: 0.0156}} {
		const jobs = 8_000
		sum, squares := 0.0, 0.0
		for _, j := range lublinJobs(t, ofOneKind(g), jobs, 3) {
			x := math.Log(float64(j.Run) / 1000)
			sum += x
			squares += x * x
		}
		mean := sum / jobs
		deviation := math.Sqrt(squares/jobs - mean*mean)
		if !near(mean, g.Mean(), 0.02) || !near(deviation, math.Sqrt(g.Shape)*g.Scale, 0.05) {
			t.Errorf("%+v: mean %.3f, deviation %.3f, want %.3f, %.3f", g, mean, deviation, g.Mean(), math.Sqrt(g.Shape)*g.Scale)
		}
	}
}

func TestLublinSizesDecideRunTimes(t *testing.T) {
	t.Parallel()
	m := workload.LublinTypeless().For(128)
	c := &m.Classes[0]
	c.Short, c.Long = workload.Gamma{Shape: 2000, Scale: 0.001}, workload.Gamma{Shape: 8000, Scale: 0.001} // e^2 and e^8 s
	short, jobs := map[int]float64{}, map[int]float64{}
	for _, j := range lublinJobs(t, m, 15_000, 1) {
		jobs[j.CPUs]++
		if j.Run < 100*protocol.Second {
			short[j.CPUs]++
		}
	}
	for _, cpus := range []int{1, 2, 32, 64} {
		want := -0.0054*float64(cpus) + 0.78
		if got := short[cpus] / jobs[cpus]; math.Abs(got-want) > 0.04 {
			t.Errorf("%.3f of the jobs of %d CPUs are short, want %.3f", got, cpus, want)
		}
	}
}

func TestLublinSizes(t *testing.T) {
	t.Parallel()
	const drawn = 15_000
	m := workload.LublinTypeless() // 2^0.8 to 2^4.5 with 86 %, else to 2^7
	got := map[int]float64{}
	for _, j := range lublinJobs(t, m, drawn, 1) {
		got[j.CPUs] += 1.0 / drawn
	}
	c := m.Classes[0]
	other := 1 - c.Serial - c.PowerOfTwo
	// The logarithms from low to high as far as they lie in the lower range.
	lower := func(low, high float64) float64 { return c.Lower * (high - low) / (c.Medium - c.Low) }
	want := map[int]float64{
		1: c.Serial,
		2: c.PowerOfTwo*lower(0.8, 1.5) + other*lower(0.8, math.Log2(2.5)),
		3: other * lower(math.Log2(2.5), math.Log2(3.5)),
		8: c.PowerOfTwo*lower(2.5, 3.5) + other*lower(math.Log2(7.5), math.Log2(8.5)),
	}
	for cpus, share := range want {
		if math.Abs(got[cpus]-share) > 4*math.Sqrt(share/drawn) {
			t.Errorf("%.4f of the jobs have %d CPUs, want %.4f", got[cpus], cpus, share)
		}
	}
}

// evenGaps is a model whose times between arrivals vary little.
func evenGaps() workload.Lublin {
	m := ofOneKind(workload.Gamma{Shape: 312, Scale: 0.03})
	m.Classes[0].Gap = workload.Gamma{Shape: 70, Scale: 0.1}
	m.Classes[0].Rush = 1
	return m
}

func TestLublinArrivals(t *testing.T) {
	t.Parallel()
	const jobs = 6_000
	m := evenGaps()
	closed := math.Pow(1-0.1, -70) // E[e^g] of a gamma distribution; the bound of 13 cuts off next to nothing
	for _, load := range []float64{0, 4} {
		m.Load = load
		drawn := lublinJobs(t, m, jobs, 1)
		factor := load
		if load == 0 {
			factor = 1
		}
		if got := float64(drawn[jobs-1].Submit) / 1000 / jobs; !near(got, closed/factor, 0.05) {
			t.Errorf("load %v: %.1f s between arrivals in the mean, want %.1f", load, got, closed/factor)
		}
	}
}

func TestLublinDay(t *testing.T) {
	t.Parallel()
	const jobs = 8_000
	m := evenGaps()
	m.Load = 0.2 // over thousands of days
	weights, err := m.Classes[0].Cycle()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if !near(sum, 48, 1e-9) {
		t.Errorf("the weights sum to %v", sum)
	}
	if noon, night := weights[26], weights[8]; noon < 1.7 || night > 0.4 {
		t.Errorf("13:00 has %.2f of the mean and 4:00 has %.2f", noon, night)
	}
	for _, start := range []int{0, 15} {
		m.StartHour = start
		counts := [48]float64{}
		for _, j := range lublinJobs(t, m, jobs, 1) {
			counts[(int64(j.Submit)/1_800_000+2*int64(start))%48]++
		}
		for i, w := range weights {
			want := w * jobs / 48
			if math.Abs(counts[i]-want) > 6*math.Sqrt(want) {
				t.Errorf("from %d:00, half-hour %d has %.0f arrivals, want %.0f", start, i, counts[i], want)
			}
		}
	}
}

func TestLublinStreamsAreIndependent(t *testing.T) {
	t.Parallel()
	still := workload.LublinTypeless()
	still.Classes[0].Slope = 0
	larger := still.For(4096)
	before, after := lublinJobs(t, still, 500, 5), lublinJobs(t, larger, 500, 5)
	for i := range before {
		if before[i].Submit != after[i].Submit || before[i].Run != after[i].Run {
			t.Fatalf("sizes changed job %+v to %+v", before[i], after[i])
		}
	}
	if reflect.DeepEqual(before, lublinJobs(t, still, 500, 6)) {
		t.Error("two seeds give one workload")
	}
	both := workload.Lublin99()
	batch, all := both, lublinJobs(t, both, 2000, 5)
	batch.Classes = both.Classes[:1]
	alone := lublinJobs(t, batch, 300, 5)
	found := 0
	for _, j := range all {
		if found < len(alone) && j.Submit == alone[found].Submit && j.CPUs == alone[found].CPUs && j.Run == alone[found].Run {
			found++
		}
	}
	if found < len(alone) && all[len(all)-1].Submit > alone[found].Submit {
		t.Errorf("only %d of the batch jobs are the same beside interactive ones", found)
	}
}

func TestLublinRefuses(t *testing.T) {
	t.Parallel()
	change := func(f func(m *workload.Lublin, c *workload.LublinClass)) workload.Lublin {
		m := workload.LublinTypeless()
		f(&m, &m.Classes[0])
		return m
	}
	type model = workload.Lublin
	type class = workload.LublinClass
	tests := map[string]struct {
		model workload.Lublin
		want  string
	}{
		"nothing":      {workload.Lublin{}, "classes: a model has at least one"},
		"runs":         {change(func(m *model, _ *class) { m.MaxLogRun = 21 }), "max_log_run: 21"},
		"gaps":         {change(func(m *model, _ *class) { m.MaxLogGap = math.NaN() }), "max_log_gap: NaN"},
		"start":        {change(func(m *model, _ *class) { m.StartHour = 24 }), "start_hour: 24"},
		"load":         {change(func(m *model, _ *class) { m.Load = -1 }), "load: -1"},
		"least":        {change(func(m *model, _ *class) { m.LeastRun = -1 }), "least_run: -1"},
		"limit":        {change(func(m *model, _ *class) { m.LeastRun, m.Limit = 2000, 1500 }), "limit: 1500 ms is less than the shortest run, 2000 ms"},
		"shares":       {change(func(_ *model, c *class) { c.Serial = 0.5 }), "classes[0].serial, power_of_two: 0.5 and 0.576"},
		"sizes":        {change(func(_ *model, c *class) { c.Medium = 0.5 }), "classes[0].low, medium, high: 0.8, 0.5, 7"},
		"lower":        {change(func(_ *model, c *class) { c.Lower = 2 }), "classes[0].lower: 2"},
		"slope":        {change(func(_ *model, c *class) { c.Slope = math.Inf(1) }), "classes[0].slope"},
		"rush":         {change(func(_ *model, c *class) { c.Rush = 0 }), "classes[0].rush: 0"},
		"gamma":        {change(func(_ *model, c *class) { c.Long.Scale = 0 }), "classes[0].long.scale: 0"},
		"no gaps":      {change(func(_ *model, c *class) { c.Gap = workload.Gamma{Shape: 1e4, Scale: 1} }), "classes[0].gap.shape, scale: "},
		"no runs":      {change(func(m *model, _ *class) { m.LeastRun = 100 * protocol.Day }), "classes[0].short.shape, scale: "},
		"no day":       {change(func(_ *model, c *class) { c.Daily = workload.Gamma{Shape: 1000, Scale: 0.03} }), "classes[0].daily.shape, daily.scale: "},
		"no long runs": {change(func(_ *model, c *class) { c.Long = workload.Gamma{Shape: 3000, Scale: 0.03} }), "classes[0].long.shape, scale: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.model.Generate(1, 1)
			wantError(t, err, test.want)
		})
	}
	_, err := workload.LublinTypeless().Generate(-1, 1)
	wantError(t, err, "jobs: -1")
}

func TestGamma(t *testing.T) {
	t.Parallel()
	exponential := workload.Gamma{Shape: 1, Scale: 2}
	if got := exponential.Below(3); !near(got, 1-math.Exp(-1.5), 1e-12) || exponential.Below(-1) != 0 {
		t.Errorf("below 3 are %v of an exponential with mean 2", got)
	}
}
