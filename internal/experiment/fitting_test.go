package experiment_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// everyMinute is a trace in which a job of 8 CPUs comes every minute and runs for a while.
func everyMinute(t *testing.T) *workload.Trace {
	t.Helper()
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "%d %d -1 %d 8 -1 -1 8 3600 -1 1 1 1 1 1 1 -1 -1\n", i+1, 60*i, 60+i*i)
	}
	trace, err := workload.ReadSWF(strings.NewReader(text.String()), workload.ReadOptions{Name: "minutes"})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestFitTrace(t *testing.T) {
	t.Parallel()
	o := experiment.FitOptions{Method: experiment.ByClasses, Machine: workload.Machine{Name: "mine", CPUsPerNode: 4, MHz: 1000}}
	f, err := experiment.FitTrace("minutes.swf", everyMinute(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Result(); got.Machine.Nodes != 2 || len(got.Classes) != 1 || got.Classes[0].Jobs != 100 || got.Trace != "minutes.swf" {
		t.Errorf("got %+v", got)
	}
	if text := f.Text(); !strings.Contains(text, "Machine: 2 nodes of 4 CPUs.") || !strings.Contains(text, "MATCHED is how many") {
		t.Errorf("got\n%s", text)
	}
	var model strings.Builder
	if err = f.WriteModel(&model); err != nil || !strings.HasPrefix(model.String(), "# Model of minutes.swf, made by") {
		t.Errorf("%v\n%s", err, model.String())
	}
}

// Errors in the options are distinguished from errors in the trace.
func TestFitTraceRefuses(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*experiment.FitOptions){
		"--submitted-from: ": func(o *experiment.FitOptions) { o.From = "yesterday" },
		"the machine:":       func(o *experiment.FitOptions) { o.Machine.CPUsPerNode = 0 },
		"a job has 8 CPUs, the machine 4; correct --nodes or --cpus-per-node": func(o *experiment.FitOptions) { o.Machine.Nodes = 1 },
	} {
		o := experiment.FitOptions{Method: experiment.ByClasses, Machine: workload.Machine{Name: "mine", CPUsPerNode: 4, MHz: 1000}}
		change(&o)
		_, err := experiment.FitTrace("minutes.swf", everyMinute(t), o)
		if asked := new(experiment.OptionError); !errors.As(err, &asked) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	o := experiment.FitOptions{Method: experiment.ByClasses, Skip: []int{1}, Machine: workload.Machine{Name: "mine", CPUsPerNode: 4, MHz: 1000}}
	if _, err := experiment.FitTrace("minutes.swf", everyMinute(t), o); err == nil || !strings.Contains(err.Error(), "there are no jobs to model") {
		t.Errorf("got %v", err)
	}
}

// TestFitTraceByPeriods: short traces are errors with a remedy; a longer one is compared
// with what is drawn, and its model reads back as the same.
func TestFitTraceByPeriods(t *testing.T) {
	t.Parallel()
	o := experiment.FitOptions{Machine: workload.Machine{Name: "mine", CPUsPerNode: 4, MHz: 1000}, Replays: 2}
	if _, err := experiment.FitTrace("minutes.swf", everyMinute(t), o); err == nil ||
		!strings.HasPrefix(err.Error(), "minutes.swf: fit: a log of 1:39:00 is too short") || !strings.Contains(err.Error(), "--method classes") {
		t.Errorf("got %v", err)
	}
	trace := everyMinute(t)
	for i := range trace.Records {
		trace.Records[i].Submit *= 100
	}
	f, err := experiment.FitTrace("days.swf", trace, o)
	if err != nil {
		t.Fatal(err)
	}
	if warning := f.Warning(); warning != "" {
		t.Error(warning)
	}
	text := f.Text()
	for _, want := range []string{"Model: ", "load", "mean gap", "variation of gaps", "peak hour", "Sunday", "MEAN WAIT"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var model strings.Builder
	if err = f.WriteModel(&model); err != nil {
		t.Fatal(err)
	}
	read, err := experiment.ReadModel(write(t, "model.toml", model.String()))
	periods, ok := read.(*workload.PeriodModel)
	if err != nil || !ok || !reflect.DeepEqual(&periods.Profile, f.Result().Profile) {
		t.Errorf("%v\n%+v\nwant\n%+v", err, read, f.Result().Profile)
	}
	plan := opened(t, "[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 8\n[[workload]]\nsite = \"a\"\nmodel_file = '"+write(t, "model.toml", model.String())+"'\n")
	jobs, err := plan.Jobs(3)
	if err != nil || len(jobs) != 100 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
	last := jobs[len(jobs)-1].Submit
	busy := opened(t, "load = 2\n[[site]]\nname = \"a\"\n[site.localsched]\ncpus = 8\n[[workload]]\nsite = \"a\"\njobs = 100\nmodel_file = '"+write(t, "model.toml", model.String())+"'\n")
	if jobs, err = busy.Jobs(3); err != nil || len(jobs) != 100 || jobs[99].Submit > last/2+1 {
		t.Errorf("at a load of 2: %d jobs until %v, at 1 until %v, %v", len(jobs), jobs[len(jobs)-1].Submit, last, err)
	}
	joined, err := plan.Join("mine=3072x1@375,model=M1")
	if err == nil {
		err = joined.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	jobs, err = joined.Jobs(3)
	if own := len(jobs) - 100; err != nil || own < 1 || jobs[len(jobs)-1].Submit > last+1000 {
		t.Errorf("joined, %d jobs of the model of classes until %v, those of the model of periods until %v, %v", own, jobs[len(jobs)-1].Submit, last, err)
	}
}

// TestFitTraceWarns of a model whose load is not the trace's.
func TestFitTraceWarns(t *testing.T) {
	t.Parallel()
	trace := everyMinute(t)
	for i := range trace.Records {
		trace.Records[i].ReqCPUs, trace.Records[i].CPUs = 1, 1
	}
	trace.Records[99].CPUs = 100
	o := experiment.FitOptions{Method: experiment.ByClasses, Machine: workload.Machine{Name: "mine", CPUsPerNode: 100, MHz: 1000}}
	f, err := experiment.FitTrace("minutes.swf", trace, o)
	if err != nil {
		t.Fatal(err)
	}
	if warning := f.Warning(); !strings.HasPrefix(warning, "minutes.swf: the load drawn from the model is ") || !strings.Contains(warning, "--method periods") {
		t.Errorf("the warning is %q", warning)
	}
}
