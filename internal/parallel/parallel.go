// Package parallel runs independent tasks in parallel. It is a package of its own because experiments, both
// reproductions and tuning share it, and it is where their goroutines are: only its tests and theirs need the race detector.
package parallel

import (
	"context"
	"errors"
	"sync"
)

// Each does the things, at most workers at once, but at least one. The error is that of
// the first, by number, that failed by itself; the others are stopped. When only ctx ended, it
// is [context.Canceled].
func Each(ctx context.Context, workers, things int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs, next := make([]error, things), make(chan int)
	var crew sync.WaitGroup
	for range min(max(1, workers), things) {
		crew.Go(func() {
			for i := range next {
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = do(ctx, i)
				}
				if errs[i] != nil {
					cancel()
				}
			}
		})
	}
	for i := range things {
		next <- i
	}
	close(next)
	crew.Wait()
	var stopped error
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		stopped = errors.Join(stopped, err)
	}
	if stopped != nil {
		return context.Canceled
	}
	return nil
}

// Counter tells how many things are done, from one goroutine at a time.
type Counter struct {
	Tell func(done int) // nil: no report

	mu   sync.Mutex
	done int
}

// Add counts one more.
func (c *Counter) Add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.Tell != nil {
		c.Tell(c.done)
	}
}
