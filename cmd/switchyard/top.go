package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gdamore/tcell/v2"
	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/top"
)

func (a *app) topCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "top",
		Annotations: anyPeer(),
		Short:       "Follow sites and jobs on the whole terminal",
		Long: "Follow sites and jobs on the whole terminal, with keys and the mouse: the sites of the grid, the jobs of\n" +
			"this origin, when pending ones are expected to start, guests, jobs that have ended, and what happens. Enter\n" +
			"shows the story of a job, as \"switchyard explain --long\" does; c, h and r cancel, hold and release the\n" +
			"selected job after a question. ? lists the keys.\n" +
			"\n" +
			"A list holds at most 1000 jobs, those with the lowest IDs, or of jobs that have ended the latest. What is\n" +
			"shown is asked for when an event says that something has changed, at most once a second. NO_COLOR is respected.",
		Example: "  switchyard top\n  switchyard top --server=https://aurora.example:9760",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, ok := a.stdout.(*os.File)
			if !ok || !terminal(out) || !terminal(a.stdin) {
				return usage("top needs a terminal; for scripts there are switchyard queue, sites and events, with --json")
			}
			if _, err := a.client().Info(cmd.Context()); err != nil {
				return err // while it can still be read
			}
			return a.top(cmd.Context())
		},
	}
}

// top shows the peer on the terminal until the user leaves.
func (a *app) top(ctx context.Context) error {
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return fmt.Errorf("use the terminal: %w; TERM is %q", err, a.getenv("TERM"))
	}
	defer screen.Fini()
	return top.Run(ctx, a.client(), screen, a.now)
}
