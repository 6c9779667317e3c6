package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/metrics"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/localqueue"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/mail"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/notices"
	"github.com/switchyard-hpc/switchyard/peer/otlp"
	"github.com/switchyard-hpc/switchyard/peer/recording"
	"github.com/switchyard-hpc/switchyard/peer/results"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/witness"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

func (d *Daemon) openKey(context.Context) (err error) {
	d.key, err = readKey(d.cfg)
	return err
}

// readKey reads the key of a site.
func readKey(cfg *config.Config) (*identity.Key, error) {
	key, err := identity.LoadKey(string(cfg.Site.Key))
	if err != nil {
		return nil, fmt.Errorf("[site] key: %w; make one with: switchyard keygen --out %s", err, cfg.Site.Key)
	}
	return key, nil
}

// lockKey keeps a second peer of the site from starting on this machine.
func (d *Daemon) lockKey(ctx context.Context) error {
	d.onStop("the locks of keys", func() error {
		d.reloading.Lock()
		defer d.reloading.Unlock()
		var errs []error
		for _, lock := range d.locks {
			errs = append(errs, lock.Close())
		}
		return errors.Join(errs...)
	})
	d.reloading.Lock()
	defer d.reloading.Unlock()
	return d.lock(ctx, d.key)
}

// lock takes the lock of a key until the peer stops, unless the peer has it.
func (d *Daemon) lock(ctx context.Context, key *identity.Key) error {
	if d.locks[key.Public()] != nil {
		return nil
	}
	lock, warning, err := witness.Acquire(ctx, key.Public(), string(d.cfg.Site.StateDir))
	if err != nil {
		return fmt.Errorf("[site] key: %w", err)
	}
	if warning != "" {
		d.log.Warn("key_lock_failed", "why", warning)
	}
	d.locks[key.Public()] = lock
	return nil
}

// openWitness finds what the store must not be older than.
func (d *Daemon) openWitness(context.Context) error {
	dir := string(d.cfg.Site.StateDir)
	keys, err := noteKey(dir, d.key)
	if err != nil {
		return err
	}
	d.keys = keys
	if err = noteRoster(d.cfg); err != nil {
		return err
	}
	d.compareKey()
	file, seen, err := witness.Open(keys, dir, filepath.Join(dir, "spool"))
	if err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	d.witness, d.witnessed = file, seen
	d.onStop("the witness file", file.Close)
	if d.machine, err = witness.Machine(keys[0], dir, d.cfg.Site.Machine); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	return nil
}

// noteRoster has the state directory name the roster of a configuration before its sites are partners, so that no older one comes back.
func noteRoster(cfg *config.Config) error {
	signed := cfg.SignedRoster()
	if signed == nil {
		return nil
	}
	if err := statedir.NoteRoster(string(cfg.Site.StateDir), signed.Serial, signed.Digest()); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	return nil
}

// compareKey compares the site's key with the roster that counts, and logs and returns what is wrong. The caller holds reloading, or starts the peer.
func (d *Daemon) compareKey() string {
	what := d.active.Load().OwnKeyProblem(d.key.Public())
	if what != "" {
		d.log.Warn("key_not_in_roster", "what", what)
	}
	d.keyNote.Store(&what)
	return what
}

// noteKey has the state directory name a key before the site shows it, and returns all that the site has had.
func noteKey(dir string, key *identity.Key) ([]string, error) {
	keys, err := statedir.NoteKey(dir, key.Public())
	if err != nil {
		return nil, fmt.Errorf("[site] state_dir: %w", err)
	}
	for i, one := range keys {
		if err = identity.ValidatePublic(one); err != nil {
			return nil, fmt.Errorf("[site] state_dir: %s: key %d: %w; correct it", statedir.Keys(dir), i+1, err)
		}
	}
	return keys, nil
}

// seed is that of the configuration; the core adds the site's number.
func (d *Daemon) seed() uint64 { return uint64(d.cfg.Site.Seed) } //nolint:gosec // any number will do

func (d *Daemon) startMeter(context.Context) error {
	d.meter = metrics.New(metrics.Identity{Site: d.cfg.Site.Name, Version: d.options.Build.Version})
	return nil
}

