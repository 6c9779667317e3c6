package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// brokerTables are those of a site that weighs costs: what a CPU-hour costs there, and how
// fast its CPUs are said to be. Its users' waiting costs the same at all hours.
const brokerTables = `
[exchange_rates]
CHF = 1.0
EUR = 0.5

[prices]
time_zone = "UTC"

[cost.cpu]
price = %g

[[cost.license]]
name = "solver"
per_use = 0.25

[localsched.licenses]
solver = 8

[localsched.cpu_model]
peak_gflops = %g
memory_bandwidth = "64GB/s"
network_bandwidth = "1GB/s"
latency_us = 20.0

[[waiting_cost]]
name = "salary"
kind = "salary"
rate = 60.0
days = "mon-sun"
hours = "00:00-24:00"

[default_weights]
waiting_cost = "salary"
`

func broker(name protocol.SiteName, cpus int, currency string, price, gflops float64) testbed.Machine {
	return testbed.Machine{
		Name: name, CPUs: cpus, Policy: "iss", Currency: currency, More: fmt.Sprintf(brokerTables, price, gflops),
	}
}

// brokerGrid is aurora, dear and fast, and borealis, slow and cheap.
func brokerGrid(t *testing.T) *grid {
	t.Helper()
	return startGrid(t, broker("aurora", 2, "CHF", 100, 8), broker("borealis", 4, "EUR", 2, 2))
}

// apply submits an application, the components of which do nothing.
func (g *grid) apply(t *testing.T, site *testbed.Site, text string) (ids []protocol.JobID) {
	t.Helper()
	return g.applyScript(t, site, text, trivialScript)
}

// applyScript submits an application of one script.
func (g *grid) applyScript(t *testing.T, site *testbed.Site, text, script string) (ids []protocol.JobID) {
	t.Helper()
	got := g.at(t, site, "", "submit", "--parsable", g.writtenWith(t, text, script))
	if got.code != 0 {
		t.Fatalf("submit: %+v", got)
	}
	for line := range strings.Lines(got.stdout) {
		id, err := protocol.ParseJobID(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%v in %q", err, got.stdout)
		}
		ids = append(ids, id)
	}
	return ids
}

// written writes an application into a file, and job.sh beside it.
func (g *grid) written(t *testing.T, text string) string {
	t.Helper()
	return g.writtenWith(t, text, trivialScript)
}

func (g *grid) writtenWith(t *testing.T, text, script string) string {
	t.Helper()
	dir := t.TempDir()
	writeText(t, filepath.Join(dir, "job.sh"), script)
	path := filepath.Join(dir, "app.toml")
	writeText(t, path, text)
	return path
}

// What users of applications do, each against real peers.
func TestPeopleUseTheBroker(t *testing.T) {
	t.Parallel()
	g := brokerGrid(t)
	aurora := g.Sites[0]
	objectives(t, g, aurora)
	limits(t, g, aurora)
	contradictory(t, g, aurora)
	paretoFront(t, g, aurora)
	everyTerm(t, g, aurora)
	homeAlone(t, g, aurora)
	partnersMeasure(t, g, aurora)
	learns(t, g, aurora)
}

// work80 is a component of 80 Gflop on 2 CPUs: 5 s at aurora for 0.28 CHF, 20 s at borealis
// for 0.011 CHF.
const work80 = `
[[component]]
name = %q
script = "job.sh"
cpus = 2
time = "1m"
[component.behavior]
operations = 8e10
`

// applicationText is an application of one component.
func applicationText(name string, settings ...string) string {
	return "[application]\n" + strings.Join(settings, "\n") + "\n" + fmt.Sprintf(work80, name)
}

func objectives(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	for objective, where := range map[string]protocol.SiteName{"fastest": "aurora", "cheapest": "borealis"} {
		ids := g.apply(t, site, applicationText(objective, fmt.Sprintf("objective = %q", objective)))
		if job := g.until(t, site, ids[0], ended); job.State != protocol.Completed || job.Site != where {
			t.Errorf("%s: %+v", objective, job)
		}
	}
}

