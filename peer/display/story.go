package display

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Story tells stories of jobs.
type Story struct {
	Long bool // with all that quotes say
}

// Text tells what happened to a job, a line or a table for each fact.
func (t Story) Text(job view.Job, facts []event.LogEvent) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Job %s %q of %s: %s.\n", job.ID, console.Plain(job.Name), console.Plain(job.User), sizeText(job))
	out.WriteString(componentText(job))
	if t.Long && job.Objectives != nil {
		out.WriteString(console.Flowed(objectivesText(job.Objectives), 0, storyIndent+storyWidth) + "\n")
	}
	fmt.Fprintf(&out, "Submitted at %s on %s. Now %s.\n\n", console.Plain(string(job.Origin)), console.Clock(job.Submitted), nowText(job))
	if len(facts) == 0 {
		out.WriteString("The event log has no entry for this job.\n")
		return out.String()
	}
	for _, fact := range facts {
		fmt.Fprintf(&out, "%12s  %s\n", since(fact.At, job.Submitted), console.Flowed(Sentence(fact), storyIndent, storyWidth))
		if len(fact.Quotes) > 0 {
			out.WriteString(t.roundTable(fact))
		}
	}
	return out.String()
}

// What a story's text is indented by, and how wide it is.
const (
	storyIndent = 14
	storyWidth  = 88
)

func nowText(job view.Job) string {
	text := State(job)
	if job.Site != "" {
		text += ", at " + console.Plain(string(job.Site))
	}
	return text
}

// since is the time from the submission to the fact.
func since(at, submitted protocol.Instant) string {
	d := at.Sub(submitted)
	if d < 0 || d >= protocol.Hour {
		return console.Clock(at)[len("2006-01-02 "):]
	}
	return "+" + decimal.Text(int64(d), 3, 3) + " s"
}

// roundTable shows the quotes of a round, the best first.
func (t Story) roundTable(fact event.LogEvent) string {
	quotes := bestFirst(fact.Quotes)
	rows := tableOf(quotes, t.columns(quotes, func(q view.Quote) bool {
		return q.Site == fact.Site && q.CPUs == fact.CPUs
	}))
	addSilent(rows, fact.Silent)
	return rows.Text(strings.Repeat(" ", storyIndent), true)
}

// columns are those of a round's quotes; the chosen one is marked.
func (t Story) columns(quotes []view.Quote, chosen func(view.Quote) bool) []quoteColumn {
	return slices.Concat(
		[]quoteColumn{
			chosenColumn(chosen),
			{"SITE", func(q view.Quote) string { return console.Plain(string(q.Site)) }, true},
		},
		shapeColumn(quotes),
		[]quoteColumn{
			{" WAIT", func(q view.Quote) string { return console.Span(q.AWT) }, false},
			{" RUN", func(q view.Quote) string { return console.Span(q.ERT) }, false},
			{" TOTAL", func(q view.Quote) string { return console.Span(q.ATT()) }, false},
			{" COST", cost, false},
			{" RUS", func(q view.Quote) string { return console.Percent(q.RUS) }, true},
			{"NOTE", func(q view.Quote) string {
				if q.Declined != "" {
					return "declines: " + console.Plain(q.Declined)
				}
				return t.remarks(q)
			}, true},
		},
	)
}

// remarks are how long data travel, and in the long form more.
func (t Story) remarks(q view.Quote) string {
	if !t.Long {
		return notes(console.Plain(q.Note), travels(q))
	}
	return notes(console.Plain(q.Note), travels(q), terms(q), weighed(q.Money), bound(q))
}

// Sentence tells a fact of the event log in words.
func Sentence(fact event.LogEvent) string {
	text, known := phrases()[fact.Kind]
	if !known {
		text = string(fact.Kind)
	}
	site := console.Plain(string(fact.Site))
	if site == "" {
		site = "no site"
	}
	text = strings.NewReplacer("{site}", site, "{round}", strconv.FormatUint(uint64(fact.Round), 10)).Replace(text)
	if fact.State != 0 && (fact.Kind == event.LogJobEnded || fact.Kind == event.LogArrayEnded || fact.Kind == event.LogGuestEnded) {
		text += " " + fact.State.String()
	}
	if fact.Text != "" {
		text += ": " + console.Plain(fact.Text)
	}
	if h := fact.Price; h != nil {
		text += "; " + priced(h.Cost, h.Currency, h.Run, h.Terms)
	}
	var aside []string
	if fact.Epoch != 0 {
		aside = append(aside, fmt.Sprintf("epoch %d", fact.Epoch))
	}
	if fact.Duration != 0 {
		aside = append(aside, "took "+console.Brief(fact.Duration))
	}
	if len(aside) > 0 {
		text += " (" + strings.Join(aside, ", ") + ")"
	}
	return text
}

