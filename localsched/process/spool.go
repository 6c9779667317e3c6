package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// openSpool makes the spool if need be, on a disk of this machine, and takes it.
func openSpool(dir string, log *slog.Logger) (*spool.Spool, error) {
	if err := spool.Make(dir); err != nil {
		return nil, err
	}
	if err := checkLocal(dir); err != nil {
		return nil, fmt.Errorf("spool %s: %w", dir, err)
	}
	return spool.Open(dir, log)
}

// addJob makes a job's directory.
func (s *Scheduler) addJob(ctx context.Context, record jobRecord, script []byte) error {
	return s.spool.Add(record.Submission.Tag, func(dir string) error {
		data, err := spool.Encode(record)
		if err != nil {
			return err
		}
		job, code := filepath.Join(dir, spool.JobFile), filepath.Join(dir, spool.ScriptFile)
		if err = os.WriteFile(job, data, 0o600); err != nil {
			return err
		}
		if err = record.Account.AddFile(code, script, 0o500); err != nil {
			return err
		}
		if err = record.AddFiles(ctx, dir); err != nil {
			return err
		}
		if err = record.Account.AddFile(filepath.Join(dir, stepsFile), nil, 0o600); err != nil {
			return err
		}
		return spool.SyncPaths(job, code)
	})
}

// addTombstone makes the directory of a job that never came and never may.
func (s *Scheduler) addTombstone(tag protocol.Tag) error {
	return s.spool.Add(tag, func(dir string) error {
		data, err := spool.Encode(startedRecord{Withdrawn: true})
		if err != nil {
			return err
		}
		started := filepath.Join(dir, startedFile)
		return errors.Join(os.WriteFile(started, data, 0o600), spool.SyncPath(started))
	})
}

// createStarted makes the file started of a job's directory, for a shim or for a
// withdrawal: one alone wins.
func createStarted(dir string, record startedRecord) (won bool, err error) {
	return createStartedFrom(dir, dir, record)
}

// createStartedFrom is createStarted by way of another directory. If that is not there, the error wraps
// fs.ErrNotExist.
func createStartedFrom(beside, dir string, record startedRecord) (won bool, err error) {
	data, err := spool.Encode(record)
	if err != nil {
		return false, err
	}
	return spool.CreateOnce(filepath.Join(dir, startedFile), beside, data, 0o600)
}

// presence reports whether a directory is there of which no job is known.
func (s *Scheduler) presence(tag protocol.Tag) (localsched.Presence, error) {
	_, err := os.Lstat(s.spool.JobDir(tag))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return localsched.Absent, nil
	case err != nil:
		return localsched.PresenceUnknown, err
	}
	return localsched.PresenceUnknown, nil
}
