package peer

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/answers"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/fairness"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/intake"
	"github.com/switchyard-hpc/switchyard/peer/lineup"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Peer is one site's superscheduler. It is not safe for use from several
// goroutines.
type Peer struct {
	cfg  rules.Config
	dice step.Dice
	now  protocol.Instant
	out  event.Ready

	fault error // that has stopped the peer

	keepAll protocol.Instant // nothing is forgotten by its age before that

	site       *lives.Store
	allows     *bool          // whether starts were allowed last; nil: nothing was said of them
	overlapped bool           // an earlier life may show up
	early      []event.Submit // that came meanwhile

	resumed bool // the first step has been made

	rows     tables.Tables
	queue    *gridqueue.Queue
	partners *partner.Set
	hinted   protocol.Instant // when a clash was last seen in gossip; 0: never
	load     protocol.Load
	drawing  pricing.Drawing
	loadAt   protocol.Instant // 0: never known

	useCounted      protocol.Instant // when use was last counted again for the local queue; 0: never
	prioritizedAt   protocol.Instant // when jobs there were last given their priorities
	changesReported protocol.Instant // when partners last got a report of changes of use

	rounds    map[protocol.RoundID]*round
	open      *round // the one that places jobs of the grid queue
	trial     *round // of jobs that wait in a local queue
	lastRound protocol.RoundID
	hint      []byte
	outcomes  rounds.Outcomes // for the policy; not durable, as the hint

	calls     step.Calls[pending]
	instances step.Instance // the last one
	releases  step.Releases
	timers    due.Set[due.Timer]
	deeds     []deed // of this step, which is over when there are none

	watchers map[protocol.JobID]map[watcher]bool // who hears of a job of this site when it starts and ends

	elementWatchers map[protocol.JobID]map[watcher]protocol.Indexes // who hears of the end of which elements of an array of this site

	deferred map[lookUpFor]protocol.Indexes // queries of partners that are not answered yet, and the elements that they are about
	queued   map[protocol.SiteName]int      // how many of them are a partner's
	lookups  map[protocol.SiteName]*lookups // of jobs in the archive, for partners; those without any are left out

	reopenings uint64                    // how often a job or an array was requeued after its end in this life
	reopened   map[protocol.JobID]uint64 // of these, while there are lookups: the last one of each

	tentatives   quoting.Claims
	watched      localrun.Watch              // the local queue
	impactChecks map[protocol.Tag]partner.ID // whose offers the local scheduler is asked about
	resendSoon   []due.Timer                 // scratch
	lastCalled   uint64                      // numbers the availability messages heard
	reconfigured int                         // made so far; an older policy's hint is not kept

	cycleTimed bool // cycles are planned
	cycleDue   bool // its time has come
	intake     intake.Intake
	prices     pricing.Prices
	benefit    status.Benefit

	refused lineup.Refused // by the local scheduler
	turns   broker.Turns
}

// New restores a peer from its rows, or makes one without rows. The same
// configuration, seed, rows and events give the same steps.
func New(cfg rules.Config, seed uint64, rows []row.Record) (*Peer, error) {
	return Restore(cfg, seed, func(yield func(row.Record, error) bool) {
		for _, rec := range rows {
			if !yield(rec, nil) {
				return
			}
		}
	})
}

// Restore is [New] with rows that come one by one and are not kept: the rows of many jobs are
// large. It ends with the first error.
func Restore(cfg rules.Config, seed uint64, rows iter.Seq2[row.Record, error]) (*Peer, error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	site, partners, queue := lives.New(lives.Here{
		Site: cfg.Site, Number: cfg.Number, TrackLives: cfg.Watermark > 0,
		Machine: cfg.Machine, Witness: cfg.Witness, QueueApart: cfg.QueueApart,
	}), partner.NewSet(), &gridqueue.Queue{}
	p := &Peer{
		cfg:          cfg,
		dice:         step.NewDice(seed, cfg.Number),
		rounds:       map[protocol.RoundID]*round{},
		tentatives:   quoting.Claims{},
		impactChecks: map[protocol.Tag]partner.ID{},
		watchers:     map[protocol.JobID]map[watcher]bool{}, lookups: map[protocol.SiteName]*lookups{}, reopened: map[protocol.JobID]uint64{},
		elementWatchers: map[protocol.JobID]map[watcher]protocol.Indexes{},
		deferred:        map[lookUpFor]protocol.Indexes{}, queued: map[protocol.SiteName]int{},

		site: &site, partners: &partners, queue: queue,
		rows: tables.New(&site, &partners, queue),
		load: protocol.Load{CPUs: cfg.Capacity.CPUs}, intake: intake.New(cfg.Intake()),
	}
	p.rows.Fair = fairness.New(&p.cfg)
	for _, c := range cfg.Partners {
		p.partners.Begin(c)
	}
	if err := p.restore(rows); err != nil {
		return nil, fmt.Errorf("restore the peer of site %s: %w", cfg.Site, err)
	}
	return p, nil
}

// Step takes one event in and says what to do. Time never runs back: an earlier
// now counts as the latest one seen.
func (p *Peer) Step(now protocol.Instant, ev event.Event) (ready event.Ready) {
	if p.fault != nil {
		return event.Ready{Fault: p.fault}
	}
	defer func() { p.caught(recover(), &ready) }()
	p.now = max(p.now, now)
	p.out = event.Ready{}
	if !p.resumed {
		p.resumed = true
		p.resume()
	}
	p.take(ev)
	p.fireTimers()
	p.queue.ResumeDue(p.now)
	p.lineup().Unblock()
	for again := true; again; again = p.settleDependents() {
		p.settleDependents()
		p.drawElements()
		p.openRound()
	}
	p.awaitCycle()
	p.allowStarts()
	p.flush()
	p.out.Wake = p.nextWake()
	return p.out
}

