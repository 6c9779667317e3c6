package peer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestCycle checks the clauses of [MC 2], and what protects a site's local users.
func TestCycle(t *testing.T) {
	t.Parallel()
	const cycle = "set all greedy initiation=cycle\n"
	for name, tt := range map[string]struct {
		commands  string
		want, not []string
	}{
		"nothing happens before the period is over": {
			"sites a=4 b=4\n" + cycle + "submit a\nadvance 59999ms",
			nil,
			[]string{"call quote", "quote-request", "committed-local"},
		},
		"all jobs that have come are in the round, the last one as well": {
			"sites a=4 b=4\n" + cycle + "submit a n=2\nadvance 59999ms\nsubmit a\nadvance 1ms",
			[]string{"send b quote-request a1 a2 a3"},
			nil,
		},
		"round-jobs bounds no cycle": {
			"sites a=4 b=4\n" + cycle + "set all round-jobs=2\nsubmit a n=5\nadvance 60s",
			[]string{"send b quote-request a1 a2 a3 a4 a5"},
			nil,
		},
		"the period is what is configured": {
			"sites a=4 b=4\n" + cycle + "set a cycle=7s\nsubmit a\nadvance 6999ms\nshow wires\nadvance 1ms",
			[]string{"-- 7s", "send b quote-request a1"},
			[]string{"  a->b quote-request"},
		},
		"what waits is in every cycle; what comes meanwhile waits for the next one": {
			"sites a=2 b=2\n" + cycle + "set a max-jobs=-1\nset b max-jobs=-1\nsubmit a cpus=2 time=60s sites=b\nadvance 60s\ndeliver-all\nsubmit a sites=b\nadvance 60s\ndeliver-all\nadvance 60s",
			[]string{"-- 1m0s", "send b quote-request a1", "-- 2m0s", "send b quote-request a1 a2", "-- 3m0s"},
			nil,
		},
		"the period is from cycle to cycle, however long a round takes": {
			"sites a=2 b=2\n" + cycle + "set b max-jobs=-1\nsubmit a sites=b\nadvance 60s\nadvance 1s\ndeliver-all\nadvance 60s",
			[]string{"-- 1m0s", "-- 2m0s"},
			nil,
		},
		"a cycle that is due while one is open begins when that closes": {
			"sites a=2 b=2\n" + cycle + "set a cycle=2s deadline=5s\nset b max-jobs=-1\nsubmit a sites=b\nadvance 5s\ndeliver a->b\ndeliver b->a\nshow wires",
			[]string{"  a->b quote-request a1"},
			nil,
		},
		"without jobs there are no cycles": {
			"sites a=2 b=2\n" + cycle + "submit a\ncancel a a1\nadvance 600s",
			nil,
			[]string{"call quote", "quote-request"},
		},
		"a job for its own site alone goes at once, and is asked of nobody": {
			"sites a=2 b=2\n" + cycle + "submit a sites=a",
			[]string{"row job a1:1 committed-local at a", "its user lets it run here only"},
			[]string{"call quote", "quote-request"},
		},
		"a job for its own site and another one does not": {
			"sites a=2 b=2\n" + cycle + "submit a sites=a,b",
			nil,
			[]string{"committed-local"},
		},
		"MaxQ: of its own jobs a site takes no more in a period either": {
			"sites a=8\n" + cycle + "set a max-q=2\nsubmit a n=5 time=60s run=1s\nadvance 60s\nshow queue a",
			[]string{"row job a1:1 committed-local", "row job a2:1 committed-local", "a3 x PENDING (CycleLimitReached", "a5 x PENDING"},
			[]string{"row job a3:1", "row job a4:1", "row job a5:1"},
		},
		"MaxQ: the next period takes the next ones": {
			"sites a=8\n" + cycle + "set a max-q=2\nsubmit a n=5 time=60s run=1s\nadvance 120s",
			[]string{"row job a3:1 committed-local", "row job a4:1 committed-local"},
			[]string{"row job a5:1"},
		},
		"MaxQ: own jobs leave so much less for guests": {
			"sites a=8 b=1\n" + cycle + "set a max-q=3\nset b cycle=61s\nsubmit a n=2\nsubmit b n=3 sites=a\nadvance 60s\ndeliver-all\nadvance 1s\ndeliver-all",
			[]string{"row job a1:1 committed-local", "row job a2:1 committed-local", "b3 waits 0s runs 1m0s, takes 1", "row job b1:1 handed-off at a"},
			[]string{"b2:1 handed-off", "b3:1 handed-off"},
		},
		"MaxQ: jobs for their own site alone do not count": {
			"sites a=8\n" + cycle + "set a max-q=1\nsubmit a n=3 sites=a\nsubmit a\nadvance 60s",
			[]string{"row job a3:1 committed-local", "row job a4:1 committed-local"},
			nil,
		},
		"MaxQ: who sends under another initiation is bound as well": {
			"sites a=1 b=8\nset b max-q=1\nsubmit a cpus=1 time=3600s run=3600s sites=a\nsubmit a time=600s n=2 sites=b\ndeliver-all\nshow queue a",
			[]string{"row job a2:1 handed-off at b", "a3 x PENDING"},
			[]string{"a3:1 handed-off"},
		},
		"the quote of what an offer may bring tells how many are taken": {
			"sites a=1 b=8\n" + cycle + "set b max-q=2\nsubmit a n=3 sites=b\nadvance 60s\ndeliver a->b",
			[]string{"send a quote-reply, 0 of 8 CPUs busy, a1 waits 0s runs 1m0s, a2 waits 0s runs 1m0s, a3 waits 0s runs 1m0s, takes 2"},
			nil,
		},
		"a volunteer changes nothing under cycle": {
			"sites a=4 b=4\n" + cycle + "set b initiation=symmetric sigma=10s\nsubmit a\nadvance 10s\ndeliver-all",
			[]string{"send a volunteer"},
			[]string{"quote-request", "partner-volunteers"},
		},
		"protected by share: exactly the share is let in": {
			"sites a=1 b=4\nset b protect-share=50\nquote a cpus=2\nquote a cpus=3\ndeliver-all",
			[]string{"b waits 0s runs 1m0s", "b declined (guests would have 75.0 % of the CPUs, the site allows 50.0 %)"},
			nil,
		},
		"protected by share: own users have all": {
			"sites a=1 b=4\nset b protect-share=1\nsubmit b cpus=4",
			[]string{"row job b1:1 committed-local at b"},
			nil,
		},
		"not protected: nobody is asked whom a guest would delay": {
			"sites a=1 b=2\nsubmit b cpus=1 time=300s run=300s sites=b\nsubmit b cpus=2 time=60s sites=b\nsubmit b cpus=2 time=60s sites=b\nquote a time=3600s\ndeliver-all",
			[]string{"b waits 7m0s runs 1h0m0s"},
			[]string{"delays"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := play(t, tt.commands)
			for _, part := range tt.want {
				if !has(out, part) {
					t.Errorf("missing: %s\n%s", part, strings.Join(out, "\n"))
				}
			}
			for _, part := range tt.not {
				if has(out, part) {
					t.Errorf("must not be: %s\n%s", part, strings.Join(out, "\n"))
				}
			}
		})
	}
}

