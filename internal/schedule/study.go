package schedule

import (
	"errors"
	"io"
	"math"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config says what is scheduled, and how.
type Config struct {
	File    string // of the trace, for messages
	Trace   *workload.Trace
	Perfect bool // estimates are the run times
	Overrun bool // jobs that ran longer than they asked for are not cut there

	Machine sim.Machine
	Whole   bool   // jobs may hold CPUs that they have not asked for
	Larger  string // what a message says that makes more jobs fit the machine
	Policy  string
	Tie     sim.Tie
	Power   *Power // nil: nothing is said of power

	Notice func(format string, args ...any) // tells people what they should know
}

// Power says what jobs draw and may draw.
type Power struct {
	Jobs   workload.PowerRange // that the jobs' powers are drawn from, in any unit
	Seed   uint64              // of these draws
	Rates  power.Rates
	Limit  int64 // budget in mW; 0: none
	Share  int64 // the same in millionths of the mean; 0: none
	Modes  []engine.Mode
	Window int
	Bound  protocol.Duration
	Ratio  protocol.Micro  // what energy costs on-peak; off-peak it costs 1
	Peak   experiment.Peak // when it is on-peak, on the trace's clock
}

// Check says what is wrong with how a budget would be kept.
func (p *Power) Check() error { return p.budget(power.Signal{}, "").Check() }

// budgeted says whether there is a budget.
func (p *Power) budgeted() bool { return p.Limit > 0 || p.Share > 0 }

// most is the budget in milliwatts, when jobs draw so much on average without one.
func (p *Power) most(mean int64) int64 {
	if p.Limit > 0 {
		return p.Limit
	}
	return int64(math.Round(float64(mean) * float64(p.Share) / protocol.PPM))
}

func (p *Power) budget(signal power.Signal, mode engine.Mode) engine.Budget {
	return engine.Budget{Signal: signal, Rates: p.Rates, Mode: mode, Window: p.Window, Bound: p.Bound}
}

// Study is a trace that is scheduled without a power budget and, if there is one, within it.
type Study struct {
	Config

	jobs    []workload.Job
	records experiment.Records
	model   engine.Machine
	policy  engine.Policy
	limit   int64 // mW
	powered sim.Powered
	runs    []run // without the budget first
}

// run is one schedule.
type run struct {
	mode   engine.Mode // empty: without a budget
	starts []protocol.Instant
	uses   []sim.Use // what jobs hold and draw
}

// New cleans the trace, and draws the powers of its jobs.
func New(cfg Config) (*Study, error) {
	s := &Study{Config: cfg}
	var err error
	if s.policy, err = engine.Named(s.Policy); err != nil {
		return nil, err
	}
	if s.model, err = s.Machine.Model(); err != nil {
		return nil, err
	}
	var cleaning workload.Cleaning
	s.jobs, cleaning = workload.Clean(s.Trace, workload.CleanOptions{Perfect: s.Perfect, KeepOverruns: s.Overrun})
	if len(s.jobs) == 0 {
		return nil, errors.New(s.File + ": there are no jobs: " + cleaning.String())
	}
	s.records = experiment.RecordsOf(s.File, s.Trace, cleaning)
	if !cleaning.AsIs() {
		s.Notice("%s: %s", s.File, cleaning)
	}
	if p := s.Power; p != nil && p.Jobs.Low != p.Jobs.High {
		s.jobs, err = workload.DrawPower(s.jobs, p.Jobs, p.Seed)
	}
	return s, err
}

// horizon is how long after the last submission periods and prices are worked out. What is
// later has no budget, and costs the mean.
const horizon = 2 * 365 * protocol.Day

// Run makes the schedules.
func (s *Study) Run() error {
	s.powered = sim.Powered{Jobs: s.jobs, Machine: s.model}
	until := s.jobs[len(s.jobs)-1].Submit.Add(horizon)
	p := s.Power
	if p != nil {
		s.powered.Rates, s.powered.Paid = p.Rates, p.Peak.Meter(p.Ratio, until)
	}
	if err := s.schedule("", s.policy); err != nil || p == nil || !p.budgeted() {
		return err
	}
	s.limit = p.most(s.powered.Mean(s.runs[0].uses))
	signal := p.Peak.Signal(s.limit, until)
	for _, mode := range p.Modes {
		if err := s.schedule(mode, engine.Within(p.budget(signal, mode), s.policy)); err != nil {
			return err
		}
	}
	return nil
}

// schedule makes one, and tells which jobs never run in it.
func (s *Study) schedule(mode engine.Mode, policy engine.Policy) error {
	starts, misfits, err := sim.Schedule(s.jobs, s.model, policy, s.Tie)
	if err != nil {
		return err
	}
	s.runs = append(s.runs, run{mode: mode, starts: starts, uses: s.powered.Uses(starts)})
	if len(misfits) == 0 || mode != "" && len(misfits) == s.misfits() {
		return nil
	}
	machine, remedy := "on this machine", s.Larger
	if mode != "" {
		machine, remedy = "within the budget", "give a larger budget, or one that does not always hold"
	}
	s.Notice("%s cannot run %s, the first is job %s, which %s", protocol.Count(len(misfits), "job"), machine,
		s.Trace.JobName(s.jobs[misfits[0].Index].ID), misfits[0].Reason)
	if len(misfits) == len(s.jobs) {
		return errors.New(s.File + ": no job ran; " + remedy)
	}
	return nil
}

// misfits is how many jobs do not fit the machine.
func (s *Study) misfits() (n int) {
	for _, start := range s.runs[0].starts {
		if start == sim.NeverStarts {
			n++
		}
	}
	return n
}

// main is the run that was asked for: the first within the budget.
func (s *Study) main() int { return min(1, len(s.runs)-1) }

// name is what people call a run.
func (s *Study) name(i int) string {
	if s.runs[i].mode == "" {
		return s.Policy
	}
	return s.Policy + " " + string(s.runs[i].mode)
}

// against is what compares a run with the first, which is not compared.
func (s *Study) against(i int, text string) string {
	if i == 0 {
		return "-"
	}
	return text
}

func (s *Study) limitText(i int) string { return s.against(i, console.Kilowatts(s.limit)) }

// Shown is a schedule as it is printed in JSON, with those that it is compared with.
type Shown struct {
	sim.Metrics

	*Powered

	Records []experiment.Records `json:"records,omitempty"`
	Compare []Shown              `json:"compare,omitempty"`
}

// Powered is what there is of a run besides when jobs have power.
type Powered struct {
	Mode   engine.Mode `json:"mode"` // "none" without a budget
	Budget float64     `json:"budget_kw,omitempty"`
	sim.PowerMetrics
}

// shown is one of the runs.
func (s *Study) shown(i int) Shown {
	r := &s.runs[i]
	shown := Shown{Metrics: sim.Measure([]sim.Machine{s.Machine}, s.jobs, sim.Placed(s.jobs, r.starts))}
	shown.Sites = nil
	if s.Power == nil {
		return shown
	}
	shown.Powered = &Powered{Mode: r.mode, PowerMetrics: s.powered.Measure(s.runs[0].uses, r.uses)}
	if r.mode == "" {
		shown.Mode = "none"
	} else {
		shown.Budget = float64(s.limit) / 1e6
	}
	return shown
}

// Shown is the run that was asked for, with the others beside it.
func (s *Study) Shown() *Shown {
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

// WriteStarts writes a line for each job that starts in the run that was asked for, in the
// order of the trace.
func (s *Study) WriteStarts(w io.Writer) error {
	out := report.NewCSV(w, "job_id", "start")
	for i, start := range s.runs[s.main()].starts {
		if start == sim.NeverStarts {
			continue
		}
		out.Text(s.Trace.JobName(s.jobs[i].ID))
		out.Seconds(int64(start))
		out.End()
	}
	return out.Flush()
}

// WriteCurves writes a line for each hour of each run: its beginning on the trace's clock in
// seconds, the mean power of the jobs, and the part of the machine that they hold and use.
func (s *Study) WriteCurves(w io.Writer) error {
	out := report.NewCSV(w, "policy", "start", "power_kw", "allocated", "used")
	cpus := float64(s.Machine.CPUs())
	for i := range s.runs {
		uses := s.runs[i].uses
		last := protocol.Instant(0)
		for _, use := range uses {
			last = max(last, use.End)
		}
		used := sim.Curve(s.powered.Used(uses), 0, last, protocol.Hour)
		for k, bin := range sim.Curve(uses, 0, last, protocol.Hour) {
			out.Text(s.name(i))
			out.Seconds(int64(bin.Start))
			out.Number(bin.Draw/1e6, 3)
			out.Number(bin.CPUs/cpus, 6)
			out.Number(used[k].CPUs/cpus, 6)
			out.End()
		}
	}
	return out.Flush()
}
