package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
)

// serviceSocket is where a peer listens that runs as a service.
const serviceSocket = "/run/switchyard/switchyard.sock"

// app is one run of the command: its streams and what all subcommands share.
type app struct {
	stdin  *os.File
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
	now    func() time.Time

	name     string // of the command of Slurm that this is, before messages; empty: switchyard
	socket   string
	json     bool
	noHeader bool
	server   api.Server // that commands speak to instead of the peer at the socket; no URL: none
	peer     *api.Client
}

func newApp() *app {
	return &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, now: time.Now}
}

// run executes a command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root() //nolint:contextcheck // cobra hands the context to the commands
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	return a.exitCode(root.ExecuteContext(ctx))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "switchyard",
		Short: "Schedule batch jobs across autonomous HPC sites",
		Long: "Switchyard is a decentralized superscheduler: it schedules batch jobs across autonomous\n" +
			"HPC sites. Submit a job at your site; it runs where it is predicted to finish first.\n\n" + exitCodes,
		Example: "  switchyard demo                        three sites on this machine\n" +
			"  switchyard submit --ntasks=4 job.sh    submit a batch script\n" +
			"  switchyard submit --pareto app.toml    trade-offs between cost and time\n" +
			"  switchyard queue                       pending and running jobs\n" +
			"  switchyard explain 1000000000042       why a job was placed where it is",
		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		Version:                    version,
		SilenceUsage:               true,
		Args:                       noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return unknownFlag(cmd, err)
	})
	root.SetVersionTemplate(versionText())
	root.PersistentFlags().StringVar(&a.socket, "socket", a.defaultSocket(), "socket of the peer; overrides SWITCHYARD_SOCKET")
	a.serverFlags(root)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddGroup(&cobra.Group{ID: "jobs", Title: "Jobs:"}, &cobra.Group{ID: "site", Title: "Sites:"})
	grouped(root, "jobs", a.submitCommand(), a.queueCommand(), a.statusCommand(), a.cancelCommand(), a.holdCommand(), a.releaseCommand(), a.updateCommand(), a.requeueCommand(), a.waitCommand(), a.logsCommand(), a.fetchCommand(), a.eventsCommand(), a.topCommand(),
		a.quoteCommand(), a.explainCommand(), a.historyCommand(), a.usageCommand(), a.runsCommand(), a.sharesCommand())
	grouped(root, "site", a.sitesCommand(), a.statementCommand(), a.peerCommand(), a.reloadCommand(), a.drainCommand(), a.isolateCommand(), a.resumeCommand(), a.tokenCommand(), a.recoverCommand(), a.doctorCommand(), a.keygenCommand(), a.keyringCommand(), a.inviteCommand(), a.joinCommand(), a.acceptCommand(), a.rosterCommand(), a.configCommand(), a.storeCommand(), a.demoCommand(),
		a.simCommand(), a.pluginCommand(), a.pricesCommand(), a.benchmarkCommand())
	root.AddCommand(a.versionCommand(), a.completionCommand(), a.manCommand(), a.slurmCommandsCommand())
	return root
}

// defaultSocket is where the peer listens if no option says so.
func (a *app) defaultSocket() string {
	return cmp.Or(a.getenv("SWITCHYARD_SOCKET"), serviceSocket)
}

func grouped(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, command := range commands {
		command.GroupID = group
		root.AddCommand(command)
	}
}

// query adds the flags of commands that print what the peer knows.
func (a *app) query(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON")
	return cmd
}

// listing is query for commands that print a table.
func (a *app) listing(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&a.noHeader, "no-header", false, "omit the column titles")
	return a.query(cmd)
}

// client talks to the peer. It connects when it must.
func (a *app) client() *api.Client {
	if a.peer == nil {
		a.peer = a.dial()
	}
	return a.peer
}

// printf prints what was asked for. Like other tools, it does not care whether
// somebody still reads it.
func (a *app) printf(format string, args ...any) { _, _ = fmt.Fprintf(a.stdout, format, args...) }

// notice tells people something, out of the way of programs.
func (a *app) notice(format string, args ...any) {
	a.problem(cmp.Or(a.name, "switchyard")+": "+format, args...)
}

// problem prints lines for people, and nothing of them that a terminal would obey: errors hold names of files, jobs and sites that
// others chose.
func (a *app) problem(format string, args ...any) {
	_, _ = fmt.Fprintln(a.stderr, console.PlainLines(fmt.Sprintf(format, args...)))
}

func (a *app) printJSON(v any) error {
	out := json.NewEncoder(a.stdout)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	if err := out.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}
