package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	defaultRecent = 1000 // finished jobs that a terminal state in --states lists
	maxRecent     = 10_000
)

// queueOptions are the options of queue as given.
type queueOptions struct {
	jobConditions

	lines, elements    bool
	format, after      string
	application        string
	starts             bool
	applications       bool
	recent, limit      int
	recentSet, nothing bool // nothing: no job can be in any of the requested states
}

func (a *app) queueCommand() *cobra.Command {
	var o queueOptions
	cmd := &cobra.Command{
		Use:         "queue",
		Annotations: anyPeer(),
		Aliases:     []string{"q"},
		Short:       "List pending and running jobs",
		Long: "List the active jobs of this origin at all sites. SITE is the site that has the job, or - while\n" +
			"it is in the grid queue. --guests lists the jobs of other origins at this site.\n\n" +
			"Pending elements of a job array are one line, ID_[1-5,9], or one for each site that they wait at.\n\n" +
			"Separate the values of a list with commas. Short options, and --noheader, --me, --nodelist and\n" +
			"--format, are those of Slurm's squeue; a format is text with columns such as %i or %.18i.\n\n" +
			display.FormatColumns(),
		Example: "  switchyard queue\n  switchyard queue --mine --json\n  switchyard queue --guests\n" +
			"  switchyard queue -h -u ada -t PD,R -o '%i %t %M'\n" +
			"  switchyard queue -t failed,timeout --recent=50",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.recentSet = cmd.Flags().Changed("recent")
			return a.listQueue(cmd.Context(), &o)
		},
	}
	flags := cmd.Flags()
	o.addTo(flags, conditionTexts{
		guests:       "list guests: jobs of other origins at this site",
		sites:        "only jobs at these `sites`; - is the grid queue",
		states:       "only jobs in these `states`, for example PD,R or failed, or all; a terminal state also lists finished jobs",
		statesLetter: "t", nameLetter: "n",
	})
	flags.BoolVarP(&o.elements, "array", "r", false, "list each pending element of an array by itself")
	flags.StringVar(&o.application, "application", "", "only components of the application of the job with this `ID`")
	flags.BoolVar(&o.applications, "applications", false, "list applications instead of jobs")
	flags.StringVarP(&o.format, "format", "o", "", "print each job in this `format`")
	flags.IntVar(&o.recent, "recent", 0, "also list the last `N` finished jobs, and the columns QUOTED and BILLED")
	flags.IntVar(&o.limit, "limit", 0, "list at most `N` jobs, those with the lowest IDs")
	flags.StringVar(&o.after, "after", "", "list jobs with higher IDs than this `ID`: the next page of --limit")
	flags.BoolVar(&o.starts, "start", false, "list pending jobs with their expected starts, the soonest first")
	flags.BoolVar(&o.lines, "json-lines", false, "print each job as one line of JSON, as it arrives")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	flags.BoolVarP(&a.noHeader, "no-header", "h", false, "omit the column titles")
	flags.Bool("help", false, "help for queue") // without cobra's -h
	return cmd
}

// listing returns the request to the peer.
func (o *queueOptions) listing(ctx context.Context, a *app) (wanted api.Listing, err error) {
	if err = o.read(ctx, a); err != nil {
		return wanted, err
	}
	wanted.Users, wanted.Named, wanted.Names, wanted.Sites, wanted.Guests = o.users, o.jobs, o.names, o.sites, o.guestFilter()
	wanted.Finished, wanted.Limit, wanted.Elements = o.recent, o.limit, o.elements
	if o.application != "" {
		if wanted.Application, err = protocol.ParseJobID(o.application); err != nil {
			return wanted, usage("--application: %w", err)
		}
	}
	if o.after != "" {
		if wanted.After, err = protocol.ParseJobID(o.after); err != nil {
			return wanted, usage("--after: %w", err)
		}
	}
	if err = o.readStates(&wanted); err != nil {
		return wanted, err
	}
	return wanted, o.check(&wanted)
}

func (o *queueOptions) check(wanted *api.Listing) error {
	switch {
	case o.recent < 0 || o.recent > maxRecent:
		return usage("invalid --recent=%d; use a number from 1 to %d", o.recent, maxRecent)
	case o.limit < 0:
		return usage("invalid --limit=%d; use a number above 0", o.limit)
	case o.starts && o.notStarts():
		return usage("--start cannot be combined with --applications, --format, --states, --recent and --limit: it lists all pending jobs by their starts")
	case o.applications && (o.format != "" || o.lines || wanted.Finished > 0 || o.limit > 0):
		return usage("--applications cannot be combined with --format, --json-lines, --recent and --limit")
	case o.limit > 0 && wanted.Finished > 0:
		return usage("--limit applies to active jobs only; use --recent for finished ones")
	}
	return nil
}

