package localschedtest_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/localschedtest"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// right is the scheduler under the wrong ones.
type right = *process.Scheduler

// wrong is a right scheduler but for the calls that are set.
type wrong struct {
	right
	describe func(right localsched.Description) localsched.Description
	load     func(right protocol.Load) protocol.Load
	quote    func(s right, ctx context.Context, query localsched.Query) ([]protocol.Quote, error)
	submit   func(s right, ctx context.Context, job localsched.Submission) (localsched.LocalID, error)
	find     func(s right, ctx context.Context, tag protocol.Tag) (localsched.Presence, localsched.LocalID, error)
	withdraw func(s right, ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error)
	kill     func(s right, ctx context.Context, tag protocol.Tag) error
	watch    func(s right, ctx context.Context, after localsched.Cursor) (localsched.Watched, error)
	fetch    func(s right, ctx context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error)
	forget   func(s right, ctx context.Context, tag protocol.Tag) error
	reserve  func(s right, ctx context.Context, hold localsched.Reservation) (protocol.Instant, error)
	release  func(s right, ctx context.Context, tag protocol.Tag) error
}

func (w *wrong) Describe(ctx context.Context) (localsched.Description, error) {
	d, err := w.right.Describe(ctx)
	if w.describe != nil {
		d = w.describe(d)
	}
	return d, err
}

func (w *wrong) Load(ctx context.Context) (protocol.Load, error) {
	l, err := w.right.Load(ctx)
	if w.load != nil {
		l = w.load(l)
	}
	return l, err
}

func (w *wrong) Quote(ctx context.Context, query localsched.Query) ([]protocol.Quote, error) {
	if w.quote == nil {
		return w.right.Quote(ctx, query)
	}
	return w.quote(w.right, ctx, query)
}

func (w *wrong) Submit(ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
	if w.submit == nil {
		return w.right.Submit(ctx, job)
	}
	return w.submit(w.right, ctx, job)
}

func (w *wrong) FindByTag(ctx context.Context, tag protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
	if w.find == nil {
		return w.right.FindByTag(ctx, tag)
	}
	return w.find(w.right, ctx, tag)
}

func (w *wrong) Withdraw(ctx context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
	if w.withdraw == nil {
		return w.right.Withdraw(ctx, tag)
	}
	return w.withdraw(w.right, ctx, tag)
}

func (w *wrong) Kill(ctx context.Context, tag protocol.Tag) error {
	if w.kill == nil {
		return w.right.Kill(ctx, tag)
	}
	return w.kill(w.right, ctx, tag)
}

func (w *wrong) Watch(ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
	if w.watch == nil {
		return w.right.Watch(ctx, after)
	}
	return w.watch(w.right, ctx, after)
}

func (w *wrong) Fetch(ctx context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error) {
	if w.fetch == nil {
		return w.right.Fetch(ctx, tag, stream, offset, size)
	}
	return w.fetch(w.right, ctx, tag, stream, offset, size)
}

func (w *wrong) Forget(ctx context.Context, tag protocol.Tag) error {
	if w.forget == nil {
		return w.right.Forget(ctx, tag)
	}
	return w.forget(w.right, ctx, tag)
}

func (w *wrong) Reserve(ctx context.Context, hold localsched.Reservation) (protocol.Instant, error) {
	if w.reserve == nil {
		return w.right.Reserve(ctx, hold)
	}
	return w.reserve(w.right, ctx, hold)
}

func (w *wrong) CancelReservation(ctx context.Context, tag protocol.Tag) error {
	if w.release == nil {
		return w.right.CancelReservation(ctx, tag)
	}
	return w.release(w.right, ctx, tag)
}

// wrongSchedulers are, by the case that must catch them, what they do.
func wrongSchedulers(account string) map[string]map[string]func() *wrong {
	all := map[string]map[string]func() *wrong{}
	for _, part := range []map[string]map[string]func() *wrong{wrongPlanners(account), wrongRunners(), wrongTellers(), wrongReservers()} {
		maps.Copy(all, part)
	}
	return all
}

// catches runs the one case on a scheduler that must fail it. What goes wrong in a race
// does so often, not always, so it has a few tries.
func catches(t *testing.T, rule string, target localschedtest.Target) {
	t.Helper()
	target.Timeout = 1500 * time.Millisecond
	const tries = 5
	for range tries {
		cases := slices.DeleteFunc(localschedtest.Cases(target), func(c conformance.Case) bool { return c.Name != rule })
		results := conformance.Run(t.Context(), cases, nil)
		if len(results) == 1 && results[0].Err != nil {
			t.Logf("%.200v", results[0].Err)
			return
		}
	}
	t.Errorf("it is not caught in %d tries", tries)
}

