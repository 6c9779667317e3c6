package reproduce

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/parallel"
	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// log is a trace whose waits are known.
type log struct {
	name, file string
	cpus       int
	jobs       float64 // of the paper's Table III; 0: it has another
}

func logs() []log {
	return []log{
		{"CEA Curie", "CEA-Curie-2011-2.1-cln.swf.gz", 93_312, 266_099},
		{"SDSC Paragon", "SDSC-Par-1996-3.1-cln.swf.gz", 400, 32_199},
		{"SDSC Blue Horizon", "SDSC-BLUE-2000-4.2-cln.swf.gz", 1152, 0},
	}
}

// warm is how many jobs of a log are learned from before any is scored.
const warm = 1000

// study of one log: the recorded waits, and those of the same jobs under EASY.
type logStudy struct {
	months             float64
	recorded, replayed []wait.Score
}

// waits is [MC] Table III and Figure 2.
func waits() Exhibit {
	return Exhibit{
		Name: "table3", Also: []string{"fig2"}, Title: "how well waits are predicted", Paper: "[MC] Table III, Figure 2 and section 5.1.1",
		build: func(ctx context.Context, s *study, r *Report) error {
			studies, err := s.studyLogs(ctx, logs())
			if err != nil {
				return err
			}
			r.Notes = append(r.Notes,
				"Recorded: the waits of the log, whose local policy is unknown, so that there is no plan. Again: the same jobs simulated under",
				"EASY, where the plan of the engine is a predictor too. PPE is 100 × |error| ÷ max(response, 10 s). The paper's DAS-2 is not to be had.",
				"Baselines: zero answers 0, last the wait of the job that started last, median100 the median of the last 100, mean that of all.",
				"The paper: errors below one hour for 88 to 98 % of the jobs; 22 % less AAE and 56 % less PPE than QBETS and IBL.")
			r.Tables = append(r.Tables, logTable(logs(), studies))
			for i, l := range logs() {
				r.Tables = append(r.Tables,
					scoreTable(l.name+", recorded", studies[i].recorded), rangeTable(l.name+", recorded: AAE by response (Figure 2)", studies[i].recorded),
					scoreTable(l.name+", again under EASY", studies[i].replayed))
			}
			return nil
		},
	}
}

func (s *study) studyLogs(ctx context.Context, all []log) ([]logStudy, error) {
	studies := make([]logStudy, len(all))
	err := parallel.Each(ctx, s.options.Crew(), len(all), func(_ context.Context, i int) (err error) {
		studies[i], err = s.studyLog(all[i])
		return err
	})
	return studies, err
}

func (s *study) studyLog(l log) (logStudy, error) {
	trace, err := s.data.trace(l.file)
	if err != nil {
		return logStudy{}, err
	}
	if n := s.options.Jobs; n > 0 && n < len(trace.Records) {
		trace.Records = trace.Records[:n]
	}
	past, _ := wait.PastOf(trace, wait.PastOptions{})
	rivals, err := predictors()
	if err != nil {
		return logStudy{}, err
	}
	first := min(warm, len(past)/4)
	var out logStudy
	if out.recorded, err = wait.Evaluate(past, wait.EvaluateOptions{CPUs: l.cpus, Warm: first}, rivals...); err != nil {
		return logStudy{}, fmt.Errorf("%s: %w", l.file, err)
	}
	out.months = float64(past[len(past)-1].Submit-past[0].Submit) / float64(protocol.Day) / 30.4
	if past, err = again(trace, l.cpus); err != nil {
		return logStudy{}, fmt.Errorf("%s: %w", l.file, err)
	}
	if rivals, err = predictors(); err != nil {
		return logStudy{}, err
	}
	rivals = append([]wait.Predictor{newPlanner(l.cpus)}, rivals...)
	out.replayed, err = wait.Evaluate(past, wait.EvaluateOptions{CPUs: l.cpus, Warm: first}, rivals...)
	return out, err
}

func predictors() ([]wait.Predictor, error) {
	adaptive, err := wait.NewAdaptive(wait.DefaultParams())
	if err != nil {
		return nil, err
	}
	bounds, err := wait.NewQBETS(wait.DefaultBoundParams())
	if err != nil {
		return nil, err
	}
	instances, err := wait.NewIBL(wait.DefaultLearningParams())
	if err != nil {
		return nil, err
	}
	return append([]wait.Predictor{adaptive, bounds, instances}, wait.Baselines(recent)...), nil
}

// recent is how many starts of each magnitude the intervals of the baselines and of the plan
// are calibrated with.
const recent = 1000

// machineOf is one whose CPUs are allotted singly.
func machineOf(cpus int) engine.Machine {
	return engine.Of(protocol.Capacity{CPUs: cpus, Nodes: cpus})
}

