package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// site is one site of the grid: its peer, its rows, its batch system.
type site struct {
	grid  *grid
	index int
	name  protocol.SiteName
	cfg   rules.Config

	decides, fallback policy.Policy // of rounds, and of those in which that fails; nil without a fallback

	peer        *peer.Peer   // nil: down
	batch       *batchSystem // nil: a site without a machine
	electricity Electricity
	life        uint64
	rows        row.Rows // when the grid keeps rows

	first  uint64       // sequence number of its first job; known once one was submitted
	asked  int          // submissions answered so far
	sent   []int32      // index in the workload of each job submitted here, by sequence number
	latest int          // jobs of the last submission
	late   []submission // that came while the peer was down

	recorder  Recorder // nil: none
	seed      uint64   // of the peer; 0: by that of the grid
	latencies Latencies
	durable   protocol.Instant // when all records so far are

	watch   *event.Call
	wake    protocol.Instant // when the peer wants a tick; 0: not at all
	queued  protocol.Instant // of the earliest tick in the heap; 0: none
	touched bool             // must be looked at before time goes on

	wakesBatch bool // its batch system has starts that no other event brings
	digest     protocol.Load
	digests    uint64
	tells      bool // a gossip moment is in the heap
}

// allUsers accepts every user.
type allUsers struct{}

// Local implements [rules.Accounts].
func (allUsers) Local(user string) (string, error) { return user, nil }

// Guest implements [rules.Accounts].
func (allUsers) Guest(_ protocol.SiteName, user string) (string, error) { return user, nil }

func (s *site) knows(other protocol.SiteName) bool {
	return slices.ContainsFunc(s.cfg.Partners, func(p rules.Partner) bool { return p.Site == other })
}

// start makes the site's peer, from its rows if it had any.
func (s *site) start() error {
	rows, err := s.rows.Records()
	if err != nil {
		return fmt.Errorf("site %s: %w", s.name, err)
	}
	s.life++
	cfg, seed := s.cfg, s.grid.cfg.Seed+s.life<<32
	if s.seed != 0 {
		seed = s.seed + (s.life-1)<<32
	}
	s.recorder = nil
	if record := s.grid.cfg.Record; record != nil && s.life == 1 {
		s.recorder = record(s.name)
		cfg = s.recorder.Listen(cfg)
		s.recorder.Begin(cfg, seed, rows)
	}
	if s.peer, err = peer.New(cfg, seed, rows); err != nil {
		s.peer = nil
		return fmt.Errorf("site %s: %w", s.name, err)
	}
	s.step(event.Tick{})
	return nil
}

// crash stops the peer: it loses all but its rows, and what was on its way to it.
func (s *site) crash() {
	s.peer, s.watch, s.wake, s.durable = nil, nil, 0, 0
	s.life++
}

// step gives the peer an event and carries out what it wants.
func (s *site) step(ev event.Event) {
	if s.peer == nil {
		return
	}
	g := s.grid
	ready := s.peer.Step(g.now, ev)
	if s.recorder != nil {
		s.recorder.Stepped(g.now, ev, ready)
	}
	if ready.Fault != nil {
		g.fail("site %s, event %T: %w", s.name, ev, ready.Fault)
	}
	g.events++
	g.mix(s.index, len(ready.Messages), len(ready.Calls))
	s.keep(ready.Records)
	wait := s.untilDurable(len(ready.Records) > 0)
	for _, m := range ready.Messages {
		g.send(s, m, wait)
	}
	for _, call := range ready.Calls {
		g.call(pending{site: s, life: s.life, call: call}, wait.Plus(s.callLatency(call.Op)))
	}
	for _, a := range ready.Answers {
		g.answered(s, a.Reply)
	}
	if ready.Digest != nil {
		s.tell(*ready.Digest)
	}
	s.wake = ready.Wake
	g.touch(s)
}

// keep commits rows, and sees which jobs are over.
func (s *site) keep(records []row.Record) {
	for _, rec := range records {
		switch ended := rec.Row.(type) {
		case row.Archived:
			if !ended.View.Guest {
				s.grid.archived(ended.View)
			}
		case row.EarlierRun: // what an experiment counts is each job's last run
		default:
			if s.grid.keepsRows {
				s.rows.Commit(rec)
			}
		}
	}
}

// settle runs after each event of a site: changes of the batch system go to the watch, and the
// peer's next timer goes into the heap.
func (s *site) settle() {
	s.touched = false
	if s.watch != nil && s.batch != nil {
		if op, ok := s.watch.Op.(event.WatchOp); ok {
			if watched, ok := s.batch.watched(op.After); ok {
				id := s.watch.ID
				s.watch = nil
				s.step(event.CallDone{ID: id, Result: event.WatchResult{Watched: watched}})
			}
		}
	}
	if s.wake != 0 && (s.queued == 0 || s.wake < s.queued) {
		s.queued = s.wake
		s.grid.heap.push(max(s.wake, s.grid.now), wake, s.index, 0)
	}
}

// woken ticks the peer if it still wants it.
func (s *site) woken() {
	if s.queued <= s.grid.now {
		s.queued = 0
	}
	if s.wake != 0 && s.wake <= s.grid.now {
		s.step(event.Tick{})
		return
	}
	s.grid.touch(s)
}

