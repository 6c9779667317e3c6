package workload_test

import (
	"hash/fnv"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func generate(t rapid.TB, m workload.JobModel, o workload.Options, seed uint64) []workload.Job {
	t.Helper()
	if o.Span == 0 {
		o.Span = workload.Table6Span
	}
	jobs, err := m.Generate(o, seed)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

func TestGenerateMakesProperJobs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom([]workload.Model{workload.M1(), workload.M2(), workload.M3()}).Draw(t, "model")
		o := workload.Options{
			Span:     protocol.Duration(rapid.Int64Range(1, int64(3*protocol.Day)).Draw(t, "span")),
			Load:     rapid.SampledFrom([]float64{0, 0.5, 2}).Draw(t, "load"),
			Service:  rapid.SampledFrom([]float64{0, 1e-9, 3}).Draw(t, "service"),
			Bias:     rapid.Float64Range(-1, 1).Draw(t, "bias"),
			SizeUnit: rapid.SampledFrom([]workload.SizeUnit{"", workload.SizeInCPUs, workload.SizeInNodes}).Draw(t, "size unit"),
			Scale:    rapid.Bool().Draw(t, "scale"),
		}
		machine := m.Machine
		if rapid.Bool().Draw(t, "elsewhere") {
			machine = rapid.SampledFrom(slices.Collect(allMachines)).Draw(t, "machine")
			o.Machine = machine
		}
		for i, j := range generate(t, m, o, rapid.Uint64().Draw(t, "seed")) {
			if j.ID != int64(i)+1 || j.Run < 1 || j.Estimate != j.Run || j.User != -1 || j.Origin != 0 {
				t.Fatalf("job %+v is number %d", j, i)
			}
			if j.Submit < 0 || j.Submit >= protocol.Instant(o.Span) {
				t.Fatalf("job %+v is outside the span %d", j, o.Span)
			}
			if j.CPUs < 1 || j.CPUs > machine.CPUs() {
				t.Fatalf("job %+v does not fit the machine's %d CPUs", j, machine.CPUs())
			}
			if o.SizeUnit == workload.SizeInNodes && j.CPUs%machine.CPUsPerNode != 0 {
				t.Fatalf("job %+v does not ask for whole nodes", j)
			}
		}
	})
}

func allMachines(yield func(workload.Machine) bool) {
	for _, m := range workload.SuperschedulerMachines() {
		if !yield(m) {
			return
		}
	}
}

func TestGenerateIsSortedAndDeterministic(t *testing.T) {
	t.Parallel()
	first := generate(t, workload.M3(), workload.Options{}, 5)
	if again := generate(t, workload.M3(), workload.Options{}, 5); !reflect.DeepEqual(first, again) {
		t.Error("one seed gives two workloads")
	}
	if other := generate(t, workload.M3(), workload.Options{}, 6); reflect.DeepEqual(first, other) {
		t.Error("two seeds give one workload")
	}
	if !slices.IsSortedFunc(first, func(a, b workload.Job) int { return int(a.Submit - b.Submit) }) {
		t.Error("the jobs are not in the order of their submits")
	}
}

// The bytes of a workload are part of what is published with a seed.
func TestGenerateGolden(t *testing.T) {
	t.Parallel()
	for unit, want := range map[workload.SizeUnit]uint64{
		workload.SizeInCPUs: 0x89c26811aaae5fa5, workload.SizeInNodes: 0x1ba7230e5178a1de,
	} {
		testGolden(t, unit, want)
	}
}

func testGolden(t *testing.T, unit workload.SizeUnit, want uint64) {
	t.Helper()
	sources := workload.Heavy()
	for i := range sources {
		sources[i].Options.Bias, sources[i].Options.SizeUnit = 0, unit // the calibration may change
	}
	jobs, err := workload.Mix(sources, 1)
	if err != nil {
		t.Fatal(err)
	}
	h := fnv.New64a()
	for _, j := range jobs {
		for _, v := range []int64{j.ID, int64(j.Origin), int64(j.Submit), int64(j.Run), int64(j.CPUs)} {
			h.Write([]byte{
				byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24),
				byte(v >> 32), byte(v >> 40), byte(v >> 48), byte(v >> 56),
			})
		}
	}
	const count = 18751
	if got := h.Sum64(); len(jobs) != count || got != want {
		t.Errorf("sizes in %s: %d jobs with hash %#x, want %d with %#x", unit, len(jobs), got, count, want)
	}
}

// ofClass returns the jobs of the CPUs of a class, without their numbers, which
// depend on the others.
func ofClass(jobs []workload.Job, c workload.Class) []workload.Job {
	var of []workload.Job
	for _, j := range jobs {
		if j.CPUs >= c.Min && j.CPUs <= c.Max {
			j.ID = 0
			of = append(of, j)
		}
	}
	return of
}

