package peertest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// do carries an operation out at the site's batch system or policy, now.
func (s *Site) do(op event.Op) (event.Result, error) { //nolint:cyclop // one case for each kind of call
	s.Batch.Advance(s.now())
	switch op := op.(type) {
	case event.QuoteOp:
		quotes, err := s.Batch.Quote(op.Query)
		if err != nil {
			return nil, err
		}
		load, err := s.Batch.Load()
		return event.QuoteResult{Quotes: quotes, Load: load}, err
	case event.SubmitOp:
		return s.submitted(op)
	case event.StageInOp:
		return s.stagedIn(op)
	case event.LookupOp:
		presence, local := s.Batch.Find(op.Tag)
		return event.LookupResult{Presence: presence, Local: local}, nil
	case event.WithdrawOp:
		w, err := s.Batch.Withdraw(op.Tag)
		return event.WithdrawResult{Withdrawal: w}, err
	case event.KillOp:
		return event.KillResult{}, s.Batch.Kill(op.Tag)
	case event.WatchOp:
		watched, moved, err := s.Batch.Watched(op.After)
		if !moved {
			return nil, errCallLost
		}
		return event.WatchResult{Watched: watched}, err
	case event.ForgetOp:
		return event.ForgetResult{}, s.Batch.Forget(op.Tag)
	case event.PrioritizeOp:
		return event.PrioritizeResult{}, s.Batch.SetPriorities(op.Priorities)
	case event.PlannedStartsOp:
		starts, err := s.Batch.PlannedStarts(op.Tags)
		return event.PlannedStartsResult{Starts: starts}, err
	case event.CollectOp:
		return s.collected(op)
	case event.DiscardOp:
		return event.DiscardResult{}, nil
	case event.DecideOp:
		decisions, hint, err := s.policy.Decide(context.Background(), op.Snapshot)
		return event.DecideResult{Decisions: decisions, Hint: hint}, err
	case event.ParetoOp:
		return event.ParetoResult{}, nil
	case event.ReserveOp:
		return s.reserved(op)
	case event.CancelReservationOp:
		if s.losesReleases == s.life {
			return nil, errCallLost
		}
		return event.CancelReservationResult{}, s.Batch.CancelReservation(op.Tag)
	case event.ArchiveOp:
		return s.ended(op), nil
	case event.PriceOp:
		return s.priced(op)
	}
	return nil, fmt.Errorf("the call %T is unknown", op)
}

// ended looks jobs up in the archive, and elements that an array which has ended never made jobs of.
func (s *Site) ended(op event.ArchiveOp) (result event.ArchiveResult) {
	for _, id := range op.Jobs {
		job, ok := s.Archived(id)
		for array, stored := range s.archive {
			if !ok && stored.Array != nil && array < id {
				job, ok = stored.AsElement(int(id - array - 1)) //nolint:gosec // the array is before it
			}
		}
		if ok {
			result.Ended = append(result.Ended, event.EndedOf(&job))
		}
	}
	return result
}

func (s *Site) reserved(op event.ReserveOp) (event.Result, error) {
	start, err := s.Batch.Reserve(op.Hold)
	if refused, ok := errors.AsType[*localsched.RefusedError](err); ok {
		return event.ReserveResult{Refused: refused.Reason}, nil
	}
	return event.ReserveResult{Start: start}, err
}

func (s *Site) priced(op event.PriceOp) (event.Result, error) {
	if s.prices == nil {
		return nil, errors.New("this site knows no prices")
	}
	if s.feedDown {
		return nil, errFeedDown
	}
	return s.prices.Answer(op)
}

func (s *Site) submitted(op event.SubmitOp) (event.Result, error) {
	s.world.monitor.submitted(s, op.Job)
	if op.Job.Supplied() && !s.supplied[op.Job.Tag] {
		s.world.monitor.problem("site %s submits %v without its files", s.Name, op.Job.Tag)
	}
	delete(s.supplied, op.Job.Tag) // the shell removes them, or may have
	local, err := s.Batch.Submit(op.Job)
	if refused, ok := errors.AsType[*localsched.RefusedError](err); ok {
		return event.SubmitResult{Refused: refused.Reason}, nil
	}
	return event.SubmitResult{Local: local}, err
}

// collected fetches a job's output. The site that ran it must be there, and must
// still have it.
func (s *Site) collected(op event.CollectOp) (event.Result, error) {
	from := s.world.Site(op.From)
	if from == nil || !from.Up() || s.world.severed(s.Name, op.From) || s.world.severed(op.From, s.Name) {
		return nil, fmt.Errorf("site %s does not answer", op.From)
	}
	if refusal, refused := from.refusesFiles(event.AskOutput{From: s.Name, Tag: op.Tag}); refused {
		if refusal.Code != view.NotFound {
			return nil, errors.New(refusal.Reason)
		}
		s.world.monitor.outputGone(s, op)
		return event.CollectResult{Gone: true}, nil
	}
	if presence, _ := from.Batch.Find(op.Tag); presence != localsched.Present {
		s.world.monitor.problem("site %s says that it has the output of %v, and has dropped it", op.From, op.Tag)
	}
	var done event.CollectResult
	for _, file := range op.Files {
		if op.User == "readonly" || op.User == "readonly-stdout" && file.Stream == protocol.Stdout {
			done.Problem = "permission denied"
			done.Left = append(done.Left, view.Undelivered{File: file.Stream.String(), Kept: "/kept/" + file.Stream.String()})
		}
	}
	return done, nil
}

// NotShared is a directory that is another one at each site, whatever they say.
const NotShared = "/notshared"

// stagedIn fetches the files of a guest. Its origin must be there, and must have given the job away.
func (s *Site) stagedIn(op event.StageInOp) (event.Result, error) {
	from := s.world.Site(op.From)
	if from == nil || !from.Up() || s.world.severed(s.Name, op.From) || s.world.severed(op.From, s.Name) {
		return nil, fmt.Errorf("site %s does not answer", op.From)
	}
	if refusal, refused := from.refusesFiles(event.AskOutput{From: s.Name, Tag: op.Tag, Inputs: true}); refused {
		if refusal.Code != view.NotFound {
			return nil, errors.New(refusal.Reason)
		}
		return event.StageInResult{Failed: refusal.Reason}, nil
	}
	if len(op.Dirs) > 0 && strings.HasPrefix(op.Dirs[0], NotShared+"/") {
		return event.StageInResult{Refused: "it is another directory"}, nil
	}
	if s.supplied == nil {
		s.supplied = map[protocol.Tag]bool{}
	}
	s.supplied[op.Tag] = true
	return event.StageInResult{}, nil
}

// refusesFiles asks the site's peer for a guest's output, or a job's inputs, as another site's fetch does.
func (s *Site) refusesFiles(ask event.AskOutput) (view.Refusal, bool) {
	s.asked++
	ask.Asked = s.asked
	for _, answer := range s.step(ask).Answers {
		if answer.Asked == s.asked {
			refusal, refused := answer.Reply.(view.Refusal)
			return refusal, refused
		}
	}
	return view.Refusal{}, false
}