// notStarts says whether there are options that --start excludes.
func (o *queueOptions) notStarts() bool {
	return o.applications || o.format != "" || len(o.inState) > 0 || o.recentSet || o.limit > 0
}

// readStates reads --states. Terminal states also list finished jobs.
func (o *queueOptions) readStates(wanted *api.Listing) error {
	terminal := false
	for _, name := range o.inState {
		if strings.EqualFold(name, "all") {
			wanted.States, o.nothing, terminal = nil, false, true
			break
		}
		state, known := slurmtext.ParseState(name)
		switch {
		case !known:
			return usage("--states: unknown state %q; use all or %s", name, display.StateNames())
		case state == 0:
			o.nothing = len(wanted.States) == 0
			continue
		}
		o.nothing, terminal = false, terminal || state.Terminal()
		wanted.States = append(wanted.States, state)
	}
	if o.starts {
		wanted.States = []protocol.State{protocol.Pending}
		return nil
	}
	if terminal && !o.recentSet {
		wanted.Finished = defaultRecent
	}
	return nil
}

func (a *app) listQueue(ctx context.Context, o *queueOptions) error {
	wanted, err := o.listing(ctx, a)
	if err != nil {
		return err
	}
	if wanted.Application != 0 { // an application has the ID of its first component
		job, lookErr := a.client().Job(ctx, protocol.JobName{Job: wanted.Application})
		if lookErr != nil {
			return lookErr
		}
		if job.Application == 0 {
			return &exitError{exitNotFound, fmt.Errorf("job %v is not a component of an application", wanted.Application)}
		}
		wanted.Application = job.Application
	}
	return a.showQueue(ctx, o, &wanted)
}

// showQueue prints the requested jobs.
func (a *app) showQueue(ctx context.Context, o *queueOptions, wanted *api.Listing) error {
	format, err := display.ParseFormat(o.format)
	if err != nil {
		return usage("%w", err)
	}
	show, whole := a.queuePrinter(o, format)
	whole = whole || o.starts || o.nothing || a.json || wanted.Finished > 0 // finished jobs arrive last and are printed first
	if !whole {
		_, err = a.client().QueuePages(ctx, *wanted, show)
		return err
	}
	all := view.Queue{Jobs: []view.Job{}}
	if !o.nothing {
		all, err = a.client().WholeQueue(ctx, *wanted)
	}
	switch {
	case err != nil:
		return err
	case o.applications:
		return a.listApplications(all.Jobs)
	case a.json && !o.lines:
		return a.printJSON(all)
	}
	return show(all.Jobs)
}

// queuePrinter returns the function that prints jobs in the requested form. Whole is true if it needs
// all jobs in one call.
func (a *app) queuePrinter(o *queueOptions, format display.Format) (show func([]view.Job) error, whole bool) {
	switch {
	case o.lines:
		return a.jobLines, false
	case o.starts:
		return func(jobs []view.Job) error {
			return display.Starts(jobs, a.now()).Write(a.stdout, "", !a.noHeader)
		}, true
	case o.format != "":
		if !a.noHeader && !a.json {
			a.printf("%s\n", format.Header())
		}
		return func(jobs []view.Job) error { return a.formatted(format, jobs) }, false
	}
	return func(jobs []view.Job) error {
		return display.Queue(jobs, a.now(), o.recentSet).Write(a.stdout, "", !a.noHeader)
	}, true
}

// jobLines prints each job as one line of JSON.
func (a *app) jobLines(jobs []view.Job) error {
	out := json.NewEncoder(a.stdout)
	out.SetEscapeHTML(false)
	for i := range jobs {
		if err := out.Encode(&jobs[i]); err != nil {
			return fmt.Errorf("print JSON: %w", err)
		}
	}
	return nil
}

func (a *app) formatted(format display.Format, jobs []view.Job) error {
	var out strings.Builder
	for i := range jobs {
		out.WriteString(format.Line(&jobs[i], a.now()))
		out.WriteByte('\n')
	}
	a.printf("%s", out.String())
	return nil
}
