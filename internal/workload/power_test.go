package workload_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// powerJobs are so many jobs for each of so many users.
func powerJobs(users, each int) []workload.Job {
	var jobs []workload.Job
	for i := range users * each {
		jobs = append(jobs, workload.Job{ID: int64(i) + 1, User: i % users, CPUs: 1, Run: 1, Estimate: 1})
	}
	return jobs
}

// drawPower returns the jobs' powers as places in the range, from 0 to 1.
func drawPower(t *testing.T, jobs []workload.Job, p workload.PowerRange, seed uint64) []float64 {
	t.Helper()
	drawn, err := workload.DrawPower(jobs, p, seed)
	if err != nil {
		t.Fatal(err)
	}
	places := make([]float64, len(drawn))
	for i, j := range drawn {
		watts := float64(j.Power) * float64(p.High) / protocol.PPM
		places[i] = (watts - float64(p.Low)) / float64(p.High-p.Low)
	}
	return places
}

// spread returns the mean and the deviation.
func spread(sample []float64) (mean, deviation float64) {
	for _, x := range sample {
		mean += x / float64(len(sample))
	}
	for _, x := range sample {
		deviation += (x - mean) * (x - mean) / float64(len(sample))
	}
	return mean, math.Sqrt(deviation)
}

// Most jobs draw 22 to 24 of 20 to 33 kW per rack [BG 4.1], and all are within the
// range.
func TestDrawPowerIsNormalWithinTheRange(t *testing.T) {
	t.Parallel()
	p := workload.PowerRanges()[0]
	places := drawPower(t, powerJobs(1, 50_000), p, 1)
	usual, below := 0.0, 0.0
	for _, at := range places {
		if at < -1e-4 || at > 1+1e-4 {
			t.Fatalf("a job draws %v of the range", at)
		}
		kW := 20 + 13*at
		if kW >= 22 && kW < 24 {
			usual += 1.0 / 50_000
		}
		if kW < 21.7 { // a deviation below the mean
			below += 1.0 / 50_000
		}
	}
	// Φ(1/1.3) − Φ(−1/1.3) and Φ(−1) − Φ(−3/1.3), each of Φ(3/1.3), as above.
	if math.Abs(usual-0.5640) > 0.01 || math.Abs(below-0.1497) > 0.008 {
		t.Errorf("%.4f are within 22 to 24 kW, %.4f below 21.7", usual, below)
	}
	if mean, deviation := spread(places); math.Abs(20+13*mean-23) > 0.1 || math.Abs(13*deviation-1.3) > 0.07 {
		t.Errorf("the mean is %.3f kW, the deviation %.3f", 20+13*mean, 13*deviation)
	}
}

// The other ranges have the shape of the first.
func TestDrawPowerScalesTheShape(t *testing.T) {
	t.Parallel()
	jobs := powerJobs(10, 50)
	ranges := workload.PowerRanges()
	want := drawPower(t, jobs, ranges[0], 7)
	for _, p := range ranges[1:] {
		for i, at := range drawPower(t, jobs, p, 7) {
			if math.Abs(at-want[i]) > 1e-5 {
				t.Fatalf("job %d of %+v lies at %v, not at %v", i, p, at, want[i])
			}
		}
	}
}

// What a job draws does not depend on the jobs beside it.
func TestDrawPowerOfAPart(t *testing.T) {
	t.Parallel()
	jobs := powerJobs(5, 20)
	p := workload.PowerRange{Low: 20_000, High: 33_000, Alike: 0.5}
	whole := drawPower(t, jobs, p, 3)
	if got := drawPower(t, jobs[40:], p, 3); !slices.Equal(got, whole[40:]) {
		t.Error("the last of the jobs draw otherwise without the first")
	}
	if slices.Equal(drawPower(t, jobs, p, 4), whole) {
		t.Error("two seeds give the same powers")
	}
	for i := range jobs {
		jobs[i].Origin = 1
	}
	if slices.Equal(drawPower(t, jobs, p, 3), whole) {
		t.Error("two origins have the same powers")
	}
	if jobs[0].Power != 0 {
		t.Error("the jobs given have changed")
	}
}

// The more alike, the less a user's jobs differ; the spread of all stays.
func TestDrawPowerAlike(t *testing.T) {
	t.Parallel()
	const users, each = 2000, 20
	jobs := powerJobs(users, each)
	for _, alike := range []float64{0, 0.5, 0.9, 1} {
		places := drawPower(t, jobs, workload.PowerRange{Low: 30_000, High: 90_000, Alike: alike}, 5)
		means, within := make([]float64, users), 0.0
		for u := range users {
			own := make([]float64, each)
			for k := range own {
				own[k] = places[u+k*users]
			}
			mean, deviation := spread(own)
			means[u] = mean
			within += deviation * deviation / users
		}
		_, all := spread(places)
		// Of the variance of a user's each = 20 jobs a twentieth goes into their mean.
		want := (1 - alike) * (1 - 1.0/each) * all * all
		if math.Abs(within-want) > 0.03*all*all || math.Abs(all-0.098) > 0.004 {
			t.Errorf("alike %v: variance within users %.5f, want %.5f; deviation of all %.4f", alike, within, want, all)
		}
	}
	for i := range jobs {
		jobs[i].User = -1
	}
	if _, all := spread(drawPower(t, jobs, workload.PowerRange{Low: 1000, High: 2000, Alike: 1}, 5)); all < 0.09 {
		t.Errorf("jobs of unknown users draw alike: deviation %.4f", all)
	}
}

func TestDrawPowerRefusesRanges(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]workload.PowerRange{
		"low":   {Low: 0, High: 10},
		"high":  {Low: 10, High: 10},
		"alike": {Low: 10, High: 20, Alike: math.NaN()},
	} {
		if _, err := workload.DrawPower(nil, p, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
