package bus_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/transfer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func direct(c *bus.Config) { c.Streams = 4 }

// randomFile is the content of a file of a few chunks.
func randomFile() []byte {
	file := make([]byte, 17*bus.MaxChunk+12345)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(file)
	return file
}

// fetches fetches a partner's file, all chunks of it at once.
func (s *site) fetches(t testing.TB, from *site) {
	t.Helper()
	got := make([]byte, len(from.file))
	var all sync.WaitGroup
	for at := 0; at < len(got); at += bus.MaxChunk {
		all.Go(func() {
			size := min(bus.MaxChunk, len(got)-at)
			data, err := s.bus.Fetch(t.Context(), from.name, bus.FetchRequest{
				Tag: tag, Stream: protocol.Stdout, Offset: int64(at), Size: size,
			})
			if err != nil || len(data) != size {
				t.Errorf("%s, at %d: %d bytes, %v", s.name, at, len(data), err)
			}
			copy(got[at:], data)
		})
	}
	all.Wait()
	if !bytes.Equal(got, from.file) {
		t.Errorf("%s: the file from %s differs", s.name, from.name)
	}
}

// traffic is that of the only partner.
func (s *site) traffic() bus.Traffic {
	all := s.bus.Traffic()
	all[0].Streams = 0
	return all[0]
}

// TestFilesMoveOverDirectConnections: whichever of the two sites can dial the other.
func TestFilesMoveOverDirectConnections(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, direct, b.partner())
	b.start(t, "", direct, a.partner())
	a.connected(t, b, 1)
	b.connected(t, a, 1)
	a.file, b.file = randomFile(), randomFile()[:5*bus.MaxChunk]
	a.fetches(t, b) // b has dialled, at a's invitation
	b.fetches(t, a)
	sizeA, sizeB := uint64(len(a.file)), uint64(len(b.file))
	if got, want := a.traffic(), (bus.Traffic{Site: "desy", Sent: sizeA, Fetched: sizeB}); got != want {
		t.Errorf("at cern: %+v, want %+v", got, want)
	}
	if got, want := b.traffic(), (bus.Traffic{Site: "cern", Sent: sizeB, Fetched: sizeA}); got != want {
		t.Errorf("at desy: %+v, want %+v", got, want)
	}
}

// relay passes connections on to an address, after what their TLS handshake begins with, which shows
// whether they are for files; pass may end one in some way.
func relay(t testing.TB, to string, pass func(forFiles bool, near, far net.Conn)) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(t.Context(), "tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			running.Go(func() {
				defer near.Close()
				defer far.Close()
				_, _ = io.CopyN(near, far, int64(len("INFO ")))
				info, err := bufio.NewReader(far).ReadBytes('\n') // the server says no more yet
				if err != nil {
					return
				}
				_, _ = near.Write(info)
				hello := make([]byte, 4<<10)
				n, _ := near.Read(hello)
				_, _ = far.Write(hello[:n])
				pass(bytes.Contains(hello[:n], []byte(transfer.Protocol)), near, far)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return listener.Addr().String()
}

// passing passes bytes both ways until either side ends.
func passing(near, far net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(near, far); _ = near.Close() })
	_, _ = io.Copy(far, near)
	_ = far.Close()
	both.Wait()
}

// TestFilesGoOverNATSWhereThereIsNoDirectWay: a firewall lets only NATS through, or the side
// that fetches has no streams.
func TestFilesGoOverNATSWhereThereIsNoDirectWay(t *testing.T) {
	t.Parallel()
	natsOnly := func(forFiles bool, near, far net.Conn) {
		if !forFiles {
			passing(near, far)
		}
	}
	everything := func(_ bool, near, far net.Conn) { passing(near, far) }
	for name, test := range map[string]struct {
		pass    func(bool, net.Conn, net.Conn)
		fetches func(*bus.Config)
	}{"firewall": {natsOnly, direct}, "no streams": {everything, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newSite(t, "cern"), newSite(t, "desy")
			a.file = randomFile()
			a.start(t, loopback, direct, b.partner())
			through := a.partner()
			through.URL = "nats://" + relay(t, a.bus.ListenAddr().String(), test.pass)
			b.start(t, "", test.fetches, through)
			t.Cleanup(b.bus.Close) // before the relay, which waits for it
			b.connected(t, a, 1)
			b.fetches(t, a)
			size := uint64(len(a.file))
			if got, want := b.traffic(), (bus.Traffic{Site: "cern", FetchedByNATS: size}); got != want {
				t.Errorf("at desy: %+v, want %+v", got, want)
			}
			a.eventually(t, "all is sent by NATS", func() bool { // it is counted after the last chunk has gone
				return a.traffic() == bus.Traffic{Site: "desy", SentByNATS: size}
			})
		})
	}
}

