package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	queueFinished = 1000 // ended jobs that are listed by their state
	mostFinished  = 10_000
)

// queueOptions are the options of queue, as they are given.
type queueOptions struct {
	mine, guests, lines  bool
	users, jobs, states  []string
	names, sites         []string
	format, after        string
	application          string
	applications         bool
	finished, limit      int
	finishedSet, nothing bool // nothing: no job can be in one of the states
}

func (a *app) queueCommand() *cobra.Command {
	var o queueOptions
	cmd := &cobra.Command{
		Use:     "queue",
		Aliases: []string{"q"},
		Short:   "List the jobs that wait and run",
		Long: "List the jobs of this site's users, wherever they are. SITE is where a job has been placed,\n" +
			"- while it waits in the grid queue. --guests lists the jobs of other sites that are here.\n\n" +
			"Lists have commas between their values. The letters, and the long names --noheader, --me and\n" +
			"--nodelist, are those of Slurm's squeue, and so is --format: text with columns as %i or %.18i.\n\n" +
			display.FormatColumns(),
		Example: "  switchyard queue\n  switchyard queue --mine --json\n  switchyard queue --guests\n" +
			"  switchyard queue -h -u ada -t PD,R -o '%i %t %M'\n" +
			"  switchyard queue -t failed,timeout --finished=50",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.finishedSet = cmd.Flags().Changed("finished")
			return a.listQueue(cmd.Context(), &o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.mine, "mine", false, "only your own jobs")
	flags.BoolVar(&o.guests, "guests", false, "the jobs of other sites that are here")
	flags.StringSliceVarP(&o.users, "user", "u", nil, "only the jobs of these `users`")
	flags.StringSliceVarP(&o.jobs, "jobs", "j", nil, "only the jobs with these `ids`; one that is not there is left out")
	flags.StringSliceVarP(&o.states, "states", "t", nil, "only jobs in these `states`, as PD,R or failed, or all; with one that is terminal, jobs that have ended too")
	flags.StringSliceVarP(&o.names, "name", "n", nil, "only jobs with these `names`")
	flags.StringSliceVarP(&o.sites, "site", "w", nil, "only jobs that these `sites` have; - is the grid queue")
	flags.StringVar(&o.application, "application", "", "only the components of the application of the job with this `id`")
	flags.BoolVar(&o.applications, "applications", false, "list applications instead of jobs, each as one")
	flags.StringVarP(&o.format, "format", "o", "", "print each job in this `format` instead of the table")
	flags.IntVar(&o.finished, "finished", 0, "list so many jobs that have ended, too, and what jobs were quoted and billed")
	flags.IntVar(&o.limit, "limit", 0, "list at most so many jobs, those with the least ids")
	flags.StringVar(&o.after, "after", "", "list jobs with greater ids than this `id`: the next page of --limit")
	flags.BoolVar(&o.lines, "json-lines", false, "print each job as a line of JSON, as soon as it is there")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	flags.BoolVarP(&a.noHeader, "no-header", "h", false, "print no column titles")
	flags.Bool("help", false, "help for queue") // without cobra's -h
	flags.SetNormalizeFunc(slurmName)
	return cmd
}

// slurmName has squeue's long names mean what they mean there.
func slurmName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "noheader":
		name = "no-header"
	case "nodelist":
		name = "site"
	case "me":
		name = "mine"
	case "job":
		name = "jobs"
	case "state":
		name = "states"
	}
	return pflag.NormalizedName(name)
}