// limits that no choice keeps are told with the smallest change that helps, and the change
// helps.
func limits(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	for limit, c := range map[string]struct{ name, reason, change string }{
		`max_cost = "0.01 CHF"`: {
			"frugal", "max_cost: the cheapest choice costs 0.011111 CHF, 0.001111 CHF above max_cost 0.01 CHF; raise max_cost to 0.011111 CHF",
			`max_cost = "0.011111 CHF"`,
		},
		`max_time = "4s"`: {"hasty", "max_time: the fastest choice is done in 0:00:05, ", `max_time = "6s"`},
	} {
		id := g.apply(t, site, applicationText(c.name, limit))[0]
		job := g.until(t, site, id, func(job view.Job) bool { return strings.HasPrefix(job.Reason, "Infeasible") })
		if job.State != protocol.Pending || !strings.Contains(job.Reason, c.reason) {
			t.Errorf("%s: %+v", limit, job)
		}
		if got := g.at(t, site, "", "queue"); !strings.Contains(got.stdout, c.reason) {
			t.Errorf("queue does not tell: %+v", got)
		}
		if got := g.at(t, site, "", "cancel", id.String()); got != (result{}) {
			t.Errorf("cancel: %+v", got)
		}
		if job = g.until(t, site, id, ended); job.State != protocol.Cancelled {
			t.Errorf("got %+v", job)
		}
		if got := g.at(t, site, "", "queue", "--no-header"); strings.Contains(got.stdout, id.String()) {
			t.Errorf("after cancel it is still queued: %+v", got)
		}
		id = g.apply(t, site, applicationText(c.name, c.change))[0]
		if job = g.until(t, site, id, ended); job.State != protocol.Completed {
			t.Errorf("with %s: %+v", c.change, job)
		}
	}
}

func contradictory(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	text := applicationText("odd", `objective = "cheapest"`, "wait_weight = 2", `max_time = "-1s"`) + "sent = 3\nscaling = \"cubic\"\n"
	file := g.written(t, text)
	before := g.at(t, site, "", "queue", "--json").stdout
	got := g.at(t, site, "", "submit", file)
	if got.code != 2 || got.stdout != "" {
		t.Errorf("got %+v", got)
	}
	for _, want := range []string{file + ":3: application.wait_weight: ", file + ":4: application.max_time: ", "behavior.scaling: "} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("%q is missing in\n%s", want, got.stderr)
		}
	}
	// These only the peer can know.
	for wrong, want := range map[string]string{
		`waiting_cost = "rent"`: `no curve "rent" of waiting costs is known here; this site has salary`,
		`max_cost = "5 NOK"`:    "NOK",
	} {
		if got = g.at(t, site, "", "submit", g.written(t, applicationText("odd", wrong))); got.code != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", wrong, got)
		}
	}
	if after := g.at(t, site, "", "queue", "--json").stdout; after != before {
		t.Errorf("something was submitted:\n%s\nbefore:\n%s", after, before)
	}
}

// No point of the front beats another one in both time and cost.
func paretoFront(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	text := applicationText("chosen", `objective = "cheapest"`) + strings.Replace(fmt.Sprintf(work80, "more"), "cpus = 2", "cpus = [1, 2, 4]", 1)
	var quoted view.TestSubmitResult
	got := g.at(t, site, "", "quote", "--pareto", "--json", g.written(t, text))
	if err := json.Unmarshal([]byte(got.stdout), &quoted); err != nil || got.code != 0 || quoted.Front == nil {
		t.Fatalf("%v in %+v", err, got)
	}
	points := quoted.Front.Points
	if len(points) < 2 {
		t.Errorf("the front is %+v", points)
	}
	chosen := 0
	for i, point := range points {
		if i > 0 && (point.Time <= points[i-1].Time || point.Cost >= points[i-1].Cost) {
			t.Errorf("one of these beats the other: %+v and %+v", points[i-1], point)
		}
		if len(point.Choices) != 2 {
			t.Errorf("it places %d components of 2: %+v", len(point.Choices), point)
		}
		if point.Chosen {
			chosen++
		}
	}
	if last := len(points) - 1; chosen != 1 || !points[last].Chosen {
		t.Errorf("the cheapest is not chosen: %+v", points)
	}
}

