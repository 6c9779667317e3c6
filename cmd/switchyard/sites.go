package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (a *app) sitesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sites",
		Short: "List the sites of the grid and how busy they are",
		Long: "List this site and its partners. LINK is self, up, down, silent (it misses deadlines and is\n" +
			"not asked for quotes) or refused. RUS is the share of CPUs that run jobs, AGE how old that\n" +
			"figure is. HERE are jobs of that site at this one, THERE jobs of this site at that one.\n" +
			"BENEFIT tells how much sooner the site's own users have their results than they would without\n" +
			"the grid: 1.25x is a quarter sooner than alone, below 1 the grid costs them time. POWER, shown\n" +
			"when some site tells it, is what its jobs draw and what its power budget allows them now; CPUs\n" +
			"that the budget keeps from working count as busy in RUS. The NOTE of this site names the rules\n" +
			"in force: what opens rounds, which policy decides them, and which rules the local queue; what\n" +
			"is wrong with the feeds of its power budget; and what is known of the prices of its\n" +
			"electricity, or why nothing is. That of a partner tells which\n" +
			"key is refused, when its link does not come up for that.",
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
				return a.printJSON(sitesAnswer{Sites: sites, Rules: info.Rules, Alarms: info.Alarms})
			}
			return sitesTable(sites.Sites, info).Write(a.stdout, "", !a.noHeader)
		},
	}
	return a.listing(cmd)
}

// sitesAnswer is what the command prints as JSON.
type sitesAnswer struct {
	peer.Sites

	Rules  api.Rules `json:"rules"`
	Alarms []string  `json:"alarms,omitempty"` // of this site
}

func sitesTable(sites []peer.SiteView, info api.Info) *console.Table {
	titles := []string{"SITE", " NO", "LINK", " CPUS", " BUSY", " RUS", " QUEUED", " AGE", " HERE", " THERE", " BENEFIT"}
	powers := slices.ContainsFunc(sites, func(site peer.SiteView) bool { return site.Draw > 0 || site.Budget != nil })
	if powers {
		titles = append(titles, " POWER")
	}
	t := console.NewTable(append(titles, "NOTE")...)
	for _, site := range sites {
		load := []string{"-", "-", "-", "-"}
		if site.Age >= 0 {
			load = []string{strconv.Itoa(site.Busy), console.Percent(site.RUS), strconv.Itoa(site.Queued), console.Span(site.Age)}
		}
		cells := append([]string{
			console.Plain(string(site.Site)), console.Number(int(site.Number)), console.Plain(site.Link), console.Number(site.CPUs),
		}, load...)
		cells = append(cells, strconv.Itoa(site.JobsHere), strconv.Itoa(site.JobsSent), console.Ratio(site.Benefit))
		if powers {
			cells = append(cells, console.Power(site.Draw, site.Budget))
		}
		t.Add(append(cells, notes(withheld(site), console.Plain(site.Doubt), alarmsOf(site, info), siteNote(site, info.Rules)))...)
	}
	return t
}

// alarmsOf are those of this site.
func alarmsOf(site peer.SiteView, info api.Info) string {
	if !site.Self || len(info.Alarms) == 0 {
		return ""
	}
	return "ALARM: " + console.Plain(strings.Join(info.Alarms, "; "))
}

// withheld says how many CPUs may not work now.
func withheld(site peer.SiteView) string {
	if site.Withheld == 0 {
		return ""
	}
	return protocol.Count(site.Withheld, "idle CPU") + " withheld by the power budget"
}

func siteNote(site peer.SiteView, rules api.Rules) string {
	prices := ""
	if site.Prices != "" {
		prices = "electricity: " + console.Plain(strings.ReplaceAll(site.Prices, "\n", "; ")) // a file may have several mistakes
	}
	switch {
	case site.Why != "":
		return notes(console.Plain(site.Why), prices)
	case site.Self && rules != (api.Rules{}):
		return notes(rulesText(rules), prices)
	case site.LastSeen != 0 && site.Link != "up" && !site.Self:
		return "last seen " + console.Clock(site.LastSeen)
	}
	return prices
}
