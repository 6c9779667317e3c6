package peer_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// FuzzStep feeds a peer whatever the bytes say: events in any order, answers of
// the wrong kind, messages about anything, restarts. It must never panic, send
// what has no form on the wire, ask to be woken in the past, lower an epoch, or
// write rows from which it cannot start.
func FuzzStep(f *testing.F) {
	f.Add([]byte("submit, quote, offer, prepared, grant"))
	for seed := range byte(20) {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		z := newFuzzed(t, data)
		for len(z.data) > 0 {
			z.step(z.event())
			if z.pick(40) == 0 {
				z.restart()
			}
		}
		z.restart()
	})
}

// fuzzed is a peer and the bytes that drive it.
type fuzzed struct {
	t      *testing.T
	data   []byte
	cfg    rules.Config
	peer   *peer.Peer
	now    protocol.Instant
	rows   map[string]row.Record
	epochs map[protocol.JobID]protocol.Epoch
	calls  []event.Call
	jobs   []protocol.JobID
}

func newFuzzed(t *testing.T, data []byte) *fuzzed {
	t.Helper()
	z := &fuzzed{
		t: t, data: data, now: peertest.Epoch, rows: map[string]row.Record{}, epochs: map[protocol.JobID]protocol.Epoch{},
		cfg: rules.Config{
			Site: "a", Number: 1, PublicKey: peertest.PublicKey("a", 1), Accounts: peertest.Accounts{},
			Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}, Policy: policy.Describe(tc.New(tc.Config{})),
			Partners: []rules.Partner{{Site: "b", MaxJobs: 2}, {Site: "c", MaxJobs: 2, MaxCPUs: 3}},
		},
		jobs: []protocol.JobID{2_000_000_000_001, 3_000_000_000_001, 1_000_000_000_001},
	}
	z.configure()
	z.restart()
	return z
}

// configure gives the peer a cycle, prices and protection, if the bytes say so.
func (z *fuzzed) configure() {
	if z.pick(2) == 0 {
		return
	}
	z.cfg.Policy = policy.Describe(peertest.Greedy{MarginalJobs: z.pick(4), ApplicationAware: z.pick(2) == 0})
	z.cfg.Reserves, z.cfg.Currency, z.cfg.Margin = z.pick(2) == 0, "EUR", protocol.Duration(1+z.pick(20_000))
	z.cfg.Initiation = z.cfg.Policy.Initiations[z.pick(4)]
	z.cfg.CycleInterval, z.cfg.MaxJobsPerCycle = protocol.Duration(z.pick(256))*protocol.Second, z.pick(3)
	z.cfg.Area, z.cfg.Power = "x", int64(z.pick(256))*1000
	z.cfg.Protect = rules.Protection{Delay: protocol.Duration(z.pick(3)) * protocol.Minute, Share: z.pick(4) * 250_000}
}

func (z *fuzzed) pick(n int) int {
	if len(z.data) == 0 {
		return 0
	}
	b := z.data[0]
	z.data = z.data[1:]
	return int(b) % n
}

func (z *fuzzed) restart() {
	z.t.Helper()
	var records []row.Record
	for _, table := range row.Tables() {
		for _, rec := range z.rows {
			if rec.Table != table {
				continue
			}
			data, err := row.Encode(rec.Row)
			if err != nil {
				z.t.Fatal(err)
			}
			if rec.Row, err = row.Decode(rec.Table, data); err != nil {
				z.t.Fatal(err)
			}
			records = append(records, rec)
		}
	}
	p, err := peer.New(z.cfg, 1, records)
	if err != nil {
		z.t.Fatalf("the peer does not start from its rows: %v", err)
	}
	z.peer, z.calls = p, nil
	z.step(event.Tick{})
}

func (z *fuzzed) step(ev event.Event) {
	z.t.Helper()
	ready := z.peer.Step(z.now, ev)
	if ready.Wake != 0 && ready.Wake <= z.now {
		z.t.Fatalf("after %T: wake at %d, now is %d", ev, ready.Wake, z.now)
	}
	for _, rec := range ready.Records {
		z.keep(rec)
	}
	for _, m := range ready.Messages {
		if _, err := peerv1.Encode(m.Body); err != nil {
			z.t.Fatalf("after %T: %v", ev, err)
		}
	}
	for _, a := range ready.Answers {
		if s, ok := a.Reply.(view.Submitted); ok {
			z.jobs = append(z.jobs, s.Jobs...)
		}
	}
	z.calls = append(z.calls, ready.Calls...)
}

