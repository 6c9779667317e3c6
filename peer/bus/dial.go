package bus

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/switchyard-hpc/switchyard/internal/fileguard"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	dialTimeout = 5 * time.Second
	maxBackoff  = 30 * time.Second
	// A connection that accepts no bytes for this time is replaced.
	flushTimeout = 5 * time.Second
)

// jitter spreads what many peers do at the same time; up to a quarter more.
func jitter(d time.Duration) time.Duration {
	return d + rand.N(d/4+1)
}

// backoff doubles with each try up to half a minute.
func backoff(least time.Duration, tries int) time.Duration {
	return jitter(min(maxBackoff, least<<min(max(tries-1, 0), 10)))
}

// dialer dials until its bus closes.
type dialer func(network, address string) (net.Conn, error)

// Dial implements [nats.CustomDialer].
func (d dialer) Dial(network, address string) (net.Conn, error) { return d(network, address) }

// commonOptions apply to every connection: it reconnects without limit, and messages that
// are published meanwhile are lost. Each failed attempt calls failed with its error.
func (b *Bus) commonOptions(ctx context.Context, url string, failed func(error)) []nats.Option {
	return []nats.Option{
		nats.Name("switchyard " + string(b.cfg.Site)),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.CustomReconnectDelay(func(tries int) time.Duration { return backoff(b.cfg.Timing.Retry, tries) }),
		nats.ReconnectBufSize(-1),
		nats.FlusherTimeout(flushTimeout),
		nats.PingInterval(flushTimeout),
		nats.MaxPingsOutstanding(2),
		nats.Timeout(dialTimeout),
		nats.SkipHostLookup(), // the dialer does it, in time
		nats.IgnoreAuthErrorAbort(),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			failed(err)
			b.cfg.Log.Info("nats_connect_failed", "url", url, "error", err)
		}),
		nats.ErrorHandler(b.natsError),
		nats.SetCustomDialer(dialer(func(network, address string) (net.Conn, error) {
			return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
		})),
	}
}

// connectOwn connects to the own embedded server, in process, for what a partner
// says and hears there. Each has a connection of its own, so that one who floods
// delays, and at worst disconnects, only itself.
func (b *Bus) connectOwn(p *partner) error {
	l := p.inbound
	l.connected.Store(true) // in process it comes back at once
	conn, err := nats.Connect("",
		nats.InProcessServer(b.server),
		nats.UserInfo(string(b.cfg.Site), b.password),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(b.cfg.Timing.Retry),
		nats.ReconnectBufSize(-1),
		nats.ReconnectHandler(l.attach),
		nats.ErrorHandler(b.natsError),
	)
	if err != nil {
		return fmt.Errorf("connect to the embedded NATS server: %w", err)
	}
	p.conns = append(p.conns, conn)
	if _, err = b.subscribe(conn, l); err != nil {
		conn.Close()
		return err
	}
	l.attach(conn)
	return nil
}

func (b *Bus) natsError(_ *nats.Conn, _ *nats.Subscription, err error) {
	b.cfg.Log.Warn("nats_error", "error", err)
}

