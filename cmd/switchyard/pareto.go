package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// pareto prints the choices between cost and time that no other one beats in both.
func (a *app) pareto(quoted peer.Quoted, batch batchscript.Batch) error {
	front := quoted.Front
	if front == nil {
		return errors.New("the peer told no choices between cost and time; is it of another version?")
	}
	var err error
	switch {
	case a.json:
		err = a.printJSON(quoted)
	case len(front.Points) > 0:
		err = a.showFront(front, batch)
	}
	if err != nil || front.Why == "" && len(front.Points) > 0 {
		return err
	}
	if front.Why != "" && !a.json {
		a.notice("%s", console.Plain(front.Why))
	}
	return &exitError{code: exitNoSite} // no choice, or none that keeps the limits
}

func (a *app) showFront(front *peer.Front, batch batchscript.Batch) error {
	if front.Gap > 0 {
		a.notice("each choice costs at most %s more than the cheapest one that is as fast", console.FinePercent(front.Gap))
	}
	if front.More {
		a.notice("there are more choices than are shown")
	}
	return frontTable(front, batch).Write(a.stdout, "", !a.noHeader)
}

// frontTable has a row for each choice. Few components have a column each, which tells the
// site and the CPUs; of many, a row tells how many go where.
func frontTable(front *peer.Front, batch batchscript.Batch) *console.Table {
	t := console.NewTable("", " TIME", " COST")
	each := len(batch.Jobs) <= columnsOfComponents
	if each {
		for i := range batch.Jobs {
			t.Titles = append(t.Titles, console.Plain(batch.Jobs[i].Name))
		}
	} else {
		t.Titles = append(t.Titles, "COMPONENTS")
	}
	told := timesOf(front)
	for i, point := range front.Points {
		mark := ""
		if point.Chosen {
			mark = "→"
		}
		cells := []string{mark, told[i], console.Amount(point.Cost, front.Currency)}
		if each {
			cells = append(cells, eachPlace(point.Choices, len(batch.Jobs))...)
		} else {
			cells = append(cells, placesText(point.Choices))
		}
		t.Add(cells...)
	}
	return t
}

// timesOf are the times of the choices, with tenths of a second where two would look alike:
// each beats all others in time or in cost.
func timesOf(front *peer.Front) []string {
	told := make([]string, len(front.Points))
	alike := false
	for i, point := range front.Points {
		told[i] = console.Span(point.Time)
		alike = alike || i > 0 && told[i] == told[i-1]
	}
	if !alike {
		return told
	}
	const tenth = protocol.Second / 10
	for i, point := range front.Points {
		tenths := (point.Time + tenth - 1) / tenth
		told[i] = fmt.Sprintf("%s.%d", console.Span(tenths/10*protocol.Second), tenths%10)
	}
	return told
}

// columnsOfComponents is the most components that have a column each.
const columnsOfComponents = 6

// eachPlace tells where each component goes; the peer may have told of fewer.
func eachPlace(choices []peer.FrontChoice, components int) []string {
	cells := slices.Repeat([]string{"-"}, components)
	for i, c := range choices[:min(len(choices), components)] {
		cells[i] = fmt.Sprintf("%s (%d)", console.Plain(string(c.Site)), c.CPUs)
	}
	return cells
}

// placesText tells how many components go to each site, in the order of the first.
func placesText(choices []peer.FrontChoice) string {
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