func (z *fuzzed) keep(rec row.Record) {
	z.t.Helper()
	key := string(rec.Table) + "/" + rec.Key
	if rec.Row == nil {
		delete(z.rows, key)
		return
	}
	if rec.Table != row.ArchiveTable {
		z.rows[key] = rec
	}
	if row, ok := rec.Row.(row.Job); ok {
		if row.Epoch < z.epochs[row.Spec.Job] {
			z.t.Fatalf("the epoch of %v falls", row.Spec.Job)
		}
		z.epochs[row.Spec.Job] = row.Epoch
	}
}

func (z *fuzzed) event() event.Event {
	z.now += protocol.Instant(z.pick(256)) * protocol.Instant(z.pick(256))
	site := z.site()
	switch z.pick(12) {
	case 0:
		return event.Tick{}
	case 1:
		if z.pick(3) == 0 {
			return z.application()
		}
		return event.Submit{Asked: 1, User: z.user(), Key: []string{"", "k"}[z.pick(2)], Jobs: []protocol.Job{{
			Spec: z.spec(), Payload: &protocol.Payload{Script: []byte("x")},
		}}}
	case 2:
		if z.pick(4) == 0 {
			return event.Update{Asked: 1, Job: z.job(), User: z.user(), Admin: z.pick(2) == 0, Change: protocol.Change{
				WallTime: new(protocol.Duration(z.pick(256)) * protocol.Minute), Nice: new(int64(z.pick(256)) - 100), Name: new([]string{"x", "y"}[z.pick(2)]),
			}}
		}
		switch z.pick(3) {
		case 0:
			return event.SetHold{Asked: 1, Job: z.job(), Hold: z.pick(2) == 0, User: z.user(), Admin: z.pick(2) == 0}
		case 1:
			return event.Requeue{Asked: 1, Job: z.job(), Hold: z.pick(2) == 0, Force: z.pick(2) == 0, User: z.user(), Admin: z.pick(2) == 0}
		}
		if z.pick(8) == 0 {
			scopes := []view.DrainScope{"", view.DrainGuests, view.DrainStarts, view.DrainSending, view.DrainReceiving, view.DrainBoth, view.DrainIsolated, "x"}
			return event.SetDrain{Asked: 1, Site: site, Scope: scopes[z.pick(len(scopes))], Reason: "x", User: z.user(), Admin: z.pick(4) > 0}
		}
		return event.Cancel{Asked: 1, Job: z.job(), User: z.user(), Admin: z.pick(2) == 0}
	case 3:
		return event.Connected{Card: protocol.Card{
			Site: site, Number: protocol.SiteNumber(1 + z.pick(3)), Protocol: 1 + z.pick(2),
			Capacity: protocol.Capacity{CPUs: z.pick(9), Nodes: 4}, SeenSeq: uint64(z.pick(256)),
			Incarnation: uint64(z.pick(2)), FirstStart: protocol.Instant(z.pick(3)), Reserves: z.pick(2) == 0,
		}}
	case 4:
		return event.Disconnected{Site: site}
	case 5:
		return []event.Event{
			event.AskQueue{},
			event.AskSites{},
			event.AskShares{},
			event.AskJob{Job: z.job()},
			event.TestSubmit{Jobs: []protocol.Job{{Spec: z.spec()}}, User: "ada"},
			event.DigestSeen{Digest: protocol.Digest{Site: site, Seq: uint64(z.pick(3))}},
			event.MemberSeen{Site: site, Number: 1, PublicKey: "U", FirstStart: peertest.Epoch + 1},
		}[z.pick(6)]
	case 6, 7, 8:
		return z.answer()
	}
	m := z.message()
	if _, err := peerv1.Encode(m); err != nil {
		return event.Tick{} // the adapter would not let it in
	}
	return event.MessageIn{From: site, Body: m}
}

func (z *fuzzed) site() protocol.SiteName {
	return []protocol.SiteName{"b", "c", "a", "stranger"}[min(3, z.pick(8)/2)]
}
func (z *fuzzed) user() string        { return []string{"ada", "nobody", ""}[z.pick(3)] }
func (z *fuzzed) job() protocol.JobID { return z.jobs[z.pick(len(z.jobs))] }

func (z *fuzzed) tag() protocol.Tag {
	return protocol.Tag{Job: z.job(), Epoch: protocol.Epoch(1 + z.pick(4))}
}

