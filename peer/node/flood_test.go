package node_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestFloodOfOnePartner has one partner send without end while the loop is busy: only few of
// its messages wait for the loop, and another partner's comes soon after them.
func TestFloodOfOnePartner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		var first sync.Once
		core := &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
			if _, message := ev.(event.MessageIn); message {
				first.Do(func() { <-busy })
			}
			return event.Ready{}
		}}
		r := start(t, core)
		var senders sync.WaitGroup
		sent := 0
		senders.Go(func() {
			for i := range 5000 {
				r.Received("b", protocol.Abort{Tag: protocol.Tag{Job: protocol.JobID(i + 1)}})
				sent++
			}
		})
		asked, jobs := 0, make([]protocol.Spec, 4000)
		senders.Go(func() {
			for i := range 5000 {
				r.Received("b", protocol.QuoteRequest{Round: protocol.RoundID(i + 1), Jobs: jobs})
				asked++
			}
		})
		synctest.Wait()
		if sent > 40 || asked > 2 {
			t.Errorf("%d messages and %d questions wait for the busy loop", sent, asked)
		}
		senders.Go(func() { r.Received("c", protocol.Grant{}) })
		synctest.Wait()
		close(busy)
		senders.Wait()
		synctest.Wait()
		seen := seenOf[event.MessageIn](core)
		if len(seen) != 10_001 {
			t.Errorf("%d messages came through", len(seen))
		}
		at := slices.IndexFunc(seen, func(m event.MessageIn) bool { return m.From == "c" })
		if at < 0 || at > 80 {
			t.Errorf("the other partner's message came as number %d", at)
		}
		_ = r.end()
	})
}

// TestFullLaneAnswers makes more calls than may wait: those beyond are answered at once.
func TestFullLaneAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 1000
		var ops []event.Op
		for range calls {
			ops = append(ops, event.QuoteOp{Query: localsched.Query{Jobs: make([]protocol.Request, 1)}})
		}
		core := caller(ops...)
		r := startWith(t, core, func(o *outside) {
			o.quote = func() { time.Sleep(time.Second) }
		})
		synctest.Wait()
		got := answers(core)
		if want := calls - 8 - 256; len(got) != want || !errors.Is(got[0].Err, node.ErrLaneFull) {
			t.Errorf("%d calls are answered while the lane is full, want %d: %v", len(got), want, got[0].Err)
		}
		time.Sleep(time.Minute)
		if got = answers(core); len(got) != calls {
			t.Errorf("%d answers in the end", len(got))
		}
		_ = r.end()
	})
}

// TestLateQuotesAreNotMade has questions wait in the lane until no caller reads the answer.
func TestLateQuotesAreNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := protocol.InstantOf(time.Now()).Add(1500 * protocol.Millisecond)
		var ops []event.Op
		for range 100 {
			ops = append(ops, event.QuoteOp{Query: localsched.Query{Jobs: make([]protocol.Request, 1)}, Until: until})
		}
		core := caller(ops...)
		made := 0
		var mu sync.Mutex
		r := startWith(t, core, func(o *outside) {
			o.quote = func() {
				mu.Lock()
				made++
				mu.Unlock()
				time.Sleep(time.Second)
			}
		})
		time.Sleep(time.Minute)
		if got := answers(core); len(got) != 100 || made != 16 {
			t.Errorf("%d answers, %d quotes made; want 100, and 16 within 1.5 s", len(got), made)
		}
		_ = r.end()
	})
}
