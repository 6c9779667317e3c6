package wait_test

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var update = flag.Bool("update", false, "write the golden scores anew")

func TestPastOf(t *testing.T) {
	t.Parallel()
	const swf = `; a trace of six records
1 100  5 50  4 -1 -1  8 600 -1 1 3 -1 -1 2 -1 -1 -1
2 110  6 -1 -1 -1 -1 16 700 -1 5 4 -1 -1 2 -1 -1 -1
3 120 -1 10  4 -1 -1  4 600 -1 1 3 -1 -1 2 -1 -1 -1
4 130  7 10 -1 -1 -1 -1 600 -1 1 3 -1 -1 2 -1 -1 -1
5 140  8  9  2 -1 -1 -1  -1 -1 5 -1 -1 -1 1 -1 -1 -1
6  -1  8  9  2 -1 -1 -1  -1 -1 1 -1 -1 -1 1 -1 -1 -1
`
	s := protocol.Second
	want := []wait.Past{
		{Job: wait.Job{ID: 1, User: 3, Queue: 2, CPUs: 4, Estimate: 600 * s}, Submit: 100 * second, Wait: 5 * s, Run: 50 * s, Completed: true},
		{Job: wait.Job{ID: 2, User: 4, Queue: 2, CPUs: 16, Estimate: 700 * s}, Submit: 110 * second, Wait: 6 * s, Withdrawn: true},
		{Job: wait.Job{ID: 3, User: wait.UnknownUser, Queue: 1, CPUs: 2}, Submit: 140 * second, Wait: 8 * s, Run: 9 * s},
	}
	if got := readPast(t, "six", []byte(swf), wait.PastOptions{}); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, one := range readPast(t, "six", []byte(swf), wait.PastOptions{OneQueue: true}) {
		if one.Job.Queue != 0 {
			t.Errorf("with one queue job %d is in queue %d", one.Job.ID, one.Job.Queue)
		}
	}
}

// script is a predictor that has its answers by heart and notes what it observes.
type script struct {
	answers  map[int64]wait.Prediction
	reported []string
}

func (s *script) Name() string { return "script" }

func (s *script) Predict(a wait.Arrival) wait.Prediction {
	s.reported = append(s.reported, "asked "+string(rune('0'+a.Job.ID)))
	return s.answers[a.Job.ID]
}

func (s *script) Observe(e wait.Event) {
	s.reported = append(s.reported, string(e.Kind)+" "+string(rune('0'+e.Arrival.Job.ID)))
}

