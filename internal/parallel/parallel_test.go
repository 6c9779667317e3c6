package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/parallel"
)

// Each does everything once, at most so many at a time.
func TestEach(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{-1, 1, 3, 100} {
		var done [50]atomic.Int32
		var now, most atomic.Int32
		err := parallel.Each(t.Context(), workers, len(done), func(_ context.Context, i int) error {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			done[i].Add(1)
			now.Add(-1)
			return nil
		})
		if err != nil || most.Load() > int32(max(1, workers)) {
			t.Errorf("%d workers: %v, %d at once", workers, err, most.Load())
		}
		for i := range done {
			if n := done[i].Load(); n != 1 {
				t.Errorf("%d workers: %d was done %d times", workers, i, n)
			}
		}
	}
}

// The error is that of the first that failed by itself, and what has not begun is left.
func TestEachThatFails(t *testing.T) {
	t.Parallel()
	var begun atomic.Int32
	var both sync.WaitGroup
	both.Add(2)
	err := parallel.Each(t.Context(), 2, 1000, func(ctx context.Context, i int) error {
		begun.Add(1)
		if i > 1 {
			<-ctx.Done()
			return ctx.Err()
		}
		both.Done()
		both.Wait()
		return fmt.Errorf("%d failed", i)
	})
	if err == nil || err.Error() != "0 failed" || begun.Load() > 4 {
		t.Errorf("%v after %d", err, begun.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = parallel.Each(ctx, 2, 10, func(context.Context, int) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

func TestCounter(t *testing.T) {
	t.Parallel()
	var reported []int
	count := parallel.Counter{Tell: func(done int) { reported = append(reported, done) }}
	if err := parallel.Each(t.Context(), 8, 100, func(context.Context, int) error { count.Add(); return nil }); err != nil {
		t.Fatal(err)
	}
	for i, n := range reported {
		if n != i+1 {
			t.Fatalf("told %v", reported)
		}
	}
	if len(reported) != 100 {
		t.Errorf("told %d times", len(reported))
	}
	(&parallel.Counter{}).Add()
}
