package gossip_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// grid starts n sites on an in-memory network; the first is everybody's seed.
func grid(t *testing.T, n int, change func(*gossip.Config)) (*wire, []*site, []*host) {
	t.Helper()
	keys := keyring(t, gossip.NewKey())
	w := newWire()
	var sites []*site
	var hosts []*host
	for i := 1; i <= n; i++ {
		s := configure(i, n, keys)
		h := w.host(i)
		s.config.SetTransport(h)
		s.config.Bind = h.address()
		s.config.Join = []string{append(hosts, h)[0].address()}
		if change != nil {
			change(&s.config)
		}
		s.start(t)
		sites, hosts = append(sites, &s), append(hosts, h)
	}
	return w, sites, hosts
}

func closeAll(t *testing.T, sites []*site) {
	t.Helper()
	for _, s := range sites {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	time.Sleep(time.Minute) // timers of memberlist run out, so that the bubble can end
}

// wantLoads expects every site to know the loads of all others.
func wantLoads(t *testing.T, sites []*site, when string, busy func(site int) int) {
	t.Helper()
	for _, s := range sites {
		for i, other := range sites {
			if s == other {
				continue
			}
			d, _ := s.handler.digest(other.name)
			if d.Load != load(busy(i)) {
				t.Errorf("%s: %s has of %s %+v, want busy %d", when, s.name, other.name, d, busy(i))
			}
		}
	}
}

func TestThreeSites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, sites, hosts := grid(t, 3, nil)
		for i, s := range sites {
			s.Advertise(load(i))
		}
		time.Sleep(10 * time.Second)
		wantLoads(t, sites, "after 10 s", func(i int) int { return i })
		for i, s := range sites {
			members := s.Members()
			if len(members) != 2 || len(s.handler.alive) != 2 {
				t.Errorf("%s sees %v, was told of %v", s.name, members, s.handler.alive)
			}
			for _, m := range members {
				if !m.Trusted || m.Address == s.Address() || m.Identity != s.handler.alive[m.PublicKey] {
					t.Errorf("%s sees %+v", s.name, m)
				}
			}
			if s.Address() != hosts[i].address() {
				t.Errorf("address %s", s.Address())
			}
		}
		closeAll(t, sites)
		for _, s := range sites {
			for reason, n := range s.handler.rejected {
				t.Errorf("%s rejected %d as %s", s.name, n, reason)
			}
		}
	})
}

func TestChangesAndHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, sites, _ := grid(t, 3, nil)
		sites[0].Advertise(load(1))
		time.Sleep(10 * time.Second)
		before, _ := sites[1].handler.digest("site-1")
		sites[0].Advertise(load(500))
		time.Sleep(2 * time.Second)
		if d, _ := sites[1].handler.digest("site-1"); d.Load != load(500) || d.Seq <= before.Seq {
			t.Errorf("a change is not known after 2 s: %+v", d)
		}
		before, _ = sites[1].handler.digest("site-1")
		time.Sleep(10 * time.Second)
		if d, _ := sites[1].handler.digest("site-1"); d.Seq <= before.Seq || d.Load != load(500) {
			t.Errorf("no heartbeat in 10 s: %+v", d)
		}
		closeAll(t, sites)
	})
}

func TestLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, sites, _ := grid(t, 3, nil)
		time.Sleep(10 * time.Second)
		if err := sites[2].Leave(10 * time.Second); err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Second)
		if !sites[0].handler.left("site-3") || len(sites[0].Members()) != 1 {
			t.Errorf("site-3 left; site-1 sees %v", sites[0].Members())
		}
		closeAll(t, sites)
		if err := sites[2].Leave(time.Second); err != nil {
			t.Errorf("Leave after Close: %v", err)
		}
	})
}

// TestBurst advertises faster than packets go: what arrives is the last load,
// after few digests.
func TestBurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		signed := 0
		_, sites, _ := grid(t, 2, func(c *gossip.Config) {
			sign := c.Sign
			c.Sign = func(data []byte) []byte {
				if c.Self.Site == "site-1" && strings.HasPrefix(string(data), gossip.DigestContext) {
					signed++
				}
				return sign(data)
			}
		})
		time.Sleep(5 * time.Second)
		for busy := range 1000 {
			sites[0].Advertise(load(busy))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		if d, _ := sites[1].handler.digest("site-1"); d.Load != load(999) {
			t.Errorf("after 1000 changes in a second: %+v", d)
		}
		if signed > 7 {
			t.Errorf("1000 changes in a second made %d digests", signed)
		}
		closeAll(t, sites)
	})
}

