package localqueue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/powergate"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Budget is the power budget as the local queue needs it; see peer/daemon/powerbudget.
type Budget interface {
	// Current is the active budget.
	Current() engine.Budget
	// Attach has apply called with every later budget.
	Attach(apply func(engine.Budget) error)
	// SetCPUs says how large the machine is.
	SetCPUs(cpus int) error
}

// Config is what a queue is opened with.
type Config struct {
	Site   *config.Config
	Budget Budget
	Plugin func(*config.Plugin) (*pluginhost.Plugin, error) // starts the plugin of a table; the caller closes it
	Shim   []string                                         // the command line of the shim
	Log    *slog.Logger
}

// Queue is the local queue of a site.
type Queue struct {
	cfg    *config.Config
	budget Budget
	plugin func(*config.Plugin) (*pluginhost.Plugin, error)
	shim   []string
	log    *slog.Logger

	scheduler localsched.Scheduler
	process   *process.Scheduler // nil: the batch system is another
	slurm     *slurm.Scheduler   // nil: the batch system is another
	pending   func() int64       // what jobs draw that the gate has handed on and that wait; nil: there is no gate
	capacity  protocol.Capacity
	described localsched.Description
	reserves  bool
	commands  string         // directory of Slurm's commands that jobs find; empty: they find none
	closers   []func() error // of what runs, in the order in which it was opened
}

// Open opens the local scheduler that a configuration names. The queue is to be closed; after
// an error nothing is open.
func Open(ctx context.Context, cfg Config) (*Queue, error) {
	q := &Queue{cfg: cfg.Site, budget: cfg.Budget, plugin: cfg.Plugin, shim: cfg.Shim, log: cfg.Log}
	if err := q.open(ctx); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return q, nil
}

func (q *Queue) open(ctx context.Context) (err error) {
	if err = q.linkSlurmCommands(); err != nil {
		return err
	}
	switch name := q.cfg.LocalSched.Plugin; name {
	case config.Process:
		q.scheduler, err = q.openProcess() //nolint:contextcheck // it runs until it is closed
	case config.SlurmCommands:
		q.scheduler, err = q.openSlurm(ctx)
	default:
		q.scheduler, err = q.openPlugin(ctx, name)
	}
	if err != nil {
		return err
	}
	if q.process == nil {
		if err = q.gate(ctx); err != nil {
			return err
		}
	}
	if tariff := q.cfg.SiteTariff(); tariff.Currency != "" {
		q.scheduler = localsched.WithTariff(q.scheduler, tariff)
	}
	if q.capacity, err = q.describe(ctx); err != nil {
		return err
	}
	return q.predictWaits()
}

// Close closes the gate and the batch system, if it is the peer's own. Running jobs are left
// or ended as the configuration says.
func (q *Queue) Close() error {
	var errs []error
	for _, stop := range slices.Backward(q.closers) {
		errs = append(errs, stop())
	}
	return errors.Join(errs...)
}

// onClose has the queue close a part of it. Its error is named after the part.
func (q *Queue) onClose(part string, stop func() error) {
	q.closers = append(q.closers, func() error {
		if err := stop(); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
		return nil
	})
}

// Scheduler is what the node submits to.
func (q *Queue) Scheduler() localsched.Scheduler { return q.scheduler }

// Capacity is the machine: as the batch system says, or has said before.
func (q *Queue) Capacity() protocol.Capacity { return q.capacity }

// TakesFiles says whether files can come with guests, and go back: a plugin and a power budget's gate pass none on.
func (q *Queue) TakesFiles() bool {
	plugin := q.cfg.LocalSched.Plugin
	return (plugin == config.Process || plugin == config.SlurmCommands) && q.pending == nil
}

// Reserves says whether the batch system can reserve CPUs from an instant on.
func (q *Queue) Reserves() bool { return q.reserves }

// BuiltIn says whether the batch system is the peer's own, whose policy [Queue.SetPolicy]
// changes.
func (q *Queue) BuiltIn() bool { return q.process != nil }

// SetPolicy changes the policy of the built-in batch system. Others have their own.
func (q *Queue) SetPolicy(policy engine.Policy) error {
	if q.process == nil {
		return nil
	}
	return q.process.SetPolicy(policy)
}

// AllowStarts has the built-in batch system start jobs, or not. No other can be kept from it.
func (q *Queue) AllowStarts(allowed bool) {
	if q.process != nil {
		q.process.AllowStarts(allowed)
	}
}