// A class's parameters move nothing outside it, and one of its distributions
// moves nothing that another one gives.
func TestStreamsAreIndependent(t *testing.T) {
	t.Parallel()
	plain := workload.M3()
	before := generate(t, plain, workload.Options{}, 9)
	changed := workload.M3()
	changed.Classes[2].Arrival = changed.Classes[2].Arrival.Times(0.1)
	changed.Classes[3].Service.N = 7
	after := generate(t, changed, workload.Options{}, 9)
	for i, c := range plain.Classes {
		a, b := ofClass(before, c), ofClass(after, c)
		switch i {
		case 2:
			if len(b) < 5*len(a) {
				t.Errorf("ten times the arrival rate made %d of %d jobs", len(b), len(a))
			}
			for k := range a {
				if a[k].Run != b[k].Run || a[k].CPUs != b[k].CPUs {
					t.Fatalf("the arrivals changed job %+v to %+v", a[k], b[k])
				}
			}
		case 3:
			for k := range a {
				if a[k].Submit != b[k].Submit || a[k].CPUs != b[k].CPUs {
					t.Fatalf("the run times changed job %+v to %+v", a[k], b[k])
				}
			}
		default:
			if !reflect.DeepEqual(a, b) {
				t.Errorf("class %d changed with another one", i)
			}
		}
	}
}

func TestFactors(t *testing.T) {
	t.Parallel()
	const span = 2000 * protocol.Day
	base := generate(t, workload.M2(), workload.Options{Span: span}, 3)
	busy := generate(t, workload.M2(), workload.Options{Span: span, Load: 1.3}, 3)
	if got := float64(len(busy)) / float64(len(base)); !near(got, 1.3, 0.02) {
		t.Errorf("a load of 1.3 makes %.3f times the jobs", got)
	}
	long := generate(t, workload.M2(), workload.Options{Span: span, Service: 2}, 3)
	for i := range base {
		if d := long[i].Run - 2*base[i].Run; d < -1 || d > 1 || long[i].Submit != base[i].Submit {
			t.Fatalf("twice the service time makes %+v of %+v", long[i], base[i])
		}
	}
	thin := generate(t, workload.M2(), workload.Options{Span: span, Jobs: len(base) / 10}, 3)
	if !near(float64(len(thin)), float64(len(base))/10, 0.03) {
		t.Errorf("%d jobs of %d, a tenth is wanted", len(thin), len(base))
	}
	all := make(map[protocol.Instant]workload.Job, len(base))
	for _, j := range base {
		j.ID = 0
		all[j.Submit] = j
	}
	for _, j := range thin {
		j.ID = 0
		if full := all[j.Submit]; full != j {
			t.Fatalf("thinning changed a job: %+v, was %+v", j, full)
		}
	}
}

func TestExpectedJobs(t *testing.T) {
	t.Parallel()
	for name, m := range models() {
		const seeds = 60
		sum := 0
		for seed := range uint64(seeds) {
			sum += len(generate(t, m, workload.Options{}, seed))
		}
		want, err := m.Expected(workload.Options{Span: workload.Table6Span})
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(sum) / seeds; !near(got, want, 0.025) {
			t.Errorf("%s: %.0f jobs in the mean, %.0f expected", name, got, want)
		}
	}
	o := workload.Options{Span: workload.Table6Span, Jobs: 336}
	if got, err := workload.M1().Expected(o); err != nil || !near(got, 336, 1e-12) {
		t.Errorf("%v jobs expected, %v, of 336 wanted", got, err)
	}
}

// one is a model of one class of 3 to 12 nodes of 4 CPUs.
func one() workload.Model {
	return workload.Model{
		Machine: workload.Machine{Nodes: 12, CPUsPerNode: 4, MHz: 100},
		Classes: []workload.Class{{
			Min: 10, Max: 48, Share: 1,
			Arrival: workload.HyperErlang{N: 1, Lambda1: 1, Lambda2: 1, Rho: 1},
			Service: workload.HyperErlang{N: 1, Lambda1: 1, Lambda2: 1, Rho: 1},
		}},
	}
}

