package problemstest_test

import (
	"errors"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
)

// recorder counts the errors of a test.
type recorder struct {
	testing.TB

	errors int
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.errors++ }

func TestCheck(t *testing.T) {
	t.Parallel()
	err := error(problems.List{
		{Place: problems.Place{File: "/tmp/x/site.toml", Line: 7, Key: "rounds.phi"}, Text: "is now local_wait_threshold"},
		{Text: "there is no site"},
	})
	at := problemstest.At
	for name, c := range map[string]struct {
		err    error
		wants  []problemstest.Want
		errors int
	}{
		"nothing":        {nil, nil, 0},
		"all of a place": {err, []problemstest.Want{at("site.toml", 7, "rounds.phi")}, 0},
		"a path":         {err, []problemstest.Want{at("x/site.toml", 0, ""), at("/tmp/x/site.toml", 0, "")}, 0},
		"a key":          {err, []problemstest.Want{problemstest.Key("rounds.phi", "now", "local_wait")}, 0},
		"without place":  {err, []problemstest.Want{at("", 0, "", "no site")}, 0},
		"unexpected":     {err, nil, 1},
		"other kind":     {errors.New("site.toml:7: rounds.phi: is odd"), []problemstest.Want{at("site.toml", 7, "rounds.phi")}, 1},
		"no error":       {nil, []problemstest.Want{at("site.toml", 7, "rounds.phi")}, 1},
		"other line":     {err, []problemstest.Want{at("site.toml", 8, "rounds.phi")}, 1},
		"other key":      {err, []problemstest.Want{at("site.toml", 7, "rounds")}, 1},
		"other file":     {err, []problemstest.Want{at("te.toml", 7, "rounds.phi")}, 1},
		"of two places":  {err, []problemstest.Want{at("site.toml", 7, "", "no site")}, 1},
		"each":           {err, []problemstest.Want{at("", 1, ""), at("", 2, "")}, 2},
	} {
		r := &recorder{}
		if ok := problemstest.Check(r, c.err, c.wants...); r.errors != c.errors || ok != (c.errors == 0) {
			t.Errorf("%s: %d errors, %t", name, r.errors, ok)
		}
	}
}
