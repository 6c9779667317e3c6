package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/schedule"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/config"
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
	cmd.Flags().StringVar(&f.path, "trace", "", "trace to read, may be compressed by gzip")
	choice(cmd, &f.format, "format", "", "format of the trace (default: by its name)", experiment.Formats()...)
	cmd.Flags().BoolVar(&f.lenient, "lenient", false, "skip and count malformed lines")
	cmd.Flags().BoolVar(&f.overruns, "keep-overruns", false, "do not end jobs at their requested time")
}

// read reads the trace and prints the counts of records that were corrected or skipped.
func (f *traceFlags) read(a *app) (*workload.Trace, error) {
	if f.path == "" {
		return nil, usage("missing --trace")
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
	if counts := trace.Report.String(); counts != "" {
		a.notice("%s: %s", console.Plain(f.path), console.Plain(counts))
	}
	return trace, nil
}

func (a *app) simScheduleCommand() *cobra.Command {
	s := simSchedule{app: a}
	cmd := &cobra.Command{
		Use:   "schedule --trace FILE --procs N",
		Short: "Schedule a trace on one machine with the batch engine alone",
		Long: "Schedule the jobs of a trace on one machine of N equal processors with the batch engine alone,\n" +
			"without peers or other sites. A job has its allocated processors or else the requested ones, and\n" +
			"its requested time is its estimate. Longer jobs end at their estimate, except with\n" +
			"--keep-overruns. With --tie pyss the starts are those of the simulator pyss to the second; with\n" +
			"batch there is one scheduling pass for all events of an instant.\n" +
			"--machine gives the machine nodes, or partitions as of a Blue Gene/P. With --power and a budget the\n" +
			"jobs are scheduled without the budget and within it. The comparison has the cost of energy, the\n" +
			"utilization, and the number of pairs of jobs that start in the opposite order.",
		Example: "  switchyard sim schedule --trace SDSC-SP2.swf.gz --procs 128 --policy easy\n" +
			"  switchyard sim schedule --trace mine.swf --procs 256 --policy sjffit --starts starts.csv --json\n" +
			"  switchyard sim schedule --trace ANL-Intrepid.swf.gz --machine bgp --power 20-33 --budget 50% \\\n" +
			"    --on-peak 09:00-23:00 --mode both --curves curves.csv",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.trace.addTo(cmd)
	cmd.Flags().IntVar(&s.machine.procs, "procs", 0, "processors of the machine (default: from the header of the trace)")
	choice(cmd, &s.policy, "policy", "easy", "policy of the queue", engine.Names()...)
	choice(cmd, &s.tie, "tie", string(sim.TiePyss), "order of events of one instant", string(sim.TiePyss), string(sim.TieBatch))
	cmd.Flags().StringVar(&s.starts, "starts", "", "write the start of each job in seconds to this CSV file; - is the output")
	cmd.Flags().BoolVar(&s.perfect, "perfect", false, "use the run times as estimates")
	s.machine.addTo(cmd)
	s.power.addTo(cmd)
	cmd.Flags().StringVar(&s.curves, "curves", "", "write the power and the CPUs of each hour to this CSV file; - is the output")
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
	if err = study.Run(); err != nil {
		return err
	}
	if err = s.app.writeAsked(s.starts, study.WriteStarts); err != nil {
		return err
	}
	if err = s.app.writeAsked(s.curves, study.WriteCurves); err != nil || whole {
		return err
	}
	if s.app.json {
		return s.app.printJSON(study.Shown())
	}
	return s.app.writeTables(study.Tables()...)
}

// study reads the trace, for the machine and the power that the flags describe.
func (s *simSchedule) study(plan *powerPlan) (*schedule.Study, error) {
	if _, err := engine.Named(s.policy); err != nil {
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
	cfg := schedule.Config{
		File: s.trace.path, Trace: trace, Perfect: s.perfect, Overrun: s.trace.overruns, Whole: s.machine.whole(),
		Larger: s.machine.larger(), Policy: s.policy, Tie: tie,
		Notice: func(format string, args ...any) { s.app.notice("%s", console.Plain(fmt.Sprintf(format, args...))) },
	}
	if cfg.Machine, err = s.machine.machine(trace); err != nil {
		return nil, err
	}
	if plan != nil {
		cfg.Power = &plan.Power
		if plan.Peak, err = plan.clock.Peak(trace.Header, plan.Ratio); err != nil {
			return nil, usage("%w", err)
		}
	}
	return schedule.New(cfg)
}
