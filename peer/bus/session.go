package bus

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// session is the keys that two peers share on one link.
type session struct {
	id       sessionID
	card     protocol.Card // the partner's
	sending  direction
	received direction
}

// direction authenticates frames of one direction and numbers them.
type direction struct {
	mu  sync.Mutex
	mac hash.Hash
	seq uint64 // the last one sent or received
}

// newSession derives a session. The opener is the side whose hello was answered.
func newSession(secret, hello, answer []byte, opener bool) (*session, error) {
	const info = "switchyard.v1 session"
	transcript := sha256.New()
	transcript.Write(hello)
	transcript.Write(answer)
	keys, err := hkdf.Key(sha256.New, secret, transcript.Sum(nil), info, 2*sha256.Size+sessionSize)
	if err != nil {
		return nil, err
	}
	ours, theirs := keys[:sha256.Size], keys[sha256.Size:2*sha256.Size]
	if !opener {
		ours, theirs = theirs, ours
	}
	s := &session{id: sessionID(keys[2*sha256.Size:])}
	s.sending.mac = hmac.New(sha256.New, ours)
	s.received.mac = hmac.New(sha256.New, theirs)
	return s, nil
}

// seal makes the next frame.
func (s *session) seal(subject string, body []byte, fragment bool) []byte {
	d := &s.sending
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seq++
	out := appendHeader(make([]byte, 0, headerSize+len(body)), s.id, d.seq, fragment)
	out = append(out, body...)
	d.sum(out[authedSize:authedSize], subject, out[:authedSize], body)
	return out
}

// open checks a frame of this session. The reason is empty when it is good.
func (s *session) open(subject string, f frame) Reason {
	d := &s.received
	d.mu.Lock()
	defer d.mu.Unlock()
	var sum [macSize]byte
	if !hmac.Equal(f.mac, d.sum(sum[:0], subject, f.authed, f.body)) {
		return BadMAC
	}
	if f.sequence <= d.seq {
		return Replay
	}
	d.seq = f.sequence
	return ""
}

// sum appends the MAC to out.
func (d *direction) sum(out []byte, subject string, authed, body []byte) []byte {
	var size [2]byte
	binary.BigEndian.PutUint16(size[:], uint16(len(subject))) //nolint:gosec // subjects are below 200 bytes
	d.mac.Reset()
	d.mac.Write(size[:])
	d.mac.Write([]byte(subject))
	d.mac.Write(authed)
	d.mac.Write(body)
	return d.mac.Sum(out)
}
