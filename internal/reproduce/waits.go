package reproduce

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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
	chosenBy   bool    // the default parameters, the estimates of auto and the calibration of the bound were chosen with its first 12,000 records
	noStatus   bool    // it does not say which jobs completed: all are scored
}

func logs() []log {
	return []log{
		{name: "CEA Curie", file: "CEA-Curie-2011-2.1-cln.swf.gz", cpus: 93_312, jobs: 266_099, chosenBy: true},
		{name: "SDSC Paragon", file: "SDSC-Par-1996-3.1-cln.swf.gz", cpus: 400, jobs: 32_199, chosenBy: true},
		{name: "SDSC Blue Horizon", file: "SDSC-BLUE-2000-4.2-cln.swf.gz", cpus: 1152, chosenBy: true},
		{name: "KTH SP2", file: "KTH-SP2-1996-2.1-cln.swf.gz", cpus: 100},
		{name: "SDSC SP2", file: "SDSC-SP2-1998-4.2-cln.swf.gz", cpus: 128},
		{name: "ANL Intrepid", file: "ANL-Intrepid-2009-1.first10000.swf.gz", cpus: 163_840, noStatus: true},
	}
}

// warm is how many jobs of a log are learned from before any is scored in the choice of
// parameters.
const warm = 1000

// logStudy is one log: the recorded waits, and those of the same jobs under EASY. Parameters
// are chosen on the first half of the jobs, and scores are of the second half.
type logStudy struct {
	months             float64
	completed          int
	tried              []setting    // the parameters of each predictor that has any
	first              []wait.Score // their scores on the first half
	chosen             []string     // the best of each
	recorded, replayed []wait.Score
}

