package batchscript_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const one = protocol.PPM

// readAll is Read without problems.
func readAll(t *testing.T, s batchscript.Script, settings ...batchscript.Setting) batchscript.Batch {
	t.Helper()
	batch, _, err := batchscript.Read(s, settings, origin())
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return batch
}

func said(long, value string) batchscript.Setting {
	return batchscript.Setting{Long: long, Value: value}
}

func TestAPlainJobHasNoObjectives(t *testing.T) {
	t.Parallel()
	batch := readAll(t, script("#SBATCH -n 4 -t 10"))
	if batch.Application != nil || batch.Name != "" || !reflect.DeepEqual(batch.Jobs[0].Component, protocol.Component{}) {
		t.Errorf("got %+v", batch)
	}
}

func TestShapes(t *testing.T) {
	t.Parallel()
	const h = protocol.Hour
	job, _ := read(t, script("#SBATCH -n 32 -N 2 --mem-per-cpu=1G", "#SWITCHYARD --cpus=4,8,16 --time=4h,2:00:00,1-0 --estimate=1h"))
	want := []protocol.Shape{
		{CPUs: 8, Nodes: 2, WallTime: 2 * h, Estimate: h},
		{CPUs: 16, Nodes: 2, WallTime: 24 * h, Estimate: h},
	}
	if job.Spec.CPUs != 4 || job.Spec.Nodes != 2 || job.Spec.WallTime != 4*h || job.Component.Estimate != h || !slices.Equal(job.Component.Shapes, want) {
		t.Errorf("got %+v", job)
	}
	if job.Spec.MemoryMB != 8*1024 {
		t.Errorf("%d MB on a node; the widest shape needs 8 CPUs' worth there", job.Spec.MemoryMB)
	}
	job, _ = read(t, script("#SWITCHYARD --cpus=4,8"), said("ntasks", "6"))
	if job.Spec.CPUs != 6 || len(job.Component.Shapes) != 0 {
		t.Errorf("--ntasks was said last: %+v", job)
	}
	job, _ = read(t, script("#SBATCH -n 6 -c 2"), said("cpus", "4"))
	if job.Spec.CPUs != 4 {
		t.Errorf("--cpus was said last: %d CPUs", job.Spec.CPUs)
	}
}

