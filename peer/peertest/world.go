package peertest

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Epoch is when a world's time begins: 2026-11-21 12:00 UTC.
const Epoch protocol.Instant = 1_795_262_400_000

// World is a grid in memory. It is not safe for use from several goroutines.
type World struct {
	now     protocol.Instant
	seed    uint64
	faults  Faults
	sites   []*Site
	wires   []*Wire // by hand: sent and not yet delivered
	agenda  agenda
	lastSeq uint64
	cuts    map[direction]bool
	holders map[direction]*Site // which peer of a cloned site speaks for it to whom
	monitor *monitor
	scribe  scribe

	// Journal, when set, receives a line for every step and every message.
	Journal func(line string)
	// Sent, when set, gets every message that a site sends, whatever becomes of it.
	Sent func(from protocol.SiteName, m event.Outgoing)
	// Facts, when set, receives every log event, in the step that makes it.
	Facts func(at protocol.SiteName, fact event.LogEvent)
	// Step makes the steps of all peers; [New] sets [peer.Peer.Step].
	Step func(p *peer.Peer, now protocol.Instant, ev event.Event) event.Ready

	lastWire int
}

// Faults decide what becomes of messages, calls and commits.
type Faults interface {
	// Message gives the delay of each copy that arrives; none: it is lost. Held
	// is true when the message stays on its wire until a test moves it.
	Message(from, to protocol.SiteName) (delays []protocol.Duration, held bool)
	Call(site protocol.SiteName, op event.Op) CallFate
	Commit(site protocol.SiteName) protocol.Duration // how long the records wait for their commit
}

// Options describe a [World].
type Options struct {
	Seed   uint64
	Faults Faults // nil: [ByHand]
	Sites  []SiteOptions
	Links  [][2]protocol.SiteName // nil links all sites with each other
}

// direction is one way between two sites.
type direction struct{ from, to protocol.SiteName }

// New makes the sites and starts their peers, connected as linked.
func New(o Options) (*World, error) {
	w := &World{now: Epoch, seed: o.Seed, faults: o.Faults, cuts: map[direction]bool{}, holders: map[direction]*Site{}, Step: (*peer.Peer).Step}
	w.monitor = newMonitor(w)
	if w.faults == nil {
		w.faults = ByHand{}
	}
	for i, so := range o.Sites {
		if so.Number == 0 {
			so.Number = protocol.SiteNumber(i + 1)
		}
		w.sites = append(w.sites, newSite(w, so))
	}
	w.scribe = scribe{names: map[protocol.SiteNumber]protocol.SiteName{}, first: map[protocol.SiteNumber]uint64{}}
	for i := range o.Sites {
		w.scribe.names[w.sites[i].cfg.Number] = w.sites[i].Name
		w.configure(w.sites[i], o)
	}
	for _, s := range w.sites {
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	w.connectAll()
	w.settle()
	return w, nil
}

func (w *World) configure(s *Site, o Options) {
	for i, other := range o.Sites {
		if other.Name == s.Name || !linked(o.Links, s.Name, other.Name) {
			continue
		}
		own := o.Sites[w.index(s.Name)]
		maxJobs := own.MaxJobs
		if maxJobs == 0 {
			maxJobs = 1000
		}
		s.cfg.Partners = append(s.cfg.Partners, rules.Partner{
			Site: other.Name, PublicKey: w.sites[i].cfg.PublicKey, MaxJobs: max(0, maxJobs), MaxCPUs: own.MaxCPUs,
		})
	}
	if change := o.Sites[w.index(s.Name)].Config; change != nil {
		change(&s.cfg)
	}
}

func linked(links [][2]protocol.SiteName, a, b protocol.SiteName) bool {
	if links == nil {
		return true
	}
	for _, l := range links {
		if l == [2]protocol.SiteName{a, b} || l == [2]protocol.SiteName{b, a} {
			return true
		}
	}
	return false
}

func (w *World) index(name protocol.SiteName) int {
	for i, s := range w.sites {
		if s.Name == name {
			return i
		}
	}
	return -1
}

// Site finds a site by name; nil: there is none.
func (w *World) Site(name protocol.SiteName) *Site {
	if i := w.index(name); i >= 0 {
		return w.sites[i]
	}
	return nil
}

// Sites are all sites in the order of the options.
func (w *World) Sites() []*Site { return w.sites }

// Now is the world's time. A site's clock may differ by its skew.
func (w *World) Now() protocol.Instant { return w.now }

// Err is what has happened that must never happen; nil: nothing.
func (w *World) Err() error {
	if len(w.monitor.problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(w.monitor.problems, "\n"))
}

// Check looks at all committed rows of all sites, and returns [World.Err].
func (w *World) Check() error {
	w.monitor.check()
	return w.Err()
}

// Submit submits jobs and returns the question's number.
func (w *World) Submit(site protocol.SiteName, user, key string, jobs ...protocol.Job) event.AskID {
	return w.Ask(site, func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, Key: key, User: user, Jobs: jobs}
	})
}

