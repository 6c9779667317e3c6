package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// simulate runs a command of the simulator and returns what it did.
func simulate(t *testing.T, args ...string) result {
	t.Helper()
	return command(t, "", "", append([]string{"sim"}, args...)...)
}

// good fails the test unless the command went well and told nothing on stderr.
func good(t *testing.T, got result) string {
	t.Helper()
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("got %+v", got)
	}
	return got.stdout
}

// tempFile makes a file of the test.
func tempFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	traces = "../../internal/workload/testdata/"
	lublin = traces + "lublin_256_est.swf"

	blueAugust = traces + "SDSC-BLUE-2002-08.swf"
)

// blueSite is an experiment of Blue Horizon alone, with a trace, else its own.
func blueSite(t *testing.T, trace string) string {
	t.Helper()
	path, err := filepath.Abs(cmp.Or(trace, blueAugust))
	if err != nil {
		t.Fatal(err)
	}
	return "name = \"blue\"\ncompare = [\"local\"]\n[[site]]\nname = \"blue\"\n\n[site.localsched]\ncpus = 1152\nnodes = 144\n" +
		"[[workload]]\nsite = \"blue\"\ntrace = '" + path + "'\n"
}

// pairOfSites is a busy and an idle machine for twelve hours.
const pairOfSites = `
name = "pair"
scheme = "sender"
compare = ["local"]
seeds = 2

[[site]]
name = "busy"

[site.localsched]
cpus = 1024
nodes = 64
mhz = 375
machine = "whole-node"

[[site]]
name = "idle"

[site.localsched]
cpus = 1220
nodes = 305
mhz = 332
machine = "whole-node"

[[workload]]
site = "busy"
model = "M1"
span = "12h"
scale = true

[[workload]]
site = "idle"
model = "M2"
span = "12h"
jobs = 20
`

const malformed = "; MaxProcs: 4\n1 0 -1 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n2 x -1 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n"

func TestSimExitCodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := tempFile(t, "bad.toml", "seeds = 0\n[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 0\nnodes = 0\n[[workload]]\nsite = \"a\"\nmodel = \"M1\"\n")
	lost := tempFile(t, "lost.toml", "[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 9\nnodes = 9\n[[workload]]\nsite = \"a\"\ntrace = \"none.swf\"\n")
	trace := tempFile(t, "bad.swf", malformed)
	text := tempFile(t, "text.json", "{}")
	wide := tempFile(t, "wide.swf", "2 1 -1 5 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n")
	window := tempFile(t, "window.toml", blueSite(t, "")+"to = \"1999-01-01\"\n")
	cases := map[string]struct {
		args   []string
		code   int
		stderr []string
	}{
		"nothing to do":           {nil, 2, []string{"missing subcommand: use sim run"}},
		"no such command":         {[]string{"rum"}, 2, []string{`unknown command "rum"; did you mean run`}},
		"no experiment":           {[]string{"run"}, 2, []string{"requires one experiment"}},
		"two experiments":         {[]string{"run", "heavy", "light"}, 2, []string{"requires one experiment"}},
		"unknown experiment":      {[]string{"run", "hevy"}, 3, []string{"no file hevy and no built-in experiment", "heavy, light"}},
		"a folder":                {[]string{"run", dir}, 2, []string{"is a directory"}},
		"bad experiment":          {[]string{"run", bad}, 2, []string{"bad.toml:1: seeds: is 0; use 1 or more", "bad.toml:6: site[a].localsched.nodes: "}},
		"lost trace":              {[]string{"run", lost}, 3, []string{"none.swf: no such file"}},
		"bad scheme":              {[]string{"run", "light", "--scheme", "both"}, 2, []string{`invalid scheme "both"`}},
		"unknown show":            {[]string{"show", "hevy"}, 3, []string{"no experiment of the name"}},
		"no trace":                {[]string{"schedule"}, 2, []string{"missing --trace"}},
		"trace not there":         {[]string{"schedule", "--trace", "none.swf"}, 3, []string{"none.swf: no such file"}},
		"malformed":               {[]string{"schedule", "--trace", trace}, 1, []string{`bad.swf:3: field 2 (submit time): "x" is not a number`}},
		"no machine":              {[]string{"schedule", "--trace", traces + "hand-written.sacct"}, 2, []string{"--procs"}},
		"unknown policy":          {[]string{"schedule", "--trace", lublin, "--policy", "lottery"}, 2, []string{`--policy: no local policy is called "lottery"`}},
		"unknown tie":             {[]string{"schedule", "--trace", lublin, "--tie", "none"}, 2, []string{`--tie: no tie rule is called "none"`}},
		"unknown format":          {[]string{"schedule", "--trace", lublin, "--format", "csv"}, 2, []string{`--format: unknown value "csv"`}},
		"fit without node":        {[]string{"fit", "--trace", lublin}, 2, []string{"--cpus-per-node"}},
		"fit small machine":       {[]string{"fit", "--trace", lublin, "--cpus-per-node", "1", "--nodes", "2"}, 2, []string{"the machine 2"}},
		"fit two inputs":          {[]string{"fit", "--trace", lublin, "--sacct", lublin, "--cpus-per-node", "1"}, 2, []string{"mutually exclusive"}},
		"fit bad date":            {[]string{"fit", "--trace", lublin, "--cpus-per-node", "1", "--submitted-from", "May"}, 2, []string{`--submitted-from: invalid date "May"`}},
		"fit bad merge":           {[]string{"fit", "--trace", lublin, "--cpus-per-node", "1", "--merge", "up"}, 2, []string{`--merge: unknown value "up"`}},
		"sweep unknown key":       {[]string{"sweep", "light", "--set", "colour=red"}, 2, []string{`"colour" cannot be set; use bias, `}},
		"sweep bad value":         {[]string{"sweep", "light", "--set", "volunteer_below=7"}, 2, []string{"volunteer_below = 7: 7 is outside 0 to 1"}},
		"fit empty window":        {[]string{"fit", "--trace", blueAugust, "--cpus-per-node", "8", "--submitted-before", "1999-01-01"}, 2, []string{"--submitted-before: empty window: it ends at 1999-01-01, and the trace begins at 2000-04-25 14:00:03"}},
		"fit window reversed":     {[]string{"fit", "--trace", blueAugust, "--cpus-per-node", "8", "--submitted-from", "2002-08-02", "--submitted-before", "2002-08-02"}, 2, []string{"--submitted-before: empty window"}},
		"run empty window":        {[]string{"run", window}, 1, []string{"02-08.swf: to: empty window"}},
		"schedule one output":     {[]string{"schedule", "--trace", lublin, "--starts", "-", "--json"}, 2, []string{"only one of --json and --starts - can use"}},
		"run one output":          {[]string{"run", "light", "--swf", "-", "--gantt", "-"}, 2, []string{"only one of --swf - and --gantt -"}},
		"fit one output":          {[]string{"fit", "--trace", lublin, "--cpus-per-node", "1", "--out", "-", "--json"}, 2, []string{"only one of --json and --out -"}},
		"sweep one output":        {[]string{"sweep", "light", "--html", "-", "--json"}, 2, []string{"only one of --json and --html -"}},
		"sweep bad range":         {[]string{"sweep", "light", "--load", "1..0"}, 2, []string{"below its beginning"}},
		"sweep twice":             {[]string{"sweep", "light", "--load", "1,2", "--set", "load=3"}, 2, []string{"load is set twice"}},
		"sweep bad site":          {[]string{"sweep", "light", "--add-site", "x"}, 2, []string{"NODESxCPUS@MHZ"}},
		"sweep no seeds":          {[]string{"sweep", "light", "--seeds", "-1"}, 2, []string{"--seeds"}},
		"replay nothing":          {[]string{"replay"}, 2, []string{"requires one recording"}},
		"replay not there":        {[]string{"replay", "none.rec"}, 3, []string{"none.rec: no such file"}},
		"replay no recording":     {[]string{"replay", text}, 1, []string{"is no recording"}},
		"from-record nothing":     {[]string{"from-record"}, 2, []string{"requires recordings"}},
		"from-record no site":     {[]string{"from-record", "a.rec"}, 2, []string{"requires --site"}},
		"from-record no policy":   {[]string{"from-record", "a.rec", "--site", "a.toml", "--policy", "lottery"}, 2, []string{`--policy: unknown value "lottery"`}},
		"report nothing":          {[]string{"report"}, 2, []string{"requires the JSON"}},
		"report nowhere":          {[]string{"report", text}, 2, []string{"--out"}},
		"report not there":        {[]string{"report", "none.json", "--out", dir}, 3, []string{"none.json: no such file"}},
		"report other JSON":       {[]string{"report", text, "--out", dir}, 1, []string{"text.json: neither the JSON of sim run"}},
		"list takes no names":     {[]string{"list", "x"}, 2, []string{"takes no arguments"}},
		"starts to no folder":     {[]string{"schedule", "--trace", lublin, "--starts", dir + "/no/s.csv"}, 1, []string{"missing directory"}},
		"starts over the trace":   {[]string{"schedule", "--trace", lublin, "--starts", lublin}, 2, []string{"--starts would overwrite an input file"}},
		"two outputs in one file": {[]string{"run", "heavy", "--starts", dir + "/x", "--swf", dir + "/./x"}, 2, []string{"--swf would overwrite the file of --starts"}},
		"a folder as output":      {[]string{"sweep", "heavy", "--html", dir}, 1, []string{"--html: ", "is a directory"}},
		"a picture of the ideal":  {[]string{"run", "heavy", "--scheme", "ideal", "--gantt", dir + "/g.svg"}, 2, []string{"one virtual machine"}},
		"nothing fits":            {[]string{"schedule", "--trace", wide, "--procs", "1"}, 1, []string{"cannot run on this machine", "no job ran"}},
		"no seeds":                {[]string{"sweep", "heavy", "--seeds", "0"}, 2, []string{"use at least 1"}},
		"too many seeds":          {[]string{"sweep", "heavy", "--seeds", "99999999999"}, 2, []string{"give fewer"}},
		"no processors":           {[]string{"schedule", "--trace", lublin, "--procs", "0"}, 2, []string{"missing --procs"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := simulate(t, c.args...)
			if got.code != c.code || got.stdout != "" {
				t.Errorf("got %+v", got)
			}
			for _, want := range c.stderr {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("stderr lacks %q:\n%s", want, got.stderr)
				}
			}
		})
	}
}

