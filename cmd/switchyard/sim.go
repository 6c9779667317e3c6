package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
)

func (a *app) simCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Simulate sites and grids, fit workloads, replay recordings",
		Long: "Run the peers, policies and local schedulers of a grid under a virtual clock, on traces or on\n" +
			"workloads sampled from models. An experiment is a TOML file or a built-in one:\n" +
			strings.Join(experiment.Presets(), ", ") + ".",
		SuggestionsMinimumDistance: 2,
		Args:                       noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("missing subcommand: use sim run, schedule, fit, generate, sweep, tune, reproduce, replay, report, flow, partitions, list or show; see %s --help",
				cmd.CommandPath())
		},
	}
	cmd.AddCommand(a.simRunCommand(), a.simScheduleCommand(), a.simFitCommand(), a.simGenerateCommand(), a.simSweepCommand(), a.simTuneCommand(),
		a.simReproduceCommand(), a.simReplayCommand(), a.simFromRecordCommand(), a.simReportCommand(), a.simFlowCommand(), a.simPartitionsCommand(),
		a.simListCommand(), a.simShowCommand())
	for _, sub := range cmd.Commands() {
		sub.RunE = a.simulating(sub.RunE)
		sub.Flags().SortFlags = false
	}
	return cmd
}

// simulating ends a command when it is interrupted, and gives its errors the exit
// codes of the simulator.
func (a *app) simulating(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		cmd.SetContext(ctx)
		return a.simError(run(cmd, args))
	}
}

// simError gives an error its exit code. Several problems are printed one by one.
func (a *app) simError(err error) error {
	var coded *exitError
	var list problems.List
	var malformed *workload.MalformedError
	var cut *partition.MalformedError
	var asked *experiment.OptionError
	switch {
	case err == nil || errors.As(err, &coded):
		return err
	case errors.As(err, &list):
		for _, problem := range list {
			a.notice("%s", console.Plain(problem.String()))
		}
		return &exitError{code: exitUsage}
	case errors.As(err, &malformed):
		for line := range strings.SplitSeq(err.Error(), "\n") {
			a.notice("%s", console.Plain(line))
		}
		if malformed.Read == 0 {
			a.notice("all lines are invalid; check the format of the trace (%s)", strings.Join(experiment.Formats(), ", "))
		} else {
			a.notice("fix these lines, or skip them with --lenient; in an experiment, with lenient = true of the workload")
		}
		return &exitError{code: exitFailed}
	case errors.As(err, &cut):
		for line := range strings.SplitSeq(cut.Error(), "\n") {
			a.notice("%s", console.Plain(line))
		}
		return &exitError{code: exitFailed}
	case errors.As(err, &asked):
		return usage("%w", err)
	case errors.Is(err, fs.ErrNotExist):
		return &exitError{code: exitNotFound, err: err}
	}
	return err
}

// experiment reads an experiment: a file, or a built-in one of the name.
func (a *app) experiment(name string) (*experiment.Plan, error) {
	return a.experimentOf(name, experiment.Read)
}

// experimentOf is experiment with another way to read a file.
func (a *app) experimentOf(name string, read func(file string) (*experiment.Plan, error)) (*experiment.Plan, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir() && !slices.Contains(experiment.Presets(), name):
		return nil, usage("%s is a directory; name the file of an experiment", name)
	case err == nil && !info.IsDir():
		return read(name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	plan, err := experiment.Preset(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &exitError{code: exitNotFound, err: fmt.Errorf(
			"there is no file %s and no built-in experiment of this name; built in are %s",
			name, strings.Join(experiment.Presets(), ", "))}
	}
	return plan, err
}

// open reads the files that a plan names and prints its warnings about them.
func (a *app) open(plan *experiment.Plan) error {
	if err := plan.Open(); err != nil {
		return err
	}
	for _, note := range plan.Notes() {
		a.notice("%s", console.Plain(note))
	}
	return nil
}

// oneExperiment asks for the name of one experiment and completes it.
func oneExperiment(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("%s requires one experiment: a TOML file, or %s", cmd.CommandPath(),
			strings.Join(experiment.Presets(), " or "))
	}
	return nil
}

func completeExperiments(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return experiment.Presets(), cobra.ShellCompDirectiveDefault
}

// choice adds a flag that takes one of a few values.
func choice(cmd *cobra.Command, to *string, name, value, text string, allowed ...string) {
	cmd.Flags().StringVar(to, name, value, text+" ("+strings.Join(allowed, ", ")+")")
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp)) // the flag was just made
}

// chosen checks the value of such a flag.
func chosen(name, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usage("--%s: unknown value %q; use %s", name, value, strings.Join(allowed, ", "))
}

func schemeNames() []string {
	var names []string
	for _, s := range experiment.Schemes() {
		names = append(names, string(s))
	}
	return names
}

func (a *app) simListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the built-in experiments",
		Example: "  switchyard sim list",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			t := console.NewTable("NAME", " SITES", "ABOUT")
			for _, name := range experiment.Presets() {
				plan, err := experiment.Preset(name)
				if err != nil {
					return err
				}
				t.Add(name, strconv.Itoa(len(plan.Sites)), plan.About)
			}
			return t.Write(a.stdout, "", true)
		},
	}
}

func (a *app) simShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Print the file of a built-in experiment, to copy and edit",
		Example:           "  switchyard sim show heavy >mine.toml",
		Args:              oneExperiment,
		ValidArgsFunction: completeExperiments,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := experiment.PresetText(args[0])
			if err != nil {
				return err
			}
			a.printf("%s", text)
			return nil
		},
	}
}
