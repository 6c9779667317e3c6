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
func (t Story) Text(job view.Job, facts []event.Fact) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Job %s %q of %s: %s.\n", job.ID, console.Plain(job.Name), console.Plain(job.User), sizeText(job))
	out.WriteString(componentText(job))
	if t.Long && job.Wishes != nil {
		out.WriteString(console.Flowed(wishesText(job.Wishes), 0, storyIndent+storyWidth) + "\n")
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
func (t Story) roundTable(fact event.Fact) string {
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
func sentence(fact event.Fact) string {
	text, known := phrases()[fact.Kind]
	if !known {
		text = string(fact.Kind)
	}
	site := console.Plain(string(fact.Site))
	if site == "" {
		site = "no site"
	}
	text = strings.NewReplacer("{site}", site, "{round}", strconv.FormatUint(uint64(fact.Round), 10)).Replace(text)
	if fact.State != 0 && (fact.Kind == event.JobEnded || fact.Kind == event.GuestEnded) {
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
	if fact.Took != 0 {
		aside = append(aside, "took "+console.Brief(fact.Took))
	}
	if len(aside) > 0 {
		text += " (" + strings.Join(aside, ", ") + ")"
	}
	return text
}

func phrases() map[event.FactKind]string {
	return map[event.FactKind]string{
		event.JobSubmitted:      "submitted",
		event.JobShortcut:       "stays at its own site",
		event.RoundOpened:       "round {round}: the sites are asked for quotes",
		event.RoundDecided:      "round {round}: {site} is chosen",
		event.JobWaits:          "waits in the grid queue",
		event.JobCommitted:      "put into the local queue of {site}",
		event.JobOffered:        "offered to {site}",
		event.OfferRefused:      "{site} refused the offer",
		event.StartMissed:       "has not started with its group",
		event.RoomHeld:          "{site} holds room for it",
		event.JobGranted:        "{site} is prepared; granted to it, durably",
		event.JobHanded:         "{site} has accepted and owns it",
		event.JobStarted:        "started at {site}",
		event.JobEnded:          "ended",
		event.JobReturned:       "back in the grid queue",
		event.JobCancelled:      "cancel requested",
		event.JobRequeued:       "{site} is lost; it may run again elsewhere",
		event.NeedsOperator:     "needs an operator",
		event.RequeueForced:     "requeued by force",
		event.RecoveryNeeded:    "the database of {site} is older than what was seen of it",
		event.Recovered:         "the database of {site} goes on",
		event.TwoPeers:          "two peers run as {site}",
		event.SetAside:          "the local scheduler has it, and no row knows it",
		event.PartnerMissing:    "{site} is not configured any more",
		event.GuestPrepared:     "offered by {site}; room is kept for it here",
		event.GuestRefused:      "offered by {site}, and refused",
		event.GuestOwned:        "granted by {site}; this site owns it",
		event.GuestAborted:      "{site} took its offer back",
		event.GuestStarted:      "started here",
		event.GuestEnded:        "ended here",
		event.GuestClosed:       "{site} has the result",
		event.PartnerUp:         "the link to {site} came up",
		event.PartnerDown:       "the link to {site} broke",
		event.KeyRefused:        "the key of {site} is refused, or that of this site there",
		event.PartnerSilent:     "{site} does not answer in time",
		event.Volunteered:       "this site tells its partners that it would take jobs",
		event.PartnerVolunteers: "{site} volunteers to take jobs",
		event.Retuned:           "the rules of {site} changed",
		event.NameClash:         "{site} has a name or number that another site has",
		event.MemberClash:       "gossip tells of {site}, with this site's name or number",
		event.CallFailed:        "a call failed",
		event.CallWorks:         "a call works again",
		event.PartnerQuality:    "how {site} keeps its quotes has changed",
		event.OutputLeft:        "its output is not brought from {site}",
		event.QuestionDropped:   "{site} asked for more quotes at once than are worked on",
		event.OfferDropped:      "{site} is refused very often",
		event.PricesMissing:     "the prices of electricity are not known",
		event.PolicyFailed:      "the policy failed",
		event.MessageOdd:        "{site} sent something that makes no sense here",
	}
}
