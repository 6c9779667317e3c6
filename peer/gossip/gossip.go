package gossip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
	"golang.org/x/time/rate"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// The intervals when [Config] leaves them open.
const (
	DefaultEvery  = 3 * time.Second
	DefaultRejoin = 30 * time.Second
)

// Config says who this site is and where it gossips.
type Config struct {
	Self        Identity
	Bind        string                         // IP address and port to listen on, UDP and TCP, as "127.0.0.1:7601"; port 0: any
	Advertise   string                         // IP address and port that others reach this site at; empty: Bind
	Join        []string                       // seeds, "host:port"; this site's own address does no harm
	KeyringFile string                         // see [LoadKeys]
	Every       time.Duration                  // between digests when nothing changes; 0: [DefaultEvery]
	Rejoin      time.Duration                  // between looks for lost members; 0: [DefaultRejoin]
	Trusted     map[protocol.SiteName][]string // public keys of the partners, see [Gossip.SetTrusted]
	Seed        uint64                         // of the jitter of timers and of the choice whom to look for

	Sign   func(data []byte) []byte                            // with this site's Ed25519 key
	Verify func(publicKey string, data, signature []byte) bool // by that key
	// Handler receives what is heard. Its methods are called one at a time, from
	// a goroutine of this package, and must not call Close.
	Handler Handler
	Logger  *slog.Logger // nil: no log. What memberlist says goes to debug

	transport memberlist.Transport // tests only; nil: real UDP and TCP
}

// Handler receives what other members announce. Of several announcements about one site
// while it is busy, it receives the last.
type Handler interface {
	// Digest brings a newer digest of a trusted partner, which left that site
	// the age ago, at least: delays on the way are not known.
	Digest(d protocol.Digest, age protocol.Duration)
	// Alive says that a member is there, trusted or not, or has changed its
	// identity. Its key has signed the identity.
	Alive(id Identity)
	// Gone says that the member that was alive under this name has left or no
	// longer answers. For a trusted partner, that means the last one with a key of it.
	Gone(site protocol.SiteName)
	// Rejected counts a message that was dropped, by reason: "malformed",
	// "unknown-site", "bad-signature", "bad-identity", "address-conflict", "too-many-members".
	Rejected(reason string)
}

// Member is a live member other than this site.
type Member struct {
	Identity
	Address string // IP address and port
	Trusted bool   // it has the key configured for its name
	meta    []byte // the signed identity
}

// Gossip is this site's part in the gossip. All methods may be called from any
// goroutine.
type Gossip struct {
	cfg     Config
	log     *slog.Logger
	list    *memberlist.Memberlist
	queue   *memberlist.TransmitLimitedQueue
	keyring lockedRing
	meta    []byte // this site's signed identity
	box     *mailbox
	address string // that others reach this site at
	changed chan struct{}
	stop    context.CancelFunc
	loops   sync.WaitGroup

	mu      sync.Mutex
	trusted map[protocol.SiteName][]string
	newest  map[protocol.SiteName]heard // by trusted sites and this one
	seq     uint64                      // of this site's last digest
	load    *protocol.Load              // what this site advertises; nil: nothing yet
	members map[string]Member           // live ones, by public key
	lost    map[string]Member           // no longer live, to be looked for

	conflicts *rate.Limiter // of addresses, that are logged

	life   sync.Mutex // held while leaving and closing
	closed bool
}

// lockedRing is the keyring with a lock around changes of several steps.
type lockedRing struct {
	sync.Mutex
	*memberlist.Keyring
}

// Start begins to gossip. It does not wait for any other member; seeds that do
// not answer are tried again after a second, then less and less often, at last every Rejoin.
func Start(cfg Config) (*Gossip, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	g := &Gossip{
		cfg:     cfg,
		log:     cfg.Logger,
		box:     newMailbox(),
		changed: make(chan struct{}, 1),
		trusted: maps.Clone(cfg.Trusted),
		newest:  make(map[protocol.SiteName]heard),
		seq:     uint64(max(0, time.Now().UnixMilli())),
		members: make(map[string]Member),
		lost:    make(map[string]Member),

		conflicts: rate.NewLimiter(rate.Every(time.Minute), 5),
	}
	keys, err := LoadKeys(cfg.KeyringFile)
	if err != nil {
		return nil, err
	}
	if g.keyring.Keyring, err = memberlist.NewKeyring(keys, keys[0]); err != nil {
		return nil, fmt.Errorf("gossip: keyring %s: %w", cfg.KeyringFile, err)
	}
	if g.meta, err = encodeIdentity(cfg.Self, cfg.Sign); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	g.stop = stop
	if err = g.listen(ctx); err != nil {
		stop()
		return nil, err
	}
	go g.box.deliver(cfg.Handler)
	g.loops.Go(func() { g.advertise(ctx, rand.New(rand.NewPCG(cfg.Seed, 1))) })
	g.loops.Go(func() { g.rejoin(ctx, rand.New(rand.NewPCG(cfg.Seed, 2))) })
	g.log.Info("gossip_started", "address", g.address, "seeds", len(cfg.Join))
	return g, nil
}

