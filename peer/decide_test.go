package peer_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestFallback: when the policy fails or does not answer, the fallback decides the round, and
// both is reported; without one, or when that fails too, the job waits. The hint is the policy's.
func TestFallback(t *testing.T) {
	t.Parallel()
	down, late := errors.New("the plugin is down"), errors.New("no answer within 1m0s")
	for name, tt := range map[string]struct {
		fallback  string
		fails     error // the policy, from the second job on
		alsoFails error // the fallback
		asked     int
		placed    bool
		fact      event.LogKind
		text      string
	}{
		"works":     {"local", nil, nil, 1, true, "", ""},
		"fails":     {"local", down, nil, 2, true, event.LogPolicyFailed, "fallback policy local decided: the plugin is down"},
		"is late":   {"local", late, nil, 2, true, event.LogPolicyFailed, "fallback policy local decided: no answer within 1m0s"},
		"both fail": {"local", down, late, 2, false, event.LogCallFailed, "policy: the plugin is down; fallback policy: no answer within 1m0s"},
		"no other":  {"", down, nil, 1, false, event.LogCallFailed, "policy: the plugin is down"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := idle(peertest.Greedy{}, atOnce)
			var failing error
			l := newLone(t, func(c *rules.Config) { c.Fallback, c.Partners = tt.fallback, nil }, func(op event.Op) (event.Result, error) {
				decide, ok := op.(event.DecideOp)
				switch {
				case !ok:
					return answer(op)
				case decide.Fallback:
					return event.DecideResult{Decisions: []policy.Decision{{Reason: "small"}}, Hint: []byte("another's")}, tt.alsoFails
				}
				return event.DecideResult{Decisions: []policy.Decision{{Reason: "good"}}, Hint: []byte("its own")}, failing
			})
			l.step(submission(1))
			failing = tt.fails
			l.asked, l.facts = nil, nil
			l.step(submission(1))
			asked := l.rounds()
			if len(asked) != tt.asked || string(asked[0].Snapshot.Hint) != "its own" || asked[0].Fallback {
				t.Fatalf("asked %+v", asked)
			}
			if len(asked) == 2 && (!asked[1].Fallback || asked[1].Snapshot.Hint != nil) {
				t.Errorf("the fallback is asked %+v", asked[1])
			}
			view := l.view(l.answers[1].(view.Submitted).Jobs[0])
			if (view.CommittedAt != 0) != tt.placed {
				t.Errorf("placed at %v, it says %s", view.CommittedAt, view.Reason)
			}
			reported := func(f event.LogEvent) bool { return f.Kind == tt.fact && f.Text == tt.text }
			if tt.fact != "" && !slices.ContainsFunc(l.facts, reported) {
				t.Errorf("%s: %q is not told: %+v", tt.fact, tt.text, l.facts)
			}
			reason := func(f event.LogEvent) bool {
				return f.Kind == event.LogRoundDecided && f.Text == "small; the policy failed, "+tt.text
			}
			if tt.fact == event.LogPolicyFailed && !slices.ContainsFunc(l.facts, reason) {
				t.Errorf("the job's facts do not say who decided: %+v", l.facts)
			}
			if tt.fails == nil {
				return
			}
			failing, l.asked = nil, nil
			l.advance(10 * protocol.Minute)
			l.step(submission(1))
			if next := l.rounds(); string(next[0].Snapshot.Hint) != "its own" {
				t.Errorf("then its hint is %q", next[0].Snapshot.Hint)
			}
		})
	}
}

// TestPlacedLocallySaysHowLongItTook: a job that stays without a round has waited for the own quote.
func TestPlacedLocallySaysHowLongItTook(t *testing.T) {
	t.Parallel()
	answer := idle(nil, atOnce)
	l := newLone(t, func(c *rules.Config) { c.Policy = goodConfig().Policy }, answer)
	l.calls = func(op event.Op) (event.Result, error) {
		if _, quote := op.(event.QuoteOp); quote {
			l.now = l.now.Add(2 * protocol.Second)
		}
		return answer(op)
	}
	l.step(submission(1))
	i := slices.IndexFunc(l.facts, func(f event.LogEvent) bool { return f.Kind == event.LogJobPlacedLocally })
	if i < 0 || l.facts[i].Duration != 2*protocol.Second {
		t.Errorf("logged %+v", l.facts)
	}
}

// rounds are the questions to policies.
func (l *lone) rounds() (all []event.DecideOp) {
	for _, op := range l.asked {
		if decide, ok := op.(event.DecideOp); ok {
			all = append(all, decide)
		}
	}
	return all
}

// TestOutcomesOfDecisions: the policy is given what came of its decisions until it has decided
// with that, and nothing of what the fallback decided.
func TestOutcomesOfDecisions(t *testing.T) {
	t.Parallel()
	answer := idle(peertest.Greedy{}, atOnce)
	var failing error
	l := newLone(t, func(c *rules.Config) { c.Fallback, c.Partners = "local", nil }, func(op event.Op) (event.Result, error) {
		decide, ok := op.(event.DecideOp)
		switch {
		case !ok:
			return answer(op)
		case decide.Fallback:
			return event.DecideResult{Decisions: []policy.Decision{{Reason: "small"}}}, nil
		}
		return event.DecideResult{Decisions: []policy.Decision{{Reason: "good"}}}, failing
	})
	// next submits a job and ends it, and returns the outcomes that the policy was given.
	next := func(fails error) (protocol.JobID, []policy.Outcome) {
		t.Helper()
		failing, l.asked, l.answers = fails, nil, nil
		l.step(submission(1))
		id := l.answers[0].(view.Submitted).Jobs[0]
		l.finish(protocol.Tag{Job: id, Epoch: 1}, protocol.Minute, protocol.Usage{})
		for _, op := range l.rounds() {
			if op.Fallback && op.Snapshot.Outcomes != nil {
				t.Errorf("the fallback is given %+v", op.Snapshot.Outcomes)
			}
		}
		in := l.rounds()[0].Snapshot
		if job := in.Jobs[0]; job.User == "" || job.Account == "" {
			t.Errorf("the job is %+v", job)
		}
		return id, in.Outcomes
	}
	placed := l.now
	first, got := next(nil)
	if got != nil {
		t.Errorf("at first %+v", got)
	}
	want := policy.Outcome{Job: first, Site: "a", DecidedAt: placed, State: protocol.Completed}
	for _, fails := range []error{errors.New("down"), nil} {
		if _, got = next(fails); !slices.Equal(got, []policy.Outcome{want}) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if _, got = next(nil); len(got) != 1 || got[0].Job <= first+1 {
		t.Errorf("after that %+v", got)
	}
}