func TestSimScheduleLenient(t *testing.T) {
	t.Parallel()
	got := simulate(t, "schedule", "--trace", tempFile(t, "bad.swf", malformed), "--lenient", "--starts", "-")
	if got.code != 0 || got.stdout != "job_id,start\n1,0\n" || !strings.Contains(got.stderr, "malformed lines left out: 1, the first is line 3: field 2") {
		t.Errorf("got %+v", got)
	}
}

// TestSimScheduleTellsJobsThatNeverFit, and leaves them out.
func TestSimScheduleTellsJobsThatNeverFit(t *testing.T) {
	t.Parallel()
	trace := tempFile(t, "t.swf", "1 0 -1 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n2 1 -1 5 8 -1 -1 8 9 -1 1 1 1 1 1 1 -1 -1\n")
	got := simulate(t, "schedule", "--trace", trace, "--procs", "4", "--starts", "-")
	if got.code != 0 || got.stdout != "job_id,start\n1,0\n" || !strings.Contains(got.stderr, "1 job cannot run on this machine, the first is job 2") {
		t.Errorf("got %+v", got)
	}
}

// TestSimScheduleIsTheReference: the starts of pyss to the byte, for each policy.
func TestSimScheduleIsTheReference(t *testing.T) {
	t.Parallel()
	const shared = "../../../shared/data/"
	trace := shared + "traces/5K_sample_clean.swf.gz"
	if _, err := os.Stat(trace); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for _, policy := range []string{"easy", "fcfs", "conservative", "firstfit", "sjf", "sjffit", "easysjbf"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			want := unpacked(t, shared+"reference/schedules/5K_sample_clean_"+policy+".csv.gz")
			if got := good(t, simulate(t, "schedule", "--trace", trace, "--procs", "128", "--policy", policy, "--starts", "-")); got != want {
				t.Error("other starts than the reference")
			}
		})
	}
}

