package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tuned is an experiment to tune: jobs of one site, at a price, and a free partner that is
// slow.
const tuned = `scheme = "sender"
currency = "CHF"
seeds = 1
[policy]
name = "iss"
[[waiting_cost]]
name = "boss"
kind = "salary"
rate = 90.0
days = "mon-sun"
hours = "00:00-24:00"
[default_weights]
wait_weight = 0.0
waiting_cost = "boss"
[[site]]
name = "dear"
[site.localsched]
cpus = 4
nodes = 4
mhz = 2000
[site.tariff]
cpu_hour = 2.0
currency = "CHF"
[[site]]
name = "slow"
[site.localsched]
cpus = 4
nodes = 4
mhz = 1000
[site.tariff]
cpu_hour = 0.5
currency = "CHF"
[[workload]]
site = "dear"
trace = "t.swf"
[tune]
[tune.goal]
response = 1.0
[[tune.axis]]
key = "default_weights.wait_weight"
values = [0.5, 20]
[[candidate]]
name = "a fast one"
price = 40000.0
[candidate.site]
name = "fast"

[candidate.site.localsched]
cpus = 4
nodes = 4
mhz = 4000

[candidate.site.tariff]
cpu_hour = 2.0
currency = "CHF"
`

func tunedFile(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tuned.toml": tuned,
		"t.swf": "1 0 -1 3600 4 -1 -1 4 3600 -1 1 1 1 1 1 1 -1 -1\n2 0 -1 3600 4 -1 -1 4 3600 -1 1 1 1 1 1 1 -1 -1\n" +
			"3 60 -1 7200 4 -1 -1 4 7200 -1 1 1 1 1 1 1 -1 -1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "tuned.toml")
}

// TestSimTune: at β = 0 the jobs stand in line at the slow site for 8 h of 4 CPUs at 0.5 CHF; with β
// the dear one, which is twice as fast, takes two of them.
func TestSimTune(t *testing.T) {
	t.Parallel()
	const want = `The points that were tried, 1 seed

POINT         DEFAULT_WEIGHTS.WAIT_WEIGHT   GOAL  USERS' COST, CHF  MEAN RESPONSE  UTILIZATION, %
as it stands                            -  1.000              16.0        4:39:40            50.0
best                                  0.5  0.428              28.0        1:59:40            83.3
2                                      20  0.428              28.0        1:59:40            83.3

Each site, as it stands and with the best point, 1 seed

SITE  CPUS  UTILIZATION, %  WITH THE BEST, %  INCOME, CHF  WITH THE BEST, CHF
dear     4            0.00               100         0.00                24.0
slow     4             100              66.7         16.0                4.00

What to buy next: the candidates by their worth, and what they change, 1 seed

CANDIDATE   GAIN, %  PRICE A YEAR, CHF  GAIN FOR 1000 A YEAR, %  SAVED A YEAR, CHF  USERS' COST, %  RESPONSE, %  UTILIZATION, %  ENERGY, %
a fast one     41.8              10000                     4.18              35040           -42.9        -41.8           -60.0       0.00

What is overused: demand when waiting costs nothing (β = 0), 1 seed

SITE  CPUS  DEMAND  UTILIZATION WITH Β = 0, %  WITH THE BEST, %
dear     4    0.00                       0.00               100
slow     4    2.00                        100              66.7
`
	dir := filepath.Join(t.TempDir(), "page")
	got := simulate(t, "tune", tunedFile(t), "--rank-candidates", "--html", dir)
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("got %+v", got)
	}
	if got.stdout != want {
		t.Errorf("printed\n%s\nwant\n%s", got.stdout, want)
	}
	for _, name := range []string{"index.html", "goal-1.svg", "sites.svg", "candidates.svg", "used.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil || !strings.Contains(string(page), "--method grid --rank-candidates") {
		t.Errorf("the page does not say how it was made: %v", err)
	}
}

// TestSimTuneJSON has the same bytes for any number of workers, and what docs/simulator.md
// says.
func TestSimTuneJSON(t *testing.T) {
	t.Parallel()
	file := tunedFile(t)
	one := good(t, simulate(t, "tune", file, "--method", "nelder-mead", "--runs", "6", "--workers", "1", "--json"))
	if two := good(t, simulate(t, "tune", file, "--method", "nelder-mead", "--runs", "6", "--workers", "3", "--json")); one != two {
		t.Errorf("other bytes with more workers:\n%s\n%s", one, two)
	}
	var found struct {
		Method string
		Best   *int
		Points []struct {
			At   []float64
			Goal struct{ Mean float64 }
		}
		Candidates []any
	}
	if err := json.Unmarshal([]byte(one), &found); err != nil {
		t.Fatal(err)
	}
	if found.Method != "nelder-mead" || len(found.Points) == 0 || len(found.Points) > 6 || found.Candidates != nil || found.Points[*found.Best].Goal.Mean >= 1 {
		t.Errorf("found %+v", found)
	}
}