// Cancel asks for a job's end, as root.
func (w *World) Cancel(site protocol.SiteName, job protocol.JobID) event.AskID {
	return w.CancelElements(site, protocol.JobName{Job: job})
}

// CancelElements asks for the end of a job, of an array, or of some elements of one, as root.
func (w *World) CancelElements(site protocol.SiteName, name protocol.JobName) event.AskID {
	return w.Ask(site, func(asked event.AskID) event.Event {
		return event.Cancel{Asked: asked, Job: name.Job, Elements: name.Elements, Admin: true}
	})
}

// CancelThere asks a site for the end of a job of another one, as the account that has it there if a user submitted it.
func (w *World) CancelThere(site protocol.SiteName, job protocol.JobID, user string) event.AskID {
	return w.Ask(site, func(asked event.AskID) event.Event {
		name, _ := account(user) // one without an account has no job there
		return event.Cancel{Asked: asked, Job: job, User: name}
	})
}

// Force notes that an operator accepts that a job may start again.
func (w *World) Force(job protocol.JobID) { w.monitor.forced[job] = true }

// Configure changes the configuration of a site's later lives.
func (w *World) Configure(site protocol.SiteName, change func(*rules.Config)) {
	change(&w.Site(site).cfg)
}

// Tune changes a site's rules for rounds while it runs, and for its later lives.
func (w *World) Tune(name protocol.SiteName, change func(*rules.Config)) event.AskID {
	site := w.Site(name)
	change(&site.cfg)
	return w.Ask(name, func(asked event.AskID) event.Event {
		return event.Reconfigure{Asked: asked, Runtime: site.cfg.Runtime()}
	})
}

// SetPartners changes a site's partners while it runs, and for its later lives. With those that
// are gone, or have another key, sessions end; with those that are new they begin.
func (w *World) SetPartners(name protocol.SiteName, change func(*rules.Config)) event.AskID {
	s := w.Site(name)
	if s.committing { // what was sent before goes out
		s.commit()
	}
	before := trusted(s)
	change(&s.cfg)
	asked := w.Ask(name, func(asked event.AskID) event.Event {
		return event.SetPartners{Asked: asked, Partners: s.cfg.Partners, Associations: s.cfg.Associations}
	})
	after := trusted(s)
	for _, other := range w.sites {
		switch {
		case other == s || before[other.Name] == after[other.Name]:
			continue
		case before[other.Name] != "":
			w.Disconnect(name, other.Name)
			w.Disconnect(other.Name, name)
		}
		w.Connect(name, other.Name)
	}
	w.settle()
	return asked
}

// trusted are the keys of a site's partners.
func trusted(s *Site) map[protocol.SiteName]string {
	keys := map[protocol.SiteName]string{}
	for _, one := range s.cfg.Partners {
		keys[one.Site] = one.PublicKey
	}
	return keys
}

// Ask feeds a site's peer a question and returns its number.
func (w *World) Ask(site protocol.SiteName, question func(event.AskID) event.Event) event.AskID {
	s := w.Site(site)
	s.asked++
	asked := s.asked
	s.step(question(asked))
	w.settle()
	return asked
}

// Crash ends a site's peer at once. What it had not committed is lost, and so are
// the calls that it made; its batch system goes on.
func (w *World) Crash(site protocol.SiteName) {
	w.Site(site).crash()
	w.note("%s crashes", site)
}

