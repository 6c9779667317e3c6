package wait

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// EvaluateOptions says which jobs are scored.
type EvaluateOptions struct {
	CPUs int // of the system
	Warm int // jobs at the beginning that are learned from but not scored

	// CompletedOnly scores no job that failed or was cancelled, as [MC] Table III
	// counts jobs. Predictors observe all jobs.
	CompletedOnly bool

	// Planner is the batch system's own plan; nil if its policy is not known.
	Planner Planner
}

// Planner plans the waits of jobs as a batch system does. It is asked at each
// submission, after it has observed all that came before.
type Planner interface {
	Plan(a Arrival) (waited protocol.Duration, ok bool)
	Observe(e Event)
}

// Evaluate replays jobs whose fate is known, in their recorded order, and asks
// every predictor at each submission, when it has heard of all that came before.
// The scores are in the order of the predictors. Jobs that were withdrawn are met
// by others, but not scored. It fails if a job has no number of its own or a time
// below 0.
func Evaluate(past []Past, o EvaluateOptions, predictors ...Predictor) ([]Score, error) {
	moments, err := momentsOf(past)
	if err != nil {
		return nil, err
	}
	state := NewState(o.CPUs)
	ledgers := make([]*ledger, len(predictors))
	for i := range ledgers {
		ledgers[i] = newLedger()
	}
	for _, m := range moments {
		job := &past[m.index]
		var arrival Arrival
		if m.kind == Submitted {
			arrival = state.Arrival(m.at, job.Job)
			if o.Planner != nil {
				arrival.Planned, arrival.HasPlan = o.Planner.Plan(arrival)
			}
			for i, p := range predictors {
				prediction := p.Predict(arrival)
				if m.index >= o.Warm && o.scores(job) {
					ledgers[i].add(prediction, arrival.Planned, job)
				}
			}
		}
		event, ok := m.apply(state, arrival, job.Job.ID)
		if !ok {
			return nil, fmt.Errorf("job %d: %s at %d ms, but there is another job of its number", job.Job.ID, m.kind, m.at)
		}
		if o.Planner != nil {
			o.Planner.Observe(event)
		}
		for _, p := range predictors {
			p.Observe(event)
		}
	}
	scores := make([]Score, len(predictors))
	for i, p := range predictors {
		scores[i] = ledgers[i].score(p.Name())
	}
	return scores, nil
}

func (o *EvaluateOptions) scores(job *Past) bool {
	return !job.Withdrawn && (job.Completed || !o.CompletedOnly)
}

// moment is when something happened to a job of the past.
type moment struct {
	at    protocol.Instant
	order int // of what happens at one instant
	kind  Kind
	index int
}

// momentsOf lists all that happened, in order. At one instant ends free the
// CPUs with which others start, and newcomers see both; what takes no time
// follows at once.
func momentsOf(past []Past) ([]moment, error) {
	const (
		ends = iota
		starts
		submits
		startsAtOnce
		endsAtOnce
	)
	moments := make([]moment, 0, 3*len(past))
	for i := range past {
		p := &past[i]
		if p.Submit < 0 || p.Wait < 0 || p.Run < 0 || p.Response() < 0 {
			return nil, fmt.Errorf("job %d: submitted at %d ms, wait %d ms, run %d ms; no time may be below 0",
				p.Job.ID, p.Submit, p.Wait, p.Run)
		}
		start, end := starts, ends
		if p.Wait == 0 {
			start = startsAtOnce
		}
		if p.Run == 0 && (p.Wait == 0 || !p.Withdrawn) {
			end = endsAtOnce
		}
		moments = append(moments, moment{p.Submit, submits, Submitted, i})
		if p.Withdrawn {
			moments = append(moments, moment{p.Submit.Add(p.Wait), end, Withdrawn, i})
			continue
		}
		moments = append(moments,
			moment{p.Submit.Add(p.Wait), start, Started, i},
			moment{p.Submit.Add(p.Response()), end, Ended, i})
	}
	slices.SortFunc(moments, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order), cmp.Compare(a.index, b.index))
	})
	return moments, nil
}

// apply enters into the state what happened. The arrival is that of a submission.
func (m moment) apply(s *State, arrival Arrival, id int64) (event Event, ok bool) {
	switch m.kind {
	case Submitted:
		return s.Submit(arrival)
	case Started:
		return s.Start(m.at, id)
	case Ended, Withdrawn:
		return s.Leave(m.at, id)
	default:
		return Event{}, false
	}
}
