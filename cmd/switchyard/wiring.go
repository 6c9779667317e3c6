package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/internal/metrics"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/peer/accounts"
	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/localqueue"
	"github.com/switchyard-hpc/switchyard/peer/daemon/powerbudget"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/record"
	"github.com/switchyard-hpc/switchyard/peer/results"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
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
	Recording string           // a new file, or a directory for one, for all that the peer is told; empty: it is not recorded
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
	inForce   atomic.Pointer[config.Config]
	level     slog.LevelVar

	key       *identity.Key
	store     *store.Store
	witness   *witness.File
	witnessed protocol.Life // what it remembered at the start
	machine   string        // where state_dir is
	plugins   *pluginSet
	prices    *pricefeed.Watch // nil: the site has none
	budget    *powerbudget.Keeper
	feedFiles []*pricefeed.File // guarded by reloading
	queue     *localqueue.Queue
	deciding  atomic.Pointer[string] // name of the policy in force
	shim      []string
	meter     *metrics.Metrics
	accounts  accountsInForce
	node      *node.Node
	links     *bus.Bus
	gossip    *gossip.Gossip // nil: the site does not gossip
	closers   []func() error // of what runs, in the order in which it was started
	failed    chan struct{}  // gets one for each part that ended by itself
}

// New makes a daemon. Nothing runs yet, and nothing was looked at.
func New(options Options) *Daemon {
	d := &Daemon{
		cfg: options.Config, options: options, ready: make(chan struct{}),
		failed: make(chan struct{}, 8), plugins: newPluginSet(),
	}
	d.inForce.Store(d.cfg)
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
	for _, odd := range d.cfg.Warnings {
		d.log.Warn("config_odd", "what", odd.String())
	}
	d.logOdd(ctx)
	for _, start := range []func(context.Context) error{
		d.boundGarbage, d.openKey, d.lockKey, d.openStore, d.startMeter, d.openPlugins, d.openPrices, d.openBudget, d.openQueue, d.startBudget, d.openWitness, d.startNode, d.startLinks, d.startMetrics, d.startAPI,
	} {
		err := start(ctx)
		if told := ctx.Err() != nil && errors.Is(err, context.Canceled); err != nil && !told {
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
			d.takeUp(ctx)
			d.budget.Wake() // a feed may have come up
		case <-d.options.Reload:
			if _, err := d.reload(ctx, "SIGHUP"); err != nil {
				d.log.Error("config_not_reloaded", "by", "SIGHUP", "error", err)
			}
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

func (d *Daemon) openKey(context.Context) (err error) {
	if d.key, err = identity.LoadKey(string(d.cfg.Site.Key)); err != nil {
		return fmt.Errorf("[site] key: %w; make one with: switchyard keygen --out %s", err, d.cfg.Site.Key)
	}
	return nil
}

// lockKey keeps a second peer of the site from starting on this machine.
func (d *Daemon) lockKey(ctx context.Context) error {
	lock, odd, err := witness.Acquire(ctx, d.key.Public(), string(d.cfg.Site.StateDir))
	if err != nil {
		return fmt.Errorf("[site] key: %w", err)
	}
	if odd != "" {
		d.log.Warn("key_not_locked", "why", odd)
	}
	d.onStop("the lock of the key", lock.Close)
	return nil
}

// openWitness finds what the store must not be older than.
func (d *Daemon) openWitness(context.Context) error {
	dir := string(d.cfg.Site.StateDir)
	file, seen, err := witness.Open(d.key.Public(), dir, filepath.Join(dir, "spool"))
	if err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	d.witness, d.witnessed = file, seen
	d.onStop("the witness file", file.Close)
	if d.machine, err = witness.Machine(d.key.Public(), dir, d.cfg.Site.Machine); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	return nil
}

// seed is that of the configuration; the core adds the site's number.
func (d *Daemon) seed() uint64 { return uint64(d.cfg.Site.Seed) } //nolint:gosec // any number will do

func (d *Daemon) startMeter(context.Context) error {
	d.meter = metrics.New(metrics.Identity{Site: d.cfg.Site.Name, Version: d.options.Build.Version})
	return nil
}

func (d *Daemon) startNode(ctx context.Context) error {
	d.accounts.become(d.cfg)
	decides, name, err := d.firstPolicy(ctx)
	if err != nil {
		return err
	}
	d.decides(name)
	recorder, err := d.recorder()
	if err != nil {
		return err
	}
	d.node, err = node.New(node.Config{
		Peer: d.cfg.Peer(config.Parts{
			PublicKey: d.key.Public(), Software: d.options.Build.software(), Capacity: d.queue.Capacity(),
			Reserves: d.queue.Reserves(), Accounts: &d.accounts, Policy: decides.Info(),
			Witness: d.witnessed, Machine: d.machine, QueueApart: d.queue.Apart(),
		}),
		Seed:      d.seed(),
		Store:     d.store,
		Scheduler: d.queue.Scheduler(),
		Policy:    decides,
		Fallback:  d.fallback(),
		Deliverer: &results.Deliverer{Files: process.Deliverer{Shim: d.shim}, Accounts: &d.accounts, Dir: d.results()},
		Prices:    d.nodePrices(),
		Log:       d.log,
		Meter:     d.meter,
		Recorder:  recorder,
		Retention: node.Retention(d.cfg.Retention),
		Space:     func() (uint64, error) { return localdisk.Free(string(d.cfg.Site.StateDir)) },
		Witness:   d.witness,

		AllowStarts: d.queue.AllowStarts,
	})
	if err != nil {
		return fmt.Errorf("restore the peer from %s: %w", d.cfg.Site.StateDir, err)
	}
	d.launch(ctx, "the node", d.node.Run)
	return nil
}

// results is where output of jobs that ran at partners comes home.
func (d *Daemon) results() *results.Dir {
	return &results.Dir{
		Path:    filepath.Join(string(d.cfg.Site.StateDir), "kept"),
		MaxKept: d.cfg.Results.MaxKept.Bytes(), KeepFor: d.cfg.Results.KeepFor.Std(),
		Removed: func(name, why string) { d.log.Warn("kept_output_removed", "file", name, "why", why) },
	}
}

// recorder makes the recording that was asked for; nil: none was.
func (d *Daemon) recorder() (node.Recorder, error) {
	if d.options.Recording == "" {
		return nil, nil //nolint:nilnil // documented
	}
	writer, err := record.Create(d.options.Recording, record.Options{Software: d.options.Build.software(), Log: d.log})
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	d.onStop("the recording", writer.Close)
	return writer, nil
}

// openQueue opens the local queue.
func (d *Daemon) openQueue(ctx context.Context) (err error) {
	if d.shim, err = shimLine(ctx, d.options.Build, d.log); err != nil {
		return err
	}
	d.queue, err = localqueue.Open(ctx, localqueue.Config{
		Site: d.cfg, Budget: d.budget, Plugin: d.plugin, Shim: d.shim, Log: d.log,
	})
	if err == nil {
		d.closers = append(d.closers, d.queue.Close) // it names its parts
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

// become puts the accounts of a configuration in force.
func (a *accountsInForce) become(cfg *config.Config) {
	a.now.Store(accounts.New(accounts.Tables{
		SameNames: cfg.Accounts.Users == config.Same,
		Local:     cfg.Accounts.Local,
		Guests:    cfg.Guests(),
		Own:       ownAccount(),
	}))
}

// ownAccount is the one account as which this process can start jobs; empty: as any.
func ownAccount() string {
	if os.Geteuid() == 0 {
		return ""
	}
	if me, err := user.Current(); err == nil {
		return me.Username
	}
	return strconv.Itoa(os.Getuid())
}

// knownHere says why this machine does not know an account.
func knownHere(ctx context.Context) func(account string) error {
	return func(account string) error { return spool.CheckAccount(ctx, account) }
}

// accountProblems says which accounts of a configuration can run no job: those that this machine
// does not know, and all but the peer's own where that is known and not root.
func accountProblems(cfg *config.Config, own string, known func(account string) error) (problems []string) {
	look := func(where, who, account string) {
		err := known(account)
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s: %s is mapped to account %q: %v; make the account, or name another one",
				where, who, account, err))
		case own != "" && account != own:
			problems = append(problems, fmt.Sprintf("%s: %s is mapped to account %q, and a peer of %s can start jobs only as %s; "+
				"start the peer as root, or map to %q", where, who, account, own, own, own))
		}
	}
	for _, user := range slices.Sorted(maps.Keys(cfg.Accounts.Local)) {
		look("[accounts] local", fmt.Sprintf("user %q", user), cfg.Accounts.Local[user])
	}
	for _, p := range cfg.Partners {
		for _, user := range slices.Sorted(maps.Keys(p.Users)) {
			who := fmt.Sprintf("user %q", user)
			if user == accounts.Anyone {
				who = "everybody else"
			}
			look(fmt.Sprintf("[[partner]] %s: users", p.Name), who, p.Users[user])
		}
	}
	return problems
}

// logOdd has the log say what accounts can run no job.
func (d *Daemon) logOdd(ctx context.Context) {
	for _, odd := range accountProblems(d.cfg, ownAccount(), knownHere(ctx)) {
		d.log.Warn("config_odd", "what", odd)
	}
}

func (d *Daemon) openStore(context.Context) error {
	dir := string(d.cfg.Site.StateDir)
	// Jobs of other accounts run in folders below and must pass through.
	if err := os.MkdirAll(dir, 0o711); err != nil { //nolint:gosec // see above
		return fmt.Errorf("[site] state_dir: %w; name a folder on a local disk that this account may write", err)
	}
	if err := roomToStart(dir); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	begin := statedir.Check
	if d.options.NewStore {
		begin = d.beginAnew
	}
	if err := begin(dir); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	opened, err := store.Open(statedir.Database(dir), store.Options{Logger: d.log})
	if err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	d.store = opened
	d.onStop("the store", opened.Close)
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
func (d *Daemon) beginAnew(dir string) error {
	database := statedir.Database(dir)
	found, err := VerifyStore(database)
	lost := errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrForeign)
	switch {
	case err != nil && !lost:
		return err
	case err == nil && found.Format > 0 && len(found.Damage) == 0:
		return fmt.Errorf("--new-store: the database %s is whole; start without --new-store, or, to give up its jobs"+
			" all the same, move it away first", database)
	}
	moved, err := statedir.SetAside(dir, time.Now())
	for _, path := range moved {
		d.log.Warn("state_set_aside", "path", path)
	}
	return err
}

// VerifyStore reads a database that no peer has open, and finds all that is wrong with it: with
// pages, with rows, and between rows. The errors are those of [store.Verify].
func VerifyStore(path string) (store.Report, error) {
	var rows node.Checker
	report, err := store.Verify(path, rows.Add)
	if err != nil {
		return store.Report{}, err
	}
	for _, p := range rows.Problems() {
		report.Damage = append(report.Damage, &store.DamageError{Table: p.Table, Key: p.Key, What: p.What})
	}
	return report, nil
}

func (d *Daemon) startLinks(ctx context.Context) error {
	cfg := bus.Config{
		Site: d.cfg.Site.Name, Key: d.key, Listen: d.cfg.NATS.Listen,
		Card: d.node.Card, Handler: ear{d.node}, Log: d.log,
	}
	if n := d.cfg.NATS; n.URL != "" {
		cfg.Listen = ""
		cfg.External = &bus.External{
			URL: n.URL, Creds: string(n.Creds), Nkey: string(n.Nkey), Token: string(n.Token), CA: string(n.CA),
		}
	}
	cfg.Partners = busPartners(d.cfg)
	links, err := bus.New(cfg)
	if err == nil {
		err = links.Start(ctx)
	}
	d.links = links
	if err != nil {
		return fmt.Errorf("[nats]: %w%s", err, taken(err, "[nats] listen"))
	}
	d.onStop("the links", func() error { links.Close(); return nil })
	if d.gossip, err = d.startGossip(); err != nil { //nolint:contextcheck // it runs until it is closed
		return err
	}
	if d.gossip == nil {
		d.node.Attach(transport{links}, nil)
		return nil
	}
	d.node.Attach(transport{links}, d.gossip)
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
func (d *Daemon) startGossip() (*gossip.Gossip, error) {
	cfg := d.cfg.Gossip
	if cfg == nil {
		return nil, nil //nolint:nilnil // documented
	}
	card := d.node.Card(d.cfg.Site.Name)
	if card.Site == "" {
		return nil, nil //nolint:nilnil // the node has stopped, and says why
	}
	talk, err := gossip.Start(gossip.Config{
		Self: gossip.Identity{
			Site: d.cfg.Site.Name, Number: d.cfg.Site.Number, PublicKey: d.key.Public(),
			FirstStart: card.FirstStart, Incarnation: card.Incarnation,
		},
		Bind: cfg.Bind, Advertise: cfg.Advertise, Join: cfg.Join, KeyringFile: string(cfg.Keyring),
		Every: cfg.Every.Std(), Rejoin: cfg.Rejoin.Std(), Trusted: d.cfg.Trusted(),
		Seed:    d.seed() + uint64(d.cfg.Site.Number),
		Sign:    d.key.Signer(identity.Gossip),
		Verify:  identity.Verifier(identity.Gossip),
		Handler: rumours{d.node},
		Logger:  d.log,
	})
	if err != nil {
		return nil, err // it names the key and the remedy
	}
	d.onStop("the gossip", func() error {
		if err := talk.Leave(gossipLeave); err != nil {
			d.log.Debug("gossip_left_in_silence", "error", err) // the others find out by themselves
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

// newLogger is the log as a configuration wants it, with a level that can change.
func newLogger(to io.Writer, cfg config.Log, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if cfg.Format == config.Text {
		return slog.New(slog.NewTextHandler(to, options))
	}
	return slog.New(slog.NewJSONHandler(to, options))
}

// levelOf is the level of the log.
func levelOf(cfg config.Log) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		return slog.LevelInfo // the configuration was checked
	}
	return level
}
