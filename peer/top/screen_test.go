package top

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var now = time.Unix(1_800_000_000, 0)

// someJobs are running jobs with the IDs from first on.
func someJobs(first, n int) (all []view.Job) {
	for i := range n {
		all = append(all, view.Job{
			ID: protocol.JobID(1_000_000_000_000 + first + i), Name: fmt.Sprintf("job%d", first+i), User: "ada", State: protocol.Running,
			CPUs: 4, Origin: "aurora", Site: "borealis", Submitted: protocol.InstantOf(now), Started: protocol.InstantOf(now),
		})
	}
	return all
}

// answered is a screen of that size that shows the jobs.
func answered(height int, jobs []view.Job) *screen {
	s := &screen{width: 100, height: height, page: jobsPage}
	s.take(s.answerWith(jobs))
	return s
}

func (s *screen) answerWith(jobs []view.Job) answer {
	a := answer{question: s.question(), self: "aurora", at: now, jobs: view.Queue{Jobs: jobs}}
	age := protocol.Second
	a.grid.Sites = view.Sites{Sites: []view.Site{
		{Site: "aurora", Link: "self", CPUs: 8, Age: &age}, {Site: "borealis", Link: "down", CPUs: 8},
	}}
	a.counts.Lines = []view.CountLine{{State: protocol.Running, Jobs: 3}, {State: protocol.Pending, Jobs: 4}}
	return a
}

// keys presses keys, each a letter or the name of a key in angle brackets, and returns the last reaction.
func (s *screen) keys(keys ...string) (last reaction) {
	named := map[string]tcell.Key{
		"<enter>": tcell.KeyEnter, "<esc>": tcell.KeyEscape, "<tab>": tcell.KeyTab, "<up>": tcell.KeyUp, "<down>": tcell.KeyDown,
		"<end>": tcell.KeyEnd, "<home>": tcell.KeyHome, "<pgdn>": tcell.KeyPgDn, "<pgup>": tcell.KeyPgUp, "<left>": tcell.KeyLeft,
		"<right>": tcell.KeyRight, "<back>": tcell.KeyBackspace2, "<backtab>": tcell.KeyBacktab,
	}
	for _, key := range keys {
		if code, ok := named[key]; ok {
			last = s.press(tcell.NewEventKey(code, 0, 0), now)
			continue
		}
		for _, letter := range key {
			last = s.press(tcell.NewEventKey(tcell.KeyRune, letter, 0), now)
		}
	}
	return last
}

// text is what the screen shows.
func (s *screen) text() string {
	var out strings.Builder
	for _, l := range s.lines(now) {
		out.WriteString(l.text + "\n")
	}
	return out.String()
}

// chosen is the text of the line that is shown as selected.
func (s *screen) chosen() string {
	for _, l := range s.lines(now) {
		if l.look == selected || l.look == selectedBad {
			return l.text
		}
	}
	return ""
}

