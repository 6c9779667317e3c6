package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) waitCommand() *cobra.Command {
	var limit string
	cmd := &cobra.Command{
		Use:         "wait ID…",
		Annotations: anyPeer(),
		Short:       "Wait until jobs have ended",
		Long: "Wait until all these jobs have ended, with what they bring back, and exit as they did: with the\n" +
			"greatest of their exit codes, where a job that a signal has ended has 128 + the signal, one that ran\n" +
			"out of memory 125, and one that did not end as COMPLETED, or whose output is not where it was to be\n" +
			"written, at least 1. It prints how each job ended that did not complete. Jobs that have ended before\n" +
			"count as well. If one of the jobs is unknown, wait exits with code 3 at once. A peer that restarts\n" +
			"meanwhile is waited for, for up to 10 minutes.",
		Example: "  switchyard wait 1000000000042 1000000000043\n  switchyard wait --timeout=2h 1000000000042",
		Args:    someJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := oneByOne(args)
			if err != nil {
				return err
			}
			patience := protocol.Never
			if limit != "" {
				if patience, err = settings.ParseDuration(limit); err != nil {
					return usage("--timeout: %w", err)
				}
			}
			return a.waitAtMost(cmd.Context(), names, patience)
		},
	}
	cmd.Flags().StringVar(&limit, "timeout", "", "exit with code 124 if the jobs have not ended after this `time`, for example 30m")
	return cmd
}

// waitAtMost waits for the end of jobs that are all known.
func (a *app) waitAtMost(ctx context.Context, names []protocol.JobName, patience protocol.Duration) error {
	if patience != protocol.Never {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, patience.Std())
		defer done()
	}
	err := each(a, names, func(name protocol.JobName) error {
		_, err := a.client().Job(ctx, name)
		return err
	})
	if err == nil {
		err = a.waitForAll(ctx, names)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &exitError{exitTimeout, fmt.Errorf("the jobs have not all ended after %s", patience.Text())}
	}
	return err
}
