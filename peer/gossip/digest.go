package gossip

import (
	"encoding/binary"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// packet is a digest as it travels: version, age, body, signature of the body.
// The age is the relaying member's word, the rest is the site's.
type packet struct {
	Digest      protocol.Digest
	Incarnation uint64
	Age         protocol.Duration
	body        []byte // what is signed, without its context
	sig         []byte
}

// newPacket signs a digest.
func newPacket(d protocol.Digest, incarnation uint64, sign func([]byte) []byte) (packet, error) {
	body := appendText(nil, string(d.Site))
	body = binary.AppendUvarint(body, incarnation)
	body = binary.AppendUvarint(body, d.Seq)
	l := &d.Load
	body = appendNumbers(body, int64(l.CPUs), int64(l.Busy), int64(l.QueuedJobs), l.QueuedWork, int64(l.Benefit))
	body = appendNumbers(body, int64(l.PowerIdledCPUs), l.Draw)
	body = appendNumbers(body, flag(l.Budget.Active), l.Budget.Milliwatts)
	sig := sign(append([]byte(digestContext), body...))
	if len(sig) != sigSize {
		return packet{}, fmt.Errorf("gossip: the site's key made a signature of %d bytes; an Ed25519 key makes %d", len(sig), sigSize)
	}
	return packet{Digest: d, Incarnation: incarnation, body: body, sig: sig}, nil
}

// encode writes the packet, saying that it is of the age.
func (p packet) encode(age protocol.Duration) []byte {
	b := append(make([]byte, 0, len(p.body)+sigSize+8), digestVersion)
	b = appendNumbers(b, int64(age))
	return append(append(b, p.body...), p.sig...)
}

// decode reads a packet without looking at the signature. It keeps no part of b.
func decode(b []byte) (packet, error) {
	r := reader{rest: append([]byte(nil), b...)}
	var p packet
	r.version(digestVersion)
	p.Age = protocol.Duration(r.integer64())
	start := r.rest
	p.Digest.Site = protocol.SiteName(r.text())
	p.Incarnation = r.number()
	p.Digest.Seq = r.number()
	p.Digest.Load = protocol.Load{
		CPUs: r.integer(), Busy: r.integer(), QueuedJobs: r.integer(), QueuedWork: r.integer64(), Benefit: r.integer(),
		PowerIdledCPUs: r.integer(), Draw: r.integer64(),
		Budget: protocol.PowerBudget{Active: r.upTo(1) == 1, Milliwatts: r.integer64()},
	}
	p.body = start[:len(start)-len(r.rest)]
	p.sig = r.signature()
	if r.err == nil {
		r.err = p.Digest.Site.Validate()
	}
	if r.err != nil {
		return packet{}, fmt.Errorf("gossip: digest: %w", r.err)
	}
	return p, nil
}

// verify says whether the owner of the key has signed the digest.
func (p packet) verify(key string, verify verifier) bool {
	return verify(key, append([]byte(digestContext), p.body...), p.sig)
}

// newer says whether the packet is a later one of its site.
func (p packet) newer(than packet) bool {
	if p.Incarnation != than.Incarnation {
		return p.Incarnation > than.Incarnation
	}
	return p.Digest.Seq > than.Digest.Seq
}

// joinPackets writes several encoded packets into one state.
func joinPackets(packets [][]byte) []byte {
	var b []byte
	for _, p := range packets {
		b = appendText(b, string(p))
	}
	return b
}

// splitPackets is the reverse of joinPackets. After an error it gives what came
// before.
func splitPackets(b []byte) (packets [][]byte, err error) {
	r := reader{rest: b}
	for len(r.rest) > 0 {
		p := r.bytes(r.number())
		if r.err != nil {
			return packets, fmt.Errorf("gossip: state: %w", r.err)
		}
		packets = append(packets, p)
	}
	return packets, nil
}