func unpacked(t *testing.T, path string) string {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documentedKeys are those of the issue that scripts rely on.
func documentedKeys() []string {
	return []string{
		"jobs", "mean_wait_s", "mean_response_s", "wait_deviation_s", "bounded_slowdown", "utilization", "makespan_s",
		"grid_efficiency", "fraction_transferred",
	}
}

func TestSimJSONHasTheDocumentedKeys(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	pair := tempFile(t, "pair.toml", pairOfSites)
	for _, args := range [][]string{
		{"schedule", "--trace", lublin, "--json"},
		{"run", pair, "--json"},
	} {
		var shown map[string]any
		if err := json.Unmarshal([]byte(good(t, simulate(t, args...))), &shown); err != nil {
			t.Fatal(err)
		}
		for _, key := range documentedKeys() {
			if _, isNumber := shown[key].(float64); !isNumber {
				t.Errorf("%s: %s is %v", args[0], key, shown[key])
			}
		}
		for key := range shown {
			if !bytes.Contains(guide, []byte("`"+key+"`")) {
				t.Errorf("docs/simulator.md does not explain %s", key)
			}
		}
	}
}

// TestSimRunTables: a line for each scheme, with its ratio to local, and one for
// each site.
func TestSimRunTables(t *testing.T) {
	t.Parallel()
	out := good(t, simulate(t, "run", tempFile(t, "pair.toml", pairOfSites)))
	lines := strings.Split(out, "\n")
	if !strings.HasPrefix(lines[0], "Experiment pair, seed 1: 2 sites, ") {
		t.Errorf("the first line is %q", lines[0])
	}
	for at, want := range map[int]string{2: "SCHEME", 3: "local", 4: "sender", 6: "Sites under scheme sender:", 8: "SITE", 9: "busy", 10: "idle"} {
		if at >= len(lines) || !strings.HasPrefix(lines[at], want) {
			t.Fatalf("line %d does not begin with %s:\n%s", at, want, out)
		}
	}
	local, sender := strings.Fields(lines[3]), strings.Fields(lines[4])
	if local[3] != "-" || !strings.HasPrefix(sender[3], "÷") {
		t.Errorf("the ratios to local are %q and %q", local[3], sender[3])
	}
}

// TestSimRunFiles: the schedule as CSV, as a trace that reads back, and as a
// picture.
func TestSimRunFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	starts, swf, gantt := filepath.Join(dir, "s.csv"), filepath.Join(dir, "s.swf"), filepath.Join(dir, "g.svg")
	var shown struct{ Jobs int }
	out := good(t, simulate(t, "run", tempFile(t, "pair.toml", pairOfSites), "--scheme", "sender", "--starts", starts,
		"--swf", swf, "--gantt", gantt, "--json"))
	if err := json.Unmarshal([]byte(out), &shown); err != nil || shown.Jobs == 0 {
		t.Fatal(err, shown)
	}
	lines := strings.Split(strings.TrimSpace(content(t, starts)), "\n")
	if lines[0] != "job_id,start,end,origin,site" || len(lines) != shown.Jobs+1 || !strings.Contains(content(t, starts), ",busy,idle\n") {
		t.Errorf("%d lines of starts, the first %q", len(lines), lines[0])
	}
	trace, err := workload.ReadSWF(strings.NewReader(content(t, swf)), workload.ReadOptions{})
	if err != nil || len(trace.Records) != shown.Jobs {
		t.Fatalf("the trace: %v", err)
	}
	moved := 0
	for _, r := range trace.Records {
		if r.Partition != r.Extra {
			moved++
		}
	}
	if moved == 0 {
		t.Error("the trace tells of no job that moved")
	}
	if err := xml.Unmarshal([]byte(content(t, gantt)), new(struct{ XMLName xml.Name })); err != nil {
		t.Errorf("the picture: %v", err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSimRunSeeds(t *testing.T) {
	t.Parallel()
	pair := tempFile(t, "pair.toml", pairOfSites)
	one, two := good(t, simulate(t, "run", pair, "--json")), good(t, simulate(t, "run", pair, "--json", "--seed", "2"))
	if !strings.Contains(two, `"seed": 2`) || one == two {
		t.Error("--seed changes nothing")
	}
	if zero := good(t, simulate(t, "run", pair, "--json", "--seed", "0")); !strings.Contains(zero, `"seed": 0`) {
		t.Error("--seed 0 is not taken")
	}
}

// TestSimIsTheSameOnAnyNumberOfCPUs: the same bytes twice, and with one and two.
func TestSimIsTheSameOnAnyNumberOfCPUs(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pair := tempFile(t, "pair.toml", pairOfSites)
	for _, args := range [][]string{
		{"sim", "run", pair, "--json"},
		{"sim", "sweep", pair, "--load", "0.9..1.1", "--add-site", "mine=64x16@375,model=M1,jobs=50", "--json"},
	} {
		var first []byte
		for _, cpus := range []string{"1", "1", "2"} {
			cmd := exec.CommandContext(t.Context(), self, args...)
			cmd.Env = append(os.Environ(), asBinary+"="+testCommit, "GOMAXPROCS="+cpus)
			out, err := cmd.Output()
			if failed, ok := errors.AsType[*exec.ExitError](err); ok {
				t.Fatalf("%v: %v: %s", args, err, failed.Stderr)
			}
			if first == nil {
				first = out
			}
			if len(out) == 0 || !bytes.Equal(out, first) {
				t.Errorf("sim %s with %s CPUs prints other bytes", args[1], cpus)
			}
		}
	}
}

func TestSimSweepTables(t *testing.T) {
	t.Parallel()
	pair := tempFile(t, "pair.toml", pairOfSites)
	page := filepath.Join(t.TempDir(), "page.html")
	got := simulate(t, "sweep", pair, "--load", "0.8,1.2", "--add-site", "mine=64×16@375,model=M1,jobs=50", "--html", page)
	if want := "switchyard: Jobs are submitted for 0.5 days at the other sites, 0.5 days at mine, with the first of the values.\n"; got.stderr != want {
		t.Errorf("the notice is %q, want %q", got.stderr, want)
	}
	got.stderr = ""
	out := good(t, got)
	for _, want := range []string{
		"All sites together, 2 seeds\n\nLOAD  SCHEME  GRID ", "\n0.8   sender  apart ",
		"\n0.8   sender  joined ", "\n1.2   sender  joined ", "What each site gains by joining, 2 seeds", " mine ", " ± ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "  local ") {
		t.Error("a scheme that was not asked for is in the table")
	}
	if html := content(t, page); !strings.Contains(html, "What mine gains by joining pair") || !strings.Contains(html, "<svg") ||
		!strings.Contains(html, "<p>If mine joins pair, at load 0.8 the mean response of the jobs of mine is ") {
		t.Error("the page lacks its title, its answer or figures")
	}
}

// TestSimSweepSchemes: values of scheme are rows and no column of their own.
func TestSimSweepSchemes(t *testing.T) {
	t.Parallel()
	out := good(t, simulate(t, "sweep", tempFile(t, "pair.toml", pairOfSites), "--set", "scheme=central,ideal", "--seeds", "1"))
	lines := strings.Split(out, "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[2], "SCHEME ") || !strings.HasPrefix(lines[3], "central ") || !strings.HasPrefix(lines[4], "ideal ") {
		t.Errorf("printed\n%s", out)
	}
}

func TestSimReport(t *testing.T) {
	t.Parallel()
	pair := tempFile(t, "pair.toml", pairOfSites)
	dir := t.TempDir()
	run, sweep, out := filepath.Join(dir, "run.json"), filepath.Join(dir, "sweep.json"), filepath.Join(dir, "report")
	for path, args := range map[string][]string{
		run:   {"run", pair, "--json"},
		sweep: {"sweep", pair, "--set", "local_wait_threshold=1m,1h", "--json"},
	} {
		if err := os.WriteFile(path, []byte(good(t, simulate(t, args...))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made := strings.Fields(good(t, simulate(t, "report", run, sweep, "--out", out, "--title", "Ours")))
	if len(made) < 3 || made[0] != filepath.Join(out, "index.html") {
		t.Fatalf("made %q", made)
	}
	if html := content(t, made[0]); !strings.Contains(html, "<title>Ours") {
		t.Error("the page lacks its title")
	}
	for _, path := range made[1:] {
		if err := xml.Unmarshal([]byte(content(t, path)), new(struct{ XMLName xml.Name })); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestSimFit: a class for each line, and a model that experiments can use.
func TestSimFit(t *testing.T) {
	t.Parallel()
	model := filepath.Join(t.TempDir(), "model.toml")
	args := []string{"fit", "--method", "classes", "--trace", traces + "SDSC-BLUE-2002-08.swf", "--cpus-per-node", "8", "--skip-queue", "3", "--out", model}
	got := simulate(t, args...)
	if got.code != 0 || !strings.Contains(got.stderr, "% more than that of the trace, ") {
		t.Errorf("the load of this log's classes is not its own, and the command says %+v", got)
	}
	out := got.stdout
	if !strings.Contains(out, "left out by their queue") || !strings.Contains(out, "Machine: 144 nodes of 8 CPUs.") {
		t.Errorf("printed\n%s", out)
	}
	var fitted experiment.FittedModel
	if err := json.Unmarshal([]byte(simulate(t, append(args, "--json")...).stdout), &fitted); err != nil {
		t.Fatal(err)
	}
	jobs := 0
	for i, class := range fitted.Classes {
		jobs += class.Jobs
		for _, times := range []experiment.FittedTimes{class.Arrival, class.Service} {
			if times.Matched < 3 && times.Reason == "" {
				t.Errorf("class %d: %d moments are matched and nothing says why", i, times.Matched)
			}
			if times.Matched == 3 && max(times.Error[0], times.Error[1], times.Error[2]) > 0.01 {
				t.Errorf("class %d: errors %v", i, times.Error)
			}
			if times.Reason != "" && !strings.Contains(out, times.Reason) {
				t.Errorf("the table does not say: %s", times.Reason)
			}
		}
	}
	if jobs != fitted.Jobs || jobs == 0 || len(fitted.Classes) < 2 {
		t.Errorf("%d jobs in %d classes, %d in all", jobs, len(fitted.Classes), fitted.Jobs)
	}
	plan := "[[site]]\nname = \"blue\"\n[site.localsched]\ncpus = 1152\nnodes = 144\n[[workload]]\nsite = \"blue\"\nspan = \"10m\"\nmodel_file = '" + model + "'\n"
	good(t, simulate(t, "run", tempFile(t, "blue.toml", plan), "--json"))
}

func TestSimFitReadsOtherFormats(t *testing.T) {
	t.Parallel()
	for flag, name := range map[string]string{"--sacct": "hand-written.sacct", "--trace": "hand-written.gwf"} {
		got := simulate(t, "fit", "--method", "classes", flag, traces+name, "--cpus-per-node", "4")
		if got.code != 0 || !strings.Contains(got.stdout, "jobs of ") || !strings.Contains(got.stdout, "MATCHED") {
			t.Errorf("%s: %+v", name, got)
		}
		if !strings.Contains(got.stderr, name+": ") || !strings.Contains(got.stderr, "records sorted, which came after later submissions: 1") {
			t.Errorf("%s: stderr does not tell of the record that is out of order: %q", name, got.stderr)
		}
	}
}

// invalidTrace is a trace of two jobs: one record has no run time, one comes after a
// later one, one is cut to its request.
const invalidTrace = `; MaxProcs: 4
1 0 -1 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1
3 9 -1 -1 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1
2 5 -1 60 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1
`

// TestSimTellsWhatBecameOfRecords, on stderr and in JSON, whoever reads a trace.
func TestSimTellsWhatBecameOfRecords(t *testing.T) {
	t.Parallel()
	trace := tempFile(t, "odd.swf", invalidTrace)
	plan := tempFile(t, "odd.toml", blueSite(t, trace))
	const read = "odd.swf: records sorted, which came after later submissions: 1; job numbers not above the one before: 1\n"
	const cleaned = "odd.swf: 2 jobs of 3 records; 1 left out without a run time; 1 (50.0 %) that ran longer than requested: " +
		"cut to the request, without 78.5 % of the work, and planned with the recorded run time (--keep-overruns or keep_overruns = true keeps it)\n"
	for name, c := range map[string]struct {
		args     []string
		reported []string
	}{
		"schedule": {[]string{"schedule", "--trace", trace}, []string{read, cleaned}},
		"run":      {[]string{"run", plan}, []string{read, cleaned}},
		"sweep":    {[]string{"sweep", plan, "--seeds", "1"}, []string{read, cleaned}},
		"fit":      {[]string{"fit", "--method", "classes", "--trace", trace, "--cpus-per-node", "1"}, []string{read}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := simulate(t, append(c.args, "--json")...)
			for _, want := range c.reported {
				if got.code != 0 || !strings.Contains(got.stderr, want) {
					t.Errorf("stderr lacks %q: %+v", want, got)
				}
			}
			var shown struct{ Records json.RawMessage }
			if err := json.Unmarshal([]byte(got.stdout), &shown); err != nil {
				t.Fatal(err)
			}
			records := []experiment.Records{{}}
			text := shown.Records
			if name == "fit" {
				text = []byte("[" + got.stdout + "]")
			}
			if err := json.Unmarshal(text, &records); err != nil || len(records) != 1 {
				t.Fatalf("%v: %s", err, text)
			}
			r := records[0]
			if r.Trace != "odd.swf" || r.Records != 3 || r.Jobs != 2 || r.LeftOut["no_run"] != 1 || r.Changed["cut"] != 1 ||
				math.Abs(r.Overrun-51.0/65) > 1e-9 || r.Read.Lines != 4 || r.Read.SubmitBack != 1 {
				t.Errorf("records %+v", r)
			}
			if strings.Count(got.stdout, `"records_left_out"`) != 1 {
				t.Error("the counts of one trace are there more than once")
			}
		})
	}
}

// TestSimDocumentsRecords: docs/simulator.md explains each key of records.
func TestSimDocumentsRecords(t *testing.T) {
	t.Parallel()
	guide := content(t, "../../docs/simulator.md")
	text, err := json.Marshal(experiment.RecordsOf("x.swf", &workload.Trace{}, workload.Cleaning{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(guide, "`"+key[1]+"`") {
			t.Errorf("docs/simulator.md does not explain %s", key[1])
		}
	}
}

// TestSimSaysThatATraceIsEmpty: a file without records is no workload.
func TestSimSaysThatATraceIsEmpty(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"nothing": "", "comments": "; MaxProcs: 4\n\n", "malformed": "1 2 3\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trace := tempFile(t, "empty.swf", text)
			plan := tempFile(t, "empty.toml", blueSite(t, trace)+"lenient = true\n[[workload]]\nsite = \"blue\"\nmodel = \"M1\"\nscale = true\nspan = \"1h\"\n")
			for _, args := range [][]string{
				{"schedule", "--trace", trace, "--procs", "4", "--lenient"},
				{"fit", "--trace", trace, "--cpus-per-node", "1", "--lenient"},
				{"run", plan},
				{"sweep", plan},
			} {
				got := simulate(t, args...)
				if got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, "empty.swf: the trace has no records") {
					t.Errorf("%s: %+v", args[0], got)
				}
				if reported := strings.Contains(got.stderr, "malformed lines left out: 1, the first is line 1: 3 fields"); reported != (name == "malformed") {
					t.Errorf("%s: tells of malformed lines: %t: %s", args[0], reported, got.stderr)
				}
			}
		})
	}
	table := tempFile(t, "jobs.txt", strings.ReplaceAll(workload.SacctFormat, ",", "|")+"\n")
	if got := simulate(t, "fit", "--sacct", table, "--cpus-per-node", "1"); got.code != 1 || !strings.Contains(got.stderr, "jobs.txt: the trace has no records") {
		t.Errorf("sacct: %+v", got)
	}
}

// TestSimFilesToTheOutput: the file - is the standard output, and all of it.
func TestSimFilesToTheOutput(t *testing.T) {
	t.Parallel()
	pair := tempFile(t, "pair.toml", pairOfSites)
	for flag, c := range map[string]struct {
		args []string
		head string
	}{
		"--starts": {[]string{"run", pair}, "job_id,start,end,origin,site\n"},
		"--swf":    {[]string{"run", pair}, "; Version: 2.2\n"},
		"--gantt":  {[]string{"run", pair}, "<?xml"},
		"--html":   {[]string{"sweep", pair, "--seeds", "1"}, "<!DOCTYPE html>"},
		"--out":    {[]string{"fit", "--trace", lublin, "--cpus-per-node", "1"}, "# Model of "},
	} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "file")
			good(t, simulate(t, append(c.args, flag, path)...))
			want := content(t, path)
			if out := good(t, simulate(t, append(c.args, flag, "-")...)); !strings.HasPrefix(out, c.head) || out != want {
				t.Errorf("printed %d bytes, the file has %d; %.60q", len(out), len(want), out)
			}
		})
	}
}

// TestSimSweepTakesDays: durations are those of an experiment's file.
func TestSimSweepTakesDays(t *testing.T) {
	t.Parallel()
	out := good(t, simulate(t, "sweep", tempFile(t, "pair.toml", pairOfSites), "--set", "local_wait_threshold=1m,1d", "--set", "scheme=sender", "--seeds", "1"))
	if !strings.Contains(out, "\n1d ") {
		t.Errorf("printed\n%s", out)
	}
}

// TestSimRunCountsBytes: under S-I sites talk, and what they say has a size.
func TestSimRunCountsBytes(t *testing.T) {
	t.Parallel()
	for scheme, talks := range map[string]bool{"sender": true, "local": false} {
		var shown map[string]any
		out := good(t, simulate(t, "run", tempFile(t, "pair.toml", pairOfSites), "--scheme", scheme, "--json"))
		if err := json.Unmarshal([]byte(out), &shown); err != nil {
			t.Fatal(err)
		}
		messages, _ := shown["messages_per_job"].(float64)
		bytes, ok := shown["bytes_per_job"].(float64)
		if !ok || (messages > 0) != talks || (bytes > 0) != talks || bytes < messages {
			t.Errorf("%s: %v bytes in %v messages per job", scheme, bytes, messages)
		}
	}
}

// TestSimReplay: a recording comes out the same; one that was changed does not.
func TestSimReplay(t *testing.T) {
	t.Parallel()
	const recording = "../../peer/recording/testdata/handoff.rec"
	out := good(t, simulate(t, "replay", recording))
	if !strings.Contains(out, "No differences") {
		t.Errorf("printed\n%s", out)
	}
	var shown map[string]any
	if err := json.Unmarshal([]byte(good(t, simulate(t, "replay", recording, "--json"))), &shown); err != nil || shown["differences"] != 0.0 {
		t.Errorf("%v, %v", err, shown)
	}
}

// alteredRecord is a recording with other text in it, and the checksums of that.
func alteredRecord(t *testing.T, from, to string) string {
	t.Helper()
	var changed strings.Builder
	for line := range strings.Lines(content(t, "../../peer/recording/testdata/handoff.rec")) {
		if other := strings.Replace(line, from, to, 1); other != line {
			body := []byte(strings.TrimSuffix(other[9:], "\n"))
			line = fmt.Sprintf("%08x %s\n", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)), body)
		}
		changed.WriteString(line)
	}
	return tempFile(t, "changed.rec", changed.String())
}

