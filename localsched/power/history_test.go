package power_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func expects(t *testing.T, l *power.History, like uint64, ppm, runs int) {
	t.Helper()
	if p, n := l.Predict(like); p != ppm || n != runs {
		t.Errorf("of %x after %d runs %d ppm are expected; want %d after %d", like, n, p, ppm, runs)
	}
}

func TestLikelyByHand(t *testing.T) {
	t.Parallel()
	var l power.History
	expects(t, &l, 7, 0, 0)
	for _, ppm := range []int{0, -1, protocol.MaxPower + 1} {
		l.Add(7, ppm)
	}
	l.Add(0, 5)
	expects(t, &l, 7, 0, 0)
	expects(t, &l, 0, 0, 0)
	l.Add(7, 10)
	expects(t, &l, 7, 10, 1)
	l.Add(7, 11)
	expects(t, &l, 7, 11, 2) // 10½
	l.Add(7, 10)
	expects(t, &l, 7, 10, 3) // 10⅓
	l.Add(8, protocol.MaxPower)
	for range power.HistoryRuns {
		l.Add(7, 1000)
	}
	expects(t, &l, 7, 1000, power.HistoryRuns)
	expects(t, &l, 8, protocol.MaxPower, 1)
}

// mean is that of the last so many.
func mean(all []int, last int) float64 {
	all = all[max(0, len(all)-last):]
	sum := 0.0
	for _, one := range all {
		sum += float64(one)
	}
	return sum / float64(len(all))
}

// TestLikelyIsAGoodGuess: of jobs whose power varies by a tenth around what their program
// draws. While the program stays, the guess is off (by the root of the mean square) by at
// most 8 % more than one by someone who knows the program, where the last run alone is off
// by 41 % more. Over programs that change every 40 runs it beats the last run and the mean
// of all runs.
func TestLikelyIsAGoodGuess(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	off := func(changes bool) (likely, last, all float64) {
		known := 0.0
		for user := range uint64(200) {
			var l power.History
			var drew []int
			program := 1e6
			for run := range 200 {
				if changes && run%40 == 0 {
					program = 600_000 + 800_000*random.Float64()
				}
				ppm := int(program * (1 + 0.1*random.NormFloat64()))
				if run >= power.HistoryRuns {
					expected, _ := l.Predict(user + 1)
					known += math.Pow(float64(ppm)-program, 2)
					likely += math.Pow(float64(ppm-expected), 2)
					last += math.Pow(float64(ppm)-mean(drew, 1), 2)
					all += math.Pow(float64(ppm)-mean(drew, 200), 2)
				}
				l.Add(user+1, ppm)
				drew = append(drew, ppm)
			}
		}
		return math.Sqrt(likely / known), math.Sqrt(last / known), math.Sqrt(all / known)
	}
	if likely, last, _ := off(false); likely > 1.08 || last < 1.35 {
		t.Errorf("of one program the guess is off by %.3f of the best guess, the last run by %.3f", likely, last)
	}
	if likely, last, all := off(true); likely > last || likely > all {
		t.Errorf("of changing programs the guess is off by %.3f, the last run by %.3f, all runs by %.3f", likely, last, all)
	}
}

// TestLikelyIsBounded: the likenesses that ran last are known, and no more than two
// generations of them; one that runs now and then stays.
func TestLikelyIsBounded(t *testing.T) {
	t.Parallel()
	var l power.History
	const many = 5*power.Generation + 77
	for like := uint64(1); like <= many; like++ {
		l.Add(like, 1000)
		if like%(power.Generation/2) == 0 {
			l.Add(1, int(like))
		}
	}
	known := 0
	for like := uint64(1); like <= many; like++ {
		_, runs := l.Predict(like)
		known += runs
		if runs == 0 && like > many-power.Generation+1 { // these and the first one ran last
			t.Fatalf("likeness %d of %d is forgotten", like, many)
		}
	}
	known -= power.HistoryRuns - 1 // one counts with all its runs
	if _, runs := l.Predict(1); runs != power.HistoryRuns || known > 2*power.Generation {
		t.Errorf("%d likenesses are known, %d runs of the first", known, runs)
	}
}

// TestLikelySurvives: what is printed reads back as the same in all that follows.
func TestLikelySurvives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var l power.History
		learn := func(into ...*power.History) {
			for range rapid.IntRange(0, 40).Draw(t, "runs") {
				like := rapid.Uint64Range(0, 9).Draw(t, "like") * 0x1234567890ABCDEF
				ppm := rapid.IntRange(0, protocol.MaxPower+1).Draw(t, "ppm")
				for _, one := range into {
					one.Add(like, ppm)
				}
			}
		}
		learn(&l)
		var back power.History
		back.Add(4, 4)
		text, _ := l.MarshalText()
		if err := back.UnmarshalText(text); err != nil {
			t.Fatal(err)
		}
		learn(&l, &back)
		text, _ = l.MarshalText()
		if again, _ := back.MarshalText(); !bytes.Equal(text, again) {
			t.Fatalf("they differ:\n%s\n%s", text, again)
		}
	})
}

