package bus_test

import (
	"crypto/rand"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testlog"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// hostile is a configured partner that speaks NATS by itself.
type hostile struct {
	site  *site
	at    *site
	conn  *nats.Conn
	heard chan *nats.Msg // of what the site says
}

func newHostile(t testing.TB, as, at *site) *hostile {
	t.Helper()
	conn, err := nats.Connect(at.partner().URL, nats.Secure(pin(t, as, at.key.Public())), nats.Timeout(2*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	h := &hostile{site: as, at: at, conn: conn, heard: make(chan *nats.Msg, 4096)}
	if _, err = conn.ChanSubscribe("switchyard.v1."+string(as.name)+".in."+string(at.name)+".>", h.heard); err != nil {
		t.Fatal(err)
	}
	if err = conn.Flush(); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *hostile) says(t testing.TB, token string, data []byte) {
	t.Helper()
	if err := h.conn.Publish("switchyard.v1."+string(h.at.name)+".in."+string(h.site.name)+"."+token, data); err != nil {
		t.Fatal(err)
	}
}

// hello makes a hello, signed as it should be.
func (h *hostile) hello(t testing.TB, version uint32) []byte {
	t.Helper()
	card, err := peerv1.EncodeCard(h.site.card(h.at.name))
	if err != nil {
		t.Fatal(err)
	}
	nonce, ephemeral := make([]byte, peerv1.NonceSize), make([]byte, peerv1.EphemeralSize)
	_, _ = rand.Read(nonce)
	_, _ = rand.Read(ephemeral)
	hello, err := proto.Marshal(&peerv1.Hello{
		Version: version, From: string(h.site.name), To: string(h.at.name), Ephemeral: ephemeral, Nonce: nonce,
		Card: &peerv1.SignedCard{Card: card, Signature: h.site.key.Sign(identity.Card, card)},
	})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := proto.Marshal(&peerv1.SignedHello{Hello: hello, Signature: h.site.key.Sign(identity.Hello, hello)})
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// hears waits for a hello of the site and returns it.
func (h *hostile) hears(t testing.TB) *peerv1.Hello {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case m := <-h.heard:
			if !strings.HasSuffix(m.Subject, ".hello") {
				continue
			}
			var signed peerv1.SignedHello
			var hello peerv1.Hello
			if err := proto.Unmarshal(m.Data, &signed); err != nil {
				t.Fatal(err)
			}
			if err := proto.Unmarshal(signed.GetHello(), &hello); err != nil {
				t.Fatal(err)
			}
			return &hello
		case <-limit:
			t.Fatal("no hello came")
		}
	}
}

// logged is a log that a test reads.
type logged struct{ testlog.Buffer }

func (l *logged) count(text string) int { return strings.Count(l.String(), text) }

func (l *logged) into(c *bus.Config) { c.Log = l.Logger() }

// A peer of an older version learns why it gets no session, by a hello that it
// refuses as this site refuses its own; and this site's log says it once.
func TestAnotherVersionIsNamedOnBothSides(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	log := new(logged)
	a.start(t, loopback, log.into, b.partner())
	old := newHostile(t, b, a)
	for range 3 {
		old.says(t, "hello", old.hello(t, protocol.ProtocolVersion-1))
	}
	a.refuses(t, bus.BadVersion)
	if got := old.hears(t).GetVersion(); got != protocol.ProtocolVersion {
		t.Errorf("the old peer hears version %d, want %d", got, protocol.ProtocolVersion)
	}
	a.eventually(t, "three refusals", func() bool { return a.rejected[bus.BadVersion] == 3 })
	text := fmt.Sprintf("the partner speaks version %d, this site %d", protocol.ProtocolVersion-1, protocol.ProtocolVersion)
	const warning = "level=WARN msg=protocol_version_mismatch"
	if got := log.count(warning); got != 1 || !strings.Contains(log.String(), text) {
		t.Errorf("the log has %d times %q, want once, with %q:\n%s", got, warning, text, log)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.changes) != 0 {
		t.Errorf("the old peer got a session: %v", a.changes)
	}
}

// A partner that opens sessions without end costs signatures and key exchanges for
// a few only, and the rest is counted.
func TestAFloodOfHellosIsBounded(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, func(c *bus.Config) { c.Timing.Retry = time.Hour }, b.partner())
	h := newHostile(t, b, a)
	const hellos = 1000
	for range hellos {
		h.says(t, "hello", h.hello(t, protocol.ProtocolVersion))
	}
	answers := 0
	a.eventually(t, "the refusals", func() bool {
		for len(h.heard) > 0 {
			if m := <-h.heard; strings.HasSuffix(m.Subject, ".hello") {
				answers++
			}
		}
		return a.rejected[bus.Overload] >= hellos-4 && answers >= 1
	})
	if answers > 4 {
		t.Errorf("%d of %d hellos were answered in an hour's span, want 4", answers, hellos)
	}
}

// Keys are renewed while a session lives, and nothing is lost by it.
func TestSessionsAreRenewed(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	renew := func(c *bus.Config) { c.Timing.Renew = 300 * time.Millisecond }
	a.start(t, loopback, renew, b.partner())
	b.start(t, "", renew, a.partner())
	a.connected(t, b, 1)
	b.connected(t, a, 1)
	var sent uint32
	a.eventually(t, "three renewals", func() bool {
		if sent < 2000 {
			if err := b.bus.Send(a.name, protocol.StatusAck{Tag: tag, Seq: sent}); err != nil {
				t.Errorf("message %d: %v", sent, err)
			}
			sent++
		}
		return a.count("+desy") >= 4
	})
	a.eventually(t, "all messages", func() bool { return len(a.got) == int(sent) })
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, r := range a.got {
		if ack := r.m.(protocol.StatusAck); ack.Seq != uint32(i) {
			t.Fatalf("message %d is %d", i, ack.Seq)
		}
	}
	if a.count("-desy") != 0 {
		t.Errorf("a renewal looked like a disconnection: %v", a.changes)
	}
}

// TestACardIsSentAgain: a site whose card has changed sends it to its partner by a new session, whichever of them
// opens sessions, also twice in a row, and nothing looks like a disconnection.
func TestACardIsSentAgain(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, nil, b.partner())
	b.start(t, "", nil, a.partner())
	a.connected(t, b, 1)
	b.connected(t, a, 1)
	for _, change := range []struct{ of, to *site }{{a, b}, {b, a}} {
		for range 2 {
			mark, before := "+"+string(change.of.name), 0
			change.to.eventually(t, "a count", func() bool { before = change.to.count(mark); return true })
			change.of.bus.SendCard()
			change.to.eventually(t, "the other card of "+string(change.of.name), func() bool { return change.to.count(mark) > before })
		}
	}
	for _, one := range []*site{a, b} {
		one.eventually(t, "no disconnection", func() bool { return one.count("-cern")+one.count("-desy") == 0 })
	}
}

