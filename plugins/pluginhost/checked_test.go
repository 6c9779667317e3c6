package pluginhost_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// What is built in is held to the same rules as a plugin, and cannot take its host
// down.
func TestCheckedPolicy(t *testing.T) {
	t.Parallel()
	checked := pluginhost.CheckedPolicy(&moody{})
	if !reflect.DeepEqual(policy.Describe(checked), policy.Describe(&moody{})) {
		t.Errorf("Info: %+v", checked.Info())
	}
	for mood, want := range map[uint64]string{
		panics: "panic: aargh\n", fails: "cannot decide today", twice: "two decisions for job",
		declined: "which declined it", negative: "a wait of ", tooMany: "decision for job 77", bigHint: "the hint has 65537 bytes",
	} {
		decisions, _, err := checked.Decide(t.Context(), withMood(mood))
		wants(t, err, "policy moody: Decide: ", want)
		if decisions != nil {
			t.Errorf("mood %d: decisions %v beside the error", mood, decisions)
		}
	}
	plain, in := tc.New(tc.Config{}), round(50, 5)
	got, _, err := pluginhost.CheckedPolicy(plain).Decide(t.Context(), in)
	if want, _, _ := plain.Decide(t.Context(), in); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// invalid is a scheduler whose answers are invalid.
type invalid struct{ memory }

func (*invalid) Describe(context.Context) (localsched.Description, error) { panic("no idea") }

func (*invalid) Load(context.Context) (protocol.Load, error) {
	return protocol.Load{CPUs: -1}, nil
}

func (*invalid) FindByTag(context.Context, protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
	return 9, "", nil
}

func (*invalid) Withdraw(context.Context, protocol.Tag) (localsched.Withdrawal, error) { return 9, nil }

func (*invalid) Watch(context.Context, localsched.Cursor) (localsched.Watched, error) {
	ended := localsched.Change{Tag: tagOf(1), State: protocol.Failed, Outcome: protocol.Outcome{State: protocol.Failed}}
	return localsched.Watched{Cursor: "next", Changes: []localsched.Change{ended, {Tag: tagOf(1), State: protocol.Running}}}, nil
}

func TestCheckedScheduler(t *testing.T) {
	t.Parallel()
	s, ctx := pluginhost.CheckedScheduler(&invalid{}), t.Context()
	const name, nonsense = "local scheduler: ", "invalid response: "
	_, err := s.Describe(ctx)
	wants(t, err, name+"Describe: panic: no idea\n")
	_, err = s.Load(ctx)
	wants(t, err, name+"Load: "+nonsense)
	_, _, err = s.FindByTag(ctx, tagOf(1))
	wants(t, err, name+"FindByTag: "+nonsense)
	_, err = s.Withdraw(ctx, tagOf(1))
	wants(t, err, name+"Withdraw: "+nonsense)
	watched, err := s.Watch(ctx, "")
	wants(t, err, name+"Watch: "+nonsense, "after its end")
	if watched.Changes != nil {
		t.Errorf("changes beside the error: %+v", watched)
	}
	if err = s.Forget(ctx, tagOf(unknownJob)); !errors.Is(err, localsched.ErrUnknownJob) {
		t.Errorf("Forget: %v", err)
	}
}
