package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
)

func (a *app) sitesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sites",
		Short: "List the sites of the grid and how busy they are",
		Long: "List this site and its partners. LINK is self, up, down, silent (it misses deadlines and is\n" +
			"not asked for quotes) or refused. RUS is the share of CPUs that run jobs, AGE how old that\n" +
			"figure is. HERE are jobs of that site at this one, THERE jobs of this site at that one.\n" +
			"BENEFIT tells how much sooner the site's own users have their results than they would without\n" +
			"the grid: 1.25x is a quarter sooner than alone, below 1 the grid costs them time. The NOTE of\n" +
			"this site names the rules in force: what opens rounds, which policy decides them, and which\n" +
			"rules the local queue; and what is known of the prices of its electricity, or why nothing is.",
		Example: "  switchyard sites\n  switchyard sites --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sites, err := a.client().Sites(cmd.Context())
			if err != nil {
				return err
			}
			info, err := a.client().Info(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(sitesAnswer{Sites: sites, Rules: info.Rules})
			}
			return sitesTable(sites.Sites, info.Rules).write(a.stdout, "", !a.noHeader)
		},
	}
	return a.listing(cmd)
}

// sitesAnswer is what the command prints as JSON.
type sitesAnswer struct {
	peer.Sites

	Rules api.Rules `json:"rules"`
}

func sitesTable(sites []peer.SiteView, rules api.Rules) *table {
	t := newTable("SITE", " NO", "LINK", " CPUS", " BUSY", " RUS", " QUEUED", " AGE", " HERE", " THERE", " BENEFIT", "NOTE")
	for _, site := range sites {
		load := []string{"-", "-", "-", "-"}
		if site.Age >= 0 {
			load = []string{strconv.Itoa(site.Busy), percent(site.RUS), strconv.Itoa(site.Queued), span(site.Age)}
		}
		t.add(append(append([]string{
			plain(string(site.Site)), number(int(site.Number)), plain(site.Link), number(site.CPUs),
		}, load...), strconv.Itoa(site.JobsHere), strconv.Itoa(site.JobsSent), ratio(site.Benefit), siteNote(site, rules))...)
	}
	return t
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func siteNote(site peer.SiteView, rules api.Rules) string {
	prices := ""
	if site.Prices != "" {
		prices = "electricity: " + plain(strings.ReplaceAll(site.Prices, "\n", "; ")) // a file may have several mistakes
	}
	switch {
	case site.Why != "":
		return notes(plain(site.Why), prices)
	case site.Self && rules != (api.Rules{}):
		return notes(rulesText(rules), prices)
	case site.LastSeen != 0 && site.Link != "up" && !site.Self:
		return "last seen " + clock(site.LastSeen)
	}
	return prices
}