func TestWeights(t *testing.T) {
	t.Parallel()
	type weights struct{ alpha, beta, gamma, delta int }
	cases := map[string]struct {
		lines    []string
		settings []batchscript.Setting
		want     weights
	}{
		"fastest":             {[]string{"#SWITCHYARD --objective=fastest"}, nil, weights{beta: one}},
		"cheapest":            {[]string{"#SWITCHYARD --objective=cheapest"}, nil, weights{one, 0, one, one}},
		"balanced":            {[]string{"#SWITCHYARD --objective=balanced"}, nil, weights{one, one, one, one}},
		"the others are 1":    {[]string{"#SWITCHYARD --energy-weight=2.5"}, nil, weights{one, one, 2_500_000, one}},
		"all":                 {[]string{"#SWITCHYARD --compute-weight 0 --wait-weight 0.000001 --energy-weight 0 --data-weight 1000"}, nil, weights{0, 1, 0, 1000 * one}},
		"command line first":  {[]string{"#SWITCHYARD --compute-weight=3"}, []batchscript.Setting{said("objective", "fastest")}, weights{beta: one}},
		"command line weight": {[]string{"#SWITCHYARD --objective=fastest"}, []batchscript.Setting{said("wait-weight", "0")}, weights{one, 0, one, one}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			batch := readAll(t, script(c.lines...), c.settings...)
			k := batch.Jobs[0].Component
			if got := (weights{k.Alpha, batch.Application.Beta, k.Gamma, k.Delta}); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestLimitsAloneNameNoWeights(t *testing.T) {
	t.Parallel()
	batch := readAll(t, script("#SWITCHYARD --max-cost='10.50 CHF' --max-time=2h --waiting-cost=salary"))
	want := protocol.Application{MaxCost: 10_500_000, Currency: "CHF", MaxTime: 2 * protocol.Hour, Waiting: "salary"}
	if !reflect.DeepEqual(*batch.Application, want) {
		t.Errorf("got %+v", batch.Application)
	}
	if c := batch.Jobs[0].Component; c.Alpha != 0 || c.Gamma != 0 || c.Delta != 0 {
		t.Errorf("weights appeared from nowhere: %+v", c)
	}
	if batch = readAll(t, script("#SWITCHYARD --objective=green")); batch.Application.MaxCost != protocol.Unlimited ||
		batch.Application.MaxTime != protocol.Never {
		t.Errorf("limits appeared from nowhere: %+v", batch.Application)
	}
}

func TestWhatTheJobNeedsAndDoes(t *testing.T) {
	t.Parallel()
	job, _ := read(t, script("#SBATCH -n 8", "#SWITCHYARD -L matlab:2,ansys -q urgent",
		"#SWITCHYARD --stage-out-size=20GB --operations=3.2e12 --memory-accesses=1.5e6 --words-sent=1e6 --messages-sent 4000 --scaling=surface"))
	if want := []protocol.Resource{protocol.NewLicense("ansys", 1), protocol.NewLicense("matlab", 2)}; !slices.Equal(job.Spec.Resources, want) {
		t.Errorf("licenses %+v", job.Spec.Resources)
	}
	want := protocol.Behavior{Mflop: 3_200_000, Mwords: 2, Sent: 1_000_000, Messages: 4000, CPUs: 8, Scaling: protocol.Surface}
	if job.Component.Behavior != want || job.Spec.QOS != "urgent" || job.Spec.DataOut != 20<<30 {
		t.Errorf("got %+v", job)
	}
	job, _ = read(t, script("#SWITCHYARD --operations=1 --words-sent=1 --scaling=all-to-all@64"))
	if b := job.Component.Behavior; b.CPUs != 64 || b.Scaling != protocol.Multicast || b.Mflop != 1 {
		t.Errorf("got %+v", b)
	}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	s := script("#SBATCH -n 2 -J coupled", "#SWITCHYARD --max-time=8h --compute-weight=2",
		"#SWITCHYARD component mesh", "#SBATCH -n 4",
		"#SWITCHYARD component solve --cpus=8,16", "#SWITCHYARD --compute-weight=3", "run $SWITCHYARD_COMPONENT")
	batch := readAll(t, s, said("time", "90"))
	if batch.Name != "coupled" || batch.Application.Name != "coupled" || batch.Application.MaxTime != 8*protocol.Hour || len(batch.Jobs) != 2 {
		t.Fatalf("got %+v, %+v", batch, batch.Application)
	}
	mesh, solve := batch.Jobs[0], batch.Jobs[1]
	if mesh.Spec.Name != "mesh" || mesh.Component.Name != "mesh" || mesh.Spec.CPUs != 4 || mesh.Component.Alpha != 2*one ||
		mesh.Spec.WallTime != 90*protocol.Minute {
		t.Errorf("mesh is %+v", mesh)
	}
	if solve.Spec.Name != "solve" || solve.Spec.CPUs != 8 || len(solve.Component.Shapes) != 1 || solve.Component.Alpha != 3*one {
		t.Errorf("solve is %+v", solve)
	}
	if want := []string{"A=1", "B=2", "PATH=/bin", "SWITCHYARD_COMPONENT=solve"}; !slices.Equal(solve.Payload.Env, want) {
		t.Errorf("its environment is %q", solve.Payload.Env)
	}
	if string(mesh.Payload.Script) != string(solve.Payload.Script) {
		t.Error("the components run different scripts")
	}
	if batch = readAll(t, s, said("job-name", "other")); batch.Name != "other" || batch.Jobs[0].Spec.Name != "mesh" {
		t.Errorf("--job-name names %q and %q", batch.Name, batch.Jobs[0].Spec.Name)
	}
}

// Where one component names a weight, the others are not weighed by 0.
func TestAWeightOfOneComponentWeighsAll(t *testing.T) {
	t.Parallel()
	batch := readAll(t, script("#SWITCHYARD component a", "#SWITCHYARD component b --energy-weight=4"))
	a, b := batch.Jobs[0].Component, batch.Jobs[1].Component
	if batch.Application.Beta != one || a.Alpha != one || a.Gamma != one || b.Gamma != 4*one || b.Delta != one {
		t.Errorf("got β %d, %+v, %+v", batch.Application.Beta, a, b)
	}
}

func TestContradictionsAreFound(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		lines []string
		want  string
	}{
		"both":           {[]string{"#SWITCHYARD --objective=green --wait-weight=1"}, "job.sh:2: --wait-weight: conflicts with an objective or weight"},
		"both, reversed": {[]string{"#SWITCHYARD --wait-weight=1", "#SWITCHYARD --objective=green"}, "job.sh:3: --objective: conflicts with an objective or weight"},
		"no weight":      {[]string{"#SWITCHYARD --compute-weight=0 --wait-weight=0 --energy-weight=0 --data-weight=0"}, "job.sh:2: --data-weight: all weights are 0"},
		"negative":       {[]string{"#SWITCHYARD --compute-weight=-1"}, `job.sh:2: --compute-weight: "-1" is not a weight; write a number from 0 to 1000`},
		"no time":        {[]string{"#SWITCHYARD --max-time=1h", "#SWITCHYARD --estimate=90 --time=3h"}, "job.sh:2: --max-time: 1:00:00 is less than the shortest estimate of the run time of job.sh, 1:30:00"},
		"one is in time": {[]string{"#SWITCHYARD --max-time=1h --cpus=2,4", "#SWITCHYARD --estimate=2h,1h --time=3h"}, ""},
		"over the limit": {[]string{"#SWITCHYARD --estimate=2h"}, "job.sh:2: --estimate: the run time of 2:00:00 is above the time limit of 1:00:00"},
		"falling":        {[]string{"#SWITCHYARD --cpus=8,4"}, "job.sh:2: --cpus: 4 after 8; list each count once, in ascending order"},
		"twice":          {[]string{"#SWITCHYARD --cpus=4,4"}, "job.sh:2: --cpus: 4 after 4"},
		"times":          {[]string{"#SWITCHYARD --cpus=2,4,8 -t 2h,1h"}, "job.sh:2: --time: names 2 times, but the job has 3 counts of CPUs"},
		"nodes":          {[]string{"#SWITCHYARD --cpus=2,4 -N 3"}, "job.sh:2: --nodes: asks for 3 nodes, but a job of 2 CPUs has CPUs on 2 at most"},
		"scaling":        {[]string{"#SWITCHYARD --operations=1 --scaling=cubic"}, `job.sh:2: --scaling: invalid value "cubic"; use constant, surface or all-to-all`},
		"nothing sent":   {[]string{"#SWITCHYARD --operations=1 --scaling=all-to-all"}, "job.sh:2: --scaling: one CPU sends nothing"},
		"no operations":  {[]string{"#SWITCHYARD --words-sent=1"}, "job.sh:2: --words-sent: means nothing without the number of operations"},
		"objective":      {[]string{"#SWITCHYARD --objective=best"}, `job.sh:2: --objective: invalid objective "best"; use fastest, cheapest, green or balanced`},
		"licenses":       {[]string{"#SWITCHYARD -L a,b,a:2"}, "job.sh:2: --licenses: names a twice; write a:3"},
		"money":          {[]string{"#SWITCHYARD --max-cost=-5"}, `job.sh:2: --max-cost: "-5" is not an amount of money`},
		"late":           {[]string{"#SWITCHYARD component a", "#SWITCHYARD --max-cost=5"}, "job.sh:3: --max-cost: it applies to the whole application; write it before the first component"},
		"one name":       {[]string{"#SWITCHYARD component a", "#SWITCHYARD component a"}, "job.sh:3: the component a is at job.sh:2 already"},
		"no name":        {[]string{"#SWITCHYARD component"}, `job.sh:2: component: invalid component name ""`},
		"odd name":       {[]string{"#SWITCHYARD component 'a b'"}, `job.sh:2: component: invalid component name "a b"`},
		"for Slurm":      {[]string{"#SBATCH component a"}, `job.sh:2: "component" is not an option`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.want == "" {
				readAll(t, script(c.lines...))
				return
			}
			if got := problemsOf(t, script(c.lines...)); !strings.HasPrefix(got[0], c.want) {
				t.Errorf("got  %q\nwant %s", got, c.want)
			}
		})
	}
}

// What follows from a mistake is not told as another one.
func TestNothingFollowsFromMistakes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--cpus=8,4 --time=2h,1h --nodes=9 --estimate=3h":       "--cpus: 4 after 8; list each count once, in ascending order",
		"--time=soon --estimate=9h":                             `--time: "soon" is not a time; write min, min:s, h:min:s, d-h, d-h:min or d-h:min:s, or as 1h30m`,
		"--time=0:00 --estimate=9h":                             `--time: "0:00" is no time at all; give more than 0`,
		"--max-time=0s --estimate=9m":                           `--max-time: "0s" is no time at all; give more than 0`,
		"--cpus=4,8 --time=3h,2h,1h --estimate=9h,3h":           "--time: names 3 times, but the job has 2 counts of CPUs; name one, or one for each count of --cpus",
		"--operations=many --words-sent=3 --scaling=all-to-all": `--operations: "many" is not a number from 0 to 9e+21; write for instance 3.2e12`,
	} {
		if got := problemsOf(t, script("#SWITCHYARD "+line)); len(got) != 1 || got[0] != "job.sh:2: "+want {
			t.Errorf("%s: got %q", line, got)
		}
	}
}