// again has the jobs of a trace scheduled under EASY. A log without estimates has the
// run times for these.
func again(trace *workload.Trace, cpus int) ([]wait.Past, error) {
	jobs, _ := workload.Clean(trace, workload.CleanOptions{ZeroRuns: true})
	easy, err := engine.Named("easy")
	if err != nil {
		return nil, err
	}
	starts, _, err := sim.Schedule(jobs, machineOf(cpus), easy, sim.TieBatch)
	if err != nil {
		return nil, err
	}
	past := make([]wait.Past, 0, len(jobs))
	for i, job := range jobs {
		if starts[i] == sim.NeverStarts {
			continue
		}
		past = append(past, wait.Past{
			Job:    wait.Job{ID: int64(len(past)) + 1, User: job.User, CPUs: job.CPUs, Estimate: job.Estimate},
			Submit: job.Submit, Wait: starts[i].Sub(job.Submit), Run: job.Run,
		})
	}
	return past, nil
}

// planner is the predictor that a batch system with estimates has in itself: an engine
// that sees the same jobs.
type planner struct {
	engine    *engine.Engine
	around    *wait.Plan
	predicted map[int64]protocol.Duration
}

func newPlanner(cpus int) *planner {
	return &planner{
		engine: engine.New(machineOf(cpus), engine.EASY()), around: wait.NewPlan(recent), predicted: map[int64]protocol.Duration{},
	}
}

// Name implements [wait.Predictor].
func (p *planner) Name() string { return "plan" }

// Predict implements [wait.Predictor].
func (p *planner) Predict(a wait.Arrival) wait.Prediction {
	planned := p.engine.Plan(a.At, nil, []protocol.Request{requestOf(a.Job)})[0]
	if planned.Declined != "" {
		return p.around.Around(0)
	}
	p.predicted[a.Job.ID] = max(0, planned.Start.Sub(a.At))
	return p.around.Around(p.predicted[a.Job.ID])
}

func requestOf(job wait.Job) protocol.Request {
	return protocol.Request{Job: protocol.JobID(job.ID), CPUs: job.CPUs, WallTime: job.Estimate} //nolint:gosec // counts from 1
}

// Observe implements [wait.Predictor]. Where several things happen at one instant the
// engine may have started another job than the schedule; a job that ends without having
// started is taken out of its queue.
func (p *planner) Observe(e wait.Event) {
	job := e.Arrival.Job
	tag := protocol.Tag{Job: protocol.JobID(job.ID)} //nolint:gosec // counts from 1
	switch e.Kind {
	case wait.Submitted:
		_, _ = p.engine.Submit(e.At, localsched.Queued{Request: requestOf(job), Tag: tag}) // what does not fit is declined again
	case wait.Started:
		p.around.Learn(p.predicted[job.ID], e.Wait)
		delete(p.predicted, job.ID)
	case wait.Ended, wait.Withdrawn:
		if _, err := p.engine.Finished(e.At, tag); err != nil {
			_, _ = p.engine.Withdraw(e.At, tag) // one of the two holds
		}
	}
}

func logTable(all []log, studies []logStudy) Table {
	t := Table{Title: "Table III: the logs", Stub: "log", Columns: []Column{{"months", "months", "", 1}, {"jobs", "jobs scored", "", 0}}}
	for i, l := range all {
		t.Rows = append(t.Rows, Row{l.name, []Cell{
			Ours(studies[i].months), Ours(float64(studies[i].recorded[0].Jobs)).besideKnown(l.jobs, l.jobs > 0),
		}})
	}
	return t
}

func scoreTable(title string, scores []wait.Score) Table {
	t := Table{Title: title, Stub: "predictor", Columns: []Column{
		{"aae_min", "AAE", "min", 1},
		{"median_min", "median error", "min", 1},
		{"under_15_min_pct", "< 15 min", "%", 1},
		{"under_1_h_pct", "< 1 h", "%", 1},
		{"ppe_pct", "PPE", "%", 0},
		{"p10_p90_pct", "within P10 to P90", "%", 1},
		{"bound_pct", "within the bound, nominal 95 %", "%", 1},
	}}
	for i := range scores {
		s := &scores[i]
		t.Rows = append(t.Rows, Row{s.Predictor, []Cell{
			Ours(minutes(s.MeanError)), Ours(minutes(s.MedianError)), Ours(100 * s.Under15Min), Ours(100 * s.Under1Hour),
			Ours(s.PercentError), Ours(100 * s.Covered()), Ours(100 * s.BoundHeld),
		}})
	}
	return t
}

func rangeTable(title string, scores []wait.Score) Table {
	t := Table{Title: title, Stub: "response from", Columns: []Column{{"jobs", "jobs", "", 0}}}
	for i := range scores {
		t.Columns = append(t.Columns, Column{"aae_min_" + scores[i].Predictor, scores[i].Predictor, "min", 1})
	}
	for at, r := range scores[0].ByResponse {
		row := Row{r.From.String(), []Cell{Ours(float64(r.Jobs))}}
		for i := range scores {
			row.Cells = append(row.Cells, Ours(minutes(scores[i].ByResponse[at].MeanError)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
