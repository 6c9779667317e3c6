package top

import (
	"fmt"
	"time"
	"unicode"

	"github.com/gdamore/tcell/v2"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// verb is something that is done with a job.
type verb string

const (
	cancelJob  verb = "cancel"
	holdJob    verb = "hold"
	releaseJob verb = "release"
)

// order is what the user wants done.
type order struct {
	verb verb
	job  protocol.JobName
}

// reaction is what a key asks for that the screen alone cannot do.
type reaction struct {
	quit bool
	ask  bool   // what is shown has changed: the peer has to be asked at once
	draw bool   // the terminal shows something else than the screen, maybe of another program
	do   *order // confirmed by the user
}

// How far the wheel and the arrows move.
const (
	wheelRows  = 3
	sideways   = 16      // characters
	furthest   = 1 << 30 // rows: to the first or the last one
	pageMargin = 1       // rows that stay when a page is turned
)

// press reacts to a key.
func (s *screen) press(key *tcell.EventKey, now time.Time) reaction {
	switch {
	case key.Key() == tcell.KeyCtrlC:
		return reaction{quit: true}
	case key.Key() == tcell.KeyCtrlL:
		return reaction{draw: true}
	case s.asked != nil:
		return s.confirm(key)
	case s.typing:
		s.typeFilter(key)
		return reaction{}
	case s.help:
		s.help = false
		return reaction{}
	case s.moves(key, now):
		return reaction{}
	}
	s.note = ""
	switch key.Key() { //nolint:exhaustive // the others do nothing
	case tcell.KeyEscape, tcell.KeyBackspace, tcell.KeyBackspace2:
		return s.back()
	case tcell.KeyEnter:
		return s.open(now)
	case tcell.KeyTab:
		return s.turnTo((s.page + 1) % pages)
	case tcell.KeyBacktab:
		return s.turnTo((s.page + pages - 1) % pages)
	case tcell.KeyRune:
		return s.letter(key.Rune(), now)
	}
	return reaction{}
}

// letter reacts to a key with a letter.
func (s *screen) letter(letter rune, now time.Time) reaction {
	switch letter {
	case 'q':
		return reaction{quit: true}
	case '?':
		s.help = true
	case '/':
		s.typing = s.opened == ""
	case 'c':
		s.request(cancelJob, now)
	case 'h':
		s.request(holdJob, now)
	case 'r':
		s.request(releaseJob, now)
	default:
		if number := page(letter - '1'); letter >= '1' && number < pages {
			return s.turnTo(number)
		}
	}
	return reaction{}
}

// confirm goes on with an order, if the user says yes.
func (s *screen) confirm(key *tcell.EventKey) reaction {
	asked := s.asked
	s.asked = nil
	if key.Key() == tcell.KeyRune && unicode.ToLower(key.Rune()) == 'y' {
		s.note = fmt.Sprintf("%s of %s requested …", asked.verb, asked.job)
		return reaction{do: asked}
	}
	s.note = fmt.Sprintf("%s is left as it is", asked.job)
	return reaction{}
}

// request has the user confirm an order for the selected or opened job.
func (s *screen) request(v verb, now time.Time) {
	key := s.opened
	if key == "" && s.page.listsJobs() {
		if _, rows, _, _ := s.rows(now); len(rows) > 0 {
			key = rows[s.places[s.page].selected(rows)].key
		}
	}
	name, err := protocol.ParseJobName(key)
	if err != nil {
		s.note = "select a job first, on a page that lists jobs"
		return
	}
	s.asked = &order{v, name}
}

// typeFilter changes the text that rows must have.
func (s *screen) typeFilter(key *tcell.EventKey) {
	switch key.Key() { //nolint:exhaustive // the others do nothing
	case tcell.KeyEnter:
		s.typing = false
	case tcell.KeyEscape:
		s.typing, s.filter = false, ""
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		if letters := []rune(s.filter); len(letters) > 0 {
			s.filter = string(letters[:len(letters)-1])
		}
	case tcell.KeyCtrlU:
		s.filter = ""
	case tcell.KeyRune:
		s.filter += string(key.Rune())
	}
}

// moves selects or scrolls, if the key is for that.
func (s *screen) moves(key *tcell.EventKey, now time.Time) bool {
	turned := max(1, s.body()-pageMargin)
	switch key.Key() { //nolint:exhaustive // the others do not move
	case tcell.KeyUp:
		s.move(-1, now)
	case tcell.KeyDown:
		s.move(1, now)
	case tcell.KeyPgUp:
		s.move(-turned, now)
	case tcell.KeyPgDn:
		s.move(turned, now)
	case tcell.KeyHome:
		s.move(-furthest, now)
	case tcell.KeyEnd:
		s.move(furthest, now)
	case tcell.KeyLeft:
		s.left = max(0, s.left-sideways)
	case tcell.KeyRight:
		s.left += sideways
	case tcell.KeyRune:
		switch key.Rune() {
		case 'k':
			s.move(-1, now)
		case 'j':
			s.move(1, now)
		default:
			return false
		}
	default:
		return false
	}
	return true
}

// move selects another row, or scrolls the story.
func (s *screen) move(by int, now time.Time) {
	if s.opened != "" {
		s.line = max(0, min(s.line+by, len(s.storyLines(now))-s.body()))
		return
	}
	_, rows, _, _ := s.rows(now)
	at := &s.places[s.page]
	at.choose(rows, at.selected(rows)+by)
}

// turnTo shows another page.
func (s *screen) turnTo(p page) reaction {
	s.page, s.opened, s.left, s.site = p, "", 0, ""
	return reaction{ask: true}
}

// back goes back from the story, and then from what narrows the list.
func (s *screen) back() reaction {
	switch {
	case s.opened != "":
		s.opened, s.line = "", 0
	case s.filter != "":
		s.filter = ""
		return reaction{}
	default:
		s.site = ""
	}
	return reaction{ask: true}
}

// open shows the selected job, or the jobs at the selected site.
func (s *screen) open(now time.Time) reaction {
	_, rows, _, _ := s.rows(now)
	i := s.places[s.page].selected(rows)
	if s.opened != "" || i < 0 || rows[i].key == "" {
		return reaction{}
	}
	if s.page == sitesPage {
		site := protocol.SiteName(rows[i].key)
		s.turnTo(jobsPage)
		s.site = site
		return reaction{ask: true}
	}
	name, err := protocol.ParseJobName(rows[i].key)
	if err != nil || len(name.Elements) > 1 {
		s.note = rows[i].key + " is several elements of an array; switchyard queue --array lists them"
		return reaction{}
	}
	s.opened, s.line, s.left = rows[i].key, 0, 0
	return reaction{ask: true}
}

// point reacts to the mouse: the wheel scrolls; a click selects, and opens what is selected already.
func (s *screen) point(mouse *tcell.EventMouse, now time.Time) reaction {
	if s.asked != nil || s.typing || s.help {
		return reaction{}
	}
	x, y := mouse.Position()
	switch buttons := mouse.Buttons(); {
	case buttons&tcell.WheelUp != 0:
		s.move(-wheelRows, now)
	case buttons&tcell.WheelDown != 0:
		s.move(wheelRows, now)
	case buttons&tcell.Button1 == 0:
	case y == tabsLine:
		if p, ok := s.tabAt(x); ok {
			return s.turnTo(p)
		}
	case y > titlesLine && y <= titlesLine+s.body() && s.opened == "":
		return s.click(y-titlesLine-1, now)
	}
	return reaction{}
}

// click selects the row at a line below the titles, or opens it.
func (s *screen) click(line int, now time.Time) reaction {
	_, rows, _, _ := s.rows(now)
	at := &s.places[s.page]
	i := at.first + line
	switch {
	case i >= len(rows):
	case i == at.selected(rows):
		return s.open(now)
	default:
		at.choose(rows, i)
	}
	return reaction{}
}
