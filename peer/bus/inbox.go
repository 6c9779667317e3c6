package bus

import (
	"sync"

	"github.com/switchyard-hpc/switchyard/protocol"
)

const maxInboxBytes = 32 << 20

// inbox is what has arrived from one partner and waits for the handler.
type inbox struct {
	most   int
	filled chan struct{}

	mu        sync.Mutex
	events    []event
	bytes     int
	questions questions
}

// event is a message, or a change of the connection.
type event struct {
	message   protocol.Message
	size      int
	connected *protocol.Card // with neither: disconnected
	why       string         // then; empty: not known
}

func newInbox(most int) *inbox {
	return &inbox{most: most, filled: make(chan struct{}, 1), questions: newQuestions()}
}

// push adds a message, unless the inbox is full.
func (i *inbox) push(m protocol.Message, size int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.events) >= i.most || i.bytes+size > maxInboxBytes {
		return false
	}
	i.bytes += size
	i.add(event{message: m, size: size})
	return true
}

// change adds a change of the connection, always. Of changes with nothing
// between them only the last counts, so a link that flaps cannot fill the inbox.
func (i *inbox) change(connected *protocol.Card, why string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n := len(i.events); n > 0 && i.events[n-1].message == nil {
		i.events = i.events[:n-1]
	}
	i.add(event{connected: connected, why: why})
}

func (i *inbox) add(e event) {
	i.events = append(i.events, e)
	i.ring()
}

func (i *inbox) ring() {
	select {
	case i.filled <- struct{}{}:
	default:
	}
}

// take returns all that waits.
func (i *inbox) take() []event {
	i.mu.Lock()
	defer i.mu.Unlock()
	events := i.events
	i.events, i.bytes = nil, 0
	return events
}