// Uncontained says what keeps the built-in batch system from ending all processes of a job for
// sure; empty: nothing, or it is not known.
func (q *Queue) Uncontained() string {
	if q.process == nil {
		return ""
	}
	return q.process.Uncontained()
}

// Unlaunched says how many jobs Slurm ends before they start, and what to do; empty: none, or another batch system.
func (q *Queue) Unlaunched() string {
	if q.slurm == nil {
		return ""
	}
	return q.slurm.Unlaunched()
}

// PendingDraw is what is kept, in milliwatts, for jobs that the gate has handed on and that wait
// in the batch system.
func (q *Queue) PendingDraw() int64 {
	if q.pending == nil {
		return 0
	}
	return q.pending()
}

// Apart says whether nothing of the queue is in state_dir, so that it is neither copied nor put
// back with the database. That holds for Slurm if the files by which each job starts once are
// elsewhere, too. Where a plugin keeps its queue is not known.
func (q *Queue) Apart() bool {
	if q.cfg.LocalSched.Plugin != config.SlurmCommands || q.cfg.LocalSched.Slurm.Spool == "" || q.pending != nil {
		return false
	}
	inside, err := filepath.Rel(string(q.cfg.Site.StateDir), string(q.cfg.LocalSched.Slurm.Spool))
	return err == nil && (inside == ".." || strings.HasPrefix(inside, "../"))
}

// gate has the jobs of another batch system wait in the peer while the power budget does not
// allow them. A site without a budget has no gate, unless it holds jobs of an earlier time.
func (q *Queue) gate(ctx context.Context) error {
	dir := filepath.Join(string(q.cfg.Site.StateDir), "gate")
	empty, err := powergate.Empty(dir)
	if err != nil {
		return fmt.Errorf("[power]: %w", err)
	}
	if empty && !q.cfg.Power.Budgeted() {
		return nil
	}
	capacity, err := q.describe(ctx)
	if err != nil {
		return err
	}
	if err = q.budget.SetCPUs(capacity.CPUs); err != nil {
		return err
	}
	opened, err := powergate.Open(powergate.Config{ //nolint:contextcheck // it runs until it is closed
		Dir: dir, Machine: engine.Of(capacity), Budget: q.budget.Current(), Scheduler: q.scheduler, Log: q.log,
	})
	if err != nil {
		return fmt.Errorf("[power]: %w", err)
	}
	q.pending = opened.Pending
	q.onClose("the gate of the local scheduler", opened.Close)
	q.budget.Attach(opened.SetBudget)
	q.scheduler = pluginhost.CheckedScheduler(opened)
	return nil
}

// predictWaits has quotes go by what came of earlier ones.
func (q *Queue) predictWaits() error {
	predictor, err := waitpredict.NewPredictor(waitpredict.Method(q.cfg.LocalSched.WaitPrediction), q.capacity.CPUs)
	if err != nil {
		return fmt.Errorf("[localsched] wait_prediction: %w", err)
	}
	// Waits are measured by the monotonic clock, which is never set.
	clock := wallclock.System()
	q.scheduler = waitpredict.New(q.scheduler, predictor, func() protocol.Instant { return protocol.Instant(clock().Steady) })
	return nil
}

func (q *Queue) openProcess() (localsched.Scheduler, error) {
	policy, err := engine.Named(q.cfg.LocalSched.Policy)
	if err != nil {
		return nil, fmt.Errorf("[localsched] policy: %w", err)
	}
	onStop := process.LeaveJobs
	if q.cfg.LocalSched.OnStop == config.End {
		onStop = process.EndJobs
	}
	machine, err := q.cfg.LocalSched.Engine(runtime.NumCPU())
	if err != nil {
		return nil, fmt.Errorf("[localsched]: %w", err)
	}
	q.process, err = process.Open(process.Config{
		Dir:           filepath.Join(string(q.cfg.Site.StateDir), "spool"),
		Site:          q.cfg.Site.Name,
		Capacity:      q.cfg.LocalSched.Capacity(runtime.NumCPU()),
		Machine:       machine,
		Policy:        policy,
		Budget:        q.budget.Current(),
		LearnJobPower: q.cfg.Power.LearnJobPower && q.cfg.Power.Budgeted(),
		Paused:        true, // until the peer knows that its rows are not a copy's
		MaxOutput:     q.cfg.LocalSched.MaxOutput.Bytes(),
		MaxStaging:    q.cfg.Staging.MaxBytes.Bytes(),
		Container:     q.cfg.LocalSched.Container,
		Cgroup:        q.cfg.LocalSched.Cgroup,
		GraceKill:     q.cfg.LocalSched.KillGrace.Std(),
		Shim:          q.shim,
		Log:           q.log,
		OnStop:        onStop,
		Devices:       devices(q.cfg),

		MaxProcesses: q.cfg.LocalSched.MaxProcesses,

		Socket: string(q.cfg.Site.Socket), Commands: q.commands,
	})
	if err != nil {
		return nil, fmt.Errorf("[localsched]: %w", err)
	}
	q.onClose("the local scheduler", q.process.Close)
	q.budget.Attach(q.process.SetBudget)
	return pluginhost.CheckedScheduler(q.process), nil
}

