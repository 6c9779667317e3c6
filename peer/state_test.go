package peer_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestStateIsData: whatever a peer of a random grid is about, it can be copied, and the copy goes on
// as the peer itself: with the same events it makes the same steps, and is the same after them.
func TestStateIsData(t *testing.T) {
	t.Parallel()
	kinds := []func(*chaos){
		func(*chaos) {}, (*chaos).changePartners,
		func(c *chaos) { c.restore(); c.operate() }, (*chaos).restoreWhole,
	}
	seeds := 40
	if testing.Short() {
		seeds = 12
	}
	for i := range seeds {
		c := newChaos(t, 8_000_000+2*uint64(i))
		kinds[i%len(kinds)](c)
		copies := copying{t: t, rng: rand.New(rand.NewPCG(c.seed, 8)), of: map[*peer.Peer]*copied{}}
		c.world.Step = copies.step
		if c.run(t); t.Failed() {
			t.Fatalf("seed %d", c.seed)
		}
	}
}

// copying steps peers, and now and then copies of them along with them.
type copying struct {
	t   *testing.T
	rng *rand.Rand
	of  map[*peer.Peer]*copied
}

type copied struct {
	peer  *peer.Peer
	steps int // that it still makes
}

func (c copying) step(p *peer.Peer, now protocol.Instant, ev event.Event) event.Ready {
	one := c.of[p]
	if one == nil && c.rng.IntN(100) == 0 {
		one = &copied{peer: peer.Copy(p), steps: 1 + c.rng.IntN(30)}
		c.of[p] = one
		c.inspect(p, one.peer)
	}
	if one == nil {
		return p.Step(now, ev)
	}
	again := peer.Copy(ev)
	ready := p.Step(now, ev)
	if got := one.peer.Step(now, again); !reflect.DeepEqual(got, ready) {
		c.t.Errorf("event %+v: the copy does\n%+v\nand the peer\n%+v", ev, got, ready)
	}
	if one.steps--; one.steps == 0 {
		delete(c.of, p)
		c.inspect(p, one.peer)
	}
	return ready
}

// inspect says where a peer is not data, or is another than its copy.
func (c copying) inspect(p, other *peer.Peer) {
	if faults := p.Impure(); faults != nil {
		c.t.Errorf("a peer has what is no data:\n%s", strings.Join(faults, "\n"))
	}
	if want, got := p.Print(), other.Print(); got != want {
		c.t.Errorf("the copy is another: %s", firstDifference(want, got))
	}
	if !reflect.DeepEqual(p, other) {
		c.t.Error("the copy prints as the peer does, but is not equal")
	}
}
