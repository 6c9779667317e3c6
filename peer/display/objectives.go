package display

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// componentText says what application a job belongs to, and what was predicted for the site
// where it is placed.
func componentText(job view.Job) string {
	if job.Application == 0 {
		return ""
	}
	text := fmt.Sprintf("Component %s of the application of job %s.", console.Plain(job.Component), job.Application)
	if job.PredictedRunTime > 0 {
		text += " Predicted run time " + console.Span(job.PredictedRunTime)
		if job.Objectives != nil {
			text += ", cost " + console.Amount(job.Cost, job.Objectives.SpentCurrency)
		}
		text += "."
	}
	return text + "\n"
}

// objectivesText tells the weights and limits of an application, and how far it has come.
func objectivesText(w *view.Objectives) string {
	text := "Application"
	if w.Name != "" {
		text += " " + console.Plain(w.Name)
	}
	parts := []string{fmt.Sprintf("α %s, β %s, γ %s, δ %s", weightText(w.Alpha), weightText(w.Beta), weightText(w.Gamma), weightText(w.Delta))}
	if w.MaxCost != protocol.Unlimited {
		parts = append(parts, "at most "+console.Amount(w.MaxCost, cmp.Or(w.Currency, w.SpentCurrency)))
	}
	if w.MaxTime != protocol.Never {
		parts = append(parts, "at most "+console.Span(w.MaxTime))
	}
	if w.StartTolerance > 0 {
		parts = append(parts, "components start at most "+console.Span(w.StartTolerance)+" after the start of their group")
	}
	if w.StartMissed != "" {
		parts = append(parts, missedText(w.StartMissed))
	}
	switch {
	case len(w.Rates) > 0:
		parts = append(parts, "waiting cost given by the application")
	case w.Waiting != "":
		parts = append(parts, "waiting cost "+console.Plain(w.Waiting))
	}
	return fmt.Sprintf("%s of %s: %s. Predicted cost of the placed components: %s.", text, protocol.Count(w.Components, "component"),
		strings.Join(parts, "; "), console.Amount(w.Spent, w.SpentCurrency))
}

// togetherText tells how late a job may start that starts together with others, and what becomes
// of them otherwise.
func togetherText(s *view.Start) string {
	text := "at most " + console.Span(s.Tolerance) + " after the start of its group"
	if s.Missed != "" {
		text += "; " + missedText(s.Missed)
	}
	return text
}

// missedText tells what becomes of a group of which a component has missed the start.
func missedText(missed string) string {
	switch missed {
	case protocol.RetryMissed:
		return "if one starts later, the group is requeued"
	case protocol.FailMissed:
		return "if one starts later, the group fails"
	}
	return console.Plain(missed)
}

// weightText prints a weight with the decimals that it has.
func weightText(ppm int) string { return decimal.Text(int64(ppm), 6, 0) }
