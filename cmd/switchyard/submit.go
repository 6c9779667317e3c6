package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// How long the command goes on asking when the peer vanishes, as it does when it
// restarts.
const (
	submitTimeout = 20 * time.Second
	waitTimeout   = 10 * time.Minute
	retryPause    = 200 * time.Millisecond
)

func (a *app) submitCommand() *cobra.Command {
	options := &jobOptions{}
	cmd := &cobra.Command{
		Use:                   "submit [options] [script [args] | application.toml]",
		Annotations:           anyPeer(),
		DisableFlagsInUseLine: true,
		Short:                 "Submit a batch script, or an application of several components",
		Long: "Submit a batch script from a file or, without one or with -, from the standard input. Options\n" +
			"may also precede the first command of the script, in lines that begin with #SBATCH or\n" +
			"#SWITCHYARD. #SWITCHYARD overrides #SBATCH, and the command line overrides both.\n" +
			"\n" +
			"A TOML file describes an application: several components with common objectives and limits, such\n" +
			"as a maximum cost; see docs/applications.md. Lines #SWITCHYARD component NAME make one script an\n" +
			"application of several components.\n" +
			"\n" +
			"Prints \"Submitted batch job <id>\" for each component, in order, and nothing else on the standard\n" +
			"output. --wait waits for all components, and exits with the highest of their exit codes." +
			"\n\n" + exitCodes,
		Example: "  switchyard submit -J sum -n 4 -t 10 sum.sh data.txt\n" +
			"  id=$(switchyard submit --parsable job.sh)\n" +
			"  switchyard submit --wait job.sh && echo done\n" +
			"  switchyard submit --sites=aurora,cygnus job.sh\n" +
			"  switchyard submit --test-only job.sh\n" +
			"  switchyard submit --objective=cheapest --max-time=12h job.sh\n" +
			"  switchyard submit --cpus=4,8,16 --time=4h,2h,1h --max-cost='10.50 CHF' job.sh\n" +
			"  switchyard submit coupled.toml\n" +
			"  switchyard submit --pareto coupled.toml",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			batch, err := a.readJobs(cmd.Context(), args, options)
			var uploads []upload
			switch {
			case err != nil:
			case a.client().Remote():
				uploads, err = a.findUploads(cmd.Context(), batch)
			default:
				err = a.findInputs(cmd.Context(), batch)
			}
			if err != nil {
				return err
			}
			if options.pareto || anyJob(batch, func(job *batchscript.Job) bool { return job.TestOnly }) {
				return a.quote(cmd.Context(), batch, options)
			}
			if a.client().Remote() {
				err = a.sendFiles(cmd.Context(), uploads)
			} else {
				err = linkInputs(batch)
			}
			if err != nil {
				return err
			}
			return a.submit(cmd.Context(), batch)
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().SortFlags = false
	options.addTo(cmd.Flags())
	return a.query(cmd)
}

// findInputs finds the files that go with the jobs, and reads them for their digests, once for components that name
// the same. With jobs that stay at this site no file goes: they are only looked for.
func (a *app) findInputs(ctx context.Context, batch batchscript.Batch) error {
	var failed error
	found := map[string]*protocol.Staging{}
	for i := range batch.Jobs {
		job := &batch.Jobs[i]
		findOutputs(job.Payload)
		if len(job.StageIn) == 0 {
			continue
		}
		if a.stays(ctx, job) {
			failed = errors.Join(failed, staging.Check(job.Payload.WorkDir, job.StageIn))
			continue
		}
		key := strings.Join(append([]string{job.Payload.WorkDir}, job.StageIn...), "\x00")
		if found[key] == nil {
			files, err := staging.FindWithin(ctx, job.Payload.WorkDir, job.StageIn, a.tooLarge(ctx, job))
			if _, refused := errors.AsType[*api.Error](err); refused {
				return err
			}
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			found[key] = files
		}
		take(job.Payload, found[key])
	}
	if failed != nil {
		return usage("%w", failed)
	}
	return nil
}

// take adds files that go with a job to those that come back.
func take(payload *protocol.Payload, found *protocol.Staging) {
	files := *found
	if payload.Staging != nil {
		files.Out = payload.Staging.Out
		files.Places = append(slices.Clip(files.Places), payload.Staging.Places...)
	}
	payload.Staging = &files
}

// findOutputs finds where what the job writes ends up outside of its working directory.
func findOutputs(payload *protocol.Payload) {
	var files protocol.Staging
	if payload.Staging != nil {
		files = *payload.Staging
	}
	files.Places = staging.OutPlaces(payload.WorkDir, files.Out, payload.Stdout, payload.Stderr)
	if payload.Staging != nil || len(files.Places) > 0 {
		payload.Staging = &files
	}
}

// tooLarge has the peer say before files are read, which may take long, whether it refuses a job with that many of them.
func (a *app) tooLarge(ctx context.Context, job *batchscript.Job) staging.Limit {
	return func(bytes int64, files []protocol.StagedFile) error {
		info, err := a.client().Info(ctx)
		if err != nil || bytes <= info.Staging {
			return nil //nolint:nilerr // who submits hears of a peer that does not answer
		}
		asked, payload := *job, *job.Payload
		payload.Staging = &protocol.Staging{Bytes: bytes, SHA256: [32]byte{1}, Inputs: files} // the digest is not known yet
		if job.Payload.Staging != nil {
			payload.Staging.Out = job.Payload.Staging.Out
		}
		asked.Payload, asked.Component = &payload, protocol.Component{}
		_, err = a.client().Quotes(ctx, submission(batchscript.Batch{Jobs: []batchscript.Job{asked}}))
		if refused, ok := errors.AsType[*api.Error](err); ok && refused.Code == view.BadRequest {
			return err
		}
		return nil
	}
}

// stays says whether a job names this site alone. Of a peer that does not answer that is not known; who submits
// hears of it.
func (a *app) stays(ctx context.Context, job *batchscript.Job) bool {
	if len(job.Spec.Sites) != 1 {
		return false
	}
	info, err := a.client().Info(ctx)
	return err == nil && info.Site == job.Spec.Sites[0]
}

// linkInputs gives files that go with the jobs their other names.
func linkInputs(batch batchscript.Batch) error {
	for i := range batch.Jobs {
		if err := staging.Link(batch.Jobs[i].Payload.WorkDir, batch.Jobs[i].StageIn); err != nil {
			return err
		}
	}
	return nil
}

// anyJob says whether one of the jobs is so.
func anyJob(batch batchscript.Batch, so func(*batchscript.Job) bool) bool {
	for i := range batch.Jobs {
		if so(&batch.Jobs[i]) {
			return true
		}
	}
	return false
}

func (a *app) submit(ctx context.Context, batch batchscript.Batch) error {
	submitted, err := a.sendSafely(ctx, batch)
	if err != nil {
		return err
	}
	quiet := quiet(batch)
	if !quiet {
		for _, notice := range submitted.Notices {
			a.notice("%s", console.Plain(notice))
		}
		a.noticeFiles(submitted.Elsewhere, batch)
		a.noticeUnderSlurm(ctx, submitted.Elsewhere, batch)
		a.noticeElsewhere(submitted.Elsewhere, batch)
	}
	if len(submitted.Jobs) != len(batch.Jobs) {
		return fmt.Errorf("the peer returned %s, expected %d; its version may differ from this command",
			protocol.Count(len(submitted.Jobs), "job ID"), len(batch.Jobs))
	}
	if batch.Name != "" && !quiet {
		a.notice("application %s of %s", console.Plain(batch.Name), protocol.Count(len(batch.Jobs), "component"))
	}
	switch {
	case a.json:
		err = a.printJSON(submitted)
	case !quiet:
		a.printIDs(submitted.Jobs, anyJob(batch, func(job *batchscript.Job) bool { return job.Parsable }))
	}
	if err != nil || !anyJob(batch, func(job *batchscript.Job) bool { return job.Wait }) {
		return err
	}
	var names []protocol.JobName
	for _, id := range submitted.Jobs {
		names = append(names, protocol.JobName{Job: id})
	}
	return a.waitForAll(ctx, names)
}

// printIDs prints a line for each job, as tools parse it.
func (a *app) printIDs(ids []protocol.JobID, bare bool) {
	for _, id := range ids {
		if bare {
			a.printf("%s\n", id)
		} else {
			a.printf("Submitted batch job %s\n", id)
		}
	}
}

// sendSafely submits with a key of its own, so that it can repeat what may
// already have taken effect. A peer that is not there at all is not waited for.
func (a *app) sendSafely(ctx context.Context, batch batchscript.Batch) (view.Submitted, error) {
	request := submission(batch)
	request.Key = rand.Text()
	submitted, err := a.client().Submit(ctx, request)
	if err == nil || !brokenOff(err) {
		return submitted, err
	}
	if !errors.Is(err, api.ErrSilent) {
		err = a.insist(ctx, submitTimeout, func() (err error) {
			submitted, err = a.client().Submit(ctx, request)
			return err
		})
	}
	if errors.Is(err, api.ErrUnreachable) {
		err = fmt.Errorf("%w; the job may have been submitted; check with switchyard queue", err)
	}
	return submitted, err
}

// insist repeats a call while the peer cannot be reached, at most for patience; one that does not answer has had its time. The time that the peer
// took for a call before it was gone does not count: it may have waited for the end of a job.
func (a *app) insist(ctx context.Context, patience time.Duration, call func() error) error {
	for end := a.now().Add(patience); ; {
		began := a.now()
		err := call()
		end = end.Add(a.now().Sub(began))
		if !errors.Is(err, api.ErrUnreachable) || errors.Is(err, api.ErrSilent) || a.now().After(end) {
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

// submission is what the peer is asked for.
func submission(batch batchscript.Batch) api.Submission {
	out := api.Submission{Jobs: make([]protocol.Job, len(batch.Jobs)), Application: batch.Application}
	for i := range batch.Jobs {
		out.Jobs[i] = batch.Jobs[i].Job
	}
	return out
}

// waitForAll waits for the end of all jobs and becomes the worst of their exit codes.
func (a *app) waitForAll(ctx context.Context, names []protocol.JobName) error {
	worst := 0
	for _, name := range names {
		code, err := a.waitFor(ctx, name)
		if err != nil {
			return err
		}
		worst = max(worst, code)
	}
	if worst != 0 {
		return &exitError{code: worst}
	}
	return nil
}

// waitFor waits for the job's end and returns its exit code.
func (a *app) waitFor(ctx context.Context, name protocol.JobName) (code int, err error) {
	var job view.Job
	err = a.insist(ctx, waitTimeout, func() (err error) {
		job, err = a.client().Wait(ctx, name)
		return err
	})
	if err != nil {
		return 0, err
	}
	if job.State != protocol.Completed || job.Reason != "" {
		text := job.State.String()
		if why := cmp.Or(job.Reason, display.Ending(job)); why != "" {
			text += ": " + console.Plain(why)
		}
		a.notice("job %s %s", name, text)
	}
	a.noticeUndelivered(name, &job)
	if a.name == "sbatch" {
		return sbatchCode(job), nil
	}
	return waitCode(job), nil
}

// noticeUndelivered says where the output is of a job that has ended, if it is not where its user wants it.
func (a *app) noticeUndelivered(name protocol.JobName, job *view.Job) {
	if array := job.Array; array != nil && array.Undelivered > 0 {
		a.notice("job %s: the output of %s is not where it should be; `switchyard history --jobs=%s` has the reasons", name, protocol.Count(array.Undelivered, "element"), name)
	}
	for _, stream := range []protocol.Stream{protocol.Stdout, protocol.Stderr} {
		if left := job.LeftFile(stream); left != nil && left.Kept != "" {
			option := ""
			if stream == protocol.Stderr {
				option = "--stderr "
			}
			a.notice("job %s: `switchyard logs %s%s` prints what is kept of its %s", name, option, name, stream)
		}
	}
}

// waitCode is a job's exit code as a shell would give it. The system keeps 8 bits of it, which are never 0 of a job that
// has failed.
func waitCode(job view.Job) int {
	const kept = 0xff
	switch {
	case job.Signal == protocol.SignalOutOfMemory:
		return job.Signal
	case job.Signal != 0:
		return 128 + job.Signal
	case job.ExitCode&kept != 0:
		return job.ExitCode & kept
	case job.State != protocol.Completed || job.ExitCode != 0 || len(job.Undelivered) > 0 || job.Array != nil && job.Array.Undelivered > 0:
		return exitFailed // also of a job that has completed, and whose output is not where its user wants it
	}
	return 0
}