// TestSimTunePageThatCannotBe is told before anything is simulated; what fails after it loses
// no result.
func TestSimTunePageThatCannotBe(t *testing.T) {
	t.Parallel()
	file := tunedFile(t)
	got := simulate(t, "tune", file, "--html", filepath.Join(file, "page"))
	if got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, "not a directory") {
		t.Errorf("below a file: got %+v", got)
	}
	dir := filepath.Join(t.TempDir(), "page")
	free := tempFile(t, "free.toml", strings.ReplaceAll(strings.Replace(tuned, "response = 1.0", "cost = 1.0", 1), "cpu_hour", "# cpu_hour"))
	if err := os.Symlink(filepath.Join(filepath.Dir(file), "t.swf"), filepath.Join(filepath.Dir(free), "t.swf")); err != nil {
		t.Fatal(err)
	}
	got = simulate(t, "tune", free, "--html", dir)
	if _, err := os.Stat(dir); got.code != 1 || !strings.Contains(got.stderr, "nothing can be compared") || !os.IsNotExist(err) {
		t.Errorf("a search that fails: got %+v, and of the folder %v", got, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "index.html"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got = simulate(t, "tune", file, "--html", dir); got.code != 1 || !strings.Contains(got.stdout, "The points that were tried") {
		t.Errorf("in place of a folder: got %+v", got)
	}
}

func TestSimTuneMistakes(t *testing.T) {
	t.Parallel()
	file := tunedFile(t)
	bad := tempFile(t, "bad.toml", strings.Replace(tuned, "values = [0.5, 20]", "values = [0.5]\nvalue = 3", 1))
	for name, c := range map[string]struct {
		args   []string
		code   int
		stderr []string
	}{
		"no name":        {[]string{}, 2, []string{"requires one experiment"}},
		"nothing tuned":  {[]string{"light"}, 2, []string{"no table [tune]"}},
		"unknown method": {[]string{file, "--method", "guess"}, 2, []string{`invalid method "guess"; use grid or nelder-mead`}},
		"few runs":       {[]string{file, "--runs", "1"}, 2, []string{"the grid has 2 points, and 1 runs are allowed"}},
		"no runs":        {[]string{file, "--runs", "0"}, 2, []string{"give 1 or more"}},
		"no workers":     {[]string{file, "--workers", "0"}, 2, []string{"--workers: use at least 1"}},
		"bad file":       {[]string{bad}, 2, []string{"bad.toml:41: tune.axis[1].values: needs two", `bad.toml:42: tune.axis[1].value: unknown key; did you mean "values"?`}},
	} {
		got := simulate(t, append([]string{"tune"}, c.args...)...)
		if got.code != c.code || got.stdout != "" {
			t.Errorf("%s: got %+v", name, got)
		}
		for _, want := range c.stderr {
			if !strings.Contains(got.stderr, want) {
				t.Errorf("%s: stderr lacks %q:\n%s", name, want, got.stderr)
			}
		}
	}
}

// A run history is priced by the experiment's sites, in place of a search.
func TestSimTuneHistory(t *testing.T) {
	t.Parallel()
	park := filepath.Join("..", "..", "examples", "iss", "buy.toml")
	file := filepath.Join(t.TempDir(), "runs.json")
	text := `{"components": [{"user": "ada", "name": "mesh", "sites": [{"site": "opteron", "runs": [{"at_ms": 1772500000000, "cpus": 128, "ran_ms": 36000000}]}]}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := simulate(t, "tune", park, "--history", file)
	for _, want := range []string{"1 run at each site", "opteron", "mesh", "a second cluster of Xeons"} {
		if r.code != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("exit %d, no %q in\n%s%s", r.code, want, r.stdout, r.stderr)
		}
	}
	var priced struct {
		Runs int `json:"runs"`
	}
	r = simulate(t, "tune", park, "--history", file, "--json")
	if err := json.Unmarshal([]byte(r.stdout), &priced); err != nil || priced.Runs != 1 {
		t.Errorf("%v: %s", err, r.stdout)
	}
	text = content(t, park)
	only := filepath.Join(t.TempDir(), filepath.Base(park))
	if err := os.WriteFile(only, []byte(text[:strings.Index(text, "[[application]]")]+text[strings.Index(text, "[[candidate]]"):]), 0o600); err != nil {
		t.Fatal(err)
	}
	if bare := simulate(t, "tune", only, "--history", file, "--json"); bare.code != 0 || bare.stdout != r.stdout {
		t.Errorf("without jobs and a goal: exit %d, %s%s", bare.code, bare.stderr, bare.stdout)
	}
	if r = simulate(t, "tune", park, "--history", file, "--rank-candidates"); r.code != exitUsage || !strings.Contains(r.stderr, "--rank-candidates has no effect with --history") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
}
