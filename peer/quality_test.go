package peer_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// manner is how a partner treats the jobs that it is given.
type manner struct {
	quotes protocol.Duration // AWT
	starts protocol.Duration // after it has accepted; 0: never
	runs   protocol.Duration // then it ends; 0: never
	state  protocol.State
	refuse string             // every offer, for this reason; empty: none
	gives  []protocol.Message // with which it gives jobs back soon; none: it keeps them
}

// judged is site a, whose own machine is too small for its jobs, with partners of some manner.
type judged struct {
	t       *testing.T
	cfg     rules.Config
	peer    *peer.Peer
	rows    row.Rows
	written int // rows of partners
	now     protocol.Instant
	wake    protocol.Instant
	manners map[protocol.SiteName]manner
	given   map[protocol.SiteName]int // jobs that the partner was granted
	asked   map[protocol.SiteName]int // jobs that it was asked about
	later   []delayed
	names   int
}

type delayed struct {
	at   protocol.Instant
	from protocol.SiteName
	body protocol.Message
}

func newJudged(t *testing.T, manners map[protocol.SiteName]manner) *judged {
	t.Helper()
	cfg := goodConfig()
	cfg.Capacity, cfg.Partners, cfg.AskUnreliableLast = protocol.Capacity{CPUs: 1, Nodes: 1}, nil, true
	cfg.Watermark = 10 * protocol.Second
	for site := range manners {
		cfg.Partners = append(cfg.Partners, rules.Partner{Site: site, MaxJobs: 1000})
	}
	j := &judged{
		t: t, cfg: cfg, rows: row.Rows{}, now: peertest.Epoch, manners: manners,
		given: map[protocol.SiteName]int{}, asked: map[protocol.SiteName]int{},
	}
	j.start()
	return j
}

// start starts the peer from its rows, and connects it.
func (j *judged) start() {
	j.t.Helper()
	records, err := j.rows.Records()
	if err != nil {
		j.t.Fatal(err)
	}
	if j.peer, err = peer.New(j.cfg, 1, records); err != nil {
		j.t.Fatal(err)
	}
	j.step(event.Tick{})
	for i, one := range j.cfg.WithDefaults().Partners {
		j.step(event.Connected{Card: protocol.Card{
			Site: one.Site, Number: protocol.SiteNumber(i + 2), Protocol: protocol.ProtocolVersion, Incarnation: 1, FirstStart: 1,
			Capacity: protocol.Capacity{CPUs: 8, Nodes: 8},
		}})
	}
}

func (j *judged) step(ev event.Event) (answers []event.Answer) {
	ready := j.peer.Step(j.now, ev)
	j.wake = ready.Wake
	for _, rec := range ready.Records {
		j.rows.Commit(rec)
		if rec.Table == row.PartnerTable {
			j.written++
		}
	}
	for _, m := range ready.Messages {
		j.answerAs(m.To, m.Body)
	}
	for _, call := range ready.Calls {
		switch op := call.Op.(type) { //nolint:gochecksumtype // the others need no answer here
		case event.QuoteOp:
			result := event.QuoteResult{Load: protocol.Load{CPUs: 1}}
			for range op.Query.Jobs {
				result.Quotes = append(result.Quotes, protocol.Quote{Declined: "too small"})
			}
			j.step(event.CallDone{ID: call.ID, Result: result})
		case event.DecideOp:
			decisions, hint, err := tc.New(tc.Config{}).Decide(context.Background(), op.Snapshot)
			j.step(event.CallDone{ID: call.ID, Result: event.DecideResult{Decisions: decisions, Hint: hint}, Err: err})
		}
	}
	return ready.Answers
}

// answerAs has a partner answer in its manner, soon or later.
func (j *judged) answerAs(site protocol.SiteName, body protocol.Message) {
	how := j.manners[site]
	say := func(after protocol.Duration, m protocol.Message) {
		j.later = append(j.later, delayed{j.now.Add(after), site, m})
	}
	switch m := body.(type) { //nolint:gochecksumtype // the others need no answer
	case protocol.QuoteRequest:
		reply := protocol.QuoteReply{Round: m.Round, Load: protocol.Load{CPUs: 8}, Free: 8, MaxJobs: 1000}
		for _, spec := range m.Jobs {
			reply.Quotes = append(reply.Quotes, protocol.Quote{Job: spec.Job, AWT: how.quotes, ERT: spec.WallTime})
		}
		j.asked[site] += len(m.Jobs)
		say(1, reply)
	case protocol.Offer:
		tag := protocol.Tag{Job: m.Spec.Job, Epoch: m.Epoch}
		if how.refuse != "" {
			say(1, protocol.Refused{Tag: tag, Reason: how.refuse})
			return
		}
		say(1, protocol.Prepared{Tag: tag})
	case protocol.Grant:
		j.given[site]++
		say(1, protocol.Accept(m))
		for _, before := range how.gives {
			if status, ok := before.(protocol.Status); ok {
				status.Tag = m.Tag
				before = status
			}
			say(2, before)
		}
		if how.gives != nil {
			say(3, protocol.Recalled(m))
		}
		if how.starts > 0 {
			say(how.starts, protocol.Status{Tag: m.Tag, Seq: 1, State: protocol.Running})
		}
		if how.starts > 0 && how.runs > 0 {
			say(how.starts+how.runs, protocol.Result{Tag: m.Tag, Outcome: protocol.Outcome{State: how.state, Ran: how.runs}})
		}
	}
}

