package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
			"lies in eight of ten cases. COST is the sum of what the site charges and its electricity, if\n" +
			"it names prices; --json has the parts. NOTE says what the wait is for, where that is not the\n" +
			"queue alone, and within what time the job starts with 95 % confidence, where the site can\n" +
			"tell. Quotes bind nobody.",
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
	t := newTable("SITE", " WAIT", " P10", " P90", " RUN", " TOTAL", " COST", " RUS", "NOTE")
	for _, q := range quotes {
		if q.Declined != "" {
			t.add(plain(string(q.Site)), "-", "-", "-", "-", "-", "-", percent(q.RUS), plain(q.Declined))
			continue
		}
		t.add(plain(string(q.Site)), span(q.AWT), span(q.AWTLow), span(q.AWTHigh), span(q.ERT),
			span(q.ATT()), cost(q), percent(q.RUS), notes(plain(q.Note), travels(q), bound(q), oldLoad(q.Age)))
	}
	return t
}

// cost is what a quote comes to, "-" when the site names no price.
func cost(q peer.SiteQuote) string {
	if q.Currency == "" {
		return "-"
	}
	return amount(q.Cost, q.Currency)
}

// travels says how long the job's data are on their way to the site.
func travels(q peer.SiteQuote) string {
	if q.Transfer == 0 {
		return ""
	}
	return "its data are there after " + span(q.Transfer)
}

// bound says until when a job starts for almost sure, if the site states that.
func bound(q peer.SiteQuote) string {
	if q.Bound == 0 {
		return ""
	}
	return "starts within " + rough(q.Bound) + ", 95 %"
}

// terms lists what a quote's price is made of.
func terms(q peer.SiteQuote) string {
	all := make([]string, len(q.Terms))
	for i, term := range q.Terms {
		all[i] = plain(term.Name) + " " + amount(term.Amount, q.Currency)
	}
	return strings.Join(all, " + ")
}

// notes joins remarks, without those that are empty.
func notes(remarks ...string) string {
	return strings.Join(slices.DeleteFunc(remarks, func(s string) bool { return s == "" }), "; ")
}

// oldLoad remarks on a RUS that is not from just now.
func oldLoad(age protocol.Duration) string {
	if age < 10*protocol.Second {
		return ""
	}
	return "RUS is " + span(age) + " old"
}
