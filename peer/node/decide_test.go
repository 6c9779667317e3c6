package node_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// broken is a policy that goes wrong in its own way.
type broken struct {
	decide func() ([]policy.Decision, error)
}

func (broken) Info() policy.Info { return policy.Info{Name: "broken"} }

func (b broken) Decide(context.Context, policy.Snapshot) ([]policy.Decision, []byte, error) {
	decisions, err := b.decide()
	return decisions, []byte("its own hint"), err
}

// A call to a policy that fails in any way fails; the machine may have the fallback asked.
func TestFallback(t *testing.T) {
	snapshot := policy.Snapshot{
		Sites: []policy.Site{{Name: "a", MaxJobs: 1}, {Name: "b", MaxJobs: 1}},
		Jobs:  []policy.Job{{ID: 7, CPUs: 1}},
		AWT:   []protocol.Duration{5, protocol.Never}, ERT: []protocol.Duration{1, protocol.Never},
		Cost: []protocol.Micro{0, 0},
	}
	for name, tt := range map[string]struct {
		decide func() ([]policy.Decision, error)
		want   string
	}{
		"an error":  {func() ([]policy.Decision, error) { return nil, errors.New("no flow") }, "no flow"},
		"a panic":   {func() ([]policy.Decision, error) { panic("nil map") }, "panic: nil map"},
		"nonsense":  {func() ([]policy.Decision, error) { return []policy.Decision{{Job: 3}}, nil }, "decision for job 3"},
		"a decline": {func() ([]policy.Decision, error) { return []policy.Decision{{Site: 1}}, nil }, "sent to b, which declined it"},
	} {
		synctest.Test(t, func(t *testing.T) {
			core := caller(event.DecideOp{Snapshot: snapshot}, event.DecideOp{Snapshot: snapshot, Fallback: true})
			r := start(t, core, func(c *node.Config) { c.Policy, c.Fallback = pluginhost.CheckedPolicy(broken{tt.decide}), local.New() })
			synctest.Wait()
			all := answers(core)
			if got := all[0]; got.Err == nil || !strings.Contains(got.Err.Error(), tt.want) {
				t.Errorf("%s: %+v", name, got)
			}
			got := all[1]
			result, ok := got.Result.(event.DecideResult)
			switch {
			case !ok || got.Err != nil:
				t.Errorf("%s, with a fallback: %+v", name, got)
			case len(result.Decisions) != 1 || result.Decisions[0].Site != 0 || result.Hint != nil:
				t.Errorf("%s: the fallback decided %+v, hint %q", name, result.Decisions, result.Hint)
			}
			_ = r.end()
		})
	}
}
