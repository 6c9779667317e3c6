package display

import (
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// RunHistory has a row for each component and site, with the last run there.
func RunHistory(known view.RunHistory) *console.Table {
	t := console.NewTable("COMPONENT", "USER", "SITE", " RUNS", " CPUS", " RUN", " r_a", " b", " Γ", " ENERGY")
	for i := range known.Components {
		c := &known.Components[i]
		for _, site := range c.Sites {
			if len(site.Runs) == 0 {
				continue
			}
			last := &site.Runs[len(site.Runs)-1]
			ran := console.Span(last.Ran)
			if last.Censored {
				ran = "> " + ran
			}
			t.Add(console.Plain(c.Name), console.Plain(c.User), console.Plain(string(site.Site)), strconv.Itoa(len(site.Runs)),
				strconv.Itoa(last.CPUs), ran, console.Measured(last.Rate, 1, "flop/s"), console.Measured(last.Bandwidth, 1, "word/s"),
				gammaText(last.Gamma), console.Measured(last.Usage.Energy, milli, "J"))
		}
	}
	return t
}

// gammaText formats Γ with three digits. It returns "-" if Γ is unknown, and "huge" for a component
// that hardly communicates.
func gammaText(gamma float64) string {
	switch {
	case !(gamma > 0):
		return "-"
	case gamma >= hugeGamma:
		return "huge"
	}
	return strconv.FormatFloat(gamma, 'g', 3, 64)
}

// hugeGamma is the Γ from which on the digits carry no information.
const hugeGamma = 1e6

// milli converts millijoules to joules.
const milli = 1e-3
