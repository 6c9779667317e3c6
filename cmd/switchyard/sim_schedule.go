package main

import (
	"bufio"
	"errors"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// simSchedule is one call of sim schedule.
type simSchedule struct {
	app     *app
	trace   traceFlags
	procs   int
	sized   bool // procs was given
	policy  string
	tie     string
	starts  string
	perfect bool
}

// traceFlags say which trace is read, and how.
type traceFlags struct {
	path    string
	format  string
	lenient bool
}

func (f *traceFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "trace", "", "the trace, packed by gzip or not")
	choice(cmd, &f.format, "format", "", "of the trace, if its name does not tell", experiment.Formats()...)
	cmd.Flags().BoolVar(&f.lenient, "lenient", false, "leave malformed lines out and count them")
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
		a.notice("%s: %s", plain(f.path), plain(odd))
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
			"asked for, and their estimate is what they asked for. With --tie pyss the starts are those of\n" +
			"the simulator pyss to the second; with batch all that happens at one instant is one pass.",
		Example: "  switchyard sim schedule --trace SDSC-SP2.swf.gz --procs 128 --policy easy\n" +
			"  switchyard sim schedule --trace mine.swf --procs 256 --policy sjffit --starts starts.csv --json",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.sized = cmd.Flags().Changed("procs")
			return s.run()
		},
	}
	s.trace.addTo(cmd)
	cmd.Flags().IntVar(&s.procs, "procs", 0, "processors of the machine (those that the trace's header tells)")
	choice(cmd, &s.policy, "policy", "easy", "which queued jobs start first", engine.Names()...)
	choice(cmd, &s.tie, "tie", string(sim.TiePyss), "order of what happens at one instant", string(sim.TiePyss), string(sim.TieBatch))
	cmd.Flags().StringVar(&s.starts, "starts", "", "write the start of each job in seconds, as CSV; - is the output")
	cmd.Flags().BoolVar(&s.perfect, "perfect", false, "estimates are the run times")
	return a.query(cmd)
}

func (s *simSchedule) run() error {
	whole, err := s.app.outputs([]string{s.trace.path}, output{"starts", s.starts})
	if err != nil {
		return err
	}
	policy, err := engine.Named(s.policy)
	if err != nil {
		return usage("--policy: %w", err)
	}
	tie, err := sim.ParseTie(s.tie)
	if err != nil {
		return usage("--tie: %w", err)
	}
	trace, err := s.trace.read(s.app)
	if err != nil {
		return err
	}
	machine, err := s.machine(trace)
	if err != nil {
		return err
	}
	jobs, cleaning := workload.Clean(trace, workload.CleanOptions{Perfect: s.perfect})
	if len(jobs) == 0 {
		return errors.New(s.trace.path + ": there are no jobs: " + cleaning.String())
	}
	starts, misfits, err := sim.Schedule(jobs, machine.Model(), policy, tie)
	if err != nil {
		return err
	}
	s.tell(jobs, cleaning, misfits)
	if len(misfits) == len(jobs) {
		return errors.New(s.trace.path + ": no job ran; name a larger machine with --procs")
	}
	if s.starts != "" {
		err = s.app.writeFile(s.starts, func(w io.Writer) error { return writeSchedule(w, jobs, starts) })
		if err != nil || whole {
			return err
		}
	}
	shown := scheduleJSON{
		Metrics: sim.Measure([]sim.Machine{machine}, jobs, scheduleResult(jobs, starts)),
		Records: []experiment.Records{experiment.RecordsOf(s.trace.path, trace, cleaning)},
	}
	return s.show(&shown)
}

// scheduleJSON is what sim schedule prints as JSON.
type scheduleJSON struct {
	sim.Metrics

	Records []experiment.Records `json:"records"`
}

// machine is one pool of processors.
func (s *simSchedule) machine(trace *workload.Trace) (sim.Machine, error) {
	procs := s.procs
	if !s.sized {
		procs, _ = trace.Header.CPUs()
	}
	if procs < 1 {
		return sim.Machine{}, usage("say with --procs how many processors the machine has, at least 1")
	}
	return sim.Machine{Name: "machine", Nodes: procs, CPUsPerNode: 1}, nil
}

// tell says what is not as the trace has it.
func (s *simSchedule) tell(jobs []workload.Job, cleaning workload.Cleaning, misfits []sim.Misfit) {
	if !cleaning.AsIs() {
		s.app.notice("%s: %s", plain(s.trace.path), cleaning)
	}
	if len(misfits) > 0 {
		s.app.notice("%s cannot run on this machine, the first is job %d, which %s", count(len(misfits), "job"),
			jobs[misfits[0].Index].ID, misfits[0].Reason)
	}
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
func writeSchedule(w io.Writer, jobs []workload.Job, starts []protocol.Instant) error {
	out := bufio.NewWriterSize(w, 1<<16)
	line := []byte("job_id,start\n")
	for i := range jobs {
		if starts[i] == sim.NeverStarts {
			continue
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
		line = strconv.AppendInt(line[:0], jobs[i].ID, 10)
		line = appendSeconds(append(line, ','), int64(starts[i]))
		line = append(line, '\n')
	}
	if _, err := out.Write(line); err != nil {
		return err
	}
	return out.Flush()
}

func (s *simSchedule) show(m *scheduleJSON) error {
	if s.app.json {
		m.Sites = nil
		return s.app.printJSON(m)
	}
	t := newTable("POLICY", " JOBS", " WAIT", " RESPONSE", " DEVIATION", " SLOWDOWN", " UTIL", " MAKESPAN")
	t.add(s.policy, strconv.Itoa(m.Jobs), seconds(m.MeanWait), seconds(m.MeanResponse), seconds(m.WaitDeviation),
		decimals(m.BoundedSlowdown), part(m.Utilisation), seconds(m.Makespan))
	return t.write(s.app.stdout, "", true)
}