// Wipe ends a site's peer at once, and loses its rows. Its batch system goes on.
func (w *World) Wipe(site protocol.SiteName) {
	w.Crash(site)
	clear(w.Site(site).rows.Rows)
}

// Restart starts a site's peer again from its rows, and connects it.
func (w *World) Restart(site protocol.SiteName) error {
	s := w.Site(site)
	if s.Up() {
		return nil
	}
	w.note("%s starts", site)
	if err := s.start(); err != nil {
		w.monitor.problem("%v", err)
		return err
	}
	for _, other := range w.sites {
		w.Connect(site, other.Name)
	}
	w.settle()
	return nil
}

// Loop bounds: a world that does more than this at one instant goes in circles.
const maxSteps = 100_000

// settle does all that happens without time passing.
func (w *World) settle() { w.runTo(w.now) }

// Advance lets time pass, and everything happen that is due.
func (w *World) Advance(d protocol.Duration) { w.runTo(w.now.Add(d)) }

// runTo does everything that is due until then, in order.
func (w *World) runTo(until protocol.Instant) {
	for steps := 0; len(w.monitor.problems) == 0; {
		next, ok := w.next()
		if !ok || next > until {
			break
		}
		if steps++; next > w.now {
			steps = 0
		}
		if steps > maxSteps {
			w.monitor.problem("the world goes in circles at %v", w.now)
		}
		w.now = max(w.now, next)
		w.turn()
	}
	w.now = max(w.now, until)
	for _, s := range w.sites {
		s.Batch.Advance(s.now())
	}
}

// next is when something is due.
func (w *World) next() (at protocol.Instant, ok bool) {
	add := func(t protocol.Instant) {
		if !ok || t < at {
			at, ok = t, true
		}
	}
	if len(w.agenda) > 0 {
		add(w.agenda[0].at)
	}
	for _, s := range w.sites {
		if t := s.Batch.Next(); t != 0 {
			add(t.Add(-s.skew))
		}
		if s.peer != nil && s.wake != 0 {
			add(max(w.now, s.wake.Add(-s.skew)))
		}
	}
	return at, ok
}

// turn does one thing that is due now: of the agenda, or of the sites.
func (w *World) turn() {
	if len(w.agenda) > 0 && w.agenda[0].at <= w.now {
		if task, ok := heap.Pop(&w.agenda).(task); ok {
			task.do()
		}
		w.pumpAll()
		return
	}
	for _, s := range w.sites {
		if t := s.Batch.Next(); t != 0 && t <= s.now() {
			s.Batch.Advance(s.now())
		}
		if s.peer != nil && s.wake != 0 && s.wake <= s.now() {
			s.step(event.Tick{})
		}
	}
	w.pumpAll()
}

func (w *World) pumpAll() {
	for _, s := range w.sites {
		s.pump()
	}
}

// after puts something on the agenda.
func (w *World) after(d protocol.Duration, do func()) {
	w.lastSeq++
	heap.Push(&w.agenda, task{at: w.now.Add(max(0, d)), seq: w.lastSeq, do: do})
}

// After does something in a while, when the world runs.
func (w *World) After(d protocol.Duration, do func()) { w.after(d, do) }

func (w *World) note(format string, args ...any) {
	if w.Journal != nil {
		w.Journal(fmt.Sprintf(format, args...))
	}
}

func (w *World) journal(s *Site, ready event.Ready, ev event.Event) {
	if w.Journal == nil {
		return
	}
	for _, line := range w.scribe.step(s.Name, ev, ready) {
		w.Journal(line)
	}
}

type task struct {
	at  protocol.Instant
	seq uint64
	do  func()
}

type agenda []task

func (a *agenda) Len() int { return len(*a) }
func (a *agenda) Less(i, j int) bool {
	x, y := (*a)[i], (*a)[j]
	return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.seq, y.seq)) < 0
}
func (a *agenda) Swap(i, j int) { (*a)[i], (*a)[j] = (*a)[j], (*a)[i] }

// Push implements [heap.Interface].
func (a *agenda) Push(x any) {
	if t, ok := x.(task); ok {
		*a = append(*a, t)
	}
}

// Pop implements [heap.Interface].
func (a *agenda) Pop() any {
	last := len(*a) - 1
	t := (*a)[last]
	*a = (*a)[:last]
	return t
}
