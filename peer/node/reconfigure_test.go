package node_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// named is a policy that says who decided.
type named string

func (n named) Info() policy.Info { return policy.Info{Name: string(n)} }

func (n named) Decide(context.Context, policy.Snapshot) ([]policy.Decision, []byte, error) {
	return nil, []byte(n), nil
}

// A round that was handed over before the policy changed keeps the old one; a
// change that the machine refuses changes nothing.
func TestReconfigureChangesWhoDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
			if _, ok := ev.(event.MessageIn); ok {
				return event.Ready{Calls: []event.Call{{ID: 1, Op: event.DecideOp{}}}}
			}
			tune, ok := ev.(event.Reconfigure)
			if !ok {
				return event.Ready{}
			}
			reply := view.Reply(view.Done{})
			if tune.Runtime.LocalWaitThreshold < 0 {
				reply = view.Refusal{Code: view.BadRequest, Reason: "negative"}
			}
			return event.Ready{Answers: []event.Answer{{Asked: tune.Asked, Reply: reply}}}
		}}
		r := start(t, core, func(c *node.Config) { c.Policy = named("first") })
		decide := func() {
			r.Received("there", protocol.Volunteer{})
			synctest.Wait()
		}
		decide()
		var refused *node.RefusedError
		if err := r.Reconfigure(t.Context(), rules.RuntimeConfig{LocalWaitThreshold: -1}, named("bad")); !errors.As(err, &refused) {
			t.Errorf("got %v, want a refusal", err)
		}
		decide()
		if err := r.Reconfigure(t.Context(), rules.RuntimeConfig{LocalWaitThreshold: 3}, named("second")); err != nil {
			t.Error(err)
		}
		decide()
		var deciders []string
		for _, done := range seenOf[event.CallDone](core) {
			result, _ := done.Result.(event.DecideResult)
			deciders = append(deciders, string(result.Hint))
		}
		if !slices.Equal(deciders, []string{"first", "first", "second"}) {
			t.Errorf("decided by %v", deciders)
		}
		if reported := seenOf[event.Reconfigure](core); len(reported) != 2 || reported[1].Runtime.LocalWaitThreshold != 3 {
			t.Errorf("the machine was told %+v", reported)
		}
		_ = r.end()
	})
}
