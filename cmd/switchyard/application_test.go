package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const coupled = `[application]
objective = "balanced"
max_cost = "50 CHF"

[[component]]
name = "mesh"
script = "job.sh"
args = ["-v"]
cpus = [4, 8]
together = "flow"

[[component]]
name = "solve"
script = "job.sh"
together = "flow"
`

// someApplication writes an application with its script, and returns its path.
func someApplication(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "coupled.toml")
	for file, content := range map[string]string{path: text, filepath.Join(dir, "job.sh"): goodScript} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestSubmitAnApplication(t *testing.T) {
	t.Parallel()
	n := &fakeNode{replyF: always(view.Submitted{Jobs: []protocol.JobID{someID, someID + 1}}, nil)}
	socket := serve(t, n)
	path := someApplication(t, coupled)
	lines := "Submitted batch job 1000000000042\nSubmitted batch job 1000000000043\n"
	want := result{0, lines, "switchyard: application coupled of 2 components\n"}
	for _, args := range [][]string{{"submit", path}, {"submit", "--application", path}} {
		if got := command(t, socket, "", args...); got != want {
			t.Errorf("%q: got %+v", args, got)
		}
	}
	if got := command(t, socket, "", "submit", "--parsable", path); got.stdout != "1000000000042\n1000000000043\n" {
		t.Errorf("--parsable printed %q", got.stdout)
	}
	var answer view.Submitted
	got := command(t, socket, "", "submit", "--json", path)
	if err := json.Unmarshal([]byte(got.stdout), &answer); err != nil || len(answer.Jobs) != 2 {
		t.Errorf("--json: %v\n%s", err, got.stdout)
	}
	sent := n.submits()[0]
	a := sent.Application
	if a == nil || a.Name != "coupled" || a.Beta != protocol.PPM || a.MaxCost != 50_000_000 || a.Currency != "CHF" || a.MaxTime != protocol.Never {
		t.Fatalf("submitted %+v", a)
	}
	mesh, solve := sent.Jobs[0], sent.Jobs[1]
	if mesh.Spec.Name != "mesh" || mesh.Spec.CPUs != 4 || len(mesh.Component.Shapes) != 1 || mesh.Component.Shapes[0].CPUs != 8 ||
		mesh.Component.Together != 1 || !slices.Equal(mesh.Payload.Args, []string{"-v"}) {
		t.Errorf("mesh is %+v", mesh)
	}
	if solve.Spec.CPUs != 2 || solve.Component.Name != "solve" || !slices.Contains(solve.Payload.Env, "SWITCHYARD_COMPONENT=solve") {
		t.Errorf("solve is %+v", solve)
	}
}

func TestSubmitComponentsOfOneScript(t *testing.T) {
	t.Parallel()
	n := &fakeNode{replyF: always(view.Submitted{Jobs: []protocol.JobID{someID, someID + 1}}, nil)}
	script := "#!/bin/sh\n#SBATCH -J tides\n#SWITCHYARD component a -n 2\n#SWITCHYARD component b\ntrue\n"
	got := command(t, serve(t, n), script, "submit", "--objective=green", "-", "x")
	if got.code != 0 || got.stderr != "switchyard: application tides of 2 components\n" {
		t.Errorf("got %+v", got)
	}
	sent := n.submits()[0]
	if len(sent.Jobs) != 2 || sent.Jobs[1].Component.Name != "b" || sent.Jobs[1].Component.Gamma == 0 ||
		!slices.Equal(sent.Jobs[1].Payload.Args, []string{"x"}) {
		t.Errorf("submitted %+v", sent)
	}
}

func TestAPlainJobAsksForNothingNew(t *testing.T) {
	t.Parallel()
	n := &fakeNode{replyF: always(view.Submitted{Jobs: []protocol.JobID{someID}}, nil)}
	socket := serve(t, n)
	command(t, socket, goodScript, "submit")
	command(t, socket, goodScript, "submit", "--max-time=2h")
	plainJob, limited := n.submits()[0], n.submits()[1]
	if plainJob.Application != nil || plainJob.Jobs[0].Component.Name != "" {
		t.Errorf("submitted %+v", plainJob)
	}
	if limited.Application == nil || limited.Application.MaxTime != 2*protocol.Hour || limited.Application.MaxCost != protocol.Unlimited {
		t.Errorf("submitted %+v", limited.Application)
	}
}

