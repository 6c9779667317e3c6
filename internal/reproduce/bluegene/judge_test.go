package bluegene_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/reproduce/bluegene"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// at is a time of March 2009 in Chicago, where clocks go forward on the 8th.
func at(day, hour, minute int) time.Time {
	zone := -6
	if day > 8 || day == 8 && hour >= 3 {
		zone = -5
	}
	return time.Date(2009, time.March, day, hour-zone, minute, 0, 0, time.UTC)
}

func instant(day, hour int) protocol.Instant { return protocol.Instant(at(day, hour, 0).UnixMilli()) }

func TestPricesFollowTheClock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from time.Time
		d    protocol.Duration
		want [3]protocol.Micro // for a megawatt
	}{
		"an hour on-peak":             {at(2, 9, 0), protocol.Hour, [3]protocol.Micro{3e6, 4e6, 5e6}},
		"the last one":                {at(2, 22, 0), protocol.Hour, [3]protocol.Micro{3e6, 4e6, 5e6}},
		"an hour off-peak":            {at(2, 23, 0), protocol.Hour, [3]protocol.Micro{1e6, 1e6, 1e6}},
		"half of each":                {at(2, 8, 30), protocol.Hour, [3]protocol.Micro{2e6, 2.5e6, 3e6}},
		"a day":                       {at(2, 0, 0), protocol.Day, [3]protocol.Micro{52e6, 66e6, 80e6}},
		"an hour in summer":           {at(9, 9, 0), protocol.Hour, [3]protocol.Micro{3e6, 4e6, 5e6}},
		"the hour before it":          {at(9, 8, 0), protocol.Hour, [3]protocol.Micro{1e6, 1e6, 1e6}},
		"the day that is 23 h":        {at(8, 0, 0), 23 * protocol.Hour, [3]protocol.Micro{51e6, 65e6, 79e6}},
		"a day long after the period": {at(2, 0, 0).AddDate(0, 2, 0), protocol.Day, [3]protocol.Micro{52e6, 66e6, 80e6}},
	} {
		got, err := bluegene.Cost(c.from, c.d)
		if err != nil || got != c.want {
			t.Errorf("%s costs %v, want %v; %v", name, got, c.want, err)
		}
	}
}

// hours is a job of so many nodes that runs for an hour and draws all that a rack may.
func hours(nodes int) workload.Job {
	return workload.Job{CPUs: 4 * nodes, Submit: instant(2, 9), Run: protocol.Hour, Estimate: protocol.Hour, Power: protocol.PPM}
}

func judged(t *testing.T, jobs []workload.Job, before, now []protocol.Instant) bluegene.Judgement {
	t.Helper()
	j, err := bluegene.Judge(jobs, before, now)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-3 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestWorkLeftUndoneSavesNothing(t *testing.T) {
	t.Parallel()
	jobs := []workload.Job{hours(512), hours(512)}
	april := instant(31, 24)
	before := []protocol.Instant{instant(2, 10), instant(2, 10)}
	now := []protocol.Instant{instant(2, 23), april.Add(10 * protocol.Hour)}
	j := judged(t, jobs, before, now)
	near(t, "saving of the job that ran in both", j.Saving, 100*(1-1.0/3))
	near(t, "jobs that did", j.Same, 50)
	near(t, "saving of both, in the end", j.Whole, 100*(1-4.0/6))
	near(t, "the paper's raw saving", j.Raw, 100*(1-1.0/6))
}

func TestAJobAcrossTheEndCountsAsFarAsItRan(t *testing.T) {
	t.Parallel()
	long := hours(512)
	long.Run = 2 * protocol.Hour
	before, now := []protocol.Instant{instant(2, 10)}, []protocol.Instant{instant(31, 23)}
	j := judged(t, []workload.Job{long}, before, now)
	near(t, "raw: an hour off-peak instead of two on-peak", j.Raw, 100*(1-1.0/6))
	near(t, "none ends in both", j.Same+j.Saving, 0)
}

func TestJobsHoldPartitions(t *testing.T) {
	t.Parallel()
	starts := []protocol.Instant{instant(2, 10)}
	const march = 31*24 - 1 // hours
	full := judged(t, []workload.Job{hours(1024)}, starts, starts)
	near(t, "a rack for an hour, kWh", full.Power*march, 33)
	near(t, "of 40", full.Held*march/100, 1.0/40)
	part := judged(t, []workload.Job{hours(256)}, starts, starts)
	near(t, "a quarter of a rack and one idle, kWh", part.Power*march, 33.0/4+13.0/4)
	near(t, "asked", part.Used*march/100, 1.0/160)
	near(t, "held", part.Held*march/100, 1.0/80)
}

func TestJobsThatNeverStartCountNowhere(t *testing.T) {
	t.Parallel()
	jobs := []workload.Job{hours(512), hours(512)}
	starts := []protocol.Instant{instant(2, 10), sim.NeverStarts}
	j := judged(t, jobs, starts, starts)
	near(t, "saving", j.Saving+j.Raw+j.Whole, 0)
	near(t, "same", j.Same, 50)
}

// TestIdlePowerInBudgets: 40 racks idle at 520 kW, and ten jobs of a rack at 33 kW each come on-peak. The
// mean of their power over the month is half a kilowatt.
func TestIdlePowerInBudgets(t *testing.T) {
	t.Parallel()
	jobs := make([]workload.Job, 10)
	for i := range jobs {
		jobs[i] = hours(1024)
		jobs[i].ID = int64(i) + 1
	}
	for name, c := range map[string]struct {
		percent int
		basis   bluegene.Basis
		atOnce  int // jobs that start on arrival
		later   protocol.Instant
	}{
		"half of next to nothing":         {50, bluegene.JobsAlone, 0, instant(2, 23)},
		"half of 520 kW are seven jobs":   {50, bluegene.IdleBaseline, 7, instant(2, 10)},
		"half of it does not even idle":   {50, bluegene.IdleDrawn, 0, instant(2, 23)},
		"a fifth more, each job adds 20":  {120, bluegene.IdleDrawn, 5, instant(2, 10)},
		"twice as much is enough for all": {200, bluegene.IdleDrawn, 10, instant(2, 9)},
	} {
		starts, err := bluegene.Starts(jobs, c.percent, c.basis)
		if err != nil {
			t.Fatal(err)
		}
		atOnce := 0
		for _, at := range starts {
			if at == instant(2, 9) {
				atOnce++
			}
		}
		if last := slices.Max(starts); atOnce != c.atOnce || last != c.later {
			t.Errorf("%s: %d jobs start on arrival and the last at %v, want %d and %v", name, atOnce, last.Time(), c.atOnce, c.later.Time())
		}
	}
}