// pass lets time pass, in the order of what happens.
func (j *judged) pass(d protocol.Duration) {
	for end := j.now.Add(d); ; {
		slices.SortStableFunc(j.later, func(a, b delayed) int { return cmp.Compare(a.at, b.at) })
		next := end
		if len(j.later) > 0 {
			next = min(next, j.later[0].at)
		}
		if j.wake > 0 {
			next = min(next, max(j.wake, j.now))
		}
		j.now = next
		switch {
		case len(j.later) > 0 && j.later[0].at <= j.now:
			m := j.later[0]
			j.later = j.later[1:]
			j.step(event.MessageIn{From: m.from, Body: m.body})
		case j.wake > 0 && j.wake <= j.now:
			j.step(event.Tick{})
		default:
			return
		}
	}
}

// submits has a user hand in jobs one after the other.
func (j *judged) submits(jobs int, every protocol.Duration) {
	for range jobs {
		ev := submission(1)
		j.names++
		ev.Jobs[0].Spec.Name = strings.Repeat("x", j.names)
		ev.Jobs[0].Spec.CPUs = 2
		j.step(ev)
		j.pass(every)
	}
}

func (j *judged) view(site protocol.SiteName) view.Site {
	for _, answer := range j.step(event.AskSites{Asked: 9}) {
		sites, _ := answer.Reply.(view.Sites)
		for _, one := range sites.Sites {
			if one.Site == site {
				return one
			}
		}
	}
	j.t.Fatal("no such site")
	return view.Site{}
}

var honest = manner{quotes: 10 * protocol.Minute, starts: 8 * protocol.Minute, runs: protocol.Minute, state: protocol.Completed}

// TestPartnerThatDoesNotKeepItsQuotes takes jobs by promising more than the honest one. After some
// jobs it is in doubt, the reason is shown, and but for a job now and then all go elsewhere.
func TestPartnerThatDoesNotKeepItsQuotes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		manner manner
		why    string
	}{
		"quotes 0 and sits":  {manner{}, "100 % started long after"},
		"starts much later":  {manner{starts: protocol.Hour, runs: protocol.Minute, state: protocol.Completed}, "started long after"},
		"ends jobs at once":  {manner{starts: 1, runs: protocol.Second, state: protocol.Failed}, "failed at once"},
		"refuses every time": {manner{refuse: "not today"}, "100 % were refused after a quote"},
		"gives jobs back":    {manner{gives: []protocol.Message{}}, "100 % came back unasked"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJudged(t, map[protocol.SiteName]manner{"b": test.manner, "c": honest})
			j.submits(30, 2*protocol.Minute)
			j.pass(protocol.Hour)
			view := j.view("b")
			if !strings.HasPrefix(view.AskedLastReason, "asked last") || !strings.Contains(view.AskedLastReason, test.why) || *view.QuotesMet > 500_000 {
				t.Fatalf("after 30 jobs: %q, %d ppm kept", view.AskedLastReason, *view.QuotesMet)
			}
			before, c := j.asked["b"], j.given["c"]
			j.submits(60, 2*protocol.Minute)
			if asked := j.asked["b"] - before; asked > 25 { // one for each σ of five minutes
				t.Errorf("it was asked about %d of 60 jobs", asked)
			}
			if got := j.given["c"] - c; got < 35 {
				t.Errorf("the honest partner got %d of 60 jobs", got)
			}
			if view = j.view("c"); view.AskedLastReason != "" || *view.QuotesMet != protocol.PPM {
				t.Errorf("the honest partner: %q, %d ppm", view.AskedLastReason, *view.QuotesMet)
			}
		})
	}
}

// TestDoubtfulPartnerIsAskedWhenNoOtherIs, since a bad chance is better than none.
func TestDoubtfulPartnerIsAskedWhenNoOtherIs(t *testing.T) {
	t.Parallel()
	j := newJudged(t, map[protocol.SiteName]manner{"b": {}})
	j.submits(30, 2*protocol.Minute)
	j.pass(protocol.Hour)
	if j.view("b").AskedLastReason == "" {
		t.Fatal("it is not in doubt")
	}
	before := j.given["b"]
	j.submits(10, protocol.Minute)
	if got := j.given["b"] - before; got != 10 {
		t.Errorf("it got %d of 10 jobs that nobody else can run", got)
	}
}

