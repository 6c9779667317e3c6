package sarima_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/sarima"
)

func TestParseOrder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]sarima.Order{
		"(1,0,1)(1,0,1)24": {AR: 1, MA: 1, SeasonalAR: 1, SeasonalMA: 1, Period: 24, Mean: true},
		"(2,1,0)(0,1,1)96": {AR: 2, Diff: 1, SeasonalDiff: 1, SeasonalMA: 1, Period: 96},
		"(0,0,3)":          {MA: 3, Mean: true},
		"(0,1,0)(0,0,0)24": {Diff: 1, Period: 24},
	} {
		if got, err := sarima.ParseOrder(text); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                   "write (p,d,q)",
		"(1,0,1)x":           "write (p,d,q)",
		"(1, 0, 1)":          "write (p,d,q)",
		"(1,0,1)(1,0,1)":     "write (p,d,q)",
		"(1,0,1)(1,0,1)24h":  "write (p,d,q)",
		"(-1,0,1)":           "-1 is not from 0",
		"(1,0,1)(1,0,1)1":    "at least 2",
		"(1,0,1)(2,0,1)1000": "longest lag is 2001",
		"(20,0,20)":          "40 coefficients",
	} {
		if _, err := sarima.ParseOrder(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", text, err, want)
		}
	}
	if err := (sarima.Order{Diff: 2, Mean: true}).Validate(); err == nil {
		t.Error("a mean of second differences is accepted")
	}
}

// What is read is what it says, and a valid order.
func FuzzParseOrder(f *testing.F) {
	for _, text := range []string{"(1,0,1)(1,0,1)24", "(0,1,0)", "(1,0", "(01,0,0)", "(9999999999999999999,0,0)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := sarima.ParseOrder(text)
		if err != nil {
			return
		}
		if o.String() != text || o.Validate() != nil {
			t.Errorf("%q was read as %v, %v", text, o, o.Validate())
		}
	})
}
