package main

import (
	"bufio"
	"errors"
	"io"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// scheduleStudy is a trace that is scheduled without a power budget and, if there is one,
// within it.
type scheduleStudy struct {
	*simSchedule

	log     *workload.Trace // that the jobs are of
	jobs    []workload.Job
	records experiment.Records
	machine sim.Machine
	model   engine.Machine
	policy  engine.Policy
	tie     sim.Tie

	plan    *powerPlan      // nil: nothing is said of power
	peak    experiment.Peak // of the plan
	limit   int64           // mW
	powered sim.Powered
	runs    []scheduleRun // without the budget first
}

// scheduleRun is one schedule.
type scheduleRun struct {
	mode   engine.Mode // empty: without a budget
	starts []protocol.Instant
	uses   []sim.Use // what jobs hold and draw
}

// horizon is how long after the last submission periods and prices are worked out. What is
// later has no budget, and costs the mean.
const horizon = 2 * 365 * protocol.Day

// run makes the schedules.
func (s *scheduleStudy) run() error {
	s.powered = sim.Powered{Jobs: s.jobs, Machine: s.model}
	until := s.jobs[len(s.jobs)-1].Submit.Add(horizon)
	if s.plan != nil {
		s.powered.Rates, s.powered.Paid = s.plan.rates, s.peak.Meter(s.plan.ratio, until)
	}
	if err := s.schedule("", s.policy); err != nil || s.plan == nil || !s.plan.budgeted() {
		return err
	}
	s.limit = s.plan.most(s.powered.Mean(s.runs[0].uses))
	signal := s.peak.Signal(s.limit, until)
	for _, mode := range s.plan.modes {
		if err := s.schedule(mode, engine.Within(s.plan.budget(signal, mode), s.policy)); err != nil {
			return err
		}
	}
	return nil
}

// schedule makes one, and tells which jobs never run in it.
func (s *scheduleStudy) schedule(mode engine.Mode, policy engine.Policy) error {
	starts, misfits, err := sim.Schedule(s.jobs, s.model, policy, s.tie)
	if err != nil {
		return err
	}
	s.runs = append(s.runs, scheduleRun{mode: mode, starts: starts, uses: s.powered.Uses(starts)})
	if len(misfits) == 0 || mode != "" && len(misfits) == s.misfits() {
		return nil
	}
	machine, remedy := "on this machine", "name a larger machine with --procs"
	switch {
	case mode != "":
		machine, remedy = "within the budget", "give a larger budget, or one that does not always hold"
	case s.simSchedule.machine.kind == config.Partitioned:
		remedy = "name larger partitions with --partitions"
	}
	s.app.notice("%s cannot run %s, the first is job %s, which %s", protocol.Count(len(misfits), "job"), machine,
		console.Plain(s.log.JobName(s.jobs[misfits[0].Index].ID)), misfits[0].Reason)
	if len(misfits) == len(s.jobs) {
		return errors.New(s.trace.path + ": no job ran; " + remedy)
	}
	return nil
}

// misfits is how many jobs do not fit the machine.
func (s *scheduleStudy) misfits() (n int) {
	for _, start := range s.runs[0].starts {
		if start == sim.NeverStarts {
			n++
		}
	}
	return n
}

// main is the run that was asked for: the first within the budget.
func (s *scheduleStudy) main() int { return min(1, len(s.runs)-1) }

// allocates says whether jobs may hold more than they use.
func (s *scheduleStudy) allocates() bool { return s.simSchedule.machine.whole() }

// name is what people call a run.
func (s *scheduleStudy) name(i int) string {
	if s.runs[i].mode == "" {
		return s.simSchedule.policy
	}
	return s.simSchedule.policy + " " + string(s.runs[i].mode)
}

// against is what compares a run with the first, which is not compared.
func (s *scheduleStudy) against(i int, text string) string {
	if i == 0 {
		return "-"
	}
	return text
}

func (s *scheduleStudy) limitText(i int) string { return s.against(i, console.Kilowatts(s.limit)) }

// scheduleJSON is what sim schedule prints as JSON.
type scheduleJSON struct {
	sim.Metrics

	Allocated *float64 `json:"utilisation_allocated,omitempty"`
	*powerJSON

	Records []experiment.Records `json:"records,omitempty"`
	Compare []scheduleJSON       `json:"compare,omitempty"`
}

// powerJSON is what there is of a run besides when jobs have power.
type powerJSON struct {
	Mode   engine.Mode `json:"mode"` // "none" without a budget
	Budget float64     `json:"budget_kw,omitempty"`
	sim.PowerMetrics
}

// shown is one of the runs.
func (s *scheduleStudy) shown(i int) scheduleJSON {
	r := &s.runs[i]
	shown := scheduleJSON{Metrics: sim.Measure([]sim.Machine{s.machine}, s.jobs, scheduleResult(s.jobs, r.starts))}
	shown.Sites = nil
	if s.allocates() {
		allocated := s.powered.Allocated(r.uses)
		shown.Allocated = &allocated
	}
	if s.plan == nil {
		return shown
	}
	shown.powerJSON = &powerJSON{Mode: r.mode, PowerMetrics: s.powered.Measure(s.runs[0].uses, r.uses)}
	if r.mode == "" {
		shown.Mode = "none"
	} else {
		shown.Budget = float64(s.limit) / 1e6
	}
	return shown
}

// json is the run that was asked for, with the others beside it.
func (s *scheduleStudy) json() *scheduleJSON {
	main := s.main()
	shown := s.shown(main)
	shown.Records = []experiment.Records{s.records}
	for i := range s.runs {
		if i != main {
			shown.Compare = append(shown.Compare, s.shown(i))
		}
	}
	return &shown
}

func (s *scheduleStudy) writeStarts(w io.Writer) error {
	return writeSchedule(w, s.log, s.jobs, s.runs[s.main()].starts)
}

// writeCurves writes a line for each hour of each run: its beginning on the trace's clock in
// seconds, the mean power of the jobs, and the part of the machine that they hold and use.
func (s *scheduleStudy) writeCurves(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	line := []byte("policy,start,power_kw,allocated,used\n")
	for i := range s.runs {
		uses := s.runs[i].uses
		last := protocol.Instant(0)
		for _, use := range uses {
			last = max(last, use.End)
		}
		held := sim.Curve(uses, 0, last, protocol.Hour)
		used := sim.Curve(s.powered.Used(uses), 0, last, protocol.Hour)
		for k, bin := range held {
			if _, err := out.Write(line); err != nil {
				return err
			}
			cpus := float64(s.machine.CPUs())
			line = append(append(line[:0], s.name(i)...), ',')
			line = appendSeconds(line, int64(bin.Start))
			line = strconv.AppendFloat(append(line, ','), bin.Draw/1e6, 'f', 3, 64)
			line = strconv.AppendFloat(append(line, ','), bin.CPUs/cpus, 'f', 6, 64)
			line = strconv.AppendFloat(append(line, ','), used[k].CPUs/cpus, 'f', 6, 64)
			line = append(line, '\n')
		}
	}
	if _, err := out.Write(line); err != nil {
		return err
	}
	return out.Flush()
}
