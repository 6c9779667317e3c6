package display

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Grid is what this site knows of the sites of the grid, and its own rules and alarms.
type Grid struct {
	view.Sites

	Rules  api.Rules `json:"rules"`
	Gossip bool      `json:"gossip"` // whether this site exchanges load data by gossip
	Alarms []string  `json:"alarms,omitempty"`
	Roster string    `json:"roster,omitempty"` // that the roster ends soon or has ended; empty: neither

	GossipAlone bool `json:"gossip_alone,omitempty"` // whether no other member of the gossip answers
}

// Sites lists the sites of the grid.
func Sites(grid Grid) *console.Table {
	titles := []string{"SITE", " NO", "LINK", " CPUS", " BUSY", " RUS", " QUEUED", " AGE", " HERE", " THERE", " BENEFIT"}
	powers := slices.ContainsFunc(grid.Sites.Sites, func(site view.Site) bool { return site.Draw > 0 || site.Budget != nil })
	if powers {
		titles = append(titles, " POWER")
	}
	resources := slices.ContainsFunc(grid.Sites.Sites, func(site view.Site) bool { return len(site.Resources) > 0 })
	if resources {
		titles = append(titles, "RESOURCES")
	}
	features := slices.ContainsFunc(grid.Sites.Sites, func(site view.Site) bool { return len(site.Features) > 0 })
	if features {
		titles = append(titles, "FEATURES")
	}
	t := console.NewTable(append(titles, "NOTE")...)
	for _, site := range grid.Sites.Sites {
		load := []string{"-", "-", "-", "-"}
		if site.Age != nil {
			load = []string{strconv.Itoa(site.Busy), console.Percent(site.RUS), strconv.Itoa(site.Queued), console.Span(*site.Age)}
		}
		cells := append([]string{
			console.Plain(string(site.Site)), console.Number(int(site.Number)), console.Plain(site.Link), console.Number(site.CPUs),
		}, load...)
		cells = append(cells, strconv.Itoa(site.GuestJobs), strconv.Itoa(site.SentJobs), console.Ratio(site.Benefit))
		if powers {
			cells = append(cells, console.Power(site.Draw, site.Budget))
		}
		if resources {
			cells = append(cells, siteResources(site))
		}
		if features {
			cells = append(cells, siteFeatures(site))
		}
		t.Add(append(cells, SiteNote(site, grid))...)
	}
	return t
}

// SiteNote is what else there is to say of a site. The rules, the roster and the alarms of this site are those of the grid, if it has them.
func SiteNote(site view.Site, grid Grid) string {
	return notes(drainNote(site), withheld(site), console.Plain(site.AskedLastReason), alarmsOf(site, grid.Alarms), rosterNote(site, grid.Roster), linkNote(site, grid))
}

// siteResources lists the resources of a site as --gres has them.
func siteResources(site view.Site) string {
	words := make([]string, len(site.Resources))
	for i, one := range site.Resources {
		words[i] = console.Plain(one.String())
	}
	return cmp.Or(strings.Join(words, ","), "-")
}

// mostFeatures is how many features of a site a table shows.
const mostFeatures = 8

func siteFeatures(site view.Site) string {
	text := strings.Join(console.Names(site.Features[:min(len(site.Features), mostFeatures)]), ",")
	if more := len(site.Features) - mostFeatures; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return cmp.Or(text, "-")
}

// alarmsOf are those of this site.
func alarmsOf(site view.Site, alarms []string) string {
	if !site.Self || len(alarms) == 0 {
		return ""
	}
	return "ALARM: " + console.Plain(strings.Join(alarms, "; "))
}

// rosterNote is that of this site.
func rosterNote(site view.Site, roster string) string {
	if !site.Self {
		return ""
	}
	return console.Plain(roster)
}

// drainNote says what an operator here, or the partner itself, has said of new jobs.
func drainNote(site view.Site) string {
	note := ""
	if site.Drain != nil {
		note = console.Plain(site.Drain.String())
	}
	return notes(note, console.Plain(site.Draining))
}

// withheld says how many CPUs may not work now.
func withheld(site view.Site) string {
	if site.PowerIdledCPUs == 0 {
		return ""
	}
	return protocol.Count(site.PowerIdledCPUs, "idle CPU") + " withheld by the power budget"
}

// linkNote says how the site is reached, of this one how it places jobs, and what is wrong with its prices of electricity.
func linkNote(site view.Site, grid Grid) string {
	prices := ""
	if site.Prices != "" {
		prices = "electricity: " + console.Plain(strings.ReplaceAll(site.Prices, "\n", "; ")) // a file may have several mistakes
	}
	switch {
	case site.Reason != "":
		return notes(console.Plain(site.Reason), prices)
	case site.Self && grid.Rules != (api.Rules{}):
		return notes(Rules(grid.Rules), noGossip(grid), prices)
	case site.Link == "down" && !site.Self:
		note := "see switchyard doctor"
		if site.LastSeen != 0 {
			note = "last seen " + console.Clock(site.LastSeen) + "; " + note
		}
		return note
	case site.LastSeen != 0 && site.Link != "up" && !site.Self:
		return "last seen " + console.Clock(site.LastSeen)
	}
	return prices
}

// noGossip explains loads that are old or absent.
func noGossip(grid Grid) string {
	switch {
	case grid.GossipAlone:
		return "no member of the gossip answers (switchyard doctor says what to look at)"
	case grid.Gossip:
		return ""
	}
	return "no gossip"
}

// Rules tells rules in words.
func Rules(rules api.Rules) string {
	return fmt.Sprintf("initiation %s, policy %s, local queue %s",
		console.Plain(rules.Initiation), console.Plain(rules.Policy), console.Plain(rules.LocalPolicy))
}

// Site is what is known of this site: its peer, and its electricity where there is any.
type Site struct {
	api.Info

	Electricity *view.Electricity `json:"electricity,omitempty"`
}

// SiteStatus tells how this site is.
func SiteStatus(info Site) string {
	var out strings.Builder
	for _, one := range SiteLines(info) {
		fmt.Fprintf(&out, "%-10s %s\n", one[0], one[1])
	}
	return out.String()
}

// SiteLines are how this site is, each with its title.
func SiteLines(info Site) (lines [][2]string) {
	line := func(title, format string, args ...any) {
		lines = append(lines, [2]string{title, fmt.Sprintf(format, args...)})
	}
	line("Site", "%s (number %d)", console.Plain(string(info.Site)), info.Number)
	line("Peer", "switchyard %s, up for %s", console.Plain(info.Version), console.Span(info.Uptime))
	line("Rules", "%s", Rules(info.Rules))
	if info.Power != nil {
		line("Power", "%s", powerStatus(*info.Power))
	}
	lines = append(lines, electricityLines(info)...)
	for _, alarm := range info.Alarms {
		line("Alarm", "%s", console.Plain(alarm))
	}
	for _, note := range info.Notes {
		line("Note", "%s", console.Plain(note))
	}
	return lines
}

// powerStatus tells what jobs draw, what they may, and what they may next.
func powerStatus(p api.Power) string {
	text := "the running jobs draw " + power.Text(p.Draw)
	if p.Pending > 0 {
		text += ", " + power.Text(p.Pending) + " are reserved for jobs pending in the batch system"
	}
	text += "; " + budgetText(p.Budget)
	if p.Until == 0 {
		return text
	}
	return fmt.Sprintf("%s until %s, then %s", text, console.Clock(p.Until), budgetText(p.Next))
}

func budgetText(milliwatts *int64) string {
	if milliwatts == nil {
		return "no budget"
	}
	return "a budget of " + power.Text(*milliwatts)
}
