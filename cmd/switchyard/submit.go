package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// submitPatience is how long a submission is repeated when the peer vanishes
// while it answers, as it does when it restarts.
const submitPatience = 20 * time.Second

func (a *app) submitCommand() *cobra.Command {
	settings := &settings{}
	cmd := &cobra.Command{
		Use:   "submit [options] [script [args]]",
		Short: "Submit a batch script",
		Long: "Submit a batch script from a file or, without one or with -, from the standard input.\n" +
			"Options may also stand in the script, before its first command, in lines that begin with\n" +
			"#SBATCH or #SWITCHYARD; #SWITCHYARD beats #SBATCH, and the command line beats both.\n\n" +
			"Prints \"Submitted batch job <id>\" and nothing else on the standard output.\n\n" + exitCodes,
		Example: "  switchyard submit -J sum -n 4 -t 10 sum.sh data.txt\n" +
			"  id=$(switchyard submit --parsable job.sh)\n" +
			"  switchyard submit --wait job.sh && echo done\n" +
			"  switchyard submit --sites=aurora,cygnus job.sh\n" +
			"  switchyard submit --test-only job.sh",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := a.readJob(args, settings.list)
			if err != nil {
				return err
			}
			if job.TestOnly {
				return a.quote(cmd.Context(), job)
			}
			return a.submit(cmd.Context(), job)
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().SortFlags = false
	settings.addTo(cmd.Flags())
	return a.query(cmd)
}

func (a *app) submit(ctx context.Context, job wanted) error {
	submitted, err := a.sendSafely(ctx, job)
	if err != nil {
		return err
	}
	for _, notice := range submitted.Notices {
		a.notice("%s", plain(notice))
	}
	if len(submitted.Jobs) != 1 {
		return fmt.Errorf("the peer answered with %d job ids instead of one; is it of another version?", len(submitted.Jobs))
	}
	id := submitted.Jobs[0]
	switch {
	case a.json:
		err = a.printJSON(submitted)
	case job.Parsable:
		a.printf("%s\n", id)
	default:
		a.printf("Submitted batch job %s\n", id)
	}
	if err != nil || !job.Wait {
		return err
	}
	return a.waitFor(ctx, id)
}

// sendSafely submits with a key of its own, so that it can repeat what may
// already have taken effect.
func (a *app) sendSafely(ctx context.Context, job wanted) (peer.Submitted, error) {
	request := api.SubmitRequest{Key: rand.Text(), Jobs: []api.Job{apiJob(job)}}
	submitted, err := a.client().Submit(ctx, request)
	if !errors.Is(err, api.ErrInterrupted) {
		return submitted, err
	}
	give := a.now().Add(submitPatience)
	for err != nil && transient(err) && a.now().Before(give) {
		select {
		case <-ctx.Done():
			return peer.Submitted{}, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		submitted, err = a.client().Submit(ctx, request)
	}
	if err != nil && transient(err) {
		err = fmt.Errorf("%w; the job may have been submitted all the same: look for it with switchyard queue", err)
	}
	return submitted, err
}

func transient(err error) bool {
	return errors.Is(err, api.ErrInterrupted) || errors.Is(err, api.ErrUnreachable)
}

func apiJob(job wanted) api.Job {
	return api.Job{
		Name: job.Name, CPUs: job.CPUs, Nodes: job.Nodes, MemoryMB: job.MemoryMB, WallTime: job.WallTime,
		Sites: job.Sites, Requeue: job.Requeue, Script: job.Script, Args: job.args, Env: job.Env,
		WorkDir: job.WorkDir, Stdout: job.Stdout, Stderr: job.Stderr,
	}
}

// waitFor waits for the job's end and becomes its exit code.
func (a *app) waitFor(ctx context.Context, id protocol.JobID) error {
	job, err := a.client().Wait(ctx, id)
	if err != nil {
		return err
	}
	if job.State != protocol.Completed {
		why := ending(job)
		if job.Reason != "" {
			why = job.Reason
		}
		a.notice("job %s %s: %s", id, job.State, plain(why))
	}
	if code := waitCode(job); code != 0 {
		return &exitError{code: code}
	}
	return nil
}

// waitCode is a job's exit code as a shell would give it.
func waitCode(job peer.JobView) int {
	switch {
	case job.Signal != 0:
		return 128 + job.Signal
	case job.ExitCode != 0:
		return job.ExitCode
	case job.State != protocol.Completed:
		return exitFailed
	}
	return 0
}

// wanted is a job as read from its script, with the script's arguments.
type wanted struct {
	batchscript.Job
	args []string
}
