package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) storeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look at a peer's database, check it, copy it, and make it smaller",
		Args:  noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("missing subcommand: use store inspect, verify, backup or compact; see %s --help", cmd.CommandPath())
		},
	}
	cmd.AddCommand(a.storeInspectCommand(), a.storeVerifyCommand(), a.storeBackupCommand(), a.storeCompactCommand())
	return cmd
}

// storeAccess says who can use the commands, and on what.
const storeAccess = "If the peer runs, it is asked at its socket, and goes on; if not, its file is read. Run this as root or\n" +
	"as the peer's account.\n"

func (a *app) storeInspectCommand() *cobra.Command {
	var from configFlag
	cmd := &cobra.Command{
		Use:   "inspect [--config PATH]",
		Short: "Print what the database holds",
		Long: "Print the tables of the peer's database with their rows and bytes, the size of its file, and how much of\n" +
			"that is free. All pages and rows are read, and those with invalid checksums are printed.\n" +
			"\n" +
			storeAccess +
			"\n" +
			"Exit codes: 0 no errors, 1 errors found, 3 no database, 4 not permitted, 6 the peer has the database open\n" +
			"and does not answer.",
		Example: "  switchyard store inspect\n  switchyard store inspect --config site.toml --json",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.reportStore(cmd.Context(), &from, false) },
	}
	from.addTo(a, cmd)
	return a.listing(cmd)
}

func (a *app) storeVerifyCommand() *cobra.Command {
	var from configFlag
	var file string
	cmd := &cobra.Command{
		Use:   "verify [--config PATH | --file FILE]",
		Short: "Read the whole database, and print its errors",
		Long: "Read every page and row of the peer's database, and print the number of rows of each table and\n" +
			"all errors: pages and rows with invalid checksums, and missing, unreadable or contradictory\n" +
			"rows. Nothing is changed. With --file, read a copy of a database, as store backup writes it, in its\n" +
			"place; this needs no configuration.\n" +
			"\n" +
			storeAccess +
			"\n" +
			"Exit codes: 0 no errors, 1 errors found, 3 no database, 4 not permitted, 6 the peer has the database open\n" +
			"and does not answer.",
		Example: "  switchyard store verify\n" +
			"  switchyard store verify --config site.toml --json\n" +
			"  switchyard store verify --file /backup/aurora-2026-11-29.db",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !cmd.Flags().Changed("file"):
				return a.reportStore(cmd.Context(), &from, true)
			case cmd.Flags().Changed("config"):
				return usage("--file and --config name two databases; use one of them")
			}
			return a.reportCopy(file)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "copy of a database to read instead of the peer's")
	from.addTo(a, cmd)
	return a.listing(cmd)
}