// connectPartner connects to a partner's server; the first connection may come
// later.
func (b *Bus) connectPartner(ctx context.Context, p *partner, l *link) (*nats.Conn, error) {
	pinned, err := b.key().PartnerTLS(string(b.cfg.Site), time.Now(), p.keys()...)
	if err != nil {
		return nil, err
	}
	pins := pinned.VerifyConnection
	pinned.VerifyConnection = func(state tls.ConnectionState) error {
		refused := pins(state)
		if refused != nil {
			l.shownOther(state)
		}
		return refused
	}
	opts := append(b.commonOptions(ctx, p.URL, l.dialFailed), linkHandlers(func() []*link { return []*link{l} })...)
	opts = append(opts,
		nats.Secure(pinned),
		nats.IgnoreDiscoveredServers(),
		nats.CustomReconnectDelay(func(tries int) time.Duration {
			l.dialFailed(l.lastError()) // NATS itself reports only the first attempt
			return backoff(b.cfg.Timing.Retry, tries)
		}),
	)
	conn, err := nats.Connect(p.URL, opts...)
	if err != nil {
		return nil, fmt.Errorf("partner %s: url %q: %w", p.Site, p.URL, err)
	}
	if _, err = b.subscribe(conn, l); err != nil { //nolint:contextcheck // a dial for files ends with their path
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// connectExternal connects to the user's NATS system.
func (b *Bus) connectExternal(ctx context.Context) (*nats.Conn, error) {
	auth, err := b.cfg.External.options()
	if err != nil {
		return nil, err
	}
	all := func() []*link {
		var links []*link
		for _, p := range b.roster.Load().bySite {
			links = append(links, p.links...)
		}
		return links
	}
	opts := append(b.commonOptions(ctx, b.cfg.External.URL, func(error) {}), linkHandlers(all)...)
	conn, err := nats.Connect(b.cfg.External.URL, append(opts, auth...)...)
	if err != nil {
		return nil, fmt.Errorf("[nats] url %q: %w", b.cfg.External.URL, err)
	}
	return conn, nil
}

// meet begins to hear a partner at the user's NATS system. The connection does not answer while
// it dials, and this waits for it.
func (b *Bus) meet(p *partner) {
	l := p.links[0]
	met, err := b.subscribe(b.external, l)
	if err != nil {
		b.cfg.Log.Error("subscribe_failed", "site", string(p.Site), "error", err)
		return
	}
	p.met = met
	if b.external.IsConnected() { // since before the partner was there: no handler will say so
		l.connected.Store(true)
	}
	l.attach(b.external)
}

// maxSecret is more than any credentials need, in bytes.
const maxSecret = 64 << 10

// secretFile reads the file of a key of [nats], unless others can read or replace it.
func secretFile(key, path string) ([]byte, error) {
	text, err := fileguard.Secret(path, maxSecret)
	if err != nil {
		return nil, fmt.Errorf("[nats] %s file %s is not used: %w", key, path, err)
	}
	return text, nil
}

// Check says what is wrong with the files of credentials, without connecting.
func (e *External) Check() error {
	if e.CA != "" {
		if _, err := os.ReadFile(e.CA); err != nil {
			return fmt.Errorf("[nats] ca: %w", err)
		}
	}
	_, err := e.options()
	return err
}

func (e *External) options() ([]nats.Option, error) {
	var opts []nats.Option
	if e.CA != "" {
		opts = append(opts, nats.RootCAs(e.CA))
	}
	switch {
	case e.Creds != "":
		if _, err := secretFile("creds", e.Creds); err != nil {
			return nil, err
		}
		opts = append(opts, nats.UserCredentials(e.Creds))
	case e.Nkey != "":
		if _, err := secretFile("nkey", e.Nkey); err != nil {
			return nil, err
		}
		option, err := nats.NkeyOptionFromSeed(e.Nkey)
		if err != nil {
			return nil, fmt.Errorf("[nats] nkey file %s: %w", e.Nkey, err)
		}
		opts = append(opts, option)
	case e.Token != "":
		token, err := secretFile("token", e.Token)
		if err != nil {
			return nil, err
		}
		opts = append(opts, nats.Token(strings.TrimSpace(string(token))))
	}
	return opts, nil
}

// linkHandlers end sessions with their connection and open new ones after it
// comes back.
func linkHandlers(links func() []*link) []nats.Option {
	return []nats.Option{
		nats.ConnectHandler(func(*nats.Conn) {
			for _, l := range links() {
				l.connect()
			}
		}),
		nats.ReconnectHandler(func(conn *nats.Conn) {
			for _, l := range links() {
				l.connected.Store(true)
				l.attach(conn)
			}
		}),
		nats.DisconnectErrHandler(func(*nats.Conn, error) {
			for _, l := range links() {
				l.disconnect()
			}
		}),
	}
}

// subscribe hands what arrives from a link's partner to the link. Each partner has
// a subscription of its own, with a goroutine and a bound on what waits for it, so
// that a flood in one's name delays no other.
func (b *Bus) subscribe(conn *nats.Conn, l *link) (*nats.Subscription, error) {
	subject := inboxOf(b.cfg.Site, l.partner.Site) + ".>"
	sub, err := conn.Subscribe(subject, func(m *nats.Msg) {
		from, token, ok := splitSubject(b.cfg.Site, m.Subject)
		if !ok || from != l.partner.Site {
			b.cfg.Handler.Rejected(UnknownSender)
			return
		}
		l.receive(m.Subject, token, m.Data)
	})
	if err == nil {
		err = sub.SetPendingLimits(maxWaitingFrames, maxWaitingBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	return sub, nil
}

// openerOfExternal says whether this side opens the sessions when neither dials
// the other.
func openerOfExternal(me, it protocol.SiteName) bool { return me < it }