func (z *fuzzed) spec() protocol.Spec {
	return protocol.Spec{
		Request: protocol.Request{Job: z.job(), CPUs: z.pick(6), WallTime: protocol.Duration(z.pick(100)) * protocol.Second},
		Requeue: z.pick(2) == 0, User: z.user(), Name: "x",
	}
}

func (z *fuzzed) outcome() protocol.Outcome {
	return protocol.Outcome{State: protocol.States()[z.pick(7)], Ran: protocol.Duration(z.pick(100))}
}

// soon is an instant in the next minutes; 0: none.
func (z *fuzzed) soon() protocol.Instant {
	if z.pick(2) == 0 {
		return 0
	}
	return z.now.Add(protocol.Duration(z.pick(256)) * protocol.Second)
}

// application is one of a few components, some of which start together.
func (z *fuzzed) application() event.Submit {
	ev := event.Submit{Asked: 1, User: z.user(), Application: &protocol.Application{
		Beta: z.pick(2), MaxCost: protocol.Micro(z.pick(256)), MaxTime: protocol.Duration(z.pick(256)) * protocol.Second,
	}}
	for range 1 + z.pick(4) {
		one := protocol.Job{Spec: z.spec(), Payload: &protocol.Payload{Script: []byte("x")}}
		one.Component = protocol.Component{Alpha: z.pick(2), Together: z.pick(3), Estimate: protocol.Duration(z.pick(256))}
		for range z.pick(3) {
			one.Component.Shapes = append(one.Component.Shapes, protocol.Shape{CPUs: z.pick(5), WallTime: protocol.Minute})
		}
		ev.Jobs = append(ev.Jobs, one)
	}
	return ev
}

func (z *fuzzed) message() protocol.Message {
	switch z.pick(20) {
	case 0:
		return protocol.QuoteRequest{Round: 1, Jobs: []protocol.Spec{z.spec()}}
	case 1:
		return protocol.QuoteReply{
			Round: protocol.RoundID(z.pick(9)), MaxJobs: 1, Quotes: []protocol.Quote{{Job: z.job(), AWT: 1, ERT: 1}},
		}
	case 2:
		return protocol.Offer{Spec: z.spec(), Epoch: z.tag().Epoch, Payload: &protocol.Payload{Script: []byte("x")}, Start: z.soon()}
	case 3:
		return protocol.Prepared{Tag: z.tag(), Start: z.soon()}
	case 4:
		return protocol.Refused{Tag: z.tag(), Reason: "no"}
	case 5:
		return protocol.Grant{Tag: z.tag()}
	case 6:
		return protocol.Accept{Tag: z.tag()}
	case 7:
		return protocol.PrepareExpired{Tag: z.tag()}
	case 8:
		return protocol.Status{Tag: z.tag(), Seq: uint32(z.pick(4)), State: protocol.States()[z.pick(2)]}
	case 9:
		return protocol.StatusAck{Tag: z.tag(), Seq: uint32(z.pick(4))}
	case 10:
		return protocol.Result{Tag: z.tag(), Outcome: z.outcome()}
	case 11:
		return protocol.ResultAck{Tag: z.tag()}
	case 12:
		return protocol.Recall{Tag: z.tag(), Cancel: z.pick(2) == 0}
	case 13:
		return protocol.Recalled{Tag: z.tag()}
	case 14:
		return protocol.DecisionQuery{Tag: z.tag()}
	case 15:
		return protocol.Abort{Tag: z.tag()}
	case 16:
		if z.pick(2) == 0 {
			return protocol.OutcomeQuery{Job: z.job(), User: []string{"", "u", "no"}[z.pick(3)]}
		}
		if z.pick(2) == 0 {
			return protocol.JobOutcome{Job: z.job(), User: []string{"", "u"}[z.pick(2)], State: protocol.States()[z.pick(7)], Started: protocol.Never}
		}
		if z.pick(2) == 0 {
			return protocol.ElementsQuery{Array: z.job(), User: []string{"u", "no"}[z.pick(2)], Elements: protocol.IndexesOf(z.pick(4), z.pick(9))}
		}
		if z.pick(2) == 0 {
			return protocol.ElementsOutcome{Array: z.job(), User: []string{"", "u"}[z.pick(2)], Unknown: z.pick(4) == 0, Completed: protocol.IndexesOf(z.pick(4)), Others: protocol.IndexesOf(z.pick(4))}
		}
		return protocol.UnknownJob{Tag: z.tag()}
	case 18:
		return protocol.UseReport{At: z.soon(), HalfLife: protocol.Day << z.pick(2), Uses: []protocol.Use{
			{Origin: []protocol.SiteName{"a", "b", "c"}[z.pick(3)], User: "u", Period: int64(z.soon()) / int64(protocol.Hour), Amount: int64(z.pick(3)) << 40, Remaining: int64(z.pick(2)) << 40},
		}}
	case 17:
		return protocol.PlannedStarts{Starts: []protocol.PlannedStart{
			{Tag: z.tag(), Wait: protocol.Duration(z.pick(3)) * (protocol.Never / 2)}, {Tag: z.tag(), Wait: protocol.Never},
		}}
	}
	return protocol.Fenced{Tag: z.tag(), Current: 9}
}