func (d *Daemon) startNode(ctx context.Context) error {
	own, err := ownAccount(ctx)
	if err != nil {
		return err
	}
	d.accounts.own = own
	d.accounts.set(d.cfg)
	decides, name, err := d.initialPolicy(ctx)
	if err != nil {
		return err
	}
	d.decides(name)
	recorder, err := d.recorder()
	if err != nil {
		return err
	}
	tracer, err := d.tracer(ctx)
	if err != nil {
		return err
	}
	d.deliverer = &results.Deliverer{Files: process.Deliverer{Shim: d.shim}, Accounts: &d.accounts, Dir: d.results()}
	d.node, err = node.New(node.Config{
		Peer: d.cfg.Peer(config.Parts{
			PublicKey: d.key.Public(), Software: d.options.Build.software(), Capacity: d.queue.Capacity(),
			Reserves: d.queue.Reserves(), TakesFiles: d.queue.TakesFiles(), Accounts: &d.accounts, Policy: policy.Describe(decides),
			Witness: d.witnessed, Machine: d.machine, QueueApart: d.queue.Apart(),
		}),
		Seed:      d.seed(),
		Store:     d.store,
		Scheduler: d.queue.Scheduler(),
		Policy:    decides,
		Fallback:  d.fallback(),
		Fronter:   d.fronter(),
		Deliverer: d.deliverer,
		Prices:    d.nodePrices(),
		Log:       d.log,
		Meter:     observer{d.meter, d.audit},
		Recorder:  recorder,
		Mailer:    d.mailer(ctx),
		Notifier:  d.notifier(ctx),
		Tracer:    tracer,
		Events:    d.events,
		Retention: d.cfg.Retention.Node(),
		Space:     d.freeSpace,
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
	dir := &results.Dir{
		Path:    filepath.Join(string(d.cfg.Site.StateDir), "kept"),
		MaxKept: d.cfg.Results.MaxKept.Bytes(), KeepFor: d.cfg.Results.KeepFor.Std(),
		Removed: func(name, why string) { d.log.Warn("kept_output_removed", "file", name, "why", why) },
	}
	if err := dir.Sweep(); err != nil {
		d.log.Warn("part_remove_failed", "error", err)
	}
	return dir
}

// mailer sends mail about jobs; nil: the site sends none.
func (d *Daemon) mailer(ctx context.Context) node.Mailer {
	if d.cfg.Mail == nil {
		return nil
	}
	sender := mail.NewSender(mail.Config{
		Command: d.cfg.Mail.Command, From: d.cfg.Mail.From, Log: d.log, Count: d.meter.Mailed,
	})
	d.launch(ctx, "the mail", sender.Run)
	return sender
}

// notifier notifies other programs of jobs; nil: the configuration names none.
func (d *Daemon) notifier(ctx context.Context) node.Notifier {
	cfg := d.cfg.Notify
	if cfg == nil {
		return nil
	}
	sender := notices.NewSender(notices.Config{
		Site: d.cfg.Site.Name, Command: cfg.Command, URL: cfg.URL, Token: string(cfg.Token), Agent: d.options.Build.software(),
		Log: d.log, Count: d.meter.Noticed,
	})
	d.launch(ctx, "the notices", sender.Run)
	return sender
}

// tracer exports the spans of jobs; nil: the configuration does not want that.
func (d *Daemon) tracer(ctx context.Context) (node.Tracer, error) {
	cfg := d.cfg.Tracing
	if cfg == nil {
		return nil, nil //nolint:nilnil // documented
	}
	exporter, err := otlp.New(otlp.Config{
		Site: d.cfg.Site.Name, Version: d.options.Build.Version,
		Endpoint: cfg.Endpoint, CA: string(cfg.CA), Headers: string(cfg.Headers), File: string(cfg.File), Log: d.log, Count: d.meter.Traced,
	})
	if err != nil {
		return nil, fmt.Errorf("[tracing] %w", err)
	}
	d.launch(ctx, "the tracing", exporter.Run)
	return exporter, nil
}

// recorder makes the recording that was asked for; nil: none was.
func (d *Daemon) recorder() (node.Recorder, error) {
	if d.options.Recording == "" {
		return nil, nil //nolint:nilnil // documented
	}
	writer, err := recording.Create(d.options.Recording, recording.Options{Software: d.options.Build.software(), Log: d.log})
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
