package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// ErrUnknownPartner says that a site is not configured.
var ErrUnknownPartner = errors.New("not a configured partner")

// Bus is this site's end of its links to all partners. It starts once.
type Bus struct {
	cfg      Config
	partners map[protocol.SiteName]*partner
	byKey    map[string]*partner

	server   *server.Server // nil: none embedded
	acceptor *acceptor      // to server
	password string         // of all connections to server
	external *nats.Conn     // nil: none
	cancel   context.CancelFunc
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns []*nats.Conn // to partners' servers and the own one
}

// New checks the configuration. Nothing runs before [Bus.Start].
func New(cfg Config) (*Bus, error) {
	cfg.setDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	b := &Bus{
		cfg: cfg, password: rand.Text(),
		partners: map[protocol.SiteName]*partner{}, byKey: map[string]*partner{},
	}
	for _, c := range cfg.Partners {
		p := newPartner(b, c)
		p.addLinks()
		b.partners[c.Site], b.byKey[c.PublicKey] = p, p
	}
	return b, nil
}

// Start starts the server and begins to reach the partners. The context bounds
// the start only; [Bus.Close] ends what runs. After an error nothing runs.
func (b *Bus) Start(ctx context.Context) error {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b.cancel = cancel
	if err := b.connect(ctx, running); err != nil {
		b.Close()
		return err
	}
	for _, p := range b.partners {
		b.run(running, p.deliver)
		b.run(running, p.serve)
		for _, l := range p.links {
			b.run(running, l.send)
			b.run(running, l.keep)
		}
		if p.outbound != nil {
			b.run(running, func(ctx context.Context) { b.dial(ctx, p) })
		}
	}
	return nil
}

// run runs a part of the bus until it closes.
func (b *Bus) run(ctx context.Context, part func(context.Context)) {
	b.wg.Go(func() { part(ctx) })
}

// connect makes the connections that are there from the start: to the external
// system, or for each partner one to the own server, whose acceptor then opens.
func (b *Bus) connect(ctx, running context.Context) (err error) {
	if b.cfg.External != nil {
		if b.external, err = b.connectExternal(running); err != nil {
			return err
		}
		for _, p := range b.partners {
			p.links[0].attach(b.external)
		}
		return nil
	}
	if b.cfg.Listen == "" {
		return nil
	}
	if b.server, err = b.startServer(ctx); err != nil {
		return err
	}
	for _, p := range b.partners {
		if err = b.connectOwn(p); err != nil {
			return err
		}
	}
	b.acceptor, err = b.openAcceptor(ctx, b.server)
	return err
}

func (b *Bus) keepConn(conn *nats.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conns = append(b.conns, conn)
}

// dial makes the connection to a partner's server; NATS keeps it from then on.
func (b *Bus) dial(ctx context.Context, p *partner) {
	conn, err := b.connectPartner(ctx, p, p.outbound)
	if err != nil {
		b.cfg.Log.Error("cannot dial the partner", "site", string(p.Site), "error", err)
		return
	}
	b.keepConn(conn)
	p.outbound.attach(conn)
}

// Close says bye to the partners and ends all that runs. Handler calls have
// ended when it returns.
func (b *Bus) Close() {
	if b.cancel == nil {
		return
	}
	b.cancel()
	b.wg.Wait()
	for _, conn := range b.conns {
		conn.Close()
	}
	if b.external != nil {
		b.external.Close()
	}
	if b.acceptor != nil {
		b.acceptor.stop()
	}
	if b.server != nil {
		b.server.Shutdown()
		b.server.WaitForShutdown()
	}
	if b.acceptor != nil {
		b.acceptor.wait()
	}
	b.cancel = nil
}

// Send sends a message to a partner. It never waits: the message is lost if the
// link breaks, and refused with [ErrNoLink] or [ErrBusy] if it cannot be sent
// now. Other errors are faults of the message or [ErrUnknownPartner].
func (b *Bus) Send(to protocol.SiteName, m protocol.Message) error {
	p, err := b.partner(to)
	if err != nil {
		return err
	}
	body, err := b.pack(to, m)
	if err != nil {
		return err
	}
	if _, mark := m.(protocol.Watermark); mark {
		return p.sendOnAll(opMsg+m.Kind(), body)
	}
	return p.send(opMsg+m.Kind(), body)
}

func (b *Bus) partner(site protocol.SiteName) (*partner, error) {
	p, ok := b.partners[site]
	if !ok {
		return nil, fmt.Errorf("site %s: %w", site, ErrUnknownPartner)
	}
	return p, nil
}

// ListenAddr is the address that partners connect to, after Start; nil: none.
func (b *Bus) ListenAddr() net.Addr {
	if b.acceptor == nil {
		return nil
	}
	return b.acceptor.listener.Addr()
}
