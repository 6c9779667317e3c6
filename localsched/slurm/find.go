package slurm

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// FindByTag implements [localsched.Runner]. The error says why the answer is
// Unclear.
func (s *Scheduler) FindByTag(ctx context.Context, tag protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
	j, err := s.lockJob(ctx, tag)
	if err != nil {
		return localsched.PresenceUnknown, "", err
	}
	defer j.unlock()
	switch s.stateOf(j) {
	case making:
		defer s.drop(j)
		return s.presenceWithoutDir(ctx, j)
	case withdrawn:
		return localsched.Absent, "", nil
	case unsettled:
		if err = s.lookUpUnsettled(ctx, j); err != nil {
			return localsched.PresenceUnknown, "", err
		}
		if s.stateOf(j) == unsettled {
			started, err := s.discardUnsettled(j)
			if err != nil || !started {
				return presence(err), "", err
			}
		}
	case queued, running, ended:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return localsched.Present, j.id(), nil
}

func presence(err error) localsched.Presence {
	if err != nil {
		return localsched.PresenceUnknown
	}
	return localsched.Absent
}

// presenceWithoutDir answers for a tag without a directory. A job of that name that waits in
// Slurm will find nothing to run; one that runs must have had a directory once.
func (s *Scheduler) presenceWithoutDir(ctx context.Context, j *job) (localsched.Presence, localsched.LocalID, error) {
	entries, err := s.commands.queue(ctx)
	if err != nil {
		return localsched.PresenceUnknown, "", fmt.Errorf("ask Slurm for job %v: %w", j.tag, err)
	}
	if slices.ContainsFunc(entries, func(e entry) bool { return e.name == j.name && e.runs() }) {
		return localsched.PresenceUnknown, "", fmt.Errorf("a job called %s runs in Slurm and is not in the spool; see whether the spool is the right one", j.name)
	}
	return localsched.Absent, "", nil
}
