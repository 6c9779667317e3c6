package node

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

// errLaneFull is the answer to a call that finds too many before it. The machine makes it
// again later.
var errLaneFull = errors.New("too many calls of this kind wait")

// errLate is the answer to a question whose asker does not wait any more.
var errLate = errors.New("nobody waits for the quotes any more")

// lanes keep the kinds of calls apart, so that slow ones hold up only their own.
type lanes struct {
	quote, submit, manage, release, watch, collect, decide, stage, unpack *callQueue
}

// newLanes bounds each line by what an honest grid may bring about at once: a start with a
// million jobs asks about each of them, quotes are few.
func newLanes() lanes {
	return lanes{
		quote:   &callQueue{limit: 8, most: 256, timeout: 5 * time.Second},
		submit:  &callQueue{limit: 32, most: 1 << 20, timeout: 30 * time.Second},
		manage:  &callQueue{limit: 16, most: 1 << 20, timeout: 30 * time.Second},
		release: &callQueue{limit: 16, most: 1 << 20, timeout: 30 * time.Second},
		watch:   &callQueue{limit: 2, most: 2},
		collect: &callQueue{limit: 16, most: 1 << 20, stall: 2 * time.Minute, bounds: bounds{site: 8, user: 4}},
		stage:   &callQueue{limit: 16, most: 1 << 20, stall: 2 * time.Minute, bounds: bounds{site: 8}},
		unpack:  &callQueue{limit: 4, most: 1 << 20, timeout: time.Hour}, // the files may be many, and disks slow
		decide:  &callQueue{limit: 1, most: 256, timeout: time.Minute},
	}
}

// callQueue runs up to limit calls at once; up to most wait in line.
type callQueue struct {
	limit   int
	most    int
	timeout time.Duration // from the call's beginning; 0: none
	stall   time.Duration // from the last progress that the call made; 0: none
	bounds  bounds        // of the calls for one partner, and for one user

	mu      sync.Mutex
	running int
	line    line
}

// task is a call to be made, and for whom. Its run says whether it still has its place in the
// lane: one that outlived its time has not.
type task struct {
	of  party
	run func() (kept bool)
}

// enter runs the task at once or when its turn comes, or says that the line is full.
func (l *callQueue) enter(t task) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line.waiting >= l.most {
		return false
	}
	l.line.add(t)
	l.fill()
	return true
}

// fill runs what may run now.
func (l *callQueue) fill() {
	for l.running < l.limit {
		next, ok := l.line.next(l.bounds)
		if !ok {
			return
		}
		l.running++
		go func() {
			if next.run() {
				l.leave(next)
			}
		}()
	}
}

// leave gives up the place of a task that has ended, or has outlived its time.
func (l *callQueue) leave(t task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	l.line.over(t)
	l.fill()
}

// begin starts calls, each in its lane. The policy decides the rounds among them.
func (n *Node) begin(ctx context.Context, calls []event.Call, decider policy.Policy) {
	for _, call := range calls {
		lane := n.lanes.of(call.Op)
		n.calls.Add(1)
		within, collection := n.collecting.add(ctx, call.Op)
		t := task{of: partyOf(call.Op)}
		t.run = func() bool {
			defer n.calls.Done()
			defer n.collecting.remove(collection)
			collection.begin()
			return n.call(within, lane, t, call, decider)
		}
		entered := lane.enter(t)
		if !entered {
			go func() { // the loop itself may be calling, and must not wait for itself
				defer n.calls.Done()
				defer n.collecting.remove(collection)
				n.post(event.CallDone{ID: call.ID, Err: errLaneFull})
			}()
		}
	}
}

// call carries one call out and posts its answer. A call that outlives its time
// is answered, loses its place, and is left to itself.
func (n *Node) call(ctx context.Context, lane *callQueue, t task, call event.Call, decider policy.Policy) (kept bool) {
	if cause := context.Cause(ctx); errors.Is(cause, errDiscarded) {
		n.post(event.CallDone{ID: call.ID, Err: cause})
		return true
	} else if cause != nil {
		return true // the caller does not wait for the answer any more
	}
	if quote, ok := call.Op.(event.QuoteOp); ok && quote.Until != 0 && n.clock.now() >= quote.Until {
		n.post(event.CallDone{ID: call.ID, Err: errLate})
		return true
	}
	if lane.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, lane.timeout, fmt.Errorf("no answer within %v", lane.timeout))
		defer stop()
	}
	if lane.stall > 0 {
		var stop func()
		ctx, stop = withProgress(ctx, lane.stall)
		defer stop()
	}
	inTime := context.AfterFunc(ctx, func() {
		n.post(event.CallDone{ID: call.ID, Err: context.Cause(ctx)})
		lane.leave(t)
	})
	result, err := n.try(ctx, call.Op, decider)
	if !inTime() {
		return false
	}
	n.post(event.CallDone{ID: call.ID, Result: result, Err: err})
	return true
}

// try carries a call out. A panic in it is an error of the call.
func (n *Node) try(ctx context.Context, op event.Op, decider policy.Policy) (result event.Result, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			n.log.Error("call_panicked", "op", fmt.Sprintf("%T", op), "reason", reason, "stack", string(debug.Stack()))
			result, err = nil, fmt.Errorf("%T panicked: %v", op, reason)
		}
	}()
	result, err = n.do(ctx, op, decider)
	if err != nil {
		result = nil
	}
	return result, err
}

// of is the lane of a call.
func (l *lanes) of(op event.Op) *callQueue {
	switch op := op.(type) {
	case event.QuoteOp, event.PlannedStartsOp:
		return l.quote
	case event.StageInOp:
		return l.stage
	case event.SubmitOp:
		if op.Job.Guest && op.Job.Spec.StageIn > 0 {
			return l.unpack
		}
		return l.submit
	case event.WatchOp:
		return l.watch
	case event.CollectOp:
		return l.collect
	case event.DecideOp, event.ParetoOp:
		return l.decide
	case event.ReserveOp:
		return l.submit
	case event.CancelReservationOp:
		return l.release
	case event.LookupOp, event.WithdrawOp, event.KillOp, event.ForgetOp, event.PrioritizeOp, event.DiscardOp, event.ArchiveOp, event.PriceOp:
	}
	return l.manage
}
