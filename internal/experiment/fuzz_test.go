package experiment_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
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
