package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/transfer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config is what a [Bus] needs. Site, Key, Card and Handler are required.
type Config struct {
	Site protocol.SiteName
	Key  *identity.Key // at the start
	// Former are public keys that this site has had. What partners say of its lives counts if one of these keys has signed it.
	Former   []string
	Partners []Partner
	// Listen is the address of the embedded NATS server, "host:port"; port 0 lets
	// the system choose. Empty: no server, this side only dials.
	Listen string
	// External is the NATS system to use instead of embedded servers.
	External *External
	// Card makes the site's card for a partner, at each handshake. Called from
	// several goroutines.
	Card    func(partner protocol.SiteName) protocol.Card
	Handler Handler
	Log     *slog.Logger // nil: nothing is logged

	// Streams is how many connections at a time files come over from one partner. 0: they come
	// in chunks over NATS, as they do when neither side can dial the other.
	Streams int
	// MaxRate is how many bytes of files a second this site sends, and how many it fetches, in
	// all; at least [transfer.MinRate]. 0: no limit.
	MaxRate int64

	Timing Timing
	// Queue is how many received messages of one partner may wait for the
	// handler; more are dropped. 0: 4096.
	Queue int
}

// Timing are the spans of a link's life; zero ones get their defaults.
type Timing struct {
	Retry     time.Duration // between hellos, and least wait between dials; default 1 s
	Keepalive time.Duration // between pings; default 3 s
	Silence   time.Duration // after which a partner counts as gone; default 15 s
	Fetch     time.Duration // for one try to fetch a chunk; default 10 s
	Renew     time.Duration // after which a session gets new keys; default 1 h
	Handshake time.Duration // between TLS handshakes of one address with the own server, beyond 100 at once; default 20 ms
}

// Partner is a site that this one talks to.
type Partner struct {
	Site      protocol.SiteName
	PublicKey string // nkey, "U…"
	// NextPublicKey is accepted wherever PublicKey is; empty: there is none.
	NextPublicKey string
	URL           string // of its NATS server; empty: it dials this side
	MaxRate       int64  // as that of [Config], for this partner alone
}

// keys are those that are accepted of the partner.
func (p Partner) keys() []string {
	if p.NextPublicKey == "" {
		return []string{p.PublicKey}
	}
	return []string{p.PublicKey, p.NextPublicKey}
}

// verify checks a signature that the partner has made with one of its keys, and says with which.
func (p Partner) verify(purpose identity.Purpose, message, signature []byte) (key string, err error) {
	for _, key = range p.keys() {
		if err = identity.Verify(key, purpose, message, signature); err == nil {
			return key, nil
		}
	}
	return "", err
}

// External is a NATS system of the user. At most one of Creds, Nkey and Token is
// used, in that order; all are paths of files.
type External struct {
	URL   string // one or more, comma-separated
	Creds string // a .creds file
	Nkey  string // a seed
	Token string
	CA    string // certificates in PEM that the servers' must lead to
}

// Handler takes what arrives. Received, Connected and Disconnected are called
// for one partner from one goroutine, in order. Rejected and Fetch are called
// from any; Rejected must not wait.
type Handler interface {
	// Received takes an authenticated message.
	Received(from protocol.SiteName, m protocol.Message)
	// Connected says that a session with this verified partner is up, for the
	// first time or again.
	Connected(card protocol.Card)
	// Disconnected says that the partner cannot be reached, any more or still, and why if a key
	// is refused at either end; empty: it is not known.
	Disconnected(site protocol.SiteName, why string)
	// Rejected says that something was refused and why, for counting.
	Rejected(reason Reason)
	// Fetch serves a piece of a job's output to a partner: up to req.Size bytes,
	// fewer or none at the file's end.
	Fetch(ctx context.Context, from protocol.SiteName, req FetchRequest) ([]byte, error)
}

// Reason says why something was refused.
type Reason = string

