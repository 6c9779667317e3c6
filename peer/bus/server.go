package bus

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	maxPayload = 1 << 20
	startWait  = 10 * time.Second
)

// startServer starts the embedded NATS server, which does not listen by itself:
// the acceptor lets partners in.
func (b *Bus) startServer(ctx context.Context) (*server.Server, error) {
	s, err := server.NewServer(b.serverOptions())
	if err != nil {
		return nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	log := &serverLog{log: b.cfg.Log, fatal: make(chan string, 1)}
	s.SetLoggerV2(log, false, false, false)
	go s.Start() // returns by itself once the server accepts
	if err = awaitServer(ctx, s, log.fatal); err != nil {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("embedded NATS server: %w", err)
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

// serverOptions leaves MaxConn at the server's default: the acceptor bounds the connections.
func (b *Bus) serverOptions() *server.Options {
	return &server.Options{
		ServerName:                 string(b.cfg.Site),
		DontListen:                 true,
		AuthTimeout:                greetTimeout.Seconds(),
		CustomClientAuthentication: &partnerAuth{bus: b},
		NoSigs:                     true,
		NoLog:                      true,
		NoSystemAccount:            true,
		MaxPayload:                 maxPayload,
		MaxPending:                 32 << 20,
		MaxSubs:                    16,
		PingInterval:               20 * time.Second,
		MaxPingsOut:                2,
	}
}

// partnerAuth maps connections to what they may do at the embedded server. All come in
// process, with a password that only this run knows: this bus's own, and those of
// partners, which the acceptor has logged in.
type partnerAuth struct{ bus *Bus }

// Check implements [server.Authentication].
func (g *partnerAuth) Check(c server.ClientAuthentication) bool {
	b, login := g.bus, c.GetOpts()
	if subtle.ConstantTimeCompare([]byte(login.Password), []byte(b.password)) != 1 {
		return false
	}
	user := &server.User{Username: login.Username}
	if p := b.roster.Load().bySite[protocol.SiteName(login.Username)]; p != nil {
		user.Permissions = permissions(b.cfg.Site, p.Site)
	} else if login.Username != string(b.cfg.Site) {
		return false
	}
	c.RegisterUser(user)
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
	l.log.Debug("nats_server_message", "severity", severity, "text", text)
}
