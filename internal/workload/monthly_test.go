package workload_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// plainMonthly is a model whose batches are single jobs of one kind, at all hours.
func plainMonthly() workload.Monthly {
	m := workload.Monthly{
		CPUs: 100,
		Kinds: []workload.Kind{{
			CPUs: 10, Estimates: [10]int{60, 60, 60, 60, 60, 60, 60, 60, 60, 60},
			Runs: workload.Deciles{0, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000, 1_000_000},
		}},
		Habits: []workload.Habit{{User: 7, Kind: 0, Batches: 4, Jobs: 4}},
	}
	for i := range m.Hours {
		m.Hours[i] = 1
	}
	for i := range m.Days {
		m.Days[i] = 1
	}
	return m
}

func TestFitMonthlyFindsHabits(t *testing.T) {
	t.Parallel()
	const minute, hour = 60, 3600
	var jobs []workload.Job
	for _, r := range [][5]int64{ // submit, user, CPUs, run, estimate, s
		{0, 1, 4, 300, 600},
		{minute, 1, 4, 600, 600},           // of the same batch
		{2 * minute, 2, 4, 150, 600},       // another user
		{3 * minute, 1, 8, 3600, 2 * hour}, // another kind
		{minute + hour, 1, 4, 0, 600},      // an hour later: still of the batch
		{2*minute + 2*hour, 1, 4, 600, 600},
		{20 * hour, 2, 4, 600, 600}, // Monday
	} {
		jobs = append(jobs, workload.Job{
			ID: int64(len(jobs)), Submit: protocol.Instant(r[0] * 1000), User: int(r[1]), CPUs: int(r[2]),
			Run: protocol.Duration(r[3] * 1000), Estimate: protocol.Duration(r[4] * 1000),
		})
	}
	got := workload.FitMonthly(jobs, 64, time.Date(2009, 3, 1, 5, 0, 0, 0, time.UTC))
	want := workload.Monthly{
		CPUs: 64,
		Kinds: []workload.Kind{
			{
				CPUs: 4, Estimates: [10]int{600, 600, 600, 600, 600, 600, 600, 600, 600, 600},
				Runs: workload.Deciles{0, 0, 250_000, 250_000, 500_000, 500_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000},
			},
			{
				CPUs: 8, Estimates: [10]int{7200, 7200, 7200, 7200, 7200, 7200, 7200, 7200, 7200, 7200},
				Runs: workload.Deciles{500_000, 500_000, 500_000, 500_000, 500_000, 500_000, 500_000, 500_000, 500_000, 500_000, 500_000},
			},
		},
		Habits: []workload.Habit{
			{User: 1, Kind: 0, Batches: 2, Jobs: 4}, {User: 2, Kind: 0, Batches: 2, Jobs: 2}, {User: 1, Kind: 1, Batches: 1, Jobs: 1},
		},
		Gaps: workload.Deciles{minute, minute, minute, minute, minute, minute, minute, minute, minute, minute, hour},
		Days: [7]int{4, 1},
	}
	want.Hours[5], want.Hours[7], want.Hours[1] = 3, 1, 1
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

// A drawn workload's fit is the model that it was drawn from.
func TestFitMonthlyOfItsOwnJobs(t *testing.T) {
	t.Parallel()
	m := plainMonthly()
	m.Hours, m.Days = [24]int{3: 1, 15: 3}, [7]int{2, 1, 1, 1, 1, 1, 1}
	for user := range 500 { // so that few of one user's come within an hour
		m.Habits = append(m.Habits, workload.Habit{User: 10 + user, Batches: 1, Jobs: 1})
	}
	jobs, err := m.Generate(workload.Calendar{Months: []workload.Month{{Days: 350, Jobs: 8000}}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	got := workload.FitMonthly(jobs, m.CPUs, time.Date(2009, 3, 1, 0, 0, 0, 0, time.UTC)) // a Sunday, as Calendar's zero
	total := got.Hours[3] + got.Hours[15]
	if share := float64(got.Hours[15]) / float64(total); math.Abs(share-0.75) > 0.02 {
		t.Errorf("%.3f of the batches begin at 15 h", share)
	}
	if share := float64(got.Days[0]) / float64(total); math.Abs(share-0.25) > 0.02 {
		t.Errorf("%.3f of the batches begin on Sundays", share)
	}
	for i, bound := range got.Kinds[0].Runs {
		if math.Abs(float64(bound-m.Kinds[0].Runs[i])) > 25_000 {
			t.Errorf("decile %d of the run times is %d, not %d", i, bound, m.Kinds[0].Runs[i])
		}
	}
}

// Batches keep their hour when the clocks go forward, and months their midnight.
func TestMonthlyFollowsTheClock(t *testing.T) {
	t.Parallel()
	m := plainMonthly()
	m.Hours, m.Days = [24]int{9: 1}, [7]int{time.Tuesday: 1}
	const forward = 20*24 + 2 // h
	c := workload.Calendar{
		FirstDay: time.Wednesday, Forward: protocol.Instant(forward * protocol.Hour),
		Months: []workload.Month{{Days: 30, Jobs: 500}, {Days: 30, Jobs: 500}},
	}
	if first, second, end := c.At(0), c.At(1), c.At(2); first != 0 ||
		second != protocol.Instant((30*24-1)*protocol.Hour) || end != protocol.Instant((60*24-1)*protocol.Hour) {
		t.Fatalf("the months begin at %d, %d and end at %d ms", first, second, end)
	}
	jobs, err := m.Generate(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	summer := 0
	for _, j := range jobs {
		hour := int(j.Submit / protocol.Instant(protocol.Hour))
		if hour >= forward {
			hour++
			summer++
		}
		if hour%24 != 9 || hour/24%7 != 6 {
			t.Fatalf("a job comes at %d h of day %d from a Wednesday", hour%24, hour/24)
		}
	}
	if summer < 700 || summer > 800 { // two Tuesdays of the first month's four, and all of the second
		t.Errorf("%d of 1000 jobs come after the clocks went forward", summer)
	}
}

// A load is reached by larger kinds, and each kind stays as it is.
func TestMonthlyReachesItsLoad(t *testing.T) {
	t.Parallel()
	m := plainMonthly()
	large := m.Kinds[0]
	large.CPUs = 100
	m.Kinds = append(m.Kinds, large)
	m.Habits = append(m.Habits, workload.Habit{User: 8, Kind: 1, Batches: 1, Jobs: 1})
	const days, jobs = 10, 2000
	month := workload.Month{Name: "any", Days: days, Jobs: jobs}
	// A small job's mean work is 10 CPUs · 30 s, a large one's ten times that.
	capacity := float64(days*24*3600) * 100
	for _, share := range []float64{0.05, 0.2, 0.6} { // of large jobs
		month.Load = jobs * (300*(1-share) + 3000*share) / capacity
		drawn, err := m.Generate(workload.Calendar{Months: []workload.Month{month}}, 9)
		if err != nil {
			t.Fatal(err)
		}
		large := slices.DeleteFunc(slices.Clone(drawn), func(j workload.Job) bool { return j.CPUs < 100 })
		found, work := float64(len(large))/jobs, 0.0
		for _, j := range drawn {
			work += float64(j.Work()) / 1000
		}
		if math.Abs(found-share) > 0.05 || !near(work/capacity, month.Load, 0.05) {
			t.Errorf("%.3f of the jobs are large, want %.2f; load %.4f, want %.4f", found, share, work/capacity, month.Load)
		}
	}
	month.Load = 0.9
	_, err := m.Generate(workload.Calendar{Months: []workload.Month{month}}, 9)
	if err == nil || !strings.Contains(err.Error(), "months[0]: any: load: 0.9 is out of reach of 2000 jobs") {
		t.Errorf("got %v", err)
	}
}

func TestMonthlyRefuses(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(m *workload.Monthly, c *workload.Calendar){
		"model: cpus":                     func(m *workload.Monthly, _ *workload.Calendar) { m.CPUs = 0 },
		"model: habits: a model has":      func(m *workload.Monthly, _ *workload.Calendar) { m.Habits = nil },
		"model: habits[0].kind: 1":        func(m *workload.Monthly, _ *workload.Calendar) { m.Habits[0].Kind = 1 },
		"model: habits[0]: 3 jobs in 4":   func(m *workload.Monthly, _ *workload.Calendar) { m.Habits[0].Jobs = 3 },
		"model: kinds[0].cpus: 101":       func(m *workload.Monthly, _ *workload.Calendar) { m.Kinds[0].CPUs = 101 },
		"model: kinds[0].estimates":       func(m *workload.Monthly, _ *workload.Calendar) { m.Kinds[0].Estimates[3] = 0 },
		"model: kinds[0].runs":            func(m *workload.Monthly, _ *workload.Calendar) { m.Kinds[0].Runs[10] = 1_000_001 },
		"model: hours":                    func(m *workload.Monthly, _ *workload.Calendar) { m.Hours = [24]int{} },
		"model: days":                     func(m *workload.Monthly, _ *workload.Calendar) { m.Days[2] = -1 },
		"model: gaps":                     func(m *workload.Monthly, _ *workload.Calendar) { m.Gaps[4] = 9 },
		"calendar: first_day: 7":          func(_ *workload.Monthly, c *workload.Calendar) { c.FirstDay = 7 },
		"calendar: months[0]: June: on":   func(m *workload.Monthly, _ *workload.Calendar) { m.Days = [7]int{6: 1} },
		"calendar: months[0].days: 0":     func(_ *workload.Monthly, c *workload.Calendar) { c.Months[0].Days = 0 },
		"calendar: months[0].jobs: -1":    func(_ *workload.Monthly, c *workload.Calendar) { c.Months[0].Jobs = -1 },
		"calendar: months[0].load: -0.5 ": func(_ *workload.Monthly, c *workload.Calendar) { c.Months[0].Load = -0.5 },
	} {
		m, c := plainMonthly(), workload.Calendar{Months: []workload.Month{{Name: "June", Days: 1, Jobs: 1}}}
		change(&m, &c)
		if _, err := m.Generate(c, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// Whatever the model and the calendar: exact counts, jobs within their months and of
// the model's kinds, run times up to the estimates.
func TestMonthlyKeepsItsCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := plainMonthly()
		m.Gaps[10] = rapid.IntRange(0, 100_000).Draw(t, "gap")
		m.Habits[0].Jobs = rapid.IntRange(4, 400).Draw(t, "jobs")
		m.Hours[0] = rapid.IntRange(0, 50).Draw(t, "hour")
		c := workload.Calendar{
			FirstDay: time.Weekday(rapid.IntRange(0, 6).Draw(t, "first")),
			Forward:  protocol.Instant(rapid.IntRange(0, 2000).Draw(t, "forward")) * protocol.Instant(protocol.Hour),
		}
		for range rapid.IntRange(1, 3).Draw(t, "months") {
			c.Months = append(c.Months, workload.Month{
				Days: rapid.IntRange(1, 40).Draw(t, "days"), Jobs: rapid.IntRange(0, 60).Draw(t, "count"),
			})
		}
		jobs, err := m.Generate(c, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		for i, month := range c.Months {
			own := slices.DeleteFunc(slices.Clone(jobs), func(j workload.Job) bool {
				return j.Submit < c.At(i) || j.Submit >= c.At(i+1)
			})
			if len(own) != month.Jobs {
				t.Fatalf("month %d has %d jobs, want %d", i, len(own), month.Jobs)
			}
		}
		for i, j := range jobs {
			if j.ID != int64(i)+1 || i > 0 && j.Submit < jobs[i-1].Submit || j.User != 7 || j.CPUs != 10 ||
				j.Run < protocol.Second || j.Run > j.Estimate || j.Estimate != protocol.Minute {
				t.Fatalf("job %d is %+v", i, j)
			}
		}
	})
}
