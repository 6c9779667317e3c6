package experiment

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// LateFaults are the crashes and cuts that begin when the last job has ended, so that they had no effect, a
// sentence for each.
func (o *Outcome) LateFaults() (late []string) {
	var end protocol.Instant
	for _, placed := range o.Result.Placements {
		end = max(end, placed.End)
	}
	say := func(what string, begin protocol.Duration) {
		if protocol.Instant(begin) >= end {
			late = append(late, fmt.Sprintf("%s begins at %s and has no effect: the last job ends after %s", what,
				settings.FormatDuration(begin), days(protocol.Duration(end))))
		}
	}
	for i, cut := range o.Plan.Cuts {
		say(fmt.Sprintf("cut[%d] of %s", i, cut.A), cut.From)
	}
	for i, crash := range o.Plan.Crashes {
		say(fmt.Sprintf("crash[%d] of %s", i, crash.Site), crash.At)
	}
	return late
}
