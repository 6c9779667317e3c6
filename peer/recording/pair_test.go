package recording_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/recording"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const begin protocol.Instant = 1_800_000_000_000

// secret is in the script, an argument and the environment of each job.
const secret = "correct-horse-battery-staple"

// pair is two peers over a perfect network, each recorded: a, where every job
// would wait an hour, and b, where it would wait a minute.
type pair struct {
	t     *testing.T
	now   protocol.Instant
	sites map[protocol.SiteName]*site
	due   []arrival
	seq   int
}

type arrival struct {
	at  protocol.Instant
	seq int
	to  protocol.SiteName
	ev  event.Event
}

// site is a peer with its rows, its recording and a batch system that runs each
// job a second after it has it, for ten.
type site struct {
	pair   *pair
	name   protocol.SiteName
	cfg    rules.Config
	place  policy.Policy
	peer   *peer.Peer
	writer *recording.Writer
	file   *memory
	rows   map[rowKey]row.Record

	wait    protocol.Duration
	changes []localsched.Change
	watch   *event.Call
	steps   int
	sent    int
	rounds  int
	priced  int
	answers []event.Answer
}

type rowKey struct {
	table row.Table
	key   string
}

// memory is a file in memory.
type memory struct{ bytes.Buffer }

func (*memory) Close() error { return nil }
func (*memory) Sync() error  { return nil }

// people lets everybody in but mallory.
type people struct{}

func (people) Local(user string) (string, error) { return people{}.Guest("", user) }

func (people) Guest(_ protocol.SiteName, user string) (string, error) {
	if user == "mallory" {
		return "", errors.New("not mallory")
	}
	return "local-" + user, nil
}

// Bill charges a unit for each CPU, but nothing to those without a license for free.
func (people) Bill(w cost.Work) (cost.Bill, string) {
	if len(w.Spec.Licenses()) > 0 {
		return cost.Bill{}, "no license is sold here"
	}
	return cost.Bill{
		Terms:    []protocol.Term{{Name: cost.CPUTerm, Amount: protocol.Micro(w.Spec.CPUs) * protocol.Unit}},
		Currency: "EUR", Run: w.Run, Note: "charged",
	}, ""
}

// Rates cost two units an hour from the second hour on.
func (people) Rates(_, _ protocol.Instant, _ protocol.Duration) ([]protocol.WaitingRate, string) {
	return []protocol.WaitingRate{{}, {From: protocol.Hour, PerHour: 2 * protocol.Unit}}, "EUR"
}

func config(name protocol.SiteName, number protocol.SiteNumber, partner protocol.SiteName) rules.Config {
	return rules.Config{
		Site: name, Number: number, PublicKey: "U" + string(name), Software: "test",
		Capacity: protocol.Capacity{CPUs: 8, Nodes: 2}, Accounts: people{},
		Partners: []rules.Partner{{Site: partner, PublicKey: "U" + string(partner), MaxJobs: 100}}, Policy: policy.Describe(tc.New(tc.Config{Epsilon: 1000})),
	}
}

func newPair(t *testing.T, o recording.Options) *pair {
	t.Helper()
	return newPairOf(t, o, func(*site) {})
}

// newPairOf is newPair of sites that are changed before they start.
func newPairOf(t *testing.T, o recording.Options, change func(*site)) *pair {
	t.Helper()
	p := &pair{t: t, now: begin, sites: map[protocol.SiteName]*site{}}
	for i, name := range []protocol.SiteName{"a", "b"} {
		p.sites[name] = &site{
			pair: p, name: name, rows: map[rowKey]row.Record{}, wait: []protocol.Duration{protocol.Hour, protocol.Minute}[i],
			cfg: config(name, protocol.SiteNumber(i+1), []protocol.SiteName{"b", "a"}[i]), place: tc.New(tc.Config{Epsilon: 1000}),
		}
		change(p.sites[name])
		p.sites[name].start(o)
	}
	p.sites["a"].step(event.Tick{})
	p.sites["b"].step(event.Tick{})
	p.post(1, "a", event.Connected{Card: p.sites["b"].peer.Card("a")})
	p.post(1, "b", event.Connected{Card: p.sites["a"].peer.Card("b")})
	return p
}

func options() recording.Options {
	return recording.Options{Software: "switchyard test", Grace: time.Hour}
}

// policies knows tc.
func policies(name string, params []policy.Param) (policy.Policy, error) {
	if name != "tc" {
		return nil, nil
	}
	return tc.Restore(params)
}

