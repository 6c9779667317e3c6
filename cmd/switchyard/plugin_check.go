package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/localschedtest"
	"github.com/switchyard-hpc/switchyard/plugins/catalog"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policytest"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/pricetest"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// pluginCheck is one call of plugin check.
type pluginCheck struct {
	app      *app
	file     pluginFile
	account  string
	patience time.Duration
	verbose  bool

	spec catalog.Spec
	dir  string // where jobs of the suite write
}

func (a *app) pluginCheckCommand() *cobra.Command {
	c := pluginCheck{app: a}
	cmd := &cobra.Command{
		Use:   "check PATH",
		Short: "Run the conformance suite of a plugin's kind on it",
		Long: "Start a plugin as a peer would and run what every plugin of its kind must do: repeated calls,\n" +
			"restarts, races, extreme and senseless input, equal output for equal input. A local scheduler\n" +
			"runs real small jobs, as the account of --account, and needs its machine for itself; one that\n" +
			"can be simulated is checked as an engine too. Exit code 1 when a case fails.",
		Example: "  switchyard plugin check ./cheapest --config cheapest.toml\n" +
			"  switchyard plugin check ./mine --account alice --patience 30s\n" +
			"  switchyard plugin check ./cheapest.py --plain --json",
		Args: onePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.file.path = args[0]
			return c.run(cmd.Context())
		},
	}
	c.file.addTo(cmd)
	cmd.Flags().StringVar(&c.account, "account", "", "account that runs the jobs of a local scheduler (your own; nobody for root)")
	cmd.Flags().DurationVar(&c.patience, "patience", localschedtest.DefaultPatience, "how long a local scheduler may take for what must happen at once")
	cmd.Flags().BoolVarP(&c.verbose, "verbose", "v", false, "show what the plugin writes")
	return a.query(cmd)
}

func (c *pluginCheck) run(ctx context.Context) (err error) {
	scratch, err := os.MkdirTemp("", "switchyard-check-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err = os.Chmod(scratch, 0o711); err != nil { //nolint:gosec // the jobs' account passes through
		return err
	}
	if c.spec, err = c.file.spec(sdk.Host{
		Site: "check", StateDir: filepath.Join(scratch, "state"), Software: "switchyard " + version,
	}); err != nil {
		return err
	}
	if err = os.Mkdir(c.spec.Host.StateDir, 0o711); err != nil { //nolint:gosec // likewise
		return err
	}
	c.dir = filepath.Join(scratch, "jobs")
	cases, err := c.cases(ctx)
	if err != nil {
		return err
	}
	return c.report(conformance.Run(ctx, cases, c.show))
}

// open starts the plugin anew.
func (c *pluginCheck) open(ctx context.Context) (*catalog.Plugin, error) {
	to := io.Discard
	if c.verbose {
		to = c.app.stderr
	}
	return startPlugin(ctx, c.spec, to)
}

// cases are those of the plugin's kind, and those of every plugin.
func (c *pluginCheck) cases(ctx context.Context) ([]conformance.Case, error) {
	first, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	info := first.Info()
	if err = first.Close(); err != nil {
		return nil, err
	}
	c.spec.Kind = info.Kind
	common := []conformance.Case{{Name: "an unknown key of the configuration is reported", Run: c.unknownKey}}
	switch info.Kind {
	case catalog.PolicyKind:
		return append(common, policytest.Cases(policytest.Target{Open: c.openPolicy})...), nil
	case catalog.FeedKind:
		return append(common, pricetest.Cases(pricetest.Target{Open: c.openFeed})...), nil
	case catalog.SchedulerKind, catalog.AnyKind:
	}
	schedulers, err := c.schedulerCases()
	if err != nil {
		return nil, err
	}
	all := append(common, schedulers...)
	if info.Can(catalog.Simulate) {
		all = append(all, localschedtest.EngineCases(localschedtest.EngineTarget{Open: c.openEngine})...)
	}
	return all, nil
}

func (c *pluginCheck) schedulerCases() ([]conformance.Case, error) {
	account, err := testbed.JobAccount()
	if err != nil {
		return nil, err
	}
	if err := testbed.MakeShared(c.dir); err != nil {
		return nil, err
	}
	if c.account == "" {
		c.account = account.Username
	}
	return localschedtest.Cases(localschedtest.Target{
		Open: c.openScheduler, Account: c.account, Dir: c.dir, Patience: c.patience, Restart: true,
	}), nil
}