func TestWaitForAnApplicationExitsAsTheWorst(t *testing.T) {
	t.Parallel()
	n := &fakeNode{
		replyF: always(view.Submitted{Jobs: []protocol.JobID{someID, someID + 1, someID + 2}}, nil),
		jobs: map[protocol.JobID]view.Job{
			someID:     {State: protocol.Failed, ExitCode: 3},
			someID + 1: {State: protocol.Failed, ExitCode: 7},
			someID + 2: {State: protocol.Completed},
		},
	}
	path := someApplication(t, coupled+"[[component]]\nname = \"c\"\nscript = \"job.sh\"\n")
	got := command(t, serve(t, n), "", "submit", "--wait", path)
	if got.code != 7 || strings.Count(got.stdout, "Submitted batch job") != 3 || strings.Count(got.stderr, "FAILED: exit code") != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestWrongApplicationsAreNotSubmitted(t *testing.T) {
	t.Parallel()
	n := &fakeNode{replyF: always(nil, no{view.Refusal{Code: view.BadRequest, Reason: "the policy tc of this site looks at no objectives"}})}
	socket := serve(t, n)
	good := someApplication(t, coupled)
	bad := someApplication(t, strings.Replace(coupled, `"50 CHF"`, `"much"`, 1)+"colour = 3\n")
	lonely := someApplication(t, strings.Replace(coupled, `together = "flow"`, "", 1)+"script = \"x\"\n")
	cases := map[string]struct {
		args   []string
		stderr []string
	}{
		"file": {[]string{"submit", bad}, []string{
			"coupled.toml:16: component[solve].colour: unknown key",
			"coupled.toml:3: application.max_cost: \"much\" is not an amount of money",
		}},
		"TOML":      {[]string{"submit", lonely}, []string{"coupled.toml:16: not TOML"}},
		"arguments": {[]string{"submit", good, "x"}, []string{"takes no arguments, but got \"x\""}},
		"twice":     {[]string{"submit", "--application", good, "job.sh"}, []string{"takes no arguments, but got \"job.sh\""}},
		"missing":   {[]string{"quote", "/nowhere/app.toml"}, []string{"the application /nowhere/app.toml cannot be read: no such file"}},
		"both":      {[]string{"submit", "--objective=green", "--compute-weight=1", good}, []string{"command line: --compute-weight: conflicts with an objective or weight"}},
		"refused":   {[]string{"submit", good}, []string{"the policy tc of this site looks at no objectives"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := command(t, socket, "", c.args...)
			code := exitUsage
			if name == "missing" {
				code = exitNotFound
			}
			if got.code != code || got.stdout != "" {
				t.Errorf("got %+v", got)
			}
			for _, want := range c.stderr {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("missing %q in\n%s", want, got.stderr)
				}
			}
		})
	}
}

// someQuotes are quotes for the two components of the application.
func someQuotes() view.TestSubmitResult {
	money := &view.Money{CPU: 3_000_000, License: 500_000, Energy: 250_000, Data: 10_000, Cost: 3_600_000, Currency: "CHF"}
	return view.TestSubmitResult{Jobs: [][]view.Quote{
		{
			{Site: "cygnus", CPUs: 8, ERT: protocol.Hour, Cost: 3_750_000, Currency: "EUR", Money: money},
			{Site: "cygnus", CPUs: 4, ERT: 2 * protocol.Hour, Cost: 3_000_000, Currency: "EUR"},
			{Site: "aurora", CPUs: 8, AWT: protocol.Never, Declined: "has 4 CPUs"},
		},
		{{Site: "aurora", ERT: protocol.Minute}},
	}}
}

