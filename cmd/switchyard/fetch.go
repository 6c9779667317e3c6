package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) fetchCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:         "fetch ID PATTERN...",
		Annotations: anyPeer(),
		Short:       "Get files from the directory of a job over TCP",
		Long: "Get files that a job has left in its directory at the site of --server, once it has ended. Patterns\n" +
			"name files and directories there, as those of --stage-out do; . is all of them. What a job that ran\n" +
			"at another site has left there comes only if --stage-out named it.",
		Example: "  switchyard fetch 1000000000042 results run.log\n  switchyard fetch --to=out 1000000000042 '*.csv'",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("fetch takes a job ID and patterns of files; for its output use `switchyard logs ID`")
			}
			names, err := oneByOne(args[:1])
			if err != nil {
				return err
			}
			for _, pattern := range args[1:] {
				if err = protocol.CheckStageOut(pattern); err != nil {
					return usage("%w", err)
				}
			}
			if !a.client().Remote() {
				return usage("fetch gets files over TCP, with --server; at the site they are in the job's directory, see `switchyard status %s`", names[0])
			}
			return a.fetch(cmd.Context(), names[0], args[1:], to)
		},
	}
	cmd.Flags().StringVar(&to, "to", ".", "directory of this machine for the files; it is made if there is none")
	return cmd
}

// fetch puts files of a job below a directory of this machine.
func (a *app) fetch(ctx context.Context, name protocol.JobName, patterns []string, to string) error {
	if err := os.MkdirAll(to, 0o777); err != nil { //nolint:gosec // the user's umask decides
		return usage("--to: %w", err)
	}
	root, err := os.OpenRoot(filepath.Clean(to))
	if err != nil {
		return usage("--to: %w", err)
	}
	defer root.Close() //nolint:errcheck // the files are synced
	var files []protocol.StagedFile
	fetched, err := a.client().Fetch(ctx, name, patterns, func(archive io.Reader) (err error) {
		files, err = staging.Unpack(ctx, archive, staging.Into{Root: root, Patterns: patterns, Umask: process.CurrentUmask()})
		return err
	})
	if refused, ok := errors.AsType[*api.Error](err); ok {
		return refused
	}
	if err != nil {
		return fmt.Errorf("files of job %s: %w", name, err)
	}
	for i := range files {
		a.printf("%s\n", console.Plain(files[i].Name))
	}
	if fetched.Notice != "" {
		a.notice("%s", console.Plain(fetched.Notice))
	}
	if fetched.Missing != "" {
		return &exitError{code: exitFailed, err: fmt.Errorf("not all files have come: %s", console.Plain(fetched.Missing))}
	}
	return nil
}