// TestMaxQOverBothSenders: what guests have taken of a period is not there for the own
// jobs, and the other way round. A repeated offer counts once; a refused job is not excluded.
func TestMaxQOverBothSenders(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(c *rules.Config) {
		c.Initiation, c.MaxJobsPerCycle = policy.Cycle, 3
	}, idle(peertest.Greedy{}, atOnce))
	l.step(event.Disconnected{Site: "b"}) // so that the cycle asks no partner
	l.step(submission(5))
	l.advance(protocol.Minute - 1)
	if got := count[event.SubmitOp](l); got != 0 {
		t.Errorf("%d jobs were placed before the period was over", got)
	}
	l.advance(1)
	if got := count[event.SubmitOp](l); got != 3 {
		t.Errorf("%d own jobs were placed in the first cycle, want 3", got)
	}
	if refused, ok := l.offer(1).(protocol.Refused); !ok || !refused.Full {
		t.Errorf("a guest beyond MaxQ: %+v", l.sent)
	}
	l.advance(protocol.Minute) // the other two go, and leave room for one
	if got := count[event.SubmitOp](l); got != 5 {
		t.Errorf("%d own jobs were placed in two cycles, want 5", got)
	}
	for range 2 {
		if reply := l.quote(protocol.QuoteRequest{Jobs: []protocol.Spec{guest(1, 1)}}); reply.MaxJobs > 1 {
			t.Errorf("%d are taken, want 1 at most", reply.MaxJobs)
		}
		if _, ok := l.offer(1).(protocol.Prepared); !ok {
			t.Errorf("a guest in the next period: %+v", l.sent)
		}
	}
	if refused, ok := l.offer(2).(protocol.Refused); !ok || !refused.Full {
		t.Errorf("another guest: %+v", l.sent)
	}
	l.advance(protocol.Minute)
	if reply := l.quote(protocol.QuoteRequest{Jobs: []protocol.Spec{guest(3, 1)}}); reply.MaxJobs != 3 {
		t.Errorf("in a new period %d are taken, want 3", reply.MaxJobs)
	}
}

