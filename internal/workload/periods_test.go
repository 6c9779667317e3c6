package workload_test

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func fitPeriods(t rapid.TB, jobs []workload.Job, m workload.Machine) *workload.PeriodModel {
	t.Helper()
	model, err := workload.FitPeriods(jobs, m, time.Unix(0, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// drawPeriods draws with a span of 0 as it is.
func drawPeriods(t rapid.TB, model *workload.PeriodModel, o workload.Options, seed uint64) []workload.Job {
	t.Helper()
	jobs, err := model.Generate(o, seed)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// weeks are jobs of users who come on working days in the morning, mostly.
func weeks(count int, m workload.Machine, seed uint64) []workload.Job {
	model := workload.Lublin99().For(m.CPUs())
	jobs, err := model.Generate(count, seed)
	if err != nil {
		panic(err)
	}
	for i := range jobs {
		jobs[i].Estimate = jobs[i].Run * protocol.Duration(1+i%3)
		jobs[i].User = i % 7
	}
	return jobs
}

// Every draw has the jobs and the work of the log, and of each of its days about as
// much; sizes and run times are the log's in the mean. The same seed gives the same jobs,
// and another seed gives others.
func TestPeriodsKeepTheLoad(t *testing.T) {
	t.Parallel()
	m := workload.Machine{Nodes: 128, CPUsPerNode: 1, MHz: 1}
	jobs := weeks(3000, m, 5)
	model := fitPeriods(t, jobs, m)
	want := workload.TraitsOf(jobs, m, time.Unix(0, 0))
	for seed := range uint64(3) {
		drawn := drawPeriods(t, model, workload.Options{}, seed)
		got := workload.TraitsOf(drawn, m, time.Unix(0, 0))
		if got.Jobs != want.Jobs || !near(got.Load, want.Load, 0.001) || !near(got.CPUs, want.CPUs, 0.02) || !near(got.Run, want.Run, 0.1) ||
			!near(got.Gap, want.Gap, 0.001) || !near(got.GapVariation, want.GapVariation, 0.3) {
			t.Errorf("seed %d: drew %+v of\n%+v", seed, got, want)
		}
		for day := range want.Weekdays {
			if math.Abs(got.Weekdays[day]-want.Weekdays[day]) > 0.02 {
				t.Errorf("seed %d: %.3f of the jobs on day %d, want %.3f", seed, got.Weekdays[day], day, want.Weekdays[day])
			}
		}
		if again := drawPeriods(t, model, workload.Options{}, seed); !slices.Equal(drawn, again) {
			t.Errorf("seed %d does not give the same jobs again", seed)
		}
		if other := drawPeriods(t, model, workload.Options{}, seed+1); slices.Equal(drawn, other) {
			t.Errorf("seeds %d and %d give the same jobs", seed, seed+1)
		}
	}
}

// The options change what they say, and the rest stays.
func TestPeriodsUnderOptions(t *testing.T) {
	t.Parallel()
	m := workload.Machine{Nodes: 128, CPUsPerNode: 1, MHz: 1}
	jobs := weeks(2000, m, 3)
	model := fitPeriods(t, jobs, m)
	span := jobs[len(jobs)-1].Submit.Sub(jobs[0].Submit)
	all := drawPeriods(t, model, workload.Options{}, 1)
	load := func(jobs []workload.Job, m workload.Machine) float64 {
		return workload.TraitsOf(jobs, m, time.Unix(0, 0)).Load
	}
	if got := drawPeriods(t, model, workload.Options{Load: 2}, 1); len(got) != len(all) || !near(load(got, m), 2*load(all, m), 0.001) {
		t.Errorf("load 2: %d jobs with a load of %v, without it %d with %v", len(got), load(got, m), len(all), load(all, m))
	}
	if got := drawPeriods(t, model, workload.Options{Service: 3}, 1); !near(load(got, m), 3*load(all, m), 0.001) {
		t.Errorf("service 3: a load of %v, without it %v", load(got, m), load(all, m))
	}
	if got := drawPeriods(t, model, workload.Options{Jobs: 500}, 1); len(got) != 500 {
		t.Errorf("%d jobs of 500", len(got))
	}
	half := drawPeriods(t, model, workload.Options{Span: span / 2}, 1)
	if same := all[:len(half)]; !slices.Equal(half, same) {
		t.Error("half of the span has other jobs than the first half of the whole")
	}
	whole := span / (7 * protocol.Day) * 7 * protocol.Day
	first, _ := slices.BinarySearchFunc(all, protocol.Instant(whole), func(j workload.Job, at protocol.Instant) int { return cmp.Compare(j.Submit, at) })
	if got := drawPeriods(t, model, workload.Options{Span: 3 * whole}, 1); whole == 0 || !near(float64(len(got)), 3*float64(first), 0.02) {
		t.Errorf("three times the whole weeks have %d jobs; once they have %d", len(got), first)
	}
	double := workload.Machine{Nodes: 256, CPUsPerNode: 1, MHz: 1}
	if got := drawPeriods(t, model, workload.Options{Machine: double, Scale: true}, 1); !near(load(got, double), load(all, m), 0.001) {
		t.Errorf("on twice the machine: a load of %v, want %v", load(got, double), load(all, m))
	}
	small := workload.Machine{Nodes: 8, CPUsPerNode: 4, MHz: 1}
	for _, j := range drawPeriods(t, model, workload.Options{Machine: small, SizeUnit: workload.SizeInNodes}, 1) {
		if j.CPUs > 32 || j.CPUs%4 != 0 {
			t.Fatalf("a job of %d CPUs on nodes of 4", j.CPUs)
		}
	}
	for _, test := range []struct {
		o    workload.Options
		want string
	}{
		{workload.Options{Bias: 0.5}, "bias: 0.5 does not apply"},
		{workload.Options{Load: 1e-300}, "load: 1e-300 is not a factor from 0.01 to 100"},
		{workload.Options{Load: 1e12}, "load: 1e+12 is not a factor"},
		{workload.Options{Jobs: 5000}, "jobs: 5000 are wanted and the model gives 2000"},
		{workload.Options{Span: protocol.Duration(math.MaxInt64 / 4)}, "shorten span_ms"},
	} {
		_, err := model.Generate(test.o, 1)
		wantError(t, err, test.want)
	}
}

// Logs that are too short are errors.
func TestPeriodsOfShortLogs(t *testing.T) {
	t.Parallel()
	m := workload.Machine{Nodes: 8, CPUsPerNode: 1, MHz: 1}
	jobs := make([]workload.Job, 200)
	for i := range jobs {
		jobs[i] = workload.Job{ID: int64(i), Submit: protocol.Instant(i) * 60_000, Run: 5000, Estimate: 5000, CPUs: 1 + i%8}
	}
	_, err := workload.FitPeriods(jobs, m, time.Unix(0, 0))
	wantError(t, err, "a log of 3:19:00 is too short")
	_, err = workload.FitPeriods(jobs[:99], m, time.Unix(0, 0))
	wantError(t, err, "99 jobs are too few")
	jobs[0].CPUs = 9
	jobs[199].Submit = protocol.Instant(2 * protocol.Day)
	_, err = workload.FitPeriods(jobs, m, time.Unix(0, 0))
	wantError(t, err, "job 0: 9 CPUs")
}

// Any log gives a model that is valid, and draws with its jobs, within its span, on the
// machine, with estimates of at least the run times.
func TestPeriodsOfAnything(t *testing.T) {
	t.Parallel()
	m := workload.Machine{Nodes: 6, CPUsPerNode: 2, MHz: 1}
	job := rapid.Custom(func(t *rapid.T) workload.Job {
		run := protocol.Duration(rapid.Int64Range(1, int64(10*protocol.Day)).Draw(t, "run"))
		return workload.Job{
			Submit: protocol.Instant(rapid.Int64Range(0, int64(20*protocol.Day)).Draw(t, "submit")), Run: run,
			Estimate: run + protocol.Duration(rapid.Int64Range(0, int64(protocol.Day)).Draw(t, "more")),
			CPUs:     rapid.IntRange(1, m.CPUs()).Draw(t, "CPUs"), User: rapid.IntRange(-1, 3).Draw(t, "user"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(job, 100, 160).Draw(t, "jobs")
		model, err := workload.FitPeriods(jobs, m, time.Unix(rapid.Int64Range(0, 1e9).Draw(t, "begin"), 0).UTC())
		if err != nil {
			t.Skip(err)
		}
		drawn := drawPeriods(t, model, workload.Options{}, rapid.Uint64().Draw(t, "seed"))
		if len(drawn) != len(jobs) || drawn[0].Submit != 0 || drawn[len(drawn)-1].Submit != protocol.Instant(model.Profile.Span)*1000 {
			t.Fatalf("%d jobs of %d, from %d to %d ms in %d s", len(drawn), len(jobs), drawn[0].Submit, drawn[len(drawn)-1].Submit, model.Profile.Span)
		}
		for i, j := range drawn {
			if j.ID != int64(i)+1 || j.Run < 1 || j.Estimate < j.Run || j.CPUs < 1 || j.CPUs > m.CPUs() || i > 0 && j.Submit < drawn[i-1].Submit {
				t.Fatalf("job %d: %+v", i, j)
			}
		}
	})
}

// What is wrong with a file is said by its key.
func TestPeriodsValidate(t *testing.T) {
	t.Parallel()
	m := workload.Machine{Nodes: 128, CPUsPerNode: 1, MHz: 1}
	good := fitPeriods(t, weeks(500, m, 1), m)
	for want, spoil := range map[string]func(p *workload.Profile){
		"profile.weekday: 7":                         func(p *workload.Profile) { p.Weekday = 7 },
		"profile.begin_s: -1":                        func(p *workload.Profile) { p.Begin = -1 },
		"profile.span_s: 0":                          func(p *workload.Profile) { p.Span = 0 },
		"profile.period_h: 5":                        func(p *workload.Profile) { p.Period = 5 },
		"profile.hours: ":                            func(p *workload.Profile) { p.Hours = p.Hours[1:] },
		"profile.alike_ppm: 1000001":                 func(p *workload.Profile) { p.Alike = 1_000_001 },
		"profile.gaps_s: missing":                    func(p *workload.Profile) { p.Gaps = nil },
		"profile.gaps_s[0]: ":                        func(p *workload.Profile) { p.Gaps[0] = p.Gaps[0][1:] },
		"profile.max_cpus: there is":                 func(p *workload.Profile) { p.Widths = nil },
		"profile.max_cpus: 1 does not rise":          func(p *workload.Profile) { p.Widths[1] = 1 },
		"profile.periods: ":                          func(p *workload.Profile) { p.Periods = p.Periods[1:] },
		"profile.periods[0]: 1 values":               func(p *workload.Profile) { p.Periods[0] = []int{1} },
		"profile.periods[1]: a value is":             func(p *workload.Profile) { p.Periods[1][0] = -1 },
		"profile.periods[0]: ":                       func(p *workload.Profile) { p.Periods[0][1] = 1 << 45 }, // more work than its jobs can have
		"profile.kinds: a model has":                 func(p *workload.Profile) { p.Kinds = nil },
		"profile.kinds: they have":                   func(p *workload.Profile) { p.Periods[0][0]++ },
		"profile.kinds[0].jobs: 0":                   func(p *workload.Profile) { p.Kinds[0].Jobs = 0 },
		"profile.kinds[0].cpus: ":                    func(p *workload.Profile) { p.Kinds[0].CPUs = []int{129} },
		"profile.kinds[0].runs_s: ":                  func(p *workload.Profile) { p.Kinds[0].Runs[0] = 0 },
		"profile.kinds[0].estimates_s: there is":     func(p *workload.Profile) { p.Kinds[0].Estimates = nil },
		"profile.kinds[0].estimates_s: 0 is less":    func(p *workload.Profile) { p.Kinds[0].Estimates[0] = 0 },
		"profile.kinds[0].batches: there are":        func(p *workload.Profile) { p.Kinds[0].Batches = nil },
		"profile.kinds[0].batches: they have 1 to 1": func(p *workload.Profile) { p.Kinds[0].Batches = []int{1} },
		"machine.nodes: 0":                           nil,
	} {
		bad := fitPeriods(t, weeks(500, m, 1), m)
		if !reflect.DeepEqual(bad, good) {
			t.Fatal("a fit is not the same again")
		}
		if spoil == nil {
			bad.Machine.Nodes = 0
		} else {
			spoil(&bad.Profile)
		}
		wantError(t, bad.Validate(), want)
	}
}
