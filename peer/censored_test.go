package peer_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// learner runs one component again and again at its own site.
type learner struct {
	*lone

	seen *[]policy.Snapshot
}

func newLearner(t *testing.T) learner {
	t.Helper()
	l, seen := seeing(t, func(policy.Snapshot) []policy.Decision { return []policy.Decision{{Job: 0, Site: 0}} })
	return learner{l, seen}
}

// expects submits the component with a limit, and is what its run is expected to take here and at b.
func (l learner) expects(limit protocol.Duration) (here, away protocol.Duration) {
	l.t.Helper()
	ev := submission(1)
	ev.Jobs[0].Spec.WallTime = limit
	ev.Jobs[0].Component = protocol.Component{Name: "solver", Alpha: 1, Estimate: 30 * protocol.Second}
	l.step(ev)
	request := l.answerQuotes()
	in := (*l.seen)[len(*l.seen)-1]
	return in.ERT[0], request.Jobs[0].PredictedRunTime
}

// ends ends the run that was submitted last.
func (l learner) ends(state protocol.State, ran protocol.Duration, used protocol.Usage) {
	l.t.Helper()
	for _, op := range slices.Backward(l.asked) {
		if submit, ok := op.(event.SubmitOp); ok {
			tag := submit.Job.Tag
			l.step(event.CallDone{ID: l.watching, Result: event.WatchResult{Watched: localsched.Watched{
				Cursor:  localsched.Cursor(tag.String()),
				Changes: []localsched.Change{{Tag: tag, State: state, Started: l.now, Outcome: protocol.Outcome{State: state, Ran: ran, Usage: used}}},
			}}})
			break
		}
	}
	l.now = l.now.Add(protocol.Minute)
}

// Runs that were ended at their limit raise what is expected of the next one, here and elsewhere;
// one among many that ended well does not.
func TestCensoredRunsRaiseEstimates(t *testing.T) {
	t.Parallel()
	l := newLearner(t)
	for i, want := range []protocol.Duration{30, 60, 90, 135} {
		here, away := l.expects(protocol.Hour)
		if here != want*protocol.Second || away != want*protocol.Second {
			t.Errorf("after %d runs that were ended after a minute it is expected to run %s here and %s at b, want %d s", i, here.Text(), away.Text(), want)
		}
		l.ends(protocol.Timeout, protocol.Minute, protocol.Usage{})
	}
	if here, _ := l.expects(70 * protocol.Second); here != 70*protocol.Second {
		t.Errorf("with a limit of 70 s it is expected to run %s", here.Text())
	}
	for range 4 {
		l.ends(protocol.Completed, 20*protocol.Second, protocol.Usage{})
		l.expects(protocol.Hour)
	}
	l.ends(protocol.Timeout, protocol.Hour, protocol.Usage{})
	if here, _ := l.expects(protocol.Hour); here < 18*protocol.Second || here > 22*protocol.Second {
		t.Errorf("after one run of five that hung it is expected to run %s", here.Text())
	}
}

// Failures teach nothing, and neither do numbers that a machine cannot have reached; what is measured
// is never above the limit.
func TestOutliersDoNotPoison(t *testing.T) {
	t.Parallel()
	l := newLearner(t)
	l.step(event.Connected{Card: protocol.Card{
		Site: "b", Number: 2, Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1,
		Capacity: protocol.Capacity{CPUs: 8, Nodes: 8, Machine: protocol.Machine{Flops: 2e9, Words: 1e9, Network: 1e8, Latency: 1000}},
	}})
	l.expects(protocol.Hour)
	l.ends(protocol.Completed, 20*protocol.Second, protocol.Usage{})
	for _, absurd := range []struct {
		state protocol.State
		ran   protocol.Duration
		used  protocol.Usage
	}{
		{protocol.Failed, 1, protocol.Usage{}},
		{protocol.NodeFail, 50 * protocol.Second, protocol.Usage{}},
		{protocol.Cancelled, 50 * protocol.Second, protocol.Usage{}},
		{protocol.Completed, 20 * protocol.Second, protocol.Usage{Mflop: 1 << 50, Mwords: 1 << 50, Sent: 1 << 60, Messages: 1 << 60, CPU: 1 << 60, MHz: 1 << 30, Energy: 1 << 60}},
		{protocol.Completed, 20 * protocol.Second, protocol.Usage{Mflop: 1, Mwords: 1 << 62}},
	} {
		l.expects(protocol.Hour)
		l.ends(absurd.state, absurd.ran, absurd.used)
		here, away := l.expects(protocol.Hour)
		if here < 18*protocol.Second || here > 22*protocol.Second || away < 5*protocol.Second || away > 40*protocol.Second {
			t.Errorf("after %+v it is expected to run %s here and %s at b", absurd, here.Text(), away.Text())
		}
		l.ends(protocol.Cancelled, 1, protocol.Usage{})
	}
	l.expects(protocol.Minute)
	l.ends(protocol.Completed, 900*protocol.Hour, protocol.Usage{})
	if here, away := l.expects(protocol.Minute); here > protocol.Minute || away > protocol.Minute {
		t.Errorf("with a limit of a minute it is expected to run %s here and %s at b", here.Text(), away.Text())
	}
}
