package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// pollOutput is how often a growing file is looked at.
const pollOutput = 250 * time.Millisecond

func (a *app) logsCommand() *cobra.Command {
	var follow, errs bool
	cmd := &cobra.Command{
		Use:   "logs [-f] ID",
		Short: "Print a job's output, from wherever it runs",
		Long: "Print a job's output: from its file when it is at this site, else from the site that runs\n" +
			"it. With -f, go on until the job has ended.",
		Example: "  switchyard logs 1000000000042\n  switchyard logs -f --stderr 1000000000042",
		Args:    oneJob,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			stream := protocol.Stdout
			if errs {
				stream = protocol.Stderr
			}
			return a.logs(cmd.Context(), ids[0], stream, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the job has ended")
	cmd.Flags().BoolVar(&errs, "stderr", false, "the standard error, where it has a file of its own")
	return cmd
}

func (a *app) logs(ctx context.Context, id protocol.JobID, stream protocol.Stream, follow bool) error {
	job, err := a.client().Job(ctx, id)
	if err != nil {
		return err
	}
	if !job.State.Terminal() && job.Started == 0 && follow {
		a.notice("job %s has not started; waiting for it", id)
	}
	if path := ownFile(job, stream); path != "" {
		return a.follow(ctx, id, path, follow)
	}
	if !follow && job.State == protocol.Pending {
		return fmt.Errorf("job %s has no output yet: it is %s", id, stateText(job))
	}
	output, err := a.client().Output(ctx, id, api.OutputRequest{Stream: stream, Follow: follow})
	if err != nil {
		return err
	}
	defer output.Close()
	if _, err := io.Copy(a.stdout, output); err != nil {
		return fmt.Errorf("the output of job %s broke off: %w", id, err)
	}
	return nil
}

// ownFile is the job's output file if it is at this site; people read their own
// files, with their own rights.
func ownFile(job peer.JobView, stream protocol.Stream) string {
	if job.Guest || job.Site != job.Origin && !job.State.Terminal() {
		return ""
	}
	path := job.Stdout
	if stream == protocol.Stderr {
		path = job.Stderr
	}
	if _, err := os.Stat(path); err != nil {
		return "" // not there or not ours to see: the peer may know more
	}
	return path
}

// follow prints a file, and with again what is added to it until the job ends.
func (a *app) follow(ctx context.Context, id protocol.JobID, path string, again bool) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return &exitError{code: exitDenied, err: fmt.Errorf("you may not read %s", path)}
	}
	if err != nil {
		return fmt.Errorf("open the output of job %s: %w", id, err)
	}
	defer file.Close()
	ended := !again
	for {
		if _, err := io.Copy(a.stdout, file); err != nil {
			return fmt.Errorf("print %s: %w", path, err)
		}
		if ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollOutput):
		}
		job, err := a.client().Job(ctx, id)
		if err != nil {
			return err
		}
		ended = job.State.Terminal() // and once more for what came in between
	}
}
