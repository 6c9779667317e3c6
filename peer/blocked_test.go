package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// awaiting is a peer with the partners b and c, of which b is down, and a job that may run at b
// only. What was asked until then is forgotten.
func awaiting(t *testing.T, change func(*rules.Config)) *lone {
	t.Helper()
	l := newLone(t, func(c *rules.Config) {
		c.Policy, c.Partners = policy.Describe(tc.New(tc.Config{})), []rules.Partner{{Site: "b", MaxJobs: 10}, {Site: "c", MaxJobs: 10}}
		change(c)
	}, idle(tc.New(tc.Config{}), atOnce))
	l.step(event.Disconnected{Site: "b"})
	l.step(atB())
	return l
}

func atB() event.Submit {
	ev := submission(1)
	ev.Jobs[0].Spec.Sites = []protocol.SiteName{"b"}
	return ev
}

func card(site protocol.SiteName, cpus int) event.Connected {
	return event.Connected{Card: protocol.Card{
		Site: site, Number: protocol.SiteNumber(site[0] - 'a' + 1), Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1,
		Capacity: protocol.Capacity{CPUs: cpus, Nodes: cpus},
	}}
}

// requests are how many questions for quotes partners were sent.
func (l *lone) requests() (n int) {
	for _, m := range l.sent {
		if request, ok := m.Body.(protocol.QuoteRequest); ok && len(request.Jobs) > 0 {
			n++
		}
	}
	return n
}

func (l *lone) reason() string {
	l.t.Helper()
	l.answers = nil
	l.step(event.AskQueue{Asked: 1})
	return l.answers[0].(view.Queue).Jobs[0].Reason
}

// TestJobsThatWaitForASite: a job that only a site could run which is down has one round, and
// then none until that site can be asked; whoever else comes and goes.
func TestJobsThatWaitForASite(t *testing.T) {
	t.Parallel()
	for _, initiation := range []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric, policy.Cycle} {
		t.Run(string(initiation), func(t *testing.T) {
			t.Parallel()
			l := awaiting(t, func(c *rules.Config) {
				c.Initiation, c.Policy.Initiations = initiation, []policy.Initiation{initiation}
			})
			l.advance(2 * protocol.Minute) // a cycle is within
			if count[event.DecideOp](l) != 1 || !strings.HasPrefix(l.reason(), "AllSitesDeclined") {
				t.Errorf("%d rounds, the job says %q", count[event.DecideOp](l), l.reason())
			}
			l.advance(protocol.Day)
			l.step(card("c", 8))
			l.step(event.Disconnected{Site: "c"})
			l.step(card("c", 16))
			l.advance(protocol.Day)
			if n := count[event.DecideOp](l); n != 1 {
				t.Errorf("%d rounds while its site was down", n)
			}
			l.sent = nil
			l.step(card("b", 8))
			l.advance(2 * protocol.Minute)
			if l.requests() == 0 {
				t.Error("its site is back, and was not asked")
			}
		})
	}
}

// TestJobsThatWaitForASiteOverARestart: the peer remembers why they wait, and gives them no
// other round for that.
func TestJobsThatWaitForASiteOverARestart(t *testing.T) {
	t.Parallel()
	l := awaiting(t, func(*rules.Config) {})
	rows := row.Rows{}
	for _, rec := range l.records {
		rows.Commit(rec)
	}
	restored, err := rows.Records()
	if err != nil {
		t.Fatal(err)
	}
	cfg := goodConfig()
	cfg.Partners = []rules.Partner{{Site: "b", MaxJobs: 10}, {Site: "c", MaxJobs: 10}}
	if l.peer, err = peer.New(cfg, 1, restored); err != nil {
		t.Fatal(err)
	}
	l.asked, l.facts = nil, nil
	l.step(event.Tick{})
	if why := l.reason(); why != "NoEligibleSite" { // whose card is not known since the start
		t.Errorf("the job says %q", why)
	}
	l.advance(protocol.Hour)
	l.step(card("c", 8))
	l.advance(protocol.Hour)
	if n := count[event.DecideOp](l); n != 0 || len(l.facts) > 1 { // that c is up
		t.Errorf("%d rounds, facts %+v", n, l.facts)
	}
	l.sent = nil
	if l.step(card("b", 8)); l.requests() != 1 {
		t.Errorf("its site is back: %+v", l.sent)
	}
}