// waits is [MC] Table III and Figure 2.
func waits() exhibit {
	return exhibit{
		Exhibit: Exhibit{Name: "table3", Also: []string{"fig2"}, Title: "how well waits are predicted", Paper: "[MC] Table III, Figure 2 and section 5.1.1"},
		build: func(ctx context.Context, s *study, r *Report) error {
			studies, err := s.studyLogs(ctx, logs())
			if err != nil {
				return err
			}
			r.Notes = append(r.Notes,
				"Recorded: the waits of the log, whose local policy is unknown, so that there is no plan. Again: the same jobs simulated under",
				"EASY, where the plan of the engine is a predictor too. Scores are of the completed jobs of the second half of each log, as the paper",
				"counts jobs; parameters are those with the least AAE on the first half. PPE is 100 × |error| ÷ max(response, 10 s). DAS-2 is not available.",
				"Intrepid's log does not say which jobs completed: all are scored. Logs without waits, and synthetic ones, are left out.",
				"Baselines: zero answers 0, last the wait of the job that started last, median100 the median of the last 100, mean that of all.",
				"The paper: errors below one hour for 88 to 98 % of the jobs; up to 22 % less AAE and up to 56 % less PPE than QBETS and IBL.")
			for i, l := range logs() {
				r.Notes = append(r.Notes, l.name+": "+strings.Join(studies[i].chosen, "; ")+".")
			}
			r.Tables = append(r.Tables, logTable(logs(), studies), claimTable(logs(), studies), settingTable(logs(), studies), heldOutTable(logs(), studies))
			for i, l := range logs() {
				r.Tables = append(r.Tables,
					scoreTable(l.name+", recorded", studies[i].recorded), rangeTable(l.name+", recorded: AAE by response (Figure 2)", studies[i].recorded),
					scoreTable(l.name+", again under EASY", studies[i].replayed))
				r.Notes = append(r.Notes, boundNote(l.name+", recorded", studies[i].recorded), boundNote(l.name+", again", studies[i].replayed),
					quotedNote(l.name, studies[i].replayed))
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
	var out logStudy
	for i := range past {
		past[i].Completed = past[i].Completed || l.noStatus
		if past[i].Completed {
			out.completed++
		}
	}
	out.months = float64(past[len(past)-1].Submit-past[0].Submit) / float64(protocol.Day) / 30.4
	if out.tried, out.first, err = try(past[:len(past)/2], l.cpus); err != nil {
		return logStudy{}, fmt.Errorf("%s: %w", l.file, err)
	}
	tuned := bestOf(out.tried, out.first)
	for _, t := range tuned {
		out.chosen = append(out.chosen, t.predictor+" with "+t.label)
	}
	rivals, err := contestants(tuned)
	if err != nil {
		return logStudy{}, err
	}
	second := wait.EvaluateOptions{CPUs: l.cpus, Warm: len(past) / 2, CompletedOnly: true}
	if out.recorded, err = wait.Evaluate(past, second, rivals...); err != nil {
		return logStudy{}, fmt.Errorf("%s: %w", l.file, err)
	}
	if past, err = again(trace, l.cpus); err != nil {
		return logStudy{}, fmt.Errorf("%s: %w", l.file, err)
	}
	if rivals, err = contestants(tuned); err != nil {
		return logStudy{}, err
	}
	plans := []wait.Predictor{
		wait.NewPlan(recent), wait.Calibrated{Predictor: wait.NewPlan(recent)}, wait.Expected{Predictor: wait.NewPlan(recent)},
	}
	out.replayed, err = wait.Evaluate(past,
		wait.EvaluateOptions{CPUs: l.cpus, Warm: len(past) / 2, Planner: newPlanner(l.cpus)}, append(plans, rivals...)...)
	return out, err
}

// recent is how many starts of each magnitude the intervals of the baselines and of the plan
// are calibrated with.
const recent = 1000

// setting is a predictor with parameters.
type setting struct {
	predictor, label string
	open             func() (wait.Predictor, error)
}

// candidateSettings are the parameters that are tried, four for each predictor.
func candidateSettings() (all []setting) {
	for _, history := range []int{2000, 4000} {
		for label, p := range map[string]wait.Params{"the authors' parameters": wait.DefaultParams(), "the authors' earlier parameters": wait.EarlierParams()} {
			p.History = history
			all = append(all, setting{"adaptive", fmt.Sprintf("%s and a history of %d", label, history), func() (wait.Predictor, error) { return wait.NewAdaptive(p) }})
		}
		for label, sizes := range map[string][]int{"four size classes": wait.DefaultBoundParams().Sizes, "one size class": nil} {
			p := wait.DefaultBoundParams()
			p.Sizes, p.History = sizes, history
			all = append(all, setting{"qbets", fmt.Sprintf("%s and a history of %d", label, history), func() (wait.Predictor, error) { return wait.NewQBETS(p) }})
		}
		for _, neighbours := range []int{5, 20} {
			p := wait.DefaultLearningParams()
			p.Neighbours, p.History = neighbours, history
			all = append(all, setting{"ibl", fmt.Sprintf("%d neighbors and a history of %d", neighbours, history), func() (wait.Predictor, error) { return wait.NewIBL(p) }})
		}
	}
	slices.SortFunc(all, func(a, b setting) int {
		return cmp.Or(cmp.Compare(a.predictor, b.predictor), cmp.Compare(a.label, b.label))
	})
	return all
}

// try scores all settings on the completed jobs of a past.
func try(past []wait.Past, cpus int) ([]setting, []wait.Score, error) {
	all := candidateSettings()
	predictors, err := opened(all)
	if err != nil {
		return nil, nil, err
	}
	scores, err := wait.Evaluate(past, wait.EvaluateOptions{CPUs: cpus, Warm: min(warm, len(past)/4), CompletedOnly: true}, predictors...)
	return all, scores, err
}

// bestOf is for each predictor the setting with the least mean absolute error.
func bestOf(all []setting, scores []wait.Score) []setting {
	best := map[string]int{}
	for i := range all {
		if at, ok := best[all[i].predictor]; !ok || scores[i].MeanError < scores[at].MeanError {
			best[all[i].predictor] = i
		}
	}
	return []setting{all[best["adaptive"]], all[best["qbets"]], all[best["ibl"]]}
}

func opened(all []setting) ([]wait.Predictor, error) {
	predictors := make([]wait.Predictor, len(all))
	for i := range all {
		var err error
		if predictors[i], err = all[i].open(); err != nil {
			return nil, fmt.Errorf("%s with %s: %w", all[i].predictor, all[i].label, err)
		}
	}
	return predictors, nil
}

// contestants are the predictors of a table of scores: the tuned ones, the one that chooses,
// and the baselines.
func contestants(tuned []setting) ([]wait.Predictor, error) {
	predictors, err := opened(tuned)
	if err != nil {
		return nil, err
	}
	auto, err := wait.DefaultAuto()
	if err != nil {
		return nil, err
	}
	return append(append(predictors, auto), wait.Baselines(recent)...), nil
}

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
			Submit: job.Submit, Wait: starts[i].Sub(job.Submit), Run: job.Run, Completed: true,
		})
	}
	return past, nil
}

