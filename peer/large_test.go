package peer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// TestLargeMessagesFitTheWire: of jobs whose texts are as long as they may be, a cycle
// has as many as a message holds; the next one has the others.
func TestLargeMessagesFitTheWire(t *testing.T) {
	t.Parallel()
	const jobs = 16384
	l := newLone(t, func(c *rules.Config) { c.Initiation = policy.Cycle }, idle(peertest.Greedy{}, full))
	long := submission(jobs)
	long.User = strings.Repeat("u", 256)
	for i := range long.Jobs {
		long.Jobs[i].Spec.Name = strings.Repeat("n", 1024)
		long.Jobs[i].Spec.Sites = []protocol.SiteName{"a", "b"}
	}
	l.step(long)
	asked := map[protocol.JobID]int{}
	for range 2 {
		l.sent = nil
		l.advance(protocol.Minute)
		request, ok := l.last().(protocol.QuoteRequest)
		if !ok {
			t.Fatalf("got %T", l.last())
		}
		if body, err := peerv1.Encode(request); err != nil || len(body) > 3<<20 {
			t.Errorf("%d bytes: %v", len(body), err)
		}
		reply := protocol.QuoteReply{Round: request.Round}
		for _, spec := range request.Jobs {
			asked[spec.Job]++
			reply.Quotes = append(reply.Quotes, protocol.Quote{Job: spec.Job, Declined: "full"})
		}
		l.step(event.MessageIn{From: "b", Body: reply})
	}
	if len(asked) != jobs {
		t.Errorf("two cycles had %d of %d jobs", len(asked), jobs)
	}
}

// full declines at length.
func full(r protocol.Request) protocol.Quote {
	return protocol.Quote{Job: r.Job, Declined: strings.Repeat("é", 5000)}
}

// TestLargeRepliesFitTheWire: whatever the local scheduler says, there is a reply with a
// quote for each job.
func TestLargeRepliesFitTheWire(t *testing.T) {
	t.Parallel()
	expensive := func(r protocol.Request) protocol.Quote {
		q := protocol.Quote{Job: r.Job, ERT: protocol.Never - 1, Currency: "EUR"}
		for i := range 32 {
			q.Terms = append(q.Terms, protocol.Term{Name: fmt.Sprintf("%064d", i), Amount: -1})
		}
		return q
	}
	for name, tt := range map[string]struct {
		quote    func(protocol.Request) protocol.Quote
		jobs     int
		declined int // at most
		reason   int // bytes at most
	}{
		"few long reasons":  {full, 64, 64, 2051},
		"many long reasons": {full, 16384, 16384, 163},
		"few prices":        {expensive, 1000, 0, 0},
		"many prices":       {expensive, 16384, 15500, 163},
		"many short ones":   {atOnce, 16384, 0, 0},
		"few long notes":    {noted, 64, 0, 0},
		"many long notes":   {noted, 16384, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLone(t, func(c *rules.Config) { c.Partners[0].MaxJobs = 1 << 20 }, idle(peertest.Greedy{}, tt.quote))
			var request protocol.QuoteRequest
			for i := range uint64(tt.jobs) {
				request.Jobs = append(request.Jobs, guest(i+1, 1))
			}
			reply := l.quote(request)
			if _, err := peerv1.Encode(reply); err != nil {
				t.Error(err)
			}
			declined := 0
			for _, q := range reply.Quotes {
				if len(q.Declined) > tt.reason {
					t.Fatalf("a reason of %d bytes: %s", len(q.Declined), q.Declined)
				}
				if q.Declined != "" {
					declined++
				}
			}
			if declined > tt.declined {
				t.Errorf("%d jobs are declined, at most %d have no place", declined, tt.declined)
			}
		})
	}
}

// noted says much of a wait.
func noted(r protocol.Request) protocol.Quote {
	return protocol.Quote{Job: r.Job, ERT: r.WallTime, Note: strings.Repeat("é", 5000)}
}

// large is site a with this number of partners, which all answer as configured, and the policy that
// places nothing.
type large struct {
	peer *peer.Peer
	now  protocol.Instant
	jobs int
}

