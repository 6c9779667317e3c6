package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/internal/metrics"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/peer/accounts"
	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/record"
	"github.com/switchyard-hpc/switchyard/peer/results"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/peer/witness"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// peerProcess is a peer and all that it is made of.
type peerProcess struct {
	cfg       *config.Config // it was started with
	from      []string       // the configuration's paths
	recording string         // path; empty: nothing is recorded
	newStore  bool           // a lost database is given up
	log       *slog.Logger
	notify    notifier
	hangups   <-chan os.Signal

	reloading sync.Mutex // held by one reload at a time
	inForce   atomic.Pointer[config.Config]
	level     slog.LevelVar

	key         *identity.Key
	store       *store.Store
	witness     *witness.File
	witnessed   protocol.Life // what it remembered at the start
	machine     string        // where state_dir is
	plugins     *pluginSet
	process     *process.Scheduler // nil: the batch system is another
	prices      *priceWatch        // nil: the site has none
	budget      *budgetKeeper
	feedFiles   []*feedFile // guarded by reloading
	scheduler   localsched.Scheduler
	capacity    protocol.Capacity
	reserves    bool                   // the batch system holds room
	pendingDraw func() int64           // of the gate: jobs wait for the power budget in state_dir before the batch system gets them; nil: there is none
	deciding    atomic.Pointer[string] // name of the policy in force
	shim        []string
	meter       *metrics.Metrics
	accounts    accountsInForce
	node        *node.Node
	links       *bus.Bus
	gossip      *gossip.Gossip // nil: the site does not gossip
	closers     []closer       // of what runs, in the order in which it was started
	failed      chan struct{}  // gets one for each part that ended by itself
}

type closer struct {
	name  string
	close func() error
}

// run starts the peer, waits for ctx or a failure, and stops it.
func (p *peerProcess) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, p.stop()) }()
	for _, odd := range p.cfg.Warnings {
		p.log.Warn("config_odd", "what", odd.String())
	}
	p.logOdd(ctx)
	for _, start := range []func(context.Context) error{
		p.boundGarbage, p.openKey, p.lockKey, p.openStore, p.startMeter, p.openPlugins, p.openPrices, p.openBudget, p.openScheduler, p.startBudget, p.openWitness, p.startNode, p.startLinks, p.startMetrics, p.startAPI,
	} {
		err := start(ctx)
		if told := ctx.Err() != nil && errors.Is(err, context.Canceled); err != nil && !told {
			return err
		}
		if ctx.Err() != nil || len(p.failed) > 0 {
			return nil
		}
	}
	p.log.Info("peer_ready", "site", p.cfg.Site.Name, "number", p.cfg.Site.Number,
		"version", version, "pid", os.Getpid())
	p.notify.say(ctx, "READY=1")
	go p.notify.watch(ctx, p.alive)
	p.serve(ctx)
	p.notify.say(context.WithoutCancel(ctx), "STOPPING=1")
	p.log.Info("peer_stops")
	return nil
}

// serve heeds hangups until ctx ends or a part fails, of which stop says why.
func (p *peerProcess) serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.failed:
			return
		case <-p.plugins.up:
			p.takeUp(ctx)
			p.budget.hear() // a feed may have come up
		case <-p.hangups:
			if _, err := p.reload(ctx, "SIGHUP"); err != nil {
				p.log.Error("config_not_reloaded", "by", "SIGHUP", "error", err)
			}
		}
	}
}

