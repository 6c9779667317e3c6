package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
)

func (a *app) eventsCommand() *cobra.Command {
	var jobs, users, kinds []string
	var wanted api.Following
	cmd := &cobra.Command{
		Use:         "events",
		Annotations: anyPeer(),
		Short:       "Print what happens at the site, as it happens",
		Long: "Print what happens at the site, as it happens, until interrupted:\n" +
			"\n" +
			"  job   a job is new, has another state, or is placed at another site\n" +
			"  log   an entry of the event log, as \"switchyard explain\" prints them: quotes, decisions, hand-offs\n" +
			"  site  the load, the health or the machine of a site has changed\n" +
			"\n" +
			"Where users see only their own jobs ([api] private), they get the events of these, and of sites. With\n" +
			"--json each line is an event: its id, its name, and its data as the API has them. --after ID goes on\n" +
			"after the event with that id; an event \"gap\" says if some are not kept any more.",
		Example: "  switchyard events\n  switchyard events --job 1000000000042\n  switchyard events --kind=job --user=ada --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err = notEmpty([]givenList{{"job", jobs}, {"user", users}, {"kind", kinds}}); err != nil {
				return err
			}
			if wanted.Jobs, err = jobNames(jobs); err != nil {
				return err
			}
			wanted.Users = users
			for _, kind := range kinds {
				wanted.Kinds = append(wanted.Kinds, eventstream.Kind(kind))
			}
			return a.client().Events(cmd.Context(), wanted, a.printEvent)
		},
	}
	cmd.Flags().StringSliceVar(&jobs, "job", nil, "only events about these jobs, arrays or elements")
	cmd.Flags().StringSliceVar(&users, "user", nil, "only events about jobs of these users")
	cmd.Flags().StringSliceVar(&kinds, "kind", nil, "only these kinds of events: job, log, site")
	cmd.Flags().StringVar(&wanted.After, "after", "", "go on after the event with this ID; unset: from now on")
	return a.listing(cmd)
}

// printEvent prints an event as a line.
func (a *app) printEvent(e api.Event) error {
	if !a.json {
		text := display.Event(&e)
		if e.Begin != nil && !a.noHeader {
			text = display.EventsHeader()
		}
		_, err := fmt.Fprint(a.stdout, text)
		return err
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = fmt.Fprintf(a.stdout, "%s\n", line)
	}
	return err
}
