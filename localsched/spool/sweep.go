package spool

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Removing is done in passes. The caller waits for the first; what is more than that,
// because a job left millions of files, is done beside.
const (
	firstPass = 20_000  // directory entries
	nextPass  = 100_000 // directory entries
)

// sweepPause is the time between two passes that are done beside, so that a process
// that adds as fast as is removed does not keep a CPU busy.
const sweepPause = time.Second

// orphanedAfter is the age from which on a temporary file in a job's directory has no owner any more:
// one that is younger may be a running shim's, which renames it at once.
const orphanedAfter = time.Minute

// sweeper removes trees, one after another, beside what else goes on.
type sweeper struct {
	log    *slog.Logger
	ctx    context.Context //nolint:containedctx // the removal lives as long as the spool is open
	stop   func()
	worker sync.WaitGroup

	mu    sync.Mutex
	paths []string // to be removed
}

func (s *sweeper) begin(log *slog.Logger) {
	s.log = log
	s.ctx, s.stop = context.WithCancel(context.Background())
}

// end stops the removing and waits until it has stopped.
func (s *sweeper) end() {
	s.stop()
	s.worker.Wait()
}

// add has a tree removed. The spool is open.
func (s *sweeper) add(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paths = append(s.paths, path); len(s.paths) == 1 {
		s.worker.Go(s.run)
	}
}

func (s *sweeper) run() {
	for path := s.first(); path != ""; path = s.next() {
		for {
			removed, err := removeTree(s.ctx, path, nextPass)
			if s.ctx.Err() != nil {
				return
			}
			if err != nil {
				notRemoved(s.log, path, err)
			}
			if removed || err != nil {
				break
			}
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(sweepPause):
			}
		}
	}
}

func (s *sweeper) first() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paths[0]
}

// next is the tree after the one that is done; empty when there is none.
func (s *sweeper) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paths = s.paths[1:]; len(s.paths) == 0 {
		return ""
	}
	return s.paths[0]
}

// notRemoved says that a tree is still there. One in which a job left a mount is no
// reason not to start.
func notRemoved(log *slog.Logger, path string, err error) {
	log.Warn("leftover_remove_failed", "path", path, "error", err, "remedy", "unmount what is mounted below it, then remove it")
}

// sweep removes what a killed peer has left behind: directories that were half made or
// half removed, and temporary files.
func (s *Spool) sweep(dir string) error {
	// Besides its own there may be what a file system shows, such as .snapshot.
	if err := s.sweepNames(dir, func(path string) { s.sweepTemporary(path, 0) }); err != nil {
		return err
	}
	if err := s.sweepNames(s.jobs, s.sweepOne); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.jobs)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, isJob := ParseDirName(e.Name()); !isJob {
			continue
		}
		path := filepath.Join(s.jobs, e.Name())
		if err = s.sweepNames(path, func(path string) { s.sweepTemporary(path, orphanedAfter) }); err != nil {
			notRemoved(s.log, path, err)
		}
	}
	return nil
}

// sweepNames has all entries of a directory removed whose names begin with a dot.
func (s *Spool) sweepNames(dir string, remove func(path string)) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			remove(filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

// sweepOne removes a leftover: what is much of it beside.
func (s *Spool) sweepOne(path string) {
	switch removed, err := removeTree(s.sweeper.ctx, path, firstPass); {
	case err != nil:
		notRemoved(s.log, path, err)
	case !removed:
		s.sweeper.add(path)
	}
}

// sweepTemporary removes a temporary file that was last written at least so long ago.
func (s *Spool) sweepTemporary(path string, age time.Duration) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) >= age {
		s.sweepOne(path)
	}
}
