package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The demo's patience.
const (
	limit    = 2 * time.Minute  // for everything
	linked   = 20 * time.Second // for three links
	stopping = 5 * time.Second  // for a peer to stop
)

// sigma is σ in the demo: short, so that volunteers come while one watches.
const sigma = 2 * protocol.Second

// Config says how the demonstration is run.
type Config struct {
	Dir  string // an empty or new directory for all files; if unset, a temporary one
	Keep bool   // the directory is not removed at the end
	Jobs int    // how many are submitted; 0: as many as suit the policy
	Seed uint64 // of the jobs' sizes

	Initiation string // what opens rounds; empty: what suits the policy
	Policy     string // which policy decides them
	Local      string // policy of the local queues

	Out  io.Writer // gets all that is shown
	Live bool      // Out is a terminal, on which the jobs are shown as a picture
	User func(socket string) User
}

// User is what somebody at the first site does with the command line.
type User interface {
	// Submit submits a batch script or an application, whose working directory is work.
	Submit(ctx context.Context, file, work string) (batchscript.Batch, []protocol.JobID, error)
	// Choices prints what an application has to choose from between cost and time.
	Choices(ctx context.Context, batch batchscript.Batch) error
}

// Demo is one run of the demonstration.
type Demo struct {
	Config

	grid    *testbed.Grid
	client  *api.Client // of the site where all is submitted
	user    User
	work    string    // where the jobs work and leave their output
	applied []applied // with the policy iss
}

// usualJobs is how many jobs are submitted where nothing else is said.
const usualJobs = 30

// New checks the rules that are asked for, and chooses those that are not.
func New(cfg Config) (*Demo, error) {
	d := &Demo{Config: cfg}
	if _, err := engine.Named(d.Local); err != nil {
		return nil, fmt.Errorf("--localsched: %w", err)
	}
	if !slices.Contains(config.PolicyNames(), d.Policy) {
		return nil, unknown("policy", d.Policy, config.PolicyNames())
	}
	if d.Initiation == "" {
		d.Initiation = string(config.InitiationFor(d.Policy))
	}
	if !slices.Contains(config.Initiations(), d.Initiation) {
		return nil, unknown("initiation", d.Initiation, config.Initiations())
	}
	info := config.Default().BuiltIn(d.Policy).Info()
	if !slices.Contains(info.Initiations, policy.Initiation(d.Initiation)) {
		return nil, fmt.Errorf("--policy %s does not serve --initiation %s; leave one of them out", d.Policy, d.Initiation)
	}
	switch {
	case d.Jobs > 0:
	case d.brokered():
		d.Jobs = plainJobs
	default:
		d.Jobs = usualJobs
	}
	return d, nil
}

// Run runs the demonstration, and removes all that it has made. It returns [ErrNotEmpty] if the
// directory has files.
func (d *Demo) Run(ctx context.Context) (err error) {
	made, err := d.makeDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.clean(made)) }()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return d.run(ctx)
}

// ErrNotEmpty is the error for a directory of the demonstration that has files.
var ErrNotEmpty = errors.New("is not empty; name a new directory")

// makeDir creates the demo's directory and reports whether it did, so that it may be removed.
func (d *Demo) makeDir() (made bool, err error) {
	if d.Dir == "" {
		d.Dir, err = os.MkdirTemp("", "switchyard-demo-")
		return true, err
	}
	if d.Dir, err = filepath.Abs(d.Dir); err != nil {
		return false, err
	}
	inside, err := os.ReadDir(d.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return true, os.Mkdir(d.Dir, 0o700)
	case err != nil:
		return false, err
	case len(inside) > 0:
		return false, fmt.Errorf("%s %w", d.Dir, ErrNotEmpty)
	}
	return false, nil
}

