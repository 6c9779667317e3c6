package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// watchTry is how long one Watch may take before it is requested again, in case the
// scheduler has lost the request.
const watchTry = 5 * time.Minute

// do carries out what a call asks for.
func (n *Node) do(ctx context.Context, op event.Op, decider policy.Policy) (event.Result, error) { //nolint:cyclop // one case for each call
	scheduler := n.cfg.Scheduler
	switch op := op.(type) {
	case event.QuoteOp:
		return n.quote(ctx, op.Query)
	case event.SubmitOp:
		return n.submit(ctx, n.traces.submission(op.Job))
	case event.StageInOp:
		return n.stageIn(ctx, op)
	case event.LookupOp:
		presence, local, err := scheduler.FindByTag(ctx, op.Tag)
		return event.LookupResult{Presence: presence, Local: local}, err
	case event.WithdrawOp:
		withdrawal, err := scheduler.Withdraw(ctx, op.Tag)
		return event.WithdrawResult{Withdrawal: withdrawal}, err
	case event.KillOp:
		return event.KillResult{}, scheduler.Kill(ctx, op.Tag)
	case event.WatchOp:
		return n.watch(ctx, op.After)
	case event.ForgetOp:
		return event.ForgetResult{}, n.forget(ctx, op.Tag)
	case event.PrioritizeOp:
		return event.PrioritizeResult{}, localsched.SetPriorities(ctx, scheduler, op.Priorities)
	case event.PlannedStartsOp:
		starts, err := localsched.PlannedStarts(ctx, scheduler, op.Tags)
		return event.PlannedStartsResult{Starts: starts}, err
	case event.CollectOp:
		return n.collect(ctx, op)
	case event.DiscardOp:
		return n.discard(ctx, op.Tag)
	case event.DecideOp:
		return n.decide(ctx, op, decider)
	case event.ParetoOp:
		return n.front(ctx, op, decider)
	case event.ReserveOp:
		return n.reserve(ctx, op.Hold)
	case event.CancelReservationOp:
		return n.giveUp(ctx, op.Tag)
	case event.ArchiveOp:
		return n.ended(op)
	case event.PriceOp:
		return n.price(ctx, price.Query(op))
	}
	return nil, fmt.Errorf("the node does not know the call %T", op)
}

// ended looks finished jobs up.
func (n *Node) ended(op event.ArchiveOp) (event.Result, error) {
	var result event.ArchiveResult
	for _, id := range op.Jobs {
		job, found, err := n.finished(id)
		if err != nil {
			return nil, fmt.Errorf("look job %v up in the archive: %w", id, err)
		}
		if found && !job.Guest {
			result.Ended = append(result.Ended, event.EndedOf(&job))
		}
	}
	return result, nil
}

// decide asks the policy that the machine names.
func (n *Node) decide(ctx context.Context, op event.DecideOp, decider policy.Policy) (event.Result, error) {
	if op.Fallback {
		decider = n.cfg.Fallback
	}
	decisions, hint, err := decider.Decide(ctx, op.Snapshot)
	return event.DecideResult{Decisions: decisions, Hint: hint}, err
}

// front asks the policy that the machine names for the choices of an application.
func (n *Node) front(ctx context.Context, op event.ParetoOp, decider policy.Policy) (event.Result, error) {
	fronter, ok := decider.(policy.ParetoPolicy)
	if op.BuiltIn {
		fronter, ok = n.cfg.Fronter, n.cfg.Fronter != nil
	}
	if !ok {
		return nil, errors.New("the policy lays out no choices")
	}
	front, err := fronter.ParetoFront(ctx, op.Snapshot)
	return event.ParetoResult{Front: front}, err
}

func (n *Node) price(ctx context.Context, query price.Query) (event.Result, error) {
	if n.cfg.Prices == nil {
		return nil, errors.New("no price feed is configured")
	}
	prices, err := n.cfg.Prices.Ahead(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prices: %w", err)
	}
	return event.PriceResult(prices), nil
}

func (n *Node) quote(ctx context.Context, query localsched.Query) (event.Result, error) {
	var quotes []protocol.Quote
	if len(query.Jobs) > 0 { // else it asks for the load alone
		var err error
		if quotes, err = n.cfg.Scheduler.Quote(ctx, query); err != nil {
			return nil, fmt.Errorf("quote: %w", err)
		}
	}
	if len(quotes) != len(query.Jobs) {
		return nil, fmt.Errorf("the local scheduler gave %d quotes for %d jobs", len(quotes), len(query.Jobs))
	}
	load, err := n.cfg.Scheduler.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return event.QuoteResult{Quotes: quotes, Load: load}, nil
}

func (n *Node) submit(ctx context.Context, job localsched.Submission) (event.Result, error) {
	staged := job.Guest && job.Spec.StageIn > 0
	if staged {
		job.Inputs = n.cfg.Deliverer.InputsPath(job.Tag)
	}
	local, err := n.cfg.Scheduler.Submit(ctx, job)
	if refused, ok := errors.AsType[*localsched.RefusedError](err); ok {
		return event.SubmitResult{Refused: refused.Reason}, nil
	}
	if staged && err == nil {
		n.dropInputs(job.Tag)
	}
	return event.SubmitResult{Local: local}, err
}

// watch waits until something happens, however long that takes.
func (n *Node) watch(ctx context.Context, after localsched.Cursor) (event.Result, error) {
	for {
		try, stop := context.WithTimeout(ctx, watchTry)
		watched, err := n.cfg.Scheduler.Watch(try, after)
		again := err != nil && try.Err() != nil && ctx.Err() == nil
		stop()
		if !again {
			return event.WatchResult{Watched: watched}, err
		}
	}
}
