package gossip_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"go.uber.org/goleak"

	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// signer is a site's key pair, made from a name.
type signer struct{ key ed25519.PrivateKey }

func newSigner(name string) signer {
	seed := sha256.Sum256([]byte(name))
	return signer{ed25519.NewKeyFromSeed(seed[:])}
}

func (s signer) public() string {
	return hex.EncodeToString(s.key[ed25519.SeedSize:]) // the second half is the public key
}

func (s signer) sign(data []byte) []byte { return ed25519.Sign(s.key, data) }

func verify(publicKey string, data, sig []byte) bool {
	key, err := hex.DecodeString(publicKey)
	return err == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, data, sig)
}

// recorder is a Handler that remembers.
type recorder struct {
	mu       sync.Mutex
	digests  map[protocol.SiteName]protocol.Digest
	ages     map[protocol.SiteName]protocol.Duration
	alive    map[string]gossip.Identity // by public key
	gone     []protocol.SiteName
	rejected map[string]int
}

func newRecorder() *recorder {
	return &recorder{
		digests:  make(map[protocol.SiteName]protocol.Digest),
		ages:     make(map[protocol.SiteName]protocol.Duration),
		alive:    make(map[string]gossip.Identity),
		rejected: make(map[string]int),
	}
}

func (r *recorder) Digest(d protocol.Digest, age protocol.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.digests[d.Site], r.ages[d.Site] = d, age
}

func (r *recorder) Alive(id gossip.Identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alive[id.PublicKey] = id
}

func (r *recorder) Gone(site protocol.SiteName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = append(r.gone, site)
}

func (r *recorder) Rejected(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rejected[reason]++
}

func (r *recorder) digest(site protocol.SiteName) (protocol.Digest, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, ok := r.digests[site]
	return d, ok
}

func (r *recorder) refusals(reason string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rejected[reason]
}

func (r *recorder) left(site protocol.SiteName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.gone, site)
}

// site is a member under test.
type site struct {
	*gossip.Gossip
	name    protocol.SiteName
	signer  signer
	handler *recorder
	config  gossip.Config
}

// keyring writes a keyring file.
func keyring(t testing.TB, keys ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gossip.keys")
	if err := os.WriteFile(path, []byte("# shared by all\n\n"+strings.Join(keys, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// configure makes the configuration of a site named "site-<n>" among others.
func configure(n, of int, keys string) site {
	trusted := make(map[protocol.SiteName][]string)
	for i := 1; i <= of; i++ {
		name := protocol.SiteName(fmt.Sprintf("site-%d", i))
		trusted[name] = []string{newSigner(string(name)).public()}
	}
	name := protocol.SiteName(fmt.Sprintf("site-%d", n))
	s := site{name: name, signer: newSigner(string(name)), handler: newRecorder()}
	s.config = gossip.Config{
		Self: gossip.Identity{
			Site: name, Number: protocol.SiteNumber(n), PublicKey: s.signer.public(),
			FirstStart: protocol.Instant(n * 1000), Incarnation: 1,
		},
		KeyringFile: keys, Trusted: trusted, Seed: uint64(n),
		Sign: s.signer.sign, Verify: verify, Handler: s.handler,
	}
	return s
}

func (s *site) start(t testing.TB) {
	t.Helper()
	g, err := gossip.Start(s.config)
	if err != nil {
		t.Fatal(err)
	}
	s.Gossip = g
}

// load is a load that tells sites apart.
func load(busy int) protocol.Load { return protocol.Load{CPUs: 1000, Busy: busy, QueuedWork: 1 << 40} }

// wire is an in-memory network for synctest: packets arrive after 10 ms, streams
// are pipes, and two hosts can be cut off from each other.
type wire struct {
	mu    sync.Mutex
	hosts map[string]*host
	side  map[string]int // hosts on different sides do not hear each other
}

type host struct {
	wire    *wire
	ip      net.IP
	packets chan *memberlist.Packet
	streams chan net.Conn
	down    chan struct{}
}

const wirePort = 7601

func newWire() *wire { return &wire{hosts: make(map[string]*host), side: make(map[string]int)} }

func (w *wire) host(n int) *host {
	h := &host{
		wire: w, ip: net.IPv4(10, 0, 0, byte(n)).To4(),
		packets: make(chan *memberlist.Packet, 1024), streams: make(chan net.Conn, 16), down: make(chan struct{}),
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hosts[h.address()] = h
	return h
}

// part puts hosts on another side than the rest.
func (w *wire) part(side int, hosts ...*host) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range hosts {
		w.side[h.address()] = side
	}
}

// reach finds the host if the network lets h talk to it.
func (w *wire) reach(from *host, address string) *host {
	w.mu.Lock()
	defer w.mu.Unlock()
	to := w.hosts[address]
	if to == nil || w.side[from.address()] != w.side[address] {
		return nil
	}
	select {
	case <-to.down:
		return nil
	default:
		return to
	}
}

func (h *host) address() string { return fmt.Sprintf("%s:%d", h.ip, wirePort) }

func (h *host) FinalAdvertiseAddr(string, int) (net.IP, int, error) { return h.ip, wirePort, nil }

func (h *host) WriteTo(b []byte, address string) (time.Time, error) {
	packet := &memberlist.Packet{Buf: slices.Clone(b), From: &net.UDPAddr{IP: h.ip, Port: wirePort}}
	time.AfterFunc(10*time.Millisecond, func() {
		to := h.wire.reach(h, address)
		if to == nil {
			return
		}
		packet.Timestamp = time.Now()
		select {
		case to.packets <- packet:
		default: // as UDP does
		}
	})
	return time.Now(), nil
}

func (h *host) PacketCh() <-chan *memberlist.Packet { return h.packets }
func (h *host) StreamCh() <-chan net.Conn           { return h.streams }

// named lets the pipe's ends have addresses.
type named struct {
	net.Conn
	remote net.Addr
}

func (n named) RemoteAddr() net.Addr { return n.remote }

func (h *host) DialTimeout(address string, timeout time.Duration) (net.Conn, error) {
	to := h.wire.reach(h, address)
	if to == nil {
		time.Sleep(timeout) // virtual
		return nil, errors.New("i/o timeout")
	}
	mine, theirs := net.Pipe()
	select {
	case to.streams <- named{theirs, &net.TCPAddr{IP: h.ip, Port: wirePort}}:
		return named{mine, &net.TCPAddr{IP: to.ip, Port: wirePort}}, nil
	case <-to.down:
		return nil, io.ErrClosedPipe
	}
}

func (h *host) Shutdown() error {
	h.wire.mu.Lock()
	defer h.wire.mu.Unlock()
	select {
	case <-h.down:
	default:
		close(h.down)
	}
	return nil
}