func TestTooManyComponents(t *testing.T) {
	t.Parallel()
	lines := make([]string, batchscript.MaxComponents+1)
	for i := range lines {
		lines[i] = fmt.Sprintf("#SWITCHYARD component c%d", i)
	}
	readAll(t, script(lines[1:]...))
	if got := problemsOf(t, script(lines...)); len(got) != 1 || got[0] != "job.sh: there are 1001 components; at most 1000 are allowed" {
		t.Errorf("got %q", got)
	}
}

func TestParseMoney(t *testing.T) {
	t.Parallel()
	good := map[string]batchscript.Money{
		"10.50 CHF": {Amount: 10_500_000, Currency: "CHF"}, "3EUR": {Amount: 3_000_000, Currency: "EUR"}, "0": {}, "0.000001": {Amount: 1},
		"1.5000000 CHF": {Amount: 1_500_000, Currency: "CHF"}, "5. CHF": {Amount: 5_000_000, Currency: "CHF"}, ".5": {Amount: 500_000}, "-0": {},
	}
	for text, want := range good {
		if got, err := batchscript.ParseMoney(text); err != nil || got != want {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "CHF", "1.0000001", "-1", "+1", "1e3", "1,5 CHF", "5 chf", "5 FRANC", "5 CH", "5 CHF ", "CHF 5", "99999999999999999999", "5 CHF5",
	} {
		if got, err := batchscript.ParseMoney(text); err == nil {
			t.Errorf("%q was taken as %+v", text, got)
		}
	}
}

func TestJoinedPartsBeatTheirScripts(t *testing.T) {
	t.Parallel()
	from := func(place problems.Place, long, value string) batchscript.Setting {
		return batchscript.Setting{Long: long, Value: value, Place: place}
	}
	parts := []batchscript.Part{
		{Name: "a", Place: problems.Place{File: "app.toml", Line: 3}, Script: script("#SBATCH -n 4 -t 5 -J x"), Settings: []batchscript.Setting{from(problems.Place{File: "app.toml", Line: 4, Key: "component[a].time"}, "time", "2h")}},
		{Name: "b", Place: problems.Place{File: "app.toml", Line: 9}, Script: script("#SBATCH --mem=1G"), Settings: []batchscript.Setting{said("time", "3h")}},
	}
	batch, _, err := batchscript.Join("both", parts, origin())
	if err != nil {
		t.Fatal(err)
	}
	a, b := batch.Jobs[0], batch.Jobs[1]
	if a.Spec.Name != "a" || a.Spec.CPUs != 4 || a.Spec.WallTime != 2*protocol.Hour || b.Spec.MemoryMB != 1024 || b.Spec.WallTime != 3*protocol.Hour {
		t.Errorf("got %+v\nand %+v", a, b)
	}
	parts[0].Script = script("#SWITCHYARD --max-cost=5", "#SWITCHYARD component c")
	parts[0].Settings[0].Value = "soon"
	parts[1].Name = "a"
	_, _, err = batchscript.Join("both", parts, origin())
	want := []string{
		"job.sh:2: --max-cost: it applies to the whole application; write it in [application] of the application's file",
		"job.sh:3: the application's file names the components; leave them out here",
		`app.toml:4: component[a].time: "soon" is not a time`,
		"app.toml:9: the component a is at app.toml:3 already",
	}
	got := strings.Split(err.Error(), "\n")
	for _, line := range want {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, line) }) {
			t.Errorf("missing %q in\n%s", line, err)
		}
	}
}