func (d *Demo) run(ctx context.Context) error {
	d.say("Starting three sites in %s", d.Dir) // before all that takes time
	if err := d.build(ctx); err != nil {
		return err
	}
	began := time.Now()
	d.say("Their rules: initiation %s, policy %s, local queue %s; φ 1 s, σ %v.", d.Initiation, d.Policy, d.Local, sigma.Std())
	if d.Initiation == string(policy.Cycle) {
		d.say("Every %v the jobs that wait are placed together; a site takes %d of them at most.", cycle.Std(), maxQ)
	}
	linkCtx, cancel := context.WithTimeout(ctx, linked)
	defer cancel()
	if err := d.grid.Start(linkCtx); err != nil {
		return fmt.Errorf("start the grid: %w", err)
	}
	d.say("Linked after %.1f s. Submitting %s at %s, which has %d CPUs.",
		time.Since(began).Seconds(), d.load(), d.origin().Name, d.origin().CPUs)
	tracked, err := d.submitAll(ctx)
	if err != nil {
		return err
	}
	if err := newWatch(d, tracked).run(ctx); err != nil {
		return err
	}
	took := time.Since(began)
	if d.Initiation != string(policy.Sender) && !d.brokered() {
		if err := d.printEvents(ctx, tracked); err != nil {
			return err
		}
	}
	if err := d.printApplications(ctx); err != nil {
		return err
	}
	return d.report(tracked, took)
}

func (d *Demo) build(ctx context.Context) (err error) {
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the switchyard binary: %w", err)
	}
	machines, err := d.machines()
	if err != nil {
		return err
	}
	settings := testbed.Config{
		Dir: d.Dir, Binary: binary, OnStop: "end",
		Initiation: d.Initiation, Policy: d.Policy, LocalPolicy: d.Local, CheckInterval: sigma,
		Sites: machines,
	}
	if d.Initiation == string(policy.Cycle) {
		settings.CycleInterval, settings.MaxJobsPerCycle = cycle, maxQ
	}
	d.grid, err = testbed.New(ctx, settings)
	if err != nil {
		return err
	}
	d.work = filepath.Join(d.Dir, "jobs")
	return testbed.MakeShared(ctx, d.work)
}

// origin is the site where the jobs are submitted.
func (d *Demo) origin() *testbed.Site { return d.grid.Sites[0] }

// tracked is a job of the demo and what is known of it.
type tracked struct {
	testbed.Task
	id   protocol.JobID
	seen sight
}

func (d *Demo) submitAll(ctx context.Context) ([]*tracked, error) {
	d.client, d.user = d.origin().Client(), d.User(d.origin().Socket)
	tasks := testbed.Work(d.Seed, d.Jobs+d.componentTasks(), d.work)
	if d.brokered() {
		if err := d.applyAll(ctx, tasks[d.Jobs:]); err != nil {
			return nil, err
		}
	}
	var jobs []*tracked
	for i := range d.applied {
		jobs = append(jobs, d.applied[i].jobs...)
	}
	for _, task := range tasks[:d.Jobs] {
		path := filepath.Join(d.Dir, task.Name+".sh")
		if err := os.WriteFile(path, []byte(task.Script), 0o600); err != nil {
			return nil, fmt.Errorf("write a batch script: %w", err)
		}
		_, ids, err := d.user.Submit(ctx, path, d.work)
		if err != nil {
			return nil, fmt.Errorf("submit %s: %w", task.Name, err)
		}
		jobs = append(jobs, &tracked{Task: task, id: ids[0]})
	}
	return jobs, nil
}

// load is what is submitted.
func (d *Demo) load() string {
	jobs := protocol.Count(d.Jobs, "job")
	if d.brokered() {
		return protocol.Count(len(applications()), "application") + " and " + jobs
	}
	return jobs
}

// clean stops what runs and removes what was made.
func (d *Demo) clean(made bool) error {
	var err error
	if d.client != nil {
		d.client.Close()
	}
	if d.grid != nil {
		err = d.grid.Stop(stopping)
	}
	switch {
	case d.Keep:
		d.say("Everything is kept in %s", d.Dir)
	case made:
		err = errors.Join(err, os.RemoveAll(d.Dir))
	default:
		inside, readErr := os.ReadDir(d.Dir)
		err = errors.Join(err, readErr)
		for _, entry := range inside {
			err = errors.Join(err, os.RemoveAll(filepath.Join(d.Dir, entry.Name())))
		}
	}
	return err
}

func (d *Demo) say(format string, args ...any) { _, _ = fmt.Fprintf(d.Out, format+"\n", args...) }

// unknown says that an option has no such value.
func unknown(option, value string, known []string) error {
	return fmt.Errorf("--%s %q is unknown; use %s", option, value, strings.Join(known, ", "))
}
