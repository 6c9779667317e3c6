package peer_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestGrowingWaits: the wait of one job of middling size behind none, one, two … like it,
// less that of the first. It does not fall, and ends where the scheduler says no more.
func TestGrowingWaits(t *testing.T) {
	t.Parallel()
	waits := func(seconds ...int64) (out []protocol.Duration) {
		for _, one := range seconds {
			out = append(out, protocol.Duration(one)*protocol.Second)
		}
		return out
	}
	four := []int{1, 4, 2, 3}
	for name, tt := range map[string]struct {
		cpus   []int // of the jobs of the round
		extra  int
		behind []protocol.Duration // AWT of the job that is asked about, behind this number of jobs; -1 declined, -2 no answer
		want   []protocol.Duration
		middle int // CPUs of the job that is asked about
	}{
		"it grows":                        {four, 4, waits(5, 15, 20, 40), waits(10, 15, 35), 3},
		"it does not fall":                {four, 4, waits(5, 15, 10, 12), waits(10, 10, 10), 3},
		"less than the first is as much":  {four, 4, waits(5, 0, 0, 6), waits(0, 0, 1), 3},
		"as many as are asked for":        {four, 2, waits(5, 15), waits(10), 3},
		"and as there are jobs":           {[]int{2, 1}, 64, waits(5, 15), waits(10), 2},
		"it ends where one is declined":   {four, 4, append(waits(5, 15), -1), waits(10), 3},
		"it ends where nobody answers":    {four, 4, append(waits(5, 15), -2), waits(10), 3},
		"of the jobs that would be taken": {[]int{1, 99, 4, 2, 99}, 3, waits(0, 1, 2), waits(1, 2), 2},
		"one job does not grow":           {[]int{1}, 4, waits(5), nil, 0},
		"nobody asks":                     {four, 0, waits(5), nil, 0},
		"nothing is taken":                {[]int{99, 99}, 4, waits(5), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := idle(peertest.Greedy{}, atOnce)
			l := newLone(t, func(*rules.Config) {}, func(op event.Op) (event.Result, error) {
				ask, ok := op.(event.QuoteOp)
				if !ok {
					return answers(op)
				}
				return quotedBehind(ask.Query, tt.behind)
			})
			request := protocol.QuoteRequest{MarginalJobs: tt.extra}
			for i, cpus := range tt.cpus {
				request.Jobs = append(request.Jobs, guest(uint64(i+1), cpus))
			}
			l.asked = nil
			reply := l.quote(request)
			if !slices.Equal(reply.MarginalWaits, tt.want) {
				t.Errorf("got %v, want %v", reply.MarginalWaits, tt.want)
			}
			checkGrowth(t, l.asked, tt.middle)
		})
	}
}

// quotedBehind answers as configured for a number of jobs ahead.
func quotedBehind(query localsched.Query, behind []protocol.Duration) (event.Result, error) {
	awt := behind[len(query.Ahead)]
	if awt == -2 {
		return nil, errors.New("no answer")
	}
	out := event.QuoteResult{}
	for _, r := range query.Jobs {
		q := protocol.Quote{Job: r.Job, AWT: awt, ERT: r.WallTime}
		if awt == -1 {
			q = protocol.Quote{Job: r.Job, Declined: "full"}
		}
		out.Quotes = append(out.Quotes, q)
	}
	return out, nil
}

// checkGrowth: all questions but the first are about one job that does not exist, behind others
// of its shape that have tags of their own.
func checkGrowth(t *testing.T, asked []event.Op, middle int) {
	t.Helper()
	for k, op := range asked {
		query := op.(event.QuoteOp).Query
		if len(query.Ahead) != k {
			t.Errorf("question %d is behind %d jobs", k+1, len(query.Ahead))
		}
		if k == 0 {
			continue
		}
		if len(query.Jobs) != 1 || query.Jobs[0].Job != 0 || query.Jobs[0].CPUs != middle {
			t.Errorf("question %d is about %+v", k+1, query.Jobs)
		}
		tags := map[protocol.Tag]bool{}
		for _, one := range query.Ahead {
			shape := one.Request
			shape.Job = 0
			if tags[one.Tag] || !reflect.DeepEqual(shape, query.Jobs[0]) {
				t.Errorf("question %d is behind %+v", k+1, one)
			}
			tags[one.Tag] = true
		}
	}
}

// TestGrowthIsBehindPromises: what is promised to guests is ahead of all questions.
func TestGrowthIsBehindPromises(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	if _, ok := l.offer(9).(protocol.Prepared); !ok {
		t.Fatalf("got %+v", l.sent)
	}
	l.asked = nil
	l.quote(protocol.QuoteRequest{Jobs: []protocol.Spec{guest(1, 1), guest(2, 1)}, MarginalJobs: 2})
	if len(l.asked) != 2 {
		t.Fatalf("%d questions", len(l.asked))
	}
	for k, op := range l.asked {
		ahead := op.(event.QuoteOp).Query.Ahead
		if len(ahead) != k+1 || ahead[0].Tag.Job != protocol.NewJobID(2, 9) {
			t.Errorf("question %d is behind %+v", k+1, ahead)
		}
	}
}

// TestGrowthEndsInTime: when half of the asker's deadline has passed, what is known is
// sent. A second question gets none meanwhile.
func TestGrowthEndsInTime(t *testing.T) {
	t.Parallel()
	answers := idle(peertest.Greedy{}, atOnce)
	request := protocol.QuoteRequest{
		Round: 1, Deadline: 2 * protocol.Second, MarginalJobs: 64, Jobs: slices.Repeat([]protocol.Spec{guest(1, 1)}, 64),
	}
	var l *lone
	var second []protocol.Duration
	asked := false
	l = newLone(t, func(*rules.Config) {}, func(op event.Op) (event.Result, error) {
		if ask, ok := op.(event.QuoteOp); ok && len(ask.Query.Jobs) > 0 {
			l.now = l.now.Add(300 * protocol.Millisecond)
		}
		if ask, ok := op.(event.QuoteOp); ok && len(ask.Query.Ahead) == 1 && !asked {
			asked = true
			second = l.quoteBeside(request).MarginalWaits
		}
		return answers(op)
	})
	reply := l.quote(request)
	if !asked || len(second) != 0 {
		t.Errorf("the second question is told %v", second)
	}
	if len(reply.MarginalWaits) != 3 { // 300 ms for the quotes, and 600, 900, 1200 ms
		t.Errorf("%d waits are told in half of %v", len(reply.MarginalWaits), request.Deadline)
	}
	if reply = l.quote(request); len(reply.MarginalWaits) != 3 {
		t.Errorf("the next question is told %v", reply.MarginalWaits)
	}
}

// quoteBeside asks as b does while the peer waits for another call, and is the reply,
// which needs one call.
func (l *lone) quoteBeside(request protocol.QuoteRequest) protocol.QuoteReply {
	l.t.Helper()
	ready := l.peer.Step(l.now, event.MessageIn{From: "b", Body: request})
	if len(ready.Calls) != 1 {
		l.t.Fatalf("got %+v", ready)
	}
	ask, _ := ready.Calls[0].Op.(event.QuoteOp)
	result, err := idle(peertest.Greedy{}, atOnce)(ask)
	ready = l.peer.Step(l.now, event.CallDone{ID: ready.Calls[0].ID, Result: result, Err: err})
	if len(ready.Messages) != 1 {
		l.t.Fatalf("got %+v", ready)
	}
	reply, _ := ready.Messages[0].Body.(protocol.QuoteReply)
	return reply
}
