package spool

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Spool is the directory with the jobs' directories. [Open] takes it.
type Spool struct {
	jobs         string
	reservations string
	lock         *os.File
	log          *slog.Logger
	sweeper      sweeper
}

// Open takes a spool that [Make] has made, for one peer alone, and removes what was
// half made or half removed. What it has to complain of beside its error goes to
// the log.
func Open(dir string, log *slog.Logger) (*Spool, error) {
	sp := &Spool{jobs: jobsOf(dir), reservations: reservationsOf(dir), log: log}
	var err error
	sp.lock, err = os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("spool %s: %w", dir, err)
	}
	sp.sweeper.begin(log)
	if err = sp.take(); err == nil {
		err = sp.sweep(dir)
	}
	if err != nil {
		sp.sweeper.end()
		return nil, errors.Join(fmt.Errorf("spool %s: %w", dir, err), sp.lock.Close())
	}
	if closed := closedTo(dir); closed != "" && os.Geteuid() == 0 {
		log.Warn("spool_not_reachable_for_accounts", "spool", dir, "dir", closed,
			"advice", "choose another spool, or let all accounts pass through the directory (chmod o+x)")
	}
	return sp, nil
}

// take locks the spool. A process that a killed peer was just starting may hold
// the lock for a moment longer.
func (s *Spool) take() error {
	for pause := time.Millisecond; ; pause *= 2 {
		err := syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if pause > 100*time.Millisecond {
			return errors.New("another peer uses it; stop that one, or give this peer a spool of its own")
		}
		time.Sleep(pause)
	}
}

// Close gives the spool free, also if a process just being started holds a copy
// of the lock. What it was still removing the next [Open] removes.
func (s *Spool) Close() error {
	s.sweeper.end()
	err := syscall.Flock(int(s.lock.Fd()), syscall.LOCK_UN)
	return errors.Join(err, s.lock.Close())
}

// closedTo is the first directory above the spool through which accounts in general
// cannot pass; empty when there is none.
func closedTo(dir string) string {
	for above := filepath.Dir(dir); ; above = filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil && info.Mode()&0o001 == 0 {
			return above
		}
		if above == filepath.Dir(above) {
			return ""
		}
	}
}

// CheckReachable says which directory above a spool keeps the accounts of jobs out of it, when the peer is root and starts
// jobs under other accounts. Without the spool, whose owner is the peer, it is not known whether the peer of a directory
// of another account is root: that one is taken for well, as is a directory that a group may pass through.
func CheckReachable(dir string) error {
	closed := closedTo(dir)
	if closed == "" || os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(closed)
	if err != nil {
		return fmt.Errorf("spool %s: %w", dir, err)
	}
	owner, is := info.Sys().(*syscall.Stat_t)
	if !is || info.Mode()&0o010 != 0 && owner.Gid != 0 {
		return nil
	}
	if made, err := os.Stat(dir); err == nil {
		owner, is = made.Sys().(*syscall.Stat_t)
	}
	if !is || owner.Uid != 0 {
		return nil
	}
	return fmt.Errorf("the accounts of jobs cannot reach the spool %s: directory %s lets only its owner pass; "+
		"choose another spool, or let all accounts pass through the directory (chmod o+x %[2]s)", dir, closed)
}

// Tags lists the jobs that have a directory. Other names are logged and left alone.
func (s *Spool) Tags() ([]protocol.Tag, error) {
	entries, err := os.ReadDir(s.jobs)
	if err != nil {
		return nil, fmt.Errorf("list the jobs of the spool: %w", err)
	}
	var tags []protocol.Tag
	for _, e := range entries {
		tag, ok := ParseDirName(e.Name())
		if !ok {
			s.log.Warn("unknown_file", "name", e.Name(), "dir", s.jobs, "advice", "the peer ignores the file; remove it")
			continue
		}
		tags = append(tags, tag)
	}
	return tags, nil
}
