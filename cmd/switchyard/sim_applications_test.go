package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
)

const issPark = "../../examples/iss/park.toml"

// TestSimRunShowsWhereComponentsGo: the tables have a line for each class, at its place.
func TestSimRunShowsWhereComponentsGo(t *testing.T) {
	t.Parallel()
	out := good(t, simulate(t, "run", issPark))
	for _, want := range []string{
		`(?m)^Experiment park, seed 1: 6 sites, 0 jobs, 4 applications with 403 components$`,
		`(?m)^farmed +farmed +farm +COMPLETED +1 +400 `, `(?m)^neighbours +neighbours +(xeon|pentium) +COMPLETED +128 +1 `,
		`(?m)^transposed +transposed +xeon +COMPLETED +64 +1 `, `(?m)^shared +shared +smp +COMPLETED +16 +1 `,
		`(?m)^xt3 +0 +0.0 % +0.00$`, `(?m)^Mean relative error of the predicted run times: [0-9.]+ %, `,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no line matches %s", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestSimRunPrintsApplications in JSON, which can be shown as a page again.
func TestSimRunPrintsApplications(t *testing.T) {
	t.Parallel()
	out := good(t, simulate(t, "run", issPark, "--json"))
	var got experiment.Outcome
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if a := got.Applications; a == nil || a.Components != 403 || a.Completed != 4 || len(a.Each) != 4 || a.Each[3].Components[0].Site != "smp" {
		t.Errorf("got %+v", a)
	}
	swept, err := experiment.ParseResults([]byte(out))
	if err != nil {
		t.Fatal(err)
	}
	if cost := swept.Points[0].Metrics["application_cost"].Mean; cost != got.Applications.Cost || swept.Currency != "CHF" {
		t.Errorf("as a sweep it cost %v %s", cost, swept.Currency)
	}
}

// TestSimSweepSetsKeysByTheirTables.
func TestSimSweepSetsKeysByTheirTables(t *testing.T) {
	t.Parallel()
	out := good(t, simulate(t, "sweep", issPark, "--seeds", "1", "--set", "site.farm.cost.cpu.price=0.02,0.4"))
	if !strings.Contains(out, "SITE.FARM.COST.CPU.PRICE") || !strings.Contains(out, "APPLICATIONS' COST, CHF") {
		t.Errorf("got\n%s", out)
	}
	got := simulate(t, "sweep", issPark, "--seeds", "1", "--set", "site.farm.cost.cpu.prise=1")
	if got.code != 2 || !strings.Contains(got.stderr, "unknown key") {
		t.Errorf("got %+v", got)
	}
}

// TestSimRunOfNothingDone: an application whose limit nothing keeps has no response, it is
// told why, and the simulation ends all the same.
func TestSimRunOfNothingDone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"grid.toml": "scheme = \"cycle\"\ncurrency = \"CHF\"\n[policy]\nname = \"iss\"\n" +
			"[[site]]\nname = \"home\"\n[site.localsched]\ncpus = 4\nnodes = 4\n[site.localsched.cpu_model]\npeak_gflops = 1.0\nmemory_bandwidth = \"8GB/s\"\nnetwork_bandwidth = \"1GB/s\"\n" +
			"[site.cost.cpu]\nprice = 1.0\n[[application]]\nfile = \"app.toml\"\nsite = \"home\"\nmax_cost = \"0\"\n",
		"app.toml": "[[component]]\nname = \"solve\"\nscript = \"run.sh\"\ntime = \"2h\"\n[component.behavior]\noperations = 1e12\n",
		"run.sh":   "#!/bin/sh\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := good(t, simulate(t, "run", filepath.Join(dir, "grid.toml")))
	for _, want := range []string{`(?m)^app +1 +0 +- +0.00 +0.00 +0$`, `(?m)^solve +app +- +PENDING `, `(?m)^1 component of app did not start: Infeasible \(max_cost: .*\)\.$`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no line matches %s in\n%s", want, out)
		}
	}
}