// TestMaxQWithAnotherCycle: what has been taken counts when periods become shorter or longer, and
// a guest that goes makes room for one other at most.
func TestMaxQWithAnotherCycle(t *testing.T) {
	t.Parallel()
	for _, cycle := range []protocol.Duration{protocol.Second, 10 * protocol.Second, protocol.Hour} {
		l := newLone(t, func(c *rules.Config) { c.MaxJobsPerCycle = 2 }, idle(peertest.Greedy{}, atOnce))
		accept := func() int { return l.quote(protocol.QuoteRequest{Jobs: []protocol.Spec{guest(9, 1)}}).MaxJobs }
		l.offer(1)
		cfg := goodConfig().WithDefaults()
		cfg.Policy, cfg.MaxJobsPerCycle, cfg.CycleInterval = policy.Describe(peertest.Greedy{}), 2, cycle
		l.step(event.Reconfigure{Runtime: cfg.Runtime()})
		if got := accept(); got != 1 {
			t.Errorf("cycle %v: %d are taken beside one guest, want 1", cycle, got)
		}
		l.step(event.MessageIn{From: "b", Body: protocol.Abort{Tag: tagOf(1)}})
		if got := accept(); got != 2 {
			t.Errorf("cycle %v: %d are taken after the guest has gone, want 2", cycle, got)
		}
		l.offer(2)
		l.advance(cycle)
		l.step(event.MessageIn{From: "b", Body: protocol.Abort{Tag: tagOf(2)}})
		if got := accept(); got != 2 {
			t.Errorf("cycle %v: %d are taken in the next period, want 2", cycle, got)
		}
	}
}