// TestGenerationsSurvive.
func TestGenerationsSurvive(t *testing.T) {
	t.Parallel()
	var l, back power.History
	for like := uint64(1); like <= power.Generation+2; like++ {
		l.Add(like, int(like))
	}
	l.Add(5, 15)
	text, _ := l.MarshalText()
	if err := back.UnmarshalText(text); err != nil {
		t.Fatal(err)
	}
	expects(t, &back, 4, 4, 1)
	expects(t, &back, 5, 10, 2)
	again, _ := back.MarshalText()
	if !bytes.Equal(text, again) || bytes.Count(text, []byte("young")) != 3 || bytes.Count(text, []byte("old")) != power.Generation-1 {
		t.Errorf("%d bytes read back as %d", len(text), len(again))
	}
}

func TestLikelyText(t *testing.T) {
	t.Parallel()
	var l power.History
	const good = "likely 1\nold 00000000000000ff 1000000\nyoung 8c0a3f11d20e77b4 950000 1010000 990001\n"
	if err := l.UnmarshalText([]byte(good)); err != nil {
		t.Fatal(err)
	}
	expects(t, &l, 0xff, 1_000_000, 1)
	expects(t, &l, 0x8c0a3f11d20e77b4, 983_334, 3)
	var full strings.Builder
	full.WriteString("likely 1\n")
	for like := range power.Generation + 1 {
		fmt.Fprintf(&full, "old %016x 1\n", like+1)
	}
	for text, want := range map[string]string{
		"":                                 "line 1: the text is empty",
		"likely 2\n":                       "line 1: \"likely 2\\n\" is not",
		"likely 1":                         "line 1: \"likely 1\" is not",
		"likely 1\n\n":                     "line 2: it has 0 words",
		"likely 1\nold 00000000000000ff\n": "line 2: it has 2 words",
		"likely 1\nold 00000000000000ff 1 2 3 4 5 6 7 8 9\n":           "line 2: it has 11 words",
		"likely 1\nage 00000000000000ff 1\n":                           `line 2: "age" is no generation`,
		"likely 1\nold 0000000000000000 1\n":                           `"0000000000000000" is no likeness`,
		"likely 1\nold 000000000000000g 1\n":                           `"000000000000000g" is no likeness`,
		"likely 1\nold 10000000000000000 1\n":                          `"10000000000000000" is no likeness`,
		"likely 1\nold 00000000000000ff 0\n":                           `"0" is no power`,
		"likely 1\nold 00000000000000ff 1 100000001\n":                 `"100000001" is no power`,
		"likely 1\nold 00000000000000ff 1 x\n":                         `"x" is no power`,
		"likely 1\nold 00000000000000FF 1\n":                           "spaces or zeros",
		"likely 1\nold ff 1\n":                                         "spaces or zeros",
		"likely 1\nold 00000000000000ff 01\n":                          "spaces or zeros",
		"likely 1\nold 00000000000000ff  1\n":                          "spaces or zeros",
		"likely 1\nold 00000000000000ff 1":                             "spaces or zeros",
		"likely 1\nold 00000000000000ff 1\r\n":                         "spaces or zeros",
		"likely 1\nold 00000000000000ff 1\nold 00000000000000ff 2\n":   "line 3: the likeness 00000000000000ff has a line already",
		"likely 1\nold 00000000000000ff 1\nyoung 00000000000000ff 1\n": "line 3: the likeness 00000000000000ff has a line already",
		"likely 1\nold 00000000000000ff 1\nold 00000000000000fe 1\n":   "line 3: it is out of order",
		"likely 1\nyoung 0000000000000001 1\nold 0000000000000002 1\n": "line 3: it is out of order",
		full.String(): fmt.Sprintf("line %d: there are more than %d old", power.Generation+2, power.Generation),
	} {
		if err := l.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: got %v, want %s", text, err, want)
		}
	}
	if text, _ := l.MarshalText(); string(text) != good {
		t.Errorf("what is refused has changed it to %s", text)
	}
}

// FuzzLikely: what is read is printed as it was.
func FuzzLikely(f *testing.F) {
	f.Add([]byte("likely 1\nold 00000000000000ff 1000000\nyoung 8c0a3f11d20e77b4 950000 1010000 990001\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var l power.History
		if l.UnmarshalText(text) != nil {
			return
		}
		if again, _ := l.MarshalText(); !bytes.Equal(text, again) {
			t.Fatalf("%q is printed as %q", text, again)
		}
	})
}
