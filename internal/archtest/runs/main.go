// Command runs prints how make test calls go test for the module in the working directory,
// one call a line: "plain" or "race", the patterns for -run and -skip, and the packages.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/archtest"
)

func main() {
	if err := write(context.Background(), os.Stdout, archtest.Switchyard()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(ctx context.Context, to io.Writer, rules archtest.Rules) error {
	module, err := archtest.Load(ctx, ".")
	if err != nil {
		return err
	}
	for _, run := range rules.Runs(module) {
		detector := "plain"
		if run.Race {
			detector = "race"
		}
		packages := "./" + strings.Join(run.Folders, " ./")
		if _, err := fmt.Fprintln(to, detector, run.Tests, run.Skip, packages); err != nil {
			return fmt.Errorf("print the calls of go test: %w", err)
		}
	}
	return nil
}