func devices(cfg *config.Config) (all []process.Device) {
	for _, d := range cfg.LocalSched.DeviceList() {
		all = append(all, process.Device(d))
	}
	return all
}

// checkDevices reports the device files that are not there.
func checkDevices(cfg *config.Config) error {
	var errs []error
	for _, d := range cfg.LocalSched.DeviceList() {
		if reason := process.MissingDevice(d.File); reason != "" {
			errs = append(errs, fmt.Errorf("[localsched.devices] %s: %s; load the driver of the device, or remove the file", d.Name, reason))
		}
	}
	return errors.Join(errs...)
}

// Check reports what a start or the jobs would find wrong with the site's batch system, whose controller need not answer,
// and which devices of the machine are missing.
func Check(ctx context.Context, cfg *config.Config) error {
	if cfg.LocalSched.Plugin == config.Process {
		return checkDevices(cfg)
	}
	if cfg.LocalSched.Plugin != config.SlurmCommands {
		return nil
	}
	var errs []error
	for _, err := range slurm.Check(ctx, slurmConfig(cfg, nil)) {
		errs = append(errs, fmt.Errorf("[localsched.slurm]: %w", err))
	}
	return errors.Join(errs...)
}

// SlurmAdvice says which settings of the Slurm of a configuration withhold information from the peer.
func SlurmAdvice(ctx context.Context, cfg *config.Config) ([]slurm.Advice, error) {
	return slurm.Advise(ctx, slurmConfig(cfg, nil))
}

func slurmConfig(cfg *config.Config, log *slog.Logger) slurm.Config {
	table := cfg.LocalSched.Slurm
	return slurm.Config{
		Dir:        cmp.Or(string(table.Spool), filepath.Join(string(cfg.Site.StateDir), "slurm")),
		Site:       cfg.Site.Name,
		Conf:       string(table.Conf),
		Bin:        string(table.BinDir),
		Partitions: table.Partitions,
		Poll:       table.PollInterval.Std(),
		JobComp:    string(table.JobCompLog),
		Extra:      table.SbatchArgs,
		MaxOutput:  cfg.LocalSched.MaxOutput.Bytes(),
		MaxStaging: cfg.Staging.MaxBytes.Bytes(),
		Container:  cfg.LocalSched.Container,
		Log:        log,

		NodeExporter: table.Exporter,
		Reservations: table.Reservations,
	}
}

func (q *Queue) openSlurm(ctx context.Context) (localsched.Scheduler, error) {
	opened, err := slurm.Open(ctx, slurmConfig(q.cfg, q.log))
	if err != nil {
		return nil, fmt.Errorf("[localsched.slurm]: %w", err)
	}
	q.onClose("the local scheduler", opened.Close)
	q.slurm = opened
	return pluginhost.CheckedScheduler(opened), nil
}

// openPlugin opens a local scheduler that is a plugin. One that is not up is no
// error: calls say why, until it is.
func (q *Queue) openPlugin(ctx context.Context, name string) (localsched.Scheduler, error) {
	started, err := q.plugin(q.cfg.Plugin(config.LocalSchedKind, name))
	if err != nil {
		return nil, err
	}
	if err := started.Wait(ctx); err != nil {
		q.log.Error("plugin_unavailable", "plugin", name, "error", err,
			"advice", "it is started again until it comes up; `switchyard plugin list` says how it is")
	}
	return started.Scheduler(), nil
}
