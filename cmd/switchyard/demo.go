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
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("jobs") {
				d.Jobs = 0
			} else if d.Jobs < 1 || d.Jobs > 500 {
				return usage("--jobs %d is outside 1 to 500", d.Jobs)
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
	cmd.Flags().IntVar(&d.Jobs, "jobs", 30, "how many jobs to submit; not set, fewer beside the applications of iss")
	choice(cmd, &d.Initiation, "initiation", "", "what opens rounds; not set, what suits the policy", config.Initiations()...)
	choice(cmd, &d.Policy, "policy", "tc", "which policy decides them", config.PolicyNames()...)
	choice(cmd, &d.Local, "localsched", "easy", "policy of the local queues", engine.Names()...)
	cmd.Flags().Uint64Var(&d.Seed, "seed", 1, "of the jobs' sizes")
	cmd.Flags().StringVar(&d.Dir, "dir", "", "an empty or new folder for everything (a temporary one)")
	cmd.Flags().BoolVar(&d.Keep, "keep", false, "keep the folder")
	return cmd
}

// demoUser does what the demo has its user do.
type demoUser struct{ *app }

// Submit implements [demo.User].
func (u demoUser) Submit(ctx context.Context, file, work string) (batchscript.Batch, []protocol.JobID, error) {
	batch, err := u.readJobs([]string{file}, &jobOptions{list: []batchscript.Setting{{Long: "chdir", Value: work}}})
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
