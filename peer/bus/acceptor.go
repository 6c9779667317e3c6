package bus

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/time/rate"

	"github.com/switchyard-hpc/switchyard/peer/connlimit"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/transfer"
)

// What the acceptor grants to those who have not shown a partner's key.
const (
	greetTimeout    = 10 * time.Second // from the TCP connection to the NATS login
	maxWaiting      = 1024             // connections in all
	maxWaitingOfOne = 256              // from one address

	// TLS handshakes that may begin from one address: a burst, and then one in each
	// Timing.Handshake. A handshake costs some tenths of a millisecond of a CPU.
	handshakesAtOnce = 100
	maxPaced         = 4096 // addresses that are remembered for it

	strangersLogged   = 5 // at once, then one in each logStrangersEvery
	logStrangersEvery = time.Minute
)

// What it grants to partners.
const (
	maxInsideOfOne = 4       // connections of one that are logged in
	maxLogin       = 4 << 10 // bytes of a NATS login
	pumpBuffer     = 64 << 10
	closeTimeout   = time.Second // for what is on its way at the end
)

// acceptor stands in front of the embedded NATS server. It does the TLS handshake, so
// that the server only ever sees partners, and their number is all that its limits
// have to allow for. Of those who are still to show their key it keeps a bounded
// number, and makes room for a new one by sending away the oldest of the address
// that has the most. Idle callers therefore cannot keep others out.
type acceptor struct {
	bus      *Bus
	listener net.Listener
	server   *server.Server
	config   atomic.Pointer[tls.Config]
	info     []byte        // what a NATS server says first
	log      *rate.Limiter // of strangers
	wg       sync.WaitGroup

	waiting *connlimit.Limiter

	mu     sync.Mutex
	closed bool
	inside map[*partner][]net.Conn
}

// openAcceptor listens on the configured address and lets partners in to the server.
func (b *Bus) openAcceptor(ctx context.Context, s *server.Server) (*acceptor, error) {
	const remedy = "free it or set [nats] listen to another host:port"
	config, err := b.serverTLS(b.key())
	if err != nil {
		return nil, err
	}
	info, err := json.Marshal(server.Info{
		ID: s.ID(), Name: string(b.cfg.Site), Version: server.VERSION, Proto: 1,
		Headers: true, MaxPayload: maxPayload, TLSRequired: true, AuthRequired: true,
	})
	if err != nil {
		return nil, fmt.Errorf("[nats] listen: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", b.cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("[nats] listen = %q: the NATS server cannot listen on this address; %s: %w", b.cfg.Listen, remedy, err)
	}
	a := &acceptor{
		bus: b, listener: listener, server: s,
		info:    append(append([]byte("INFO "), info...), "\r\n"...),
		log:     rate.NewLimiter(rate.Every(logStrangersEvery), strangersLogged),
		waiting: connlimit.New(maxWaiting, maxWaitingOfOne),
		inside:  map[*partner][]net.Conn{},
	}
	a.config.Store(config)
	a.wg.Go(a.accept)
	return a, nil
}

// serverTLS is what those who connect to this site get to see of a key of it.
func (b *Bus) serverTLS(key *identity.Key) (*tls.Config, error) {
	config, err := key.ServerTLS(string(b.cfg.Site), time.Now())
	if err != nil {
		return nil, err
	}
	config.GetConfigForClient = b.paced
	config.NextProtos = []string{transfer.Protocol} // of those who name one; NATS clients name none
	return config, nil
}

// accept takes connections until the listener closes. When the process has no file
// descriptors left it waits for some.
func (a *acceptor) accept() {
	for {
		conn, err := a.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			a.bus.cfg.Log.Warn("accept_failed", "error", err)
			time.Sleep(jitter(a.bus.cfg.Timing.Retry))
			continue
		}
		if c := a.waiting.Add(conn); c != nil {
			a.wg.Go(func() { a.serve(conn, c) })
		}
	}
}

// serve greets a caller and, if it is a partner, passes its bytes until either
// side ends, or takes its connection for files.
func (a *acceptor) serve(raw net.Conn, c *connlimit.Conn) {
	defer func() { _ = raw.Close() }()
	_ = raw.SetDeadline(time.Now().Add(greetTimeout))
	conn, p, err := a.greet(raw)
	var in *bufio.Reader
	var login []byte
	forFiles := err == nil && conn.ConnectionState().NegotiatedProtocol == transfer.Protocol
	if err == nil && !forFiles {
		in = bufio.NewReaderSize(conn, pumpBuffer)
		login, err = readLogin(in, string(p.Site), a.bus.password)
	}
	if stayed := a.waiting.Remove(c); !stayed && err == nil {
		err = reject(NoHandshake, "had to make room")
	}
	if err != nil {
		a.refuse(raw.RemoteAddr(), err)
		return
	}
	_ = raw.SetDeadline(time.Time{})
	if forFiles {
		err = p.files.Accept(conn)
		a.bus.cfg.Log.Debug("transfer_connection_closed", "site", string(p.Site), "error", err)
		return
	}
	if !a.enter(p, conn) {
		return
	}
	defer a.exit(p, conn)
	if err = a.pass(conn, in, login); err != nil {
		a.bus.cfg.Log.Debug("connection_closed", "site", string(p.Site), "error", err)
	}
}