func phrases() map[event.LogKind]string {
	return map[event.LogKind]string{
		event.LogJobSubmitted:        "submitted",
		event.LogArraySubmitted:      "submitted",
		event.LogArrayEnded:          "ended",
		event.LogJobPlacedLocally:    "placed at the local site without a round",
		event.LogRoundOpened:         "round {round}: quotes requested",
		event.LogRoundDecided:        "round {round}: {site} is chosen",
		event.LogJobDeferred:         "waits in the grid queue",
		event.LogJobCommitted:        "committed to the local queue of {site}",
		event.LogJobOffered:          "offered to {site}",
		event.LogOfferRefused:        "{site} refused the offer",
		event.LogStartMissed:         "did not start with its group",
		event.LogReserved:            "{site} made an advance reservation for it",
		event.LogJobGranted:          "{site} is prepared; grant recorded",
		event.LogJobHandedOff:        "{site} has accepted the grant",
		event.LogJobStarted:          "started at {site}",
		event.LogJobEnded:            "ended",
		event.LogJobRequeued:         "requeued",
		event.LogCancelRequested:     "cancel requested",
		event.LogRequeueRequested:    "requeue requested",
		event.LogJobHeld:             "held",
		event.LogJobReleased:         "released",
		event.LogJobUpdated:          "updated",
		event.LogJobReclaimed:        "{site} is unreachable; job requeued",
		event.LogMoveBegun:           "round {round}: {site} would end it sooner; it is recalled",
		event.LogJobMoved:            "taken out of the local queue of {site}",
		event.LogNeedsOperator:       "needs an operator",
		event.LogRequeueForced:       "requeued by force",
		event.LogRecoveryNeeded:      "the database of {site} is older than its last known state",
		event.LogRecovered:           "the database of {site} was resumed",
		event.LogDrained:             "{site} was drained",
		event.LogResumed:             "{site} was resumed",
		event.LogTwoPeers:            "two peers run as {site}",
		event.LogUnknownLocalJob:     "the local scheduler has a job that the database does not contain",
		event.LogPartnerMissing:      "{site} is no longer configured",
		event.LogGuestPrepared:       "offered by {site}; prepared here",
		event.LogGuestRefused:        "offered by {site}; refused here",
		event.LogGuestAccepted:       "granted by {site}; accepted here",
		event.LogGuestAborted:        "{site} withdrew its offer",
		event.LogGuestStarted:        "started here",
		event.LogGuestEnded:          "ended here",
		event.LogGuestClosed:         "{site} has the result",
		event.LogPartnerUp:           "the link to {site} is up",
		event.LogPartnerDown:         "the link to {site} is down",
		event.LogKeyRefused:          "this site rejected the key of {site}, or {site} rejected the key of this site",
		event.LogPartnerUnresponsive: "{site} does not answer in time",
		event.LogVolunteered:         "this site sent an availability message to its partners",
		event.LogPartnerVolunteered:  "{site} volunteers to take jobs",
		event.LogReconfigured:        "the rules of {site} changed",
		event.LogSiteIDConflict:      "{site} has a name or number that another site has",
		event.LogMemberConflict:      "gossip announces {site} with the name or number of this site",
		event.LogCallFailed:          "a call failed",
		event.LogCallRestored:        "a call works again",
		event.LogPartnerQuality:      "the quote accuracy of {site} changed",
		event.LogOutputLeft:          "its output is not staged out from {site}",
		event.LogQuoteRequestDropped: "{site} sent too many quote requests at once; some were dropped",
		event.LogOfferDropped:        "{site} sent too many offers that were refused; some were dropped",
		event.LogPricesMissing:       "electricity prices are missing",
		event.LogPolicyFailed:        "the policy failed",
		event.LogUnexpectedMessage:   "{site} sent an unexpected message",
	}
}
