package localschedtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// site is the number of the site that the suite's jobs come from, the highest, and
// its name.
const (
	site     = protocol.MaxSiteNumber
	siteName = "conformance"
)

// short and long are the wall times of jobs: none of the suite's comes near one.
const (
	short = 2 * protocol.Minute
	long  = 20 * protocol.Minute
)

// newTag is the tag of a new job.
func (s *session) newTag() protocol.Tag {
	return protocol.Tag{Job: protocol.NewJobID(site, s.last.Add(1)), Epoch: 1}
}

// wall is a wall time, or what the machine permits.
func (s *session) wall(d protocol.Duration) protocol.Duration {
	if limit := s.capacity.MaxWallTime; limit > 0 {
		return min(d, limit)
	}
	return d
}

// one asks for one CPU.
func (s *session) one() protocol.Request {
	return protocol.Request{CPUs: 1, Nodes: 1, WallTime: s.wall(short)}
}

// all asks for the whole machine.
func (s *session) all() protocol.Request {
	return protocol.Request{CPUs: s.capacity.CPUs, Nodes: s.capacity.Nodes, WallTime: s.wall(long)}
}

// tooLarge asks for more than the machine.
func (s *session) tooLarge() protocol.Request {
	request := s.all()
	request.CPUs++
	return request
}

// local is a job of this site that runs a shell script in the target's directory. Its
// output is discarded.
func (s *session) local(request protocol.Request, script string) localsched.Submission {
	tag := s.newTag()
	request.Job = tag.Job
	return localsched.Submission{
		Tag: tag,
		Spec: protocol.Spec{
			Request: request, Name: "conformance", User: s.bench.target.Account, Submitted: protocol.InstantOf(time.Now()),
		},
		Payload: &protocol.Payload{
			Script:  []byte("#!/bin/sh\n" + script + "\n"),
			WorkDir: s.bench.target.Dir, Stdout: "/dev/null", Stderr: "/dev/null",
		},
		Origin: siteName, Account: s.bench.target.Account,
	}
}

// guest is a job from another site.
func (s *session) guest(script string) localsched.Submission {
	job := s.local(s.one(), script)
	job.Guest = true
	job.Payload.WorkDir, job.Payload.Stdout, job.Payload.Stderr = "/home/guest", "/home/guest/out", "/home/guest/err"
	return job
}

// logging is a job that notes that it ran, in its file "log".
func (s *session) logging(request protocol.Request) localsched.Submission {
	job := s.local(request, "")
	return s.runs(job, "echo ran >> "+s.path(job.Tag, "log"))
}

// gated is a job that notes that it ran and waits until it is released, not for ever.
func (s *session) gated(request protocol.Request) localsched.Submission {
	job := s.local(request, "")
	turns := int(4*s.bench.target.Timeout/(50*time.Millisecond)) + 1
	return s.runs(job, fmt.Sprintf("echo ran >> %s\ni=0\nwhile [ ! -e %s ] && [ $i -lt %d ]; do sleep 0.05; i=$((i+1)); done",
		s.path(job.Tag, "log"), s.path(job.Tag, "go"), turns))
}

// runs gives a job another script.
func (s *session) runs(job localsched.Submission, script string) localsched.Submission {
	job.Payload.Script = []byte("#!/bin/sh\n" + script + "\n")
	return job
}

// submit submits a job that must be taken.
func (s *session) submit(ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
	s.jobs = append(s.jobs, job.Tag)
	return s.take(ctx, job)
}

// take is submit for a job that is noted already, from any goroutine.
func (s *session) take(ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
	id, err := s.Submit(ctx, job)
	if err != nil {
		return "", fmt.Errorf("submit job %v: %w", job.Tag, err)
	}
	if id == "" {
		return "", fmt.Errorf("submit job %v: the batch system's own name of the job is empty", job.Tag)
	}
	return id, nil
}

// start submits a job and waits until it runs.
func (s *session) start(ctx context.Context, job localsched.Submission) error {
	if _, err := s.submit(ctx, job); err != nil {
		return err
	}
	_, err := s.running(ctx, job.Tag)
	return err
}

// full starts a job that fills the machine until it is released.
func (s *session) full(ctx context.Context) (blocker protocol.Tag, err error) {
	job := s.gated(s.all())
	return job.Tag, s.start(ctx, job)
}

// finish submits a job and waits for its end, which must be a good one.
func (s *session) finish(ctx context.Context, job localsched.Submission) (localsched.Change, error) {
	if _, err := s.submit(ctx, job); err != nil {
		return localsched.Change{}, err
	}
	return s.completed(ctx, job.Tag)
}

// ranOnce reports whether a job that logs has run exactly once.
func (s *session) ranOnce(tag protocol.Tag) error {
	return s.logIs(tag, "ran\n")
}

// neverRan reports whether a job that logs has not run.
func (s *session) neverRan(tag protocol.Tag) error {
	return s.logIs(tag, "")
}

func (s *session) logIs(tag protocol.Tag, want string) error {
	got, err := s.wrote(tag, "log")
	if err == nil && got != want {
		err = fmt.Errorf("job %v has written %q, want %q", tag, got, want)
	}
	return err
}

// present reports whether the scheduler has the job, or reliably not.
func (s *session) present(ctx context.Context, tag protocol.Tag, want localsched.Presence) error {
	got, _, err := s.FindByTag(ctx, tag)
	if err != nil {
		return fmt.Errorf("find job %v: %w", tag, err)
	}
	if got != want {
		return fmt.Errorf("job %v is %v, want %v", tag, got, want)
	}
	return nil
}

// isUnknown reports whether an error says that there is no such job.
func isUnknown(call string, err error) error {
	if errors.Is(err, localsched.ErrUnknownJob) {
		return nil
	}
	return fmt.Errorf("%s: got the error %w, want localsched.ErrUnknownJob", call, errOf(err))
}