// TestMaxQOverARestart: what was taken in a period counts until that is over, whoever starts
// the peer again.
func TestMaxQOverARestart(t *testing.T) {
	t.Parallel()
	change := func(c *rules.Config) {
		c.MaxJobsPerCycle, c.Policy, c.Partners = 3, policy.Describe(peertest.Greedy{}), []rules.Partner{{Site: "b", MaxJobs: 1000}}
	}
	l := newLone(t, change, idle(peertest.Greedy{}, atOnce))
	again := func() {
		rows := row.Rows{}
		for _, rec := range l.records {
			rows.Commit(rec)
		}
		restored, err := rows.Records()
		if err != nil {
			t.Fatal(err)
		}
		cfg := goodConfig()
		change(&cfg)
		if l.peer, err = peer.New(cfg, 1, restored); err != nil {
			t.Fatal(err)
		}
		l.step(event.Tick{})
		l.step(card("b", 8))
	}
	accept := func() int { return l.quote(protocol.QuoteRequest{Jobs: []protocol.Spec{guest(9, 1)}}).MaxJobs }
	l.offer(1)
	l.offer(2)
	again()
	if got := accept(); got != 1 {
		t.Errorf("%d are taken beside two guests, want 1", got)
	}
	l.step(event.MessageIn{From: "b", Body: protocol.Abort{Tag: tagOf(1)}})
	if got := accept(); got != 2 {
		t.Errorf("%d are taken after one has gone, want 2", got)
	}
	again()
	if got := accept(); got != 2 {
		t.Errorf("%d are taken after another start, want 2", got)
	}
	l.advance(protocol.Minute)
	again()
	if got := accept(); got != 3 {
		t.Errorf("%d are taken in the next period, want 3", got)
	}
}

// TestGuestsWhileThePolicyThinks: what they take of the period is not there for the jobs
// that the policy keeps at home; those go in the next cycle.
func TestGuestsWhileThePolicyThinks(t *testing.T) {
	t.Parallel()
	answers := idle(peertest.Greedy{}, atOnce)
	var l *lone
	l = newLone(t, func(c *rules.Config) { c.Initiation, c.MaxJobsPerCycle = policy.Cycle, 3 }, func(op event.Op) (event.Result, error) {
		if _, ok := op.(event.DecideOp); ok && count[event.DecideOp](l) == 1 {
			for seq := range uint64(2) {
				l.peer.Step(l.now, event.MessageIn{From: "b", Body: protocol.Offer{
					Spec: guest(seq+1, 1), Epoch: 1, Payload: peertest.Plan{Run: 1}.Payload(),
				}})
			}
		}
		return answers(op)
	})
	l.step(event.Disconnected{Site: "b"})
	l.step(submission(3))
	l.advance(protocol.Minute)
	if got := count[event.SubmitOp](l); got != 1 {
		t.Errorf("beside two guests %d own jobs are taken, want 1", got)
	}
	l.step(event.AskQueue{Asked: 1})
	queue, _ := l.answers[len(l.answers)-1].(view.Queue)
	waiting := slices.DeleteFunc(queue.Jobs, func(v view.Job) bool { return v.Guest || v.Site != "" })
	if len(waiting) != 2 || waiting[0].Reason != "has taken 3 jobs in this period, as many as it allows" {
		t.Errorf("waiting: %+v", waiting)
	}
	l.advance(protocol.Minute)
	if got := count[event.SubmitOp](l); got != 3 {
		t.Errorf("after the next cycle %d own jobs are taken, want 3", got)
	}
}

// TestOwnJobsOutsideCycles do not count towards MaxQ, and are not bound by it.
func TestOwnJobsOutsideCycles(t *testing.T) {
	t.Parallel()
	later := func(r protocol.Request) protocol.Quote {
		return protocol.Quote{Job: r.Job, AWT: protocol.Hour, ERT: r.WallTime}
	}
	l := newLone(t, func(c *rules.Config) { c.MaxJobsPerCycle = 2 }, idle(peertest.Greedy{}, later))
	l.step(event.Disconnected{Site: "b"})
	l.step(submission(3))
	if got := count[event.SubmitOp](l); got != 3 {
		t.Errorf("%d own jobs were placed, want 3", got)
	}
	if reply := l.quote(protocol.QuoteRequest{Jobs: []protocol.Spec{guest(1, 1)}}); reply.MaxJobs != 2 {
		t.Errorf("%d guests are taken, want 2", reply.MaxJobs)
	}
}

