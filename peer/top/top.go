package top

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// How often the screen is made again for what changes with the time; within this, changes are asked for together.
const pulse = time.Second

const (
	restPulses = 10               // after which the peer is asked although no event came: ages and utilization change without one
	patience   = 30 * time.Second // for an answer
	again      = 5 * time.Second  // until the stream of events is tried again
)

// done says what came of an order.
type done struct {
	order order
	err   error
}

// happened is an event, or why none comes.
type happened struct {
	event api.Event
	cut   error
}

// session is a screen with what it needs.
type session struct {
	screen

	peer     *api.Client
	terminal tcell.Screen
	now      func() time.Time

	orders  sync.WaitGroup // that are not answered yet
	answers chan answer
	results chan done
	changes chan happened

	asking bool
	stale  bool // whether something has happened since the last question
	pulses int  // since the last question
}

// Run shows the peer on the terminal until the user leaves or ctx ends. The terminal is initialized; the caller ends it.
// What the user has confirmed is done before it returns; an error of that is returned if it was not shown any more.
func Run(ctx context.Context, peer *api.Client, terminal tcell.Screen, now func() time.Time) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &session{
		peer: peer, terminal: terminal, now: now,
		answers: make(chan answer, 1), results: make(chan done, 1), changes: make(chan happened, 1),
	}
	s.width, s.height = terminal.Size()
	inputs := make(chan tcell.Event)
	stopped := make(chan struct{})
	go terminal.ChannelEvents(inputs, stopped)
	followed := make(chan struct{})
	go func() { defer close(followed); s.follow(ctx) }()
	defer func() {
		cancel()
		close(stopped)
		<-followed
	}()
	defer func() { err = errors.Join(err, s.lastOrders()) }()
	terminal.EnableMouse(tcell.MouseButtonEvents)
	tick := time.NewTicker(pulse)
	defer tick.Stop()
	s.ask(ctx)
	for {
		s.show()
		select {
		case <-ctx.Done():
			return nil
		case input, ok := <-inputs:
			if !ok || s.react(ctx, input) {
				return nil
			}
		case a := <-s.answers:
			s.answered(ctx, a)
		case d := <-s.results:
			s.finished(ctx, d)
		case h := <-s.changes:
			s.happened(h)
		case <-tick.C:
			s.pulses++
			if s.stale || s.pulses >= restPulses {
				s.ask(ctx)
			}
		}
	}
}

// react handles an event of the terminal. It returns whether the user leaves.
func (s *session) react(ctx context.Context, input tcell.Event) (leave bool) {
	var w reaction
	switch input := input.(type) {
	case *tcell.EventResize:
		s.width, s.height = input.Size()
		w.draw = true
	case *tcell.EventKey:
		w = s.press(input, s.now())
	case *tcell.EventMouse:
		w = s.point(input, s.now())
	case *tcell.EventError:
		s.failed = console.Plain(input.Error())
	}
	if w.draw {
		s.terminal.Sync()
	}
	if w.do != nil {
		s.orders.Go(func() { s.results <- s.carryOut(context.WithoutCancel(ctx), *w.do) })
	}
	if w.ask {
		s.ask(ctx)
	}
	return w.quit
}

// answered notes an answer, and asks again at once if the user wants to see something else by now.
func (s *session) answered(ctx context.Context, a answer) {
	s.asking = false
	s.take(a)
	if a.question != s.question() {
		s.ask(ctx)
	}
}

// finished says what came of an order.
func (s *session) finished(ctx context.Context, d done) {
	s.note = fmt.Sprintf("%s of %s: accepted", d.order.verb, d.order.job)
	if d.err != nil {
		s.note = fmt.Sprintf("%s of %s: %s", d.order.verb, d.order.job, console.Plain(d.err.Error()))
	}
	s.ask(ctx)
}

func (s *session) happened(h happened) {
	if h.cut != nil {
		s.cut = "no events: " + console.Plain(h.cut.Error())
		return
	}
	s.stale = true
	s.takeEvent(&h.event)
}

// ask puts the question of the screen to the peer, one at a time.
func (s *session) ask(ctx context.Context) {
	if s.asking {
		s.stale = true
		return
	}
	s.asking, s.stale, s.pulses = true, false, 0
	q := s.question()
	go func() {
		within, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		a, err := askPeer(within, s.peer, q)
		a.question, a.err, a.at = q, err, s.now()
		s.answers <- a
	}()
}

// askPeer asks for all that a question needs.
func askPeer(ctx context.Context, peer *api.Client, q question) (a answer, err error) {
	info, err := peer.Info(ctx)
	if err != nil {
		return a, err
	}
	a.self = info.Site
	a.grid.Rules, a.grid.Gossip, a.grid.Alarms = info.Rules, info.Gossip, info.Alarms
	if a.grid.Sites, err = peer.Sites(ctx); err != nil {
		return a, err
	}
	if a.counts, err = peer.Counts(ctx); err != nil {
		return a, err
	}
	if q.job != "" {
		name, bad := protocol.ParseJobName(q.job)
		if bad != nil {
			return a, bad
		}
		if a.opened, err = peer.Job(ctx, name); err != nil {
			return a, err
		}
		a.story, err = peer.Explain(ctx, name)
		return a, err
	}
	if wanted, lists := q.listing(); lists {
		a.jobs, err = peer.Queue(ctx, wanted)
	}
	return a, err
}

// carryOut has an order done.
func (s *session) carryOut(ctx context.Context, o order) done {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	do := map[verb]func(context.Context, protocol.JobName) error{
		cancelJob: s.peer.CancelElements, holdJob: s.peer.Hold, releaseJob: s.peer.Release,
	}[o.verb]
	return done{o, do(within, o.job)}
}

// lastOrders waits for the orders that are not answered when the user leaves.
func (s *session) lastOrders() (err error) {
	go func() {
		s.orders.Wait()
		close(s.results)
	}()
	for result := range s.results {
		if result.err != nil {
			err = errors.Join(err, fmt.Errorf("%s of %s: %w", result.order.verb, result.order.job, result.err))
		}
	}
	return err
}

// follow passes on what happens at the peer, and tries again after an error.
func (s *session) follow(ctx context.Context) {
	var after string
	pass := func(h happened) error {
		select {
		case s.changes <- h:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for {
		err := s.peer.Events(ctx, api.Following{After: after}, func(e api.Event) error {
			after = e.ID
			return pass(happened{event: e})
		})
		if ctx.Err() != nil || pass(happened{cut: err}) != nil {
			return
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return
		}
	}
}

// show draws the screen. Lines are as wide as the terminal, so that the terminal is sent only what differs from before.
func (s *session) show() {
	for y, l := range s.lines(s.now()) {
		text := l.text + strings.Repeat(" ", max(0, s.width-utf8.RuneCountInString(l.text)))
		s.terminal.PutStrStyled(0, y, text, l.look.style())
	}
	s.terminal.Show()
}

// style is how a terminal shows a look.
func (l look) style() tcell.Style {
	style := tcell.StyleDefault
	switch l {
	case plain:
	case strong:
		style = style.Bold(true)
	case titles:
		style = style.Bold(true).Underline(true)
	case selected:
		style = style.Reverse(true)
	case bad:
		style = style.Foreground(tcell.ColorRed)
	case selectedBad:
		style = style.Foreground(tcell.ColorRed).Reverse(true)
	}
	return style
}
