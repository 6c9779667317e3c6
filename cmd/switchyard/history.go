package main

import (
	"context"
	"encoding/csv"
	"slices"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/quantity"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// pastOptions say which of the jobs that have ended are wanted, as given.
type pastOptions struct {
	jobConditions

	accounts, origins             []string
	since, until                  string
	limit                         int
	csv, lines, formerAll, noJobs bool // noJobs: no job can be in any of the requested states
	duplicates                    bool // all runs of jobs that were requeued
}

// pastTimes explains the options for a period.
const pastTimes = "A period is that of the ends of the jobs: --since=2026-11-01 --until=2026-12-01 is November. Times are\n" +
	"those of sacct: 2026-11-28, 2026-11-28T09:30, 09:30 (of today), today, now-2days."

func (o *pastOptions) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.jobConditions.addTo(flags, conditionTexts{
		guests:       "jobs of other origins that ran at this site, instead of those of this origin",
		sites:        "only jobs that ran at these `sites`; - is none",
		states:       "only jobs that ended in these `states`, for example CD,F or timeout",
		statesLetter: "s",
	})
	flags.StringSliceVarP(&o.accounts, "account", "A", nil, "only jobs with these `accounts`")
	flags.StringSliceVar(&o.origins, "origin", nil, "only jobs of these origins, by `site`")
	flags.StringVarP(&o.since, "since", "S", "", "only jobs that ended at this `time` or later")
	flags.StringVarP(&o.until, "until", "E", "", "only jobs that ended before this `time`")
	flags.BoolVar(&o.csv, "csv", false, "print CSV, with times in UTC")
}

// filter returns the conditions for the peer.
func (o *pastOptions) filter(ctx context.Context, a *app) (f api.Past, err error) {
	if err = notEmpty([]givenList{{"account", o.accounts}, {"origin", o.origins}}); err != nil {
		return f, err
	}
	if err = o.read(ctx, a); err != nil {
		return f, err
	}
	f.Users, f.Named, f.Names, f.Sites, f.Accounts, f.Guests = o.users, o.jobs, o.names, o.sites, o.accounts, o.guestFilter()
	f.Earlier = o.duplicates
	if f.Origins, err = readSites("origin", o.origins); err != nil {
		return f, err
	}
	if err = o.readStates(&f.HistoryFilter); err != nil {
		return f, err
	}
	return f, o.readPeriod(a, &f.HistoryFilter)
}

func (o *pastOptions) readStates(f *view.HistoryFilter) error {
	for _, name := range o.inState {
		state, known := slurmtext.ParseState(name)
		switch {
		case !known:
			return usage("--states: unknown state %q; use %s", name, display.StateNames())
		case state == 0: // one of Slurm's that no job has here
		case !state.Terminal():
			return usage("--states: no job ends as %v; \"switchyard queue\" lists pending and running jobs", state)
		default:
			f.States = append(f.States, state)
		}
	}
	o.noJobs = len(o.inState) > 0 && len(f.States) == 0
	return nil
}

func (o *pastOptions) readPeriod(a *app, f *view.HistoryFilter) error {
	for _, one := range []struct {
		name, text string
		to         *protocol.Instant
	}{{"since", o.since, &f.Since}, {"until", o.until, &f.Until}} {
		if one.text == "" {
			continue
		}
		at, err := quantity.ParseInstant(one.text, a.now(), quantity.Behind)
		if err != nil {
			return usage("--%s: %.60q %w", one.name, one.text, err)
		}
		*one.to = max(1, at) // nothing has ended before 1970
	}
	if o.until != "" && f.Until <= f.Since {
		return usage("--until=%s is not after --since: no job can have ended between them", o.until)
	}
	return nil
}

func (a *app) historyCommand() *cobra.Command {
	var o pastOptions
	cmd := &cobra.Command{
		Use:         "history",
		Annotations: anyPeer(),
		Short:       "List jobs that have ended",
		Long: "List the jobs of this origin that have ended, the last one first, at whichever site they ran, for as\n" +
			"long as [retention] of the site keeps them. --guests lists the jobs of other origins that ran here.\n" +
			"Of a job that ran more than once the last run is listed, with --duplicates each run.\n\n" + pastTimes + "\n\n" +
			"Separate the values of a list with commas. EXIT is the exit code and the signal, RAN the time that\n" +
			"the job ran. --csv and --json have all that is known of a job, --json-lines prints each as it arrives.",
		Example: "  switchyard history --since=today\n  switchyard history -u ada -s failed,timeout --limit=20\n" +
			"  switchyard history -S 2026-11-01 -E 2026-12-01 --csv >november.csv\n  switchyard history --guests --origin=north",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("%s takes no arguments, got %q; the run history of components is \"switchyard runs %s\" now", cmd.CommandPath(), args[0], args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listHistory(cmd.Context(), &o) },
	}
	o.addTo(cmd)
	flags := cmd.Flags()
	flags.IntVar(&o.limit, "limit", 0, "list at most `N` jobs, those that ended last")
	flags.BoolVarP(&o.duplicates, "duplicates", "D", false, "list all runs of jobs that were requeued, with their epochs")
	flags.BoolVar(&o.lines, "json-lines", false, "print each job as one line of JSON, as it arrives")
	flags.BoolVar(&o.formerAll, "all", false, "")
	_ = flags.MarkHidden("all") // which exists
	return a.listing(cmd)
}