func TestQuotesOfAnApplication(t *testing.T) {
	t.Parallel()
	n := &fakeNode{replyF: always(someQuotes(), nil)}
	socket := serve(t, n)
	path := someApplication(t, coupled)
	want := "" +
		"Component mesh:\n" +
		"SITE    CPUS     WAIT      P10      P50      P90      RUN    TOTAL      COST  RUS  NOTE\n" +
		"cygnus     8  0:00:00  0:00:00  0:00:00  0:00:00  1:00:00  1:00:00  3.75 EUR  0 %\n" +
		"cygnus     4  0:00:00  0:00:00  0:00:00  0:00:00  2:00:00  2:00:00  3.00 EUR  0 %\n" +
		"aurora     8        -        -        -        -        -        -         -  0 %  has 4 CPUs\n" +
		"\n" +
		"Component solve:\n" +
		"SITE       WAIT      P10      P50      P90      RUN    TOTAL  COST  RUS  NOTE\n" +
		"aurora  0:00:00  0:00:00  0:00:00  0:00:00  0:01:00  0:01:00     -  0 %\n"
	if got := command(t, socket, "", "quote", path); got != (result{0, want, ""}) {
		t.Errorf("got\n%s%s", got.stdout, got.stderr)
	}
	long := command(t, socket, "", "quote", "--long", path).stdout
	for _, line := range []string{
		"      COST       CPU   LICENSE    ENERGY      DATA  RUS  NOTE\n",
		" 3.60 CHF  3.00 CHF  0.50 CHF  0.25 CHF  0.01 CHF  0 %  asks 3.75 EUR\n",
		" 3.00 EUR         -         -         -         -  0 %\n",
	} {
		if !strings.Contains(long, line) {
			t.Errorf("missing %q in\n%s", line, long)
		}
	}
	asked, ok := n.asked[0].(event.TestSubmit)
	if !ok || asked.Application == nil || asked.Front || asked.Jobs[0].Component.Name != "mesh" {
		t.Errorf("asked %+v", n.asked[0])
	}
}

func TestPareto(t *testing.T) {
	t.Parallel()
	quoted := someQuotes()
	quoted.Front = &view.ParetoFront{Currency: "CHF", Gap: 3_210, Points: []view.ParetoPoint{
		{Time: protocol.Hour, Cost: 12_000_000, Choices: []view.ParetoChoice{{Site: "cygnus", CPUs: 8}, {Site: "aurora", CPUs: 2}}},
		{Time: 2 * protocol.Hour, Cost: 9_500_000, Chosen: true, Choices: []view.ParetoChoice{{Site: "cygnus", CPUs: 4}, {Site: "a\x1brora", CPUs: 2}}},
	}}
	n := &fakeNode{replyF: always(quoted, nil)}
	socket := serve(t, n)
	path := someApplication(t, coupled)
	want := result{
		0,
		"      TIME       COST  mesh        solve\n" +
			"   1:00:00  12.00 CHF  cygnus (8)  aurora (2)\n" +
			"→  2:00:00   9.50 CHF  cygnus (4)  a\\u001brora (2)\n",
		"switchyard: each alternative costs at most 0.33 % more than the cheapest one that is as fast\n",
	}
	for _, args := range [][]string{{"submit", "--pareto", path}, {"quote", "--pareto", path}} {
		if got := command(t, socket, "", args...); got != want {
			t.Errorf("%q printed\n%s%s", args, got.stdout, got.stderr)
		}
	}
	if asked, ok := n.asked[0].(event.TestSubmit); !ok || !asked.Front {
		t.Errorf("asked %+v", n.asked[0])
	}
	var back view.TestSubmitResult
	got := command(t, socket, "", "quote", "--pareto", "--json", path)
	if err := json.Unmarshal([]byte(got.stdout), &back); err != nil || back.Front == nil || len(back.Front.Points) != 2 {
		t.Errorf("--json: %v\n%s", err, got.stdout)
	}
	if len(n.submits()) != 0 {
		t.Error("something was submitted")
	}
}

// TestParetoTellsTenths: where two choices are done within one second, or there are more of them
// than are shown, that is seen.
func TestParetoTellsTenths(t *testing.T) {
	t.Parallel()
	at := []view.ParetoChoice{{Site: "aurora", CPUs: 1}}
	front := &view.ParetoFront{Currency: "CHF", Truncated: true, Points: []view.ParetoPoint{
		{Time: 2401, Cost: 2_000_000, Choices: at}, {Time: 2600, Cost: 1_000_000, Choices: at}, {Time: 61_000, Choices: at},
	}}
	n := &fakeNode{replyF: always(view.TestSubmitResult{Front: front}, nil)}
	want := result{
		0,
		"       TIME      COST  job.sh\n  0:00:02.5  2.00 CHF  aurora (1)\n  0:00:02.6  1.00 CHF  aurora (1)\n  0:01:01.0  0.00 CHF  aurora (1)\n",
		"switchyard: more alternatives exist than are shown\n",
	}
	if got := command(t, serve(t, n), "", "quote", "--pareto", someApplication(t, "[[component]]\nname = \"job.sh\"\nscript = \"job.sh\"\n")); got != want {
		t.Errorf("got\n%s%s", got.stdout, got.stderr)
	}
}

