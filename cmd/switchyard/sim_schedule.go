package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// simSchedule is one call of sim schedule.
type simSchedule struct {
	app     *app
	trace   traceFlags
	machine machineFlags
	power   powerFlags
	policy  string
	tie     string
	starts  string
	curves  string
	perfect bool
}

// traceFlags say which trace is read, and how.
type traceFlags struct {
	path     string
	format   string
	lenient  bool
	overruns bool
}

func (f *traceFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "trace", "", "the trace, packed by gzip or not")
	choice(cmd, &f.format, "format", "", "of the trace, if its name does not tell", experiment.Formats()...)
	cmd.Flags().BoolVar(&f.lenient, "lenient", false, "leave malformed lines out and count them")
	cmd.Flags().BoolVar(&f.overruns, "keep-overruns", false, "jobs that ran longer than they asked for are not cut there")
}

// read reads the trace and tells what is odd about it.
func (f *traceFlags) read(a *app) (*workload.Trace, error) {
	if f.path == "" {
		return nil, usage("name the trace with --trace")
	}
	if f.format != "" {
		if err := chosen("format", f.format, experiment.Formats()...); err != nil {
			return nil, err
		}
	}
	trace, err := experiment.ReadTrace(f.path, f.format, f.lenient)
	if err != nil {
		return nil, err
	}
	if odd := trace.Report.String(); odd != "" {
		a.notice("%s: %s", console.Plain(f.path), console.Plain(odd))
	}
	return trace, nil
}

