package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// watchTry is how long one Watch may take before it is asked anew, in case the
// scheduler has lost the question.
const watchTry = 5 * time.Minute

// do carries out what a call asks for.
func (n *Node) do(ctx context.Context, op peer.Op, decider policy.Policy) (peer.Result, error) {
	scheduler := n.cfg.Scheduler
	switch op := op.(type) {
	case peer.QuoteOp:
		return n.quote(ctx, op.Query)
	case peer.SubmitOp:
		return n.submit(ctx, op.Job)
	case peer.FindOp:
		presence, local, err := scheduler.FindByTag(ctx, op.Tag)
		return peer.FindResult{Presence: presence, Local: local}, err
	case peer.WithdrawOp:
		withdrawal, err := scheduler.Withdraw(ctx, op.Tag)
		return peer.WithdrawResult{Withdrawal: withdrawal}, err
	case peer.KillOp:
		return peer.KillResult{}, scheduler.Kill(ctx, op.Tag)
	case peer.WatchOp:
		return n.watch(ctx, op.After)
	case peer.ForgetOp:
		return peer.ForgetResult{}, scheduler.Forget(ctx, op.Tag)
	case peer.CollectOp:
		return n.collect(ctx, op)
	case peer.DiscardOp:
		return n.discard(ctx, op.Tag)
	case peer.DecideOp:
		return n.decide(ctx, op, decider)
	case peer.FrontOp:
		return n.front(ctx, op, decider)
	case peer.ReserveOp:
		return n.reserve(ctx, op.Hold)
	case peer.ReleaseOp:
		return n.giveUp(ctx, op.Tag)
	case peer.PriceOp:
		return n.price(ctx, price.Query(op))
	}
	return nil, fmt.Errorf("the node does not know the call %T", op)
}

// decide asks the policy that the machine names.
func (n *Node) decide(ctx context.Context, op peer.DecideOp, decider policy.Policy) (peer.Result, error) {
	if op.Fallback {
		decider = n.cfg.Fallback
	}
	decisions, hint, err := decider.Decide(ctx, op.Snapshot)
	return peer.DecideResult{Decisions: decisions, Hint: hint}, err
}

// front asks the policy that the machine names for the choices of an application.
func (n *Node) front(ctx context.Context, op peer.FrontOp, decider policy.Policy) (peer.Result, error) {
	fronter, ok := decider.(policy.Fronter)
	if op.BuiltIn {
		fronter, ok = n.cfg.Fronter, n.cfg.Fronter != nil
	}
	if !ok {
		return nil, errors.New("the policy lays out no choices")
	}
	front, err := fronter.Front(ctx, op.Snapshot)
	return peer.FrontResult{Front: front}, err
}

func (n *Node) price(ctx context.Context, query price.Query) (peer.Result, error) {
	if n.cfg.Prices == nil {
		return nil, errors.New("no price feed is configured")
	}
	prices, err := n.cfg.Prices.Ahead(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prices: %w", err)
	}
	return peer.PriceResult(prices), nil
}

func (n *Node) quote(ctx context.Context, query localsched.Query) (peer.Result, error) {
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
	return peer.QuoteResult{Quotes: quotes, Load: load}, nil
}

func (n *Node) submit(ctx context.Context, job localsched.Submission) (peer.Result, error) {
	local, err := n.cfg.Scheduler.Submit(ctx, job)
	if refused, ok := errors.AsType[*localsched.RefusedError](err); ok {
		return peer.SubmitResult{Refused: refused.Reason}, nil
	}
	return peer.SubmitResult{Local: local}, err
}

// watch waits until something happens, however long that takes.
func (n *Node) watch(ctx context.Context, after localsched.Cursor) (peer.Result, error) {
	for {
		try, stop := context.WithTimeout(ctx, watchTry)
		watched, err := n.cfg.Scheduler.Watch(try, after)
		again := err != nil && try.Err() != nil && ctx.Err() == nil
		stop()
		if !again {
			return peer.WatchResult{Watched: watched}, err
		}
	}
}