func TestParetoOfManyComponentsCountsThem(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	point := view.ParetoPoint{Time: protocol.Hour}
	for i := range 7 {
		fmt.Fprintf(&text, "[[component]]\nname = \"c%d\"\nscript = \"job.sh\"\n", i)
		point.Choices = append(point.Choices, view.ParetoChoice{Site: []protocol.SiteName{"cygnus", "aurora"}[i%2], CPUs: 1})
	}
	n := &fakeNode{replyF: always(view.TestSubmitResult{Front: &view.ParetoFront{Currency: "CHF", Points: []view.ParetoPoint{point}}}, nil)}
	want := "     TIME      COST  COMPONENTS\n  1:00:00  0.00 CHF  4 at cygnus, 3 at aurora\n"
	got := command(t, serve(t, n), "", "quote", "--pareto", someApplication(t, text.String()))
	if got != (result{0, want, ""}) {
		t.Errorf("got\n%s%s", got.stdout, got.stderr)
	}
}

func TestParetoWithoutAChoice(t *testing.T) {
	t.Parallel()
	why := "max_cost: the cheapest choice costs 12.40 CHF; raise max_cost to 12.40 CHF"
	n := &fakeNode{replyF: always(view.TestSubmitResult{Front: &view.ParetoFront{Reason: why}}, nil)}
	got := command(t, serve(t, n), goodScript, "submit", "--pareto")
	if got != (result{5, "", "switchyard: " + why + "\n"}) {
		t.Errorf("got %+v", got)
	}
	beyond := view.ParetoFront{Reason: why, Currency: "CHF", Points: []view.ParetoPoint{{Time: protocol.Hour, Choices: []view.ParetoChoice{{Site: "a", CPUs: 1}}}}}
	n.replyF = always(view.TestSubmitResult{Front: &beyond}, nil)
	if got = command(t, serve(t, n), goodScript, "submit", "--pareto"); got.code != 5 || !strings.Contains(got.stdout, "1:00:00") || !strings.Contains(got.stderr, why) {
		t.Errorf("choices beyond the limits: %+v", got)
	}
	if got = command(t, serve(t, n), goodScript, "quote", "--pareto", "--json"); got.code != 5 || !strings.Contains(got.stdout, why) || got.stderr != "" {
		t.Errorf("--json: %+v", got)
	}
	n.replyF = always(view.TestSubmitResult{}, nil)
	if got = command(t, serve(t, n), goodScript, "submit", "--pareto"); got.code != 1 || got.stdout != "" {
		t.Errorf("an older peer: %+v", got)
	}
}

