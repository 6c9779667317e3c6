package api

import (
	"errors"
	"net"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/connlimit"
)

// connection makes a connection that has shown no token.
func connection(t *testing.T, p *port) *stranger {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	return &stranger{Conn: here, waits: p.strangers.Add(here)}
}

// A request of HTTP/2 that goes on after its connection has ended counts nothing, which nothing would take off again; and a
// connection that is one too many stays so.
func TestConnectionsAreCountedOnce(t *testing.T) {
	t.Parallel()
	p := &port{server: &server{}, strangers: connlimit.New(maxStrangers, maxStrangers)}
	const ann = 7
	late := connection(t, p)
	late.end(p)
	if err := late.knownAs(p, ann); err != nil || p.bounds.ofUser[ann] != 0 {
		t.Errorf("after its end: %v, %d counted", err, p.bounds.ofUser[ann])
	}
	all := make([]*stranger, maxConns)
	for i := range all {
		all[i] = connection(t, p)
		for range 2 { // requests
			if err := all[i].knownAs(p, ann); err != nil {
				t.Fatal(err)
			}
		}
	}
	more := connection(t, p)
	for range 2 {
		if err := more.knownAs(p, ann); !errors.As(err, new(refusal)) {
			t.Errorf("one too many: %v", err)
		}
	}
	more.end(p)
	for _, s := range all {
		s.end(p)
	}
	if n := p.bounds.ofUser[ann]; n != 0 {
		t.Errorf("%d are left", n)
	}
}