// The reasons.
const (
	UnknownSender Reason = "unknown-sender" // no configured partner, or not with its key
	BadVersion    Reason = "bad-version"    // a partner that speaks another major version
	BadSignature  Reason = "bad-signature"
	BadCard       Reason = "bad-card" // a card of another site or key
	BadMAC        Reason = "bad-mac"
	NoSession     Reason = "no-session" // a frame of a session that is over
	Replay        Reason = "replay"
	Malformed     Reason = "garbage"    // not decodable, or out of its limits
	Overload      Reason = "overload"   // more than the handler takes
	Superseded    Reason = "superseded" // a quote request that newer ones of its partner came after
	Late          Reason = "late"       // a quote request that waited here until its deadline
	// NoHandshake is a connection that did not show its key in time, or made room
	// for others.
	NoHandshake Reason = "no-handshake"
	// TooFast is a connection from an address that begins too many TLS handshakes.
	TooFast Reason = "too-fast"
	// BadProof is a claim about a life of this site that this site has not signed, or a
	// partner's life with a signature that is not its own. The rest of the message counts.
	BadProof Reason = "bad-proof"
)

func (c *Config) setDefaults() {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Queue == 0 {
		c.Queue = 4096
	}
	setDefault(&c.Timing.Retry, time.Second)
	setDefault(&c.Timing.Keepalive, 3*time.Second)
	setDefault(&c.Timing.Silence, 15*time.Second)
	setDefault(&c.Timing.Fetch, 10*time.Second)
	setDefault(&c.Timing.Renew, time.Hour)
	setDefault(&c.Timing.Handshake, 20*time.Millisecond)
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

func (c *Config) validate() error {
	if err := c.Site.Validate(); err != nil {
		return err
	}
	if c.Key == nil || c.Card == nil || c.Handler == nil {
		return errors.New("the bus needs a key, a card and a handler")
	}
	if min(c.Timing.Retry, c.Timing.Keepalive, c.Timing.Fetch, c.Timing.Renew, c.Timing.Handshake) < 0 || c.Queue < 0 {
		return errors.New("the bus's spans and queue must not be negative")
	}
	if c.Timing.Silence <= c.Timing.Keepalive {
		return fmt.Errorf("silence (%v) must be longer than keepalive (%v)", c.Timing.Silence, c.Timing.Keepalive)
	}
	if c.External != nil && c.Listen != "" {
		return errors.New("[nats] url and [nats] listen exclude each other: set url for an external NATS system, listen for the embedded server")
	}
	if c.Streams < 0 || c.Streams > transfer.MaxStreams {
		return fmt.Errorf("streams is %d; 0 to %d are allowed", c.Streams, transfer.MaxStreams)
	}
	if err := checkRate(c.MaxRate); err != nil {
		return err
	}
	return c.validatePartners(c.Key, c.Partners)
}

func (c *Config) validatePartners(key *identity.Key, partners []Partner) error {
	names, keys := map[protocol.SiteName]bool{c.Site: true}, map[string]bool{key.Public(): true}
	for _, p := range partners {
		if err := p.Site.Validate(); err != nil {
			return fmt.Errorf("partner %s: %w", p.Site, err)
		}
		for _, key := range p.keys() {
			if err := identity.ValidatePublic(key); err != nil {
				return fmt.Errorf("partner %s: %w", p.Site, err)
			}
			if names[p.Site] || keys[key] {
				return fmt.Errorf("partner %s: duplicate name or public key, or those of this site", p.Site)
			}
			keys[key] = true
		}
		names[p.Site] = true
		if err := errors.Join(p.checkURL(), checkRate(p.MaxRate)); err != nil {
			return fmt.Errorf("partner %s: %w", p.Site, err)
		}
		if c.External == nil && c.Listen == "" && p.URL == "" {
			return fmt.Errorf("partner %s has no url, and this site has no [nats] listen, so neither can reach the other; set one of them", p.Site)
		}
	}
	return nil
}

func (p Partner) checkURL() error {
	if p.URL == "" {
		return nil
	}
	u, err := url.Parse(p.URL)
	if err != nil || (u.Scheme != "nats" && u.Scheme != "tls") || u.Hostname() == "" {
		return fmt.Errorf("url %q is not of the form nats://host:port", p.URL)
	}
	return nil
}
