package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
)

func (d *Daemon) openStore(context.Context) error {
	dir := string(d.cfg.Site.StateDir)
	// Jobs of other accounts run in directories below and must pass through.
	if err := os.MkdirAll(dir, 0o711); err != nil { //nolint:gosec // see above
		return fmt.Errorf("[site] state_dir: %w; name a directory on a local disk that this account may write", err)
	}
	if err := checkFreeSpace(dir); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	begin := statedir.Check
	if d.options.NewStore {
		begin = d.setAside
	}
	if err := begin(dir); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	opened, err := store.Open(statedir.Database(dir), store.Options{Logger: d.log})
	if err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	d.store = opened
	d.onStop("the store", opened.Close)
	return nil
}

// minFreeSpace is how much must be free where the state is, for a peer to start: for a new
// database and for what is written while a peer takes up its jobs again.
const minFreeSpace = 1 << 20 // bytes

// checkFreeSpace refuses to start a peer that would fail at one of its first writes.
func checkFreeSpace(dir string) error {
	free, err := localdisk.Free(dir)
	if err != nil {
		return err
	}
	if free < minFreeSpace {
		return fmt.Errorf("there is no room to start: a peer needs %d KiB, free space or raise the quota on %s",
			minFreeSpace>>10, localdisk.Describe(dir))
	}
	return nil
}

// freeSpace is how many bytes are free where the state is.
func (d *Daemon) freeSpace() (uint64, error) { return localdisk.Free(string(d.cfg.Site.StateDir)) }

// setAside sets aside what an earlier peer has left in the directory, with a database that
// cannot be used. It refuses to give up one that can.
func (d *Daemon) setAside(dir string) error {
	database := statedir.Database(dir)
	found, err := VerifyStore(database)
	lost := errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrForeign)
	switch {
	case err != nil && !lost:
		return err
	case err == nil && found.Format > 0 && len(found.Damage) == 0:
		return fmt.Errorf("--new-store: the database %s is whole; start without --new-store, or, to give up its jobs"+
			" all the same, move it away first", database)
	}
	moved, err := statedir.SetAside(dir, time.Now())
	for _, path := range moved {
		d.log.Warn("state_set_aside", "path", path)
	}
	return err
}

// VerifyStore reads a database that no peer has open, and finds all that is wrong with it: with
// pages, with rows, and between rows. The errors are those of [store.Verify].
func VerifyStore(path string) (store.Report, error) { return checkStore(path, store.Verify) }

// checkStore finds what is wrong with a database as read reads it.
func checkStore(path string, read func(string, func(table string, row store.Row)) (store.Report, error)) (store.Report, error) {
	var rows node.Checker
	report, err := read(path, rows.Add)
	if err != nil {
		return store.Report{}, err
	}
	for _, p := range rows.Problems() {
		report.Damage = append(report.Damage, &store.DamageError{Table: p.Table, Key: p.Key, What: p.What})
	}
	return report, nil
}
