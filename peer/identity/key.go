package identity

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/nats-io/nkeys"

	"github.com/switchyard-hpc/switchyard/internal/fileguard"
)

// Key is a site's private key. It may be used by several goroutines.
type Key struct {
	public  string
	private ed25519.PrivateKey
}

// maxKeyFile is more than any seed with some white space needs.
const maxKeyFile = 1024

// GenerateKey makes a new key: the seed ("SU…") that [SaveKey] writes, and the
// public key ("U…") that partners configure.
func GenerateKey() (seed []byte, public string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", fmt.Errorf("make a key: %w", err)
	}
	if seed, err = pair.Seed(); err != nil {
		return nil, "", fmt.Errorf("make a key: %w", err)
	}
	if public, err = pair.PublicKey(); err != nil {
		return nil, "", fmt.Errorf("make a key: %w", err)
	}
	return seed, public, nil
}

// SaveKey writes a seed to a new file that only its owner can read. It never
// overwrites a key: losing one means new configuration at every partner.
func SaveKey(path string, seed []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("key file %s exists already; keep it, or move it away first", path)
	}
	if err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err = f.Write(append(bytes.Clone(seed), '\n')); err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	return f.Sync()
}

// LoadKey reads a key file. It refuses one that others can read or replace.
func LoadKey(path string) (*Key, error) {
	seed, err := fileguard.Secret(path, maxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("key file %s does not exist; make one with: switchyard keygen", path)
	}
	if err != nil {
		return nil, fmt.Errorf("key file %s is not used: %w", path, err)
	}
	key, err := ParseKey(seed)
	if err != nil {
		return nil, fmt.Errorf("key file %s: %w", path, err)
	}
	return key, nil
}

// ParseKey reads a seed, with or without white space around it. Its errors do
// not show it.
func ParseKey(seed []byte) (*Key, error) {
	prefix, raw, err := nkeys.DecodeSeed(bytes.TrimSpace(seed))
	if err != nil || len(raw) != ed25519.SeedSize {
		return nil, errors.New("this is not an nkey seed; one begins with SU and has 58 characters")
	}
	if prefix != nkeys.PrefixByteUser {
		return nil, fmt.Errorf("this is the seed of a NATS %s; a site needs one of a user (SU…)", prefix)
	}
	private := ed25519.NewKeyFromSeed(raw)
	public, err := encodePublic(ed25519.PublicKey(private[ed25519.SeedSize:]))
	if err != nil {
		return nil, err
	}
	return &Key{public: public, private: private}, nil
}

func encodePublic(raw ed25519.PublicKey) (string, error) {
	public, err := nkeys.Encode(nkeys.PrefixByteUser, raw)
	if err != nil {
		return "", fmt.Errorf("encode a public key: %w", err)
	}
	return string(public), nil
}

// Public returns the public key as an nkey, "U…".
func (k *Key) Public() string { return k.public }

// ValidatePublic says what is wrong with a public key, if anything.
func ValidatePublic(public string) error {
	_, err := decodePublic(public)
	return err
}

func decodePublic(public string) (ed25519.PublicKey, error) {
	raw, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(public))
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%.60q is not a public key of a site; one begins with U and has 56 characters", public)
	}
	return raw, nil
}