func (a *app) listHistory(ctx context.Context, o *pastOptions) error {
	filter, err := o.filter(ctx, a)
	if err == nil {
		err = o.checkListing(a.json)
	}
	if err != nil {
		return err
	}
	show := a.historyPrinter(o)
	all := view.History{Jobs: []view.Job{}}
	shown := o.lines || a.json
	if !o.noJobs {
		err = a.client().HistoryPages(ctx, filter, o.limit, func(jobs []view.Job) error {
			if a.json {
				all.Jobs = append(all.Jobs, jobs...)
				return nil
			}
			shown = true
			return show(jobs)
		})
	}
	if err == nil && !shown {
		err = show(nil) // the titles
	}
	if err == nil {
		all.Pruned, err = a.pruned(ctx, filter)
	}
	if err == nil && a.json {
		err = a.printJSON(all)
	}
	return err
}

// pruned is the last end of a job of those that are wanted which the retention has deleted, and says so if jobs of the period
// are missing therefore.
func (a *app) pruned(ctx context.Context, wanted api.Past) (protocol.Instant, error) {
	if wanted.Since == 0 {
		return 0, nil
	}
	wanted.Limit = 1
	page, err := a.client().History(ctx, wanted)
	a.noticePruned(&wanted, page.Pruned)
	return page.Pruned, err
}

// noticePruned says that jobs of a period are missing if the retention has deleted jobs that ended in it.
func (a *app) noticePruned(wanted *api.Past, pruned protocol.Instant) {
	if wanted.Since != 0 && pruned >= wanted.Since {
		a.notice("incomplete: [retention] has deleted jobs that ended until %s", console.Clock(pruned))
	}
}

func (o *pastOptions) checkListing(asJSON bool) error {
	switch {
	case o.formerAll:
		return usage("history --all was renamed to \"switchyard runs --all\"; history lists the jobs of all users without it")
	case o.limit < 0:
		return usage("invalid --limit=%d; use a number above 0", o.limit)
	case o.csv && asJSON || o.csv && o.lines || o.lines && asJSON:
		return usage("--csv, --json and --json-lines are mutually exclusive")
	}
	return nil
}

// historyPrinter returns the function that prints a page of jobs, the first time with titles.
func (a *app) historyPrinter(o *pastOptions) func([]view.Job) error {
	if o.lines {
		return a.jobLines
	}
	titled := a.noHeader
	return func(jobs []view.Job) error {
		header := !titled
		titled = true
		if !o.csv {
			return display.History(jobs, o.guests, o.duplicates).Write(a.stdout, "", header)
		}
		var titles []string
		if header {
			titles = display.HistoryTitles()
		}
		records := make([][]string, len(jobs))
		for i := range jobs {
			records[i] = display.HistoryRecord(&jobs[i])
		}
		return a.printCSV(titles, records)
	}
}

// printCSV prints records below their titles; nil: without titles.
func (a *app) printCSV(titles []string, records [][]string) error {
	out := csv.NewWriter(a.stdout)
	if titles != nil {
		records = append([][]string{titles}, records...)
	}
	return out.WriteAll(records)
}

func (a *app) usageCommand() *cobra.Command {
	var o pastOptions
	by := []string{"user"}
	cmd := &cobra.Command{
		Use:         "usage",
		Annotations: anyPeer(),
		Short:       "Sum up jobs that have ended",
		Long: "Sum up the jobs of this origin that have ended: CPU hours that were allocated, CPU hours that were\n" +
			"measured, energy and bills. There is a line for each value of the properties of --by, and for each\n" +
			"currency. A job that was requeued counts once for each of its runs. --guests sums up the jobs of other\n" +
			"origins that ran here. A month is that of a job's end, in UTC. Energy is as measured, or else by the power that the site states for the job.\n\n" + pastTimes,
		Example: "  switchyard usage --since=2026-11-01\n  switchyard usage --by=account,month --csv\n" +
			"  switchyard usage --guests --by=origin,state --since=today",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showUsage(cmd.Context(), &o, by) },
	}
	o.addTo(cmd)
	cmd.Flags().StringSliceVar(&by, "by", by, "sum up by these `properties`, of user, account, site, origin, month, state; none: all together")
	return a.listing(cmd)
}

func (a *app) showUsage(ctx context.Context, o *pastOptions, by []string) error {
	filter, err := o.filter(ctx, a)
	if err != nil {
		return err
	}
	if o.csv && a.json {
		return usage("--csv and --json are mutually exclusive")
	}
	if slices.Equal(by, []string{"none"}) {
		by = nil
	}
	known := view.Usage{By: by, Lines: []view.UsageLine{}}
	if !o.noJobs {
		if known, err = a.client().Usage(ctx, filter, by); err != nil {
			return err
		}
		a.noticePruned(&filter, known.Pruned)
	}
	if !o.csv {
		return a.showTable(known, func() *console.Table { return display.Usage(known) })
	}
	titles := display.UsageTitles(known.By)
	if a.noHeader {
		titles = nil
	}
	var records [][]string
	for i := range known.Lines {
		records = append(records, display.UsageRecord(known.By, &known.Lines[i]))
	}
	return a.printCSV(titles, records)
}
