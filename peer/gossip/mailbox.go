package gossip

import "sync"

// maxRejections bounds the rejections that wait for the handler; beyond it they are
// not counted.
const maxRejections = 1024

// mailbox hands events to the [Handler] from one goroutine, so that neither a
// slow handler nor one that calls back holds up memberlist, which reports events
// under its locks. A later event with the same key takes the earlier one's
// place; so it holds one per site and member, and some rejections.
type mailbox struct {
	mu       sync.Mutex
	events   map[string]func()
	order    []string
	rejected []string
	closed   bool
	wake     chan struct{}
	done     chan struct{}
}

func newMailbox() *mailbox {
	return &mailbox{
		events: make(map[string]func()),
		wake:   make(chan struct{}, 1),
		done:   make(chan struct{}),
	}
}

// put leaves an event.
func (m *mailbox) put(key string, event func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	if _, waiting := m.events[key]; !waiting {
		m.order = append(m.order, key)
	}
	m.events[key] = event
	m.signal()
}

// reject leaves a rejection.
func (m *mailbox) reject(reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || len(m.rejected) >= maxRejections {
		return
	}
	m.rejected = append(m.rejected, reason)
	m.signal()
}

func (m *mailbox) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// close drops what waits, and returns when no event is being handled.
func (m *mailbox) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.signal()
	<-m.done
}

// deliver hands events over until the mailbox is closed.
func (m *mailbox) deliver(h Handler) {
	defer close(m.done)
	for {
		events, rejected, closed := m.take()
		if closed {
			return
		}
		for _, event := range events {
			event()
		}
		for _, reason := range rejected {
			h.Rejected(reason)
		}
		if len(events)+len(rejected) == 0 {
			<-m.wake
		}
	}
}

func (m *mailbox) take() (events []func(), rejected []string, closed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range m.order {
		events = append(events, m.events[key])
	}
	rejected = m.rejected
	m.order, m.rejected = nil, nil
	clear(m.events)
	return events, rejected, m.closed
}