// listing is what the options ask the peer for.
func (o *queueOptions) listing() (wanted api.Listing, err error) {
	wanted.Guests, wanted.Finished, wanted.Limit = view.WithoutGuests, o.finished, o.limit
	if o.guests {
		wanted.Guests = view.OnlyGuests
	}
	if err = o.notEmpty(); err != nil {
		return wanted, err
	}
	wanted.Users, wanted.Names = o.users, o.names
	if o.mine {
		wanted.Users = append(slices.Clone(o.users), userName())
	}
	if wanted.Jobs, err = jobIDs(o.jobs); err != nil {
		return wanted, err
	}
	if wanted.Sites, err = o.readSites(); err != nil {
		return wanted, err
	}
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

// notEmpty: an empty list would list nothing, or everything.
func (o *queueOptions) notEmpty() error {
	for _, list := range []struct {
		name   string
		values []string
	}{{"user", o.users}, {"jobs", o.jobs}, {"states", o.states}, {"name", o.names}, {"site", o.sites}} {
		if list.values != nil && (len(list.values) == 0 || slices.Contains(list.values, "")) {
			return usage("--%s has an empty value", list.name)
		}
	}
	return nil
}

// readSites are the sites that jobs are to be at; of those in the grid queue none.
func (o *queueOptions) readSites() (sites []protocol.SiteName, err error) {
	for _, name := range o.sites {
		site := protocol.SiteName(name)
		if name == "-" {
			site = ""
		} else if err = site.Validate(); err != nil {
			return nil, usage("--site: %w", err)
		}
		sites = append(sites, site)
	}
	return sites, nil
}

func (o *queueOptions) check(wanted *api.Listing) error {
	switch {
	case o.finished < 0 || o.finished > mostFinished:
		return usage("--finished=%d: say how many ended jobs to list, from 1 to %d", o.finished, mostFinished)
	case o.limit < 0:
		return usage("--limit=%d: say how many jobs to list, from 1 on", o.limit)
	case o.applications && (o.format != "" || o.lines || wanted.Finished > 0 || o.limit > 0):
		return usage("--applications lists those that have not ended, as a table or with --json; leave out --format, --json-lines, --finished and --limit")
	case o.limit > 0 && wanted.Finished > 0:
		return usage("--limit is for jobs that have not ended; use --finished to say how many of those that have")
	}
	return nil
}

// readStates reads --states. Terminal ones list jobs that have ended, too.
func (o *queueOptions) readStates(wanted *api.Listing) error {
	terminal := false
	for _, name := range o.states {
		if strings.EqualFold(name, "all") {
			wanted.States, o.nothing, terminal = nil, false, true
			break
		}
		state, known := display.ParseState(name)
		switch {
		case !known:
			return usage("--states: %q is no state; there are all and %s", name, display.StateNames())
		case state == 0:
			o.nothing = len(wanted.States) == 0
			continue
		}
		o.nothing, terminal = false, terminal || state.Terminal()
		wanted.States = append(wanted.States, state)
	}
	if terminal && !o.finishedSet {
		wanted.Finished = queueFinished
	}
	return nil
}

func (a *app) listQueue(ctx context.Context, o *queueOptions) error {
	wanted, err := o.listing()
	if err != nil {
		return err
	}
	if wanted.Application != 0 { // that of the first component names it
		job, lookErr := a.client().Job(ctx, wanted.Application)
		if lookErr != nil {
			return lookErr
		}
		if job.Application == 0 {
			return &exitError{exitNotFound, fmt.Errorf("job %v is not part of an application", wanted.Application)}
		}
		wanted.Application = job.Application
	}
	return a.showQueue(ctx, o, &wanted)
}

// showQueue prints the jobs that are wanted, as the options say.
func (a *app) showQueue(ctx context.Context, o *queueOptions, wanted *api.Listing) error {
	format, err := display.ParseFormat(o.format)
	if err != nil {
		return usage("%w", err)
	}
	show, whole := a.queuePrinter(o, format)
	whole = whole || o.nothing || a.json || wanted.Finished > 0 // those that have ended come last, and go first
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

// queuePrinter prints jobs as the options say; whole is when it must have all at once.
func (a *app) queuePrinter(o *queueOptions, format display.Format) (show func([]view.Job) error, whole bool) {
	switch {
	case o.lines:
		return a.jobLines, false
	case o.format != "":
		if !a.noHeader && !a.json {
			a.printf("%s\n", format.Header())
		}
		return func(jobs []view.Job) error { return a.formatted(format, jobs) }, false
	}
	return func(jobs []view.Job) error {
		return display.Queue(jobs, a.now(), o.finishedSet).Write(a.stdout, "", !a.noHeader)
	}, true
}

// jobLines prints each job as a line of JSON.
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
