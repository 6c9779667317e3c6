package node_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// caller is a machine that makes the calls at its first step.
func caller(ops ...event.Op) *script {
	first := true
	return &script{step: func(_ protocol.Instant, ev event.Event) event.Ready {
		switch ev := ev.(type) {
		case event.Tick:
			if !first {
				return event.Ready{}
			}
			first = false
			var ready event.Ready
			for i, op := range ops {
				ready.Calls = append(ready.Calls, event.Call{ID: event.CallID(i + 1), Op: op})
			}
			return ready
		case event.AskSites:
			return event.Ready{Answers: []event.Answer{{Asked: ev.Asked, Reply: view.Sites{}}}}
		default:
			return event.Ready{}
		}
	}}
}

func submission(job int) event.SubmitOp {
	return event.SubmitOp{Job: localsched.Submission{Tag: protocol.Tag{Job: protocol.JobID(job), Epoch: 1}}}
}

// answers sorts the calls' answers by number.
func answers(core *script) []event.CallDone {
	all := seenOf[event.CallDone](core)
	slices.SortFunc(all, func(a, b event.CallDone) int { return int(a.ID) - int(b.ID) })
	return all
}

func TestEveryCallIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := caller(
			event.QuoteOp{Query: localsched.Query{Jobs: make([]protocol.Request, 2)}},
			submission(1), event.LookupOp{}, event.WithdrawOp{}, event.KillOp{}, event.ForgetOp{}, event.DecideOp{},
		)
		r := start(t, core)
		synctest.Wait()
		got := answers(core)
		if len(got) != 7 {
			t.Fatalf("%d answers", len(got))
		}
		if quoted, ok := got[0].Result.(event.QuoteResult); !ok || len(quoted.Quotes) != 2 || quoted.Load.CPUs != 8 {
			t.Errorf("quote: %+v", got[0])
		}
		if done, ok := got[1].Result.(event.SubmitResult); !ok || done.Local != "L1" {
			t.Errorf("submit: %+v", got[1])
		}
		if found, ok := got[2].Result.(event.LookupResult); !ok || found.Presence != localsched.Present {
			t.Errorf("find: %+v", got[2])
		}
		if done, ok := got[3].Result.(event.WithdrawResult); !ok || done.Withdrawal != localsched.Started {
			t.Errorf("withdraw: %+v", got[3])
		}
		if _, ok := got[4].Result.(event.KillResult); !ok {
			t.Errorf("kill: %+v", got[4])
		}
		if got[5].Err == nil || got[5].Result != nil { // the fake scheduler refuses to forget
			t.Errorf("forget: %+v", got[5])
		}
		if _, ok := got[6].Result.(event.DecideResult); !ok {
			t.Errorf("decide: %+v", got[6])
		}
		_ = r.end()
	})
}

func TestRefusalsAndPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := caller(submission(1), submission(2), event.DecideOp{})
		r := startWith(t, core, func(o *outside) {
			o.submit = func(_ context.Context, job localsched.Submission) (localsched.LocalID, error) {
				if job.Tag.Job == 1 {
					return "", &localsched.RefusedError{Reason: "too wide"}
				}
				panic("the plugin is gone")
			}
			o.decide = func() error { return errors.New("no flow") }
		})
		synctest.Wait()
		got := answers(core)
		if done, ok := got[0].Result.(event.SubmitResult); !ok || done.Refused != "too wide" || got[0].Err != nil {
			t.Errorf("refused: %+v", got[0])
		}
		if got[1].Err == nil || !strings.Contains(got[1].Err.Error(), "the plugin is gone") || got[1].Result != nil {
			t.Errorf("panic: %+v", got[1])
		}
		if got[2].Err == nil {
			t.Errorf("failed decision: %+v", got[2])
		}
		_ = r.end()
	})
}

func TestSlowSubmissionsHoldUpNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ops []event.Op
		for i := range 100 {
			ops = append(ops, submission(i+1))
		}
		core := caller(append(ops, event.LookupOp{})...)
		var running, most atomic.Int64
		r := startWith(t, core, func(o *outside) {
			o.submit = func(context.Context, localsched.Submission) (localsched.LocalID, error) {
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(time.Second)
				running.Add(-1)
				return "L", nil
			}
		})
		synctest.Wait()
		if got := answers(core); len(got) != 1 || got[0].ID != 101 {
			t.Errorf("while all submissions are slow: %v", got)
		}
		ask := func(asked event.AskID) event.Event { return event.AskSites{Asked: asked} }
		if _, err := r.Ask(t.Context(), ask); err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Second) // four turns
		synctest.Wait()
		if got := answers(core); len(got) != 101 {
			t.Errorf("%d answers in the end", len(got))
		}
		if most.Load() != 32 {
			t.Errorf("up to %d submissions at once, want 32", most.Load())
		}
		_ = r.end()
	})
}

func TestCallsThatHangAreAnsweredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := caller(submission(1))
		release := make(chan struct{})
		r := startWith(t, core, func(o *outside) {
			o.submit = func(context.Context, localsched.Submission) (localsched.LocalID, error) {
				<-release // whatever the context says
				return "late", nil
			}
		})
		time.Sleep(29 * time.Second)
		if got := answers(core); len(got) > 0 {
			t.Errorf("too early: %v", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := answers(core); len(got) != 1 || got[0].Err == nil {
			t.Errorf("after the time-out: %v", got)
		}
		close(release)
		synctest.Wait()
		if got := answers(core); len(got) != 1 {
			t.Errorf("%d answers to one call", len(got))
		}
		_ = r.end()
	})
}

func TestWatchIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := caller(event.WatchOp{})
		tries := 0
		r := startWith(t, core, func(o *outside) {
			o.watch = func(ctx context.Context) (localsched.Watched, error) {
				if tries++; tries < 3 {
					<-ctx.Done()
					return localsched.Watched{}, ctx.Err()
				}
				return localsched.Watched{Cursor: "7"}, nil
			}
		})
		time.Sleep(3 * node.WatchTry)
		got := answers(core)
		if len(got) != 1 || tries != 3 {
			t.Fatalf("%d tries, answers %v", tries, got)
		}
		if watched, ok := got[0].Result.(event.WatchResult); !ok || watched.Watched.Cursor != "7" {
			t.Errorf("answer %+v", got[0])
		}
		_ = r.end()
	})
}

func TestStopDoesNotWaitForEverForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := startWith(t, caller(submission(1)), func(o *outside) {
			o.submit = func(context.Context, localsched.Submission) (localsched.LocalID, error) {
				<-release
				return "", nil
			}
		})
		synctest.Wait()
		before := time.Now()
		if err := r.end(); err != nil {
			t.Error(err)
		}
		if took := time.Since(before); took != node.StopGrace {
			t.Errorf("stopping took %v, want %v", took, node.StopGrace)
		}
		close(release)
	})
}
