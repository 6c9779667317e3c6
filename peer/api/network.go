package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/audit"
	"github.com/switchyard-hpc/switchyard/peer/connlimit"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Network is what the API over TCP needs. User and Ready may be left out.
type Network struct {
	Listen string // host and port
	TLS    *tls.Config
	Tokens *accesstokens.Book
	OIDC   []*openid.Verifier                                           // of issuers whose tokens count too
	Rate   int                                                          // requests of one user per second; five times as many at once
	User   func(ctx context.Context, name string) (passwd.Entry, error) // of this machine; nil: the machine is asked
	Ready  func(address net.Addr)                                       // called when the port is open; may be nil

	Pages  Pages // for people with a browser; nil: there are none
	Public bool  // whether Pages are also for visitors who have not signed in

	Files   *Files       // nil: none move
	Clients []CertClient // certificates that count, of those which TLS verifies
	// Guests reports whether an account runs jobs of partners' users, who get no tokens; nil: there are none.
	Guests func(account string) bool
}

// givesNone reports whether a user of the site gets no tokens.
func (n *Network) givesNone(user string, uid int) bool {
	return n.Guests != nil && n.Guests(user) && !managesPeer(uid)
}

// ReadFile reads up to size bytes of a file from an offset, with the rights of the account that runs a user's jobs. At the
// end of the file it returns nothing. The error wraps [fs.ErrNotExist] if there is no such file, and [fs.ErrPermission] if the account
// may not read it.
type ReadFile func(ctx context.Context, user, path string, offset int64, size int) ([]byte, error)

// What is allowed to callers over TCP.
const (
	maxStrangers     = 512 // connections that have not shown a token
	maxOfOneStranger = 64  // of one address
	failuresAtOnce   = 20  // tokens that are not good, of one address; then one a second
	maxFailing       = 10_000
	burstSeconds     = 5 // requests of a user at once, in seconds of the rate
	userKnownFor     = time.Minute
	logsPerSecond    = 1 // lines about requests that are refused, from whatever addresses; more at once:
	logsAtOnce       = 20
	readers          = 8 // files that are read at a time
)

// port is the API over TCP.
type port struct {
	*server

	strangers *connlimit.Limiter
	failures  *connlimit.Paces
	logs      *rate.Limiter
	sessions  *accesstokens.Sessions[*pass]
	foreign   *http.CrossOriginProtection // from pages of other sites
	visits    *connlimit.Paces            // pages, of addresses
	signIns   *connlimit.Paces
	attempts  *attempts
	pages     *rate.Limiter // for visitors who have not signed in

	mu    sync.Mutex
	users map[string]*remoteUser
}

// remoteUser is a user who has called.
type remoteUser struct {
	pace  *rate.Limiter
	entry passwd.Entry
	until time.Time // then it is looked up again
}

// openPort opens the port.
func (s *server) openPort(ctx context.Context) (door, error) {
	n := s.Network
	if n.User == nil {
		n.User = userOfName
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", n.Listen)
	if err != nil {
		return door{}, &ListenError{"[api] listen", err}
	}
	p := &port{
		server:    s,
		strangers: connlimit.New(maxStrangers, maxOfOneStranger),
		failures:  connlimit.NewPaces(time.Second, failuresAtOnce, maxFailing),
		logs:      rate.NewLimiter(logsPerSecond, logsAtOnce),
		sessions:  accesstokens.NewSessions[*pass](maxSessions, maxUserSessions),
		foreign:   http.NewCrossOriginProtection(),
		visits:    connlimit.NewPaces(visitPause, visitsAtOnce, maxFailing),
		signIns:   connlimit.NewPaces(time.Second, signInsAtOnce, maxFailing),
		attempts:  accesstokens.NewSessions[*attempt](maxAttempts, maxAddressAttempts),
		pages:     rate.NewLimiter(publicPages, publicAtOnce),
		users:     map[string]*remoteUser{},
	}
	web := s.web(ctx, p.browse(p.identify(s.answers)))
	web.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, strangerKey{}, strangerOf(conn))
	}
	web.ConnState = p.leave
	web.TLSConfig = n.TLS
	web.WriteTimeout = serveTime
	if n.Ready != nil {
		n.Ready(listener.Addr())
	}
	return door{"[api] listen", tls.NewListener(&strangers{listener, p.strangers}, web.TLSConfig), web}, nil
}

