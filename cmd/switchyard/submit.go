package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// How long the command goes on asking when the peer vanishes, as it does when it
// restarts.
const (
	submitPatience = 20 * time.Second
	waitPatience   = 10 * time.Minute
	retryPause     = 200 * time.Millisecond
)

func (a *app) submitCommand() *cobra.Command {
	options := &jobOptions{}
	cmd := &cobra.Command{
		Use:                   "submit [options] [script [args]]",
		DisableFlagsInUseLine: true,
		Short:                 "Submit a batch script",
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
			job, err := a.readJob(args, options.list)
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
	options.addTo(cmd.Flags())
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
// already have taken effect. A peer that is not there at all is not waited for.
func (a *app) sendSafely(ctx context.Context, job wanted) (peer.Submitted, error) {
	request := api.Submission{Key: rand.Text(), Jobs: []api.Job{apiJob(job)}}
	submitted, err := a.client().Submit(ctx, request)
	if err == nil || !brokenOff(err) {
		return submitted, err
	}
	err = a.insist(ctx, submitPatience, func() (err error) {
		submitted, err = a.client().Submit(ctx, request)
		return err
	})
	if errors.Is(err, api.ErrUnreachable) {
		err = fmt.Errorf("%w; the job may have been submitted all the same: look with switchyard queue", err)
	}
	return submitted, err
}

// insist repeats a call while the peer cannot be reached, at most for patience.
func (a *app) insist(ctx context.Context, patience time.Duration, call func() error) error {
	for end := a.now().Add(patience); ; {
		err := call()
		if !errors.Is(err, api.ErrUnreachable) || a.now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryPause):
		}
	}
}

// brokenOff says that the peer was reached, and then was gone.
func brokenOff(err error) bool {
	var op *net.OpError
	dialled := !errors.As(err, &op) || op.Op != "dial"
	return errors.Is(err, api.ErrUnreachable) && dialled
}

func apiJob(job wanted) api.Job {
	return api.Job{
		Name: job.Name, CPUs: job.CPUs, Nodes: job.Nodes, MemoryMB: job.MemoryMB, WallTime: job.WallTime,
		Sites: job.Sites, Requeue: job.Requeue, Power: job.Power, Data: job.Data, Script: job.Script, Args: job.args, Env: job.Env,
		WorkDir: job.WorkDir, Stdout: job.Stdout, Stderr: job.Stderr,
	}
}

// waitFor waits for the job's end and becomes its exit code.
func (a *app) waitFor(ctx context.Context, id protocol.JobID) error {
	var job peer.JobView
	err := a.insist(ctx, waitPatience, func() (err error) {
		job, err = a.client().Wait(ctx, id)
		return err
	})
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
