package bus_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const loopback = "127.0.0.1:0"

// pair runs two sites of which only the first can be reached.
func pair(t testing.TB) (reachable, dialling *site) {
	t.Helper()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, nil, b.partner())
	b.start(t, "", nil, a.partner())
	a.connected(t, b, 1)
	b.connected(t, a, 1)
	return a, b
}

func TestOneReachableSideIsEnoughForBothDirections(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	a.sends(t, b, protocol.Prepared{Tag: tag})
	b.receives(t, a, protocol.Prepared{Tag: tag})
	b.sends(t, a, protocol.Grant{Tag: tag}) // evidence, signed
	a.receives(t, b, protocol.Grant{Tag: tag})
	if got := a.cards["desy"]; !reflect.DeepEqual(got, b.card("")) {
		t.Errorf("cern has the card %+v, want desy's", got)
	}
	if b.bus.ListenAddr() != nil {
		t.Error("the dialling side listens")
	}
}

func TestThreeSitesKeepOrder(t *testing.T) {
	t.Parallel()
	a, b, c := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "kit")
	a.start(t, loopback, nil, b.partner(), c.partner())
	b.start(t, loopback, nil, a.partner(), c.partner())
	c.start(t, loopback, nil, a.partner(), b.partner())
	sites := []*site{a, b, c}
	const n = 200
	for _, from := range sites {
		for _, to := range sites {
			if from == to {
				continue
			}
			from.connected(t, to, 1)
			for i := range n {
				from.sends(t, to, protocol.StatusAck{Tag: tag, Seq: uint32(i)})
			}
		}
	}
	for _, s := range sites {
		s.eventually(t, "all messages", func() bool { return len(s.got) == 2*n })
		next := map[protocol.SiteName]uint32{}
		for _, r := range s.got {
			if ack := r.m.(protocol.StatusAck); ack.Seq != next[r.from] {
				t.Fatalf("%s got %d from %s, want %d", s.name, ack.Seq, r.from, next[r.from])
			}
			next[r.from]++
		}
	}
}

// Both sites dial each other; when desy's own link is cut, it uses cern's.
func TestTwoLinksFailOver(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, nil, b.partner())
	address := a.bus.ListenAddr().String()
	w := newWire(t, address)
	cut := a.partner()
	cut.URL = "nats://" + w.listener.Addr().String()
	b.start(t, loopback, nil, cut)
	a.connected(t, b, 1)
	a.bus.Close()
	a.start(t, address, nil, b.partner())
	for _, s := range []struct{ at, to *site }{{a, b}, {b, a}} { // sessions may be told of as one
		s.at.eventually(t, "a session on each link", func() bool { return s.at.bus.LinksUp(s.to.name) == 2 })
	}
	b.mu.Lock()
	before := b.count("-cern")
	b.mu.Unlock()
	w.close()
	a.eventually(t, "a message over the other link", func() bool {
		if err := b.bus.Send(a.name, protocol.Abort{Tag: tag}); err != nil {
			t.Errorf("with one link left: %v", err)
		}
		return len(a.got) > 0
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count("-cern") != before {
		t.Error("desy was told of a disconnection, with one link left")
	}
}

func TestSendRefuses(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, nil, b.partner())
	if err := a.bus.Send("desy", protocol.Grant{Tag: tag}); !errors.Is(err, bus.ErrNoLink) {
		t.Errorf("without a session: got %v", err)
	}
	if err := a.bus.Send("kit", protocol.Grant{Tag: tag}); !errors.Is(err, bus.ErrUnknownPartner) {
		t.Errorf("to a stranger: got %v", err)
	}
	if err := a.bus.Send("desy", protocol.Grant{}); err == nil || !strings.Contains(err.Error(), "tag.job") {
		t.Errorf("a bad message: got %v", err)
	}
}

func TestSessionsComeBackAfterARestart(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	address := a.bus.ListenAddr().String()
	a.bus.Close()
	b.eventually(t, "the disconnection", func() bool { return b.count("-cern") == 1 })
	if err := b.bus.Send("cern", protocol.Abort{Tag: tag}); !errors.Is(err, bus.ErrNoLink) {
		t.Errorf("while cern is away: got %v", err)
	}
	a.start(t, address, nil, bus.Partner{Site: b.name, PublicKey: b.key.Public()})
	a.connected(t, b, 2)
	b.connected(t, a, 2)
	b.sends(t, a, protocol.Accept{Tag: tag})
	a.receives(t, b, protocol.Accept{Tag: tag})

	b.bus.Close()
	a.eventually(t, "the goodbye", func() bool { return a.count("-desy") == 1 })
	b.start(t, "", nil, a.partner())
	a.connected(t, b, 3)
}