func TestSelection(t *testing.T) {
	t.Parallel()
	s := answered(12, someJobs(0, 30))
	for _, step := range []struct {
		keys []string
		job  string
	}{
		{nil, "job0"},
		{[]string{"<down>", "j"}, "job2"},
		{[]string{"<up>"}, "job1"},
		{[]string{"<end>"}, "job29"},
		{[]string{"<pgup>"}, "job22"},
		{[]string{"<home>", "k"}, "job0"},
		{[]string{"<pgdn>"}, "job7"},
	} {
		s.keys(step.keys...)
		if got := s.chosen(); !strings.Contains(got, step.job+" ") {
			t.Fatalf("after %q the selected row is %q, want that of %s\n%s", step.keys, got, step.job, s.text())
		}
	}
	s.take(s.answerWith(someJobs(5, 30)))
	if got := s.chosen(); !strings.Contains(got, "job7 ") {
		t.Errorf("with fewer jobs above it the selected row is %q, want still that of job7", got)
	}
	s.take(s.answerWith(someJobs(8, 2)))
	if got := s.chosen(); !strings.Contains(got, "job9 ") {
		t.Errorf("without the selected job the selected row is %q, want the nearest, of job9", got)
	}
	s = answered(12, someJobs(0, 12))
	s.keys("<end>", "<up>") // job10, the eleventh row
	for _, left := range [][]view.Job{someJobs(6, 6), append(someJobs(6, 4), someJobs(11, 1)...)} {
		s.take(s.answerWith(left))
		s.lines(now)
	}
	if got := s.chosen(); !strings.Contains(got, "job11 ") {
		t.Errorf("when jobs above it have gone, and then itself, the selected row is %q, want the nearest, of job11", got)
	}
	s.take(s.answerWith(nil))
	if got := s.text(); !strings.Contains(got, "none") || s.keys("<enter>") != (reaction{}) || s.keys("c").do != nil {
		t.Errorf("without jobs: %s", got)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	s := answered(12, someJobs(0, 30))
	s.keys("/", "JOB2x", "<back>")
	if got := s.text(); !strings.Contains(got, "job26") || strings.Contains(got, "job19") || strings.Contains(got, "job3 ") || !strings.Contains(got, "/JOB2_") {
		t.Errorf("while the filter is typed:\n%s", got)
	}
	if s.keys("<enter>"); !strings.Contains(s.text(), `11 of 30 jobs with "JOB2"`) {
		t.Errorf("with a filter:\n%s", s.text())
	}
	if s.keys("<esc>"); !strings.Contains(s.text(), "\n30 jobs") {
		t.Errorf("without it:\n%s", s.text())
	}
}

func TestOrdersAreConfirmed(t *testing.T) {
	t.Parallel()
	s := answered(12, someJobs(0, 3))
	for key, verb := range map[string]verb{"c": cancelJob, "h": holdJob, "r": releaseJob} {
		s.keys("<home>", "<down>")
		if got := s.keys(key); got.do != nil || !strings.Contains(s.text(), string(verb)+" job 1000000000001? y") {
			t.Errorf("%s: %+v\n%s", key, got, s.text())
		}
		if got := s.keys("n"); got.do != nil || !strings.Contains(s.text(), "1000000000001 is left as it is") {
			t.Errorf("%s, n: %+v\n%s", key, got, s.text())
		}
		got := s.keys(key, "y")
		if got.do == nil || got.do.verb != verb || got.do.job.Job != 1_000_000_000_001 {
			t.Errorf("%s, y: %+v", key, got.do)
		}
	}
	s.keys("1")
	s.take(s.answerWith(nil))
	if got := s.keys("c", "y"); got.do != nil || !strings.Contains(s.text(), "2 sites") {
		t.Errorf("on a page without jobs: %+v\n%s", got, s.text())
	}
}

func TestStory(t *testing.T) {
	t.Parallel()
	s := answered(12, someJobs(0, 3))
	if got := s.keys("<down>", "<enter>"); !got.ask || s.question().job != "1000000000001" || !strings.Contains(s.text(), "asking the peer") {
		t.Fatalf("%+v, %+v\n%s", got, s.question(), s.text())
	}
	a := s.answerWith(nil)
	a.opened = someJobs(1, 1)[0]
	s.take(a)
	if got := s.text(); !strings.Contains(got, "job1") || !strings.Contains(got, "Esc: back") {
		t.Errorf("the story:\n%s", got)
	}
	if s.keys("<end>"); !strings.Contains(s.text(), "no entry for this job") {
		t.Errorf("the end of the story:\n%s", s.text())
	}
	if got := s.keys("c", "y"); got.do == nil || got.do.job.Job != 1_000_000_000_001 {
		t.Errorf("an order from the story: %+v", got.do)
	}
	if got := s.keys("<esc>"); !got.ask || s.question().job != "" {
		t.Errorf("back: %+v, %+v", got, s.question())
	}
}

// TestLateAnswer: an answer to an earlier question is never shown as one to this.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	s := answered(12, someJobs(0, 3))
	late := s.answerWith(someJobs(0, 3))
	if got := s.keys("4"); !got.ask {
		t.Errorf("another page asks nothing: %+v", got)
	}
	s.take(late)
	if got := s.text(); strings.Contains(got, "job0") || !strings.Contains(got, "asking the peer") || !strings.Contains(got, "1 of 2 sites up; 3 running, 4 pending") {
		t.Errorf("guests:\n%s", got)
	}
}

func TestSiteOpensItsJobs(t *testing.T) {
	t.Parallel()
	s := answered(12, nil)
	s.keys("1", "<down>")
	if got := s.chosen(); !strings.HasPrefix(got, "borealis") {
		t.Fatalf("selected: %q", got)
	}
	if got := s.keys("<enter>"); !got.ask || s.page != jobsPage || s.question().site != "borealis" || !strings.Contains(s.text(), "at borealis") {
		t.Errorf("%+v\n%s", s.question(), s.text())
	}
	wanted, ok := new(s.question()).listing()
	if !ok || len(wanted.Sites) != 1 || wanted.Sites[0] != "borealis" {
		t.Errorf("listing: %+v", wanted)
	}
	if got := s.keys("<esc>"); !got.ask || s.question().site != "" {
		t.Errorf("back: %+v", s.question())
	}
}

