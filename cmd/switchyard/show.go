package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
)

// lists makes cmd a query: it asks, and prints the answer as a table, or as JSON with --json.
func lists[T any](
	a *app, cmd *cobra.Command, ask func(ctx context.Context, args []string) (T, error), table func(T) *console.Table,
) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		answer, err := ask(cmd.Context(), args)
		if err != nil {
			return err
		}
		return a.showTable(answer, func() *console.Table { return table(answer) })
	}
	return a.listing(cmd)
}

// describes is [lists] for an answer that people read as text.
func describes[T any](
	a *app, cmd *cobra.Command, ask func(ctx context.Context, args []string) (T, error), text func(T) string,
) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		answer, err := ask(cmd.Context(), args)
		if err != nil {
			return err
		}
		return a.showText(answer, func() string { return text(answer) })
	}
	return a.query(cmd)
}

// showTable prints an answer as a table, or as JSON with --json.
func (a *app) showTable(answer any, table func() *console.Table) error {
	if a.json {
		return a.printJSON(answer)
	}
	return table().Write(a.stdout, "", !a.noHeader)
}

// showText prints an answer as text, or as JSON with --json.
func (a *app) showText(answer any, text func() string) error {
	if a.json {
		return a.printJSON(answer)
	}
	a.printf("%s", text())
	return nil
}
