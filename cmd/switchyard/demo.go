package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/demo"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) demoCommand() *cobra.Command {
	d := demo.Config{Out: a.stdout}
	d.User = func(socket string) demo.User {
		a.socket = socket
		return demoUser{a}
	}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a grid of three sites on this machine and show jobs move",
		Long: "Start the peers of three sites on this machine (aurora with 4 CPUs, borealis with 4, cygnus with\n" +
			"8), submit more small batch jobs at aurora than it can run, and show where each job runs.\n" +
			"Electricity is most expensive at aurora and cheapest at borealis; policies such as mcmf consider\n" +
			"this. With the policy iss, sites charge for CPUs and energy, in CHF and EUR. Two applications are\n" +
			"then submitted before the jobs: one whose components start at the same time at two sites, and one\n" +
			"with limits on cost and time, for which the alternatives and the run history are printed. At the\n" +
			"end the demo checks every result, and that each job ran exactly once; only then the exit code is 0.\n" +
			"All peers are stopped and all files removed.",
		Example: "  switchyard demo\n" +
			"  switchyard demo --jobs 60 --keep\n" +
			"  switchyard demo --initiation receiver       jobs wait until a site volunteers\n" +
			"  switchyard demo --policy mcmf               early completion at low cost\n" +
			"  switchyard demo --policy iss                applications, by cost of CPUs, energy and waiting\n" +
			"  switchyard demo --policy local              jobs stay at the local site, for comparison\n" +
			"  switchyard demo --localsched firstfit       local queues start any job that fits",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("jobs") {
				d.Jobs = 0
			} else if d.Jobs < 1 || d.Jobs > 500 {
				return usage("--jobs: invalid value %d; use 1 to 500", d.Jobs)
			}
			file, isFile := a.stdout.(*os.File)
			d.Live = isFile && terminal(file) && a.getenv("TERM") != "dumb"
			run, err := demo.New(d)
			if err != nil {
				return usage("%w", err)
			}
			if err = run.Run(untilLeft(cmd.Context())); errors.Is(err, demo.ErrNotEmpty) {
				return usage("%w", err)
			}
			return err
		},
	}
	cmd.Flags().IntVar(&d.Jobs, "jobs", 30, "number of jobs to submit; fewer by default with the applications of iss")
	choice(cmd, &d.Initiation, "initiation", "", "what opens rounds (default: by the policy)", config.Initiations()...)
	choice(cmd, &d.Policy, "policy", "tc", "policy that decides rounds", config.PolicyNames()...)
	choice(cmd, &d.Local, "localsched", "easy", "policy of the local queues", engine.Names()...)
	cmd.Flags().Uint64Var(&d.Seed, "seed", 1, "random seed of the job sizes")
	cmd.Flags().StringVar(&d.Dir, "dir", "", "empty or new directory for all files (default: a temporary one)")
	cmd.Flags().BoolVar(&d.Keep, "keep", false, "keep the directory")
	return cmd
}

// demoUser does what the demo has its user do.
type demoUser struct{ *app }

// Submit implements [demo.User].
func (u demoUser) Submit(ctx context.Context, file, work string) (batchscript.Batch, []protocol.JobID, error) {
	batch, err := u.readJobs(ctx, []string{file}, &jobOptions{list: []batchscript.Setting{{Long: "chdir", Value: work}}})
	if err != nil {
		return batch, nil, err
	}
	submitted, err := u.sendSafely(ctx, batch)
	return batch, submitted.Jobs, err
}

// Choices implements [demo.User].
func (u demoUser) Choices(ctx context.Context, batch batchscript.Batch) error {
	return u.quote(ctx, batch, &jobOptions{pareto: true})
}