func everyTerm(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	text := strings.Replace(applicationText("termed", `objective = "cheapest"`, `max_cost = "3 CHF"`, `max_time = "1h"`),
		"[component.behavior]", "licenses = [\"solver:2\"]\ndata_in = \"1GB\"\n[component.behavior]", 1)
	id := g.apply(t, site, text)[0]
	g.until(t, site, id, ended)
	got := fields(g.at(t, site, "", "explain", "--long", id.String()).stdout)
	for _, want := range []string{
		"Component termed of the application of job " + id.String(),
		"α 1, β 0, γ 1, δ 1", "at most 3.00 CHF", "at most 1:00:00", "Predicted cost of the placed components: 0.",
		"weighted: K_e 0.277778 CHF + K_l 0.50 CHF + K_eco 0.00 CHF + K_d 0.00 CHF",
		"weighted: K_e 0.011111 CHF + K_l 0.25 CHF + K_eco 0.00 CHF + K_d 0.00 CHF",
		"→ borealis", "proven", "next: aurora on 2 CPUs",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// A component whose operations are stated far too high: after three runs the quoted run
// time is the one that it has.
func learns(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	const sleepy = "#!/bin/sh\nawk 'BEGIN { for (i = 0; i < 1000000; i++) s += i }'\nsleep 1.5\n"
	text := strings.Replace(applicationText("sleepy", `objective = "balanced"`), "cpus = 2", "cpus = 2\nsites = [\"borealis\"]", 1)
	quoted := func() protocol.Duration {
		var all view.TestSubmitResult
		got := g.at(t, site, "", "quote", "--json", g.written(t, text))
		if err := json.Unmarshal([]byte(got.stdout), &all); err != nil || len(all.Jobs) != 1 {
			t.Fatalf("%v in %+v", err, got)
		}
		at := slices.IndexFunc(all.Jobs[0], func(q view.Quote) bool { return q.Site == "borealis" })
		return all.Jobs[0][at].ERT
	}
	if run := quoted(); run != 20*protocol.Second {
		t.Errorf("by what is stated it runs %v", run)
	}
	for range 3 {
		g.until(t, site, g.applyScript(t, site, text, sleepy)[0], ended)
	}
	var runs []protocol.Duration
	for _, run := range g.known(t, site, "sleepy") {
		runs = append(runs, run.Ran)
	}
	slices.Sort(runs)
	if run := quoted(); len(runs) != 3 || run < runs[0]*3/4 || run > runs[2]*5/4 {
		t.Errorf("it is foreseen to run %v, after %v", run, runs)
	}
}

// known are the runs of a component at the first site that the warehouse knows.
func (g *grid) known(t *testing.T, site *testbed.Site, name string) []view.PastRun {
	t.Helper()
	var known view.RunHistory
	got := g.at(t, site, "", "runs", name, "--json")
	if err := json.Unmarshal([]byte(got.stdout), &known); err != nil || len(known.Components) != 1 {
		t.Fatalf("%v in %+v", err, got)
	}
	return known.Components[0].Sites[0].Runs
}

// What a partner measured of a run reaches the site where it was submitted.
func partnersMeasure(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	const busy = "#!/bin/sh\nawk 'BEGIN { for (i = 0; i < 1000000; i++) s += i }'\necho operations = 5e6 >$SWITCHYARD_USAGE\n"
	text := strings.Replace(applicationText("busy"), "cpus = 2", "cpus = 2\nsites = [\"borealis\"]", 1)
	job := g.until(t, site, g.applyScript(t, site, text, busy)[0], ended)
	if job.Site != "borealis" || job.Usage.CPU <= 0 || job.Usage.Mflop != 5 {
		t.Errorf("got %+v", job)
	}
	if run := g.known(t, site, "busy")[0]; run.Usage != job.Usage || run.CPUs != 2 || run.Rate <= 0 {
		t.Errorf("the warehouse has %+v, the job %+v", run, job.Usage)
	}
}

// A job that may run at home alone keeps its limits, too.
func homeAlone(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	text := strings.Replace(applicationText("home", `max_cost = "0.1 CHF"`), "cpus = 2", "cpus = 2\nsites = [\"aurora\"]", 1)
	id := g.apply(t, site, text)[0]
	g.until(t, site, id, func(job view.Job) bool { return strings.HasPrefix(job.Reason, "Infeasible (max_cost: ") })
	if got := g.at(t, site, "", "cancel", id.String()); got != (result{}) {
		t.Errorf("cancel: %+v", got)
	}
}

// waitedCost is what depends on the milliseconds between a submission and its round: K_w counts from the submission.
var waitedCost = regexp.MustCompile(`\b(z|waiting) [0-9.]+`)

// The policy as a program of its own decides as it does within the peer, to the word but for the cost of waiting.
func TestBrokerAsAPlugin(t *testing.T) {
	t.Parallel()
	binary := builtInPlugin(t, "iss")
	if c := checkPlugin(t, binary); c.Kind != "policy" || len(c.Cases) < 10 {
		t.Errorf("checked %+v", c)
	}
	g := brokerGrid(t)
	aurora := g.Sites[0]
	within := reasons(t, g, aurora, "within")
	text, err := os.ReadFile(aurora.Config)
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, aurora.Config, strings.Replace(string(text), `name = "iss"`, `name = "broker"`, 1)+
		fmt.Sprintf("\n[[plugin]]\nname = \"broker\"\nkind = \"policy\"\npath = %q\n", binary))
	if got := g.at(t, aurora, "", "reload"); got.code != 0 || !strings.Contains(got.stdout, "policy broker") {
		t.Fatalf("reload: %+v", got)
	}
	whenPlugin(t, aurora, up)
	if apart := reasons(t, g, aurora, "apart"); !slices.Equal(within, apart) {
		t.Errorf("within the peer:\n%q\nas a plugin:\n%q", within, apart)
	}
}

// reasons are why applications of the name went where they did.
func reasons(t *testing.T, g *grid, site *testbed.Site, name string) (all []string) {
	t.Helper()
	client := site.Client()
	defer client.Close()
	for _, objective := range []string{"fastest", "cheapest"} {
		text := applicationText(name+objective, fmt.Sprintf("objective = %q", objective)) + strings.Replace(fmt.Sprintf(work80, name+objective+"too"), "cpus = 2", "cpus = [1, 2, 4]", 1)
		for _, id := range g.apply(t, site, text) {
			g.until(t, site, id, ended)
			facts, err := client.Explain(patience(t), protocol.JobName{Job: id})
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(facts, func(f event.LogEvent) bool { return f.Kind == event.LogRoundDecided })
			if at < 0 {
				t.Fatalf("no round in %+v", facts)
			}
			all = append(all, fmt.Sprintf("%s, %d CPUs: %s", facts[at].Site, facts[at].CPUs, waitedCost.ReplaceAllString(facts[at].Text, "$1")))
		}
	}
	return all
}

// Jobs that wait are placed by the policy that a reload brings.
func TestReloadToTheBrokerAndBack(t *testing.T) {
	t.Parallel()
	g := makeGrid(t, broker("aurora", 2, "CHF", 100, 8), broker("borealis", 4, "EUR", 2, 2))
	aurora, borealis := g.Sites[0], g.Sites[1]
	edit(t, aurora, `name = "iss"`, `name = "tc"`)
	if err := aurora.Start(); err != nil {
		t.Fatal(err)
	}
	rulesAre(t, aurora, api.Rules{Initiation: "sender", Policy: "tc", LocalPolicy: "easy"})
	got := g.at(t, aurora, "", "submit", g.written(t, applicationText("refused", `max_cost = "1 CHF"`)))
	if got.code != 2 || !strings.Contains(got.stderr, "the policy tc of this site looks at no objectives, limits or groups") {
		t.Errorf("under tc: %+v", got)
	}
	waiting := g.submit(t, aurora, trivialScript, "-n", "4", "-t", "1")
	edit(t, aurora, `name = "tc"`, `name = "iss"`)
	if got = g.at(t, aurora, "", "reload"); got.code != 0 || !strings.Contains(got.stdout, "policy iss") {
		t.Fatalf("to iss: %+v", got)
	}
	if err := borealis.Start(); err != nil {
		t.Fatal(err)
	}
	if job := g.until(t, aurora, waiting, ended); job.Site != "borealis" || job.State != protocol.Completed {
		t.Errorf("got %+v", job)
	}
	if got = g.at(t, aurora, "", "explain", waiting.String()); !strings.Contains(got.stdout, "borealis is chosen: z ") {
		t.Errorf("the broker did not place it:\n%s", got.stdout)
	}
	if err := borealis.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	waiting = g.submit(t, aurora, trivialScript, "-n", "4", "-t", "1")
	limited := g.submit(t, aurora, trivialScript, "-n", "1", "-t", "1", "--max-cost=0.000001 CHF")
	edit(t, aurora, `name = "iss"`, `name = "tc"`)
	if got = g.at(t, aurora, "", "reload"); got.code != 0 || !strings.Contains(got.stdout, "policy tc") {
		t.Fatalf("back to tc: %+v", got)
	}
	if err := borealis.Start(); err != nil {
		t.Fatal(err)
	}
	if job := g.until(t, aurora, waiting, ended); job.Site != "borealis" || job.State != protocol.Completed {
		t.Errorf("got %+v", job)
	}
	if got = g.at(t, aurora, "", "explain", waiting.String()); strings.Contains(got.stdout, "borealis is chosen: z ") ||
		!strings.Contains(got.stdout, "borealis is chosen: ") {
		t.Errorf("tc did not place it:\n%s", got.stdout)
	}
	job := g.until(t, aurora, limited, func(job view.Job) bool { return strings.Contains(job.Reason, "PolicyUnsupported") })
	if job.State != protocol.Pending || !strings.Contains(job.Reason, "the policy tc looks at no limits") {
		t.Errorf("a limit that tc does not look at: %+v", job)
	}
}
