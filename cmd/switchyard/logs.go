package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) logsCommand() *cobra.Command {
	var follow, errs bool
	cmd := &cobra.Command{
		Use:         "logs [-f] ID",
		Annotations: anyPeer(),
		Short:       "Print a job's output, whichever site runs it",
		Long: "Print a job's output: from its file if it is at this site, otherwise from the site that runs the\n" +
			"job. Output that could not be written to its file is what the peer keeps of it, and a notice says so.\n" +
			"With -f, continue until the job has ended.",
		Example: "  switchyard logs 1000000000042\n  switchyard logs -f --stderr 1000000000042",
		Args:    oneJob,
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := oneByOne(args)
			if err != nil {
				return err
			}
			stream := protocol.Stdout
			if errs {
				stream = protocol.Stderr
			}
			return a.logs(cmd.Context(), names[0], stream, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "continue until the job has ended")
	cmd.Flags().BoolVar(&errs, "stderr", false, "print the standard error, if it has a separate file")
	return cmd
}

func (a *app) logs(ctx context.Context, name protocol.JobName, stream protocol.Stream, follow bool) error {
	if follow {
		job, err := a.client().Job(ctx, name)
		if err != nil {
			return err
		}
		if job.State == protocol.Pending {
			a.notice("job %s has not started yet; waiting for it", name)
		}
	}
	fetched, err := a.client().Output(ctx, name, stream, follow, a.stdout)
	if errors.Is(err, fs.ErrPermission) {
		return &exitError{code: exitDenied, err: err}
	}
	if err != nil {
		return err
	}
	if fetched.Notice != "" {
		a.notice("%s", console.Plain(fetched.Notice))
	}
	if fetched.Missing != "" {
		return errors.New(console.Plain(fetched.Missing))
	}
	return nil
}
