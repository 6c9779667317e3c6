// Package conformance runs suites of cases against an implementation of one of
// the borders: a policy, a local scheduler, an engine, a price feed. A suite has
// two doors: [Test] for Go tests and [Run] for a command.
//
// A case hangs or panics no longer than its limit: what it tests was written by
// others. A call that ignores its context is left behind, with its goroutine.
package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// Case is one thing that every implementation must do.
type Case struct {
	Name  string                          // in plain words: "withdraw says the same when repeated"
	Run   func(ctx context.Context) error // says what is wrong, or returns what [Skip] does
	Limit time.Duration                   // after which the context ends; 0: [DefaultLimit]
}

// DefaultLimit is how long a case may take that names no limit.
const DefaultLimit = time.Minute

// grace is how long a case may take to return once its context has ended.
const grace = 5 * time.Second

// Result is how a case went.
type Result struct {
	Name     string
	Err      error  // nil: well, or skipped
	Skipped  string // why the case does not apply; empty: it was run
	Duration time.Duration
}

// Skip is what a case returns that does not apply, with the reason: a capability
// is not advertised, say.
func Skip(format string, args ...any) error {
	return &skipError{fmt.Sprintf(format, args...)}
}

type skipError struct{ reason string }

func (e *skipError) Error() string { return "does not apply: " + e.reason }

// Run runs the cases one after another and returns how they went, in order. Each
// result is given to each as it comes, which may be nil. Once the context has
// ended the rest fails with its error.
func Run(ctx context.Context, cases []Case, each func(Result)) []Result {
	results := make([]Result, 0, len(cases))
	for _, c := range cases {
		result := c.result(ctx)
		results = append(results, result)
		if each != nil {
			each(result)
		}
	}
	return results
}

// Test runs each case as a subtest, one after another.
func Test(t *testing.T, cases []Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			result := c.result(t.Context())
			if result.Skipped != "" {
				t.Skip(result.Skipped)
			}
			if result.Err != nil {
				t.Error(result.Err)
			}
		})
	}
}

// result runs the case.
func (c *Case) result(ctx context.Context) Result {
	begin := time.Now()
	err := c.bounded(ctx)
	result := Result{Name: c.Name, Err: err, Duration: time.Since(begin)}
	if skip := new(skipError); errors.As(err, &skip) {
		result.Err, result.Skipped = nil, skip.reason
	}
	return result
}

// bounded returns when the case does, or soon after its limit.
func (c *Case) bounded(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("not run: %w", context.Cause(ctx))
	}
	limit := cmp.Or(c.Limit, DefaultLimit)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		err := errors.New("the case ended its goroutine")
		defer func() { done <- err }()
		err = guarded(func() error { return c.Run(ctx) })
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done(): // what heeds it returns now, and knows best what it waited for
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("no answer within %v, nor %v after the context ended: a call ignores its context", limit, grace)
	}
}

// Together calls do with 0 to n-1 from as many goroutines at once, and returns the
// first error by number once all have returned. A panic is an error.
func Together(n int, do func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = guarded(func() error { return do(i) }) })
	}
	all.Wait()
	return cmp.Or(errs...)
}

// guarded turns a panic into an error with the stack.
func guarded(do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return do()
}
