package display

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// JobStatus tells all that is known of a job as of now.
func JobStatus(job view.Job, now time.Time) string {
	var out strings.Builder
	for _, one := range JobLines(job, now) {
		fmt.Fprintf(&out, "%-10s %s\n", one[0], one[1])
	}
	return out.String()
}

// JobLines are all that is known of a job as of now, each with its title.
func JobLines(job view.Job, now time.Time) (lines [][2]string) {
	line := func(title, format string, args ...any) {
		lines = append(lines, [2]string{title, fmt.Sprintf(format, args...)})
	}
	line("Job", "%s  %s", jobText(&job), console.Plain(job.Name))
	line("User", "%s", console.Plain(job.User))
	line("State", "%s", State(job))
	if job.Array != nil {
		line("Elements", "%s", job.Array.Text())
	}
	line("Origin", "%s", console.Plain(string(job.Origin)))
	line("Site", "%s", siteText(job))
	if job.Local != "" {
		line("Local ID", "%s", console.Plain(string(job.Local)))
	}
	if job.Application != 0 {
		line("Component", "%s of the application of job %s", console.Plain(job.Component), job.Application)
	}
	if job.Together != nil {
		line("Together", "%s", togetherText(job.Together))
	}
	line("Requests", "%s", sizeText(job))
	line("Submitted", "%s", console.Clock(job.Submitted))
	if job.CommittedAt != 0 {
		line("Placed", "%s%s", console.Clock(job.CommittedAt), quotedWait(job.QuotedAWT))
	}
	if job.Moves > 0 {
		line("Moved", "%s, last at %s", protocol.Count(job.Moves, "time"), console.Clock(job.MovedAt))
	}
	if job.Transfer != nil {
		line("Transfer", "%s", transferText(job.Transfer))
	}
	line("Started", "%s", startText(job))
	line("Ended", "%s", console.Clock(job.Ended))
	line("Ran", "%s", elapsed(job, now))
	lines = append(lines, costLines(&job)...)
	line("Directory", "%s%s", console.OrDash(job.WorkDir), inPlaceText(job))
	line("Output", "%s", console.OrDash(job.Stdout))
	if job.Stderr != job.Stdout {
		line("Errors", "%s", console.OrDash(job.Stderr))
	}
	return lines
}

// inPlaceText says that a job runs in its own directory at another site.
func inPlaceText(job view.Job) string {
	if !job.InPlace {
		return ""
	}
	with := job.Site
	if job.Guest {
		with = job.Origin
	}
	return ", shared with " + console.Plain(string(with))
}

// jobText names a job; an element by its own ID, too.
func jobText(job *view.Job) string {
	if job.Element != nil {
		return job.Label() + " (" + job.ID.String() + ")"
	}
	return job.Label()
}

// costLines tell what a job was quoted, and beside it what it cost.
func costLines(job *view.Job) (lines [][2]string) {
	add := func(title, text string) { lines = append(lines, [2]string{title, text}) }
	if q := job.Quoted; q != nil {
		add("Quoted", console.Amount(q.Cost, q.Currency)+" for "+console.Span(q.Run))
	}
	if b := job.Bill; b != nil {
		title := "Billed"
		if b.Open {
			title = "So far"
		}
		add(title, priced(b.Cost, b.Currency, b.Ran, b.Terms))
		if b.Disputed != "" {
			add("Disputed", console.Plain(b.Disputed))
		}
	}
	if text := jobEnergyText(job); text != "" {
		add("Energy", text)
	}
	if w := job.Objectives; w != nil && w.Broken != "" {
		add("Limit", "exceeded: "+console.Plain(w.Broken))
	}
	return lines
}

// priced tells what a run costs, and of what terms that is made.
func priced(cost protocol.Micro, currency string, run protocol.Duration, terms []view.PriceTerm) string {
	parts := make([]string, len(terms))
	for i, term := range terms {
		parts[i] = console.Plain(term.Name) + " " + term.Amount.Text()
	}
	return fmt.Sprintf("%s for %s (%s)", console.Amount(cost, currency), console.Span(run), strings.Join(parts, ", "))
}

// quotedWait is the wait that a job was quoted, if a quote was requested.
func quotedWait(awt *protocol.Duration) string {
	if awt == nil {
		return ""
	}
	return ", quoted a wait of " + console.Span(*awt)
}

// State tells the state of a job, how it ended, and why it is as it is.
func State(job view.Job) string {
	return joined(", ", job.State.String(), Ending(job), reasonText(job.Reason))
}

// reasonText tells a reason, and in words if its name alone says little.
func reasonText(reason string) string {
	switch reason {
	case "WaitingForVolunteer":
		return reason + " (the local wait is local_wait_threshold or longer, and no partner volunteers)"
	case "WaitingForGroup":
		return reason + " (it has an advance reservation and waits for those of the other jobs of its group)"
	case "NoEligibleSite":
		return reason + " (no known site can run it; a site that was never up might, see switchyard sites)"
	case "PartnerUnreachable":
		return reason + " (its site is unreachable, see switchyard sites; a run there continues)"
	case view.ReasonArrayThrottle:
		return reason + " (as many elements of the array are placed or run as its --array allows)"
	case view.ReasonArrayOrder:
		return reason + " (elements of the array before it are to start first)"
	case "HandOff":
		return reason + " (the hand-off to its site is in progress)"
	}
	return console.Plain(reason)
}

// transferText tells how far a file has come.
func transferText(t *view.Transfer) string {
	const mega = 1_000_000
	percent := int64(0)
	if t.Of > 0 {
		percent = t.Bytes * 100 / t.Of //nolint:mnd // per cent
	}
	return fmt.Sprintf("%s, %d of %d MB (%d%%)", console.Plain(t.File), t.Bytes/mega, (t.Of+mega-1)/mega, percent)
}

func siteText(job view.Job) string {
	if job.Site == "" {
		return "- (in the grid queue)"
	}
	return fmt.Sprintf("%s (epoch %d)", console.Plain(string(job.Site)), job.Epoch)
}

func startText(job view.Job) string {
	if job.Started == 0 {
		return "-"
	}
	return fmt.Sprintf("%s, after %s", console.Clock(job.Started), console.Span(max(protocol.Duration(0), job.Started.Sub(job.Submitted))))
}

// elapsed is how long a job has run, up to now if it still does.
func elapsed(job view.Job, now time.Time) string {
	if job.Started == 0 {
		return "0:00:00"
	}
	end := job.Ended
	if end == 0 {
		end = protocol.InstantOf(now)
	}
	return console.Span(max(0, end.Sub(job.Started)))
}

// Ending says how a job ended, or "" while it has not.
func Ending(job view.Job) string {
	switch {
	case !job.State.Terminal():
		return ""
	case job.State != protocol.Completed && job.ExitCode == 0 && job.Signal == 0:
		return "" // it did not end by itself
	case job.Signal == protocol.SignalOutOfMemory:
		return "out of memory"
	case job.Signal != 0:
		return fmt.Sprintf("signal %d", job.Signal)
	}
	return fmt.Sprintf("exit code %d", job.ExitCode)
}
