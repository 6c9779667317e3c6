package bus

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/switchyard-hpc/switchyard/peer/transfer"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// Files have a path of their own: direct TLS connections to the listener of the NATS server,
// which a client of it reaches by the name of another protocol in the handshake (ALPN). They
// need no port of their own, and show the sites' keys as the links do. Where neither side can
// dial the other, or the partner's peer does not know them, chunks go over NATS.

func checkRate(most int64) error {
	if most != 0 && most < transfer.MinRate {
		return fmt.Errorf("the rate of files is limited to %d bytes a second; the least limit is %d", most, transfer.MinRate)
	}
	return nil
}

// pace limits how many bytes of files are sent and fetched a second; nil: any number.
type pace struct{ sending, fetching *rate.Limiter }

func newPace(most int64) pace {
	if most == 0 {
		return pace{}
	}
	return pace{
		sending:  rate.NewLimiter(rate.Limit(most), MaxChunk),
		fetching: rate.NewLimiter(rate.Limit(most), MaxChunk),
	}
}

// await waits until bytes may be moved.
func await(ctx context.Context, bytes int, limiters ...*rate.Limiter) error {
	for _, limiter := range limiters {
		if limiter == nil {
			continue
		}
		if err := limiter.WaitN(ctx, bytes); err != nil {
			return fmt.Errorf("wait for the limit of the rate of files: %w", err)
		}
	}
	return nil
}

// traffic counts bytes of files.
type traffic struct {
	sent, sentOverNATS, fetched, fetchedOverNATS atomic.Uint64
}

// Traffic is how many bytes of files were moved from and to a partner since it was configured
// as it is, and how many connections are open on which this site fetches.
type Traffic struct {
	Site                      protocol.SiteName
	Sent, Fetched             uint64 // over direct connections
	SentByNATS, FetchedByNATS uint64 // in chunks over NATS
	Streams                   int
}

// Traffic lists that of each partner, in no order.
func (b *Bus) Traffic() (all []Traffic) {
	for site, p := range b.roster.Load().bySite {
		t := &p.traffic
		all = append(all, Traffic{
			Site: site, Sent: t.sent.Load(), Fetched: t.fetched.Load(),
			SentByNATS: t.sentOverNATS.Load(), FetchedByNATS: t.fetchedOverNATS.Load(),
			Streams: p.files.Streams(),
		})
	}
	return all
}

// newFiles makes the partner's path of files. Nothing is dialled yet.
func (p *partner) newFiles() *transfer.Path {
	cfg := transfer.Config{
		Streams: p.bus.cfg.Streams, Answer: p.answer,
		Log: p.bus.cfg.Log.With("site", string(p.Site)),
	}
	if p.bus.cfg.External != nil {
		cfg.Streams = 0
		return transfer.New(cfg)
	}
	if p.URL != "" {
		cfg.Dial = p.dialFiles
	}
	if p.bus.cfg.Listen != "" {
		cfg.Invite = func() error { return p.send(opInvite, nil) }
	}
	return transfer.New(cfg)
}

// dialFiles makes a connection for files to the partner's listener.
func (p *partner) dialFiles(ctx context.Context) (_ net.Conn, err error) {
	at, err := url.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	config, err := p.bus.key().PartnerTLS(string(p.bus.cfg.Site), time.Now(), p.keys()...)
	if err != nil {
		return nil, err
	}
	config.NextProtos = []string{transfer.Protocol}
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", at.Host)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer func() {
		if !stop() && err == nil {
			err = ctx.Err()
		}
		if err != nil {
			_ = raw.Close()
		}
	}()
	if err = skipInfo(raw); err != nil {
		return nil, fmt.Errorf("no NATS server answers at %s: %w", at.Host, err)
	}
	conn := tls.Client(raw, config)
	if err = conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if conn.ConnectionState().NegotiatedProtocol != transfer.Protocol {
		return nil, transfer.ErrOlder
	}
	return conn, nil
}

// skipInfo reads what a NATS server says first, a line, after which TLS begins.
func skipInfo(conn net.Conn) error {
	in := bufio.NewReaderSize(conn, maxLogin)
	if _, err := in.ReadSlice('\n'); err != nil {
		return err
	}
	if in.Buffered() > 0 {
		return errors.New("it says more than a NATS server does")
	}
	return nil
}

// fetchDirect asks over a direct connection. The error is [transfer.ErrNoPath] if there is none.
func (p *partner) fetchDirect(ctx context.Context, req FetchRequest) ([]byte, error) {
	id := p.fetchID.Add(1)
	question, err := encodeRequest(id, req)
	if err != nil {
		return nil, err
	}
	answer, err := p.files.Ask(ctx, question)
	if err != nil {
		return nil, fmt.Errorf("fetch from %s: %w", p.Site, err)
	}
	reply, err := peerv1.DecodeFetchReply(answer)
	if err != nil {
		p.reject(err)
		return nil, fmt.Errorf("fetch from %s: %w", p.Site, err)
	}
	if reply.GetId() != id {
		return nil, fmt.Errorf("fetch from %s: an answer to another question", p.Site)
	}
	data, err := p.chunk(req, reply)
	p.traffic.fetched.Add(uint64(len(data)))
	return data, err
}

// answer answers a partner that asks over a direct connection.
func (p *partner) answer(ctx context.Context, question []byte) ([]byte, error) {
	req, err := peerv1.DecodeFetchRequest(question)
	if err != nil {
		p.reject(err)
		return nil, err
	}
	reply := p.reply(ctx, req)
	p.traffic.sent.Add(uint64(len(reply.GetData())))
	return peerv1.EncodeFetchReply(reply)
}