// TestMaxQIsGivenBack: room that was prepared and not used is there again for others, in
// the period that it was counted in.
func TestMaxQIsGivenBack(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(c *rules.Config) { c.MaxJobsPerCycle = 1 }, idle(peertest.Greedy{}, atOnce))
	prepared := func(seq uint64, want bool) {
		t.Helper()
		if _, ok := l.offer(seq).(protocol.Prepared); ok != want {
			t.Errorf("job %d at %v: %+v", seq, l.now.Sub(peertest.Epoch), l.sent)
		}
	}
	abort := func(seq uint64) { l.step(event.MessageIn{From: "b", Body: protocol.Abort{Tag: tagOf(seq)}}) }
	prepared(1, true)
	prepared(2, false)
	abort(1)
	abort(1) // counts once
	prepared(2, true)
	prepared(3, false)
	l.advance(protocol.Minute)
	prepared(3, true)
	abort(2) // was counted in the last period
	prepared(4, false)
	l.step(event.MessageIn{From: "b", Body: protocol.Grant{Tag: tagOf(3)}})
	abort(3) // too late
	prepared(4, false)
}

func tagOf(seq uint64) protocol.Tag { return protocol.Tag{Job: protocol.NewJobID(2, seq), Epoch: 1} }

// TestFullPartnersAreLeftAlone: outside cycles a partner that has taken as many as it
// allows is not asked about the job again at once.
func TestFullPartnersAreLeftAlone(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	away := submission(1)
	away.Jobs[0].Spec.Sites = []protocol.SiteName{"b"}
	l.step(away)
	request, ok := l.last().(protocol.QuoteRequest)
	if !ok {
		t.Fatalf("got %+v", l.sent)
	}
	l.step(event.MessageIn{From: "b", Body: protocol.QuoteReply{
		Round: request.Round, MaxJobs: 1, Quotes: []protocol.Quote{{Job: request.Jobs[0].Job, ERT: protocol.Hour}},
	}})
	offer, ok := l.last().(protocol.Offer)
	if !ok {
		t.Fatalf("got %+v", l.sent)
	}
	l.sent = nil
	l.step(event.MessageIn{From: "b", Body: protocol.Refused{
		Tag: protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}, Full: true, Reason: "full",
	}})
	l.advance(45*protocol.Second - 1)
	if len(l.sent) != 0 {
		t.Errorf("asked again within %v: %+v", l.now.Sub(peertest.Epoch), l.sent)
	}
	l.advance(75 * protocol.Second)
	if _, ok = l.last().(protocol.QuoteRequest); !ok {
		t.Errorf("not asked again within %v: %+v", l.now.Sub(peertest.Epoch), l.sent)
	}
}

// TestWaitingInCyclesWritesNothing: why a job waits changes from cycle to cycle; only the
// word for it is durable, the rest is shown.
func TestWaitingInCyclesWritesNothing(t *testing.T) {
	t.Parallel()
	cycles := 0
	full := func(r protocol.Request) protocol.Quote {
		cycles++
		return protocol.Quote{Job: r.Job, Declined: fmt.Sprintf("full for the %d. time", cycles)}
	}
	l := newLone(t, func(c *rules.Config) { c.Initiation = policy.Cycle }, idle(peertest.Greedy{}, full))
	l.step(event.Disconnected{Site: "b"})
	l.step(submission(1))
	l.advance(protocol.Minute)
	l.records = nil
	l.advance(2 * protocol.Minute)
	if cycles != 3 || len(l.records) != 0 {
		t.Errorf("%d cycles, rows %+v", cycles, l.records)
	}
	l.step(event.AskQueue{Asked: 1})
	queue, _ := l.answers[len(l.answers)-1].(view.Queue)
	if len(queue.Jobs) != 1 || queue.Jobs[0].Reason != "AllSitesDeclined (a: full for the 3. time)" {
		t.Errorf("got %+v", queue)
	}
}
