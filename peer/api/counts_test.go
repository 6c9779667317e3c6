package api_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Many who want to know how many jobs there are do not have the core look at all jobs for each of them.
func TestCountsAreShared(t *testing.T) {
	t.Parallel()
	node := &peerFake{reply: view.Queue{Jobs: []view.Job{{Origin: "here", State: protocol.Running, CPUs: 3}}}}
	s := open(t, node, nil)
	const callers = 200
	ended := make(chan error, callers)
	for range callers {
		go func() {
			counts, err := s.local.Counts(t.Context())
			if want := []view.CountLine{{Origin: "here", State: protocol.Running, Jobs: 1, CPUs: 3}}; err == nil && !reflect.DeepEqual(counts.Lines, want) {
				t.Errorf("%+v", counts)
			}
			ended <- err
		}()
	}
	for range callers {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	node.mu.Lock()
	defer node.mu.Unlock()
	if asked := len(node.events); asked == 0 || asked > callers/2 {
		t.Errorf("the core was asked %d times", asked)
	}
	for _, one := range node.events {
		if _, ok := one.(event.AskQueue); !ok {
			t.Errorf("the core was asked %T", one)
		}
	}
}