// TestPartnersThatAreNotToBlame are busy and say so, are a little late, are drained with what waits there, or run scripts of one
// user that are all wrong.
func TestPartnersThatAreNotToBlame(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]manner{
		"busy":          {quotes: 5 * protocol.Hour, starts: 6 * protocol.Hour, runs: protocol.Minute, state: protocol.Completed},
		"a little late": {starts: 9 * protocol.Minute, runs: protocol.Minute, state: protocol.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJudged(t, map[protocol.SiteName]manner{"b": how})
			j.submits(30, protocol.Minute)
			j.pass(protocol.Day)
			if view := j.view("b"); view.AskedLastReason != "" || *view.QuotesMet != protocol.PPM {
				t.Errorf("%q, %d ppm", view.AskedLastReason, *view.QuotesMet)
			}
		})
	}
	for name, how := range map[string]manner{
		"drained":                         {gives: []protocol.Message{protocol.Status{Seq: 1, State: protocol.Pending, Reason: "draining: disks"}}},
		"drained, and its status is lost": {gives: []protocol.Message{protocol.QuoteReply{Draining: "draining: disks"}}},
		"drained since it quoted":         {refuse: "draining: disks"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJudged(t, map[protocol.SiteName]manner{"b": how, "c": honest})
			j.submits(30, 2*protocol.Minute)
			if view := j.view("b"); view.AskedLastReason != "" || view.QuotesMet != nil && *view.QuotesMet != protocol.PPM {
				t.Errorf("%q, %d ppm", view.AskedLastReason, *view.QuotesMet)
			}
			if j.asked["b"] < 30 {
				t.Errorf("it was asked about %d of 30 jobs", j.asked["b"])
			}
		})
	}
	t.Run("wrong scripts", func(t *testing.T) {
		t.Parallel()
		j := newJudged(t, map[protocol.SiteName]manner{"b": {starts: 1, runs: protocol.Second, state: protocol.Failed}})
		for range 40 {
			j.names = 0 // one name
			j.submits(1, protocol.Minute)
		}
		if view := j.view("b"); view.AskedLastReason != "" {
			t.Errorf("%q, %d ppm", view.AskedLastReason, *view.QuotesMet)
		}
	})
}

// TestDoubtOutlivesARestart: after it the partner is asked last as before.
func TestDoubtOutlivesARestart(t *testing.T) {
	t.Parallel()
	j := newJudged(t, map[protocol.SiteName]manner{"b": {refuse: "not today"}, "c": honest})
	j.submits(30, 2*protocol.Minute)
	before := j.view("b")
	if before.AskedLastReason == "" {
		t.Fatal("it is not in doubt")
	}
	j.start()
	if after := j.view("b"); after.AskedLastReason != before.AskedLastReason || *after.QuotesMet != *before.QuotesMet {
		t.Errorf("after a restart: %q, %d ppm kept; before: %q, %d", after.AskedLastReason, *after.QuotesMet, before.AskedLastReason, *before.QuotesMet)
	}
	asked := j.asked["b"]
	j.submits(10, protocol.Second)
	if n := j.asked["b"] - asked; n > 1 { // one for each σ of five minutes
		t.Errorf("after a restart it was asked about %d of 10 jobs", n)
	}
}

// TestQualityIsWrittenSeldom: each of 300 jobs in five minutes is refused, and counts.
func TestQualityIsWrittenSeldom(t *testing.T) {
	t.Parallel()
	j := newJudged(t, map[protocol.SiteName]manner{"b": {refuse: "not today"}})
	j.written = 0
	j.submits(300, protocol.Second)
	if j.written == 0 || j.written > 5+2 { // one a minute, and one when it comes into doubt
		t.Errorf("the row of the partner was written %d times in five minutes", j.written)
	}
}

// TestDoubtEnds when the jobs that the partner still gets go well.
func TestDoubtEnds(t *testing.T) {
	t.Parallel()
	j := newJudged(t, map[protocol.SiteName]manner{"b": {starts: protocol.Hour, runs: protocol.Minute, state: protocol.Completed}, "c": honest})
	j.submits(30, 2*protocol.Minute)
	j.pass(2 * protocol.Hour)
	if j.view("b").AskedLastReason == "" {
		t.Fatal("it is not in doubt")
	}
	j.manners["b"] = manner{starts: 1, runs: protocol.Minute, state: protocol.Completed}
	j.submits(100, 2*protocol.Minute)
	if view := j.view("b"); view.AskedLastReason != "" {
		t.Errorf("after 100 jobs: %q, %d ppm", view.AskedLastReason, *view.QuotesMet)
	}
}
