package main

import (
	"fmt"
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
		Short: "Create a plugin template that runs, passes the suite and has a test",
		Long: "Write the source of a plugin template with a test into a new directory. The policy template keeps\n" +
			"jobs at the local site unless their wait is long. The local scheduler template runs the shortest\n" +
			"job first, and the price feed template has a day price and a night price.\n\n" +
			"In Go, the template is a module. It is built against a checkout of Switchyard with --source,\n" +
			"otherwise against the released module. In Python, only policies have a template. It contains the\n" +
			"SDK and runs with Debian's python3-grpcio and python3-protobuf.",
		Example: "  switchyard plugin new policy cheapest\n" +
			"  switchyard plugin new policy cheapest --language python\n" +
			"  switchyard plugin new localsched widest --dir ~/src/widest --source ~/src/switchyard",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("%s requires a kind (%s) and a name", cmd.CommandPath(), strings.Join(pluginhost.Kinds(), ", "))
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(pluginhost.Kinds(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Kind, s.Name = args[0], args[1]
			if s.Language == skeleton.Python && cmd.Flags().Changed("source") {
				return usage("--source is for --language go; a plugin in Python contains its SDK")
			}
			if dir == "" {
				dir = s.Name
			}
			if s.Source == "" {
				s.Source = skeleton.SourceHere()
			}
			return a.newPlugin(s, dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "directory to create (default: NAME)")
	cmd.Flags().StringVar(&s.Language, "language", skeleton.Go, "language of the plugin: "+strings.Join(skeleton.Languages(), " or "))
	// The default is not that of the flag: the manual pages would name the checkout in which they were made.
	cmd.Flags().StringVar(&s.Source, "source", "", "checkout of Switchyard to build against (default: that of the working directory)")
	_ = cmd.RegisterFlagCompletionFunc("language", // the flag was just made
		cobra.FixedCompletions(skeleton.Languages(), cobra.ShellCompDirectiveNoFileComp))
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
	a.printf("Wrote a %s plugin into %s. Next:\n\n  cd %s\n%s", s.Kind, console.Plain(dir), console.Plain(dir), nextSteps(s))
	return nil
}

// nextSteps are the commands that test what was written.
func nextSteps(s skeleton.Skeleton) string {
	if s.Language == skeleton.Python {
		return fmt.Sprintf("  /usr/bin/python3 -B -m unittest\n"+
			"  switchyard plugin check --no-tls ./%s --config %s.toml\n", s.Name, s.Name)
	}
	return fmt.Sprintf("  go mod tidy\n  go test ./...\n  go build .\n  switchyard plugin check ./%s --config %s.toml\n", s.Name, s.Name)
}
