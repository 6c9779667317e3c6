package experiment_test

import (
	"errors"
	"fmt"
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
	o := experiment.FitOptions{Machine: workload.Machine{Name: "mine", CPUsPerNode: 4, MHz: 1000}}
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
		o := experiment.FitOptions{Machine: workload.Machine{Name: "mine", CPUsPerNode: 4, MHz: 1000}}
		change(&o)
		_, err := experiment.FitTrace("minutes.swf", everyMinute(t), o)
		if asked := new(experiment.OptionError); !errors.As(err, &asked) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	o := experiment.FitOptions{Skip: []int{1}, Machine: workload.Machine{Name: "mine", CPUsPerNode: 4, MHz: 1000}}
	if _, err := experiment.FitTrace("minutes.swf", everyMinute(t), o); err == nil || !strings.Contains(err.Error(), "there are no jobs to model") {
		t.Errorf("got %v", err)
	}
}