func newLarge(tb testing.TB, sites, jobs int) *large {
	tb.Helper()
	cfg := goodConfig()
	cfg.Policy, cfg.Initiation, cfg.PartnersPerRound, cfg.Partners = policy.Describe(peertest.Greedy{}), policy.Cycle, sites, nil
	for i := range sites {
		cfg.Partners = append(cfg.Partners, rules.Partner{Site: siteName(i), MaxJobs: jobs})
	}
	p, err := peer.New(cfg, 1, nil)
	if err != nil {
		tb.Fatal(err)
	}
	l := &large{peer: p, now: peertest.Epoch, jobs: jobs}
	p.Step(l.now, event.Tick{})
	for i := range sites {
		p.Step(l.now, event.Connected{Card: protocol.Card{
			Site: siteName(i), Number: protocol.SiteNumber(i + 2), Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1,
			Capacity: protocol.Capacity{CPUs: 8, Nodes: 8},
		}})
	}
	p.Step(l.now, submission(jobs))
	return l
}

func siteName(i int) protocol.SiteName { return protocol.SiteName(fmt.Sprintf("p%02d", i)) }

// cycle is the next one: site i waits for i minutes, every third declines. No job is
// placed. Its last step says so.
func (l *large) cycle(tb testing.TB) event.Ready {
	tb.Helper()
	l.now = l.now.Add(protocol.Minute)
	ready := l.peer.Step(l.now, event.Tick{})
	quote, ok := ready.Calls[len(ready.Calls)-1].Op.(event.QuoteOp)
	if !ok || len(quote.Query.Jobs) != l.jobs {
		tb.Fatalf("%d calls", len(ready.Calls))
	}
	home := event.QuoteResult{}
	for _, r := range quote.Query.Jobs {
		home.Quotes = append(home.Quotes, protocol.Quote{Job: r.Job, Declined: "full"})
	}
	requests := l.peer.Step(l.now, event.CallDone{ID: ready.Calls[len(ready.Calls)-1].ID, Result: home}).Messages
	for i, m := range requests {
		request, _ := m.Body.(protocol.QuoteRequest)
		reply := protocol.QuoteReply{Round: request.Round}
		for _, spec := range request.Jobs {
			q := protocol.Quote{Job: spec.Job, AWT: protocol.Duration(i) * protocol.Minute, ERT: protocol.Hour}
			if i%3 == 2 {
				q = protocol.Quote{Job: spec.Job, Declined: "full"}
			}
			reply.Quotes = append(reply.Quotes, q)
		}
		ready = l.peer.Step(l.now, event.MessageIn{From: m.To, Body: reply})
	}
	return l.peer.Step(l.now, event.CallDone{ID: ready.Calls[0].ID, Result: event.DecideResult{}})
}

// TestFactsOfLargeRounds tell the best quotes and how many others there are; those of
// small ones all.
func TestFactsOfLargeRounds(t *testing.T) {
	t.Parallel()
	for jobs, reported := range map[int]int{256: 31, 257: 8} {
		t.Run(fmt.Sprint(jobs, " jobs"), func(t *testing.T) {
			t.Parallel()
			facts := newLarge(t, 30, jobs).cycle(t).LogEvents
			if len(facts) != jobs {
				t.Fatalf("%d facts", len(facts))
			}
			for _, f := range facts {
				if f.Kind != event.LogJobDeferred || len(f.Quotes) != reported || f.OmittedQuotes != 31-reported {
					t.Fatalf("%s tells %d quotes and %d others", f.Kind, len(f.Quotes), f.OmittedQuotes)
				}
				if f.Quotes[0].Site != "p00" || f.Quotes[1].Site != "p01" || f.Quotes[7].Site != "p10" {
					t.Fatalf("not the best: %+v", f.Quotes)
				}
				if f.Text != "CycleLimitReached (20 sites would take it, but not in this round)" {
					t.Fatalf("told: %s", f.Text)
				}
			}
		})
	}
}

// BenchmarkCycle is the core's share of a cycle of as many jobs as there may be, over
// fifty partners; nothing is placed.
func BenchmarkCycle(b *testing.B) {
	l := newLarge(b, 50, 16384)
	for b.Loop() {
		l.cycle(b)
	}
}
