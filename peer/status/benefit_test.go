package status_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// benefit is the mean over jobs that would have had the first response, and had the second.
func benefit(responses [][2]protocol.Duration) int {
	var b status.Benefit
	for _, r := range responses {
		b.Add(r[0], r[1])
	}
	return b.PPM()
}

// TestBenefitMean: the geometric mean of up to a thousand jobs; then each new one counts
// a thousandth, so that the mean follows when the grid turns. What would overflow stays.
func TestBenefitMean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var pairs [][2]protocol.Duration
		logs := 0.0
		for range rapid.IntRange(1, 50).Draw(t, "jobs") {
			span := rapid.Int64Range(1, int64(protocol.Day))
			alone, had := span.Draw(t, "alone"), span.Draw(t, "had")
			pairs = append(pairs, [2]protocol.Duration{protocol.Duration(alone), protocol.Duration(had)})
			logs += math.Log(float64(alone) / float64(had))
		}
		want := min(protocol.PPM*math.Exp(logs/float64(len(pairs))), math.MaxInt32)
		if got := float64(benefit(pairs)); math.Abs(got-want) > 0.5+want*1e-9 {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
	turned := append(slices.Repeat([][2]protocol.Duration{{4000, 1000}}, 1000), slices.Repeat([][2]protocol.Duration{{7, 7}}, 1000)...)
	if got := benefit(turned); got != 1_664_848 { // 4 to the power of 0.999^1000
		t.Errorf("of 1000 jobs four times as fast and then 1000 as fast: %d", got)
	}
	if got := benefit([][2]protocol.Duration{{0, 0}, {protocol.Never, 0}}); got != math.MaxInt32 {
		t.Errorf("of the extremes: %d", got)
	}
}

// A job of a minute that had waited a minute, alone would have waited so long as it was quoted, and
// run as long as this site's machine takes.
func TestBenefitOfAJob(t *testing.T) {
	t.Parallel()
	const minute = protocol.Minute
	slow, fast := &protocol.Capacity{CPUs: 1, MHz: 100}, &protocol.Capacity{CPUs: 1, MHz: 200}
	ran := &protocol.Outcome{Ran: minute}
	for name, tt := range map[string]struct {
		started protocol.Instant
		outcome *protocol.Outcome
		quoted  protocol.Duration
		there   *protocol.Capacity
		want    int
	}{
		"here, as quoted":           {2 * 60_000, ran, minute, nil, 1_000_000},
		"there, as fast":            {2 * 60_000, ran, 3 * minute, slow, 2_000_000},
		"there, twice as fast":      {2 * 60_000, ran, 2 * minute, fast, 2_000_000},
		"sooner than it came":       {1, ran, minute, nil, 2_000_000},
		"it never started":          {0, ran, minute, nil, 0},
		"how it ended is not known": {2 * 60_000, nil, minute, nil, 0},
	} {
		var b status.Benefit
		j := row.Job{Spec: protocol.Spec{Submitted: 60_000}, Started: tt.started, Outcome: tt.outcome}
		if b.AddJob(&j, tt.quoted, slow, tt.there); b.PPM() != tt.want {
			t.Errorf("%s: %d, want %d", name, b.PPM(), tt.want)
		}
	}
}
