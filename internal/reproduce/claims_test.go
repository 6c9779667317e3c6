package reproduce_test

import (
	"math"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// printed is an exhibit as it stands on the page.
const printed = `## fig9: title

Beside [XY] Figure 9. One seed.
A note.

| site | wait, min | paper |
|---|---:|---:|
| a | 1,234.5 ± 6 | 1,000 |
| b | -2 |  |

By month

| site | wait, min |
|---|---:|
| a | – |
`

func TestClaims(t *testing.T) {
	t.Parallel()
	waits := func(title string, rows ...string) func(*reproduce.Printed) []float64 {
		return func(p *reproduce.Printed) []float64 { return p.Table("fig9", title).Column("wait, min", rows...) }
	}
	for name, c := range map[string]struct {
		claim   reproduce.Claim
		ours    string
		verdict reproduce.Verdict
		wrong   string
	}{
		"within":       {claim: reproduce.Claim{Ours: waits("", "a"), Unit: "min", Digits: 1, Borne: reproduce.AtLeast(1234)}, ours: "1,234.5 min", verdict: reproduce.BorneOut},
		"a bound":      {claim: reproduce.Claim{Ours: waits("", "a"), Borne: reproduce.AtMost(1234.5)}, ours: "1,234", verdict: reproduce.BorneOut},
		"in kind":      {claim: reproduce.Claim{Ours: waits(""), Borne: reproduce.AtLeast(0), InKind: reproduce.AtLeast(-2)}, ours: "-2 to 1,234", verdict: reproduce.InKind},
		"one outside":  {claim: reproduce.Claim{Ours: waits(""), Borne: reproduce.Bounds{Low: 0, High: 2000}}, ours: "-2 to 1,234", verdict: reproduce.NotBorneOut},
		"one may be":   {claim: reproduce.Claim{Ours: waits(""), Borne: reproduce.Bounds{Low: 0, High: 2000}, Except: 1}, ours: "-2 to 1,234", verdict: reproduce.BorneOut},
		"two may not":  {claim: reproduce.Claim{Ours: waits(""), Borne: reproduce.AtLeast(2000), Except: 1}, ours: "-2 to 1,234", verdict: reproduce.NotBorneOut},
		"over nothing": {claim: reproduce.Claim{Ours: func(*reproduce.Printed) []float64 { return []float64{math.NaN()} }, Borne: reproduce.AtLeast(0)}, wrong: "divided by a 0"},
		"no bounds":    {claim: reproduce.Claim{Ours: waits("", "b")}, ours: "-2", verdict: reproduce.NotBorneOut},
		"no number":    {claim: reproduce.Claim{Says: "x", Ours: waits("By month")}, wrong: `"x": fig9, table "By month": "–" in row "a", column "wait, min" is no number`},
		"no row":       {claim: reproduce.Claim{Ours: waits("", "c")}, wrong: `no row "c" with a column "wait, min"`},
		"no table":     {claim: reproduce.Claim{Ours: waits("By year")}, wrong: `fig9, table "By year": there is none`},
		"no exhibit":   {claim: reproduce.Claim{Ours: func(p *reproduce.Printed) []float64 { return []float64{p.Table("fig8", "").At("a", "b")} }}, wrong: "no exhibit is called fig8"},
		"not made yet": {claim: reproduce.Claim{Ours: func(p *reproduce.Printed) []float64 { return []float64{p.Table("fig7", "").At("a", "b")} }}, ours: "–", verdict: reproduce.NotMade},
	} {
		var p reproduce.Printed
		p.Add("fig7", "")
		p.Add("fig9", printed)
		ours, verdict, err := c.claim.Judge(&p)
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
		if ours != c.ours || verdict != c.verdict {
			t.Errorf("%s: %q %q, want %q %q", name, ours, verdict, c.ours, c.verdict)
		}
	}
}

// The flags of a command say what is not the default, and read back they give the same.
func TestArgs(t *testing.T) {
	t.Parallel()
	o := reproduce.Default()
	if args := o.Args(); len(args) != 0 {
		t.Errorf("the defaults are %q", args)
	}
	o.Jobs, o.Authors = 3000, []reproduce.Choice{reproduce.WholeHours, reproduce.Steps}
	if got := strings.Join(o.Args(), " "); got != "--authors whole-hours,steps --jobs 3000" {
		t.Error(got)
	}
}
