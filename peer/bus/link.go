package bus

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"
)

// Errors of sending.
var (
	// ErrNoLink says that there is no session with the partner now.
	ErrNoLink = errors.New("no link to the partner")
	// ErrBusy says that too much waits to be sent to the partner.
	ErrBusy = errors.New("the link to the partner is overloaded")
)

const (
	maxWaitingFrames = 4096     // messages that wait on a link, in either direction
	maxWaitingBytes  = 32 << 20 // bytes of them
)

// outgoing waits to be sent: a body to be sealed, or bytes as they are.
type outgoing struct {
	op   string
	body []byte
	raw  bool
}

// link is one way to a partner: a NATS connection and the session over it.
type link struct {
	partner *partner
	opener  bool // this side sends the hellos
	out     chan outgoing
	waiting atomic.Int64  // bytes in out
	wake    chan struct{} // something changed for step

	hellos     *rate.Limiter // that are looked at
	sessions   *rate.Limiter // that are made for the partner
	mismatches *rate.Limiter // of versions, that are logged

	refused string // why a key keeps it from coming up; empty: none is known to. Its partner locks it

	// Whether conn is connected, set by conn's handlers. Asking conn instead could block:
	// it does not answer while it dials.
	connected atomic.Bool

	mu        sync.Mutex
	conn      *nats.Conn
	current   *session // that we send in
	previous  *session // that the partner may still send in
	pending   *session // answered, not yet used by the partner
	opening   *opening // our hello, not yet answered
	answered  *opening // our answer to the partner's last hello
	answeredN []byte   // the nonce of that hello
	renew     bool     // open again although a session is up
	heard     time.Time
	gone      time.Time // when the partner closed its connection; zero: it has one
	again     time.Time // when a new session was last asked for
	outdated  time.Time // when this site's card became another one; zero: the partner has the current one
	parts     assembler
}

func newLink(p *partner, opener bool) *link {
	return &link{
		partner: p, opener: opener,
		out:        make(chan outgoing, maxWaitingFrames),
		wake:       make(chan struct{}, 1),
		hellos:     rate.NewLimiter(helloRate, helloRate),
		sessions:   rate.NewLimiter(rate.Every(p.bus.cfg.Timing.Retry), sessionBurst),
		mismatches: rate.NewLimiter(rate.Every(warnAgain), 1),
	}
}

func (l *link) up() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current != nil
}

// attach gives the link its connection, or the same again after a reconnect: a
// session does not survive the loss of the connection.
func (l *link) attach(conn *nats.Conn) {
	l.mu.Lock()
	l.conn = conn
	l.mu.Unlock()
	l.down()
	l.startHandshake()
}

// lastError is why the connection is not there. It is asked between two dials only, when the
// connection answers.
func (l *link) lastError() error {
	l.mu.Lock()
	conn := l.conn
	l.mu.Unlock()
	if conn == nil {
		return nil
	}
	return conn.LastError()
}

// connect notes that the connection is there.
func (l *link) connect() {
	l.connected.Store(true)
	l.startHandshake()
}

// disconnect notes that the connection has gone.
func (l *link) disconnect() {
	l.connected.Store(false)
	l.down()
}

// left notes that the partner has closed its last connection to this site's
// server, or has made one again. What it sent before may still be under way, so
// step waits a little before it ends the session.
func (l *link) left(gone bool) {
	l.mu.Lock()
	l.gone = time.Time{}
	if gone {
		l.gone = time.Now()
	}
	l.mu.Unlock()
	l.signalStep()
}

// startHandshake begins a handshake: the opener says hello, the other asks it to.
func (l *link) startHandshake() {
	if !l.opener {
		l.sendRaw(opAgain, nil)
	}
	l.signalStep()
}

// signalStep makes step run now.
func (l *link) signalStep() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// enqueue never waits.
func (l *link) enqueue(o outgoing) error {
	size := int64(len(o.body))
	if l.waiting.Add(size) > maxWaitingBytes {
		l.waiting.Add(-size)
		return ErrBusy
	}
	select {
	case l.out <- o:
		return nil
	default:
		l.waiting.Add(-size)
		return ErrBusy
	}
}

func (l *link) sendRaw(op string, body []byte) {
	if err := l.enqueue(outgoing{op: op, body: body, raw: true}); err != nil {
		l.partner.bus.cfg.Log.Debug("handshake_send_failed", "site", string(l.partner.Site), "error", err)
	}
}

// send publishes what waits, until the context ends; then it says bye.
func (l *link) send(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			l.publish(outgoing{op: opBye})
			l.down()
			return
		case o := <-l.out:
			l.waiting.Add(-int64(len(o.body)))
			l.publish(o)
		}
	}
}

func (l *link) publish(o outgoing) {
	l.mu.Lock()
	conn, s := l.conn, l.current
	l.mu.Unlock()
	if conn == nil || (s == nil && !o.raw) {
		return
	}
	b := l.partner.bus
	inbox := inboxOf(l.partner.Site, b.cfg.Site) + "."
	var err error
	if o.raw {
		err = conn.Publish(inbox+o.op, o.body)
	} else {
		err = publishFrames(conn, s, inbox+frameToken, o)
	}
	if err != nil {
		b.cfg.Log.Debug("message_send_failed", "site", string(l.partner.Site), "op", o.op, "error", err)
	}
}

// publishFrames seals a body and publishes it, in fragments if it is long.
func publishFrames(conn *nats.Conn, s *session, subject string, o outgoing) error {
	size := fragmentSize
	if most := int(conn.MaxPayload()) - overhead(o.op) - fragmentHeader; most > 0 {
		size = min(size, most)
	}
	parts, fragments := [][]byte{o.body}, len(o.body) > size
	if fragments {
		parts = split(o.body, size)
	}
	for _, part := range parts {
		data, err := s.seal(subject, o.op, part, fragments)
		if err != nil {
			return err
		}
		if err = conn.Publish(subject, data); err != nil {
			return err
		}
	}
	return nil
}

// overhead is how much longer a frame is than its body.
func overhead(op string) int { return headerSize + 1 + len(op) + tagSize }
