package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/skeleton"
)

func (a *app) pluginNewCommand() *cobra.Command {
	var s skeleton.Skeleton
	var dir string
	cmd := &cobra.Command{
		Use:   "new policy|localsched|price NAME",
		Short: "Create a plugin template that compiles, passes the suite and has a test",
		Long: "Write the source of a plugin template, a Go module with a test, into a new directory. The policy\n" +
			"template keeps jobs at the local site unless their wait is long. The local scheduler template runs\n" +
			"the shortest job first, and the price feed template has a day price and a night price. The plugin\n" +
			"is built against a checkout of Switchyard with --source, otherwise against the released module.",
		Example: "  switchyard plugin new policy cheapest\n" +
			"  switchyard plugin new localsched widest --dir ~/src/widest --source ~/src/switchyard",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("%s requires a kind (%s) and a name", cmd.CommandPath(), strings.Join(pluginhost.Kinds(), ", "))
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(pluginhost.Kinds(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			s.Kind, s.Name = args[0], args[1]
			if dir == "" {
				dir = s.Name
			}
			return a.newPlugin(s, dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "directory to create (default: NAME)")
	cmd.Flags().StringVar(&s.Source, "source", skeleton.SourceHere(), "checkout of Switchyard to build against")
	return cmd
}

// newPlugin writes the files of a skeleton, and says what comes next.
func (a *app) newPlugin(s skeleton.Skeleton, dir string) error {
	if err := s.Complete(); err != nil {
		return usage("%w", err)
	}
	if err := s.Write(dir); err != nil {
		return err
	}
	a.printf("Wrote a %s plugin into %s. Next:\n\n  cd %s\n  go mod tidy\n  go test ./...\n  go build .\n"+
		"  switchyard plugin check ./%s --config %s.toml\n", s.Kind, console.Plain(dir), console.Plain(dir), s.Name, s.Name)
	return nil
}
