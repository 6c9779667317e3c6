package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) quoteCommand() *cobra.Command {
	options := &jobOptions{}
	cmd := &cobra.Command{
		Use:                   "quote [options] [script | application.toml]",
		DisableFlagsInUseLine: true,
		Short:                 "Ask every site when it would run a job",
		Long: "Ask every site what it would offer a batch script now, and submit nothing: the same as\n" +
			"submit --test-only. WAIT is the median, P10 and P90 are the bounds between which the wait\n" +
			"lies in eight of ten cases. COST is the sum of what the site charges and its electricity, if\n" +
			"it names prices; --json has the parts. NOTE says what the wait is for, where that is not the\n" +
			"queue alone, and within what time the job starts with 95 % confidence, where the site can\n" +
			"tell. Quotes bind nobody.\n\n" +
			"Each component of an application has a table of its own, and one that may run on several\n" +
			"counts of CPUs has a row for each. --long adds what counts in choosing a site: K_e (use of\n" +
			"the machine), K_l (licences), K_eco (energy) and K_d (data).\n\n" +
			"--pareto prints the choices between cost and time that no other one beats in both, the\n" +
			"fastest first, with the site and the CPUs of each component; → marks the one that would be\n" +
			"taken.",
		Example: "  switchyard quote job.sh\n  switchyard quote -n 16 -t 1:00:00 job.sh\n" +
			"  switchyard quote --long --cpus=4,8,16 job.sh\n  switchyard quote --pareto coupled.toml",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			batch, err := a.readJobs(args, options)
			if err != nil {
				return err
			}
			return a.quote(cmd.Context(), batch, options)
		},
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().SortFlags = false
	options.addTo(cmd.Flags())
	return a.listing(cmd)
}

func (a *app) quote(ctx context.Context, batch batchscript.Batch, options *jobOptions) error {
	request := submission(batch)
	request.Front = options.pareto
	quoted, err := a.client().Quotes(ctx, request)
	if err != nil {
		return err
	}
	if options.pareto {
		return a.pareto(quoted.Quoted, batch)
	}
	if a.json {
		return a.printJSON(quoted)
	}
	if len(quoted.Jobs) != len(batch.Jobs) {
		return fmt.Errorf("the peer quoted for %s instead of %d; is it of another version?",
			protocol.Count(len(quoted.Jobs), "job"), len(batch.Jobs))
	}
	if options.long || anyJob(batch, func(job *batchscript.Job) bool { return job.TestOnly }) {
		a.noticeFiles(quoted.Elsewhere, batch)
	}
	for i, quotes := range quoted.Jobs {
		if batch.Name != "" {
			a.componentTitle(i, batch.Jobs[i].Name)
		}
		if err = quoteTable(quotes, options.long).Write(a.stdout, "", !a.noHeader); err != nil {
			return err
		}
		if i < len(quoted.Exports) && (batch.Jobs[i].TestOnly || options.long) {
			a.tellExports(quoted.Exports[i])
		}
	}
	info, err := a.client().Info(ctx)
	if err != nil {
		return err
	}
	if text := costNotice(info.Rules.Policy); text != "" {
		a.notice("%s", text)
	}
	return nil
}

// costNotice says what is not so of the costs in quotes under a policy that reckons with other
// prices than those of the planned hours; empty under all others.
func costNotice(policy string) string {
	switch mcmf.Variant(policy) {
	case mcmf.Inst:
		return "COST is as the policy inst reckons it: with the electricity of now, as if each job started at once"
	case mcmf.TwoPrice:
		return "COST is as the policy twoprice reckons it: with two prices of electricity a day, not those of the planned hours"
	case mcmf.Full:
	}
	return ""
}

// tellExports says which variables another site that ran the job would see.
func (a *app) tellExports(of api.Exported) {
	for _, list := range []struct {
		what  string
		names []string
	}{{"variables that leave with the job when another site runs it", of.Leave}, {"variables that stay at this site", of.Stay}} {
		if len(list.names) > 0 {
			a.notice("%s: %s", list.what, console.Plain(strings.Join(list.names, " ")))
		}
	}
}

// componentTitle stands above the table of the i-th component.
func (a *app) componentTitle(i int, name string) {
	if i > 0 {
		a.printf("\n")
	}
	a.printf("Component %s:\n", console.Plain(name))
}

// quoteColumn is a column of a table of quotes.
type quoteColumn struct {
	title    string
	cell     func(peer.SiteQuote) string
	declined bool // shown of a quote that is declined, too
}