func (p *Peer) take(ev event.Event) { //nolint:cyclop // one case for each kind of event
	switch ev := ev.(type) {
	case event.Tick:
	case event.TestSubmit, event.AskQueue, event.AskJob, event.AskOutput, event.AskSites, event.AskShares, event.AskRunHistory, event.AskRecovery:
		p.takeQuestion(ev)
	case event.MessageIn:
		p.receive(ev.From, ev.Body)
	case event.Connected:
		p.connected(ev.Card)
	case event.Disconnected:
		p.disconnected(ev)
	case event.DigestSeen:
		p.digestSeen(ev)
	case event.MemberSeen:
		p.memberSeen(ev)
	case event.CallDone:
		p.callDone(ev)
	case event.Submit:
		p.submit(ev)
	case event.Cancel:
		p.cancel(ev)
	case event.SetHold:
		p.setHold(ev)
	case event.SetDrain:
		p.setDrain(ev)
	case event.Update:
		p.update(ev)
	case event.Requeue:
		p.requeueAsked(ev)
	case event.Recover:
		p.takeRecover(ev)
	case event.Reconfigure:
		p.handleReconfigure(ev)
	case event.SetPartners:
		p.setPartners(ev)
	case event.ChangePrices:
		p.beginPrices()
		p.answer(ev.Asked, view.Done{})
	case event.ClockSet:
		p.clockSet(ev.By)
	}
}

// takeQuestion takes a question that changes nothing.
func (p *Peer) takeQuestion(ev event.Event) {
	switch ev := ev.(type) {
	case event.TestSubmit:
		p.testSubmit(ev)
	case event.AskQueue:
		p.answer(ev.Asked, p.answers().Queue(ev.Filter))
	case event.AskJob:
		p.answer(ev.Asked, p.answers().AskJob(ev.Job))
	case event.AskOutput:
		p.answer(ev.Asked, p.answers().AskOutput(ev))
	case event.AskSites:
		p.answer(ev.Asked, p.answers().Sites(p.here()))
	case event.AskShares:
		p.answer(ev.Asked, p.answers().Shares(&p.cfg.FairShare, ev.User))
	case event.AskRunHistory:
		p.answer(ev.Asked, p.rows.History.View(ev.User, ev.Component))
	case event.AskRecovery:
		p.answer(ev.Asked, p.answers().Recovery())
	case event.Tick, event.MessageIn, event.Connected, event.Disconnected, event.DigestSeen, event.MemberSeen, event.CallDone, event.Submit, event.Cancel, event.SetHold, event.SetDrain, event.Update, event.Requeue, event.Recover, event.Reconfigure, event.SetPartners, event.ChangePrices, event.ClockSet:
	}
}

// Card is this site's card for a partner, signed and sent by the shell. It means
// something only after the first step.
func (p *Peer) Card(to protocol.SiteName) protocol.Card {
	return p.host().Card(to)
}

func (p *Peer) send(to protocol.SiteName, m protocol.Message) {
	one := p.partners.Of(to)
	if one == nil || one.Departed {
		return
	}
	if _, mark := m.(protocol.Watermark); !mark && one.DistrustReason() != "" {
		return
	}
	if one.Row.Drain.Isolates() && !handoff.NeededBy(m) {
		return // outcomes and reports of use come again once it is resumed
	}
	p.out.Messages = append(p.out.Messages, event.Outgoing{To: to, Body: m})
}

func (p *Peer) answer(asked event.AskID, reply view.Reply) {
	p.out.Answers = append(p.out.Answers, event.Answer{Asked: asked, Reply: reply})
}

func (p *Peer) logEvent(f event.LogEvent) {
	if p.cfg.DisableLogEvents {
		return
	}
	f.At = p.now
	p.out.LogEvents = append(p.out.LogEvents, f)
}

// backoff is the pause before the next repetition after a number of tries.
func (p *Peer) backoff(tries int) protocol.Duration {
	return p.dice.Backoff(tries, p.cfg.RetryInitial, p.cfg.RetryMax)
}

// clip keeps foreign text within bounds.
func clip(text string) string { return view.Clip(text) }

// joined are those notes that say something.
func joined(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), "; ")
}

func (p *Peer) setLoad(load protocol.Load) {
	load.Benefit, load.Draw = p.benefit.PPM(), p.desk().DrawOfAll(p.drawing, &load)
	if p.loadAt != 0 && (load.Busy < p.load.Busy || load.QueuedJobs < p.load.QueuedJobs) {
		p.queueMoved()
	}
	if p.loadAt == 0 || load != p.load {
		p.out.Digest = &load
	}
	p.load, p.loadAt = load, p.now
}

// answers is what questions are answered by.
func (p *Peer) answers() answers.Answers {
	return answers.Answers{Ledger: p.ledger(), Number: p.cfg.Number, Watched: &p.watched, Objectives: p.objectives()}
}

// here is what the site shows of itself.
func (p *Peer) here() answers.Here {
	return answers.Here{
		Software: p.cfg.Software, PublicKey: p.cfg.PublicKey, Area: p.cfg.Area, Load: p.load, Loaded: p.loadAt != 0, Benefit: p.benefit.PPM(),
	}
}
