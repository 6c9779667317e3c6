package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/conformance"
)

func held(context.Context) error { return nil }

// TestRun: each case gives one result, in order, whatever it does.
func TestRun(t *testing.T) {
	t.Parallel()
	wrong := errors.New("it is wrong")
	var reported []string
	results := conformance.Run(t.Context(), []conformance.Case{
		{Name: "good", Run: held},
		{Name: "bad", Run: func(context.Context) error { return wrong }},
		{Name: "elsewhere", Run: func(context.Context) error { return conformance.Skip("only on %s", "Mondays") }},
		{Name: "wrapped", Run: func(context.Context) error { return fmt.Errorf("case: %w", conformance.Skip("no")) }},
		{Name: "panics", Run: func(context.Context) error { panic("at the disco") }},
		{Name: "leaves", Run: func(context.Context) error { runtime.Goexit(); return nil }},
	}, func(r conformance.Result) { reported = append(reported, r.Name) })
	want := []string{"good <nil> ", "bad it is wrong ", "elsewhere <nil> only on Mondays", "wrapped <nil> no"}
	for i, text := range want {
		r := results[i]
		if got := fmt.Sprintf("%s %v %s", r.Name, r.Err, r.Skipped); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	panicked, left := results[4].Err, results[5].Err
	if panicked == nil || !strings.Contains(panicked.Error(), "panic: at the disco") || !strings.Contains(panicked.Error(), "conformance_test.go") {
		t.Errorf("a panic is told as %v", panicked)
	}
	if left == nil {
		t.Error("a case that ends its goroutine passes")
	}
	if !slices.Equal(reported, []string{"good", "bad", "elsewhere", "wrapped", "panics", "leaves"}) {
		t.Errorf("told of %q", reported)
	}
}

// TestLimit: a case that heeds its context tells what it waited for; one that does
// not is left behind.
func TestLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		results := conformance.Run(t.Context(), []conformance.Case{
			{Name: "heeds", Limit: time.Hour, Run: func(ctx context.Context) error {
				<-ctx.Done()
				return errors.New("no start was seen")
			}},
			{Name: "deaf", Run: func(context.Context) error {
				<-release
				return nil
			}},
			{Name: "after", Run: held},
		}, nil)
		if got := results[0]; got.Err == nil || got.Err.Error() != "no start was seen" || got.Duration != time.Hour {
			t.Errorf("got %+v", got)
		}
		if got := results[1]; got.Err == nil || !strings.Contains(got.Err.Error(), "ignores its context") || got.Duration > 2*conformance.DefaultLimit {
			t.Errorf("got %+v", got)
		}
		if got := results[2]; got.Err != nil {
			t.Errorf("got %+v", got)
		}
	})
}

// TestStop: once the context has ended, no case is run any more, and none passes.
func TestStop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	results := conformance.Run(ctx, []conformance.Case{
		{Name: "stops", Run: func(context.Context) error { cancel(stop); return nil }},
		{Name: "rest", Run: func(context.Context) error { panic("it is run") }},
	}, nil)
	if !errors.Is(results[1].Err, stop) {
		t.Errorf("got %+v", results[1])
	}
}

// TestSubtests: cases become subtests of their names.
func TestSubtests(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	count := func(context.Context) error { ran.Add(1); return nil }
	conformance.Test(t, []conformance.Case{
		{Name: "one", Run: count},
		{Name: "two", Run: count},
		{Name: "skipped", Run: func(context.Context) error { return conformance.Skip("always") }},
	})
	if ran.Load() != 2 {
		t.Errorf("%d cases were run", ran.Load())
	}
}

// TestTogether: all run at once, and the first error by number is the answer.
func TestTogether(t *testing.T) {
	t.Parallel()
	var here atomic.Int32
	all := make(chan struct{})
	err := conformance.Together(8, func(i int) error {
		if here.Add(1) == 8 {
			close(all)
		}
		<-all
		switch i {
		case 3:
			panic("three")
		case 5:
			return errors.New("five")
		}
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), "panic: three") {
		t.Errorf("got %v", err)
	}
	if err = conformance.Together(3, func(int) error { return nil }); err != nil {
		t.Error(err)
	}
}
