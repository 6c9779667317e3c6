package experiment

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Outcomes are those of one plan and seed under several schemes.
type Outcomes []*Outcome

// Of is the outcome under a scheme; nil: there is none.
func (all Outcomes) Of(scheme Scheme) *Outcome {
	for _, o := range all {
		if o.Scheme == scheme {
			return o
		}
	}
	return nil
}

// Beside is an outcome with the others to compare it with, for JSON.
func (all Outcomes) Beside(main *Outcome) *Outcome {
	for _, other := range all {
		if other != main {
			other.Records = nil // the same
			main.Compare = append(main.Compare, *other)
		}
	}
	return main
}

// Text is what people read of the outcomes: a line for each scheme, and the sites under the
// main one.
func (all Outcomes) Text(main *Outcome) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Experiment %s, seed %d: %s, %s%s\n", console.Plain(main.Experiment), main.Seed,
		protocol.Count(len(main.Plan.Sites), "site"), protocol.Count(len(main.Jobs), "job"), besides(main.Applications))
	if main.Metrics.Jobs > 0 {
		out.WriteString("\n" + all.schemesTable().Text("", true))
		if main.Energy != nil {
			fmt.Fprintf(&out, "\nElectricity, in %s:\n\n%s", main.Currency, all.energyTable(main).Text("", true))
		}
		fmt.Fprintf(&out, "\nSites under scheme %s:\n\n%s", main.Scheme, main.sitesTable().Text("", true))
	}
	for _, o := range all {
		if o.Applications != nil {
			out.WriteString(o.applicationsText())
		}
	}
	return out.String()
}

func (all Outcomes) schemesTable() *console.Table {
	t := console.NewTable("SCHEME", " JOBS", " WAIT", " GAIN", " RESPONSE", " GAIN", " DEVIATION", " SLOWDOWN", " UTIL", " ALLOCATED", " EFFICIENCY",
		" MOVED", " MAKESPAN")
	local := all.Of(Local)
	for _, o := range all {
		wait, response := "-", "-"
		if local != nil && o != local {
			wait, response = console.Times(local.MeanWait, o.MeanWait), console.Times(local.MeanResponse, o.MeanResponse)
		}
		t.Add(string(o.Scheme), strconv.Itoa(o.Metrics.Jobs), console.Seconds(o.MeanWait), wait, console.Seconds(o.MeanResponse), response,
			console.Seconds(o.WaitDeviation), console.Decimals(o.BoundedSlowdown), console.Part(o.Utilization), console.Part(o.Allocated),
			console.Part(o.GridEfficiency),
			console.Part(o.Transferred), console.Seconds(o.Makespan))
	}
	return t
}

// energyTable has a line for each scheme: what its electricity costs, in all and at each
// site, how it serves the users of the site that it serves least, and the messages for a
// job, which many peers need more of than one.
func (all Outcomes) energyTable(main *Outcome) *console.Table {
	titles := []string{"SCHEME", " COST", " GAIN", " MWH", " FAIRNESS", " MESSAGES"}
	for _, bill := range main.Bills {
		titles = append(titles, " "+strings.ToUpper(console.Plain(bill.Site)))
	}
	t := console.NewTable(titles...)
	local := all.Of(Local)
	for _, o := range all {
		if o.Energy == nil {
			continue // a scheme without machines
		}
		gain := "-"
		if local != nil && o != local {
			gain = console.Times(local.Cost, o.Cost)
		}
		cells := []string{string(o.Scheme), console.Decimals(o.Cost), gain, console.Decimals(o.MWh), fairnessText(o.Fairness), console.Decimals(o.MessagesPerJob)}
		for _, bill := range o.Bills {
			cells = append(cells, console.Decimals(bill.Cost))
		}
		t.Add(cells...)
	}
	return t
}

// fairnessText is "-" where there is nothing to compare with.
func fairnessText(x *float64) string {
	if x == nil {
		return "-"
	}
	return console.Decimals(*x)
}

func (o *Outcome) sitesTable() *console.Table {
	titles := []string{"SITE", " CPUS", " SUBMITTED", " SENT", " RAN", " WAIT", " RESPONSE", " UTIL", " ALLOCATED"}
	if o.Energy != nil {
		titles = append(titles, " FAIRNESS")
	}
	t := console.NewTable(titles...)
	for i, site := range o.Sites {
		cells := []string{
			console.Plain(string(site.Site)), strconv.Itoa(o.Plan.CPUs(i)), strconv.Itoa(site.Submitted), strconv.Itoa(site.Sent),
			strconv.Itoa(site.Ran), console.Seconds(site.MeanWait), console.Seconds(site.MeanResponse), console.Part(site.Utilization),
			console.Part(site.Allocated),
		}
		if o.Energy != nil {
			cells = append(cells, fairnessText(o.Bills[i].Fairness))
		}
		t.Add(cells...)
	}
	return t
}