func TestTheStoryOfAComponent(t *testing.T) {
	t.Parallel()
	n := &fakeNode{
		jobs: map[protocol.JobID]view.Job{someID + 1: {
			ID: someID + 1, Name: "mesh", State: protocol.Running, Origin: "aurora", Site: "cygnus", Submitted: 5,
			CPUs: 4, WallTime: protocol.Hour, Application: someID, Component: "mesh", PredictedRunTime: 50 * protocol.Minute, Cost: 3_000_000,
			Objectives: &view.Objectives{
				Application: protocol.Application{
					Name: "coupled", Beta: 2 * protocol.PPM, MaxCost: 50_000_000, Currency: "EUR", MaxTime: 12 * protocol.Hour, Waiting: "salary",
				},
				Components: 2, Spent: 12_300_000, SpentCurrency: "CHF", Alpha: 500_000, Gamma: protocol.PPM,
			},
		}},
		facts: []event.LogEvent{{
			At: 6, Kind: event.LogRoundDecided, Site: "cygnus", CPUs: 4, Round: 1, Text: "least z of 1,204 choices, proven", Quotes: someQuotes().Jobs[0],
		}},
	}
	socket := serve(t, n)
	got := command(t, socket, "", "explain", "--long", (someID + 1).String())
	for _, want := range []string{
		"Component mesh of the application of job 1000000000042. Predicted run time 0:50:00, cost 3.00 CHF.\n",
		"Application coupled of 2 components: α 0.5, β 2, γ 1, δ 0; at most 50.00 EUR; at most 12:00:00;\n" +
			"waiting cost salary. Predicted cost of the placed components: 12.30 CHF.\n",
		"round 1: cygnus is chosen: least z of 1,204 choices, proven\n",
		"→  cygnus     4  0:00:00  2:00:00  2:00:00  3.00 EUR  0 %\n",
		"   cygnus     8  0:00:00  1:00:00  1:00:00  3.75 EUR  0 %  weighted: K_e 3.00 CHF + K_l 0.50 CHF + K_eco 0.25 CHF + K_d 0.01 CHF\n",
		"   aurora     8        -        -        -         -  0 %  declines: has 4 CPUs\n",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("missing %q in\n%s%s", want, got.stdout, got.stderr)
		}
	}
	if got = command(t, socket, "", "explain", (someID + 1).String()); strings.Contains(got.stdout, "β") || strings.Contains(got.stdout, "K_e") {
		t.Errorf("without --long it tells the weights:\n%s", got.stdout)
	}
	if got = command(t, socket, "", "status", (someID + 1).String()); !strings.Contains(got.stdout, "Component  mesh of the application of job 1000000000042\n") {
		t.Errorf("got\n%s", got.stdout)
	}
}

func TestRunHistory(t *testing.T) {
	t.Parallel()
	n := &fakeNode{replyF: always(view.RunHistory{Components: []view.ComponentHistory{
		{User: "ada", Name: "mesh", Sites: []view.SiteHistory{
			{Site: "aurora", Runs: []view.PastRun{
				{CPUs: 2, Ran: protocol.Hour},
				{CPUs: 4, Ran: protocol.Minute, Rate: 3_210_000_000, Bandwidth: 999, Gamma: 12.345, Usage: protocol.Usage{Energy: 1_500}},
			}},
			{Site: "cygnus", Runs: []view.PastRun{{CPUs: 1, Ran: protocol.Second, Rate: 123_456_789, Bandwidth: 999_700, Usage: protocol.Usage{Energy: 2}}}},
			{Site: "draco"},
		}},
		{User: "bob", Name: "so\x1blve"},
	}}, nil)}
	socket := serve(t, n)
	want := "" +
		"COMPONENT  USER  SITE    RUNS  CPUS      RUN           r_a             b     Γ  ENERGY\n" +
		"mesh       ada   aurora     2     4  0:01:00  3.21 Gflop/s    999 word/s  12.3  1.50 J\n" +
		"mesh       ada   cygnus     1     1  0:00:01   123 Mflop/s  1.00 Mword/s     -  0.00 J\n"
	if got := command(t, socket, "", "runs", "mesh"); got != (result{0, want, ""}) {
		t.Errorf("got\n%s%s", got.stdout, got.stderr)
	}
	if ask, ok := n.asked[0].(event.AskRunHistory); !ok || ask.Component != "mesh" || ask.User == "" {
		t.Errorf("asked %+v", n.asked[0])
	}
	var known view.RunHistory
	got := command(t, socket, "", "runs", "--all", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &known); err != nil || len(known.Components) != 2 || len(known.Components[0].Sites[0].Runs) != 2 {
		t.Errorf("--json: %v\n%s", err, got.stdout)
	}
	if ask, ok := n.asked[1].(event.AskRunHistory); !ok || ask.User != "" {
		t.Errorf("asked %+v", n.asked[1])
	}
	if got = command(t, socket, "", "runs", "a", "b"); got.code != 2 {
		t.Errorf("two components: %+v", got)
	}
	n = &fakeNode{replyF: always(view.RunHistory{}, nil)}
	if got = command(t, serve(t, n), "", "runs", "a"); got.code != 3 || !strings.Contains(got.stderr, `no run history of your component "a"`) {
		t.Errorf("one that never ran: %+v", got)
	}
}
