package display

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
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
		out.WriteString(console.Flowed(wishesText(job.Objectives), 0, storyIndent+storyWidth) + "\n")
	}
	fmt.Fprintf(&out, "Submitted at %s on %s. Now %s.\n\n", console.Plain(string(job.Origin)), console.Clock(job.Submitted), nowText(job))
	if len(facts) == 0 {
		out.WriteString("Nothing more is remembered of it.\n")
		return out.String()
	}
	for _, fact := range facts {
		fmt.Fprintf(&out, "%12s  %s\n", since(fact.At, job.Submitted), console.Flowed(sentence(fact), storyIndent, storyWidth))
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
	return fmt.Sprintf("+%d.%03d s", d/protocol.Second, d%protocol.Second)
}

// roundTable shows the quotes of a round, the best first.
func (t Story) roundTable(fact event.LogEvent) string {
	quotes := slices.Clone(fact.Quotes)
	slices.SortStableFunc(quotes, func(x, y view.Quote) int {
		switch {
		case (x.Declined == "") != (y.Declined == ""):
			if x.Declined == "" {
				return -1
			}
			return 1
		case x.Declined != "":
			return strings.Compare(string(x.Site), string(y.Site))
		}
		return cmp.Compare(x.ATT(), y.ATT())
	})
	rows := tableOf(quotes, t.columns(quotes, func(q view.Quote) bool {
		return q.Site == fact.Site && q.CPUs == fact.CPUs
	}))
	for _, site := range fact.Silent {
		cells := slices.Repeat([]string{"-"}, len(rows.Titles))
		cells[0], cells[1], cells[len(cells)-1] = "", console.Plain(site), "did not answer in time"
		rows.Add(cells...)
	}
	return rows.Text(strings.Repeat(" ", storyIndent), true)
}

// columns are those of a round's quotes; the chosen one is marked.
func (t Story) columns(quotes []view.Quote, chosen func(view.Quote) bool) []quoteColumn {
	return slices.Concat(
		[]quoteColumn{
			{"", func(q view.Quote) string {
				if chosen(q) {
					return "→"
				}
				return ""
			}, true},
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

// sentence tells a fact in words.
func sentence(fact event.LogEvent) string {
	text, known := phrases()[fact.Kind]
	if !known {
		text = string(fact.Kind)
	}
	site := console.Plain(string(fact.Site))
	if site == "" {
		site = "no site"
	}
	text = strings.NewReplacer("{site}", site, "{round}", strconv.FormatUint(uint64(fact.Round), 10)).Replace(text)
	if fact.State != 0 && (fact.Kind == event.LogJobEnded || fact.Kind == event.LogGuestEnded) {
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
		event.LogJobPlacedLocally:    "stays at its own site",
		event.LogRoundOpened:         "round {round}: the sites are asked for quotes",
		event.LogRoundDecided:        "round {round}: {site} is chosen",
		event.LogJobDeferred:         "waits in the grid queue",
		event.LogJobCommitted:        "put into the local queue of {site}",
		event.LogJobOffered:          "offered to {site}",
		event.LogOfferRefused:        "{site} refused the offer",
		event.LogStartMissed:         "has not started with its group",
		event.LogReserved:            "{site} holds room for it",
		event.LogJobGranted:          "{site} is prepared; granted to it, durably",
		event.LogJobHandedOff:        "{site} has accepted and owns it",
		event.LogJobStarted:          "started at {site}",
		event.LogJobEnded:            "ended",
		event.LogJobRequeued:         "back in the grid queue",
		event.LogCancelRequested:     "cancel requested",
		event.LogJobReclaimed:        "{site} is lost; it may run again elsewhere",
		event.LogNeedsOperator:       "needs an operator",
		event.LogRequeueForced:       "requeued by force",
		event.LogRecoveryNeeded:      "the database of {site} is older than what was seen of it",
		event.LogRecovered:           "the database of {site} goes on",
		event.LogTwoPeers:            "two peers run as {site}",
		event.LogUnknownLocalJob:     "the local scheduler has it, and no row knows it",
		event.LogPartnerMissing:      "{site} is not configured any more",
		event.LogGuestPrepared:       "offered by {site}; room is kept for it here",
		event.LogGuestRefused:        "offered by {site}, and refused",
		event.LogGuestAccepted:       "granted by {site}; this site owns it",
		event.LogGuestAborted:        "{site} took its offer back",
		event.LogGuestStarted:        "started here",
		event.LogGuestEnded:          "ended here",
		event.LogGuestClosed:         "{site} has the result",
		event.LogPartnerUp:           "the link to {site} came up",
		event.LogPartnerDown:         "the link to {site} broke",
		event.LogKeyRefused:          "the key of {site} is refused, or that of this site there",
		event.LogPartnerUnresponsive: "{site} does not answer in time",
		event.LogVolunteered:         "this site tells its partners that it would take jobs",
		event.LogPartnerVolunteered:  "{site} volunteers to take jobs",
		event.LogReconfigured:        "the rules of {site} changed",
		event.LogSiteIDConflict:      "{site} has a name or number that another site has",
		event.LogMemberConflict:      "gossip tells of {site}, with this site's name or number",
		event.LogCallFailed:          "a call failed",
		event.LogCallRestored:        "a call works again",
		event.LogPartnerQuality:      "how {site} keeps its quotes has changed",
		event.LogOutputLeft:          "its output is not brought from {site}",
		event.LogQuoteRequestDropped: "{site} asked for more quotes at once than are worked on",
		event.LogOfferDropped:        "{site} is refused very often",
		event.LogPricesMissing:       "the prices of electricity are not known",
		event.LogPolicyFailed:        "the policy failed",
		event.LogUnexpectedMessage:   "{site} sent something that makes no sense here",
	}
}
