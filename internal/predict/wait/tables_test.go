package wait_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// writeScores prints scores as a table in Markdown: errors in minutes, shares in
// percent.
func writeScores(w io.Writer, scores []wait.Score) error {
	_, err := fmt.Fprint(w, "| predictor | jobs | AAE min | median min | < 15 min | < 1 h | PPE % | AAE of P50 | P10 to P90 | width min | bound held | bound min |\n"+
		"|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for i := range scores {
		if err != nil {
			return err
		}
		s := &scores[i]
		_, err = fmt.Fprintf(w, "| %s | %d | %.1f | %.1f | %.1f %% | %.1f %% | %.0f | %.1f | %.1f %% | %.0f | %.1f %% | %.0f |\n",
			s.Predictor, s.Jobs, minutes(s.MeanError), minutes(s.MedianError), 100*s.Under15Min, 100*s.Under1Hour,
			s.PercentError, minutes(s.MedianOff), 100*s.Covered(), minutes(s.MeanWidth), 100*s.BoundHeld, minutes(s.MeanBound))
	}
	return err
}

// writeRanges prints the errors by actual response, [MC] Figure 2, as a table in
// Markdown: a row for each range, a column for each predictor, in minutes.
func writeRanges(w io.Writer, scores []wait.Score) error {
	if len(scores) == 0 {
		return nil
	}
	var table strings.Builder
	table.WriteString("| response | jobs |")
	for i := range scores {
		table.WriteString(" " + scores[i].Predictor + " |")
	}
	table.WriteString("\n|---|---|" + strings.Repeat("---|", len(scores)) + "\n")
	for row, r := range scores[0].ByResponse {
		fmt.Fprintf(&table, "| from %v | %d |", r.From, r.Jobs)
		for i := range scores {
			fmt.Fprintf(&table, " %.1f |", minutes(scores[i].ByResponse[row].MeanError))
		}
		table.WriteString("\n")
	}
	_, err := io.WriteString(w, table.String())
	return err
}

func minutes(d protocol.Duration) float64 { return float64(d) / float64(protocol.Minute) }