// strangers is a listener that bounds the connections which have not shown a token.
type strangers struct {
	net.Listener

	limiter *connlimit.Limiter
}

// stranger is a connection on which no token has been shown, or the first one has just been.
type stranger struct {
	net.Conn

	waits *connlimit.Conn

	mu      sync.Mutex
	closed  bool
	known   bool
	refused error // to the first user who was known on it
}

// knownAs counts the connection for the first user who shows a token on it.
func (s *stranger) knownAs(p *port, uid int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known || s.closed { // requests of HTTP/2 may outlive their connection
		return s.refused
	}
	s.known = true
	p.strangers.Remove(s.waits)
	if p.bounds.enter(s, uid) {
		s.refused = tooManyConns()
	}
	return s.refused
}

// end takes the connection off the counts.
func (s *stranger) end(p *port) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	p.strangers.Remove(s.waits)
	p.bounds.leave(s, http.StateClosed)
}

type strangerKey struct{}

// Accept implements [net.Listener].
func (s *strangers) Accept() (net.Conn, error) {
	for {
		conn, err := s.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if waits := s.limiter.Add(conn); waits != nil {
			return &stranger{Conn: conn, waits: waits}, nil
		}
	}
}

func strangerOf(conn net.Conn) *stranger {
	encrypted, ok := conn.(*tls.Conn)
	if !ok {
		return nil
	}
	s, _ := encrypted.NetConn().(*stranger)
	return s
}

// leave is the hook of [http.Server] by which connections that have ended leave the counts.
func (p *port) leave(conn net.Conn, state http.ConnState) {
	if s := strangerOf(conn); s != nil && state == http.StateClosed {
		s.end(p)
	}
}

// identify finds the caller of each request, and refuses those without a good token and those that come too often.
func (p *port) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		who, refused := p.callerOf(r)
		if refused != nil {
			refused.send(p, w, r)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, func() caller { return who })))
	})
}

// turnedAway is a request that comes to no handler.
type turnedAway struct {
	status int
	header [2]string
	why    view.Refusal
	cause  error // for the log alone; may be nil
	quiet  bool  // not worth a line of the log, of which there could be any number
	hangUp bool  // whether the connection ends with the answer
}

func (t *turnedAway) send(p *port, w http.ResponseWriter, r *http.Request) {
	if t.header[0] != "" {
		w.Header().Set(t.header[0], t.header[1])
	}
	if t.hangUp {
		w.Header().Set("Connection", "close")
	}
	t.report(p, r)
	if err := reply(w, t.status, t.why); err != nil {
		p.Log.Debug("response_send_failed", "path", r.URL.Path, "error", err)
	}
}

// report counts the request, and has it in the logs, but of many only some.
func (t *turnedAway) report(p *port, r *http.Request) {
	level := slog.LevelWarn
	if t.quiet || !p.logs.Allow() {
		level = slog.LevelDebug
	} else {
		p.Audit.Write(audit.Entry{
			At: time.Now(), Action: r.Method, Way: audit.Network, From: r.RemoteAddr, Path: r.URL.Path, Result: string(t.why.Code), Reason: t.why.Reason,
		})
	}
	p.count(audit.Network, string(t.why.Code))
	args := []any{"from", r.RemoteAddr, "status", t.status, "reason", t.why.Reason}
	if t.cause != nil {
		args = append(args, "error", t.cause)
	}
	p.Log.Log(r.Context(), level, "api_request_refused", args...)
}

// unidentified turns away a caller who has not shown who he is.
func unidentified(format string, args ...any) *turnedAway {
	return &turnedAway{
		status: http.StatusUnauthorized, header: [2]string{"WWW-Authenticate", "Bearer"}, hangUp: true,
		why: view.Refusal{Code: view.Denied, Reason: fmt.Sprintf(format, args...)},
	}
}

// tooFast turns away a caller who is to come again in a second.
func tooFast(format string, args ...any) *turnedAway {
	return &turnedAway{
		status: http.StatusTooManyRequests, header: [2]string{"Retry-After", "1"}, quiet: true,
		why: view.Refusal{Code: view.Unavailable, Reason: fmt.Sprintf(format, args...)},
	}
}

