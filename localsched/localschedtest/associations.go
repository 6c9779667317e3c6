package localschedtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// associationsUsed asks for a quote of a job with an account, and submits it. A scheduler that says that it uses
// accounts gives the job its account, or declines and refuses it by a reason; another one does the latter.
func associationsUsed(ctx context.Context, s *session) error {
	described, err := s.Describe(ctx)
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	uses := slices.Contains(described.Capabilities, localsched.Associations)
	account := protocol.Association{Account: "conformance"}
	query := localsched.Query{}
	query.Add(s.one(), protocol.Association{})
	query.Add(s.one(), account)
	quotes, err := s.quote(ctx, query)
	if err != nil {
		return err
	}
	if quotes[0].Declined != "" {
		return fmt.Errorf("the job without an account is declined: %s", quotes[0].Declined)
	}
	if !uses && quotes[1].Declined == "" {
		return fmt.Errorf("the quote of a job with an account is %+v; without the capability %q it must be declined", quotes[1], localsched.Associations)
	}
	job := s.local(s.one(), "")
	job.Spec.Association = account
	s.runs(job, "echo $SLURM_JOB_ACCOUNT > "+s.path(job.Tag, "log"))
	s.jobs = append(s.jobs, job.Tag)
	_, err = s.Submit(ctx, job)
	if refused := (*localsched.RefusedError)(nil); errors.As(err, &refused) && refused.Reason != "" {
		return nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("submit a job with an account: %w", err)
	case !uses:
		return fmt.Errorf("a job with an account was taken; without the capability %q it must be refused", localsched.Associations)
	}
	if _, err = s.completed(ctx, job.Tag); err != nil {
		return err
	}
	got, err := s.wrote(job.Tag, "log")
	if err == nil && !strings.EqualFold(strings.TrimSpace(got), account.Account) {
		err = fmt.Errorf("a job with the account %s has %q in SLURM_JOB_ACCOUNT", account.Account, got)
	}
	return err
}