// answer answers an open call, mostly as its kind wants it.
func (z *fuzzed) answer() event.Event {
	if len(z.calls) == 0 {
		return event.CallDone{ID: event.CallID(z.pick(256))}
	}
	i := z.pick(len(z.calls))
	call := z.calls[i]
	z.calls = append(z.calls[:i], z.calls[i+1:]...)
	switch z.pick(8) {
	case 0:
		return event.CallDone{ID: call.ID, Err: errors.New("no answer")}
	case 1:
		return event.CallDone{ID: call.ID, Result: event.ForgetResult{}}
	case 2:
		return event.CallDone{ID: call.ID}
	}
	return event.CallDone{ID: call.ID, Result: z.result(call.Op)}
}

func (z *fuzzed) result(op event.Op) event.Result {
	switch op := op.(type) {
	case event.QuoteOp:
		quotes := make([]protocol.Quote, len(op.Query.Jobs))
		for i := range quotes {
			quotes[i] = protocol.Quote{
				Job: op.Query.Jobs[i].Job, AWT: protocol.Duration(z.pick(256)) * protocol.Second, ERT: 1,
				Delay: protocol.Duration(z.pick(3)) * protocol.Minute,
			}
		}
		return event.QuoteResult{Quotes: quotes, Load: protocol.Load{CPUs: 4, Busy: z.pick(5)}}
	case event.SubmitOp:
		return event.SubmitResult{Refused: []string{"", "", "", "never"}[z.pick(4)]}
	case event.StageInOp:
		return event.StageInResult{Failed: []string{"", "", "changed"}[z.pick(3)]}
	case event.LookupOp:
		return event.LookupResult{Presence: localsched.Presence(z.pick(3))}
	case event.WithdrawOp:
		return event.WithdrawResult{Withdrawal: localsched.Withdrawal(1 + z.pick(2))}
	case event.KillOp:
		return event.KillResult{}
	case event.WatchOp:
		state := protocol.States()[z.pick(7)]
		change := localsched.Change{Tag: z.tag(), State: state, Outcome: z.outcome()}
		return event.WatchResult{Watched: localsched.Watched{
			Changes: []localsched.Change{change}, Cursor: localsched.Cursor(strconv.Itoa(z.pick(256))),
		}}
	case event.ForgetOp:
		return event.ForgetResult{}
	case event.PrioritizeOp:
		return event.PrioritizeResult{}
	case event.PlannedStartsOp:
		return event.PlannedStartsResult{Starts: []localsched.PlannedStart{{Tag: z.tag(), Start: z.soon()}}}
	case event.CollectOp:
		return event.CollectResult{Problem: []string{"", "full"}[z.pick(2)], Gone: z.pick(4) == 0}
	case event.DiscardOp:
		return event.DiscardResult{}
	case event.DecideOp:
		decisions := []policy.Decision{{Job: z.pick(2), Site: z.pick(3)}}
		if op.Snapshot.Check(decisions) != nil { // what a policy answers is checked before it comes here
			decisions = nil
		}
		return event.DecideResult{Decisions: decisions}
	case event.ReserveOp:
		return event.ReserveResult{Start: op.Hold.Start.Add(protocol.Duration(z.pick(2)) * protocol.Second), Refused: []string{"", "", "full"}[z.pick(3)]}
	case event.CancelReservationOp:
		return event.CancelReservationResult{}
	case event.ParetoOp:
		return event.ParetoResult{}
	case event.ArchiveOp:
		return event.ArchiveResult{Ended: []event.Ended{{Job: z.job(), State: protocol.States()[2+z.pick(5)], Ended: z.now}}}
	case event.PriceOp:
		answer, _ := peertest.HourlyPrices("EUR", int64(z.pick(256))-99, 7).Answer(op)
		if z.pick(2) == 0 {
			answer.Prices.Slots = nil
		}
		return answer
	}
	return nil
}
