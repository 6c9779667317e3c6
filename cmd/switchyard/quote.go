package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) quoteCommand() *cobra.Command {
	options := &jobOptions{}
	cmd := &cobra.Command{
		Use:                   "quote [options] [script]",
		DisableFlagsInUseLine: true,
		Short:                 "Ask every site when it would run a job",
		Long: "Ask every site what it would offer a batch script now, and submit nothing: the same as\n" +
			"submit --test-only. WAIT is the median, P10 and P90 are the bounds between which the wait\n" +
			"lies in eight of ten cases. Quotes bind nobody.",
		Example: "  switchyard quote job.sh\n  switchyard quote -n 16 -t 1:00:00 job.sh",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := a.readJob(args, options.list)
			if err != nil {
				return err
			}
			return a.quote(cmd.Context(), job)
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().SortFlags = false
	options.addTo(cmd.Flags())
	return a.listing(cmd)
}

func (a *app) quote(ctx context.Context, job wanted) error {
	quoted, err := a.client().Quotes(ctx, api.Submission{Jobs: []api.Job{apiJob(job)}})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(quoted)
	}
	if len(quoted.Jobs) != 1 {
		return fmt.Errorf("the peer quoted for %d jobs instead of one; is it of another version?", len(quoted.Jobs))
	}
	return quoteTable(quoted.Jobs[0]).write(a.stdout, "", !a.noHeader)
}

// quoteTable shows one job's quotes, those of sites that decline included.
func quoteTable(quotes []peer.SiteQuote) *table {
	t := newTable("SITE", " WAIT", " P10", " P90", " RUN", " TOTAL", " RUS", "NOTE")
	for _, q := range quotes {
		if q.Declined != "" {
			t.add(plain(string(q.Site)), "-", "-", "-", "-", "-", percent(q.RUS), plain(q.Declined))
			continue
		}
		t.add(plain(string(q.Site)), span(q.AWT), span(q.AWTLow), span(q.AWTHigh), span(q.ERT),
			span(q.AWT.Plus(q.ERT)), percent(q.RUS), oldLoad(q.Age))
	}
	return t
}

// oldLoad remarks on a RUS that is not from just now.
func oldLoad(age protocol.Duration) string {
	if age < 10*protocol.Second {
		return ""
	}
	return "RUS is " + span(age) + " old"
}
