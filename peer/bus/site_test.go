package bus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// serverEnv makes the test binary a NATS server in a process of its own.
const serverEnv = "SWITCHYARD_TEST_NATS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverEnv) != "" {
		serveNATS()
		return
	}
	goleak.VerifyTestMain(m)
}

// serveNATS prints its URL and runs until its standard input ends.
func serveNATS() {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	go s.Start()
	if !s.ReadyForConnections(2 * time.Minute) {
		fmt.Println("not ready")
		return
	}
	fmt.Println(s.ClientURL())
	_, _ = os.Stdin.Read(make([]byte, 1))
	s.Shutdown()
}

// site is a bus under test with what its handler has got.
type site struct {
	name protocol.SiteName
	key  *identity.Key
	bus  *bus.Bus

	mu       sync.Mutex
	got      []received
	changes  []string // "+cern", "-cern"
	refusals []string // "cern: its key …"
	rejected map[bus.Reason]int
	hold     chan struct{} // nil: Received does not wait
	entered  chan struct{} // Received has been called
	file     []byte
	life     protocol.Life // that its card states
	seen     protocol.Life // that its card claims of the receiver
	cards    map[protocol.SiteName]protocol.Card
}

type received struct {
	from protocol.SiteName
	m    protocol.Message
}

func newSite(t testing.TB, name protocol.SiteName) *site {
	t.Helper()
	seed, _, err := identity.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	key, err := identity.ParseKey(seed)
	if err != nil {
		t.Fatal(err)
	}
	return &site{
		name: name, key: key, rejected: map[bus.Reason]int{}, cards: map[protocol.SiteName]protocol.Card{},
		entered: make(chan struct{}, 1),
	}
}

func (s *site) card(protocol.SiteName) protocol.Card {
	s.mu.Lock()
	defer s.mu.Unlock()
	return protocol.Card{
		Site: s.name, Number: 1, PublicKey: s.key.Public(), Software: "test", Protocol: protocol.ProtocolVersion,
		Capacity:    protocol.Capacity{CPUs: 64, Nodes: 4},
		Incarnation: s.life.Incarnation, Boot: s.life.Boot, Begun: s.life.Begun, Generation: s.life.Generation, Seen: s.seen,
	}
}

// partner configures the other site; with its bus running, by its address.
func (s *site) partner() bus.Partner {
	p := bus.Partner{Site: s.name, PublicKey: s.key.Public()}
	if s.bus != nil && s.bus.ListenAddr() != nil {
		p.URL = "nats://" + s.bus.ListenAddr().String()
	}
	return p
}

// start runs a bus for the site; change may alter its configuration.
func (s *site) start(t testing.TB, listen string, change func(*bus.Config), partners ...bus.Partner) {
	t.Helper()
	cfg := bus.Config{
		Site: s.name, Key: s.key, Listen: listen, Partners: partners, Card: s.card, Handler: s,
		Timing: bus.Timing{
			// A busy machine alone may be silent for seconds, and a new session loses messages.
			Retry: 50 * time.Millisecond, Keepalive: 100 * time.Millisecond, Silence: time.Hour,
			Fetch: 5 * time.Second,
		},
	}
	if change != nil {
		change(&cfg)
	}
	b, err := bus.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err = b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.bus = b
	t.Cleanup(b.Close)
}

func (s *site) Received(from protocol.SiteName, m protocol.Message) {
	s.mu.Lock()
	s.got = append(s.got, received{from, m})
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case s.entered <- struct{}{}:
		default:
		}
		<-hold
	}
}

func (s *site) Connected(card protocol.Card) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes = append(s.changes, "+"+string(card.Site))
	s.cards[card.Site] = card
}

func (s *site) Disconnected(from protocol.SiteName, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why != "" {
		s.refusals = append(s.refusals, string(from)+": "+why)
		return
	}
	s.changes = append(s.changes, "-"+string(from))
}

func (s *site) Rejected(reason bus.Reason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejected[reason]++
}

// dropped is the placement whose output a site has no longer.
var dropped = protocol.Tag{Job: tag.Job, Epoch: 9}

func (s *site) Fetch(_ context.Context, _ protocol.SiteName, req bus.FetchRequest) ([]byte, error) {
	if req.Tag == dropped {
		return nil, fmt.Errorf("%w: taken in June", protocol.ErrOutputGone)
	}
	if req.Stream != protocol.Stdout {
		return nil, errors.New("no such file")
	}
	start := min(req.Offset, int64(len(s.file)))
	return s.file[start:min(start+int64(req.Size), int64(len(s.file)))], nil
}

// eventually polls a condition under the site's lock.
func (s *site) eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		s.mu.Lock()
		ok := condition()
		s.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			s.mu.Lock()
			defer s.mu.Unlock()
			t.Fatalf("%s: %s did not happen; got %d messages, changes %v, rejected %v",
				s.name, what, len(s.got), s.changes, s.rejected)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// connected waits for so many sessions with the site.
func (s *site) connected(t testing.TB, other *site, times int) {
	t.Helper()
	s.eventually(t, fmt.Sprintf("session %d with %s", times, other.name), func() bool {
		return s.count("+"+string(other.name)) >= times
	})
}

func (s *site) count(change string) int {
	n := 0
	for _, c := range s.changes {
		if c == change {
			n++
		}
	}
	return n
}

// receives waits for a message.
func (s *site) receives(t testing.TB, from *site, m protocol.Message) {
	t.Helper()
	s.eventually(t, m.Kind()+" from "+string(from.name), func() bool {
		return slices.ContainsFunc(s.got, func(r received) bool {
			return r.from == from.name && fmt.Sprint(r.m) == fmt.Sprint(m)
		})
	})
}

func (s *site) refuses(t testing.TB, reason bus.Reason) {
	t.Helper()
	s.eventually(t, "refusal for "+reason, func() bool { return s.rejected[reason] > 0 })
}

// sends sends and fails on an error.
func (s *site) sends(t testing.TB, to *site, m protocol.Message) {
	t.Helper()
	if err := s.bus.Send(to.name, m); err != nil {
		t.Fatalf("%s to %s: %v", s.name, to.name, err)
	}
}

var tag = protocol.Tag{Job: protocol.NewJobID(1, 7), Epoch: 1}
