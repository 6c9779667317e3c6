package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/metrics"
	"github.com/switchyard-hpc/switchyard/peer/audit"
	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/localqueue"
	"github.com/switchyard-hpc/switchyard/peer/daemon/powerbudget"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/results"
	"github.com/switchyard-hpc/switchyard/peer/servercert"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/peer/witness"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Options say what a daemon runs, and as what.
type Options struct {
	Config    *config.Config   // of the site
	Paths     []string         // that Config was read from; a reload reads them again
	Build     Build            // of the program
	Log       io.Writer        // gets the log, in the form that the configuration names
	Recording string           // a new file, or a directory for one, for all inputs of the peer; empty: none are recorded
	NewStore  bool             // set a database aside that is lost or damaged, and begin with an empty one
	Reload    <-chan os.Signal // each has the configuration read again; nil: none comes
	Manager   Manager          // what started the program; the zero value: none that wants to hear
}

// Build names the build of a program, for the log, for partners, and for the shim, which must
// be of the same one.
type Build struct{ Version, Commit string }

// software is how the build is named to plugins and partners.
func (b Build) software() string { return "switchyard " + b.Version }

// Daemon is a peer and all that it is made of.
type Daemon struct {
	cfg     *config.Config // it was started with
	options Options
	log     *slog.Logger
	ready   chan struct{} // closed when all parts run

	reloading sync.Mutex // held by one reload at a time
	active    atomic.Pointer[config.Config]
	level     slog.LevelVar

	key       *identity.Key            // changes under reloading
	keyNote   atomic.Pointer[string]   // what is wrong with it beside the roster; nil or empty: nothing
	keys      []string                 // public ones that the site has had
	locks     map[string]*witness.Lock // of the public keys that this peer has used; guarded by reloading
	store     *store.Store
	witness   *witness.File
	witnessed protocol.Life // what it remembered at the start
	machine   string        // where state_dir is
	plugins   *pluginSet
	prices    *pricefeed.Watch // nil: the site has none
	budget    *powerbudget.Keeper
	feedFiles []*pricefeed.File // guarded by reloading
	queue     *localqueue.Queue
	deciding  atomic.Pointer[string] // name of the active policy
	shim      []string
	meter     *metrics.Metrics
	audit     *audit.Log // nil: none is kept
	settings  *settingsHistory
	accounts  activeAccounts
	deliverer *results.Deliverer
	events    *eventstream.Stream

	certificate *servercert.Files  // of the API over TCP; nil: there is none
	issuers     []*openid.Verifier // of tokens that the API over TCP takes, as the configuration has them
	node        *node.Node
	links       *bus.Bus
	gossip      atomic.Pointer[gossip.Gossip] // nil: the site does not gossip
	closers     []func() error                // of what runs, in the order in which it was started
	failed      chan struct{}                 // gets one for each part that ended by itself
}

// How many events are kept for those who follow them, more than a few full batches bring, and how many bytes of them, at most: those with
// the quotes of a large round have some 100 KB.
const (
	keptEvents     = 16384
	keptEventBytes = 64 << 20
)

// New makes a daemon. Nothing runs yet, and nothing was looked at.
func New(options Options) *Daemon {
	d := &Daemon{
		cfg: options.Config, options: options, ready: make(chan struct{}),
		failed: make(chan struct{}, 8), plugins: newPluginSet(), locks: map[string]*witness.Lock{},
		events: eventstream.New(protocol.InstantOf(time.Now()), keptEvents, keptEventBytes),
	}
	d.active.Store(d.cfg)
	d.level.Set(levelOf(d.cfg.Log))
	d.log = newLogger(options.Log, d.cfg.Log, &d.level)
	return d
}

// Ready is closed when the peer runs and its socket answers. It never is if the start fails.
func (d *Daemon) Ready() <-chan struct{} { return d.ready }

// Run starts the peer, waits for the end of ctx or of a part of the peer, and stops it. It
// returns nil if ctx ended it and all parts closed well. It must be called once.
func (d *Daemon) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, d.stop()) }()
	d.logWarnings(d.cfg)
	d.logAccountProblems(ctx)
	for _, start := range []func(context.Context) error{
		d.boundGarbage, d.openKey, d.lockKey, d.openStore, d.startMeter, d.openAudit, d.openSettings, d.openPlugins, d.openPrices, d.openBudget, d.openQueue, d.startBudget, d.openWitness, d.startNode, d.startLinks, d.startMetrics, d.startAPI,
	} {
		err := start(ctx)
		if cancelled := ctx.Err() != nil && errors.Is(err, context.Canceled); err != nil && !cancelled {
			return err
		}
		if ctx.Err() != nil || len(d.failed) > 0 {
			return nil
		}
	}
	d.log.Info("peer_ready", "site", d.cfg.Site.Name, "number", d.cfg.Site.Number,
		"version", d.options.Build.Version, "pid", os.Getpid())
	close(d.ready)
	d.options.Manager.say(ctx, "READY=1")
	go d.options.Manager.watch(ctx, d.alive)
	d.serve(ctx)
	d.options.Manager.say(context.WithoutCancel(ctx), "STOPPING=1")
	d.log.Info("peer_stops")
	return nil
}

// serve handles hangups until ctx ends or a part fails, of which stop says why.
func (d *Daemon) serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.failed:
			return
		case <-d.plugins.up:
			d.activateLatePolicy(ctx)
			d.budget.Wake() // a feed may have come up
		case <-d.options.Reload:
			done, err := d.reload(ctx, "SIGHUP")
			if err != nil {
				d.log.Error("config_reload_failed", "by", "SIGHUP", "error", err)
			}
			d.auditSignal(done, err)
		}
	}
}

// stop closes what runs, the last started first.
func (d *Daemon) stop() error {
	var errs []error
	for _, stop := range slices.Backward(d.closers) {
		errs = append(errs, stop())
	}
	return errors.Join(errs...)
}

// launch runs a part until it is stopped. It outlives ctx, because others that
// are stopped before it still need it.
func (d *Daemon) launch(ctx context.Context, name string, run func(context.Context) error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var err error
	ended := make(chan struct{})
	go func() {
		err = run(running)
		close(ended)
		d.failed <- struct{}{}
	}()
	d.onStop(name, func() error {
		cancel()
		<-ended
		return err
	})
}

// onStop has a part be closed with the peer. Its error is named after the part.
func (d *Daemon) onStop(part string, stop func() error) {
	d.closers = append(d.closers, func() error {
		if err := stop(); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
		return nil
	})
}
