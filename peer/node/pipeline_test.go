package node_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// everything answers a submission with every kind of effect.
func everything(_ protocol.Instant, ev event.Event) event.Ready {
	submit, ok := ev.(event.Submit)
	if !ok {
		return event.Ready{}
	}
	tag := protocol.Tag{Job: 1, Epoch: 1}
	return event.Ready{
		Records:   []row.Record{{Table: row.SiteTable, Key: "site", Row: row.Site{NextSeq: uint64(submit.Asked)}}},
		Messages:  []event.Outgoing{{To: "there", Body: protocol.Offer{}}},
		Calls:     []event.Call{{ID: 1, Op: event.SubmitOp{Job: localsched.Submission{Tag: tag}}}},
		Digest:    &protocol.Load{CPUs: 1},
		LogEvents: []event.LogEvent{{Kind: event.LogJobSubmitted, Job: 1}},
		Answers:   []event.Answer{{Asked: submit.Asked, Reply: view.Submitted{Jobs: []protocol.JobID{1}}}},
	}
}

func submitOne(asked event.AskID) event.Event {
	return event.Submit{Asked: asked, Jobs: make([]protocol.Job, 1)}
}

// background asks and returns where the outcome will be.
func (r *rig) background(t *testing.T, question func(event.AskID) event.Event) <-chan error {
	t.Helper()
	outcome := make(chan error, 1)
	go func() {
		_, err := r.Ask(t.Context(), question)
		outcome <- err
	}()
	return outcome
}

// TestUnsendableMessagesAreWarnedOf: that a partner is not there is no news; a message
// that has no form on the wire is a fault of this site.
func TestUnsendableMessagesAreWarnedOf(t *testing.T) {
	for level, failure := range map[string]error{
		"DEBUG": errors.New("no session"),
		"WARN":  fmt.Errorf("send: %w", &peerv1.UnsendableError{Err: errors.New("too long")}),
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			r := startWith(t, &script{step: everything}, func(o *outside) { o.send = func() error { return failure } },
				func(c *node.Config) {
					c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
				})
			if err := <-r.background(t, submitOne); err != nil {
				t.Error(err)
			}
			if err := r.end(); err != nil {
				t.Error(err)
			}
			if !strings.Contains(log.String(), "level="+level+" msg=message_not_sent") {
				t.Errorf("%v is logged as\n%s", failure, log.String())
			}
		})
	}
}

func TestNothingLeavesBeforeItIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, &script{step: everything})
		r.store.hold()
		outcome := r.background(t, submitOne)
		synctest.Wait()
		if left := r.out.noted(); len(left) > 0 || len(outcome) > 0 {
			t.Fatalf("before the commit: %v, %d answers", left, len(outcome))
		}
		r.store.let(nil)
		if err := <-outcome; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		left := r.out.noted()
		if len(left) == 0 || left[0] != "send offer to there" {
			t.Errorf("messages do not come first: %v", left)
		}
		for _, want := range []string{"submit 1:1", "advertise", "fact submitted"} {
			if !slices.Contains(left, want) {
				t.Errorf("%q is missing in %v", want, left)
			}
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
}

func TestFailedStoreShowsNothingAndStopsTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, &script{step: everything})
		r.store.hold()
		first := r.background(t, submitOne)
		synctest.Wait()
		second := r.background(t, submitOne) // behind the commit that will fail
		synctest.Wait()
		full := errors.New("no room to write")
		r.store.let(full)
		if err := <-r.ended; !errors.Is(err, full) {
			t.Errorf("Run returned %v", err)
		}
		for _, outcome := range []<-chan error{first, second} {
			if err := <-outcome; !errors.Is(err, node.ErrStopped) {
				t.Errorf("a caller got %v", err)
			}
		}
		if left := r.out.noted(); len(left) > 0 {
			t.Errorf("left in spite of the failure: %v", left)
		}
		if _, err := r.Ask(t.Context(), submitOne); !errors.Is(err, node.ErrStopped) {
			t.Errorf("a later caller got %v", err)
		}
		if card := r.Card("there"); card.Site != "" {
			t.Errorf("a stopped node has the card %v", card)
		}
	})
}

// TestAFaultStopsTheNode: a step that breaks a rule of the machine itself is the last one. What it
// would have brought is neither stored nor shown, and the log says which event it was.
func TestAFaultStopsTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		fault := errors.New("job 7 has no site")
		machine := &script{step: func(now protocol.Instant, ev event.Event) event.Ready {
			ready := everything(now, ev)
			if _, submit := ev.(event.Submit); submit {
				return event.Ready{Fault: fault}
			}
			return ready
		}}
		r := startWith(t, machine, func(*outside) {}, func(c *node.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		if err := <-r.background(t, submitOne); !errors.Is(err, node.ErrStopped) {
			t.Errorf("the question is answered with %v", err)
		}
		if err := <-r.ended; !errors.Is(err, fault) {
			t.Errorf("the node ends with %v", err)
		}
		if left := r.out.noted(); len(left) > 0 || r.store.count() > 0 {
			t.Errorf("left: %v; stored: %d transactions", left, r.store.count())
		}
		if !strings.Contains(log.String(), "msg=peer_fault event=event.Submit error=\"job 7 has no site\"") {
			t.Errorf("the log is\n%s", log.String())
		}
	})
}

func TestSubmissionsShareTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, &script{step: everything})
		r.store.hold()
		var outcomes []<-chan error
		for range 100 {
			outcomes = append(outcomes, r.background(t, submitOne))
			synctest.Wait()
		}
		// The loop has gone on while the first commit was under way.
		if got := len(seenOf[event.Submit](r.core)); got != 100 {
			t.Errorf("%d steps during the commit", got)
		}
		r.store.let(nil)
		for _, outcome := range outcomes {
			if err := <-outcome; err != nil {
				t.Fatal(err)
			}
		}
		if got := r.store.count(); got != 2 {
			t.Errorf("%d transactions for 100 submissions, want 2", got)
		}
		_ = r.end()
	})
}

func TestEffectsKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seq := 0
		r := start(t, &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
			in, ok := ev.(event.MessageIn)
			if !ok {
				return event.Ready{}
			}
			seq++
			ready := event.Ready{Messages: []event.Outgoing{{To: protocol.SiteName(fmt.Sprint("s", seq)), Body: in.Body}}}
			if seq%3 == 0 { // the others must not overtake it
				ready.Records = []row.Record{{Table: row.SiteTable, Key: "site", Row: row.Site{}}}
			}
			return ready
		}})
		for i := range 30 {
			if i == 7 {
				r.store.hold()
			}
			if i == 21 {
				synctest.Wait()
				r.store.let(nil)
			}
			r.Received("there", protocol.Grant{})
			if i%4 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		var want []string
		for i := range 30 {
			want = append(want, fmt.Sprintf("send grant to s%d", i+1))
		}
		if got := r.out.noted(); !slices.Equal(got, want) {
			t.Errorf("order:\n%s", strings.Join(got, "\n"))
		}
		_ = r.end()
	})
}

func TestLastChangeOfARowWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
			submit, ok := ev.(event.Submit)
			if !ok {
				return event.Ready{}
			}
			ready := everything(0, ev)
			gone := row.Record{Table: row.JobTable, Key: "j", Row: row.Job{State: protocol.Pending}}
			if submit.Asked > 3 {
				gone.Row = nil
			}
			ready.Records = append(ready.Records, gone)
			return ready
		}})
		r.store.hold()
		var outcomes []<-chan error
		for range 5 {
			outcomes = append(outcomes, r.background(t, submitOne))
			synctest.Wait()
		}
		r.store.let(nil)
		for _, outcome := range outcomes {
			<-outcome
		}
		if _, found, _ := r.store.Get("job", "j"); found {
			t.Error("a deleted row is there")
		}
		value, _, _ := r.store.Get("site", "site")
		stored, err := row.Decode(row.SiteTable, value)
		if site, ok := stored.(row.Site); !ok || site.NextSeq != 5 {
			t.Errorf("the site row is %v, %v", stored, err)
		}
		_ = r.end()
	})
}

func TestWakeTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ticks []protocol.Instant
		r := start(t, &script{step: func(now protocol.Instant, ev event.Event) event.Ready {
			if _, ok := ev.(event.Tick); ok {
				ticks = append(ticks, now)
			}
			if len(ticks) == 4 {
				return event.Ready{}
			}
			return event.Ready{Wake: now.Add(1500)}
		}})
		time.Sleep(time.Minute)
		_ = r.end()
		if len(ticks) != 4 { // the first at once
			t.Fatalf("%d ticks", len(ticks))
		}
		for i := range ticks[1:] {
			if pause := ticks[i+1].Sub(ticks[i]); pause != 1500 {
				t.Errorf("tick %d came after %v", i+1, pause)
			}
		}
	})
}

func TestStopFinishesWhatIsBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, &script{step: everything})
		r.store.hold()
		first := r.background(t, submitOne)
		synctest.Wait()
		second := r.background(t, submitOne)
		synctest.Wait()
		r.stop()
		synctest.Wait()
		if _, err := r.Ask(t.Context(), submitOne); !errors.Is(err, node.ErrStopped) {
			t.Errorf("a question while stopping: %v", err)
		}
		r.store.let(nil)
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
		for _, outcome := range []<-chan error{first, second} {
			if err := <-outcome; err != nil {
				t.Errorf("a submission that is durable was answered by %v", err)
			}
		}
	})
}

func TestCardsAreDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, &script{step: everything})
		r.store.hold()
		r.background(t, submitOne)
		synctest.Wait()
		cards := make(chan protocol.Card, 1)
		go func() { cards <- r.Card("there") }()
		synctest.Wait()
		if len(cards) > 0 {
			t.Error("the card came before the rows")
		}
		r.store.let(nil)
		if card := <-cards; card.Software != "for there" {
			t.Errorf("card %v", card)
		}
		_ = r.end()
	})
}

func TestLateAttachGetsTheDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, &script{step: everything})
		r.Attach(nil, nil)
		if err := <-r.background(t, submitOne); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if left := r.out.noted(); slices.Contains(left, "advertise") || slices.Contains(left, "send offer to there") {
			t.Errorf("unattached, but %v", left)
		}
		r.Attach(partnerSide{r.out}, r.out)
		if left := r.out.noted(); !slices.Contains(left, "advertise") {
			t.Errorf("the digest was not advertised: %v", left)
		}
		_ = r.end()
	})
}
