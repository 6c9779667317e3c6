package node_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func archiveKey(id protocol.JobID) string { return fmt.Sprintf("%016d", uint64(id)) }

// table is a machine that knows jobs; a message ends the one with its tag.
func table(jobs map[protocol.JobID]view.Job) *script {
	return &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
		switch ev := ev.(type) {
		case event.AskJob:
			shown, ok := jobs[ev.Job]
			if !ok {
				no := view.Refusal{Code: view.NotFound, Reason: "no such job"}
				return event.Ready{Answers: []event.Answer{{Asked: ev.Asked, Reply: no}}}
			}
			return event.Ready{Answers: []event.Answer{{Asked: ev.Asked, Reply: shown}}}
		case event.AskOutput:
			var reply view.Reply = view.Done{}
			if g := jobs[ev.Tag.Job]; !g.Guest || g.Origin != ev.From || g.Epoch != ev.Tag.Epoch {
				reply = view.Refusal{Code: view.NotFound, Reason: "not here"}
			}
			return event.Ready{Answers: []event.Answer{{Asked: ev.Asked, Reply: reply}}}
		case event.MessageIn:
			result, ok := ev.Body.(protocol.Result)
			if !ok {
				return event.Ready{}
			}
			view := jobs[result.Tag.Job]
			view.State = result.Outcome.State
			delete(jobs, view.ID)
			return event.Ready{Records: []row.Record{
				{Table: row.JobTable, Key: archiveKey(view.ID)},
				{Table: row.ArchiveTable, Key: archiveKey(view.ID), Row: row.Archived{View: view}},
			}}
		default:
			return event.Ready{}
		}
	}}
}

func result(id protocol.JobID) protocol.Message {
	return protocol.Result{Tag: protocol.Tag{Job: id, Epoch: 1}, Outcome: protocol.Outcome{State: protocol.Failed}}
}

func TestWaitJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, table(map[protocol.JobID]view.Job{
			1: {ID: 1, State: protocol.Running}, 2: {ID: 2, State: protocol.Pending},
		}))
		type outcome struct {
			view view.Job
			err  error
		}
		waiters := make(chan outcome, 3)
		for range 3 {
			go func() {
				view, err := r.WaitJob(t.Context(), 1)
				waiters <- outcome{view, err}
			}()
		}
		synctest.Wait()
		r.Received("there", result(2))
		synctest.Wait()
		if len(waiters) > 0 {
			t.Fatalf("woken by another job: %v", <-waiters)
		}
		r.store.hold()
		r.Received("there", result(1))
		synctest.Wait()
		if len(waiters) > 0 {
			t.Fatal("the end was shown before it was durable")
		}
		r.store.let(nil)
		for range 3 {
			if got := <-waiters; got.err != nil || got.view.State != protocol.Failed {
				t.Errorf("waiting brought %v, %v", got.view, got.err)
			}
		}
		if view, err := r.WaitJob(t.Context(), 2); err != nil || view.State != protocol.Failed {
			t.Errorf("a job that had ended: %v, %v", view, err)
		}
		var refused *node.RefusedError
		if _, err := r.WaitJob(t.Context(), 9); !errors.As(err, &refused) || refused.Refusal().Code != view.NotFound {
			t.Errorf("no such job: %v", err)
		}
		views, err := r.ArchivedJobs(t.Context(), 10, func(*view.Job) bool { return true })
		if err != nil || len(views) != 2 || views[0].ID != 2 {
			t.Errorf("archive: %v, %v", views, err)
		}
		_ = r.end()
	})
}

func TestWaitJobEndsWithItsContextAndTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, table(map[protocol.JobID]view.Job{1: {ID: 1, State: protocol.Running}}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := r.WaitJob(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after its time: %v", err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := r.WaitJob(t.Context(), 1)
			ended <- err
		}()
		synctest.Wait()
		_ = r.end()
		if err := <-ended; !errors.Is(err, node.ErrStopped) {
			t.Errorf("after the stop: %v", err)
		}
	})
}

