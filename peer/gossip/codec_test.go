package gossip_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func digestOf(site protocol.SiteName, seq uint64, busy int) protocol.Digest {
	return protocol.Digest{Site: site, Seq: seq, Load: load(busy)}
}

func encoded(t testing.TB, d protocol.Digest, incarnation uint64, by signer) []byte {
	t.Helper()
	b, err := gossip.EncodeDigest(d, incarnation, 0, by.sign)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDigestRoundTrip(t *testing.T) {
	t.Parallel()
	key := newSigner("a")
	count := rapid.IntRange(0, math.MaxInt32)
	rapid.Check(t, func(t *rapid.T) {
		want := protocol.Digest{
			Site: protocol.SiteName(rapid.StringMatching(`[a-z][a-z0-9-]{0,31}`).Draw(t, "site")),
			Seq:  rapid.Uint64().Draw(t, "seq"),
			Load: protocol.Load{
				CPUs: count.Draw(t, "cpus"), Busy: count.Draw(t, "busy"), QueuedJobs: count.Draw(t, "jobs"),
				QueuedWork: rapid.Int64Min(0).Draw(t, "work"), Benefit: count.Draw(t, "benefit"),
				PowerIdledCPUs: count.Draw(t, "withheld"), Draw: rapid.Int64Min(0).Draw(t, "draw"),
				Budget: protocol.PowerBudget{Active: rapid.Bool().Draw(t, "budgeted"), Milliwatts: rapid.Int64Min(0).Draw(t, "budget")},
			},
		}
		incarnation := rapid.Uint64().Draw(t, "incarnation")
		age := protocol.Duration(rapid.Int64Min(0).Draw(t, "age"))
		b, err := gossip.EncodeDigest(want, incarnation, age, key.sign)
		if err != nil {
			t.Fatal(err)
		}
		got, gotIncarnation, gotAge, genuine, err := gossip.DecodeDigest(b, key.public(), verify)
		if err != nil || got != want || gotIncarnation != incarnation || gotAge != age || !genuine {
			t.Fatalf("%+v of incarnation %d and age %d became %+v, %d, %d, genuine %t, %v",
				want, incarnation, age, got, gotIncarnation, gotAge, genuine, err)
		}
		i := rapid.IntRange(0, len(b)-1).Draw(t, "byte")
		forged := bytes.Clone(b)
		forged[i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		got, gotIncarnation, _, genuine, err = gossip.DecodeDigest(forged, key.public(), verify)
		if err == nil && genuine && (got != want || gotIncarnation != incarnation) {
			t.Fatalf("a changed bit in byte %d gave a genuine %+v", i, got)
		}
		if _, _, _, _, err = gossip.DecodeDigest(b[:i], key.public(), verify); err == nil {
			t.Fatalf("the first %d of %d bytes were accepted", i, len(b))
		}
	})
}

func TestDigestSize(t *testing.T) {
	t.Parallel()
	d := digestOf(protocol.SiteName(strings.Repeat("s", 32)), 1_800_000_000_000, 900)
	d.Load = protocol.Load{CPUs: 1 << 20, Busy: 1 << 20, QueuedJobs: 1 << 20, QueuedWork: 1 << 50, PowerIdledCPUs: 1 << 20, Draw: 1 << 32, Budget: protocol.ActiveBudget(1 << 32)}
	if b := encoded(t, d, 1000, newSigner("a")); len(b) > 80+gossip.SigSize {
		t.Errorf("the digest of a large site has %d bytes", len(b))
	}
	if b := encoded(t, digestOf("juwels", 1_800_000_000_000, 900), 1, newSigner("a")); len(b) > 32+gossip.SigSize {
		t.Errorf("the digest of a usual site has %d bytes", len(b))
	}
}

func TestBadDigests(t *testing.T) {
	t.Parallel()
	key := newSigner("a")
	good := encoded(t, digestOf("a", 1, 1), 1, key)
	for name, c := range map[string]struct {
		b    []byte
		word string
	}{
		"empty":         {nil, "cut off"},
		"newer version": {append([]byte{4}, good[1:]...), "version 4"},
		"older version": {append([]byte{1}, good[1:]...), "version 1"},
		"trailing byte": {append(bytes.Clone(good), 0), "1 bytes too many"},
		"no signature":  {good[:len(good)-gossip.SigSize], "cut off"},
		"bad name":      {encoded(t, digestOf("A b", 1, 1), 1, key), "must begin with"},
		"long name":     {[]byte{3, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, "cut off"},
		"huge busy":     {[]byte{3, 0, 1, 'a', 1, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x7f}, "is above"},
	} {
		_, _, _, _, err := gossip.DecodeDigest(c.b, key.public(), verify)
		if err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v; want it to say %q", name, err, c.word)
		}
	}
	if _, err := gossip.EncodeDigest(digestOf("a", 1, 1), 1, 0, func([]byte) []byte { return nil }); err == nil {
		t.Error("a key that signs nothing was accepted")
	}
}

func FuzzDigest(f *testing.F) {
	key := newSigner("a")
	f.Add(encoded(f, digestOf("a", 1, 1), 1, key))
	f.Add([]byte{2, 0, 1, 'a', 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, incarnation, age, _, err := gossip.DecodeDigest(b, key.public(), verify)
		if err != nil {
			return
		}
		again, err := gossip.EncodeDigest(d, incarnation, age, key.sign)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _, genuine, err := gossip.DecodeDigest(again, key.public(), verify); err != nil || got != d || !genuine {
			t.Fatalf("%+v became %+v, genuine %t, %v", d, got, genuine, err)
		}
	})
}

func identityOf(s signer, site string) gossip.Identity {
	return gossip.Identity{Site: protocol.SiteName(site), Number: 7, PublicKey: s.public(), FirstStart: 99, Incarnation: 3}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	mine, other := newSigner("mine"), newSigner("other")
	id := identityOf(mine, "a")
	meta, err := gossip.EncodeIdentity(id, mine.sign)
	if err != nil {
		t.Fatal(err)
	}
	got, err := gossip.DecodeIdentity(mine.public(), meta, verify)
	if err != nil || got != id {
		t.Errorf("%+v became %+v, %v", id, got, err)
	}
	if _, err = gossip.DecodeIdentity(other.public(), meta, verify); err == nil {
		t.Error("the identity of one key was accepted for another")
	}
	for i := range meta {
		forged := bytes.Clone(meta)
		forged[i] ^= 1
		if got, err = gossip.DecodeIdentity(mine.public(), forged, verify); err == nil {
			t.Fatalf("a change of byte %d was accepted: %+v", i, got)
		}
	}
	byOther, err := gossip.EncodeIdentity(id, other.sign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = gossip.DecodeIdentity(mine.public(), byOther, verify); err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("an identity signed by another: %v", err)
	}
	for name, bad := range map[string]gossip.Identity{
		"no name":  {Number: 1, PublicKey: "k"},
		"no key":   {Site: "a", Number: 1},
		"long key": {Site: "a", Number: 1, PublicKey: strings.Repeat("k", 600)},
		"number":   {Site: "a", Number: 9001, PublicKey: "k"},
	} {
		if _, err = gossip.EncodeIdentity(bad, mine.sign); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err = gossip.EncodeIdentity(id, func([]byte) []byte { return make([]byte, 1000) }); err == nil {
		t.Error("metadata above memberlist's limit were accepted; memberlist panics on them")
	}
}

func FuzzIdentity(f *testing.F) {
	key := newSigner("a")
	meta, err := gossip.EncodeIdentity(identityOf(key, "a"), key.sign)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(meta)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := gossip.DecodeIdentity(key.public(), b, verify)
		if err == nil && got != identityOf(key, "a") {
			t.Fatalf("the key never signed %+v", got)
		}
	})
}

func FuzzState(f *testing.F) {
	f.Add(gossip.JoinPackets([][]byte{{1, 2, 3}, nil, {4}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		packets, err := gossip.SplitPackets(b)
		if err != nil {
			return
		}
		again, err := gossip.SplitPackets(gossip.JoinPackets(packets))
		if err != nil || !slices.EqualFunc(packets, again, bytes.Equal) {
			t.Fatalf("%x became %x, %v", packets, again, err)
		}
	})
}
