package display

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Front has a row for each choice between cost and time. Few components, of these names, have
// a column each, which tells the site and the CPUs; of many, a row tells how many go where.
func Front(front *view.ParetoFront, components []string) *console.Table {
	t := console.NewTable("", " TIME", " COST")
	each := len(components) <= columnsOfComponents
	if each {
		t.Titles = append(t.Titles, console.Names(components)...)
	} else {
		t.Titles = append(t.Titles, "COMPONENTS")
	}
	times := timesOf(front)
	for i, point := range front.Points {
		mark := ""
		if point.Chosen {
			mark = "→"
		}
		cells := []string{mark, times[i], console.Amount(point.Cost, front.Currency)}
		if each {
			cells = append(cells, eachPlace(point.Choices, len(components))...)
		} else {
			cells = append(cells, placesText(point.Choices))
		}
		t.Add(cells...)
	}
	return t
}

// timesOf are the times of the choices, with tenths of a second where two would look alike:
// each beats all others in time or in cost.
func timesOf(front *view.ParetoFront) []string {
	texts := make([]string, len(front.Points))
	alike := false
	for i, point := range front.Points {
		texts[i] = console.Span(point.Time)
		alike = alike || i > 0 && texts[i] == texts[i-1]
	}
	if !alike {
		return texts
	}
	const tenth = protocol.Second / 10
	for i, point := range front.Points {
		tenths := (point.Time + tenth - 1) / tenth
		texts[i] = fmt.Sprintf("%s.%d", console.Span(tenths/10*protocol.Second), tenths%10)
	}
	return texts
}

// columnsOfComponents is the most components that have a column each.
const columnsOfComponents = 6

// eachPlace lists where each component goes; the peer may have returned fewer.
func eachPlace(choices []view.ParetoChoice, components int) []string {
	cells := slices.Repeat([]string{"-"}, components)
	for i, c := range choices[:min(len(choices), components)] {
		cells[i] = fmt.Sprintf("%s (%d)", console.Plain(string(c.Site)), c.CPUs)
	}
	return cells
}

// placesText tells how many components go to each site, in the order of the first.
func placesText(choices []view.ParetoChoice) string {
	var order []protocol.SiteName
	number := map[protocol.SiteName]int{}
	for _, c := range choices {
		if number[c.Site] == 0 {
			order = append(order, c.Site)
		}
		number[c.Site]++
	}
	texts := make([]string, len(order))
	for i, site := range order {
		texts[i] = fmt.Sprintf("%d at %s", number[site], console.Plain(string(site)))
	}
	return strings.Join(texts, ", ")
}