// stop closes what runs, the last started first.
func (p *peerProcess) stop() error {
	var errs []error
	for _, c := range slices.Backward(p.closers) {
		if err := c.close(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

// launch runs a part until it is stopped. It outlives ctx, because others that
// are stopped before it still need it.
func (p *peerProcess) launch(ctx context.Context, name string, run func(context.Context) error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var err error
	ended := make(chan struct{})
	go func() {
		err = run(running)
		close(ended)
		p.failed <- struct{}{}
	}()
	p.onStop(name, func() error {
		cancel()
		<-ended
		return err
	})
}

func (p *peerProcess) onStop(name string, stop func() error) {
	p.closers = append(p.closers, closer{name, stop})
}

func (p *peerProcess) openKey(context.Context) (err error) {
	if p.key, err = identity.LoadKey(string(p.cfg.Site.Key)); err != nil {
		return fmt.Errorf("[site] key: %w; make one with: switchyard keygen --out %s", err, p.cfg.Site.Key)
	}
	return nil
}

func (p *peerProcess) openStore(context.Context) error {
	dir := string(p.cfg.Site.StateDir)
	// Jobs of other accounts run in folders below and must pass through.
	if err := os.MkdirAll(dir, 0o711); err != nil { //nolint:gosec // see above
		return fmt.Errorf("[site] state_dir: %w; name a folder on a local disk that this account may write", err)
	}
	if err := roomToStart(dir); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	begin := statedir.Check
	if p.newStore {
		begin = p.beginAnew
	}
	if err := begin(dir); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	opened, err := store.Open(statedir.Database(dir), store.Options{Logger: p.log})
	if err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	p.store = opened
	p.onStop("the store", opened.Close)
	return nil
}

// startRoom is how much must be free where the state is, for a peer to start: for a new
// database and for what is written while a peer takes up its jobs again.
const startRoom = 1 << 20 // bytes

// roomToStart refuses to start a peer that would fail at one of its first writes.
func roomToStart(dir string) error {
	free, err := localdisk.Free(dir)
	if err != nil {
		return err
	}
	if free < startRoom {
		return fmt.Errorf("there is no room to start: a peer needs %d KiB, free space or raise the quota on %s",
			startRoom>>10, localdisk.Describe(dir))
	}
	return nil
}

// beginAnew sets aside what an earlier peer has left in the directory, with a database that
// cannot be used. It refuses to give up one that can.
func (p *peerProcess) beginAnew(dir string) error {
	database := statedir.Database(dir)
	found, err := inspectStore(database)
	lost := errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrForeign)
	switch {
	case err != nil && !lost:
		return err
	case err == nil && found.Format > 0 && len(found.Problems) == 0:
		return fmt.Errorf("--new-store: the database %s is whole; start without --new-store, or, to give up its jobs"+
			" all the same, move it away first", database)
	}
	moved, err := statedir.SetAside(dir, time.Now())
	for _, path := range moved {
		p.log.Warn("state_set_aside", "path", path)
	}
	return err
}

// accountsInForce are the accounts by the configuration that is in force.
type accountsInForce struct {
	now atomic.Pointer[accounts.Accounts]
}

// Local implements [peer.Accounts].
func (a *accountsInForce) Local(user string) (string, error) { return a.now.Load().Local(user) }

// Guest implements [peer.Accounts].
func (a *accountsInForce) Guest(site protocol.SiteName, user string) (string, error) {
	return a.now.Load().Guest(site, user)
}

func (a *accountsInForce) become(cfg *config.Config) {
	a.now.Store(accounts.New(accounts.Tables{
		SameNames: cfg.Accounts.Users == config.Same,
		Local:     cfg.Accounts.Local,
		Guests:    cfg.Guests(),
		Own:       ownAccount(),
	}))
}

// seed is that of the configuration; the core adds the site's number.
func (p *peerProcess) seed() uint64 { return uint64(p.cfg.Site.Seed) } //nolint:gosec // any number will do

func (p *peerProcess) startMeter(context.Context) error {
	p.meter = metrics.New(metrics.Identity{Site: p.cfg.Site.Name, Version: version})
	return nil
}

// decides notes which policy is in force.
func (p *peerProcess) decides(name string) {
	p.deciding.Store(&name)
	rules := p.rules()
	p.meter.Rules(rules.Initiation, rules.Policy, rules.LocalPolicy)
}

func (p *peerProcess) startNode(ctx context.Context) error {
	p.accounts.become(p.cfg)
	decides, name, err := p.firstPolicy(ctx)
	if err != nil {
		return err
	}
	p.decides(name)
	recorder, err := p.recorder()
	if err != nil {
		return err
	}
	p.node, err = node.New(node.Config{
		Peer: p.cfg.Peer(config.Parts{
			PublicKey: p.key.Public(), Software: "switchyard " + version, Capacity: p.capacity,
			Reserves: p.reserves, Accounts: &p.accounts, Policy: policy.Describe(decides),
			Witness: p.witnessed, Machine: p.machine, QueueApart: p.queueApart(),
		}),
		Seed:      p.seed(),
		Store:     p.store,
		Scheduler: p.scheduler,
		Policy:    decides,
		Fallback:  p.fallback(),
		Fronter:   p.fronter(),
		Deliverer: &deliverer{
			files: process.Deliverer{Shim: p.shim}, accounts: &p.accounts, results: p.results(),
		},
		Prices:    p.nodePrices(),
		Log:       p.log,
		Meter:     p.meter,
		Recorder:  recorder,
		Retention: node.Retention(p.cfg.Retention),
		Space:     func() (uint64, error) { return localdisk.Free(string(p.cfg.Site.StateDir)) },
		Witness:   p.witness,

		AllowStarts: p.allowStarts,
	})
	if err != nil {
		return fmt.Errorf("restore the peer from %s: %w", p.cfg.Site.StateDir, err)
	}
	p.launch(ctx, "the node", p.node.Run)
	return nil
}

// results is where output of jobs that ran at partners comes home.
func (p *peerProcess) results() *results.Dir {
	return &results.Dir{
		Path:    filepath.Join(string(p.cfg.Site.StateDir), "kept"),
		MaxKept: p.cfg.Results.MaxKept.Bytes(), KeepFor: p.cfg.Results.KeepFor.Std(),
		Removed: func(name, why string) { p.log.Warn("kept_output_removed", "file", name, "why", why) },
	}
}

// recorder makes the recording that was asked for; nil: none was.
func (p *peerProcess) recorder() (node.Recorder, error) {
	if p.recording == "" {
		return nil, nil //nolint:nilnil // documented
	}
	writer, err := record.Create(p.recording, record.Options{Software: "switchyard " + version, Log: p.log})
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	p.onStop("the recording", writer.Close)
	return writer, nil
}

func (p *peerProcess) startLinks(ctx context.Context) error {
	cfg := bus.Config{
		Site: p.cfg.Site.Name, Key: p.key, Listen: p.cfg.NATS.Listen,
		Card: p.node.Card, Handler: ear{p.node}, Log: p.log,
	}
	if n := p.cfg.NATS; n.URL != "" {
		cfg.Listen = ""
		cfg.External = &bus.External{
			URL: n.URL, Creds: string(n.Creds), Nkey: string(n.Nkey), Token: string(n.Token), CA: string(n.CA),
		}
	}
	cfg.Partners = busPartners(p.cfg)
	links, err := bus.New(cfg)
	if err == nil {
		err = links.Start(ctx)
	}
	p.links = links
	if err != nil {
		return fmt.Errorf("[nats]: %w%s", err, taken(err, "[nats] listen"))
	}
	p.onStop("the links", func() error { links.Close(); return nil })
	if p.gossip, err = p.startGossip(); err != nil { //nolint:contextcheck // it runs until it is closed
		return err
	}
	if p.gossip == nil {
		p.node.Attach(transport{links}, nil)
		return nil
	}
	p.node.Attach(transport{links}, p.gossip)
	return nil
}

// busPartners are the partners as the links need them.
func busPartners(cfg *config.Config) (out []bus.Partner) {
	for _, partner := range cfg.Partners {
		out = append(out, bus.Partner{Site: partner.Name, PublicKey: partner.PublicKey, URL: partner.URL})
	}
	return out
}

// gossipLeave is how long leaving the gossip may take.
const gossipLeave = 500 * time.Millisecond

// startGossip returns nil without a table [gossip].
func (p *peerProcess) startGossip() (*gossip.Gossip, error) {
	cfg := p.cfg.Gossip
	if cfg == nil {
		return nil, nil //nolint:nilnil // documented
	}
	card := p.node.Card(p.cfg.Site.Name)
	if card.Site == "" {
		return nil, nil //nolint:nilnil // the node has stopped, and says why
	}
	talk, err := gossip.Start(gossip.Config{
		Self: gossip.Identity{
			Site: p.cfg.Site.Name, Number: p.cfg.Site.Number, PublicKey: p.key.Public(),
			FirstStart: card.FirstStart, Incarnation: card.Incarnation,
		},
		Bind: cfg.Bind, Advertise: cfg.Advertise, Join: cfg.Join, KeyringFile: string(cfg.Keyring),
		Every: cfg.Every.Std(), Rejoin: cfg.Rejoin.Std(), Trusted: p.cfg.Trusted(),
		Seed:    p.seed() + uint64(p.cfg.Site.Number),
		Sign:    p.key.Signer(identity.Gossip),
		Verify:  identity.Verifier(identity.Gossip),
		Handler: rumours{p.node},
		Logger:  p.log,
	})
	if err != nil {
		return nil, err // it names the key and the remedy
	}
	p.onStop("the gossip", func() error {
		if err := talk.Leave(gossipLeave); err != nil {
			p.log.Debug("gossip_left_in_silence", "error", err) // the others find out by themselves
		}
		return talk.Close()
	})
	return talk, nil
}

// taken adds the remedy to the error of an address in use.
func taken(err error, key string) string {
	if errors.Is(err, syscall.EADDRINUSE) {
		return "; another program listens there: stop it, or choose another port in " + key
	}
	return ""
}
