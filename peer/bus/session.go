package bus

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	keySize   = 32 // AES-256
	nonceSize = 12
	tagSize   = 16
)

// The use of one direction's key. AES-GCM stays safe far beyond (TLS 1.3 stops at
// 2^38 bytes), and what a thief of one session's keys can read stays small.
const (
	renewFrames, renewBytes = 1 << 30, 1 << 36
	maxFrames, maxBytes     = 1 << 32, 1 << 38
)

// errWorn says that a session may seal no more. The link ends by silence then,
// which opens a new session; it gets there only if renewals have failed for long.
var errWorn = errors.New("the session's key is used up and the partner answers no renewal")

// session is the keys that two peers share on one link.
type session struct {
	id       sessionID
	since    time.Time
	card     protocol.Card // the partner's
	sending  direction
	received direction
}

// direction encrypts or decrypts the frames of one direction and numbers them.
type direction struct {
	mu    sync.Mutex
	aead  cipher.AEAD
	seq   uint64 // the last one sent or received
	bytes uint64 // sealed or opened
}

// newSession derives a session. The opener is the side whose hello was answered.
func newSession(secret, hello, answer []byte, opener bool) (*session, error) {
	const info = "switchyard.v2 session"
	transcript := sha256.New()
	transcript.Write(hello)
	transcript.Write(answer)
	keys, err := hkdf.Key(sha256.New, secret, transcript.Sum(nil), info, 2*keySize+sessionSize)
	if err != nil {
		return nil, err
	}
	ours, theirs := keys[:keySize], keys[keySize:2*keySize]
	if !opener {
		ours, theirs = theirs, ours
	}
	s := &session{id: sessionID(keys[2*keySize:]), since: time.Now()}
	if s.sending.aead, err = newAEAD(ours); err != nil {
		return nil, err
	}
	if s.received.aead, err = newAEAD(theirs); err != nil {
		return nil, err
	}
	return s, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// next counts a frame of the given size and numbers it.
func (d *direction) next(size int) (sequence uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seq+1 >= maxFrames || d.bytes > maxBytes {
		return 0, errWorn
	}
	d.seq++
	d.bytes += uint64(size) //nolint:gosec // a length
	return d.seq, nil
}

// arrived counts an authentic frame, unless one at least as late was there.
func (d *direction) arrived(sequence uint64, size int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if sequence <= d.seq {
		return false
	}
	d.seq = sequence
	d.bytes += uint64(size) //nolint:gosec // a length
	return true
}

// worn says whether the direction's key has been used enough.
func (d *direction) worn() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seq >= renewFrames || d.bytes >= renewBytes
}

// stale says whether the session is due for renewal.
func (s *session) stale(now time.Time, life time.Duration) bool {
	return now.Sub(s.since) >= life || s.sending.worn() || s.received.worn()
}

// seal makes the next frame.
func (s *session) seal(subject, op string, body []byte, fragment bool) ([]byte, error) {
	sequence, err := s.sending.next(len(body))
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, overhead(op)+len(body))
	out = appendHeader(out, s.id, sequence, fragment)
	out = append(append(out, byte(len(op))), op...) //nolint:gosec // ops are below 40 bytes
	out = append(out, body...)
	nonce, extra := nonceOf(sequence), extraOf(subject, out[:headerSize])
	return s.sending.aead.Seal(out[:headerSize], nonce[:], out[headerSize:], extra), nil
}

// open decrypts a frame of this session in place, and returns what it is for and
// its body. Errors carry their reason.
func (s *session) open(subject string, f frame) (op string, body []byte, err error) {
	nonce := nonceOf(f.sequence)
	plain, err := s.received.aead.Open(f.sealed[:0], nonce[:], f.sealed, extraOf(subject, f.header))
	if err != nil {
		return "", nil, reject(BadMAC, "%s: %w", subject, err)
	}
	if !s.received.arrived(f.sequence, len(plain)) {
		return "", nil, reject(Replay, "%s: frame %d", subject, f.sequence)
	}
	return splitPlain(plain)
}

// splitPlain splits what a frame seals: the op's length (1), the op, the body.
func splitPlain(plain []byte) (op string, body []byte, err error) {
	if len(plain) == 0 || len(plain)-1 < int(plain[0]) {
		return "", nil, reject(Malformed, "a frame without its op")
	}
	end := 1 + int(plain[0])
	return string(plain[1:end]), plain[end:], nil
}

// nonceOf is never the same twice with one key, because sequences rise and each
// direction of each session has its own key.
func nonceOf(sequence uint64) (nonce [nonceSize]byte) {
	binary.BigEndian.PutUint64(nonce[nonceSize-8:], sequence)
	return nonce
}

// extraOf is what is authenticated beside the sealed bytes.
func extraOf(subject string, header []byte) []byte {
	extra := make([]byte, 0, 2+len(subject)+len(header))
	extra = binary.BigEndian.AppendUint16(extra, uint16(len(subject))) //nolint:gosec // subjects are below 200 bytes
	return append(append(extra, subject...), header...)
}