func TestBias(t *testing.T) {
	t.Parallel()
	const span = 20_000 * protocol.Second
	mean := func(m workload.Model, unit workload.SizeUnit, bias float64) float64 {
		sum, jobs := 0.0, generate(t, m, workload.Options{Span: span, Bias: bias, SizeUnit: unit}, 4)
		for _, j := range jobs {
			sum += float64(j.CPUs)
		}
		return sum / float64(len(jobs))
	}
	two := one()
	two.Classes[0].Max = 20
	wide := two.Classes[0]
	wide.Min, wide.Max, wide.Share = 21, 48, 0
	wide.Arrival = wide.Arrival.Times(1e6)
	two.Classes = append(two.Classes, wide)
	for unit, want := range map[workload.SizeUnit]struct {
		cpus              float64 // of a unit
		smallest, largest float64 // units of the class
		uniform           float64 // CPUs, from 10 to 20
	}{
		workload.SizeInCPUs:  {1, 10, 48, 15},
		workload.SizeInNodes: {4, 3, 12, 16}, // 3, 4 or 5 nodes
	} {
		// One class is the widest, so sizes are log-uniform from 10 to 48 CPUs, or 3 to 12 nodes.
		low, high := mean(one(), unit, -1), mean(one(), unit, 1)
		if low != want.cpus*want.smallest || high != want.cpus*want.largest {
			t.Errorf("%s: all the smallest are of %v CPUs, all the largest of %v", unit, low, high)
		}
		logUniform := 0.0
		for n := want.smallest; n <= want.largest; n++ {
			logUniform += want.cpus * n * math.Log((n+1)/n) / math.Log((want.largest+1)/want.smallest)
		}
		if got := mean(one(), unit, 0); !near(got, logUniform, 0.02) {
			t.Errorf("%s: log-uniform sizes have a mean of %v, want %v", unit, got, logUniform)
		}
		if got := mean(two, unit, 0); !near(got, want.uniform, 0.01) {
			t.Errorf("%s: uniform sizes have a mean of %v, want %v", unit, got, want.uniform)
		}
	}
	last := 0.0
	for bias := -1.0; bias <= 1; bias += 0.25 {
		got := mean(workload.M3(), workload.SizeInCPUs, bias)
		if got <= last {
			t.Errorf("bias %v gives a mean size of %v after %v", bias, got, last)
		}
		last = got
	}
}

func TestOnAnotherMachine(t *testing.T) {
	t.Parallel()
	m4 := workload.SuperschedulerMachines()[3]
	largest := func(o workload.Options) int {
		o.Machine, o.Bias = m4, 1
		top := 0
		for _, j := range generate(t, workload.M1(), o, 2) {
			top = max(top, j.CPUs)
		}
		return top
	}
	if got := largest(workload.Options{}); got != 112 {
		t.Errorf("the largest job is of %d CPUs; the widest class that fits 128 ends at 112", got)
	}
	if got := largest(workload.Options{Scale: true}); got != 128 {
		t.Errorf("scaled, the largest job is of %d CPUs of 128", got)
	}
	mean := func(jobs []workload.Job) float64 {
		sum := 0.0
		for _, j := range jobs {
			sum += float64(j.Run)
		}
		return sum / float64(len(jobs))
	}
	fast := m4
	fast.MHz *= 10
	a := generate(t, workload.M1(), workload.Options{Machine: m4}, 2)
	b := generate(t, workload.M1(), workload.Options{Machine: fast}, 2)
	if mean(a) != mean(b) {
		t.Error("run times depend on the clock rate of the machine")
	}
}

func TestGenerateRefuses(t *testing.T) {
	t.Parallel()
	day := protocol.Day
	tests := map[string]struct {
		options workload.Options
		want    string
	}{
		"no span":      {workload.Options{}, "span_ms: 0"},
		"load":         {workload.Options{Span: day, Load: -1}, "load: -1"},
		"service":      {workload.Options{Span: day, Service: math.NaN()}, "service: NaN"},
		"jobs":         {workload.Options{Span: day, Jobs: -5}, "jobs: -5"},
		"too many":     {workload.Options{Span: day, Jobs: 5000}, "jobs: 5000 are wanted"},
		"bias":         {workload.Options{Span: day, Bias: 1.01}, "bias: 1.01"},
		"size unit":    {workload.Options{Span: day, SizeUnit: "core"}, `size_unit: invalid unit "core"`},
		"bias unknown": {workload.Options{Span: day, Bias: math.NaN()}, "bias: NaN"},
		"machine":      {workload.Options{Span: day, Machine: workload.Machine{Name: "x"}}, "machine.nodes: 0"},
		"nothing fits": {
			workload.Options{Span: day, Machine: workload.Machine{Nodes: 1, CPUsPerNode: 4, MHz: 1}}, "none of the model's classes fits",
		},
		"endless": {workload.Options{Span: day, Load: 1e12}, "options: the model gives"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := workload.M3().Generate(test.options, 1)
			wantError(t, err, test.want)
			_, err = workload.Mix([]workload.Source{{Model: workload.M3(), Options: test.options}}, 1)
			wantError(t, err, "sources[0]: options: ")
		})
	}
	_, err := workload.Mix(nil, 1)
	wantError(t, err, "sources: ")
}