// TestJobsThatWaitForASiteThatCannotRunThem: when all cards are known and none will do, the job
// says so.
func TestJobsThatWaitForASiteThatCannotRunThem(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(c *rules.Config) {
		c.Policy, c.Partners = policy.Describe(tc.New(tc.Config{})), []rules.Partner{{Site: "b", MaxJobs: 10}, {Site: "c", MaxJobs: 10}}
	}, idle(tc.New(tc.Config{}), func(r protocol.Request) protocol.Quote { return protocol.Quote{Job: r.Job, Declined: "too large"} }))
	ev := submission(1)
	ev.Jobs[0].Spec.CPUs = 100
	l.step(ev)
	l.advance(protocol.Hour)
	if why := l.reason(); why != "NoEligibleSite" || count[event.DecideOp](l) != 1 {
		t.Errorf("%d rounds, the job says %q", count[event.DecideOp](l), why)
	}
	l.step(card("c", 8))
	l.advance(protocol.Hour)
	if why := l.reason(); !strings.HasPrefix(why, "AllSitesDeclined") || count[event.DecideOp](l) != 2 {
		t.Errorf("%d rounds, the job says %q", count[event.DecideOp](l), why)
	}
	l.sent = nil
	if l.step(card("c", 128)); l.requests() != 1 { // another card, without an end of the session
		t.Errorf("c has grown: %+v", l.sent)
	}
}

// TestJobsThatWaitForASilentSite: one that is heard again is asked at once.
func TestJobsThatWaitForASilentSite(t *testing.T) {
	t.Parallel()
	l := awaiting(t, func(*rules.Config) {})
	l.step(card("b", 8))
	l.sent = nil
	l.advance(protocol.Hour) // no answer to the question
	if n := l.requests(); n != 0 || count[event.DecideOp](l) != 2 {
		t.Errorf("%d rounds, %d questions", count[event.DecideOp](l), n)
	}
	l.sent = nil
	if l.step(event.MessageIn{From: "b", Body: protocol.Volunteer{Valid: 1}}); l.requests() != 1 {
		t.Errorf("b is heard again: %+v", l.sent)
	}
}

// TestJobsThatWaitForASiteAndOtherRules: by other rules they are looked at again.
func TestJobsThatWaitForASiteAndOtherRules(t *testing.T) {
	t.Parallel()
	l := awaiting(t, func(*rules.Config) {})
	cfg := goodConfig().WithDefaults()
	cfg.LocalWaitThreshold = protocol.Hour
	l.step(event.Reconfigure{Runtime: cfg.Runtime()})
	l.advance(protocol.Hour)
	if n := count[event.DecideOp](l); n != 1 { // its row says why it waits already
		t.Errorf("%d rounds", n)
	}
	cfg.Policy = policy.Describe(local.New()) // for which there is nothing to wait for
	l.facts = nil
	l.step(event.Reconfigure{Runtime: cfg.Runtime()})
	if len(l.facts) != 2 || l.facts[1].Kind != event.LogJobDeferred {
		t.Errorf("no partner is asked any more: %+v", l.facts)
	}
}

// TestAVolunteerThatCannotHoldRoom is not waited for by components that start together: under
// symmetric they ask all partners, and the policy is not asked about them without end.
func TestAVolunteerThatCannotHoldRoom(t *testing.T) {
	t.Parallel()
	asked := 0
	l := newLone(t, func(c *rules.Config) {
		c.Policy, c.Initiation, c.Reserves = policy.Describe(peertest.Greedy{ApplicationAware: true}), policy.Symmetric, true
	}, func(op event.Op) (event.Result, error) {
		if _, decide := op.(event.DecideOp); !decide {
			return idle(nil, atOnce)(op)
		}
		if asked++; asked > 1000 {
			return nil, errLater
		}
		return event.DecideResult{}, nil // they stay in the grid queue
	})
	l.step(event.MessageIn{From: "b", Body: protocol.Volunteer{Load: protocol.Load{CPUs: 8}, Valid: protocol.Hour}})
	l.step(event.Submit{User: "ada", Application: wanting(), Jobs: pair(1, nil, nil)})
	l.advance(protocol.Minute)
	if asked == 0 || asked > 10 { // twice in a round, since it does not say why
		t.Errorf("the policy was asked %d times in a minute: %+v", asked, l.answers)
	}
}