func TestForgedDigests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, sites, _ := grid(t, 3, nil)
		for i, s := range sites {
			s.Advertise(load(i))
		}
		time.Sleep(10 * time.Second)
		// Site 3 has the shared key of the grid, but not the key of site 1.
		far := uint64(1) << 60
		forged := encoded(t, digestOf("site-1", far, 999), 1, sites[2].signer)
		stranger := encoded(t, digestOf("nobody", far, 999), 1, newSigner("nobody"))
		sites[2].Inject("forged", forged)
		sites[2].Inject("stranger", stranger)
		sites[2].Inject("noise", []byte("noise"))
		time.Sleep(10 * time.Second)
		for reason, who := range map[string]*site{"bad-signature": sites[1], "unknown-site": sites[0], "malformed": sites[1]} {
			if who.handler.refusals(reason) == 0 {
				t.Errorf("%s has refused nothing as %s: %v", who.name, reason, who.handler.rejected)
			}
		}
		wantLoads(t, sites, "after forged digests", func(i int) int { return i })
		if _, known := sites[0].handler.digest("nobody"); known {
			t.Error("the digest of a stranger was handed on")
		}
		closeAll(t, sites)
	})
}

func TestReplayAndOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, sites, _ := grid(t, 1, func(c *gossip.Config) { c.Trusted["old"] = []string{newSigner("old").public()} })
		s, key := sites[0], newSigner("old")
		for _, step := range []struct {
			incarnation, seq uint64
			busy, want       int
		}{
			{1, 10, 1, 1},
			{1, 10, 2, 1},   // the same number again
			{1, 9, 3, 1},    // late
			{1, 11, 4, 4},   // next
			{2, 1, 5, 5},    // the site was restored
			{1, 99, 6, 5},   // a replay from before that
			{2, 2, 7, 7},    // next
			{2, 50, 8, 8},   // some were lost
			{2, 49, 9, 8},   // late
			{2, 51, 10, 10}, // next
		} {
			s.Receive(encoded(t, digestOf("old", step.seq, step.busy), step.incarnation, key))
			synctest.Wait()
			if d, _ := s.handler.digest("old"); d.Load != load(step.want) {
				t.Errorf("after %+v: busy %d", step, d.Load.Busy)
			}
		}
		if n := len(s.handler.rejected); n != 0 {
			t.Errorf("what is late is no offence: %v", s.handler.rejected)
		}

		aged, err := gossip.EncodeDigest(digestOf("old", 60, 11), 2, 5*protocol.Second, key.sign)
		if err != nil {
			t.Fatal(err)
		}
		s.Receive(aged)
		synctest.Wait()
		if age := s.handler.ages["old"]; age != 5*protocol.Second {
			t.Errorf("a digest that was 5 s old has the age %v", age)
		}
		s.SetTrusted(nil)
		s.Receive(encoded(t, digestOf("old", 70, 12), 2, key))
		s.SetTrusted(map[protocol.SiteName][]string{"old": {newSigner("new key").public()}})
		s.Receive(encoded(t, digestOf("old", 1, 13), 1, newSigner("new key")))
		synctest.Wait()
		if d, _ := s.handler.digest("old"); d.Load != load(13) || s.handler.refusals("unknown-site") != 1 {
			t.Errorf("after the partner's key was changed: %+v, %v", d, s.handler.rejected)
		}
		s.SetTrusted(map[protocol.SiteName][]string{"old": {newSigner("new key").public(), key.public()}})
		s.Receive(encoded(t, digestOf("old", 2, 14), 1, newSigner("new key")))
		s.Receive(encoded(t, digestOf("old", 3, 15), 1, key))
		s.Receive(encoded(t, digestOf("old", 4, 16), 1, newSigner("another key")))
		synctest.Wait()
		if d, _ := s.handler.digest("old"); d.Load != load(15) || s.handler.refusals("bad-signature") != 1 {
			t.Errorf("with two keys of the partner: %+v, %v", d, s.handler.rejected)
		}
		s.SetTrusted(map[protocol.SiteName][]string{"old": {newSigner("new key").public(), key.public(), newSigner("another key").public()}})
		s.Receive(encoded(t, digestOf("old", 2, 17), 1, key))
		synctest.Wait()
		if d, _ := s.handler.digest("old"); d.Load != load(15) {
			t.Errorf("a key was added, and what was known is forgotten: %+v", d)
		}
		closeAll(t, sites)
	})
}

