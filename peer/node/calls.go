package node

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer"
)

// lanes keep the kinds of calls apart, so that slow ones hold up only their own.
type lanes struct {
	quote, submit, manage, watch, collect, decide *lane
}

func newLanes() lanes {
	return lanes{
		quote:   &lane{limit: 8, timeout: 5 * time.Second},
		submit:  &lane{limit: 32, timeout: 30 * time.Second},
		manage:  &lane{limit: 16, timeout: 30 * time.Second},
		watch:   &lane{limit: 2},
		collect: &lane{limit: 4, timeout: time.Hour},
		decide:  &lane{limit: 1, timeout: time.Minute},
	}
}

// lane runs up to limit calls at once; more wait in line, as many as there are.
type lane struct {
	limit   int
	timeout time.Duration // from the call's beginning; 0: none

	mu      sync.Mutex
	running int
	line    []func()
}

// enter runs the task at once or when its turn comes.
func (l *lane) enter(task func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running >= l.limit {
		l.line = append(l.line, task)
		return
	}
	l.running++
	go l.work(task)
}

// work runs tasks until none is left in line.
func (l *lane) work(task func()) {
	for task != nil {
		task()
		task = l.leave()
	}
}

// leave gives the next task in line, or gives up the place.
func (l *lane) leave() func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) == 0 {
		l.running--
		l.line = nil
		return nil
	}
	task := l.line[0]
	l.line[0] = nil
	l.line = l.line[1:]
	return task
}

// begin starts calls, each in its lane.
func (n *Node) begin(ctx context.Context, calls []peer.Call) {
	for _, call := range calls {
		lane := n.lanes.of(call.Op)
		n.calls.Add(1)
		lane.enter(func() {
			defer n.calls.Done()
			n.call(ctx, lane.timeout, call)
		})
	}
}

// call carries one call out and posts its answer. A call that outlives its time
// is answered, and left to itself.
func (n *Node) call(ctx context.Context, timeout time.Duration, call peer.Call) {
	if ctx.Err() != nil {
		return // nobody waits for the answer
	}
	stop := func() {}
	if timeout > 0 {
		ctx, stop = context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %v", timeout))
	}
	defer stop()
	answer := make(chan peer.CallDone, 1)
	n.calls.Go(func() {
		result, err := n.try(ctx, call.Op)
		answer <- peer.CallDone{ID: call.ID, Result: result, Err: err}
	})
	select {
	case done := <-answer:
		n.post(done)
	case <-ctx.Done():
		n.post(peer.CallDone{ID: call.ID, Err: context.Cause(ctx)})
	}
}

// try carries a call out. A panic in it is an error of the call.
func (n *Node) try(ctx context.Context, op peer.Op) (result peer.Result, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			n.log.Error("call_panicked", "op", fmt.Sprintf("%T", op), "reason", reason, "stack", string(debug.Stack()))
			result, err = nil, fmt.Errorf("%T panicked: %v", op, reason)
		}
	}()
	result, err = n.do(ctx, op)
	if err != nil {
		result = nil
	}
	return result, err
}

// of is the lane of a call.
func (l *lanes) of(op peer.Op) *lane {
	switch op.(type) {
	case peer.QuoteOp:
		return l.quote
	case peer.SubmitOp:
		return l.submit
	case peer.WatchOp:
		return l.watch
	case peer.CollectOp:
		return l.collect
	case peer.DecideOp:
		return l.decide
	case peer.FindOp, peer.WithdrawOp, peer.KillOp, peer.ForgetOp:
	}
	return l.manage
}
