package bus

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"github.com/switchyard-hpc/switchyard/peer/transfer"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// partner is one site, with the links to it in the order of preference.
type partner struct {
	Partner
	bus   *Bus
	links []*link
	inbox *inbox

	outbound, inbound *link // of links; nil: none

	serves chan *peerv1.FetchRequest

	files   *transfer.Path // direct connections for files
	pace    pace
	traffic traffic

	unproven *rate.Limiter // claims that are logged
	refusals *rate.Limiter // of keys, that are reported to the handler

	window  chan struct{} // a token for each chunk that may be under way
	fetchID atomic.Uint64

	cancel   context.CancelFunc
	wg       sync.WaitGroup
	conns    []*nats.Conn       // to its server and the own one, for it alone; while it runs only dial adds one
	met      *nats.Subscription // to what it says at the external system; nil: none
	reported bool               // whether the handler was last called with connected. Only deliver uses it while it runs

	mu        sync.Mutex
	connected bool   // as reported to the handler
	refused   string // which key, and why, as reported to the handler
	fetches   map[uint64]chan *peerv1.FetchReply
}

func newPartner(b *Bus, cfg Partner) *partner {
	p := &partner{
		Partner: cfg, bus: b,
		inbox:   newInbox(b.cfg.Queue),
		serves:  make(chan *peerv1.FetchRequest, fetchQueue),
		window:  make(chan struct{}, fetchWindow),
		fetches: map[uint64]chan *peerv1.FetchReply{},

		unproven: rate.NewLimiter(rate.Every(warnAgain), 1),
		refusals: rate.NewLimiter(rate.Every(logKeysEvery), keysLogged),

		pace: newPace(cfg.MaxRate),
	}
	p.files = p.newFiles()
	return p
}

// addLinks makes the ways to the partner: the dialled one first, because its
// connection is known to live.
func (p *partner) addLinks() {
	cfg := &p.bus.cfg
	if cfg.External != nil {
		p.links = []*link{newLink(p, openerOfExternal(cfg.Site, p.Site))}
		return
	}
	if p.URL != "" {
		p.outbound = newLink(p, true)
		p.links = append(p.links, p.outbound)
	}
	if cfg.Listen != "" {
		p.inbound = newLink(p, false)
		p.links = append(p.links, p.inbound)
	}
}

// start begins to reach the partner, until the context ends or stop is called.
func (p *partner) start(ctx context.Context) {
	ctx, p.cancel = context.WithCancel(ctx)
	run := func(part func(context.Context)) { p.wg.Go(func() { part(ctx) }) }
	run(p.deliver)
	run(p.serve)
	for _, l := range p.links {
		run(l.send)
		run(l.maintain)
	}
	if p.outbound != nil {
		run(func(ctx context.Context) { p.bus.dial(ctx, p) })
	}
	if p.bus.external != nil {
		run(func(context.Context) { p.bus.meet(p) }) //nolint:contextcheck // a dial for files ends with their path
	}
}

// wait returns when all that start has begun has ended, after its context has, and closes the
// partner's connections.
func (p *partner) wait() {
	p.files.Close()
	p.wg.Wait()
	for _, conn := range p.conns {
		conn.Close()
	}
}

// stop sends bye and ends all goroutines of the partner. The handler has been called with
// its disconnection, and is not called for it again.
func (p *partner) stop() {
	p.cancel()
	p.wait()
	if p.met != nil {
		_ = p.met.Unsubscribe() // fails if the connection is closed
	}
	if p.reported {
		p.bus.cfg.Handler.Disconnected(p.Site, "")
	}
}

// send puts a body on the first link that is up.
func (p *partner) send(op string, body []byte) error {
	err := ErrNoLink
	for _, l := range p.links {
		if !l.up() {
			continue
		}
		if err = l.enqueue(outgoing{op: op, body: body}); err == nil {
			return nil
		}
	}
	return err
}

// sendOnAll puts a body on each link that is up: behind two links there may be two peers, a
// site and its copy on another host, and each has to hear of the other.
func (p *partner) sendOnAll(op string, body []byte) error {
	sent, err := false, ErrNoLink
	for _, l := range p.links {
		if !l.up() {
			continue
		}
		if err = l.enqueue(outgoing{op: op, body: body}); err == nil {
			sent = true
		}
	}
	if sent {
		return nil
	}
	return err
}

// refresh reports changes to the handler: the card of a new session, or that
// no link is left. It looks at the links itself, so that the order in which two
// changes get here does not matter.
func (p *partner) refresh(card *protocol.Card) {
	p.mu.Lock()
	defer p.mu.Unlock()
	up := slices.ContainsFunc(p.links, (*link).up)
	switch {
	case up && card != nil:
		p.connected = true
		p.accepted()
		p.inbox.change(card, "")
		p.bus.cfg.Log.Info("partner_connected", "site", string(p.Site), "software", card.Software)
	case !up && p.connected:
		p.connected = false
		p.inbox.change(nil, "")
		p.bus.cfg.Log.Info("partner_disconnected", "site", string(p.Site))
	}
}

// receive takes an authenticated body.
func (p *partner) receive(op string, body []byte) {
	switch op {
	case opPing:
	case opFetch:
		p.receiveFetch(body)
	case opChunk:
		p.receiveChunk(body)
	case opInvite:
		p.files.Invited()
	default:
		p.receiveMessage(op, body)
	}
}

func (p *partner) receiveMessage(op string, body []byte) {
	kind, ok := strings.CutPrefix(op, opMsg)
	if !ok {
		p.reject(reject(Malformed, "the op %.40q is unknown", op))
		return
	}
	if kind == (protocol.QuoteRequest{}).Kind() {
		for range p.inbox.ask(body, time.Now()) {
			p.reject(reject(Superseded, "a newer quote request came"))
		}
		return
	}
	m, err := p.bus.unpack(p.Partner, kind, body)
	if err != nil {
		p.reject(err)
		return
	}
	if !p.inbox.push(p.proven(m), len(body)) {
		p.reject(reject(Overload, "a %s found the inbox full", kind))
	}
}

// reject counts and logs something refused.
func (p *partner) reject(err error) {
	reason := reasonOf(err)
	p.bus.cfg.Log.Debug("message_rejected", "site", string(p.Site), "reason", reason, "error", err)
	p.bus.cfg.Handler.Rejected(reason)
}
