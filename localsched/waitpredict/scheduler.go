package waitpredict

import (
	"context"
	"fmt"
	"sync"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Scheduler is a batch system whose quotes contain predictions. What it has seen is
// gone when the peer ends; jobs that came to the batch system by other ways are unseen.
type Scheduler struct {
	localsched.Scheduler
	now func() protocol.Instant

	mu        sync.Mutex
	predictor *Predictor
	reserved  map[protocol.Tag]bool // jobs for which room is held: their waits say nothing of others
}

// New corrects the quotes of a batch system by predictions. Now is a clock, of which only the pace matters. What comes of it is a
// [localsched.Reserver] exactly if the batch system is one.
func New(under localsched.Scheduler, f *Predictor, now func() protocol.Instant) localsched.Scheduler {
	s := &Scheduler{Scheduler: under, predictor: f, now: now, reserved: map[protocol.Tag]bool{}}
	if holds, ok := under.(localsched.Reserver); ok {
		return &reserver{Scheduler: s, under: holds}
	}
	return s
}

// reserver is a [Scheduler] over one that holds room.
type reserver struct {
	*Scheduler

	under localsched.Reserver
}

// Reserve implements [localsched.Reserver].
func (r *reserver) Reserve(ctx context.Context, hold localsched.Reservation) (protocol.Instant, error) {
	start, err := r.under.Reserve(ctx, hold)
	if err == nil {
		r.record(func(protocol.Instant) { r.reserved[hold.Tag] = true })
	}
	return start, err
}

// CancelReservation implements [localsched.Reserver].
func (r *reserver) CancelReservation(ctx context.Context, tag protocol.Tag) error {
	err := r.under.CancelReservation(ctx, tag)
	if err == nil {
		r.record(func(protocol.Instant) { delete(r.reserved, tag) })
	}
	return err
}

// SetPriorities implements [localsched.Prioritizer].
func (s *Scheduler) SetPriorities(ctx context.Context, priorities []localsched.Priority) error {
	return localsched.SetPriorities(ctx, s.Scheduler, priorities)
}

// PlannedStarts implements [localsched.StartPlanner].
func (s *Scheduler) PlannedStarts(ctx context.Context, tags []protocol.Tag) ([]localsched.PlannedStart, error) {
	return localsched.PlannedStarts(ctx, s.Scheduler, tags)
}

// Quote implements [localsched.Planner].
func (s *Scheduler) Quote(ctx context.Context, query localsched.Query) ([]protocol.Quote, error) {
	quotes, err := s.Scheduler.Quote(ctx, query)
	if err != nil || len(quotes) != len(query.Jobs) {
		return quotes, err
	}
	added, err := s.added(ctx, query, quotes)
	if err != nil {
		if s.predictor.method == Auto { // the waits are those of the plan, which are known; only predictions are missing
			return quotes, nil
		}
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range quotes {
		s.predictor.Annotate(s.now(), query.Jobs[i], &quotes[i], added[i])
	}
	return quotes, nil
}

// added is by how much those ahead put each job back: the batch system is asked a second
// time, without them, unless the predictions are of the plan, which has them. If a job that
// starts meanwhile changes that under auto, the predictions of one quote leave them out.
func (s *Scheduler) added(ctx context.Context, query localsched.Query, quotes []protocol.Quote) ([]protocol.Duration, error) {
	added := make([]protocol.Duration, len(quotes))
	byPlan := false
	s.record(func(protocol.Instant) { byPlan = s.predictor.ByPlan() })
	if len(query.Ahead) == 0 || byPlan {
		return added, nil
	}
	without, err := s.Scheduler.Quote(ctx, localsched.Query{Jobs: query.Jobs, Associations: query.Associations})
	if err != nil {
		return nil, err
	}
	if len(without) != len(quotes) {
		return nil, fmt.Errorf("the batch system quotes %d jobs, and %d of them when no jobs are ahead", len(quotes), len(without))
	}
	for i := range quotes {
		if quotes[i].Declined == "" && without[i].Declined == "" {
			added[i] = max(0, quotes[i].AWT-without[i].AWT)
		}
	}
	return added, nil
}

// Submit implements [localsched.Runner].
func (s *Scheduler) Submit(ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
	s.record(func(now protocol.Instant) { // before Watch can tell of it
		if !s.reserved[job.Tag] {
			s.predictor.Submitted(now, job.Tag, job.Spec.Request)
		}
	})
	local, err := s.Scheduler.Submit(ctx, job)
	if err != nil {
		s.record(func(now protocol.Instant) { s.predictor.Withdrawn(now, job.Tag) })
	}
	return local, err
}

func (s *Scheduler) record(tell func(now protocol.Instant)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tell(s.now())
}

// Withdraw implements [localsched.Runner].
func (s *Scheduler) Withdraw(ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
	withdrawal, err := s.Scheduler.Withdraw(ctx, tag)
	if err == nil && withdrawal == localsched.Withdrawn {
		s.record(func(now protocol.Instant) {
			s.predictor.Withdrawn(now, tag)
			delete(s.reserved, tag)
		})
	}
	return withdrawal, err
}

// Watch implements [localsched.Runner].
func (s *Scheduler) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	watched, err := s.Scheduler.Watch(ctx, after)
	s.record(func(now protocol.Instant) {
		for _, change := range watched.Changes {
			s.predictor.Changed(now, change)
			if change.State.Terminal() {
				delete(s.reserved, change.Tag)
			}
		}
	})
	return watched, err
}
