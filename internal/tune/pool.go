package tune

import (
	"context"
	"errors"
	"sync"
)

// each does so many things, several at once. The error is that of the first, by number,
// that failed by itself; the others are stopped.
func each(ctx context.Context, workers, things int, do func(ctx context.Context, i int) error) error {
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

// counter tells how many simulations of a study are done, one after the other.
type counter struct {
	tell func(done int) // nil: nobody asks

	mu   sync.Mutex
	done int
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.tell != nil {
		c.tell(c.done)
	}
}
