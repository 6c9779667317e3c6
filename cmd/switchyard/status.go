package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "status [ID…]",
		Annotations: anyPeer(),
		Short:       "Show jobs in detail, including finished ones, or the state of this site",
		Long: "Show jobs in detail, including finished ones. Without an ID, show the state of this site: its\n" +
			"peer, the active policies, the power draw of running jobs, the power budget and its next change,\n" +
			"errors of the budget's feeds, the price of electricity, the energy and cost of jobs so far, the\n" +
			"savings by other sites, and notes for the site's operator.",
		Example: "  switchyard status 1000000000042\n  switchyard status --json 1000000000042\n  switchyard status",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.siteStatus(cmd.Context())
			}
			jobs, err := a.jobs(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.showText(view.Queue{Jobs: jobs}, func() string {
				texts := make([]string, len(jobs))
				for i, job := range jobs {
					texts[i] = display.JobStatus(job, a.now())
				}
				return strings.Join(texts, "\n")
			})
		},
	}
	return a.query(cmd)
}

// jobs are the jobs that arguments name.
func (a *app) jobs(ctx context.Context, args []string) (jobs []view.Job, err error) {
	for _, arg := range args {
		names, err := oneByOne([]string{arg})
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			job, err := a.client().Job(ctx, name)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, job)
		}
	}
	return jobs, nil
}

// siteStatus tells how this site is.
func (a *app) siteStatus(ctx context.Context) error {
	info, err := a.client().Info(ctx)
	if err != nil {
		return err
	}
	sites, err := a.client().Sites(ctx)
	if err != nil {
		return err
	}
	answer := display.Site{Info: info}
	for i := range sites.Sites {
		if sites.Sites[i].Self {
			answer.Electricity = sites.Sites[i].Electricity
		}
	}
	return a.showText(answer, func() string { return display.SiteStatus(answer) })
}
