package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/localsched/localschedtest"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/plugins/suite"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) pluginCheckCommand() *cobra.Command {
	var file pluginFile
	var verbose bool
	s := suite.Suite{Log: io.Discard}
	cmd := &cobra.Command{
		Use:   "check PATH",
		Short: "Run the conformance suite of its kind on a plugin",
		Long: "Start a plugin as a peer does, and run the conformance suite of its kind: repeated calls,\n" +
			"restarts, concurrent calls, extreme and invalid input, equal output for equal input. A local\n" +
			"scheduler runs small real jobs as the account of --account; no other jobs may run on its machine.\n" +
			"One that supports simulation is also checked as an engine. If a case fails, the exit code is 1.",
		Example: "  switchyard plugin check ./cheapest --config cheapest.toml\n" +
			"  switchyard plugin check ./mine --account alice --patience 30s\n" +
			"  switchyard plugin check ./cheapest.py --no-tls --json",
		Args: onePlugin,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			file.path = args[0]
			if s.Spec, err = file.spec(); err != nil {
				return err
			}
			if verbose {
				s.Log = a.stderr
			}
			return a.checkPlugin(cmd.Context(), &s)
		},
	}
	file.addTo(cmd)
	cmd.Flags().StringVar(&s.Account, "account", "", "account that runs the jobs of a local scheduler (default: your own; for root, nobody)")
	cmd.Flags().DurationVar(&s.Patience, "patience", localschedtest.DefaultTimeout, "timeout for immediate actions of a local scheduler")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "print the output of the plugin")
	return a.query(cmd)
}

func (a *app) checkPlugin(ctx context.Context, s *suite.Suite) error {
	results, err := s.Run(ctx, a.showCase)
	if err != nil {
		return err
	}
	done := checkedJSON{Plugin: s.Spec.Path, Kind: string(s.Spec.Kind)}
	skipped := 0
	for _, r := range results {
		one := resultOf(r)
		done.Cases = append(done.Cases, one)
		switch one.Result {
		case "failed":
			done.Failed++
		case "skipped":
			skipped++
		}
	}
	err = a.showText(done, func() string {
		return fmt.Sprintf("\n%s: %d of %d failed, %d skipped\n", console.Plain(s.Spec.Name), done.Failed, len(results), skipped)
	})
	if err == nil && done.Failed > 0 {
		return &exitError{code: exitFailed}
	}
	return err
}

// caseJSON is how a case went, as JSON.
type caseJSON struct {
	Name     string            `json:"name"`
	Result   string            `json:"result"` // "ok", "failed" or "skipped"
	Reason   string            `json:"reason,omitempty"`
	Duration protocol.Duration `json:"duration_ms"`
}

func resultOf(r conformance.Result) caseJSON {
	one := caseJSON{Name: r.Name, Result: "ok", Duration: protocol.DurationOf(r.Duration)}
	switch {
	case r.Err != nil:
		one.Result, one.Reason = "failed", r.Err.Error()
	case r.Skipped != "":
		one.Result, one.Reason = "skipped", r.Skipped
	}
	return one
}

// show tells how a case went as soon as it did.
func (a *app) showCase(r conformance.Result) {
	if a.json {
		return
	}
	one := resultOf(r)
	a.printf("%-7s  %s\n", one.Result, console.Plain(one.Name))
	if one.Reason != "" {
		a.printf("         %s\n", strings.ReplaceAll(console.PlainLines(one.Reason), "\n", "\n         "))
	}
}

// checkedJSON is what plugin check prints as JSON.
type checkedJSON struct {
	Plugin string     `json:"plugin"`
	Kind   string     `json:"kind"`
	Failed int        `json:"failed"`
	Cases  []caseJSON `json:"cases"`
}
