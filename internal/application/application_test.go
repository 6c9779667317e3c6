package application_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/application"
	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	one = protocol.PPM
	h   = protocol.Hour
)

func origin() batchscript.Origin {
	return batchscript.Origin{User: "ada", Host: "login1", Dir: "/home/ada", Env: []string{"A=1"}}
}

// source is a file runs/app.toml whose scripts all have these directives.
func source(text string, directives ...string) application.Source {
	return application.Source{Name: "runs/app.toml", Text: text, Script: func(path string) (batchscript.Script, error) {
		if strings.Contains(path, "missing") {
			return batchscript.Script{}, fmt.Errorf("the batch script %s cannot be read", path)
		}
		data := "#!/bin/sh\n" + strings.Join(directives, "\n") + "\ntrue\n"
		return batchscript.Script{Name: path, Data: []byte(data)}, nil
	}}
}

func read(t *testing.T, s application.Source, options ...batchscript.Setting) batchscript.Batch {
	t.Helper()
	batch, _, err := application.Read(s, options, origin())
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return batch
}

const coupled = `
[application]
name = "coupled model"
wait_weight = 2
compute_weight = 0.5
max_cost = "50 CHF"
max_time = "12h"

[[application.rate]]
after = "1h"
per_hour = "60 CHF"
[[application.rate]]
after = "8h"
per_hour = "1000.50 CHF"

[[component]]
name = "mesh"
script = "mesh.sh"
args = ["-v", "in.dat"]
cpus = [4, 8]
time = ["4h", "2h"]
estimate = "1h30m"
memory = 4000
licenses = ["matlab", "ansys:4"]
stage_in = ["in.dat", "grids/*.nc", "/data/model:model"]
stage_out = "out"
data_in = "20GB"
data_out = "1G"
sites = ["aurora", "cygnus"]
qos = "urgent"
requeue = true
together = "flow"
[component.behavior]
operations = 3.2e12
accesses = 1e9
sent = 1000000
messages = 500
cpus = 64
scaling = "surface"

[[component]]
name = "solve"
script = "/opt/solve.sh"
time = "30:00"
energy_weight = 3
together = "flow"
`

func TestAnApplicationIsReadWhole(t *testing.T) {
	t.Parallel()
	batch := read(t, source(coupled, "#SBATCH -n 2 -t 5 --mem=1G -J other"))
	want := &protocol.Application{
		Name: "coupled model", Beta: 2 * one, MaxCost: 50_000_000, MaxTime: 12 * h, Currency: "CHF",
		Rates: []protocol.WaitingRate{{}, {From: h, PerHour: 60_000_000}, {From: 8 * h, PerHour: 1_000_500_000}},
	}
	if !reflect.DeepEqual(batch.Application, want) || batch.Name != want.Name {
		t.Errorf("got %+v", batch.Application)
	}
	mesh, solve := batch.Jobs[0], batch.Jobs[1]
	wantMesh := protocol.Component{
		Name: "mesh", Estimate: h + h/2, Alpha: one / 2, Gamma: one, Delta: one, Together: 1,
		Shapes: []protocol.Shape{{CPUs: 8, WallTime: 2 * h, Estimate: h + h/2}},
		Behavior: protocol.Behavior{
			Mflop: 3_200_000, Mwords: 1000, Sent: 1_000_000, Messages: 500, CPUs: 64, Scaling: protocol.Surface,
		},
	}
	if !reflect.DeepEqual(mesh.Component, wantMesh) {
		t.Errorf("mesh is %+v", mesh.Component)
	}
	if mesh.Spec.Name != "mesh" || mesh.Spec.CPUs != 4 || mesh.Spec.WallTime != 4*h || mesh.Spec.MemoryMB != 4000 || mesh.Spec.Data != 20<<30 ||
		mesh.Spec.DataOut != 1<<30 || !mesh.Spec.Requeue || mesh.Spec.QOS != "urgent" || len(mesh.Spec.Sites) != 2 ||
		!slices.Equal(mesh.Payload.Args, []string{"-v", "in.dat"}) || mesh.Payload.WorkDir != "/home/ada" ||
		!slices.Equal(mesh.Spec.Resources, []protocol.Resource{protocol.NewLicense("ansys", 4), protocol.NewLicense("matlab", 1)}) {
		t.Errorf("mesh is %+v", mesh)
	}
	if !slices.Equal(mesh.StageIn, []string{"in.dat", "grids/*.nc", "/data/model:model"}) || !slices.Equal(mesh.Payload.Staging.Out, []string{"out"}) {
		t.Errorf("with mesh go %q, and %+v", mesh.StageIn, mesh.Payload.Staging)
	}
	if solve.Spec.CPUs != 2 || solve.Spec.WallTime != h/2 || solve.Spec.MemoryMB != 1024 || solve.Component.Gamma != 3*one ||
		solve.Component.Together != 1 || solve.Spec.Requeue {
		t.Errorf("solve is %+v", solve)
	}
	if !slices.Contains(solve.Payload.Env, "SWITCHYARD_COMPONENT=solve") {
		t.Errorf("its environment is %q", solve.Payload.Env)
	}
}