// planner is the plan that a batch system with estimates has in itself: an engine that
// sees the same jobs.
type planner struct{ engine *engine.Engine }

func newPlanner(cpus int) planner { return planner{engine.New(machineOf(cpus), engine.EASY())} }

// Plan implements [wait.Planner].
func (p planner) Plan(a wait.Arrival) (protocol.Duration, bool) {
	planned := p.engine.Plan(a.At, nil, []protocol.Request{requestOf(a.Job)})[0]
	return max(0, planned.Start.Sub(a.At)), planned.Declined == ""
}

func requestOf(job wait.Job) protocol.Request {
	return protocol.Request{Job: protocol.JobID(job.ID), CPUs: job.CPUs, WallTime: job.Estimate} //nolint:gosec // counts from 1
}

// Observe implements [wait.Planner]. Where several things happen at one instant the
// engine may have started another job than the schedule; a job that ends without having
// started is taken out of its queue.
func (p planner) Observe(e wait.Event) {
	job := e.Arrival.Job
	tag := protocol.Tag{Job: protocol.JobID(job.ID)} //nolint:gosec // counts from 1
	switch e.Kind {
	case wait.Submitted:
		_, _ = p.engine.Submit(e.At, localsched.Queued{Request: requestOf(job), Tag: tag}) // what does not fit is declined again
	case wait.Started:
	case wait.Ended, wait.Withdrawn:
		if _, err := p.engine.Finished(e.At, tag); err != nil {
			_, _ = p.engine.Withdraw(e.At, tag) // one of the two holds
		}
	}
}

func logTable(all []log, studies []logStudy) Table {
	t := Table{Title: "Table III: the logs", Stub: "log", Columns: []Column{
		{"months", "months", "", 1}, {"jobs", "completed jobs", "", 0}, {"scored", "scored", "", 0},
	}}
	for i, l := range all {
		t.Rows = append(t.Rows, Row{l.name, []Cell{
			Ours(studies[i].months), Ours(float64(studies[i].completed)).besideKnown(l.jobs, l.jobs > 0), Ours(float64(studies[i].recorded[0].Jobs)),
		}})
	}
	return t
}

// claimTable is by how much the errors of the adaptive predictor are smaller than those of its rivals.
func claimTable(all []log, studies []logStudy) Table {
	t := Table{Title: "Errors of adaptive, less than those of", Stub: "log", Columns: []Column{
		{"aae_qbets_pct", "QBETS: AAE", "%", 1},
		{"ppe_qbets_pct", "QBETS: PPE", "%", 1},
		{"aae_ibl_pct", "IBL: AAE", "%", 1},
		{"ppe_ibl_pct", "IBL: PPE", "%", 1},
		{"aae_zero_pct", "zero: AAE", "%", 1},
	}}
	for i, l := range all {
		by := map[string]*wait.Score{}
		for at := range studies[i].recorded {
			by[studies[i].recorded[at].Predictor] = &studies[i].recorded[at]
		}
		adaptive := by["adaptive"]
		aae := func(than string) Cell {
			return Ours(100 - 100*ratio(minutes(adaptive.MeanError), minutes(by[than].MeanError)))
		}
		ppe := func(than string) Cell { return Ours(100 - 100*ratio(adaptive.PercentError, by[than].PercentError)) }
		t.Rows = append(t.Rows, Row{l.name, []Cell{aae("qbets"), ppe("qbets"), aae("ibl"), ppe("ibl"), aae("zero")}})
	}
	return t
}

