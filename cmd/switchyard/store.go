package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/peer/store"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) storeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Check the database of a stopped peer",
		Args:  noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("missing subcommand: use store verify; see %s --help", cmd.CommandPath())
		},
	}
	cmd.AddCommand(a.storeVerifyCommand())
	return cmd
}

func (a *app) storeVerifyCommand() *cobra.Command {
	var from configFlag
	cmd := &cobra.Command{
		Use:   "verify [--config PATH]",
		Short: "Read the whole database, and print its errors",
		Long: "Read every page and row of the peer's database, and print the number of rows of each table and\n" +
			"all errors: pages and rows with invalid checksums, and missing, unreadable or contradictory\n" +
			"rows. The peer must be stopped; nothing is changed.\n" +
			"\n" +
			"Exit codes: 0 no errors, 1 errors found, 2 the peer is running, 3 no database.",
		Example: "  systemctl stop switchyard && switchyard store verify\n" +
			"  switchyard store verify --config site.toml --json",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := from.load(a)
			if err != nil {
				return err
			}
			return a.verifyStore(string(cfg.Site.StateDir))
		},
	}
	from.addTo(a, cmd)
	return a.listing(cmd)
}

// storeJSON is what store verify prints as JSON.
type storeJSON struct {
	Path      string             `json:"path"`
	Format    uint64             `json:"format"`
	Bytes     int64              `json:"bytes"`
	Pages     uint64             `json:"pages"`
	FreePages uint64             `json:"free_pages"`
	Tables    []storeTableJSON   `json:"tables"`
	Problems  []storeProblemJSON `json:"problems"`
}

type storeTableJSON struct {
	Table string `json:"table"`
	Rows  uint64 `json:"rows"`
	Bytes int64  `json:"bytes"`
}

type storeProblemJSON struct {
	Table string `json:"table,omitempty"`
	Key   string `json:"key,omitempty"`
	Page  uint64 `json:"page,omitempty"`
	What  string `json:"what"`
}

// text is the problem in a sentence.
func (p storeProblemJSON) text() string {
	return (&store.DamageError{Table: p.Table, Key: p.Key, Page: p.Page, What: p.What}).Error()
}

// inspectStore reads a database that no peer has open, and finds all that is wrong with it.
func inspectStore(path string) (storeJSON, error) {
	report, err := daemon.VerifyStore(path)
	if err != nil {
		return storeJSON{}, err
	}
	out := storeJSON{
		Path: path, Format: report.Format, Bytes: report.Bytes, Pages: report.Pages, FreePages: report.FreePages,
		Tables: []storeTableJSON{}, Problems: []storeProblemJSON{},
	}
	for _, t := range report.Tables {
		out.Tables = append(out.Tables, storeTableJSON(t))
	}
	for _, d := range report.Damage {
		out.Problems = append(out.Problems, storeProblemJSON(*d))
	}
	return out, nil
}

func (a *app) verifyStore(dir string) error {
	if err := statedir.Check(dir); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	found, err := inspectStore(statedir.Database(dir))
	switch {
	case errors.Is(err, store.ErrLocked):
		return &exitError{code: exitUsage, err: err}
	case errors.Is(err, fs.ErrNotExist):
		return &exitError{code: exitNotFound, err: fmt.Errorf("no database: %w", err)}
	case err != nil:
		return err
	}
	if err = a.printStore(found); err != nil || len(found.Problems) == 0 {
		return err
	}
	return fmt.Errorf("%s found in %s: check the disk; then %s", protocol.Count(len(found.Problems), "problem"), found.Path, store.Remedy)
}

// printStore prints tables on the standard output, and problems on the standard error.
func (a *app) printStore(found storeJSON) error {
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
		a.notice("%s", console.Plain(problem.text()))
	}
	if len(found.Problems) == 0 {
		a.notice("%s: no errors in %d pages, %d of them free", found.Path, found.Pages, found.FreePages)
	}
	return nil
}