func TestPartnersFetchOnlyTheirOwn(t *testing.T) {
	t.Parallel()
	jobs := map[protocol.JobID]view.Job{
		1: {ID: 1, Guest: true, Origin: "there", Epoch: 3},
		2: {ID: 2, Guest: true, Origin: "elsewhere", Epoch: 3},
		3: {ID: 3, Origin: "there", Epoch: 3},
	}
	tests := map[string]struct {
		tag    protocol.Tag
		offset int64
		size   int
		ok     bool
	}{
		"its own":            {tag: protocol.Tag{Job: 1, Epoch: 3}, size: 10, ok: true},
		"an older epoch":     {tag: protocol.Tag{Job: 1, Epoch: 2}, size: 10},
		"another site's":     {tag: protocol.Tag{Job: 2, Epoch: 3}, size: 10},
		"a job of this site": {tag: protocol.Tag{Job: 3, Epoch: 3}, size: 10},
		"no job":             {tag: protocol.Tag{Job: 4, Epoch: 3}, size: 10},
		"negative offset":    {tag: protocol.Tag{Job: 1, Epoch: 3}, offset: -1, size: 10},
		"nothing":            {tag: protocol.Tag{Job: 1, Epoch: 3}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := start(t, table(jobs))
				data, err := r.Fetch(t.Context(), "there", test.tag, protocol.Stdout, test.offset, test.size)
				if (err == nil) != test.ok || (test.ok && string(data) != "local 1:3 stdout") {
					t.Errorf("%q, %v", data, err)
				}
				_ = r.end()
			})
		})
	}
}

// TestFetchSaysThatOutputIsGone: only a site that is sure of it says so.
func TestFetchSaysThatOutputIsGone(t *testing.T) {
	for code, gone := range map[view.RefusalCode]bool{view.NotFound: true, view.Unavailable: false} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, &script{step: func(_ protocol.Instant, ev event.Event) (ready event.Ready) {
				if ask, ok := ev.(event.AskOutput); ok {
					ready.Answers = []event.Answer{{Asked: ask.Asked, Reply: view.Refusal{Code: code, Reason: "no"}}}
				}
				return ready
			}})
			_, err := r.Fetch(t.Context(), "there", protocol.Tag{Job: 1, Epoch: 1}, protocol.Stdout, 0, 10)
			if err == nil || errors.Is(err, protocol.ErrOutputGone) != gone {
				t.Errorf("%s: %v", code, err)
			}
			_ = r.end()
		})
	}
}

func TestOutputComesFromWhereTheJobIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, table(nil))
		r.out.fetch = func(_ protocol.Stream, offset int64, size int) ([]byte, error) {
			return fmt.Appendf(nil, "remote %d %d", offset, size), nil
		}
		r.out.files = map[string][]byte{"/kept/stderr": []byte("kept here")}
		for kept, want := range map[protocol.Stream]string{protocol.Stderr: "re", protocol.Stdout: ""} {
			job := view.Job{ID: 1, Epoch: 2, Site: "there", State: protocol.Completed, Undelivered: []view.Undelivered{{File: kept.String(), Kept: "/k"}}}
			data, err := r.Output(t.Context(), job, kept, 7, 1<<30)
			if string(data) != want || errors.Is(err, protocol.ErrOutputGone) != (want == "") {
				t.Errorf("kept %v: %q, %v", kept, data, err)
			}
		}
		for site, want := range map[protocol.SiteName]string{
			"": "local 1:2 stderr", "here": "local 1:2 stderr", "there": fmt.Sprintf("remote 7 %d", node.MaxChunk),
		} {
			job := view.Job{ID: 1, Epoch: 2, Site: site}
			data, err := r.Output(t.Context(), job, protocol.Stderr, 7, 1<<30)
			if err != nil || string(data) != want {
				t.Errorf("site %q: %q, %v", site, data, err)
			}
		}
		_ = r.end()
	})
}

func TestFullDiskRefusesNewJobsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := uint64(10 << 20)
		r := start(t, &script{step: func(now protocol.Instant, ev event.Event) event.Ready {
			if cancel, ok := ev.(event.Cancel); ok {
				return event.Ready{Answers: []event.Answer{{Asked: cancel.Asked, Reply: view.Done{}}}}
			}
			return everything(now, ev)
		}}, func(c *node.Config) { c.Space = func() (uint64, error) { return free, nil } })
		var refused *node.RefusedError
		_, err := r.Ask(t.Context(), submitOne)
		if !errors.As(err, &refused) || refused.Code != view.Unavailable || !strings.Contains(err.Error(), "10 MiB") {
			t.Errorf("a submission on a full disk: %v", err)
		}
		if got := len(seenOf[event.Submit](r.core)); got != 0 {
			t.Error("the machine has seen it")
		}
		if left := r.out.noted(); len(left) != 1 || left[0] != "refused not-now" {
			t.Errorf("it was counted as %v", left)
		}
		cancel := func(asked event.AskID) event.Event { return event.Cancel{Asked: asked} }
		if _, err := r.Ask(t.Context(), cancel); err != nil {
			t.Errorf("a cancellation on a full disk: %v", err)
		}
		free = 1 << 30
		if _, err := r.Ask(t.Context(), submitOne); err != nil {
			t.Errorf("with room again: %v", err)
		}
		_ = r.end()
	})
}
