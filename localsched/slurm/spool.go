package slurm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// openSpool makes the spool if need be, and takes it.
func openSpool(dir string, log *slog.Logger) (*spool.Spool, error) {
	if err := spool.Make(dir); err != nil {
		return nil, err
	}
	return spool.Open(dir, log)
}

// nextGeneration counts the openings of the spool, durably.
func nextGeneration(dir string) (uint64, error) {
	const name = "generation"
	var n uint64
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err == nil {
		n, err = strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("spool %s: %s is damaged: %w; write a number into it that is higher than all before", dir, name, err)
	}
	n++
	return n, spool.ReplaceFile(dir, name, []byte(strconv.FormatUint(n, 10)+"\n"))
}

// addJob makes a job's directory.
func (s *Scheduler) addJob(ctx context.Context, record spool.Job, script []byte) error {
	tag := record.Submission.Tag
	return s.spool.Add(tag, func(dir string) error {
		data, err := spool.Encode(record)
		if err != nil {
			return err
		}
		job, code, start := filepath.Join(dir, spool.JobFile), filepath.Join(dir, spool.ScriptFile), filepath.Join(dir, launchFile)
		if err = os.WriteFile(job, data, 0o600); err != nil {
			return err
		}
		if err = record.Account.AddFile(code, script, 0o500); err != nil {
			return err
		}
		if err = record.Account.AddFile(start, []byte(launch(s.spool.JobDir(tag), record)), 0o500); err != nil {
			return err
		}
		if err = addJobFiles(ctx, dir, record); err != nil {
			return err
		}
		return spool.SyncPaths(job, code, start)
	})
}

// addJobFiles makes the directory of the claim, the file for what Slurm has to say, and
// a guest's room.
func addJobFiles(ctx context.Context, dir string, record spool.Job) error {
	if err := record.Account.AddDir(filepath.Join(dir, claimDir)); err != nil {
		return err
	}
	if err := record.Account.AddFile(filepath.Join(dir, logFile), nil, 0o600); err != nil {
		return err
	}
	return record.AddFiles(ctx, dir)
}

// addTombstone makes the directory of a job that never came and never may.
func (s *Scheduler) addTombstone(tag protocol.Tag) error {
	return s.spool.Add(tag, func(dir string) error {
		if err := os.Mkdir(filepath.Join(dir, claimDir), 0o700); err != nil {
			return err
		}
		_, err := createStarted(dir, withdrawnBy)
		return err
	})
}

// createStarted makes the claim of a job's directory in the adapter's name. It is
// written in the job's directory first: in that of the claim the account does as it
// likes.
func createStarted(dir, by string) (won bool, err error) {
	return spool.CreateOnce(filepath.Join(dir, claimDir, startedFile), dir, []byte(by+"\n"), 0o644)
}