func TestMix(t *testing.T) {
	t.Parallel()
	same := workload.Source{Model: workload.M3(), Options: workload.Options{Span: workload.Table6Span}}
	jobs, err := workload.Mix([]workload.Source{same, same}, 1)
	if err != nil {
		t.Fatal(err)
	}
	submits := [2][]protocol.Instant{}
	for i, j := range jobs {
		if i > 0 && j.Submit < jobs[i-1].Submit {
			t.Fatalf("job %+v stands at %d", j, i)
		}
		submits[j.Origin] = append(submits[j.Origin], j.Submit)
		if j.ID != int64(len(submits[j.Origin])) {
			t.Fatalf("job %+v is number %d of its origin", j, len(submits[j.Origin]))
		}
	}
	if len(submits[0]) == 0 || len(submits[1]) == 0 || slices.Equal(submits[0], submits[1]) {
		t.Error("two sites of one model must have jobs of their own")
	}
}

func TestOfferedLoad(t *testing.T) {
	t.Parallel()
	m := workload.Machine{Nodes: 2, CPUsPerNode: 4, MHz: 1}
	jobs := []workload.Job{{Run: 100, CPUs: 1}, {Run: 50, CPUs: 5}}
	got := workload.OfferedLoad(jobs, m, 100)
	if want := (workload.Load{Asked: 350.0 / 800, Held: 800.0 / 800}); got != want {
		t.Errorf("offered %+v, want %+v", got, want)
	}
}

// The seed means of the synthetic workloads stand beside [SS] Table 6: job
// counts within 10 %, as the issue asks, and offered loads where the
// utilizations can come from, with the bounds that the documentation states.
func TestTable6(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sources []workload.Source
		table   [6]workload.Table6
	}{
		"heavy": {workload.Heavy(), workload.HeavyTable()},
		"light": {workload.Light(), workload.LightTable()},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, s := range test.sources {
				count, load := seedMeans(t, s)
				want := test.table[i]
				t.Logf("%s: %.0f jobs (%d), offered %.3f, utilization %.2f in the paper",
					s.Site().Name, count, want.Jobs, load.Held, want.Utilization)
				if !near(count, float64(want.Jobs), 0.10) {
					t.Errorf("%s has %.0f jobs in the mean, Table 6 has %d", s.Site().Name, count, want.Jobs)
				}
				if load.Held < 0.89*want.Utilization {
					t.Errorf("%s is offered %.3f, too little for a utilization of %.2f", s.Site().Name, load.Held, want.Utilization)
				}
			}
		})
	}
	bounds := map[string]struct {
		source             workload.Source
		used, scale        bool
		smallest, greatest float64
	}{
		"M3's 42 % is out of reach":        {source: workload.Light()[2], smallest: 0.71, greatest: 1.36},
		"as it is by the CPUs requested":   {source: workload.Light()[2], used: true, smallest: 0.64, greatest: 1.36},
		"M4's 33 to 36 % is in reach":      {source: workload.Heavy()[3], smallest: 0.32, greatest: 0.41},
		"it is not with scaled sizes":      {source: workload.Heavy()[3], scale: true, smallest: 0.18, greatest: 0.25},
		"M5's 72 to 75 % is in reach":      {source: workload.Heavy()[4], smallest: 0.72, greatest: 0.89},
		"neither is it with scaled sizes":  {source: workload.Heavy()[4], scale: true, smallest: 0.18, greatest: 0.28},
		"M6 gives 62 % offered and 81 too": {source: workload.Heavy()[5], smallest: 0.62, greatest: 1.18},
	}
	for name, test := range bounds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.source.Options.Scale = test.scale
			offered := func(bias float64) float64 {
				test.source.Options.Bias = bias
				_, load := seedMeans(t, test.source)
				if test.used {
					return load.Asked
				}
				return load.Held
			}
			if low, high := offered(-1), offered(1); !near(low, test.smallest, 0.06) || !near(high, test.greatest, 0.06) {
				t.Errorf("offered %.3f to %.3f, want %.2f to %.2f", low, high, test.smallest, test.greatest)
			}
		})
	}
}

// seedMeans returns the means of jobs and load over seeds 1 to 12.
func seedMeans(t *testing.T, s workload.Source) (count float64, load workload.Load) {
	t.Helper()
	const seeds = 12
	for seed := range uint64(seeds) {
		jobs := generate(t, s.Model, s.Options, seed+1)
		l := workload.OfferedLoad(jobs, s.Site(), s.Options.Span)
		count += float64(len(jobs)) / seeds
		load.Asked += l.Asked / seeds
		load.Held += l.Held / seeds
	}
	return count, load
}
