package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/recordedgrid"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fromRecord is one call of sim from-record.
type fromRecord struct {
	app        *app
	sites      []string // configurations
	policy     string
	initiation string
	out        string
	tolerance  time.Duration
}

func (a *app) simFromRecordCommand() *cobra.Command {
	f := fromRecord{app: a}
	cmd := &cobra.Command{
		Use:   "from-record RECORD... --site CONFIG...",
		Short: "Simulate the recordings of a grid, and compare each job",
		Long: "Simulate the recordings of all sites of a grid, files of peer --record or directories of them, and compare\n" +
			"each job: its site, its start and its wait. The experiment has the submissions and run times of the\n" +
			"recordings, the latencies of messages, records, calls, starts and ends, and the phase of the checks of\n" +
			"utilization. --site names the configuration of each site, for its local scheduler.\n\n" +
			"Each difference has a class: \"tie\", the policy chooses the other site if quotes differ by the noise of\n" +
			"messages; \"latency\", an event is within that noise of the decision, or the start is as late as measured;\n" +
			"\"consequence\", an earlier job with a difference was still pending or running; or \"other\". If there is one of\n" +
			"the class other, the exit code is 1.\n\n" +
			"--policy and --initiation simulate the same jobs under another policy. The differences then have no classes.\n" +
			"--out keeps the experiment, for sim run.",
		Example: "  switchyard sim from-record north.rec south.rec --site north.toml --site south.toml\n" +
			"  switchyard sim from-record /var/log/switchyard/recordings --site /etc/switchyard/sites/north --site /etc/switchyard/sites/south\n" +
			"  switchyard sim from-record *.rec --site north.toml --site south.toml --policy mcmf\n" +
			"  switchyard sim from-record *.rec --site north.toml --site south.toml --out yesterday && switchyard sim run yesterday/experiment.toml",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usage("%s requires recordings, the files of peer --record of all sites of a grid", cmd.CommandPath())
			case len(f.sites) == 0:
				return usage("%s requires --site, the configuration of each site", cmd.CommandPath())
			case f.tolerance < 0:
				return usage("--tolerance must not be negative")
			}
			if f.policy != "" {
				if err := chosen("policy", f.policy, config.PolicyNames()...); err != nil {
					return err
				}
			}
			if f.initiation != "" {
				return chosen("initiation", f.initiation, config.Initiations()...)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			configs, err := f.configs()
			if err != nil {
				return err
			}
			grid, err := recordedgrid.Read(args)
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), grid, configs)
		},
	}
	cmd.Flags().StringArrayVar(&f.sites, "site", nil, "configuration of a site, a file or a directory of files; repeatable")
	choice(cmd, &f.policy, "policy", "", "policy of all sites instead of the recorded ones", config.PolicyNames()...)
	choice(cmd, &f.initiation, "initiation", "", "what opens rounds at all sites instead of what was recorded", config.Initiations()...)
	cmd.Flags().StringVar(&f.out, "out", "", "write the experiment to this new directory")
	cmd.Flags().DurationVar(&f.tolerance, "tolerance", 500*time.Millisecond, "maximum difference of equal starts")
	return a.query(cmd)
}

// configs are the configurations by their sites.
func (f *fromRecord) configs() (map[protocol.SiteName]string, error) {
	configs := map[protocol.SiteName]string{}
	for _, path := range f.sites {
		one, err := config.LoadElsewhere(path)
		if err != nil {
			return nil, err
		}
		if configs[one.Site.Name] != "" {
			return nil, usage("--site: two configurations of site %s, %s and %s", one.Site.Name, configs[one.Site.Name], path)
		}
		configs[one.Site.Name] = path
	}
	return configs, nil
}

// under names what is not as recorded; empty: nothing.
func (f *fromRecord) under() string {
	switch {
	case f.policy == "":
		return f.initiation
	case f.initiation == "":
		return f.policy
	}
	return f.policy + ", " + f.initiation
}

// run simulates the grid and compares.
func (f *fromRecord) run(ctx context.Context, grid *recordedgrid.Grid, configs map[protocol.SiteName]string) (err error) {
	dir := f.out
	if dir == "" {
		if dir, err = os.MkdirTemp("", "switchyard-record-"); err != nil {
			return fmt.Errorf("make a directory for the experiment: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if err = os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // like any other results
		return fmt.Errorf("make the directory for the experiment: %w", err)
	}
	if err = grid.Write(dir, configs, recordedgrid.Change{Policy: f.policy, Initiation: policy.Initiation(f.initiation)}); err != nil {
		return err
	}
	plan, err := experiment.Read(filepath.Join(dir, recordedgrid.File))
	if err != nil {
		return err
	}
	for _, note := range grid.Notes {
		f.app.notice("%s", console.Plain(note))
	}
	if err = f.app.open(plan); err != nil {
		return err
	}
	step, end := f.app.progressOf("recorded jobs")
	outcome, err := plan.Run(ctx, plan.Scheme, uint64(plan.Seed), step) //nolint:gosec // checked: not negative
	end()
	if err != nil {
		return err
	}
	compared, err := grid.Compare(ctx, outcome, protocol.DurationOf(f.tolerance), f.under() == "")
	if err != nil {
		return err
	}
	return f.show(compared.Report(f.under()))
}

func (f *fromRecord) show(report *recordedgrid.Report) error {
	if f.app.json {
		if err := f.app.printJSON(report); err != nil {
			return err
		}
	} else {
		f.app.printf("%s", console.PlainLines(report.Text()))
	}
	if report.Unexplained() > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}