// greet does what a NATS server does first, and returns whose key the other side
// has shown.
func (a *acceptor) greet(raw net.Conn) (*tls.Conn, *partner, error) {
	if _, err := raw.Write(a.info); err != nil {
		return nil, nil, reject(NoHandshake, "%w", err)
	}
	conn := tls.Server(raw, a.config.Load())
	err := conn.HandshakeContext(context.Background()) // bounded by the deadline
	if errors.Is(err, errPaced) {
		return nil, nil, reject(TooFast, "%w", err)
	}
	state := conn.ConnectionState()
	if err != nil {
		a.bus.hungUp(state.ServerName, err)
		return nil, nil, reject(NoHandshake, "%w", err)
	}
	key, err := identity.PeerKey(state)
	if err != nil {
		return nil, nil, reject(UnknownSender, "%w", err)
	}
	p, known := a.bus.roster.Load().byKey[key]
	if !known {
		a.bus.strangeKey(identity.PeerName(state), key)
		tellUnknown(conn, key)
		return nil, nil, reject(UnknownSender, "the public key %s is of no partner", key)
	}
	return conn, p, nil
}

// tellUnknown sends a caller that its key is unknown, and waits until the caller has read it:
// closing a connection with unread input discards what was sent last.
func tellUnknown(conn *tls.Conn, key string) {
	if _, err := conn.Write(refusalOf(key)); err == nil {
		_, _ = io.CopyN(io.Discard, conn, maxLogin)
	}
}

// errPaced ends a handshake before its costly part.
var errPaced = errors.New("too many TLS handshakes from this address")

// paced looks at the pace of a caller's address once the caller has asked for a handshake, so
// that connections which say nothing take nothing from others behind the same address.
func (b *Bus) paced(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	if !b.handshakes.Allows(hello.Conn.RemoteAddr(), time.Now()) {
		return nil, errPaced
	}
	return nil, nil //nolint:nilnil // with the configuration that is there
}

// refuse counts who did not get in, and logs a few of them.
func (a *acceptor) refuse(address net.Addr, err error) {
	if a.log.Allow() {
		a.bus.cfg.Log.Info("nats_client_refused", "address", address.String(), "error", err)
	}
	a.bus.cfg.Handler.Rejected(reasonOf(err))
}

// readLogin reads a client's first line, a NATS CONNECT, and makes it the login of
// the site: it has shown who it is, and whatever it says about that is dropped.
func readLogin(in *bufio.Reader, site, password string) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, reject(NoHandshake, "no login: %w", err)
	}
	text, ok := bytes.CutPrefix(line, []byte("CONNECT "))
	if !ok || len(line) > maxLogin {
		return nil, errors.New("its first line is no CONNECT, or too long")
	}
	var options map[string]any
	if err = json.Unmarshal(text, &options); err != nil {
		return nil, fmt.Errorf("CONNECT: %w", err)
	}
	for _, name := range []string{"jwt", "nkey", "sig", "auth_token"} {
		delete(options, name)
	}
	options["user"], options["pass"] = site, password
	out, err := json.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("CONNECT: %w", err)
	}
	return append(append([]byte("CONNECT "), out...), "\r\n"...), nil
}

// enter notes a partner's connection, in the place of its oldest if it has too
// many, unless the site is a partner no more.
func (a *acceptor) enter(p *partner, conn net.Conn) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.bus.roster.Load().bySite[p.Site] != p {
		return false
	}
	if all := a.inside[p]; len(all) >= maxInsideOfOne {
		_ = all[0].Close()
		a.inside[p] = slices.Delete(all, 0, 1)
	}
	a.inside[p] = append(a.inside[p], conn)
	p.inbound.left(false)
	return true
}

// exit forgets a partner's connection; with the last one the partner has gone.
func (a *acceptor) exit(p *partner, conn net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inside[p] = slices.DeleteFunc(a.inside[p], func(c net.Conn) bool { return c == conn })
	if len(a.inside[p]) == 0 {
		delete(a.inside, p)
		p.inbound.left(true)
	}
}

// expel ends the connections of partners that the roster has no more. None gets in again.
func (a *acceptor) expel(left []*partner) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range left {
		for _, conn := range a.inside[p] {
			_ = conn.Close()
		}
	}
}

// pass logs in to the server and copies both ways until one side ends.
func (a *acceptor) pass(conn net.Conn, in *bufio.Reader, login []byte) error {
	pipe, err := a.server.InProcessConn()
	if err != nil {
		return fmt.Errorf("embedded NATS server: %w", err)
	}
	defer func() { _ = pipe.Close() }()
	out := bufio.NewReaderSize(pipe, pumpBuffer)
	_ = pipe.SetDeadline(time.Now().Add(greetTimeout))
	if _, err = out.ReadSlice('\n'); err != nil { // its INFO; the partner has the acceptor's
		return fmt.Errorf("embedded NATS server: %w", err)
	}
	if _, err = pipe.Write(login); err != nil {
		return fmt.Errorf("embedded NATS server: %w", err)
	}
	_ = pipe.SetDeadline(time.Time{})
	done := make(chan error, 1)
	a.wg.Go(func() {
		_, failed := out.WriteTo(conn)
		_ = conn.Close()
		done <- failed
	})
	_, err = in.WriteTo(pipe)
	_ = pipe.Close()
	return errors.Join(err, <-done)
}

// stop takes no more connections.
func (a *acceptor) stop() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.waiting.Close()
	_ = a.listener.Close()
}

// wait returns when all connections have ended, which they do after the server
// has, and ends those of partners that take nothing any more.
func (a *acceptor) wait() {
	a.mu.Lock()
	for _, conns := range a.inside {
		for _, conn := range conns {
			_ = conn.SetDeadline(time.Now().Add(closeTimeout))
		}
	}
	a.mu.Unlock()
	a.wg.Wait()
}