func (a *app) storeBackupCommand() *cobra.Command {
	var from configFlag
	var force bool
	cmd := &cobra.Command{
		Use:   "backup [--force] [--config PATH] FILE",
		Short: "Write a copy of the database to a file",
		Long: "Write a copy of the peer's database to FILE, which its owner alone may read. The copy has the rows of one\n" +
			"instant. It is checked as by store verify, and durable, before it gets its name; a copy with errors is\n" +
			"not kept. What a peer with an older copy does, and what else a backup of a site needs, is in\n" +
			"docs/operations.md.\n" +
			"\n" +
			storeAccess +
			"\n" +
			"Exit codes: 0 done, 1 failed, 2 FILE exists, 3 no database, 4 not permitted, 6 the peer has the database\n" +
			"open and does not answer.",
		Example: "  switchyard store backup /backup/aurora-$(date +%F).db",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s takes one file, got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.backupStore(cmd.Context(), &from, args[0], force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	from.addTo(a, cmd)
	return a.query(cmd)
}

func (a *app) storeCompactCommand() *cobra.Command {
	var from configFlag
	cmd := &cobra.Command{
		Use:   "compact [--config PATH]",
		Short: "Make the file of the database as small as its rows",
		Long: "Replace the file of the peer's database by a copy without free pages. A peer does this by itself when a\n" +
			"file of more than 64 MiB is more than half free. While the copy is written, a running peer answers\n" +
			"questions; submissions and all other changes wait. The copy needs as much free space as the rows.\n" +
			"\n" +
			storeAccess +
			"\n" +
			"Exit codes: 0 done, 1 failed, the file is as it was, 3 no database, 4 not permitted, 6 the peer has the\n" +
			"database open and does not answer.",
		Example: "  switchyard store compact",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.compactStore(cmd.Context(), &from) },
	}
	from.addTo(a, cmd)
	return a.query(cmd)
}

// onStore does something with the database of a configuration: with its file, or if a peer has it open, by that peer.
func (a *app) onStore(from *configFlag, stopped func(path string) error, running func(*api.Client, *config.Config) error) error {
	cfg, err := from.load(a)
	if err != nil {
		return err
	}
	dir := string(cfg.Site.StateDir)
	if err = statedir.Check(dir); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	err = stopped(statedir.Database(dir))
	_, missing := os.Stat(statedir.Database(dir))
	switch {
	case errors.Is(err, store.ErrLocked):
		peer := api.Dial(string(cfg.Site.Socket))
		defer peer.Close()
		if err = running(peer, cfg); errors.Is(err, api.ErrUnreachable) {
			return fmt.Errorf("the database %s is open in another process: %w", statedir.Database(dir), err)
		}
		return err
	case err != nil && errors.Is(missing, fs.ErrNotExist):
		return &exitError{code: exitNotFound, err: fmt.Errorf("no database: %w", missing)}
	case errors.Is(err, fs.ErrPermission):
		return &exitError{code: exitDenied, err: fmt.Errorf("%w; run this as root or as the peer's account", err)}
	}
	return err
}

// storeProblem is a problem in a sentence.
func storeProblem(p api.StoreProblem) string {
	return (&store.DamageError{Table: p.Table, Key: p.Key, Page: p.Page, What: p.What}).Error()
}

func (a *app) reportStore(ctx context.Context, from *configFlag, verify bool) error {
	var found api.StoreReport
	err := a.onStore(from, func(path string) (err error) {
		found, err = daemon.InspectStore(path, verify)
		return err
	}, func(peer *api.Client, _ *config.Config) (err error) {
		found, err = peer.Store(ctx, verify)
		return err
	})
	if err != nil {
		return err
	}
	if err = a.printStore(found); err != nil || len(found.Problems) == 0 {
		return err
	}
	return fmt.Errorf("%s found in %s: check the disk; then %s", protocol.Count(len(found.Problems), "problem"), found.Path, store.Remedy)
}

// reportCopy verifies a copy of a database, which belongs to no peer.
func (a *app) reportCopy(path string) error {
	found, err := daemon.InspectStore(path, true)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &exitError{code: exitNotFound, err: fmt.Errorf("no database: %w", err)}
	case errors.Is(err, fs.ErrPermission):
		return &exitError{code: exitDenied, err: err}
	case errors.Is(err, store.ErrLocked):
		return fmt.Errorf("%s is open in another process; --file is for copies, and without it the peer that runs is asked", path)
	case err != nil:
		return err
	}
	if err = a.printStore(found); err != nil || len(found.Problems) == 0 {
		return err
	}
	return fmt.Errorf("%s found in %s: do not restore it; make another copy with: switchyard store backup", protocol.Count(len(found.Problems), "problem"), path)
}

// printStore prints tables on the standard output, and problems on the standard error.
func (a *app) printStore(found api.StoreReport) error {
	if a.json {
		return a.printJSON(found)
	}
	t := console.NewTable("TABLE", " ROWS", " BYTES")
	for _, one := range found.Tables {
		t.Add(console.Plain(one.Table), strconv.FormatUint(one.Rows, 10), strconv.FormatInt(one.Bytes, 10))
	}
	if err := t.Write(a.stdout, "", !a.noHeader); err != nil {
		return err
	}
	for _, problem := range found.Problems {
		a.notice("%s", console.Plain(storeProblem(problem)))
	}
	if len(found.Problems) == 0 {
		a.notice("%s: no errors in %d pages, %d of them free; the file has %d bytes", found.Path, found.Pages, found.FreePages, found.Bytes)
	}
	return nil
}

// backupJSON is what store backup prints as JSON.
type backupJSON struct {
	Path    string `json:"path"`
	Running bool   `json:"running"` // whether the peer made the copy
	Bytes   int64  `json:"bytes"`
	Rows    uint64 `json:"rows"`
}

func (a *app) backupStore(ctx context.Context, from *configFlag, path string, force bool) error {
	done := backupJSON{Path: path}
	save := func(database string, fill func(io.Writer) error) error {
		report, err := daemon.SaveBackup(path, database, force, fill)
		if errors.Is(err, fs.ErrExist) {
			return usage("%s exists; name another file, or replace it with --force", path)
		}
		for _, table := range report.Tables {
			done.Rows += table.Rows
		}
		done.Bytes = report.Bytes
		return err
	}
	err := a.onStore(from, func(database string) error {
		return save(database, func(w io.Writer) error { return store.Copy(database, w) })
	}, func(peer *api.Client, cfg *config.Config) error {
		done.Running = true
		return save(statedir.Database(string(cfg.Site.StateDir)), func(w io.Writer) error { return peer.BackupStore(ctx, w) })
	})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(done)
	}
	a.printf("%s: %d bytes, %s, no errors.\n", done.Path, done.Bytes, protocol.Count(int(done.Rows), "row")) //nolint:gosec // fewer than fit
	return nil
}

func (a *app) compactStore(ctx context.Context, from *configFlag) error {
	var done api.Compacted
	err := a.onStore(from, func(path string) (err error) {
		done, err = daemon.CompactStore(path)
		return err
	}, func(peer *api.Client, _ *config.Config) (err error) {
		done, err = peer.CompactStore(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(done)
	}
	a.printf("%s: %d bytes became %d.\n", done.Path, done.Before, done.After)
	return nil
}