// TestAReplacedKeyIsMissed: a partner has not gone while it is there by its other key.
func TestAReplacedKeyIsMissed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, sites, _ := grid(t, 1, nil)
		s, former, next := sites[0], newSigner("former key"), newSigner("next key")
		s.SetTrusted(map[protocol.SiteName][]string{"old": {former.public(), next.public()}})
		for _, key := range []signer{former, next} {
			s.Meet(gossip.Identity{Site: "old", Number: 9, PublicKey: key.public(), FirstStart: 1, Incarnation: 1}, key.sign)
		}
		s.Miss(former.public())
		synctest.Wait()
		if s.handler.left("old") {
			t.Error("it has gone, though it is there by its next key")
		}
		s.Miss(next.public())
		synctest.Wait()
		if !s.handler.left("old") {
			t.Error("it has not gone with its last key")
		}
		closeAll(t, sites)
	})
}

// TestClockSetBack restarts a site whose clock is behind its last digest.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, sites, _ := grid(t, 2, nil)
		ahead := uint64(time.Now().Add(24 * time.Hour).UnixMilli())
		sites[0].Receive(encoded(t, digestOf("site-2", ahead, 1), 1, sites[1].signer))
		sites[1].Advertise(load(2))
		time.Sleep(90 * time.Second) // an exchange of states tells site 2
		if d, _ := sites[0].handler.digest("site-2"); d.Load != load(2) || d.Seq <= ahead {
			t.Errorf("site-1 has %+v; new digests stay hidden behind %d", d, ahead)
		}
		sites[1].Receive(encoded(t, digestOf("site-2", 1<<60, 1), 1, sites[0].signer))
		synctest.Wait()
		if sites[1].handler.refusals("bad-signature") != 1 {
			t.Errorf("an own digest signed by another: %v", sites[1].handler.rejected)
		}
		closeAll(t, sites)
	})
}

func TestPartitionHeals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// The only seed is site 1. It ends during the partition, so that only
		// what the others remember of each other can bring them together.
		w, sites, hosts := grid(t, 4, nil)
		for i, s := range sites {
			s.Advertise(load(i))
		}
		time.Sleep(10 * time.Second)
		wantLoads(t, sites, "at first", func(i int) int { return i })

		w.part(1, hosts[:2]...)
		time.Sleep(10 * time.Minute)
		if !sites[0].handler.left("site-3") || !sites[3].handler.left("site-2") || len(sites[0].Members()) != 1 {
			t.Errorf("after 10 minutes apart site-1 sees %v", sites[0].Members())
		}
		for i, s := range sites {
			s.Advertise(load(100 + i))
		}
		time.Sleep(10 * time.Second)
		if d, _ := sites[0].handler.digest("site-3"); d.Load != load(2) {
			t.Errorf("a digest crossed the partition: %+v", d)
		}

		closeAll(t, sites[:1])
		w.part(0, hosts[:2]...)
		time.Sleep(2 * time.Minute)
		rest := sites[1:]
		wantLoads(t, rest, "healed", func(i int) int { return 101 + i })
		for _, s := range rest {
			if n := len(s.Members()); n != 2 {
				t.Errorf("healed: %s sees %d members", s.name, n)
			}
		}
		closeAll(t, rest)
	})
}

// TestSeedThatStartsLater has a site whose only seed does not listen yet.
func TestSeedThatStartsLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys, w := keyring(t, gossip.NewKey()), newWire()
		early, late := configure(1, 2, keys), configure(2, 2, keys)
		first, second := w.host(1), w.host(2)
		for s, h := range map[*site]*host{&early: first, &late: second} {
			s.config.SetTransport(h)
			s.config.Bind = h.address()
		}
		early.config.Join = []string{second.address()}
		w.part(1, second)
		early.start(t)
		early.Advertise(load(0))
		time.Sleep(5 * time.Second)
		w.part(0, second)
		late.start(t)
		late.Advertise(load(1))
		time.Sleep(10 * time.Second)
		wantLoads(t, []*site{&early, &late}, "ten seconds after the seed has started", func(i int) int { return i })
		closeAll(t, []*site{&early, &late})
	})
}

