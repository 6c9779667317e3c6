package gossip

import (
	"github.com/hashicorp/memberlist"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// The package's inner parts, for its tests.
const (
	DigestContext = digestContext
	SigSize       = sigSize
)

// SetTransport makes the configuration use a network of the test's own.
func (c *Config) SetTransport(t memberlist.Transport) { c.transport = t }

// EncodeDigest signs and encodes a digest of an age.
func EncodeDigest(d protocol.Digest, incarnation uint64, age protocol.Duration, sign func([]byte) []byte) ([]byte, error) {
	p, err := newPacket(d, incarnation, sign)
	return p.encode(age), err
}

// DecodeDigest is the reverse of EncodeDigest.
func DecodeDigest(b []byte, key string, verify verifier) (d protocol.Digest, incarnation uint64, age protocol.Duration, genuine bool, err error) {
	p, err := decode(b)
	if err != nil {
		return protocol.Digest{}, 0, 0, false, err
	}
	return p.Digest, p.Incarnation, p.Age, p.verify(key, verify), nil
}

// EncodeIdentity and DecodeIdentity are the codec of node metadata.
func EncodeIdentity(id Identity, sign func([]byte) []byte) ([]byte, error) {
	return encodeIdentity(id, sign)
}

// DecodeIdentity checks the signature too.
func DecodeIdentity(name string, meta []byte, verify verifier) (Identity, error) {
	return decodeIdentity(name, meta, verify)
}

// JoinPackets and SplitPackets are the codec of states.
func JoinPackets(packets [][]byte) []byte { return joinPackets(packets) }

// SplitPackets is the reverse of JoinPackets.
func SplitPackets(b []byte) ([][]byte, error) { return splitPackets(b) }

// Inject makes the member broadcast any bytes, as an impostor would.
func (g *Gossip) Inject(name string, b []byte) {
	g.queue.QueueBroadcast(digestBroadcast{site: protocol.SiteName(name), message: b})
}

// Receive takes in a broadcast as if it had come from the network.
func (g *Gossip) Receive(b []byte) { g.receive(b) }

// Keys is the keyring of now.
func (g *Gossip) Keys() [][]byte { return g.keyring.GetKeys() }

// MaxMembers is how many members are taken in that are no partners.
const MaxMembers = maxMembers

// Miss has a member declared dead.
func (g *Gossip) Miss(publicKey string) { (*hooks)(g).NotifyLeave(&memberlist.Node{Name: publicKey}) }

// Meet has the member introduced, as memberlist does with one that it hears of.
func (g *Gossip) Meet(id Identity, sign func([]byte) []byte) {
	meta, err := encodeIdentity(id, sign)
	if err != nil {
		panic(err)
	}
	node := &memberlist.Node{Name: id.PublicKey, Meta: meta}
	if h := (*hooks)(g); h.NotifyAlive(node) == nil {
		h.NotifyJoin(node)
	}
}
