package display

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// jobEnergyText tells the energy of a job, as it was quoted and as it ran; empty: nothing is known.
func jobEnergyText(job *view.Job) string {
	e := job.Energy
	if e == nil {
		return ""
	}
	var parts []string
	add := func(title string, energy int64, cost *protocol.Micro, currency string) {
		if energy == 0 && cost == nil {
			return
		}
		text := title + " " + console.Energy(energy)
		if cost != nil {
			text += " for " + console.Amount(*cost, currency)
		}
		parts = append(parts, text)
	}
	if job.Quoted != nil {
		add("quoted", e.Quoted, e.QuotedCost, job.Quoted.Currency)
	}
	used, currency := "used", ""
	if job.State == protocol.Running {
		used = "so far"
	}
	if job.Bill != nil {
		currency = job.Bill.Currency
	}
	add(used, e.Used, e.Cost, currency)
	if e.Measured > 0 {
		parts = append(parts, "measured "+console.Energy(e.Measured))
	}
	return strings.Join(parts, "; ")
}

// electricityLines tell what the site draws, what electricity costs it, and what the grid saves it.
func electricityLines(info Site) (lines [][2]string) {
	e := info.Electricity
	if e == nil {
		return nil
	}
	add := func(title, text string) { lines = append(lines, [2]string{title, text}) }
	if info.Power == nil && e.Draw > 0 {
		add("Power", "the running jobs draw "+power.Text(e.Draw)+"; no budget")
	}
	if e.Price != nil {
		add("Price", console.Amount(*e.Price, e.PriceCurrency)+" a MWh now")
	}
	costs, saved := moneyTexts(e.Money)
	if text := usedText(e, costs); text != "" {
		add("Energy", text)
	}
	if saved != "" {
		add("Saved", saved+" by jobs at other sites, compared with the quotes of this site")
	}
	return lines
}

// usedText tells what jobs have used at the site and what that cost; empty: nothing.
func usedText(e *view.Electricity, costs string) string {
	var parts []string
	if e.Energy > 0 {
		text := console.Energy(e.Energy)
		if costs != "" {
			text += " for " + costs
		}
		parts = append(parts, text+" by jobs that ended here since "+console.Clock(e.Since))
	}
	if e.Running > 0 {
		parts = append(parts, console.Energy(e.Running)+" so far by running jobs")
	}
	return strings.Join(parts, "; ")
}

// moneyTexts tell what electricity cost, and what the grid saved, in each currency.
func moneyTexts(all []view.MoneyTotals) (costs, saved string) {
	var cost, less []string
	for _, m := range all {
		if m.Cost != 0 || m.Credit != 0 {
			cost = append(cost, console.Amount(m.Cost-m.Credit, m.Currency))
		}
		if m.Saved != 0 || m.Lost != 0 {
			less = append(less, console.Amount(m.Saved-m.Lost, m.Currency))
		}
	}
	return strings.Join(cost, " and "), strings.Join(less, " and ")
}