// TestTwinNames has two sites of one name; the second is not the partner.
func TestTwinNames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		twin := newSigner("twin")
		_, sites, _ := grid(t, 3, func(c *gossip.Config) {
			if c.Self.Site == "site-3" {
				c.Self.Site, c.Self.PublicKey, c.Sign = "site-2", twin.public(), twin.sign
			}
		})
		for i, s := range sites {
			s.Advertise(load(i))
		}
		time.Sleep(2 * time.Minute) // of many heartbeats some arrive
		var seen []string
		for _, m := range sites[0].Members() {
			seen = append(seen, fmt.Sprintf("%s %d %t", m.Site, m.Number, m.Trusted))
		}
		slices.Sort(seen)
		if want := []string{"site-2 2 true", "site-2 3 false"}; !slices.Equal(seen, want) {
			t.Errorf("site-1 sees %q, want %q", seen, want)
		}
		if d, _ := sites[0].handler.digest("site-2"); d.Load != load(1) || sites[0].handler.refusals("bad-signature") == 0 {
			t.Errorf("of site-2: %+v, rejected %v", d, sites[0].handler.rejected)
		}
		if err := sites[2].Leave(5 * time.Second); err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Second)
		if sites[0].handler.left("site-2") || len(sites[0].Members()) != 1 {
			t.Errorf("the twin left, and the partner is taken for gone: %v", sites[0].handler.gone)
		}
		closeAll(t, sites)
	})
}

// TestStolenName has a member that claims the name and key of a partner without
// being able to sign for it.
func TestStolenName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, sites, _ := grid(t, 2, func(c *gossip.Config) {
			if c.Self.Site == "site-2" {
				c.Sign = newSigner("thief").sign
			}
		})
		sites[1].Advertise(load(1))
		time.Sleep(20 * time.Second)
		if len(sites[0].Members()) != 0 || sites[0].handler.refusals("bad-identity") == 0 {
			t.Errorf("site-1 sees %v, rejected %v", sites[0].Members(), sites[0].handler.rejected)
		}
		closeAll(t, sites)
	})
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, sites, _ := grid(t, 2, nil)
		old := sites[0].Keys()[0]
		next := bytes.Repeat([]byte{7}, 32)
		busy := 0
		rotate := func(when string, keys ...[]byte) {
			for i := range sites {
				if err := sites[i].SetKeys(keys); err != nil {
					t.Fatal(err)
				}
				if got := sites[i].Keys(); !slices.EqualFunc(got, keys, bytes.Equal) {
					t.Errorf("%s: the ring has %x, want %x", when, got, keys)
				}
				for j := range sites { // also while only some sites have changed
					busy++
					sites[j].Advertise(load(busy))
				}
				time.Sleep(5 * time.Second)
				wantLoads(t, sites, when, func(j int) int { return busy - 1 + j })
			}
		}
		rotate("added", old, next)
		rotate("in use", next, old)
		rotate("old one dropped", next)
		for _, bad := range [][][]byte{nil, {next, []byte("short")}} {
			if err := sites[0].SetKeys(bad); err == nil || !strings.Contains(err.Error(), "stays in use") {
				t.Errorf("SetKeys(%q): %v", bad, err)
			}
		}
		closeAll(t, sites)
	})
}

func TestKeyring(t *testing.T) {
	t.Parallel()
	first, second := gossip.NewKey(), base64.StdEncoding.EncodeToString(make([]byte, 16))
	keys, err := gossip.LoadKeys(keyring(t, first, second))
	if err != nil || len(keys) != 2 || len(keys[0]) != 32 || len(keys[1]) != 16 || first == gossip.NewKey() {
		t.Errorf("two keys: %d, %v", len(keys), err)
	}
	open, group := keyring(t, first), keyring(t, first)
	if err := errors.Join(os.Chmod(open, 0o644), os.Chmod(group, 0o640)); err != nil {
		t.Fatal(err)
	}
	secret := base64.StdEncoding.EncodeToString([]byte("secret"))
	for name, c := range map[string]struct{ path, word string }{
		"none":       {"", "[gossip] keyring"},
		"missing":    {filepath.Join(t.TempDir(), "none"), "no such file"},
		"empty":      {keyring(t), "has no key"},
		"not base64": {keyring(t, first, "%%"), "line 4 is not base64"},
		"short":      {keyring(t, secret), "line 3 has 6 bytes"},
		"open":       {open, "run: chmod 600"},
		"group":      {group, "mode 0640"},
	} {
		_, err := gossip.LoadKeys(c.path)
		if err == nil || !strings.Contains(err.Error(), c.word) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v; want it to say %q", name, err, c.word)
		}
		s := configure(1, 1, c.path)
		s.config.Bind = "127.0.0.1:0"
		if _, err := gossip.Start(s.config); err == nil {
			t.Errorf("%s: gossip started without a key", name)
		}
	}
}
