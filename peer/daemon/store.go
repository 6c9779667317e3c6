package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/protocol"
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
func VerifyStore(path string) (store.Report, error) {
	return verified(func(visit func(string, store.Row)) (store.Report, error) { return store.Verify(path, visit) })
}

// verified adds what is wrong between rows to a report.
func verified(read func(visit func(table string, row store.Row)) (store.Report, error)) (store.Report, error) {
	var rows node.Checker
	report, err := read(rows.Add)
	if err != nil {
		return store.Report{}, err
	}
	for _, p := range rows.Problems() {
		report.Damage = append(report.Damage, &store.DamageError{Table: p.Table, Key: p.Key, What: p.What})
	}
	return report, nil
}

// InspectStore is what a database holds that no peer has open; with verify as [VerifyStore] finds it.
func InspectStore(path string, verify bool) (api.StoreReport, error) {
	read := VerifyStore
	if !verify {
		read = func(path string) (store.Report, error) { return store.Verify(path, func(string, store.Row) {}) }
	}
	report, err := read(path)
	return reported(path, &report), err
}

func reported(path string, report *store.Report) api.StoreReport {
	out := api.StoreReport{
		Path: path, Format: report.Format, Bytes: report.Bytes, Pages: report.Pages, FreePages: report.FreePages,
		Tables: []api.StoreTable{}, Problems: []api.StoreProblem{},
	}
	for _, t := range report.Tables {
		out.Tables = append(out.Tables, api.StoreTable(t))
	}
	for _, d := range report.Damage {
		out.Problems = append(out.Problems, api.StoreProblem(*d))
	}
	return out
}

// CompactStore makes the file of a database as small as its rows, which no peer may have open. A file of an earlier format gets the
// present one, as at the start of a peer.
func CompactStore(path string) (api.Compacted, error) {
	done := api.Compacted{Path: path}
	info, err := os.Stat(path)
	if err != nil {
		return done, err // a store would make a new one
	}
	done.Before = info.Size()
	opened, err := store.Open(path, store.Options{})
	if err != nil {
		return done, err
	}
	err = opened.Compact()
	done.After = opened.Stats().FileBytes
	return done, errors.Join(err, opened.Close())
}

// SaveBackup has a copy of a database written to a file, as a whole or not at all: it is durable, and without errors, before it has its
// name. A file with that name is replaced only if that is wanted; else the error wraps [fs.ErrExist].
func SaveBackup(path, database string, replace bool, fill func(io.Writer) error) (report api.StoreReport, err error) {
	if err = maySave(path, database, replace); err != nil {
		return report, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part") // of mode 0600
	if err != nil {
		return report, err
	}
	part := file.Name()
	defer func() { _ = os.Remove(part) }() // its other name stays
	err = fill(file)
	if err == nil {
		report, err = examined(path, file)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return report, err
	}
	if replace {
		err = os.Rename(part, path)
	} else {
		err = os.Link(part, path) // unlike Rename it replaces nothing
	}
	if err != nil {
		return report, err
	}
	return report, statedir.SyncDir(filepath.Dir(path))
}

// maySave refuses a name that is not to be that of a copy.
func maySave(path, database string, replace bool) error {
	there, err := os.Stat(path)
	own, ownErr := os.Stat(database)
	if err == nil && ownErr == nil && os.SameFile(there, own) {
		return fmt.Errorf("%s is the database itself; name another file", path)
	}
	if _, err = os.Lstat(path); err == nil && !replace {
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	return nil
}

// examined refuses a copy with errors.
func examined(path string, file *os.File) (api.StoreReport, error) {
	found, err := verified(func(visit func(string, store.Row)) (store.Report, error) { return store.VerifySnapshot(file, visit) })
	if err == nil && len(found.Damage) > 0 {
		err = fmt.Errorf("the database has %s, the first: %w; see switchyard store verify", protocol.Count(len(found.Damage), "error"), found.Damage[0])
	}
	return reported(path, &found), err
}

// database is that of the running peer, for the API.
type database struct {
	d    *Daemon
	busy sync.Mutex
}

func (b *database) path() string { return statedir.Database(string(b.d.cfg.Site.StateDir)) }

// Snapshot implements [api.Database]. The file is beside the database, on a disk of this machine.
func (b *database) Snapshot() (_ *os.File, err error) {
	b.busy.Lock()
	defer b.busy.Unlock()
	needs := uint64(max(0, b.d.store.Stats().FileBytes)) + snapshotReserve
	free, err := b.d.freeSpace()
	if err == nil && free < needs {
		return nil, fmt.Errorf("a snapshot needs %d MiB of free space, of which %d stay for the store; free space on %s",
			needs>>20, snapshotReserve>>20, localdisk.Describe(string(b.d.cfg.Site.StateDir)))
	}
	file, err := os.CreateTemp(string(b.d.cfg.Site.StateDir), "switchyard.db.*.snapshot")
	if err != nil {
		return nil, fmt.Errorf("make a snapshot: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	if err = os.Remove(file.Name()); err != nil { // it goes with the last who has it open
		return nil, fmt.Errorf("make a snapshot: %w", err)
	}
	if _, err = b.d.store.Snapshot(file); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	return file, err
}

// snapshotReserve is what stays free, in bytes: peers refuse jobs below it.
const snapshotReserve = 64 << 20

// Inspect implements [api.Database].
func (b *database) Inspect(verify bool) (report api.StoreReport, err error) {
	file, err := b.Snapshot()
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	read := func(visit func(string, store.Row)) (store.Report, error) { return store.VerifySnapshot(file, visit) }
	var found store.Report
	if verify {
		found, err = verified(read)
	} else {
		found, err = read(func(string, store.Row) {})
	}
	report = reported(b.path(), &found)
	report.Running, report.Bytes = true, b.d.store.Stats().FileBytes // the snapshot may be smaller
	return report, err
}

// Compact implements [api.Database].
func (b *database) Compact() (api.Compacted, error) {
	b.busy.Lock()
	defer b.busy.Unlock()
	done := api.Compacted{Path: b.path(), Running: true, Before: b.d.store.Stats().FileBytes}
	err := b.d.store.Compact()
	done.After = b.d.store.Stats().FileBytes
	return done, err
}
