package experiment_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// FuzzPlan: any file is an experiment or has problems; what can be changed in an
// experiment keeps it one.
func FuzzPlan(f *testing.F) {
	f.Add(smallPlan, "load", "1.2")
	f.Add(electric, "weight", "0.4")
	f.Add(two+"[[application]]\nfile = \"app.toml\"\nsite = \"home\"\n", "site.home.cost.cpu.price", "2.5")
	f.Add(two+"[[application]]\nname = \"a\"\nfile = \"x\"\nsite = \"home\"\nrate = 3.0\n", "application.a.max_cost", "5 CHF")
	f.Add(within, "budget_kw", "0.4")
	f.Add(tunable, "default_weights.wait_weight", "2")
	f.Add("[[site]]\nname = \"a\"\n[site.localsched]\nmachine = \"bgp\"\n[site.localsched.bgp]\npartitions = \"x.csv\"\n[site.power]\nbudget_kw = 3\n", "budget_mode", "filter")
	f.Add("[[site]]\nname = \"a\"\n[[cut]]\na = \"a\"\n", "local_wait_threshold", "1h")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		plan, err := experiment.Read(write(t, "plan.toml", text))
		if (err == nil) == (plan == nil) {
			t.Fatalf("plan %v, error %v", plan, err)
		}
		if err != nil {
			return
		}
		if changed, err := plan.With(experiment.Setting{Key: key, Value: value}); err == nil {
			if _, err = changed.With(); err != nil {
				t.Errorf("%s = %s is taken and makes no experiment: %v", key, value, err)
			}
		}
	})
}

// smallModel is a file of a model of periods: 100 jobs of one kind in two days.
const smallModel = `
[machine]
name = "ours"
nodes = 8
cpus_per_node = 1
mhz = 1000

[profile]
weekday = 4
begin_s = 3600
span_s = 100000
period_h = 24
hours = [4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 8]
alike_ppm = 0
gaps_s = []
max_cpus = [4, 8]
periods = [[60, 12000, 0, 0, 2], [40, 8000, 0, 0, 2]]

[[profile.kinds]]
jobs = 100
cpus = [2]
runs_s = [100]
estimates_s = [200]
batches = [100]
`

// FuzzModel: any file is a model or has problems; what is read is written so that it is read
// again, and jobs can be drawn from it, or the error says why not.
func FuzzModel(f *testing.F) {
	f.Add(smallModel)
	f.Add(strings.NewReplacer("gaps_s = []", "gaps_s = [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]]", "batches = [100]", "batches = [50, 25]").Replace(smallModel))
	f.Add("[machine]\nnodes = 4\ncpus_per_node = 2\nmhz = 500\n[[classes]]\nmin_cpus = 1\nmax_cpus = 8\nshare = 1.0\n" +
		"inter_arrival = { n = 1, lambda1 = 0.01, lambda2 = 0.02, rho = 0.5 }\nservice = { n = 2, lambda1 = 0.001, lambda2 = 0.01, rho = 0.1 }\n")
	f.Fuzz(func(t *testing.T, text string) {
		model, err := experiment.ReadModel(write(t, "model.toml", text))
		if err != nil {
			return
		}
		var written strings.Builder
		if err = experiment.WriteModel(&written, model); err != nil {
			t.Fatal(err)
		}
		again, err := experiment.ReadModel(write(t, "again.toml", written.String()))
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, written.String())
		}
		var twice strings.Builder
		if err = experiment.WriteModel(&twice, again); err != nil || twice.String() != written.String() {
			t.Fatalf("not the same, %v:\n%s\n%s", err, written.String(), twice.String())
		}
		periods, ok := model.(*workload.PeriodModel)
		if !ok || jobsOf(&periods.Profile) > 10_000 {
			return
		}
		jobs, err := periods.Generate(workload.Options{}, 1)
		if err == nil && len(jobs) != jobsOf(&periods.Profile) {
			t.Errorf("%d jobs of %d", len(jobs), jobsOf(&periods.Profile))
		}
	})
}

// jobsOf is how many jobs the kinds of a profile have.
func jobsOf(p *workload.Profile) (sum int) {
	for i := range p.Kinds {
		sum += p.Kinds[i].Jobs
	}
	return sum
}