// People find every option in the documentation.
func TestEveryOptionIsDocumented(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, option := range batchscript.Options() {
		if option.Help != "" && !strings.Contains(string(data), "--"+option.Long) {
			t.Errorf("docs/cli.md does not tell of --%s", option.Long)
		}
	}
}

// Licenses in #SBATCH are those of one cluster. What is said for the grid beats them.
func TestLocalOptionsOfSlurm(t *testing.T) {
	t.Parallel()
	script := batchscript.Script{Name: "job.sh", Data: []byte("#!/bin/sh\n#SBATCH -L matlab\n#SWITCHYARD -L ansys:2\ntrue\n")}
	batch, notices, err := batchscript.Read(script, nil, batchscript.Origin{User: "ada", Host: "h", Dir: "/w"})
	if err != nil || len(batch.Jobs) != 1 {
		t.Fatal(batch, err)
	}
	job := batch.Jobs[0]
	if !slices.Equal(job.Spec.Resources, []protocol.Resource{protocol.NewLicense("ansys", 2)}) {
		t.Errorf("resources %v", job.Spec.Resources)
	}
	if len(notices) != 0 {
		t.Errorf("notices %q", notices)
	}
}

// TestAssociation: account, partition and QOS come from #SBATCH, the environment and the command line, the
// later beating the earlier, and an empty name takes them back.
func TestAssociation(t *testing.T) {
	t.Parallel()
	script := batchscript.Script{Name: "job.sh", Data: []byte("#!/bin/sh\n#SBATCH -A phys -p gpu,cpu --qos=normal\ntrue\n")}
	for name, tt := range map[string]struct {
		env      []string
		settings []batchscript.Setting
		want     protocol.Association
		wrong    string
	}{
		"script":       {want: protocol.Association{Account: "phys", Partition: "gpu,cpu", QOS: "normal"}},
		"environment":  {env: []string{"SBATCH_ACCOUNT=chem", "SBATCH_PARTITION=", "SBATCH_QOS=low"}, want: protocol.Association{Account: "chem", Partition: "gpu,cpu", QOS: "low"}},
		"command line": {settings: []batchscript.Setting{{Long: "account", Value: "bio"}, {Long: "qos"}}, want: protocol.Association{Account: "bio", Partition: "gpu,cpu"}},
		"two accounts": {settings: []batchscript.Setting{{Long: "account", Value: "a,b"}}, wrong: `"a,b" is not one name`},
		"a pattern":    {settings: []batchscript.Setting{{Long: "partition", Value: "gpu*"}}, wrong: `"gpu*" is not one name`},
		"no partition": {settings: []batchscript.Setting{{Long: "partition", Value: "gpu,"}}, wrong: "empty name"},
		"a long QOS":   {settings: []batchscript.Setting{{Long: "qos", Value: strings.Repeat("q", 33)}}, wrong: "at most 32"},
	} {
		batch, notices, err := batchscript.Read(script, tt.settings, batchscript.Origin{User: "ada", Host: "h", Dir: "/w", Env: tt.env})
		switch {
		case tt.wrong != "":
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%s: %v, want %q", name, err, tt.wrong)
			}
		case err != nil || len(notices) > 0 || batch.Jobs[0].Spec.Association != tt.want:
			t.Errorf("%s: %+v, %q, %v; want %+v", name, batch.Jobs, notices, err, tt.want)
		}
	}
}
