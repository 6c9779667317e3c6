package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The demo's patience.
const (
	demoLimit    = 2 * time.Minute  // for everything
	demoLinked   = 20 * time.Second // for three links
	demoStopping = 5 * time.Second  // for a peer to stop
)

// demoSigma is σ in the demo: short, so that volunteers come while one watches.
const demoSigma = 2 * protocol.Second

// demo is one run of the demonstration.
type demo struct {
	app  *app
	dir  string
	seed uint64
	jobs int

	initiation, policy, local string // the rules

	grid    *testbed.Grid
	work    string    // where the jobs work and leave their output
	applied []applied // with the policy iss
}

func (a *app) demoCommand() *cobra.Command {
	d := demo{app: a}
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a grid of three sites on this machine and watch jobs move",
		Long: "Start the peers of three sites on this machine (aurora with 4 CPUs, borealis with 4, cygnus\n" +
			"with 8), submit small batch jobs at aurora, more than it can run, and show where each goes.\n" +
			"Electricity is dearest at aurora and cheapest at borealis; policies as mcmf go by that too.\n" +
			"With the policy iss sites charge for CPUs and energy, in CHF and EUR, and two applications are\n" +
			"submitted before the jobs: one whose components start together at two sites, and one with\n" +
			"limits on cost and time, of which you see what was weighed and what was learnt.\n" +
			"At the end every result is checked, and that each job ran exactly once; only then the exit\n" +
			"code is 0. Everything is stopped and removed again.",
		Example: "  switchyard demo\n" +
			"  switchyard demo --jobs 60 --keep\n" +
			"  switchyard demo --initiation receiver       jobs wait until a site volunteers\n" +
			"  switchyard demo --policy mcmf               jobs go where they are soon done at low cost\n" +
			"  switchyard demo --policy iss                applications, by what use, energy and waiting cost\n" +
			"  switchyard demo --policy local              jobs stay at home, for comparison\n" +
			"  switchyard demo --localsched firstfit       local queues start whatever fits",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if d.brokered() && !cmd.Flags().Changed("jobs") {
				d.jobs = demoPlainJobs
			}
			if d.jobs < 1 || d.jobs > 500 {
				return usage("--jobs %d is outside 1 to 500", d.jobs)
			}
			if err = d.checkRules(); err != nil {
				return err
			}
			made, err := d.makeDir()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, d.clean(keep, made)) }()
			ctx, cancel := context.WithTimeout(untilLeft(cmd.Context()), demoLimit)
			defer cancel()
			return d.run(ctx)
		},
	}
	cmd.Flags().IntVar(&d.jobs, "jobs", 30, "how many jobs to submit; not set, fewer beside the applications of iss")
	choice(cmd, &d.initiation, "initiation", "", "what opens rounds; not set, what suits the policy", config.Initiations()...)
	choice(cmd, &d.policy, "policy", "tc", "which policy decides them", config.PolicyNames()...)
	choice(cmd, &d.local, "localsched", "easy", "policy of the local queues", engine.Names()...)
	cmd.Flags().Uint64Var(&d.seed, "seed", 1, "of the jobs' sizes")
	cmd.Flags().StringVar(&d.dir, "dir", "", "an empty or new folder for everything (a temporary one)")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the folder")
	return cmd
}

// checkRules checks the rules that were asked for.
func (d *demo) checkRules() error {
	if _, err := engine.Named(d.local); err != nil {
		return usage("--localsched: %w", err)
	}
	if err := chosen("policy", d.policy, config.PolicyNames()...); err != nil {
		return err
	}
	if d.initiation == "" {
		d.initiation = string(config.InitiationFor(d.policy))
	}
	if err := chosen("initiation", d.initiation, config.Initiations()...); err != nil {
		return err
	}
	info := config.Default().BuiltIn(d.policy).Info()
	if !slices.Contains(info.Initiations, policy.Initiation(d.initiation)) {
		return usage("--policy %s does not serve --initiation %s; leave one of them out", d.policy, d.initiation)
	}
	return nil
}

// makeDir makes the demo's folder and says whether it is ours to remove.
func (d *demo) makeDir() (made bool, err error) {
	if d.dir == "" {
		d.dir, err = os.MkdirTemp("", "switchyard-demo-")
		return true, err
	}
	if d.dir, err = filepath.Abs(d.dir); err != nil {
		return false, err
	}
	inside, err := os.ReadDir(d.dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return true, os.Mkdir(d.dir, 0o700)
	case err != nil:
		return false, err
	case len(inside) > 0:
		return false, usage("%s is not empty; name a new folder", d.dir)
	}
	return false, nil
}