func TestUnknownKeysAreRefused(t *testing.T) {
	t.Parallel()
	a, b, stranger := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "desy")
	a.start(t, loopback, nil, b.partner())
	stranger.start(t, "", nil, a.partner())
	a.refuses(t, bus.UnknownSender)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.changes) != 0 {
		t.Errorf("a stranger got a session: %v", a.changes)
	}
}

// A partner that answers with another key than configured is not dialled.
func TestAServerWithAnotherKeyIsRefused(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, nil, b.partner())
	wrong := newSite(t, "cern").partner()
	wrong.URL = a.partner().URL
	conn, err := nats.Connect(wrong.URL, nats.Secure(pin(t, b, wrong.PublicKey)))
	if err == nil {
		conn.Close()
		t.Fatal("the server's key was not checked")
	}
	if !strings.Contains(err.Error(), "public_key") {
		t.Errorf("got %v, want the remedy", err)
	}
}

func TestCardsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	other := newSite(t, "kit")
	cases := map[string]func(*protocol.Card){
		"name": func(c *protocol.Card) { c.Site = "kit" },
		"key":  func(c *protocol.Card) { c.PublicKey = other.key.Public() },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newSite(t, "cern"), newSite(t, "desy")
			a.start(t, loopback, nil, b.partner())
			b.start(t, "", func(cfg *bus.Config) {
				cfg.Card = func(p protocol.SiteName) protocol.Card {
					card := b.card(p)
					change(&card)
					return card
				}
			}, a.partner())
			a.refuses(t, bus.BadCard)
			a.mu.Lock()
			defer a.mu.Unlock()
			if len(a.changes) != 0 {
				t.Errorf("a wrong card got a session: %v", a.changes)
			}
		})
	}
}

func TestLongMessagesTravelInFragments(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	script := bytes.Repeat([]byte("#"), 3<<20)
	args := []string{strings.Repeat("x", 4<<20)}
	offer := protocol.Offer{
		Spec:  protocol.Spec{Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: protocol.Hour}},
		Epoch: 1, Payload: &protocol.Payload{Script: script, Args: args},
	}
	b.sends(t, a, offer)
	b.sends(t, a, protocol.Abort{Tag: tag})
	a.receives(t, b, protocol.Abort{Tag: tag})
	a.mu.Lock()
	defer a.mu.Unlock()
	got, ok := a.got[0].m.(protocol.Offer)
	if !ok || !bytes.Equal(got.Payload.Script, script) || got.Payload.Args[0] != args[0] {
		t.Errorf("the first message is a %T or differs", a.got[0].m)
	}
}

func TestFilesAreFetchedInChunks(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	b.file = make([]byte, 3<<20+12345)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(b.file)
	file := protocol.File{Stream: protocol.Stdout, Size: int64(len(b.file)), SHA256: sha256.Sum256(b.file)}
	var got bytes.Buffer
	if err := a.bus.FetchFile(t.Context(), "desy", tag, file, &got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), b.file) {
		t.Error("the file differs")
	}
	file.SHA256[0] ^= 1
	if err := a.bus.FetchFile(t.Context(), "desy", tag, file, &got); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("another checksum: got %v", err)
	}
	file.Size++
	if err := a.bus.FetchFile(t.Context(), "desy", tag, file, &got); err == nil || !strings.Contains(err.Error(), "ends at byte") {
		t.Errorf("another size: got %v", err)
	}
}