func TestMouse(t *testing.T) {
	t.Parallel()
	s := answered(12, someJobs(0, 30))
	at := func(x, y int, buttons tcell.ButtonMask) reaction {
		s.lines(now)
		return s.point(tcell.NewEventMouse(x, y, buttons, 0), now)
	}
	at(0, 5, tcell.WheelDown)
	if got := s.chosen(); !strings.Contains(got, "job3 ") {
		t.Errorf("the wheel selects %q", got)
	}
	if got := at(5, titlesLine+3, tcell.Button1); got.ask || !strings.Contains(s.chosen(), "job2 ") {
		t.Errorf("a click: %+v, selects %q", got, s.chosen())
	}
	if got := at(5, titlesLine+3, tcell.Button1); !got.ask || s.opened != "1000000000002" {
		t.Errorf("a second click: %+v, opens %q", got, s.opened)
	}
	if got := at(len(s.tab(0))+2, tabsLine, tcell.Button1); !got.ask || s.page != jobsPage || s.opened != "" {
		t.Errorf("a click on the name of a page: %+v, page %v", got, s.page)
	}
}

func TestErrorsAndEvents(t *testing.T) {
	t.Parallel()
	s := answered(12, someJobs(0, 1))
	a := s.answerWith(nil)
	a.err = errors.New("no\x1b[2J peer")
	s.take(a)
	if got := s.text(); !strings.Contains(got, `no\u001b[2J peer`) && !strings.Contains(got, `no\x1b[2J peer`) || !strings.Contains(got, "job0") {
		t.Errorf("with an error, beside what was known:\n%s", got)
	}
	s.take(s.answerWith(nil))
	if s.failed != "" {
		t.Errorf("after an answer the error is still %q", s.failed)
	}
	s.keys("6")
	for range mostEvents + 10 {
		s.takeEvent(&api.Event{Name: "gap", Gap: &eventstream.Gap{Missed: 7}})
	}
	if got := s.text(); !strings.Contains(got, "7 events are not kept any more") || !strings.Contains(got, "\n500 events") {
		t.Errorf("events:\n%s", got)
	}
}

// TestAnyKeys: whatever is pressed, at whatever size, the screen has as many lines as the terminal, nothing is
// ordered without a y, and the selected row can be seen.
func TestAnyKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := answered(rapid.IntRange(0, 30).Draw(t, "height"), someJobs(0, rapid.IntRange(0, 40).Draw(t, "jobs")))
		t.Repeat(map[string]func(*rapid.T){
			"key": func(t *rapid.T) {
				key := rapid.SampledFrom([]string{
					"<enter>", "<esc>", "<tab>", "<backtab>", "<up>", "<down>", "<end>", "<home>", "<pgdn>", "<pgup>", "<left>", "<right>", "<back>",
					"/", "c", "h", "r", "?", "y", "1", "2", "3", "4", "5", "6", "7", "j", "k", "é",
				}).Draw(t, "key")
				asked := s.asked
				if got := s.keys(key); got.do != nil && (asked == nil || key != "y") {
					t.Fatalf("%q orders %+v", key, got.do)
				}
			},
			"click": func(t *rapid.T) {
				buttons := rapid.SampledFrom([]tcell.ButtonMask{tcell.Button1, tcell.WheelDown, tcell.WheelUp, tcell.ButtonNone}).Draw(t, "buttons")
				s.point(tcell.NewEventMouse(rapid.IntRange(0, 99).Draw(t, "x"), rapid.IntRange(0, 30).Draw(t, "y"), buttons, 0), now)
			},
			"answer": func(t *rapid.T) {
				s.take(s.answerWith(someJobs(rapid.IntRange(0, 9).Draw(t, "first"), rapid.IntRange(0, 40).Draw(t, "jobs"))))
			},
			"size": func(t *rapid.T) { s.height = rapid.IntRange(0, 30).Draw(t, "height") },
			"": func(t *rapid.T) {
				lines := s.lines(now)
				if len(lines) != s.height {
					t.Fatalf("%d lines at a height of %d", len(lines), s.height)
				}
				_, rows, _, ok := s.rows(now)
				if ok && len(rows) > 0 && s.body() > 0 && !s.help && s.opened == "" && s.chosen() == "" && s.left == 0 {
					t.Fatalf("no row is selected:\n%s", s.text())
				}
			},
		})
	})
}