// A partner that sends as fast as it can, whatever it sends, holds up no other, and
// what waits of it is bounded.
func TestAFloodDelaysNoOtherPartner(t *testing.T) {
	t.Parallel()
	a, b, c := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "kit")
	a.start(t, loopback, nil, b.partner(), c.partner())
	c.start(t, "", nil, a.partner())
	a.connected(t, c, 1)
	c.connected(t, a, 1)
	h := newHostile(t, b, a)
	before := heap()
	var most uint64
	for i := range 50 {
		for range 20 { // of a session that does not exist, and of a megabyte each
			h.says(t, "frame", append([]byte{2, 0}, make([]byte, 1<<20-2)...))
			h.says(t, "again", nil)
			h.says(t, strings.Repeat("x.", 50)+"x", nil)
		}
		c.sends(t, a, protocol.StatusAck{Tag: tag, Seq: uint32(i)})
		most = max(most, heap())
	}
	a.eventually(t, "kit's messages", func() bool { return len(a.got) == 50 })
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count("-kit") != 0 {
		t.Errorf("the flood cut the other partner off: %v", a.changes)
	}
	if a.rejected[bus.NoSession] == 0 || a.rejected[bus.Malformed] == 0 {
		t.Errorf("the flood was not counted: %v", a.rejected)
	}
	if grown := int64(most) - int64(before); grown > 256<<20 {
		t.Errorf("%d MB were held of it", grown>>20)
	} else {
		t.Logf("%d MB were held of it", grown>>20)
	}
}

func heap() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
