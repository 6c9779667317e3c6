package bus

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	maxPayload = 1 << 20
	startWait  = 10 * time.Second
)

// startServer starts the embedded NATS server and waits until it accepts.
func (b *Bus) startServer(ctx context.Context) (*server.Server, error) {
	opts, err := b.serverOptions(ctx)
	if err != nil {
		return nil, err
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	log := &serverLog{log: b.cfg.Log, fatal: make(chan string, 1)}
	s.SetLoggerV2(log, false, false, false)
	go s.Start() // returns by itself once the server accepts
	if err = awaitServer(ctx, s, log.fatal); err != nil {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("embedded NATS server on %s ([nats] listen): %w", b.cfg.Listen, err)
	}
	return s, nil
}

func awaitServer(ctx context.Context, s *server.Server, fatal <-chan string) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for !s.ReadyForConnections(50 * time.Millisecond) {
		select {
		case text := <-fatal:
			return errors.New(text)
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w", ctx.Err())
		default:
		}
	}
	return nil
}

func (b *Bus) serverOptions(ctx context.Context) (*server.Options, error) {
	host, port, err := probeListen(ctx, b.cfg.Listen)
	if err != nil {
		return nil, err
	}
	tlsConfig, err := b.cfg.Key.ServerTLS(string(b.cfg.Site), time.Now())
	if err != nil {
		return nil, err
	}
	return &server.Options{
		ServerName: string(b.cfg.Site), Host: host, Port: port,
		TLS: true, TLSConfig: tlsConfig, TLSTimeout: 5, AuthTimeout: 5,
		CustomClientAuthentication: &gate{bus: b},
		NoSigs:                     true,
		NoLog:                      true,
		NoSystemAccount:            true,
		NoFastProducerStall:        true, // one slow partner must not slow the others
		MaxPayload:                 maxPayload,
		MaxPending:                 32 << 20,
		MaxSubs:                    16 + len(b.cfg.Partners), // this bus itself has one for each
		MaxConn:                    64 + 8*len(b.cfg.Partners),
		PingInterval:               20 * time.Second,
		MaxPingsOut:                2,
	}, nil
}

// probeListen checks that the address can be listened on, because the server
// would only log it, and splits it.
func probeListen(ctx context.Context, address string) (host string, port int, err error) {
	const remedy = "free it or set [nats] listen to another host:port"
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return "", 0, fmt.Errorf("[nats] listen = %q: the NATS server cannot listen on this address; %s: %w", address, remedy, err)
	}
	if err = l.Close(); err != nil {
		return "", 0, fmt.Errorf("[nats] listen = %q: %w", address, err)
	}
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("[nats] listen = %q: %w", address, err)
	}
	if port, err = strconv.Atoi(text); err != nil {
		return "", 0, fmt.Errorf("[nats] listen = %q: the port is not a number", address)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}

// gate admits partners, and this bus itself, to the embedded server. A partner
// is who holds the key of its TLS certificate. This bus has no certificate in
// process, but a password that only this run knows.
type gate struct{ bus *Bus }

// Check implements [server.Authentication].
func (g *gate) Check(c server.ClientAuthentication) bool {
	b := g.bus
	state := c.GetTLSConnectionState()
	if state == nil {
		own := subtle.ConstantTimeCompare([]byte(c.GetOpts().Password), []byte(b.password)) == 1
		if own {
			c.RegisterUser(&server.User{Username: string(b.cfg.Site)})
		}
		return own
	}
	key, err := identity.PeerKey(*state)
	p, known := b.byKey[key]
	if err != nil || !known {
		b.cfg.Log.Info("refused a NATS client with an unknown key",
			"address", fmt.Sprint(c.RemoteAddress()), "public_key", key, "error", err)
		b.cfg.Handler.Rejected(UnknownSender)
		return false
	}
	c.RegisterUser(&server.User{Username: string(p.Site), Permissions: permissions(b.cfg.Site, p.Site)})
	return true
}

// permissions are what a partner may do at this site's server: speak to this
// site as itself, and hear what this site says to it.
func permissions(me, it protocol.SiteName) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{inboxOf(me, it) + ".>"}},
		Subscribe: &server.SubjectPermission{Allow: []string{inboxOf(it, me) + ".>"}},
	}
}

// serverLog sends the server's log to slog and keeps the first fatal line; the
// server's own logger would end the process.
type serverLog struct {
	log   *slog.Logger
	fatal chan string
}

// Fatalf keeps the line.
func (l *serverLog) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.debug("fatal", text)
	select {
	case l.fatal <- text:
	default:
	}
}

// Noticef logs at debug.
func (l *serverLog) Noticef(format string, v ...any) { l.debug("notice", fmt.Sprintf(format, v...)) }

// Warnf logs at debug.
func (l *serverLog) Warnf(format string, v ...any) { l.debug("warning", fmt.Sprintf(format, v...)) }

// Errorf logs at debug: most are partners that come and go.
func (l *serverLog) Errorf(format string, v ...any) { l.debug("error", fmt.Sprintf(format, v...)) }

// Debugf drops the line.
func (l *serverLog) Debugf(string, ...any) {}

// Tracef drops the line.
func (l *serverLog) Tracef(string, ...any) {}

func (l *serverLog) debug(severity, text string) {
	l.log.Debug("nats server", "severity", severity, "text", text)
}