// settingTable is the errors of each setting on the first half of each log.
func settingTable(all []log, studies []logStudy) Table {
	t := Table{Title: "AAE on the first half, by parameters", Stub: "predictor and parameters"}
	for i, l := range all {
		t.Columns = append(t.Columns, Column{fmt.Sprintf("aae_min_%d", i+1), l.name, "min", 1})
	}
	for at, tried := range studies[0].tried {
		row := Row{Label: tried.predictor + ", " + tried.label}
		for i := range studies {
			row.Cells = append(row.Cells, Ours(minutes(studies[i].first[at].MeanError)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// heldOutTable is auto on the logs that nothing of it was chosen with.
func heldOutTable(all []log, studies []logStudy) Table {
	t := Table{Title: "auto on logs that it was not chosen with", Stub: "log", Columns: []Column{
		{"aae_min_auto", "auto: AAE", "min", 1},
		{"aae_min_zero", "zero: AAE", "min", 1},
		{"aae_min_least", "best other: AAE", "min", 1},
		{"over_least_pct", "auto above the best", "%", 1},
		{"bound_pct", "within auto's bound", "%", 1},
	}}
	for i, l := range all {
		if l.chosenBy {
			continue
		}
		for name, scores := range map[string][]wait.Score{", recorded": studies[i].recorded, ", under EASY": studies[i].replayed} {
			t.Rows = append(t.Rows, heldOutRow(l.name+name, scores))
		}
	}
	slices.SortFunc(t.Rows, func(a, b Row) int { return strings.Compare(a.Label, b.Label) })
	return t
}

func heldOutRow(label string, scores []wait.Score) Row {
	by := map[string]*wait.Score{}
	least := ""
	for i := range scores {
		s := &scores[i]
		if by[s.Predictor] = s; s.Predictor != "auto" && (least == "" || s.MeanError < by[least].MeanError) {
			least = s.Predictor
		}
	}
	auto, best := by["auto"], by[least]
	return Row{label + " (best other: " + least + ")", []Cell{
		Ours(minutes(auto.MeanError)), Ours(minutes(by["zero"].MeanError)), Ours(minutes(best.MeanError)),
		Ours(100*ratio(minutes(auto.MeanError), minutes(best.MeanError)) - 100), Ours(100 * auto.BoundHeld),
	}}
}

// quotedNote says how often the bound of quotes holds, which is at least the plan.
func quotedNote(title string, scores []wait.Score) string {
	for i := range scores {
		if s := &scores[i]; s.Predictor == "auto" {
			return fmt.Sprintf("%s, again: a quote states the bound of auto, or the plan if that is longer: %.1f %% of the jobs start within it.", title, 100*s.QuotedHeld)
		}
	}
	return ""
}

// boundNote says whose bounds hold as often as their name says: a bound is called one of 95 %
// if it holds for 94 to 97 % of the jobs.
func boundNote(title string, scores []wait.Score) string {
	var good, others []string
	for i := range scores {
		if share := 100 * scores[i].BoundHeld; share >= 94 && share <= 97 {
			good = append(good, scores[i].Predictor)
		} else {
			others = append(others, fmt.Sprintf("%s (%.1f %%)", scores[i].Predictor, share))
		}
	}
	list := func(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }
	note := title + ": bounds that hold for 94 to 97 % of the jobs: " + list(good) + "; others, nominal 95 %: " + list(others) + "."
	if atOnce := 100 * scores[0].AtOnce; atOnce > 97 {
		note += fmt.Sprintf(" %.1f %% of the jobs do not wait, so that no bound holds for less.", atOnce)
	}
	return note
}

func scoreTable(title string, scores []wait.Score) Table {
	t := Table{Title: title, Stub: "predictor", Columns: []Column{
		{"aae_min", "AAE", "min", 1},
		{"aae_median_min", "AAE of the P50", "min", 1},
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
			Ours(minutes(s.MeanError)), Ours(minutes(s.MedianOff)), Ours(minutes(s.MedianError)), Ours(100 * s.Under15Min), Ours(100 * s.Under1Hour),
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