// start makes the peer from its rows, with a recording of its own.
func (s *site) start(o recording.Options) {
	s.pair.t.Helper()
	s.file = &memory{}
	s.writer = recording.NewWriter(string(s.name)+".rec", s.file, o)
	var rows []row.Record
	for _, table := range row.Tables() {
		keys := slices.SortedFunc(maps.Keys(s.rows), func(a, b rowKey) int { return cmp.Compare(a.key, b.key) })
		for _, key := range keys {
			if key.table == table {
				rows = append(rows, s.rows[key])
			}
		}
	}
	cfg := s.cfg
	cfg = s.writer.Listen(cfg)
	var err error
	if s.peer, err = peer.New(cfg, 7, rows); err != nil {
		s.pair.t.Fatal(err)
	}
	s.writer.Begin(cfg, 7, rows)
}

// recording is the file, closed.
func (s *site) recording() []byte {
	s.pair.t.Helper()
	if err := s.writer.Close(); err != nil {
		s.pair.t.Fatal(err)
	}
	return s.file.Bytes()
}

func (p *pair) post(after protocol.Duration, to protocol.SiteName, ev event.Event) {
	p.seq++
	p.due = append(p.due, arrival{p.now.Add(after), p.seq, to, ev})
}

// run lets time pass.
func (p *pair) run(d protocol.Duration) {
	p.t.Helper()
	until := p.now.Add(d)
	for {
		slices.SortFunc(p.due, func(a, b arrival) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
		if len(p.due) == 0 || p.due[0].at > until {
			p.now = until
			return
		}
		next := p.due[0]
		p.due = p.due[1:]
		p.now = max(p.now, next.at)
		p.sites[next.to].step(next.ev)
	}
}

func (s *site) step(ev event.Event) {
	s.pair.t.Helper()
	ready := s.peer.Step(s.pair.now, ev)
	s.writer.Stepped(s.pair.now, ev, ready)
	s.steps++
	for _, rec := range ready.Records {
		if rec.Row == nil {
			delete(s.rows, rowKey{rec.Table, rec.Key})
			continue
		}
		s.rows[rowKey{rec.Table, rec.Key}] = rec
	}
	for _, m := range ready.Messages {
		s.sent++
		s.pair.post(5, m.To, event.MessageIn{From: s.name, Body: m.Body})
	}
	for _, call := range ready.Calls {
		s.call(call)
	}
	s.answers = append(s.answers, ready.Answers...)
	if ready.Wake != 0 {
		s.pair.post(max(1, ready.Wake.Sub(s.pair.now)), s.name, event.Tick{})
	}
}

func (s *site) call(call event.Call) {
	var result event.Result
	var failure error
	switch op := call.Op.(type) {
	case event.QuoteOp:
		result = s.quote(op.Query)
	case event.SubmitOp:
		s.runs(op.Job.Tag)
		result = event.SubmitResult{Local: localsched.LocalID("L" + op.Job.Tag.String())}
	case event.StageInOp:
		result = event.StageInResult{}
	case event.LookupOp:
		result = event.LookupResult{Presence: localsched.Absent}
	case event.WithdrawOp:
		result = event.WithdrawResult{Withdrawal: localsched.Withdrawn}
	case event.KillOp:
		result = event.KillResult{}
	case event.WatchOp:
		s.watch = &call
		s.notify()
		return
	case event.ForgetOp:
		s.pair.post(1, s.name, event.CallDone{ID: call.ID, Err: errors.New("forgotten already \xff")})
		return
	case event.PrioritizeOp:
		result = event.PrioritizeResult{}
	case event.PlannedStartsOp:
		result = event.PlannedStartsResult{Starts: []localsched.PlannedStart{{Tag: op.Tags[0], Start: 5000}}}
	case event.CollectOp:
		result = event.CollectResult{Problem: "no such folder", Left: []view.Undelivered{{File: "stdout", Kept: "/kept"}}}
	case event.DiscardOp:
		result = event.DiscardResult{}
	case event.DecideOp:
		s.rounds++
		decisions, hint, err := s.place.Decide(context.Background(), op.Snapshot)
		if err != nil {
			s.pair.t.Fatal(err)
		}
		result = event.DecideResult{Decisions: decisions, Hint: hint}
	case event.ParetoOp:
		result = event.ParetoResult{Front: policy.ParetoFront{Currency: op.Snapshot.Currency, Points: []policy.FrontPoint{{Time: 1, Cost: 2}}}}
	case event.ReserveOp:
		result = event.ReserveResult{Start: op.Hold.Start.Add(protocol.Second)}
	case event.CancelReservationOp:
		result = event.CancelReservationResult{}
	case event.ArchiveOp:
		result = event.ArchiveResult{Ended: []event.Ended{{Job: op.Jobs[0], State: protocol.Completed, Started: 1, Ended: 2}}}
	case event.PriceOp:
		result, failure = s.price(op)
	}
	s.pair.post(1, s.name, event.CallDone{ID: call.ID, Result: result, Err: failure})
}

// price knows the prices of a week, but not every time.
func (s *site) price(op event.PriceOp) (event.Result, error) {
	if s.priced++; s.priced%2 == 0 {
		return nil, errors.New("the feed is down")
	}
	start := op.From / protocol.Instant(protocol.Hour) * protocol.Instant(protocol.Hour)
	series := func(units int64) price.Series {
		return price.Series{Slots: []price.Slot{{Start: start, Length: protocol.Day, Price: protocol.Micro(units) * protocol.Unit}}}
	}
	return event.PriceResult{Prices: series(40), TwoPrice: series(-7), PublishedUntil: start.Add(protocol.Hour), Currency: "EUR"}, nil
}

func (s *site) load() protocol.Load { return protocol.Load{CPUs: 8, Busy: len(s.changes) % 8} }

func (s *site) quote(query localsched.Query) event.QuoteResult {
	out := event.QuoteResult{Load: s.load()}
	for _, job := range query.Jobs {
		out.Quotes = append(out.Quotes, protocol.Quote{Job: job.Job, AWT: s.wait, AWTLow: s.wait, AWTHigh: s.wait, ERT: job.WallTime})
	}
	return out
}

// runs is the life of a job: the batch system's clock is told by the ticks that
// it causes.
func (s *site) runs(tag protocol.Tag) {
	s.changes = append(s.changes,
		localsched.Change{Tag: tag, State: protocol.Running, Started: s.pair.now},
		localsched.Change{Tag: tag, State: protocol.Completed, Started: s.pair.now, Outcome: protocol.Outcome{
			State: protocol.Completed, Waited: 1000, Ran: 10_000,
			Files: []protocol.File{{Stream: protocol.Stdout, Size: 3, SHA256: [32]byte{1, 2, 255}}},
		}})
	s.notify()
}

// notify answers the watch with one change, if there is one.
func (s *site) notify() {
	if s.watch == nil {
		return
	}
	after, _ := strconv.Atoi(string(s.watch.Op.(event.WatchOp).After))
	if after >= len(s.changes) {
		return
	}
	id := s.watch.ID
	s.watch = nil
	s.pair.post(1000, s.name, event.CallDone{ID: id, Result: event.WatchResult{Watched: localsched.Watched{
		Changes: s.changes[after : after+1], Cursor: localsched.Cursor(strconv.Itoa(after + 1)), Load: s.load(),
	}}})
}

func submission(asked event.AskID, user string, jobs int) event.Submit {
	out := event.Submit{Asked: asked, User: user, Key: "key-" + user}
	for range jobs {
		out.Jobs = append(out.Jobs, protocol.Job{
			Spec: protocol.Spec{Request: protocol.Request{CPUs: 2, WallTime: protocol.Minute}, Name: "näme"},
			Payload: &protocol.Payload{
				Script: []byte("#!/bin/sh\n" + secret), Args: []string{secret}, Env: []string{"PASSWORD=" + secret},
				WorkDir: "/w", Stdout: "/w/%j.out", Stderr: "/w/%%.err",
			},
		})
	}
	return out
}

// play is a short life with all that people do.
func play(p *pair) {
	p.t.Helper()
	p.run(protocol.Second)
	p.post(0, "a", submission(1, "ada", 3))
	p.post(1, "a", submission(2, "mallory", 1))
	p.post(2, "a", submission(3, "ada", 3))
	p.post(20, "a", event.AskQueue{Asked: 4})
	p.post(30, "a", event.AskSites{Asked: 5})
	p.post(40, "a", event.TestSubmit{Asked: 6, User: "ada", Jobs: []protocol.Job{{Spec: protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: 5}}}}})
	p.post(50, "b", event.DigestSeen{Digest: protocol.Digest{Site: "a", Seq: 1, Load: protocol.Load{CPUs: 8, Busy: 7}}, Age: 3})
	p.post(60, "b", event.MemberSeen{Site: "c", Number: 3, PublicKey: "Uc", FirstStart: 9})
	p.post(70, "a", event.AskJob{Asked: 7, Job: protocol.NewJobID(1, 1)})
	p.run(20 * protocol.Second)
	p.post(0, "a", submission(8, "bob", 1))
	p.run(200)
	p.post(0, "a", event.Cancel{Asked: 9, Job: p.lastJob(), User: "bob"})
	p.post(9, "b", event.Disconnected{Site: "a"})
	p.run(protocol.Minute)
}

// lastJob is the last one that was submitted at a.
func (p *pair) lastJob() protocol.JobID {
	for _, answer := range slices.Backward(p.sites["a"].answers) {
		if reply, ok := answer.Reply.(view.Submitted); ok {
			return reply.Jobs[0]
		}
	}
	return 0
}
