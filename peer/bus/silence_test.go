package bus_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// wire is a TCP proxy that can stop to pass bytes while connections stay.
type wire struct {
	listener net.Listener
	wg       sync.WaitGroup

	mu     sync.Mutex
	target string        // empty: it leads nowhere yet
	free   chan struct{} // closed while bytes pass
	conns  []net.Conn
}

func newWire(t *testing.T, target string) *wire {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, target: target, free: make(chan struct{})}
	close(w.free)
	w.wg.Go(w.accept)
	t.Cleanup(w.close)
	return w
}

// leadTo says where connections go from now on.
func (w *wire) leadTo(target string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target = target
}

func (w *wire) accept() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.mu.Lock()
		target := w.target
		w.mu.Unlock()
		far, err := new(net.Dialer).DialContext(context.Background(), "tcp", target)
		if err != nil {
			_ = near.Close()
			continue
		}
		w.mu.Lock()
		w.conns = append(w.conns, near, far)
		w.mu.Unlock()
		w.wg.Go(func() { w.pump(near, far) })
		w.wg.Go(func() { w.pump(far, near) })
	}
}

func (w *wire) pump(from, to net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		w.mu.Lock()
		free := w.free
		w.mu.Unlock()
		<-free
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// freeze lets no more bytes pass until thaw.
func (w *wire) freeze() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free = make(chan struct{})
}

func (w *wire) thaw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.free:
	default:
		close(w.free)
	}
}

func (w *wire) close() {
	w.thaw()
	_ = w.listener.Close()
	w.mu.Lock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.mu.Unlock()
	w.wg.Wait()
}

// A connection that hangs without an error is noticed on both sides, and what
// comes out of it later does no harm.
func TestSilenceDisconnects(t *testing.T) {
	t.Parallel()
	brief := func(cfg *bus.Config) { cfg.Timing.Silence = 2 * time.Second }
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, brief, b.partner())
	w := newWire(t, a.bus.ListenAddr().String())
	p := a.partner()
	p.URL = "nats://" + w.listener.Addr().String()
	b.start(t, "", brief, p)
	a.connected(t, b, 1)
	b.connected(t, a, 1)
	w.freeze()
	flood(t, b, a)
	a.eventually(t, "the silence", func() bool { return a.count("-desy") == 1 })
	b.eventually(t, "the silence", func() bool { return b.count("-cern") == 1 })
	w.thaw()
	a.connected(t, b, 2)
	b.connected(t, a, 2)
	b.sends(t, a, protocol.Accept{Tag: tag})
	a.receives(t, b, protocol.Accept{Tag: tag})
}

// While the connection to a partner's server is being made anew, and the server does
// not say a word, nothing that this side does waits for it.
func TestDialingHoldsUpNothing(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, nil, b.partner())
	w := newWire(t, a.bus.ListenAddr().String())
	p := a.partner()
	p.URL = "nats://" + w.listener.Addr().String()
	b.start(t, "", nil, p)
	b.connected(t, a, 1)
	w.freeze()
	before := w.drop()
	b.eventually(t, "a new connection", func() bool { return w.open() > before })
	hung := w.open()
	sent := 0
	for ; w.open() == hung && sent < 200; sent++ { // until NATS gives up on it, in 5 s
		_ = b.bus.Send(a.name, protocol.Accept{Tag: tag})
		time.Sleep(5 * time.Millisecond)
	}
	if sent < 100 {
		t.Errorf("%d messages were tried while the dial hung; one of them waited for it", sent)
	}
	w.thaw()
	b.connected(t, a, 2)
}

// drop breaks all connections, and says how many there were in all.
func (w *wire) drop() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	return len(w.conns)
}

// open is how many connections there have been.
func (w *wire) open() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.conns)
}

// flood sends until the link takes no more: the partner hangs, the sender must
// not.
func flood(t *testing.T, from, to *site) {
	t.Helper()
	large := protocol.Offer{
		Spec:  protocol.Spec{Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: protocol.Hour}},
		Epoch: 1, Payload: &protocol.Payload{Script: make([]byte, 4<<20)},
	}
	for range 100 {
		err := from.bus.Send(to.name, large)
		if errors.Is(err, bus.ErrBusy) || errors.Is(err, bus.ErrNoLink) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("400 MB were taken for a partner that hangs")
}
