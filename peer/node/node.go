package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// core is what the node drives: a [peer.Peer].
type core interface {
	Step(now protocol.Instant, ev event.Event) event.Ready
	Card(to protocol.SiteName) protocol.Card
}

// Node is a live peer. All methods may be called from any goroutine.
type Node struct {
	cfg   Config
	log   *slog.Logger
	core  core // the loop's alone
	clock *clock

	events chan inboxItem // from partners, gossip and calls
	asks   chan inboxItem // from the API
	places places
	lastID atomic.Uint64
	asked  askers
	waits  waits

	behind atomic.Int64 // batches in the stages after the loop, give or take the one that is being handed on

	links links
	lanes lanes

	collecting collecting
	packing    packing
	transfers  transfers
	brought    brought
	reading    chan struct{}  // the results that wait for their files
	ahead      chan struct{}  // the room of all windows
	calls      sync.WaitGroup // running calls
	facts      *factLog
	moves      moves
	requests   requests
	mails      mails
	notices    notices
	changes    changes
	traces     traces

	life        protocol.Life // of what is durable; the second stage's alone
	unwitnessed bool          // the witness could not be written

	closing chan struct{} // closed when no more questions are taken
	done    chan struct{} // closed when nothing more will be answered
	failed  failure
}

// inboxItem is one thing for the loop: an event, or a question for a card.
type inboxItem struct {
	event  event.Event
	policy policy.Policy // that decides rounds from here on, if the event is granted; nil: no other
	card   *cardAsk
	place  chan struct{} // a partner's, to be given up when the loop has the letter; nil: it needs none
}

// Errors that callers tell apart with [errors.Is].
var (
	// ErrStopped says that the peer stops and answers no more.
	ErrStopped = errors.New("the peer is stopping; try again when it runs")
	// ErrNotAttached says that the network is not there yet.
	ErrNotAttached = errors.New("the peer is starting and not connected yet; try again")
)

// stopGrace is how long stopping waits for calls that do not heed their context.
const stopGrace = 10 * time.Second

// manyRows is the number of rows from which a start returns memory to the system, which takes a moment.
const manyRows = 50_000

// New restores a peer from the store's rows. [Node.Run] starts it.
func New(cfg Config) (*Node, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	if cfg.Recorder != nil {
		cfg.Peer = cfg.Recorder.Listen(cfg.Peer)
	}
	restoring := restoring{
		store: cfg.Store, moves: moves{meter: cfg.Meter}, mails: mails{origin: cfg.Peer.Site, mailer: cfg.Mailer},
		notices: notices{origin: cfg.Peer.Site, notifier: cfg.Notifier}, keep: cfg.Recorder != nil,
		changes: changes{origin: cfg.Peer.Site, store: cfg.Store, stream: cfg.Events}, traces: traces{tracer: cfg.Tracer},
	}
	machine, err := peer.Restore(cfg.Peer, cfg.Seed, restoring.rows)
	if err != nil {
		return nil, fmt.Errorf("restore the peer, after %d rows: %w", restoring.count, err)
	}
	if restoring.count > manyRows {
		debug.FreeOSMemory() // reading them has taken several times what is left of them
	}
	if cfg.Recorder != nil {
		cfg.Recorder.Begin(cfg.Peer, cfg.Seed, restoring.kept)
	}
	n := newNode(cfg, machine, restoring.moves, restoring.mails)
	n.notices, n.changes, n.traces = restoring.notices, restoring.changes, restoring.traces
	n.traces.story = n.facts.of
	if err = n.listEnds(); err != nil {
		return nil, fmt.Errorf("list the ends of finished jobs: %w", err)
	}
	return n, nil
}

// newNode puts the shell around a machine.
func newNode(cfg Config, machine core, moves moves, mails mails) *Node {
	n := &Node{
		cfg:     cfg,
		log:     cfg.Log,
		core:    machine,
		clock:   newClock(cfg.Clock, cfg.Log),
		events:  make(chan inboxItem, 4096),
		asks:    make(chan inboxItem, 1024),
		lanes:   newLanes(),
		reading: make(chan struct{}, maxReading),
		ahead:   make(chan struct{}, aheadOfAll),
		facts:   newFactLog(cfg.Store),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
		moves:   moves,
		mails:   mails,
	}
	n.packing.maxUserBytes.Store(cfg.Peer.MaxUserStaging)
	return n
}

// Run drives the peer until ctx ends or the store fails; then the error says
// why. It finishes what is being written, and leaves the store open. It may be
// called once.
func (n *Node) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	n.failed.stop = stop

	written, released := make(chan *batch), make(chan *batch)
	var stages sync.WaitGroup
	stages.Go(func() { n.step(ctx, written) })
	stages.Go(func() { n.write(written, released) })
	stages.Go(func() { n.release(ctx, released) })
	stages.Go(func() { n.prune(ctx) })
	stages.Go(func() { n.watchClock(ctx) })
	stages.Wait()

	n.saveFacts()
	close(n.done)
	n.awaitCalls()
	return n.failed.reason()
}

// awaitCalls waits for running calls, but not for ever.
func (n *Node) awaitCalls() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.calls.Wait()
	}()
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
		n.log.Warn("calls_left_behind", "why", "the batch system, a plugin or the disk did not answer in time; the peer stops without them")
	}
}

// post gives the loop an event, waiting for room. It is dropped when the node
// stops.
func (n *Node) post(ev event.Event) {
	select {
	case n.events <- inboxItem{event: ev}:
	case <-n.done:
	}
}

// failure is why the node stops, unless a stop was requested.
type failure struct {
	stop context.CancelFunc
	mu   sync.Mutex
	err  error
}

// set keeps the first reason and stops the node.
func (f *failure) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	f.stop()
}

func (f *failure) reason() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