func TestFetchRefuses(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	good := bus.FetchRequest{Tag: tag, Stream: protocol.Stdout, Size: 10}
	cases := map[string]struct {
		change func(*bus.FetchRequest)
		want   string
	}{
		"no job":     {func(r *bus.FetchRequest) { r.Tag.Job = 0 }, "tag.job"},
		"no stream":  {func(r *bus.FetchRequest) { r.Stream = 0 }, "stream"},
		"offset":     {func(r *bus.FetchRequest) { r.Offset = -1 }, "offset"},
		"too large":  {func(r *bus.FetchRequest) { r.Size = bus.MaxChunk + 1 }, "size"},
		"by partner": {func(r *bus.FetchRequest) { r.Stream = protocol.Stderr }, "no such file"},
		"gone":       {func(r *bus.FetchRequest) { r.Tag = dropped }, "taken in June"},
	}
	for name, c := range cases {
		req := good
		c.change(&req)
		_, err := a.bus.Fetch(t.Context(), b.name, req)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if gone := errors.Is(err, protocol.ErrOutputGone); gone != (req.Tag == dropped) {
			t.Errorf("%s: that the output is gone for good is said: %t", name, gone)
		}
	}
	if data, err := a.bus.Fetch(t.Context(), b.name, good); err != nil || len(data) != 0 {
		t.Errorf("an empty file: got %d bytes, %v", len(data), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.bus.Fetch(ctx, b.name, good); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestASlowHandlerLosesMessagesAndSaysSo(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.hold = make(chan struct{})
	a.start(t, loopback, func(c *bus.Config) { c.Queue = 10 }, b.partner())
	b.start(t, "", nil, a.partner())
	b.connected(t, a, 1)
	b.sends(t, a, protocol.StatusAck{Tag: tag})
	<-a.entered
	for i := range 20 {
		b.sends(t, a, protocol.StatusAck{Tag: tag, Seq: uint32(1 + i)})
	}
	a.eventually(t, "the drops", func() bool { return a.rejected[bus.Overload] == 10 })
	close(a.hold)
	a.eventually(t, "the rest", func() bool { return len(a.got) == 11 })
}

func TestATakenPortNamesAddressAndRemedy(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	bb, err := bus.New(bus.Config{
		Site: a.name, Key: a.key, Listen: l.Addr().String(), Partners: []bus.Partner{b.partner()}, Card: a.card, Handler: a,
	})
	if err != nil {
		t.Fatal(err)
	}
	err = bb.Start(t.Context())
	for _, want := range []string{l.Addr().String(), "[nats] listen", "another host:port", "in use"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	cases := map[string]struct {
		change func(*bus.Config)
		want   string
	}{
		"name":        {func(c *bus.Config) { c.Site = "CERN" }, "site name"},
		"key":         {func(c *bus.Config) { c.Key = nil }, "needs a key"},
		"partner key": {func(c *bus.Config) { c.Partners[0].PublicKey = "U" }, "partner desy"},
		"twice":       {func(c *bus.Config) { c.Partners = append(c.Partners, c.Partners[0]) }, "duplicate name or public key"},
		"itself":      {func(c *bus.Config) { c.Partners[0].Site = "cern" }, "those of this site"},
		"no way":      {func(c *bus.Config) { c.Listen = "" }, "neither can reach"},
		"url":         {func(c *bus.Config) { c.Partners[0].URL = "desy:7501" }, "nats://host:port"},
		"two modes":   {func(c *bus.Config) { c.External = &bus.External{} }, "exclude each other"},
		"silence":     {func(c *bus.Config) { c.Timing.Silence = time.Second }, "longer than keepalive"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := bus.Config{
				Site: a.name, Key: a.key, Listen: loopback, Partners: []bus.Partner{b.partner()}, Card: a.card, Handler: a,
			}
			c.change(&cfg)
			if _, err := bus.New(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// At cern's server, desy may neither hear nor speak as kit.
func TestPartnersCannotReachEachOthersSubjects(t *testing.T) {
	t.Parallel()
	a, b, c := newSite(t, "cern"), newSite(t, "desy"), newSite(t, "kit")
	a.start(t, loopback, nil, b.partner(), c.partner())
	refused := make(chan error, 16)
	conn, err := nats.Connect(a.partner().URL,
		nats.Secure(pin(t, b, a.key.Public())),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, subject := range []string{
		"switchyard.v1.kit.in.cern.>", "switchyard.v1.cern.in.desy.>", "switchyard.v1.*.in.cern.>", ">", "$SYS.>",
	} {
		sub, err := conn.Subscribe(subject, func(*nats.Msg) { t.Errorf("heard something on %s", subject) })
		if err != nil {
			t.Fatal(err)
		}
		expectDenied(t, refused, subject)
		_ = sub.Unsubscribe()
	}
	for _, subject := range []string{
		"switchyard.v1.cern.in.kit.hello", "switchyard.v1.kit.in.cern.hello", "switchyard.v1.desy.in.cern.ping", "x",
	} {
		if err := conn.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
		expectDenied(t, refused, subject)
	}
}

func expectDenied(t *testing.T, refused <-chan error, subject string) {
	t.Helper()
	select {
	case err := <-refused:
		if !errors.Is(err, nats.ErrPermissionViolation) && !strings.Contains(strings.ToLower(fmt.Sprint(err)), "permissions violation") {
			t.Errorf("%s: got %v", subject, err)
		}
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s was allowed", subject)
	}
}

// pin makes the TLS side of a client that is the site and dials the key.
func pin(t testing.TB, as *site, public string) *tls.Config {
	t.Helper()
	config, err := as.key.PartnerTLS(string(as.name), time.Now(), public)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// Without TLS, without a certificate, or as the server's own site, nobody gets
// in from outside.
func TestTheServerAdmitsOnlyCertificates(t *testing.T) {
	t.Parallel()
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, loopback, nil, b.partner())
	url := a.partner().URL
	bare := pin(t, b, a.key.Public())
	bare.Certificates = nil
	for name, opts := range map[string][]nats.Option{
		"no TLS":         {nats.UserInfo("cern", "")},
		"no certificate": {nats.Secure(bare)},
		"own site":       {nats.Secure(pin(t, a, a.key.Public()))},
	} {
		if conn, err := nats.Connect(url, opts...); err == nil {
			conn.Close()
			t.Errorf("%s: got in", name)
		}
	}
}
