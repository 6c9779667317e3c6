package peer_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A submission with the key of an earlier one is that one only if it asks for the same: other jobs would be dropped.
func TestKeyOfAnotherSubmission(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	submit := func(user string, content byte) view.Reply {
		l.step(event.Submit{Asked: 1, User: user, Key: "k", SHA256: [32]byte{content}, Jobs: []protocol.Job{waitsFor(t, "", false)}})
		return l.answers[len(l.answers)-1]
	}
	first := submit("ada", 1)
	made, ok := first.(view.Submitted)
	if !ok {
		t.Fatalf("answered %+v", first)
	}
	if again, _ := submit("ada", 1).(view.Submitted); !reflect.DeepEqual(again.Jobs, made.Jobs) {
		t.Errorf("a repetition made %v, want %v", again.Jobs, made.Jobs)
	}
	other := submit("ada", 2)
	if refused, _ := other.(view.Refusal); refused.Code != view.Conflict || !strings.Contains(refused.Reason, `the key "k" is that of another submission, which made job `+made.Jobs[0].String()) {
		t.Errorf("another submission was answered %+v", other)
	}
	if bobs, ok := submit("bob", 2).(view.Submitted); !ok || reflect.DeepEqual(bobs.Jobs, made.Jobs) {
		t.Errorf("the same key of another user made %v", bobs.Jobs)
	}
}