// TestCutFilesArriveWhole cuts connections for files after some bytes, whatever they are at then.
func TestCutFilesArriveWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	cuts := 0
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.file = randomFile()
	a.start(t, loopback, direct, b.partner())
	through := a.partner()
	through.URL = "nats://" + relay(t, a.bus.ListenAddr().String(), func(forFiles bool, near, far net.Conn) {
		mu.Lock()
		after := random.Int64N(6 * bus.MaxChunk)
		mu.Unlock()
		if !forFiles {
			passing(near, far)
			return
		}
		go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
		_, _ = io.CopyN(near, far, after)
		mu.Lock()
		cuts++
		mu.Unlock()
	})
	b.start(t, "", direct, through)
	t.Cleanup(b.bus.Close)
	b.connected(t, a, 1)
	for range 10 {
		b.fetches(t, a)
	}
	mu.Lock()
	defer mu.Unlock()
	t.Logf("%d connections were cut; %+v", cuts, b.traffic())
	if cuts == 0 {
		t.Error("no connection was cut")
	}
}

// TestOnlyPartnersGetConnectionsForFiles: a stranger does not, and a partner that is removed has
// none left.
func TestOnlyPartnersGetConnectionsForFiles(t *testing.T) {
	t.Parallel()
	a, b, stranger := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "kit")
	a.file = randomFile()
	a.start(t, loopback, direct, b.partner())
	if data := sayForFiles(t, a, stranger); len(data) > 0 && data[0] != '-' {
		t.Errorf("a stranger gets %q", data)
	}
	a.refuses(t, bus.UnknownSender)

	b.start(t, "", direct, a.partner())
	b.connected(t, a, 1)
	b.fetches(t, a)
	if err := a.bus.SetPartners(a.key, nil); err != nil {
		t.Fatal(err)
	}
	_, err := b.bus.Fetch(t.Context(), "cern", bus.FetchRequest{Tag: tag, Stream: protocol.Stdout, Size: 10})
	if err == nil {
		t.Error("a site that is a partner no more reads on")
	}
}

// sayForFiles connects to a site as another one does for files, says something, and returns the
// first that comes back.
func sayForFiles(t testing.TB, to, as *site) []byte {
	t.Helper()
	raw, err := new(net.Dialer).DialContext(t.Context(), "tcp", to.bus.ListenAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	for one := make([]byte, 1); one[0] != '\n'; { // INFO
		if _, err = io.ReadFull(raw, one); err != nil {
			t.Fatal(err)
		}
	}
	config := pin(t, as, to.key.Public())
	config.NextProtos = []string{transfer.Protocol}
	conn := tls.Client(raw, config)
	if err = conn.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Write([]byte{1, 0, 0, 0, 1, 'x'})
	data := make([]byte, 100)
	n, _ := conn.Read(data)
	return data[:n]
}

// TestARateOfFilesIsKept fetches more than a second's worth, directly and over NATS.
func TestARateOfFilesIsKept(t *testing.T) {
	t.Parallel()
	limited := func(change func(*bus.Config)) func(*bus.Config) {
		return func(c *bus.Config) {
			c.MaxRate = transfer.MinRate
			change(c)
		}
	}
	for name, change := range map[string]func(*bus.Config){"direct": direct, "NATS": func(*bus.Config) {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newSite(t, "cern"), newSite(t, "desy")
			a.file = randomFile()[:6*bus.MaxChunk]
			a.start(t, loopback, direct, b.partner())
			b.start(t, "", limited(change), a.partner())
			b.connected(t, a, 1)
			begun := time.Now()
			b.fetches(t, a)
			const least = 5 * bus.MaxChunk * time.Second / transfer.MinRate // the first is free
			if took := time.Since(begun); took < least {
				t.Errorf("%d bytes in %v, want at least %v", len(a.file), took, least)
			}
		})
	}
}

func TestRatesAndStreamsAreChecked(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	slow := b.partner()
	slow.MaxRate = transfer.MinRate - 1
	for name, change := range map[string]func(*bus.Config){
		"site":    func(c *bus.Config) { c.MaxRate = -1 },
		"partner": func(c *bus.Config) { c.Partners = []bus.Partner{slow} },
		"many":    func(c *bus.Config) { c.Streams = transfer.MaxStreams + 1 },
		"few":     func(c *bus.Config) { c.Streams = -1 },
	} {
		cfg := bus.Config{Site: a.name, Key: a.key, Listen: loopback, Card: a.card, Handler: a}
		change(&cfg)
		if _, err := bus.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestFetchWithoutALinkFails at once, although a connection for files might come up.
func TestFetchWithoutALinkFails(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, direct, b.partner())
	_, err := a.bus.Fetch(context.Background(), "desy", bus.FetchRequest{Tag: tag, Stream: protocol.Stdout, Size: 1})
	if !errors.Is(err, bus.ErrNoLink) {
		t.Errorf("error %v", err)
	}
}
