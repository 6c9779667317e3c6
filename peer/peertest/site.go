package peertest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// SiteOptions describe a site of a [World].
type SiteOptions struct {
	Name     protocol.SiteName
	Number   protocol.SiteNumber // 0: its place among the sites
	Capacity protocol.Capacity
	MaxJobs  int                 // that each partner may have here; 0: 1000
	MaxCPUs  int                 // that each partner's jobs may have here; 0: no limit
	Skew     protocol.Duration   // of the site's clock
	Epsilon  protocol.Duration   // ε of the policy tc
	Policy   policy.Policy       // nil: tc
	Config   func(*rules.Config) // last word on the configuration; nil: none
	Prices   Prices              // of its electricity; nil: there are none
}

// Prices answer what a peer asks about electricity.
type Prices func(price.Query) (price.Forecast, error)

// Answer answers a peer's call with them.
func (p Prices) Answer(op event.PriceOp) (event.PriceResult, error) {
	prices, err := p(price.Query(op))
	return event.PriceResult(prices), err
}

// Site is one site of a [World]: a peer, its rows and its batch system.
type Site struct {
	Name  protocol.SiteName
	Batch *Batch

	world   *World
	cfg     rules.Config
	policy  policy.Policy
	prices  Prices
	skew    protocol.Duration
	peer    *peer.Peer // nil: down
	life    uint64     // how often it has been started
	rows    Rows
	archive map[protocol.JobID]view.Job
	earlier []view.Job       // runs after which jobs were requeued, and runs of guests before their last ones
	wake    protocol.Instant // of the site's clock

	uncommitted []event.Ready
	committing  bool
	calls       []event.Call // held by hand
	holding     bool         // calls are held
	watch       *event.Call
	answers     map[event.AskID]view.Reply
	asked       event.AskID
	digests     uint64
	reported    map[protocol.SiteName]bool // partners that the peer believes connected
	feedDown    bool                       // its prices are not answered

	supplied map[protocol.Tag]bool // guests whose files are here, over restarts too

	losesReleases uint64 // the life in which its batch system does not get cancellations of reservations
}

// LoseReleases keeps the batch system from hearing of room that this life of the peer gives
// up, as if the peer had died just before.
func (s *Site) LoseReleases() { s.losesReleases = s.life }

// Accounts accepts all users whose names do not begin with "no".
type Accounts struct{}

// Local implements [rules.Accounts].
func (Accounts) Local(user string) (string, error) { return account(user) }

// Guest implements [rules.Accounts].
func (Accounts) Guest(_ protocol.SiteName, user string) (string, error) { return account(user) }

func account(user string) (string, error) {
	if strings.HasPrefix(user, "no") {
		return "", fmt.Errorf("user %q has no account here", user)
	}
	return "g-" + user, nil
}

// PublicKey is a key of the right form for a site.
func PublicKey(name protocol.SiteName, number protocol.SiteNumber) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %d", name, number) // a hash takes everything
	key := []byte{'U'}
	for n := h.Sum64(); len(key) < 56; n = n>>5 | n<<59 {
		key = append(key, letters[n%32])
	}
	return string(key)
}

func newSite(w *World, o SiteOptions) *Site {
	s := &Site{
		Name: o.Name, world: w, skew: o.Skew, policy: o.Policy, prices: o.Prices,
		rows: Rows{row.Rows{}}, archive: map[protocol.JobID]view.Job{},
		answers: map[event.AskID]view.Reply{}, reported: map[protocol.SiteName]bool{},
	}
	if s.policy == nil {
		s.policy = tc.New(tc.Config{Epsilon: o.Epsilon})
	}
	s.cfg = rules.Config{
		AskUnreliableLast: true,
		Site:              o.Name, Number: o.Number, PublicKey: PublicKey(o.Name, o.Number), Software: "peertest",
		Capacity: o.Capacity, Policy: policy.Describe(s.policy), Accounts: Accounts{},
	}
	s.Batch = NewBatch(engine.Of(o.Capacity), w.monitor.startedAt(s))
	s.Batch.Advance(s.now())
	return s
}

// Peer is the site's peer, nil while it is down.
func (s *Site) Peer() *peer.Peer { return s.peer }

// Up says whether the site's peer runs.
func (s *Site) Up() bool { return s.peer != nil }

// Rows are the site's committed rows. Change nothing in them.
func (s *Site) Rows() Rows { return s.rows }

// Finished are the finished jobs of the site in its archive, by id.
func (s *Site) Finished() []view.Job { return s.archived(false) }

// FinishedGuests are the jobs of other sites in its archive, by id.
func (s *Site) FinishedGuests() []view.Job { return s.archived(true) }

func (s *Site) archived(guest bool) (out []view.Job) {
	for _, id := range slices.Sorted(maps.Keys(s.archive)) {
		if s.archive[id].Guest == guest {
			out = append(out, s.archive[id])
		}
	}
	return out
}

// Runs are all runs of jobs, and of guests, that have ended here or at partners.
func (s *Site) Runs() []view.Job { return slices.Concat(s.earlier, s.Finished(), s.FinishedGuests()) }

// Archived is a finished job as the site's archive has it.
func (s *Site) Archived(id protocol.JobID) (view.Job, bool) {
	v, ok := s.archive[id]
	return v, ok
}

// Answer is what a question was answered; nil: nothing yet.
func (s *Site) Answer(asked event.AskID) view.Reply { return s.answers[asked] }

func (s *Site) now() protocol.Instant { return s.world.now.Add(s.skew) }

