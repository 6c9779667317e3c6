package sdk

import (
	"context"
	"sync"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// turns has the calls about one tag come one after another. Without them FindByTag could
// say that a job is absent whose Submit is under way: the host has given that call up,
// and would place the job elsewhere.
//
// A Submit that has not taken its turn when FindByTag takes its own never will. The
// host asks FindByTag only after its Submit has returned. A host that gives a call up
// says so on their connection before it makes the next call, and gRPC ends the context
// of the call while it reads that, before it begins the next one. (The deadline that
// came with the call is no help: gRPC counts it again from when the plugin reads the
// call.) One window is left: a connection that breaks while host and plugin live on. What
// it still holds may be read after the first call on the next connection.
type turns struct {
	mu    sync.Mutex
	taken map[protocol.Tag]chan struct{} // closed at the end of the turn
}

func newTurns() *turns { return &turns{taken: map[protocol.Tag]chan struct{}{}} }

// take waits for the turn of a call and takes it, until end is called. The error is the
// context's: the call was given up, and must not be carried out.
func (t *turns) take(ctx context.Context, tag protocol.Tag) (end func(), err error) {
	for {
		before, err := t.try(ctx, tag)
		if err != nil {
			return nil, err
		}
		if before == nil {
			return func() { t.end(tag) }, nil
		}
		select {
		case <-before:
		case <-ctx.Done():
		}
	}
}

// try takes the turn, unless another call has it: that one's end is returned.
func (t *turns) try(ctx context.Context, tag protocol.Tag) (before <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err = ctx.Err(); err != nil {
		return nil, err
	}
	if before, taken := t.taken[tag]; taken {
		return before, nil
	}
	t.taken[tag] = make(chan struct{})
	return nil, nil //nolint:nilnil // no call is before it
}

func (t *turns) end(tag protocol.Tag) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.taken[tag])
	delete(t.taken, tag)
}