func TestTheCommandLineBeatsTheFile(t *testing.T) {
	t.Parallel()
	said := func(long, value string) batchscript.Setting { return batchscript.Setting{Long: long, Value: value} }
	batch := read(t, source(coupled), said("objective", "fastest"), said("waiting-cost", "salary"), said("max-cost", "3 EUR"), said("time", "9h"))
	a := batch.Application
	if a.Beta != one || len(a.Rates) != 0 || a.Waiting != "salary" || a.MaxCost != 3_000_000 || a.Currency != "EUR" {
		t.Errorf("got %+v", a)
	}
	for _, job := range batch.Jobs {
		if job.Spec.WallTime != 9*h || job.Component.Alpha != 0 || job.Component.Gamma != 0 {
			t.Errorf("got %+v", job)
		}
	}
}

func TestTheNameIsTheFilesWithoutAnother(t *testing.T) {
	t.Parallel()
	batch := read(t, source("[[component]]\nname = \"a\"\nscript = \"a.sh\"\n"))
	if batch.Name != "app" || batch.Application.Name != "app" || batch.Application.MaxCost != protocol.Unlimited {
		t.Errorf("got %+v", batch.Application)
	}
}

func TestEveryProblemHasItsPlace(t *testing.T) {
	t.Parallel()
	text := `[application]
objective = "best"
max_cost = "lots"
waiting_cost = "salary"
colour = "red"
[[application.rate]]
after = "2h"
per_hour = "60 CHF"
[[application.rate]]
after = "1h"
per_hour = "60 EUR"
[[component]]
name = "a"
script = "a.sh"
cpus = [8, 4]
time = true
wait_weight = 1
together = "x"
[[component]]
name = "b c"
script = "b.sh"
[[component]]
name = "a"
script = "b.sh"
energy_weight = -1
[component.behavior]
operations = "many"
[[component]]
name = "d"
script = "missing.sh"
`
	_, _, err := application.Read(source(text, "#SWITCHYARD --max-time=2h"), nil, origin())
	list, ok := errors.AsType[*batchscript.Error](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	want := []string{
		`runs/app.toml:5: application.colour: unknown key; allowed here: name, objective,`,
		`runs/app.toml:4: application.waiting_cost: names a curve of the site, and there are tables`,
		`runs/app.toml:10: application.rate[2].after: comes after 2h`,
		`runs/app.toml:11: application.rate[2].per_hour: is in "EUR", but the first rate is in "CHF"`,
		`runs/app.toml:16: component[a].time: is true or false; write a text or a number`,
		`runs/app.toml:17: component[a].wait_weight: unknown key; it belongs to [application]`,
		`runs/app.toml:18: component[a].together: no other component starts together with "x"`,
		`runs/app.toml:20: component[b c].name: invalid component name "b c"`,
		`runs/app.toml:30: component[d].script: the batch script runs/missing.sh cannot be read`,
		`runs/a.sh:2: --max-time: it applies to the whole application; write it in [application]`,
		`runs/app.toml:2: application.objective: invalid objective "best"; use fastest,`,
		`runs/app.toml:3: application.max_cost: "lots" is not an amount of money`,
		`runs/app.toml:15: component[a].cpus: 4 after 8`,
		`runs/app.toml:25: component[a].energy_weight: "-1" is not a weight`,
		`runs/app.toml:27: component[a].behavior.operations: "many" is not a number`,
		`runs/app.toml:22: the component a is at runs/app.toml:12 already`,
	}
	for _, line := range want {
		found := slices.ContainsFunc(list.List, func(p problems.Problem) bool { return strings.HasPrefix(p.String(), line) })
		if !found {
			t.Errorf("missing %q", line)
		}
	}
	if t.Failed() {
		t.Logf("in\n%v", err)
	}
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	const a = "[[component]]\nname = \"a\"\nscript = \"a.sh\"\n"
	cases := map[string]struct{ text, want string }{
		"nothing":       {"", "runs/app.toml: component: is missing"},
		"no TOML":       {"[application\n", "runs/app.toml:2: not TOML"},
		"both":          {"[application]\nobjective = \"green\"\n" + a + "compute_weight = 2\n", "runs/app.toml:6: component[a].compute_weight: conflicts with an objective or weight"},
		"no weight":     {"[application]\ncompute_weight = 0\nwait_weight = 0\nenergy_weight = 0\ndata_weight = 0\n" + a, "runs/app.toml:5: application.data_weight: all weights are 0"},
		"part's weight": {"[application]\nwait_weight = 0\n" + a + "compute_weight = 0\nenergy_weight = 0\ndata_weight = 0\n", "runs/app.toml:8: component[a].data_weight: all weights are 0"},
		"too short":     {"[application]\nmax_time = \"1h\"\n" + a + "time = \"3h\"\nestimate = \"2h\"\n", "runs/app.toml:2: application.max_time: 1:00:00 is less than the shortest estimate of the run time of a, 2:00:00"},
		"currencies":    {"[application]\nmax_cost = \"1 EUR\"\n[[application.rate]]\nafter = 0\nper_hour = \"5 CHF\"\n" + a, "runs/app.toml:3: application.rate: is in CHF, but the most that the application may cost is in EUR"},
		"limit's alone": {"[application]\nmax_cost = 1\n[[application.rate]]\nafter = 0\nper_hour = \"5 CHF\"\n" + a, "runs/app.toml:3: application.rate: is in CHF, but the most that the application may cost is in the site's currency"},
		"rate's alone":  {"[application]\nmax_cost = \"1 EUR\"\n[[application.rate]]\nafter = 0\nper_hour = 5\n" + a, "runs/app.toml:3: application.rate: is in the site's currency, but the most that the application may cost is in EUR"},
		"empty list":    {a + "cpus = []\n", "runs/app.toml:4: component[a].cpus: is a list; write at least one value"},
		"CPUs of what":  {a + "[component.behavior]\noperations = 1e9\ncpus = 8\n", "runs/app.toml:6: component[a].behavior.cpus: says for how many CPUs sent and messages are stated"},
		"for scaling":   {a + "[component.behavior]\noperations = 1e9\nsent = 5\ncpus = \"x\"\n", `runs/app.toml:7: component[a].behavior.cpus: "x" is not a whole number`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := application.Read(source(c.text), nil, origin())
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestAllIsSaidAtOnce: what is wrong in one place hides nothing that is wrong elsewhere, and
// is told once, not as all that would follow from it.
func TestAllIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	const a = "[[component]]\nname = \"a\"\nscript = \"a.sh\"\n"
	for name, c := range map[string]struct{ text, want string }{
		"no script can be read": {
			"[application]\nmax_cost = \"-5 CHF\"\nobjective = \"best\"\n[[component]]\nname = \"a\"\nscript = \"missing.sh\"\ntime = [\"1h\", \"2h\"]\nestimate = \"9h\"\nmemory = \"much\"\n" +
				"[[component]]\nname = \"a\"\ntime = \"soon\"\n[[component]]\nname = \"b c\"\nscript = \"b.sh\"\ncpus = 0\n",
			`runs/app.toml:6: component[a].script: the batch script runs/missing.sh cannot be read
runs/app.toml:10: component[a].script: is missing; name the batch script that the component runs
runs/app.toml:14: component[b c].name: invalid component name "b c"; use 1 to 64 letters, digits, dots, hyphens and underscores
runs/app.toml:3: application.objective: invalid objective "best"; use fastest, cheapest, green or balanced
runs/app.toml:2: application.max_cost: "-5 CHF" is not an amount of money; write for instance 10.50 CHF, with up to six decimals
runs/app.toml:9: component[a].memory: "much" is not a valid size; write a whole number and possibly a unit of K, M, G, T or P, as "512M" or "4G"
runs/app.toml:12: component[a].time: "soon" is not a time; write min, min:s, h:min:s, d-h, d-h:min or d-h:min:s, or as 1h30m
runs/app.toml:16: component[b c].cpus: "0" is not a whole number from 1 to 1000000
runs/app.toml:10: the component a is at runs/app.toml:4 already; give each a name of its own`,
		},
		"no name": {
			a + "[[component]]\nscript = \"b.sh\"\ncpus = 0\n",
			`runs/app.toml:4: component[2].name: invalid component name ""; use 1 to 64 letters, digits, dots, hyphens and underscores
runs/app.toml:6: component[2].cpus: "0" is not a whole number from 1 to 1000000`,
		},
		"two currencies": {
			"[application]\nmax_cost = \"1 EUR\"\n[[application.rate]]\nafter = 0\nper_hour = \"5 CHF\"\n" + a + "qos = \"x y\"\n",
			`runs/app.toml:3: application.rate: is in CHF, but the most that the application may cost is in EUR; name both in one currency
runs/app.toml:9: component[a].qos: qos: "x y" is not one name; it may have no space, comma, * or ?`,
		},
		"a first rate that is none": {
			"[[application.rate]]\nafter = 0\nper_hour = \"lots\"\n[[application.rate]]\nafter = \"1h\"\nper_hour = \"5 CHF\"\n" + a,
			`runs/app.toml:3: application.rate[1].per_hour: "lots" is not an amount of money; write for instance 10.50 CHF, with up to six decimals`,
		},
		"CPUs with times for each": {
			a + "cpus = [8, 4]\ntime = [\"4h\", \"2h\"]\nestimate = \"3h\"\n",
			`runs/app.toml:4: component[a].cpus: 4 after 8; list each count once, in ascending order`,
		},
		"a limit with an estimate": {
			a + "time = \"0:00\"\nestimate = \"3h\"\n",
			`runs/app.toml:4: component[a].time: "0:00" is no time at all; give more than 0`,
		},
		"several of a list": {
			a + "args = [1, 2]\n", `runs/app.toml:4: component[a].args: is a number; write a text in quotes`,
		},
		"no time": {
			"[application]\nmax_time = \"0s\"\n" + a,
			`runs/app.toml:2: application.max_time: "0s" is no time at all; give more than 0`,
		},
		"operations with more": {
			a + "[component.behavior]\noperations = -4\nsent = 5\nmessages = \"few\"\n",
			`runs/app.toml:5: component[a].behavior.operations: "-4" is not a number from 0 to 9e+21; write for instance 3.2e12
runs/app.toml:7: component[a].behavior.messages: "few" is not a number from 0 to 9e+15; write for instance 3.2e12`,
		},
		"scaling and its CPUs": {
			a + "[component.behavior]\noperations = 1e9\nsent = 5\nscaling = \"cube\"\ncpus = 0\n",
			`runs/app.toml:8: component[a].behavior.cpus: "0" is not a whole number from 1 to 1000000
runs/app.toml:7: component[a].behavior.scaling: invalid value "cube"; use constant, surface or all-to-all`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := application.Read(source(c.text), nil, origin())
			if err == nil || err.Error() != c.want {
				t.Errorf("got\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}

// The command line may settle what the file's currencies contradict, or bring it about.
func TestCurrenciesOfTheCommandLine(t *testing.T) {
	t.Parallel()
	const text = "[application]\nmax_cost = \"1 EUR\"\n[[application.rate]]\nafter = 0\nper_hour = \"5 CHF\"\n" +
		"[[component]]\nname = \"a\"\nscript = \"a.sh\"\n"
	said := func(long, value string) batchscript.Setting { return batchscript.Setting{Long: long, Value: value} }
	if a := read(t, source(text), said("max-cost", "3 CHF")).Application; a.Currency != "CHF" || len(a.Rates) != 1 {
		t.Errorf("got %+v", a)
	}
	if a := read(t, source(text), said("waiting-cost", "salary")).Application; a.Currency != "EUR" || len(a.Rates) != 0 {
		t.Errorf("got %+v", a)
	}
	_, _, err := application.Read(source(coupled), []batchscript.Setting{said("max-cost", "3 EUR")}, origin())
	if err == nil || !strings.Contains(err.Error(), "is in CHF, but the most that the application may cost is in EUR") {
		t.Errorf("got %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(coupled, "#SBATCH -n 4 --mem-per-cpu=1G")
	f.Add("[application]\nobjective = \"green\"\n[[component]]\nname = \"a\"\nscript = \"x\"\n", "#SWITCHYARD component b")
	f.Add("[[component]]\nname = \"a\"\nscript = \"x\"\ncpus = [1, 2.5, \"3\"]\n", "")
	f.Add("component = 3", "")
	f.Fuzz(func(t *testing.T, text, directive string) {
		batch, _, err := application.Read(source(text, directive), nil, origin())
		if err != nil {
			if _, ok := errors.AsType[*batchscript.Error](err); !ok {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		a := batch.Application
		if a == nil || len(batch.Jobs) == 0 || a.MaxCost < 0 || a.MaxTime <= 0 || len(a.Rates) > 64 {
			t.Fatalf("an impossible application: %+v", batch)
		}
		for i, rate := range a.Rates {
			if rate.PerHour < 0 || (i == 0) != (rate.From == 0) || (i > 0 && rate.From <= a.Rates[i-1].From) {
				t.Errorf("impossible rates: %+v", a.Rates)
			}
		}
		groups := map[int]int{}
		for i := range batch.Jobs {
			c := &batch.Jobs[i].Component
			if c.Name == "" || batch.Jobs[i].Spec.CPUs < 1 || c.Together < 0 {
				t.Errorf("an impossible component: %+v", batch.Jobs[i])
			}
			groups[c.Together]++
		}
		for group, members := range groups {
			if group > 0 && members == 1 {
				t.Errorf("component alone in group %d", group)
			}
		}
	})
}