// FuzzFlags: no text of an axis or a joining site is more than an error.
func FuzzFlags(f *testing.F) {
	for _, text := range []string{"load=0.7..1.3/0.1", "phi=1m,5m", "new=64x16@2400,model=M2,jobs=100", "x=1×1", "load=1..1e9/1e-9", "new=8x4,watts=30.5,price=-3,mflops=9000"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := experiment.Preset("light")
		if err != nil {
			t.Fatal(err)
		}
		if axis, err := experiment.ParseAxis(text); err == nil && (len(axis.Values) == 0 || len(axis.Values) > 1000) && !strings.Contains(text, ",") {
			t.Errorf("%q has %d values", text, len(axis.Values))
		}
		if joined, err := plan.Join(text); err == nil && len(joined.Sites) != len(plan.Sites)+1 {
			t.Errorf("%q joins %d sites", text, len(joined.Sites)-len(plan.Sites))
		}
	})
}

// FuzzResults: what is taken as results can be shown, or the error says why not.
func FuzzResults(f *testing.F) {
	f.Add([]byte(`{"experiment":"x","scheme":"local","seed":1,"jobs":2,"sites":[{"site":"a"}],"hash":""}`))
	f.Add([]byte(`{"experiment":"x","scheme":"cycle","seed":1,"jobs":0,"sites":[{"site":"a"}],"hash":"","applications":{"currency":"CHF",` +
		`"applications":1,"sites":[{"site":"a","income":3}],"each":[]}}`))
	f.Add([]byte(`{"experiment":"x","scheme":"cycle","seed":1,"jobs":2,"sites":[{"site":"a"}],"hash":"","currency":"EUR",` +
		`"energy_cost":1,"energy_mwh":2,"fairness":3,"energy_sites":[{"site":"a","energy_cost":1,"energy_mwh":2,"fairness":3}]}`))
	f.Add([]byte(`{"experiment":"x","scheme":"cycle","seed":1,"jobs":2,"sites":[],"hash":"","energy_cost":1,"energy_sites":[{"fairness":3}]}`))
	f.Add([]byte(`{"experiment":"x","seeds":[1],"points":[{"scheme":"local"}]}`))
	f.Add([]byte(`{"experiment":"x","seeds":[],"points":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		swept, err := experiment.ParseResults(data)
		if err != nil {
			return
		}
		page, err := experiment.Page("page", []*experiment.Swept{swept}, report.Source{})
		if err != nil {
			return
		}
		if _, err := page.HTML(); err != nil {
			t.Errorf("%s: %v", data, err)
		}
	})
}

// TestResultsRoundTrip: what is printed reads back as it was.
func TestResultsRoundTrip(t *testing.T) {
	t.Parallel()
	trace := "\n[[workload]]\nsite = \"busy\"\ntrace = '" + write(t, "x.swf", "1 0 -1 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n") + "'\n"
	sweep := experiment.Sweep{Plan: opened(t, smallPlan+trace), Seeds: 2, Axes: []experiment.Axis{{Key: "load", Values: []string{"1", "2"}}}}
	want := swept(t, sweep)
	read, err := experiment.ParseResults([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(read)
	if err != nil || string(got) != want {
		t.Errorf("%v: other JSON after reading it back", err)
	}
	if len(read.Records) != 1 || read.Records[0].Jobs != 1 {
		t.Errorf("records %+v", read.Records)
	}
	one, err := json.Marshal(run(t, sweep.Plan, experiment.Local, 1))
	if err != nil {
		t.Fatal(err)
	}
	if read, err = experiment.ParseResults(one); err != nil || len(read.Records) != 1 {
		t.Errorf("of one run: %v", err)
	}
}

func TestResultsThatAreNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"x":                              "not JSON",
		"{}":                             "no key experiment",
		`{"experiment":"x","colour":1}`:  "not the JSON of sim run",
		`{"experiment":"x","points":[]}`: "no seeds or no points",
		`{"experiment":"x","seeds":[1],"points":[{"scheme":"local"}]}`: "points[0]: mean_wait_s has 0 values",
	} {
		if _, err := experiment.ParseResults([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