// TestEvaluateByHand has a job that starts at once, one that starts when it ends,
// one that is withdrawn then, and one that comes at that instant and takes no time.
func TestEvaluateByHand(t *testing.T) {
	t.Parallel()
	minute, hour := protocol.Minute, protocol.Hour
	past := []wait.Past{
		{Job: wait.Job{ID: 1, CPUs: 4}, Run: 60 * minute},
		{Job: wait.Job{ID: 2, CPUs: 4}, Submit: 1000, Wait: 60*minute - 1000, Run: minute},
		{Job: wait.Job{ID: 3, CPUs: 4}, Submit: 2000, Wait: 60*minute - 2000, Withdrawn: true},
		{Job: wait.Job{ID: 4, CPUs: 1}, Submit: protocol.Instant(60 * minute)},
	}
	s := &script{answers: map[int64]wait.Prediction{
		1: {Wait: 15 * minute, High: 0, Bound: protocol.Never, By: "a"},
		2: {Wait: 2 * hour, Low: hour, Median: hour, High: 2 * hour, Bound: 3 * hour, By: "b"},
		4: {High: protocol.Never, Bound: protocol.Never, By: "a"},
	}}
	scores, err := wait.Evaluate(past, wait.EvaluateOptions{CPUs: 4}, s)
	if err != nil {
		t.Fatal(err)
	}
	order := "asked 1, submitted 1, started 1, asked 2, submitted 2, asked 3, submitted 3, " +
		"ended 1, withdrawn 3, started 2, asked 4, submitted 4, started 4, ended 4, ended 2"
	if got := strings.Join(s.reported, ", "); got != order {
		t.Errorf("the predictor was told %s", got)
	}
	got := scores[0]
	// The errors are 15 min, 60 min and a second, and 0.
	want := wait.Score{
		Predictor: "script", Jobs: 3, Methods: map[wait.Method]int{"a": 2, "b": 1},
		MeanError: (75*minute + 1000) / 3, MedianError: 15 * minute, Under15Min: 1.0 / 3, Under1Hour: 2.0 / 3,
		MedianOff: 1000 / 3,
		Ranged:    2.0 / 3, BelowLow: 0.5, MeanWidth: 30 * minute,
		Bounded: 1.0 / 3, BoundHeld: 1, MeanBound: 3 * hour,
		AtOnce: 2.0 / 3, QuotedHeld: 1,
	}
	if percent := 100 * (0.25 + 3601.0/3659) / 3; !near(got.PercentError, percent, 1e-12) {
		t.Errorf("a percent error of %v, want %v", got.PercentError, percent)
	}
	if r := got.ByResponse; r[0].Jobs != 1 || r[0].MeanError != 0 || r[2].Jobs != 2 || r[2].MeanError != (75*minute+1000)/2 {
		t.Errorf("by response: %+v", r)
	}
	got.PercentError, got.ByResponse = 0, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestEvaluateRefusesNonsense(t *testing.T) {
	t.Parallel()
	for want, past := range map[string][]wait.Past{
		"job 7: submitted at 5 ms, wait -1 ms, run 0 ms; no time may be below 0": {
			{Job: wait.Job{ID: 7}, Submit: 5, Wait: -1},
		},
		"job 7: submitted at 6 ms, but there is another job of its number": {
			{Job: wait.Job{ID: 7}, Submit: 5, Wait: 10}, {Job: wait.Job{ID: 7}, Submit: 6, Wait: 10},
		},
	} {
		if _, err := wait.Evaluate(past, wait.EvaluateOptions{CPUs: 1}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := wait.Evaluate([]wait.Past{{Wait: math.MaxInt64, Run: 1}}, wait.EvaluateOptions{}); err == nil {
		t.Error("a response beyond all time is taken")
	}
}

func excerpt(tb testing.TB) []wait.Past {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "SDSC-BLUE-2002-08.swf"))
	if err != nil {
		tb.Fatal(err)
	}
	return readPast(tb, "excerpt", data, wait.PastOptions{})
}

func evaluate(tb testing.TB, past []wait.Past) []wait.Score {
	tb.Helper()
	scores, err := wait.Evaluate(past, wait.EvaluateOptions{CPUs: 1152, Warm: 200}, contestants(tb)...)
	if err != nil {
		tb.Fatal(err)
	}
	return scores
}

func TestExcerptScores(t *testing.T) {
	t.Parallel()
	scores := evaluate(t, excerpt(t))
	var got strings.Builder
	if err := writeScores(&got, scores); err != nil {
		t.Fatal(err)
	}
	got.WriteString("\n")
	if err := writeRanges(&got, scores); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "SDSC-BLUE-2002-08.scores.md")
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the scores are\n%s", got.String())
	}
}

// TestScoresKnowNoNames: users by other numbers, and all a while later, score the
// same.
func TestScoresKnowNoNames(t *testing.T) {
	t.Parallel()
	past := excerpt(t)[:400]
	want := evaluate(t, past)
	for _, other := range []struct {
		later protocol.Instant
		mask  int
	}{{0, 0}, {1, 1}, {1 << 41, 0x55555}, {987_654_321, 0xfffff}} {
		renamed := make([]wait.Past, len(past))
		for i, one := range past {
			one.Submit += other.later
			one.Job.User ^= other.mask
			renamed[i] = one
		}
		if got := evaluate(t, renamed); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: got %+v\nwant %+v", other, got, want)
		}
	}
}
