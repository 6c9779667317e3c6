package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// look is how a line stands out.
type look int

const (
	plain look = iota
	strong
	titles   // of columns
	selected // by the user
	bad      // what needs a look
	selectedBad
)

// line is a line of the screen.
type line struct {
	text string
	look look
}

// The lines of the screen that are always there, from the top. The last line is for notes and questions.
const (
	answerLine = iota
	tabsLine
	titlesLine
	frame = titlesLine + 2 // lines that are no rows
)

// body is how many rows or lines of a story there is room for.
func (s *screen) body() int { return max(0, s.height-frame) }

// lines are what the screen shows now, as many as it has lines.
func (s *screen) lines(now time.Time) []line {
	all := []line{{s.answer(), strong}, {s.tabs(), plain}}
	switch {
	case s.help:
		all = append(all, line{"Keys", titles})
		for text := range strings.SplitSeq(helpText, "\n") {
			all = append(all, line{text, plain})
		}
	case s.opened != "":
		all = append(all, s.story(now)...)
	default:
		all = append(all, s.list(now)...)
	}
	room := max(0, s.height-1)
	if len(all) > room {
		all = all[:room]
	}
	for len(all) < room {
		all = append(all, line{})
	}
	return append(all, s.bottom(now))[:max(0, s.height)]
}

// helpText says what the keys do.
const helpText = `1 to 6, Tab       another page
Up, Down, k, j    select a row; PgUp, PgDn, Home, End: further
Left, Right       the rest of long lines
Enter             the story of the selected job; of a site: its jobs
Esc               back
/                 list only rows with a text; Esc: all rows again
c, h, r           cancel, hold or release the selected job, after a question
Ctrl-L            draw all again
q                 leave
Mouse             the wheel scrolls, a click selects, a second click opens

Any key goes back.`

// answer says in a line how the grid is.
func (s *screen) answer() string {
	if s.latest.at.IsZero() {
		return "switchyard top"
	}
	up, pending, running := 0, 0, 0
	for _, site := range s.latest.grid.Sites.Sites {
		if site.Link == "self" || site.Link == "up" {
			up++
		}
	}
	for _, counted := range s.latest.counts.Lines {
		switch counted.State { //nolint:exhaustive // jobs that have ended are not counted here
		case protocol.Pending:
			pending += counted.Jobs
		case protocol.Running:
			running += counted.Jobs
		}
	}
	answer := []string{fmt.Sprintf("%s  %s  %d of %s up; %d running, %d pending", console.Plain(string(s.latest.self)),
		s.latest.at.Local().Format("15:04:05"), up, protocol.Count(len(s.latest.grid.Sites.Sites), "site"), running, pending)}
	return strings.Join(append(answer, console.Names(s.latest.grid.Alarms)...), "; ")
}

// tab is the name of a page among the others.
func (s *screen) tab(p page) string {
	if p == s.page {
		return fmt.Sprintf("[%d %s]", p+1, p.title())
	}
	return fmt.Sprintf(" %d %s ", p+1, p.title())
}

func (s *screen) tabs() string {
	var out strings.Builder
	for p := range pages {
		out.WriteString(s.tab(p))
	}
	if s.site != "" {
		out.WriteString("  at " + console.Plain(string(s.site)))
	}
	return out.String()
}

// tabAt returns the page whose name is at a column.
func (s *screen) tabAt(x int) (page, bool) {
	for p := range pages {
		x -= len(s.tab(p))
		if x < 0 {
			return p, true
		}
	}
	return 0, false
}

// list shows the rows of the page around the selected one.
func (s *screen) list(now time.Time) (out []line) {
	head, rows, _, ok := s.rows(now)
	if !ok {
		return []line{{"", titles}, {"asking the peer …", plain}}
	}
	out = []line{{s.from(head), titles}}
	at := &s.places[s.page]
	chosen := at.selected(rows)
	if chosen >= 0 {
		at.choose(rows, chosen) // what the user sees selected stays it, and its neighbour follows it
	}
	room := s.body()
	at.first = max(0, min(at.first, chosen, len(rows)-room))
	if chosen >= at.first+room {
		at.first = chosen - room + 1
	}
	for i := at.first; i < min(len(rows), at.first+room); i++ {
		shown := line{s.from(rows[i].text), plain}
		switch {
		case i == chosen && rows[i].bad:
			shown.look = selectedBad
		case i == chosen:
			shown.look = selected
		case rows[i].bad:
			shown.look = bad
		}
		out = append(out, shown)
	}
	if len(rows) == 0 {
		out = append(out, line{"none", plain})
	}
	return out
}

// story shows what is known of the opened job.
func (s *screen) story(now time.Time) (out []line) {
	out = []line{{"Job " + s.opened, titles}}
	lines := s.storyLines(now)
	if lines == nil {
		return append(out, line{"asking the peer …", plain})
	}
	for _, text := range lines[max(0, min(s.line, len(lines)-1)):] {
		out = append(out, line{s.from(text), plain})
	}
	return out
}

// from leaves out what is left of the screen.
func (s *screen) from(text string) string {
	letters := []rune(text)
	return string(letters[min(s.left, len(letters)):])
}

// bottom is the last line: a question, the filter, an error, or what keys do.
func (s *screen) bottom(now time.Time) line {
	switch {
	case s.asked != nil:
		return line{fmt.Sprintf("%s job %s? y: yes, any other key: no", s.asked.verb, s.asked.job), strong}
	case s.typing:
		return line{"/" + console.Plain(s.filter) + "_", strong}
	case s.failed != "":
		return line{s.failed, bad}
	case s.note != "":
		return line{s.note, strong}
	case s.page == eventsPage && s.cut != "":
		return line{s.cut, bad}
	}
	hint := "?: keys  q: leave"
	if s.opened != "" {
		return line{"Esc: back  c: cancel  h: hold  r: release  " + hint, plain}
	}
	_, rows, all, ok := s.rows(now)
	count := protocol.Count(all, s.page.row())
	if s.filter != "" {
		count = fmt.Sprintf("%d of %s with %q", len(rows), count, s.filter)
	}
	if ok && s.page.listsJobs() && (s.latest.jobs.Next != 0 || all == mostJobs) {
		count += fmt.Sprintf(", of at most %d", mostJobs)
	}
	if s.page != eventsPage {
		count += "  Enter: open"
	}
	return line{count + "  /: filter  " + hint, plain}
}
