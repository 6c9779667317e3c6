package gossip

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	// gossipInterval is the time between packets to random members. Digests
	// that follow one another faster replace each other unsent.
	gossipInterval = 200 * time.Millisecond
	// rejoinAtMost is how many seeds, and how many lost members, are tried at a
	// time.
	rejoinAtMost = 3
	// firstRejoin is the first pause between two attempts; each is twice the one before, up to
	// Config.Rejoin. Sites that start together find each other in seconds.
	firstRejoin = time.Second
	// maxLost is how many members are remembered after they have gone.
	maxLost = 1024
)

// Advertise sets the load of this site. It goes out at once if it differs from
// the last one, but at most once in 200 ms, and then every Every.
func (g *Gossip) Advertise(load protocol.Load) {
	g.mu.Lock()
	same := g.load != nil && *g.load == load
	g.load = &load
	g.mu.Unlock()
	if !same {
		g.signal()
	}
}

// signal makes the next digest due.
func (g *Gossip) signal() {
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

// advertise sends digests until ctx ends.
func (g *Gossip) advertise(ctx context.Context, random *rand.Rand) {
	heartbeat := time.NewTimer(time.Duration(random.Int64N(int64(g.cfg.Every))))
	defer heartbeat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.changed:
		case <-heartbeat.C:
		}
		g.send()
		heartbeat.Reset(g.cfg.Every)
		if !sleep(ctx, gossipInterval) {
			return
		}
	}
}

// send signs and broadcasts the load of now, if there is one.
func (g *Gossip) send() {
	g.mu.Lock()
	if g.load == nil {
		g.mu.Unlock()
		return
	}
	g.seq++
	digest := protocol.Digest{Site: g.cfg.Self.Site, Seq: g.seq, Load: *g.load}
	g.mu.Unlock()

	p, err := newPacket(digest, g.cfg.Self.Incarnation, g.cfg.Sign)
	if err != nil {
		g.log.Error("gossip_sign_failed", "error", err)
		return
	}
	h := heard{packet: p, sent: time.Now()}
	g.mu.Lock()
	g.newest[digest.Site] = h
	g.mu.Unlock()
	g.broadcast(h)
}

// rejoin contacts the seeds at once, and then repeatedly those and the members
// that are missing. memberlist alone stays parted for ever after a
// partition that outlasts its failure detection.
func (g *Gossip) rejoin(ctx context.Context, random *rand.Rand) {
	for pause := firstRejoin; ; pause *= 2 {
		for _, address := range g.missing(random) {
			if ctx.Err() != nil {
				return
			}
			if _, err := g.list.Join([]string{address}); err != nil {
				g.log.Debug("gossip_join_failed", "address", address, "error", err)
			}
		}
		pause = min(pause, g.cfg.Rejoin)
		jitter := time.Duration(random.Int64N(int64(pause)/5 + 1))
		if !sleep(ctx, pause-pause/10+jitter) {
			return
		}
	}
}

// missing chooses some seeds that are not live members by their address, and
// some lost members.
func (g *Gossip) missing(random *rand.Rand) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	present := map[string]bool{g.address: true}
	for _, member := range g.members {
		present[member.Address] = true
	}
	absent := func(addresses []string) []string {
		addresses = slices.DeleteFunc(slices.Clone(addresses), func(a string) bool { return present[a] })
		random.Shuffle(len(addresses), func(i, j int) {
			addresses[i], addresses[j] = addresses[j], addresses[i]
		})
		return addresses[:min(len(addresses), rejoinAtMost)]
	}
	var lost []string
	for _, key := range slices.Sorted(maps.Keys(g.lost)) {
		lost = append(lost, g.lost[key].Address)
	}
	return append(absent(g.cfg.Join), absent(lost)...)
}

// sleep waits; false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