// unknownKey checks that a plugin does not pass over what it does not know.
func (c *pluginCheck) unknownKey(ctx context.Context) error {
	const key = "no_such_key_anywhere"
	spec := c.spec
	spec.Config = key + " = 1\n" + spec.Config
	started, err := startPlugin(ctx, spec, io.Discard)
	if err == nil {
		return errors.Join(errors.New("the plugin takes a configuration with a key that it cannot know"), started.Close())
	}
	if !strings.Contains(err.Error(), key) {
		return fmt.Errorf("the plugin refuses the configuration, but does not name the key %s: %w", key, err)
	}
	return nil
}

// ownProcess ends with what a suite opened: each has a process of its own.
type ownProcess struct{ plugin *catalog.Plugin }

// Close implements [io.Closer].
func (o ownProcess) Close() error { return o.plugin.Close() }

func (c *pluginCheck) openPolicy(ctx context.Context) (policy.Policy, error) {
	started, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	return struct {
		policy.Policy
		ownProcess
	}{started.Policy(), ownProcess{started}}, nil
}

func (c *pluginCheck) openFeed(ctx context.Context) (price.Feed, error) {
	started, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	return struct {
		price.Feed
		ownProcess
	}{started.Feed(), ownProcess{started}}, nil
}

func (c *pluginCheck) openScheduler(ctx context.Context) (localsched.Scheduler, error) {
	started, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	scheduler, own := started.Scheduler(), ownProcess{started}
	if reserver, holds := scheduler.(localsched.Reserver); holds {
		return struct {
			localsched.Scheduler
			localsched.Reserver
			ownProcess
		}{scheduler, reserver, own}, nil
	}
	return struct {
		localsched.Scheduler
		ownProcess
	}{scheduler, own}, nil
}

func (c *pluginCheck) openEngine(machine protocol.Capacity) (localsched.Engine, error) {
	spec := c.spec
	spec.Host.Site, spec.Host.StateDir = "", "" // as in the simulator
	started, err := startPlugin(context.Background(), spec, io.Discard)
	if err != nil {
		return nil, err
	}
	made, err := started.Engine(machine)
	if err != nil {
		return nil, errors.Join(err, started.Close())
	}
	return struct {
		localsched.Engine
		ownProcess
	}{made, ownProcess{started}}, nil
}

// caseJSON is how a case went, as JSON.
type caseJSON struct {
	Name    string            `json:"name"`
	Result  string            `json:"result"` // "ok", "failed" or "skipped"
	Why     string            `json:"why,omitempty"`
	Seconds protocol.Duration `json:"took_ms"`
}

func resultOf(r conformance.Result) caseJSON {
	one := caseJSON{Name: r.Name, Result: "ok", Seconds: protocol.DurationOf(r.Took)}
	switch {
	case r.Err != nil:
		one.Result, one.Why = "failed", r.Err.Error()
	case r.Skipped != "":
		one.Result, one.Why = "skipped", r.Skipped
	}
	return one
}

// show tells how a case went as soon as it did.
func (c *pluginCheck) show(r conformance.Result) {
	if c.app.json {
		return
	}
	one := resultOf(r)
	c.app.printf("%-7s  %s\n", one.Result, console.Plain(one.Name))
	if one.Why != "" {
		c.app.printf("         %s\n", strings.ReplaceAll(console.PlainLines(one.Why), "\n", "\n         "))
	}
}

// checkedJSON is what plugin check prints as JSON.
type checkedJSON struct {
	Plugin string     `json:"plugin"`
	Kind   string     `json:"kind"`
	Failed int        `json:"failed"`
	Cases  []caseJSON `json:"cases"`
}

func (c *pluginCheck) report(results []conformance.Result) error {
	done := checkedJSON{Plugin: c.spec.Path, Kind: string(c.spec.Kind)}
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
	if c.app.json {
		if err := c.app.printJSON(done); err != nil {
			return err
		}
	} else {
		c.app.printf("\n%s: %d of %d failed, %d skipped\n", console.Plain(c.file.path), done.Failed, len(results), skipped)
	}
	if done.Failed > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}