func (a *app) simScheduleCommand() *cobra.Command {
	s := simSchedule{app: a}
	cmd := &cobra.Command{
		Use:   "schedule --trace FILE --procs N",
		Short: "Schedule a trace on one machine, with the batch engine alone",
		Long: "Schedule the jobs of a trace on one machine of N equal processors, with the batch engine alone:\n" +
			"no peer, no other site. Jobs have the processors that they were given, else those that they\n" +
			"asked for, and their estimate is what they asked for; those that ran longer are cut there but\n" +
			"with --keep-overruns. With --tie pyss the starts are those of the simulator pyss to the second;\n" +
			"with batch all that happens at one instant is one pass.\n" +
			"With --machine the machine has nodes, or partitions as Blue Gene/P. With --power and a budget the\n" +
			"jobs are scheduled twice, without the budget and within it, and both are compared: what the\n" +
			"energy costs, how full the machine is, and how many pairs of jobs start in another order.",
		Example: "  switchyard sim schedule --trace SDSC-SP2.swf.gz --procs 128 --policy easy\n" +
			"  switchyard sim schedule --trace mine.swf --procs 256 --policy sjffit --starts starts.csv --json\n" +
			"  switchyard sim schedule --trace ANL-Intrepid.swf.gz --machine bgp --power 20-33 --budget 50% \\\n" +
			"    --on-peak 09:00-23:00 --mode both --curves curves.csv",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.trace.addTo(cmd)
	cmd.Flags().IntVar(&s.machine.procs, "procs", 0, "processors of the machine (those that the trace's header tells)")
	choice(cmd, &s.policy, "policy", "easy", "which queued jobs start first", engine.Names()...)
	choice(cmd, &s.tie, "tie", string(sim.TiePyss), "order of what happens at one instant", string(sim.TiePyss), string(sim.TieBatch))
	cmd.Flags().StringVar(&s.starts, "starts", "", "write the start of each job in seconds, as CSV; - is the output")
	cmd.Flags().BoolVar(&s.perfect, "perfect", false, "estimates are the run times")
	s.machine.addTo(cmd)
	s.power.addTo(cmd)
	cmd.Flags().StringVar(&s.curves, "curves", "", "write the power and the CPUs of each hour, as CSV; - is the output")
	return a.query(cmd)
}

func (s *simSchedule) run(cmd *cobra.Command) error {
	whole, err := s.app.outputs([]string{s.trace.path}, output{"starts", s.starts}, output{"curves", s.curves})
	if err != nil {
		return err
	}
	if err = s.machine.check(cmd); err != nil {
		return err
	}
	plan, err := s.power.plan(cmd, s.machine.cpusPerNode(), s.machine.kind == config.Partitioned)
	if err != nil {
		return err
	}
	study, err := s.study(plan)
	if err != nil {
		return err
	}
	if err = study.run(); err != nil {
		return err
	}
	for _, file := range []struct {
		path  string
		write func(io.Writer) error
	}{{s.starts, study.writeStarts}, {s.curves, study.writeCurves}} {
		if file.path == "" {
			continue
		}
		if err = s.app.writeFile(file.path, file.write); err != nil {
			return err
		}
	}
	if whole {
		return nil
	}
	return s.show(study)
}

// study reads the trace, for the machine and the power that the flags describe.
func (s *simSchedule) study(plan *powerPlan) (*scheduleStudy, error) {
	policy, err := engine.Named(s.policy)
	if err != nil {
		return nil, usage("--policy: %w", err)
	}
	tie, err := sim.ParseTie(s.tie)
	if err != nil {
		return nil, usage("--tie: %w", err)
	}
	trace, err := s.trace.read(s.app)
	if err != nil {
		return nil, err
	}
	study := &scheduleStudy{simSchedule: s, log: trace, plan: plan, policy: policy, tie: tie}
	if study.machine, err = s.machine.machine(trace); err != nil {
		return nil, err
	}
	if study.model, err = study.machine.Model(); err != nil {
		return nil, err
	}
	var cleaning workload.Cleaning
	study.jobs, cleaning = workload.Clean(trace, workload.CleanOptions{Perfect: s.perfect, KeepOverruns: s.trace.overruns})
	if len(study.jobs) == 0 {
		return nil, errors.New(s.trace.path + ": there are no jobs: " + cleaning.String())
	}
	study.records = experiment.RecordsOf(s.trace.path, trace, cleaning)
	if !cleaning.AsIs() {
		s.app.notice("%s: %s", console.Plain(s.trace.path), cleaning)
	}
	if plan == nil {
		return study, nil
	}
	if study.peak, err = plan.peak(trace); err != nil {
		return nil, err
	}
	study.jobs, err = plan.draw(study.jobs)
	return study, err
}

func scheduleResult(jobs []workload.Job, starts []protocol.Instant) *sim.Result {
	result := &sim.Result{Placements: make([]sim.Placement, len(jobs))}
	for i, start := range starts {
		result.Placements[i] = sim.Placement{Site: -1}
		if start != sim.NeverStarts {
			result.Placements[i] = sim.Placement{Start: start, End: start.Add(jobs[i].Run)}
		}
	}
	return result
}

// writeSchedule writes a line for each job that starts, in the order of the trace.
func writeSchedule(w io.Writer, trace *workload.Trace, jobs []workload.Job, starts []protocol.Instant) error {
	out := bufio.NewWriterSize(w, 1<<16)
	line := []byte("job_id,start\n")
	for i := range jobs {
		if starts[i] == sim.NeverStarts {
			continue
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
		line = appendCell(line[:0], trace.JobName(jobs[i].ID))
		line = appendSeconds(append(line, ','), int64(starts[i]))
		line = append(line, '\n')
	}
	if _, err := out.Write(line); err != nil {
		return err
	}
	return out.Flush()
}

func (s *simSchedule) show(study *scheduleStudy) error {
	if s.app.json {
		return s.app.printJSON(study.json())
	}
	titles := []string{"POLICY", " JOBS", " WAIT", " RESPONSE", " DEVIATION", " SLOWDOWN", " UTIL", " MAKESPAN"}
	if study.allocates() {
		titles = append(titles, " ALLOCATED")
	}
	t := console.NewTable(titles...)
	for i := range study.runs {
		m := study.shown(i)
		row := []string{
			study.name(i), strconv.Itoa(m.Jobs), console.Seconds(m.MeanWait), console.Seconds(m.MeanResponse), console.Seconds(m.WaitDeviation),
			console.Decimals(m.BoundedSlowdown), console.Part(m.Utilisation), console.Seconds(m.Makespan),
		}
		if study.allocates() {
			row = append(row, console.Part(*m.Allocated))
		}
		t.Add(row...)
	}
	if err := t.Write(s.app.stdout, "", true); err != nil || study.plan == nil {
		return err
	}
	s.app.printf("\n")
	t = console.NewTable("POLICY", " BUDGET", " MEAN POWER", " ENERGY", " COST", " SAVING", " RAW SAVING", " INVERSE PAIRS")
	for i := range study.runs {
		m := study.shown(i)
		t.Add(study.name(i), study.limitText(i), fmt.Sprintf("%.1f kW", m.MeanPower), console.Decimals(m.MWh)+" MWh", console.Decimals(m.Cost),
			study.against(i, console.Part(m.Saving)), study.against(i, console.Part(m.RawSaving)), study.against(i, strconv.FormatInt(m.Inverse, 10)))
	}
	return t.Write(s.app.stdout, "", true)
}