// complete fills in what was left open and says what is missing.
func (c *Config) complete() error {
	if c.Every <= 0 {
		c.Every = DefaultEvery
	}
	if c.Rejoin <= 0 {
		c.Rejoin = DefaultRejoin
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Sign == nil || c.Verify == nil || c.Handler == nil {
		return errors.New("gossip: Config needs Sign, Verify and Handler")
	}
	return nil
}

// listen opens the transport and makes the member list on it.
func (g *Gossip) listen(ctx context.Context) error {
	conf := memberlist.DefaultWANConfig()
	if err := g.cfg.addresses(conf); err != nil {
		return err
	}
	logger := debugLogger(g.log)
	conf.Name = g.cfg.Self.PublicKey
	conf.Transport = g.cfg.transport
	if conf.Transport == nil {
		transport, err := newSockets(ctx, conf, logger)
		if err != nil {
			return err
		}
		conf.Transport = transport
	}
	conf.GossipInterval = gossipInterval
	conf.RetransmitMult = 4
	conf.TCPTimeout = 10 * time.Second
	conf.DeadNodeReclaimTime = time.Second // a site may come back at another address
	conf.Keyring = g.keyring.Keyring
	conf.Logger = logger
	h := (*hooks)(g)
	conf.Delegate, conf.Events, conf.Alive, conf.Conflict = h, h, h, h

	ip, port, err := conf.Transport.FinalAdvertiseAddr(conf.AdvertiseAddr, conf.AdvertisePort)
	if err == nil {
		g.address = hostPort(ip, port)
		g.queue = &memberlist.TransmitLimitedQueue{NumNodes: g.size, RetransmitMult: conf.RetransmitMult}
		g.list, err = memberlist.Create(conf)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("gossip: %w", err), conf.Transport.Shutdown())
	}
	return nil
}

// size is the number of live members, this site among them.
func (g *Gossip) size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.members) + 1
}

// Self is who this site says it is.
func (g *Gossip) Self() Identity { return g.cfg.Self }

// Address is the IP address and port that others reach this site at.
func (g *Gossip) Address() string { return g.address }

// Members lists the live members but this site, by site name and public key.
func (g *Gossip) Members() []Member {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := slices.Collect(maps.Values(g.members))
	for i := range all {
		all[i].Trusted = g.trusts(all[i].Identity)
	}
	slices.SortFunc(all, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.PublicKey, b.PublicKey))
	})
	return all
}

// trusts says whether the identity is one that is configured for its name. The lock
// is held.
func (g *Gossip) trusts(id Identity) bool { return slices.Contains(g.trusted[id.Site], id.PublicKey) }

// hasTrusted says whether a member is there that the configuration names, by any of the site's keys. The lock is held.
func (g *Gossip) hasTrusted(site protocol.SiteName) bool {
	return slices.ContainsFunc(g.trusted[site], func(key string) bool { return g.members[key].Site == site })
}

// SetTrusted replaces the public keys of the partners, of which one may have several, after the
// configuration was changed. What was heard from sites of which a key was removed is forgotten.
func (g *Gossip) SetTrusted(trusted map[protocol.SiteName][]string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for site, keys := range g.trusted {
		if slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(trusted[site], key) }) {
			delete(g.newest, site)
		}
	}
	g.trusted = maps.Clone(trusted)
}

// Leave announces that this site leaves, and waits at most for the timeout until
// the announcement is sent. Close must follow.
func (g *Gossip) Leave(timeout time.Duration) error {
	g.life.Lock()
	defer g.life.Unlock()
	if g.closed || !g.isMember() { // memberlist panics on both
		return nil
	}
	if err := g.list.Leave(timeout); err != nil {
		return fmt.Errorf("gossip: %w", err)
	}
	return nil
}

// isMember reports whether memberlist still lists this site. After a long stall memberlist may
// have declared this site dead itself; then the other members have too, and Leave has no receiver.
func (g *Gossip) isMember() bool {
	return slices.ContainsFunc(g.list.Members(), func(n *memberlist.Node) bool { return n.Name == g.cfg.Self.PublicKey })
}

// Close stops gossiping. Without Leave before it, the others find out by
// themselves, within a minute. When it returns, the Handler is called no more.
func (g *Gossip) Close() error {
	g.life.Lock()
	defer g.life.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	g.stop()
	err := g.list.Shutdown()
	g.loops.Wait()
	g.box.close()
	if err != nil {
		return fmt.Errorf("gossip: %w", err)
	}
	return nil
}
