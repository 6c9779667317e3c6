package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/schedule"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fourJobs is an hour's work for each of four CPUs, and a job that no machine of them fits.
func fourJobs(t *testing.T) schedule.Config {
	t.Helper()
	var text strings.Builder
	for i, cpus := range []int{1, 1, 1, 1, 8} {
		fmt.Fprintf(&text, "%d %d -1 3600 %d -1 -1 -1 3600 -1 1 1 1 1 1 1 -1 -1\n", i+1, i, cpus)
	}
	trace, err := workload.ReadSWF(strings.NewReader(text.String()), workload.ReadOptions{Name: "four"})
	if err != nil {
		t.Fatal(err)
	}
	return schedule.Config{
		File: "four", Trace: trace, Machine: sim.Machine{Name: "machine", Nodes: 4, CPUsPerNode: 1},
		Larger: "take a larger machine", Policy: "easy", Tie: sim.TieBatch, Notice: t.Logf,
	}
}

// Within half of what the jobs draw, two of them run at once, and the text says what that saves.
func TestWithinABudget(t *testing.T) {
	t.Parallel()
	cfg := fourJobs(t)
	hours, err := budget.ParseHours("00:00-01:00")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Power = &schedule.Power{
		Jobs: workload.PowerRange{Low: 1, High: 1}, Rates: power.Rates{Busy: 1_000_000}, Limit: 2000,
		Modes: engine.Modes(), Window: engine.DefaultWindow, Ratio: 3 * protocol.Unit,
		Peak: experiment.Peak{Hours: hours, Zone: time.UTC},
	}
	var reported []string
	cfg.Notice = func(format string, args ...any) { reported = append(reported, fmt.Sprintf(format, args...)) }
	study, err := schedule.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err = study.Run(); err != nil {
		t.Fatal(err)
	}
	if len(reported) != 1 || !strings.HasPrefix(reported[0], "1 job cannot run on this machine, the first is job 5, which ") {
		t.Errorf("told %q", reported)
	}
	got := study.Shown()
	if len(got.Compare) != 2 || got.Jobs != 4 || got.Saving <= 0 || got.Budget != 0.002 {
		t.Errorf("got %+v", got)
	}
	var starts, curves strings.Builder
	if err = study.WriteStarts(&starts); err != nil || starts.String() != "job_id,start\n1,0\n2,1\n3,3600\n4,3600\n" {
		t.Errorf("%v, %s", err, starts.String())
	}
	if err = study.WriteCurves(&curves); err != nil || !strings.Contains(curves.String(), "easy window,0,0.002,0.4") {
		t.Errorf("%v, %s", err, curves.String())
	}
	if tables := study.Tables(); len(tables) != 2 || len(tables[1].Rows) != 3 || tables[1].Rows[0][5] != "-" {
		t.Errorf("got %+v", tables)
	}
}

func TestNothingRuns(t *testing.T) {
	t.Parallel()
	cfg := fourJobs(t)
	cfg.Trace.Records = cfg.Trace.Records[4:]
	study, err := schedule.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err = study.Run(); err == nil || err.Error() != "four: no job ran; take a larger machine" {
		t.Errorf("got %v", err)
	}
	cfg.Trace.Records = nil
	if _, err = schedule.New(cfg); err == nil || !strings.Contains(err.Error(), "four: there are no jobs") {
		t.Errorf("got %v", err)
	}
}

func TestReadRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rates schedule.Rates
		want  schedule.Power
		wrong string
	}{
		{schedule.Rates{Text: "20-33", Idle: "13", CPUs: 4096}, schedule.Power{
			Jobs: workload.PowerRange{Low: 20_000, High: 33_000}, Rates: power.Rates{Busy: 8_056_640, Idle: 3_173_828},
		}, ""},
		{schedule.Rates{Text: "25.5", Idle: "0", CPUs: 1}, schedule.Power{
			Jobs: workload.PowerRange{Low: 25_500, High: 25_500}, Rates: power.Rates{Busy: 25_500_000},
		}, ""},
		{schedule.Rates{Name: "power", Text: "33-20", Idle: "13", CPUs: 4096}, schedule.Power{}, "--power 33-20: a range begins above 0"},
		{schedule.Rates{Name: "power", Text: "x", Idle: "13", CPUs: 4096}, schedule.Power{}, "--power x: write a number as 25.5"},
		{schedule.Rates{Name: "power", Text: "25.5005", Idle: "13", CPUs: 4096}, schedule.Power{}, "--power 25.5005: write a number as 25.5"},
		{schedule.Rates{Name: "power", Text: "0x20", Idle: "13", CPUs: 4096}, schedule.Power{}, "--power 0x20: write a number as 25.5"},
		{schedule.Rates{Name: "power", Text: "12", IdleName: "idle-power", Idle: "13", CPUs: 4096}, schedule.Power{}, "--idle-power 13: what is held idle"},
	} {
		var got schedule.Power
		err := got.ReadRates(c.rates)
		if got.Jobs != c.want.Jobs || got.Rates != c.want.Rates || (err == nil) != (c.wrong == "") || err != nil && !strings.HasPrefix(err.Error(), c.wrong) {
			t.Errorf("%+v: %+v, %v", c.rates, got, err)
		}
	}
}