// callerOf is who makes the request.
func (p *port) callerOf(r *http.Request) (caller, *turnedAway) {
	now := time.Now()
	shown, refused := p.passOf(r, now)
	if refused != nil {
		return caller{}, refused
	}
	return p.callerWith(r, shown, now)
}

// callerWith is who makes the request with a pass that is good.
func (p *port) callerWith(r *http.Request, shown *pass, now time.Time) (caller, *turnedAway) {
	user, err := p.enter(r, shown, now)
	uid := int(user.UID)
	switch {
	case errors.Is(err, errTooFast):
		return caller{}, tooFast("more than %d requests per second of %s; try again in a second, or ask the site to raise [api] max_request_rate", p.Network.Rate, shown.user)
	case err != nil:
		why := refusalOf(err)
		return caller{}, &turnedAway{status: StatusOf(why.Code), why: why}
	}
	letIn := *shown
	letIn.still = func(ctx context.Context, now protocol.Instant) error {
		if err := shown.still(ctx, now); err != nil {
			return err
		}
		if _, err := p.userOf(ctx, shown, now.Time()); err != nil && refusalOf(err).Code == view.Denied {
			return err
		}
		return nil // also if the machine does not answer who the user is
	}
	return caller{
		user: shown.user, uid: uid, admin: managesPeer(uid) && shown.scopes.Has(accesstokens.Operate),
		pass: &letIn, from: r.RemoteAddr, home: user.Home, shell: user.Shell,
	}, nil
}

var errTooFast = errors.New("too many requests")

// enter counts a request of a user, and looks the user up.
func (p *port) enter(r *http.Request, shown *pass, now time.Time) (entry passwd.Entry, err error) {
	if !p.remoteUser(shown.user).pace.AllowN(now, 1) {
		return entry, errTooFast
	}
	if entry, err = p.userOf(r.Context(), shown, now); err != nil {
		return entry, err
	}
	if conn, _ := r.Context().Value(strangerKey{}).(*stranger); conn != nil {
		err = conn.knownAs(p, int(entry.UID))
	}
	return entry, err
}

func (p *port) remoteUser(name string) *remoteUser {
	p.mu.Lock()
	defer p.mu.Unlock()
	user := p.users[name]
	if user == nil {
		perSecond := p.Network.Rate
		user = &remoteUser{pace: rate.NewLimiter(rate.Limit(perSecond), burstSeconds*perSecond)}
		p.users[name] = user
	}
	return user
}

// userOf is the user of a pass, looked up now or some time ago. The error says why this one is not let in.
func (p *port) userOf(ctx context.Context, shown *pass, now time.Time) (entry passwd.Entry, err error) {
	user := p.remoteUser(shown.user)
	p.mu.Lock()
	entry = user.entry
	known := now.Before(user.until)
	p.mu.Unlock()
	if !known {
		if entry, err = p.Network.User(ctx, shown.user); err != nil {
			return entry, err
		}
		p.mu.Lock()
		user.entry, user.until = entry, now.Add(userKnownFor)
		p.mu.Unlock()
	}
	uid := int(entry.UID)
	switch {
	case p.Network.givesNone(shown.user, uid):
		err = refuse(view.Denied, "the account %s runs jobs of partners' users, and so has no access over TCP", shown.user)
	case shown.claimed && managesPeer(uid):
		err = refuse(view.Denied, "a token that names its user itself stands for neither root nor the peer's account; the site can name the user in [[api.oidc.user]]")
	case shown.uid != nil && uid != *shown.uid:
		err = refuse(view.Denied, "the token was made for another user of the name %s", shown.user)
	}
	return entry, err
}

// addressOf is where a request is from.
func addressOf(r *http.Request) net.Addr {
	address, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return &net.TCPAddr{}
	}
	return net.TCPAddrFromAddrPort(address)
}

// userOfName is a user of this machine.
func userOfName(ctx context.Context, name string) (passwd.Entry, error) {
	found, err := passwd.ByName(ctx, name)
	switch {
	case errors.Is(err, passwd.ErrUnknown):
		return found, refuse(view.Denied, "this machine has no user %s any more", name)
	case err != nil:
		return found, refuse(view.Unavailable, "the peer cannot find out who the caller is now; try again: %v", err)
	}
	return found, nil
}