// errNoMachine answers what a site without a batch system cannot do.
var errNoMachine = errors.New("this site has no machine")

// do carries a call out.
func (s *site) do(ctx context.Context, op event.Op) (event.Result, error) { //nolint:cyclop // one case for each kind of call
	if decide, ok := op.(event.DecideOp); ok {
		return s.decide(ctx, decide)
	}
	if front, ok := op.(event.ParetoOp); ok {
		return s.front(ctx, front)
	}
	if price, ok := op.(event.PriceOp); ok {
		return s.priced(price)
	}
	if s.batch == nil {
		return s.doWithout(op)
	}
	now := s.grid.now
	switch op := op.(type) {
	case event.QuoteOp:
		quotes, err := s.batch.quote(now, op.Query)
		return event.QuoteResult{Quotes: quotes, Load: s.batch.load()}, err
	case event.SubmitOp:
		local, err := s.batch.submit(now, op.Job)
		return refusedOr(local, err)
	case event.LookupOp:
		presence, local := s.batch.Find(op.Tag)
		return event.LookupResult{Presence: presence, Local: local}, nil
	case event.WithdrawOp:
		withdrawal, err := s.batch.withdraw(now, op.Tag)
		return event.WithdrawResult{Withdrawal: withdrawal}, err
	case event.KillOp:
		return event.KillResult{}, s.batch.done(s.batch.Kill(op.Tag))
	case event.ForgetOp:
		return event.ForgetResult{}, s.batch.forget(op.Tag)
	case event.PrioritizeOp:
		return event.PrioritizeResult{}, s.batch.done(s.batch.SetPriorities(op.Priorities))
	case event.PlannedStartsOp:
		starts, err := s.batch.PlannedStarts(op.Tags)
		return event.PlannedStartsResult{Starts: starts}, err
	case event.CollectOp:
		return event.CollectResult{}, nil
	case event.DiscardOp:
		return event.DiscardResult{}, nil
	case event.ReserveOp:
		return heldOr(s.batch.reserve(op.Hold))
	case event.CancelReservationOp:
		return event.CancelReservationResult{}, s.batch.done(s.batch.CancelReservation(op.Tag))
	case event.ArchiveOp:
		return event.ArchiveResult{}, nil // no job of a simulation depends on others
	case event.StageInOp, event.WatchOp, event.DecideOp, event.ParetoOp, event.PriceOp:
	}
	return nil, fmt.Errorf("the simulator has no %T", op)
}

// decide asks the policy that the peer names. If one fails that has no fallback, the
// simulation ends: its results would mislead.
func (s *site) decide(ctx context.Context, op event.DecideOp) (event.Result, error) {
	decider := s.decides
	if op.Fallback {
		decider = s.fallback
	}
	decisions, hint, err := decider.Decide(ctx, op.Snapshot)
	if err != nil && s.cfg.Fallback == "" {
		s.grid.fail("site %s: the policy failed: %w", s.name, err)
	}
	return event.DecideResult{Decisions: decisions, Hint: hint}, err
}

// front asks the policy for the choices of an application. The peer knows of no other one that
// could be asked.
func (s *site) front(ctx context.Context, op event.ParetoOp) (event.Result, error) {
	fronter, ok := s.decides.(policy.ParetoPolicy)
	if !ok {
		return nil, errors.New("the policy lays out no choices")
	}
	front, err := fronter.ParetoFront(ctx, op.Snapshot)
	return event.ParetoResult{Front: front}, err
}

func heldOr(start protocol.Instant, err error) (event.Result, error) {
	if refused, ok := errors.AsType[*localsched.RefusedError](err); ok {
		return event.ReserveResult{Refused: refused.Reason}, nil
	}
	return event.ReserveResult{Start: start}, err
}

func refusedOr(local localsched.LocalID, err error) (event.Result, error) {
	if refused, ok := errors.AsType[*localsched.RefusedError](err); ok {
		return event.SubmitResult{Refused: refused.Reason}, nil
	}
	return event.SubmitResult{Local: local}, err
}

// doWithout answers for a site that has no machine: it declines every job.
func (s *site) doWithout(op event.Op) (event.Result, error) {
	quote, ok := op.(event.QuoteOp)
	if !ok {
		return nil, errNoMachine
	}
	quotes := make([]protocol.Quote, len(quote.Query.Jobs))
	for i := range quotes {
		quotes[i] = protocol.Quote{Job: quote.Query.Jobs[i].Job, Declined: errNoMachine.Error()}
	}
	return event.QuoteResult{Quotes: quotes}, nil
}

// tell lets the gossip know of the load, not more often than every few seconds.
// Partners that are all asked anyway need not know it.
func (s *site) tell(load protocol.Load) {
	s.digest = load
	if s.tells || !s.grid.gossips {
		return
	}
	s.tells = true
	s.grid.heap.push(s.grid.now.Add(gossipPause), gossips, s.index, 0)
}

const gossipPause = 5 * protocol.Second

// gossip tells the partners that are up the latest load.
func (s *site) gossip() {
	s.tells = false
	if s.peer == nil {
		return
	}
	s.digests++
	digest := protocol.Digest{Site: s.name, Seq: s.digests, Load: s.digest}
	for _, p := range s.cfg.Partners {
		s.grid.site(p.Site).step(event.DigestSeen{Digest: digest})
	}
}