func (d *demo) run(ctx context.Context) error {
	d.say("Starting three sites in %s", d.dir) // before all that takes time
	if err := d.build(); err != nil {
		return err
	}
	began := time.Now()
	d.say("Their rules: initiation %s, policy %s, local queue %s; φ 1 s, σ %v.", d.initiation, d.policy, d.local, demoSigma.Std())
	if d.initiation == string(policy.Cycle) {
		d.say("Every %v the jobs that wait are placed together; a site takes %d of them at most.", demoCycle.Std(), demoMaxQ)
	}
	linkCtx, cancel := context.WithTimeout(ctx, demoLinked)
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
	if d.initiation != string(policy.Sender) && !d.brokered() {
		if err := d.tellStory(ctx, tracked); err != nil {
			return err
		}
	}
	if err := d.tellApplications(ctx); err != nil {
		return err
	}
	return d.report(tracked, took)
}

func (d *demo) build() (err error) {
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the switchyard binary: %w", err)
	}
	machines, err := d.machines()
	if err != nil {
		return err
	}
	settings := testbed.Config{
		Dir: d.dir, Binary: binary, OnStop: "end",
		Initiation: d.initiation, Policy: d.policy, LocalPolicy: d.local, Sigma: demoSigma,
		Sites: machines,
	}
	if d.initiation == string(policy.Cycle) {
		settings.Cycle, settings.MaxQ = demoCycle, demoMaxQ
	}
	d.grid, err = testbed.New(settings)
	if err != nil {
		return err
	}
	d.work = filepath.Join(d.dir, "jobs")
	return testbed.MakeShared(d.work)
}

// origin is the site where the jobs are submitted.
func (d *demo) origin() *testbed.Site { return d.grid.Sites[0] }

// tracked is a job of the demo and what is known of it.
type tracked struct {
	testbed.Task
	id   protocol.JobID
	seen sight
}

func (d *demo) submitAll(ctx context.Context) ([]*tracked, error) {
	d.app.socket = d.origin().Socket
	tasks := testbed.Work(d.seed, d.jobs+d.componentTasks(), d.work)
	if d.brokered() {
		if err := d.applyAll(ctx, tasks[d.jobs:]); err != nil {
			return nil, err
		}
	}
	var jobs []*tracked
	for i := range d.applied {
		jobs = append(jobs, d.applied[i].jobs...)
	}
	for _, task := range tasks[:d.jobs] {
		path := filepath.Join(d.dir, task.Name+".sh")
		if err := os.WriteFile(path, []byte(task.Script), 0o600); err != nil {
			return nil, fmt.Errorf("write a batch script: %w", err)
		}
		job, err := d.app.readJobs([]string{path}, d.placed())
		if err != nil {
			return nil, err
		}
		submitted, err := d.app.sendSafely(ctx, job)
		if err != nil {
			return nil, fmt.Errorf("submit %s: %w", task.Name, err)
		}
		jobs = append(jobs, &tracked{Task: task, id: submitted.Jobs[0]})
	}
	return jobs, nil
}

// load is what is submitted.
func (d *demo) load() string {
	jobs := protocol.Count(d.jobs, "job")
	if d.brokered() {
		return protocol.Count(len(demoApplications()), "application") + " and " + jobs
	}
	return jobs
}

// placed are the options of all jobs: the folder that they work in.
func (d *demo) placed() *jobOptions {
	return &jobOptions{list: []batchscript.Setting{{Long: "chdir", Value: d.work}}}
}

// clean stops what runs and removes what was made.
func (d *demo) clean(keep, made bool) error {
	var err error
	if d.grid != nil {
		err = d.grid.Stop(demoStopping)
	}
	switch {
	case keep:
		d.say("Everything is kept in %s", d.dir)
	case made:
		err = errors.Join(err, os.RemoveAll(d.dir))
	default:
		inside, readErr := os.ReadDir(d.dir)
		err = errors.Join(err, readErr)
		for _, entry := range inside {
			err = errors.Join(err, os.RemoveAll(filepath.Join(d.dir, entry.Name())))
		}
	}
	return err
}

func (d *demo) say(format string, args ...any) { d.app.printf(format+"\n", args...) }