// TestWrongSchedulersAreCaught: by the case that is about what is wrong with them.
func TestWrongSchedulersAreCaught(t *testing.T) {
	t.Parallel()
	for rule, wrongs := range wrongSchedulers(account(t).Username) {
		for what, open := range wrongs {
			t.Run(rule+"/"+what, func(t *testing.T) {
				t.Parallel()
				catches(t, rule, targetOf(t, func(s *process.Scheduler) localsched.Scheduler {
					w := open()
					w.right = s
					return w
				}))
			})
		}
	}
	for rule, open := range restarting() {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			opened := 0
			catches(t, rule, targetOf(t, func(s *process.Scheduler) localsched.Scheduler {
				if opened++; opened == 1 {
					return s
				}
				w := open()
				w.right = s
				return w
			}))
		})
	}
}

// TestEveryRuleHasItsWrongScheduler keeps the lists above whole, and free of what is
// no case.
func TestEveryRuleHasItsWrongScheduler(t *testing.T) {
	t.Parallel()
	left := map[string]bool{}
	for rule := range wrongSchedulers(account(t).Username) {
		left[rule] = true
	}
	for rule := range restarting() {
		left[rule] = true
	}
	for _, c := range localschedtest.Cases(localschedtest.Target{}) {
		if !left[c.Name] {
			t.Errorf("no wrong scheduler is made for the case %q", c.Name)
		}
		delete(left, c.Name)
	}
	if len(left) > 0 {
		t.Errorf("there are no such cases: %v", left)
	}
}

// TestWatchMayEndAMomentEarly: a scheduler elsewhere goes by a clock of its own, by which
// the time of a watch is over a moment before its context ends. It says so as often as it
// is asked, and is not to blame.
func TestWatchMayEndAMomentEarly(t *testing.T) {
	t.Parallel()
	target := targetOf(t, func(s *process.Scheduler) localsched.Scheduler {
		return &wrong{right: s, watch: func(s right, ctx context.Context, after localsched.Cursor) (localsched.Watched, error) {
			end, _ := ctx.Deadline()
			early, cancel := context.WithDeadline(ctx, end.Add(-15*time.Millisecond))
			defer cancel()
			return s.Watch(early, after)
		}}
	})
	cases := slices.DeleteFunc(localschedtest.Cases(target), func(c conformance.Case) bool { return c.Name != "watch waits for news" })
	for _, r := range conformance.Run(t.Context(), cases, nil) {
		if r.Err != nil {
			t.Error(r.Err)
		}
	}
	if len(cases) != 1 {
		t.Errorf("got %d cases", len(cases))
	}
}

// TestDelaysAreOptional: who does not describe them need not tell them, and who describes
// them does.
func TestDelaysAreOptional(t *testing.T) {
	t.Parallel()
	for _, capabilities := range [][]string{nil, {localsched.Delays}} {
		target := targetOf(t, func(s *process.Scheduler) localsched.Scheduler {
			return &wrong{right: s, describe: func(d localsched.Description) localsched.Description {
				d.Capabilities = capabilities
				return d
			}}
		})
		cases := slices.DeleteFunc(localschedtest.Cases(target), func(c conformance.Case) bool { return !strings.Contains(c.Name, "delay") })
		for _, r := range conformance.Run(t.Context(), cases, nil) {
			if r.Err != nil || (r.Skipped == "") != (len(capabilities) > 0) {
				t.Errorf("with %q: got %+v", capabilities, r)
			}
		}
		if len(cases) != 1 {
			t.Errorf("got %d cases", len(cases))
		}
	}
}

// TestSkips: without a short limit and without jobs that outlive the scheduler, the
// cases about these do not apply.
func TestSkips(t *testing.T) {
	t.Parallel()
	target := targetOf(t, plain)
	target.Limit, target.Restart = 0, false
	cases := slices.DeleteFunc(localschedtest.Cases(target), func(c conformance.Case) bool {
		return !strings.Contains(c.Name, "restart") && !strings.Contains(c.Name, "time limit")
	})
	for _, r := range conformance.Run(t.Context(), cases, nil) {
		if r.Skipped == "" {
			t.Errorf("got %+v", r)
		}
	}
	if len(cases) != 4 {
		t.Errorf("got %d cases", len(cases))
	}
}