// TestSimReplayTellsWhatItCouldNotCheck: rounds of a policy that is not part of this
// program.
func TestSimReplayTellsWhatItCouldNotCheck(t *testing.T) {
	t.Parallel()
	got := simulate(t, "replay", "../../peer/recording/testdata/unknown-policy.rec")
	if got.code != 0 || !strings.Contains(got.stdout, "0 rounds decided again") ||
		!strings.Contains(got.stderr, "1 round of 1 not decided again: unknown policy ours") {
		t.Errorf("got %+v", got)
	}
}

// TestSimReplayTellsTheFirstDifference: a decision that the policy would not take.
func TestSimReplayTellsTheFirstDifference(t *testing.T) {
	t.Parallel()
	changed := alteredRecord(t, `"Decisions":[{"Site":1,"Wait":60000`, `"Decisions":[{"Site":1,"Wait":50000`)
	got := simulate(t, "replay", changed)
	if got.code != 1 || !strings.Contains(got.stdout, "differs in its decisions") || !strings.Contains(got.stdout, "50000") {
		t.Errorf("got %+v", got)
	}
}

// TestSimShow prints a file that is an experiment.
func TestSimShow(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"electricity", "heavy", "light"} {
		mine := tempFile(t, "mine.toml", good(t, simulate(t, "show", name)))
		got := simulate(t, "sweep", mine, "--set", "volunteer_below=7")
		if got.code != 2 || !strings.Contains(got.stderr, "volunteer_below") {
			t.Errorf("the file of %s is not an experiment: %+v", name, got)
		}
	}
	if out := good(t, simulate(t, "list")); !strings.Contains(out, "electricity") || !strings.Contains(out, "heavy") || !strings.Contains(out, "light") {
		t.Errorf("list printed\n%s", out)
	}
}
