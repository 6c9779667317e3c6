package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/switchyard-hpc/switchyard/peer/connlimit"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// ErrUnknownPartner says that a site is not configured.
var ErrUnknownPartner = errors.New("not a configured partner")

// Bus is this site's end of its links to all partners. It starts once.
type Bus struct {
	cfg Config

	server     *server.Server   // nil: none embedded
	acceptor   *acceptor        // to server
	password   string           // of all connections to server
	handshakes *connlimit.Paces // with acceptor
	external   *nats.Conn       // nil: none

	pace   pace // of files from and to all partners
	roster atomic.Pointer[roster]

	changing sync.Mutex     // held while the bus starts, ends or gets other partners
	begin    func(*partner) // starts one of a bus that runs; nil: it does not
	cancel   context.CancelFunc
}

// New checks the configuration. Nothing runs before [Bus.Start].
func New(cfg Config) (*Bus, error) {
	cfg.setDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	b := &Bus{
		cfg: cfg, password: rand.Text(), pace: newPace(cfg.MaxRate),
		handshakes: connlimit.NewPaces(cfg.Timing.Handshake, handshakesAtOnce, maxPaced),
	}
	b.roster.Store(b.newRoster(cfg.Key, cfg.Partners))
	return b, nil
}

// Start starts the server and begins to reach the partners. The context bounds
// the start only; [Bus.Close] ends what runs. After an error nothing runs.
func (b *Bus) Start(ctx context.Context) error {
	b.changing.Lock()
	defer b.changing.Unlock()
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b.cancel, b.begin = cancel, func(p *partner) { p.start(running) }
	if err := b.connect(ctx, running); err != nil {
		b.end()
		return err
	}
	for _, p := range b.roster.Load().bySite {
		b.begin(p)
	}
	return nil
}

// connect makes the connections that are there from the start: to the external
// system, or for each partner one to the own server, whose acceptor then opens.
func (b *Bus) connect(ctx, running context.Context) (err error) {
	if b.cfg.External != nil {
		b.external, err = b.connectExternal(running)
		return err
	}
	if b.cfg.Listen == "" {
		return nil
	}
	if b.server, err = b.startServer(ctx); err != nil {
		return err
	}
	for _, p := range b.roster.Load().bySite {
		if err = b.connectOwn(p); err != nil { //nolint:contextcheck // a dial for files ends with their path
			return err
		}
	}
	b.acceptor, err = b.openAcceptor(ctx, b.server)
	return err
}

// dial makes the connection to a partner's server; NATS keeps it from then on.
func (b *Bus) dial(ctx context.Context, p *partner) {
	conn, err := b.connectPartner(ctx, p, p.outbound)
	if err != nil {
		b.cfg.Log.Error("dial_failed", "site", string(p.Site), "error", err)
		return
	}
	p.conns = append(p.conns, conn)
	p.outbound.attach(conn)
}

// Close says bye to the partners and ends all that runs. Handler calls have
// ended when it returns.
func (b *Bus) Close() {
	b.changing.Lock()
	defer b.changing.Unlock()
	if b.begin != nil {
		b.end()
	}
}

func (b *Bus) end() {
	b.cancel()
	for _, p := range b.roster.Load().bySite {
		p.wait()
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
	b.begin = nil
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
	p := b.roster.Load().bySite[site]
	if p == nil {
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