// step feeds the peer one event. Its effects wait for the commit.
func (s *Site) step(ev event.Event) (ready event.Ready) {
	if s.peer == nil {
		return ready
	}
	s.Batch.Advance(s.now())
	ready = s.world.Step(s.peer, s.now(), ev)
	if ready.Fault != nil {
		s.world.monitor.problem("site %s, event %T: %v", s.Name, ev, ready.Fault)
	}
	s.wake = ready.Wake
	s.world.journal(s, ready, ev)
	if s.world.Facts != nil {
		for _, fact := range ready.LogEvents {
			s.world.Facts(s.Name, fact)
		}
	}
	s.uncommitted = append(s.uncommitted, ready)
	s.scheduleCommit()
	return ready
}

func (s *Site) scheduleCommit() {
	if s.committing {
		return
	}
	delay := s.world.faults.Commit(s.Name)
	if delay <= 0 {
		s.commit()
		return
	}
	s.committing = true
	life := s.life
	s.world.after(delay, func() {
		if s.life == life && s.peer != nil {
			s.commit()
		}
	})
}

// commit makes the records durable, then releases the effects in order.
func (s *Site) commit() {
	s.committing = false
	batch := s.uncommitted
	s.uncommitted = nil
	for _, ready := range batch {
		for _, rec := range ready.Records {
			s.world.monitor.recorded(s, rec)
			s.put(rec)
		}
		s.world.monitor.checkPlaced(s, ready.Records)
	}
	for _, ready := range batch {
		s.release(ready)
	}
}

func (s *Site) put(rec row.Record) {
	switch ended := rec.Row.(type) {
	case row.Archived:
		if before, ok := s.archive[ended.View.ID]; ok && before.Epoch != ended.View.Epoch {
			before.Earlier = true
			s.earlier = append(s.earlier, before)
		}
		s.archive[ended.View.ID] = ended.View
	case nil:
		if id, err := row.ParseJobKey(rec.Key); rec.Table == row.ArchiveTable && err == nil {
			delete(s.archive, id)
			return
		}
		s.rows.Commit(rec)
	case row.EarlierRun:
		s.earlier = append(s.earlier, ended.View)
	default:
		s.rows.Commit(rec)
	}
}

func (s *Site) release(ready event.Ready) {
	for _, m := range ready.Messages {
		if s.world.Sent != nil {
			s.world.Sent(s.Name, m)
		}
		s.world.monitor.sent(s, m.Body)
		s.world.send(s, m)
	}
	for _, call := range ready.Calls {
		s.begin(call)
	}
	if ready.Digest != nil {
		s.digests++
		s.world.gossip(s, *ready.Digest)
	}
	if ready.Starts != nil {
		s.Batch.AllowStarts(*ready.Starts)
	}
	for _, a := range ready.Answers {
		s.answers[a.Asked] = a.Reply
		s.world.monitor.answered(s, a.Reply)
	}
}

// errCallLost is the shell's answer to a call that was not answered in time.
var errCallLost = errors.New("no answer in time")

// begin carries a call out as its fate wants it.
func (s *Site) begin(call event.Call) {
	if _, ok := call.Op.(event.WatchOp); ok {
		s.watch = &call
		return
	}
	if s.holding {
		s.calls = append(s.calls, call)
		return
	}
	s.carryOut(call, s.world.faults.Call(s.Name, call.Op))
}

// CallFate is what becomes of a call.
type CallFate struct {
	Effect  protocol.Duration // when it takes effect; negative: never
	Answer  protocol.Duration // when it is answered, after its effect unless Unknown
	Unknown bool              // answered by the shell, because it took too long
}

func (s *Site) carryOut(call event.Call, fate CallFate) {
	life := s.life
	answer := func(result event.Result, err error) {
		if s.life == life && s.peer != nil {
			s.step(event.CallDone{ID: call.ID, Result: result, Err: err})
		}
	}
	if fate.Unknown {
		if fate.Effect >= 0 {
			s.world.after(fate.Effect, func() { _, _ = s.do(call.Op) })
		}
		s.world.after(fate.Answer, func() { answer(nil, errCallLost) })
		return
	}
	s.world.after(fate.Effect, func() {
		result, err := s.do(call.Op)
		s.world.after(fate.Answer-fate.Effect, func() { answer(result, err) })
	})
}

// pump answers the watch when there is something to tell.
func (s *Site) pump() {
	s.Batch.Advance(s.now())
	if s.peer == nil || s.watch == nil || s.holding {
		return
	}
	op, ok := s.watch.Op.(event.WatchOp)
	if !ok {
		return
	}
	if _, moved, _ := s.Batch.Watched(op.After); !moved {
		return
	}
	call := *s.watch
	s.watch = nil
	s.carryOut(call, s.world.faults.Call(s.Name, call.Op))
}

// start makes the site's peer from its rows.
func (s *Site) start() error {
	records, err := s.rows.Records()
	if err != nil {
		return fmt.Errorf("site %s: %w", s.Name, err)
	}
	s.life++
	s.Batch.AllowStarts(s.cfg.Watermark == 0) // else the peer says when
	s.peer, err = peer.New(s.cfg, s.world.seed+s.life, records)
	if err != nil {
		s.peer = nil
		return fmt.Errorf("site %s: %w", s.Name, err)
	}
	s.step(event.Tick{})
	if s.committing { // the shell's first step is committed before it connects
		s.commit()
	}
	return nil
}

// crash drops the peer and whatever was not committed.
func (s *Site) crash() {
	s.peer, s.wake, s.watch, s.committing = nil, 0, nil, false
	s.uncommitted, s.calls, s.holding = nil, nil, false
	s.life++
	clear(s.reported)
}

func (s *Site) partner(name protocol.SiteName) bool {
	return slices.ContainsFunc(s.cfg.Partners, func(p rules.Partner) bool { return p.Site == name })
}