// quoteTable shows one job's quotes, those of sites that decline included.
func quoteTable(quotes []peer.SiteQuote, long bool) *console.Table {
	columns := slices.Concat(
		[]quoteColumn{{"SITE", func(q peer.SiteQuote) string { return console.Plain(string(q.Site)) }, true}},
		shapeColumn(quotes),
		[]quoteColumn{
			{" WAIT", func(q peer.SiteQuote) string { return console.Span(q.AWT) }, false},
			{" P10", func(q peer.SiteQuote) string { return console.Span(q.AWTLow) }, false},
			{" P90", func(q peer.SiteQuote) string { return console.Span(q.AWTHigh) }, false},
			{" RUN", func(q peer.SiteQuote) string { return console.Span(q.ERT) }, false},
			{" TOTAL", func(q peer.SiteQuote) string { return console.Span(q.ATT()) }, false},
			{" COST", func(q peer.SiteQuote) string {
				if abroad(q, long) {
					return console.Amount(q.Money.Cost, q.Money.Currency)
				}
				return cost(q)
			}, false},
		},
		moneyColumns(long),
		[]quoteColumn{
			{" RUS", func(q peer.SiteQuote) string { return console.Percent(q.RUS) }, true},
			{"NOTE", func(q peer.SiteQuote) string {
				if q.Declined != "" {
					return console.Plain(q.Declined)
				}
				asks := ""
				if abroad(q, long) {
					asks = "asks " + cost(q)
				}
				return notes(console.Plain(q.Note), asks, travels(q), bound(q), oldLoad(q.Age))
			}, true},
		},
	)
	return tableOf(quotes, columns)
}

func tableOf(quotes []peer.SiteQuote, columns []quoteColumn) *console.Table {
	t := &console.Table{}
	for _, column := range columns {
		t.Titles = append(t.Titles, column.title)
	}
	for _, q := range quotes {
		cells := make([]string, len(columns))
		for i, column := range columns {
			cells[i] = "-"
			if q.Declined == "" || column.declined {
				cells[i] = column.cell(q)
			}
		}
		t.Add(cells...)
	}
	return t
}

// abroad says whether a quote is in another currency than the terms beside it: it is shown in theirs.
func abroad(q peer.SiteQuote, long bool) bool {
	return long && q.Money != nil && q.Currency != "" && q.Money.Currency != "" && q.Currency != q.Money.Currency && q.Money.Cost != 0
}

// shapeColumn tells the CPUs of a job that may run on several counts.
func shapeColumn(quotes []peer.SiteQuote) []quoteColumn {
	if !moldable(quotes) {
		return nil
	}
	return []quoteColumn{{" CPUS", func(q peer.SiteQuote) string { return strconv.Itoa(q.CPUs) }, true}}
}

func moldable(quotes []peer.SiteQuote) bool {
	return slices.ContainsFunc(quotes, func(q peer.SiteQuote) bool { return q.CPUs > 0 })
}

// moneyColumns tell the terms of [IS 4.2] that count in choosing a site.
func moneyColumns(long bool) []quoteColumn {
	if !long {
		return nil
	}
	column := func(title string, term func(*peer.Money) protocol.Micro) quoteColumn {
		return quoteColumn{title, func(q peer.SiteQuote) string {
			if q.Money == nil {
				return "-"
			}
			return console.Amount(term(q.Money), q.Money.Currency)
		}, false}
	}
	return []quoteColumn{
		column(" K_e", func(m *peer.Money) protocol.Micro { return m.Use }),
		column(" K_l", func(m *peer.Money) protocol.Micro { return m.Licence }),
		column(" K_eco", func(m *peer.Money) protocol.Micro { return m.Eco }),
		column(" K_d", func(m *peer.Money) protocol.Micro { return m.Data }),
	}
}

// cost is what a quote comes to, "-" when the site names no price.
func cost(q peer.SiteQuote) string {
	if q.Currency == "" {
		return "-"
	}
	return console.Amount(q.Cost, q.Currency)
}

// travels says how long the job's data are on their way to the site.
func travels(q peer.SiteQuote) string {
	if q.Transfer == 0 {
		return ""
	}
	return "its data are there after " + console.Span(q.Transfer)
}

// bound says until when a job starts for almost sure, if the site states that.
func bound(q peer.SiteQuote) string {
	if q.Bound == 0 {
		return ""
	}
	return "starts within " + console.Span(q.Bound) + ", 95 %"
}

// terms lists what a quote's price is made of.
func terms(q peer.SiteQuote) string {
	all := make([]string, len(q.Terms))
	for i, term := range q.Terms {
		all[i] = console.Plain(term.Name) + " " + console.Amount(term.Amount, q.Currency)
	}
	return strings.Join(all, " + ")
}

// weighed lists the terms that counted in choosing a site.
func weighed(m *peer.Money) string {
	if m == nil {
		return ""
	}
	term := func(name string, of protocol.Micro) string { return name + " " + console.Amount(of, m.Currency) }
	return "weighed as " + strings.Join([]string{
		term("K_e", m.Use), term("K_l", m.Licence), term("K_eco", m.Eco), term("K_d", m.Data),
	}, " + ")
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
	return "RUS is " + console.Span(age) + " old"
}
