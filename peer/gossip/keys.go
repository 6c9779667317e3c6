package gossip

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/memberlist"

	"github.com/switchyard-hpc/switchyard/internal/fileguard"
)

// NewKey makes a random AES-256 key in the form of a line of a keyring file.
func NewKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails, crypto/rand ends the process instead
	return base64.StdEncoding.EncodeToString(key)
}

// maxKeyring is more than any keyring with comments needs, in bytes.
const maxKeyring = 64 << 10

// LoadKeys reads a keyring file: base64 keys of 16, 24 or 32 bytes, one a line;
// the first encrypts, all decrypt. Empty lines and lines that begin with # are
// left out. Other accounts must not be able to read or replace the file. Errors name the
// line and never show the key.
func LoadKeys(path string) ([][]byte, error) {
	if path == "" {
		return nil, errors.New("gossip: no keyring file: set [gossip] keyring to a file that all sites of the grid share")
	}
	text, err := fileguard.Secret(path, maxKeyring)
	if err != nil {
		return nil, fmt.Errorf("gossip: keyring %s is not used: %w", path, err)
	}
	var keys [][]byte
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil {
			return nil, fmt.Errorf("gossip: keyring %s: line %d is not base64", path, n)
		}
		if err := memberlist.ValidateKey(key); err != nil {
			return nil, fmt.Errorf("gossip: keyring %s: line %d has %d bytes; use 16, 24 or 32", path, n, len(key))
		}
		keys = append(keys, key)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("gossip: keyring %s: %w", path, err)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("gossip: keyring %s has no key; make one with `head -c 32 /dev/urandom | base64`"+
			" and give it to all sites of the grid", path)
	}
	return keys, nil
}

// SetKeys replaces the keyring: the first key encrypts from now on, all decrypt.
// To rotate without loss, add the new key last everywhere, then move it to the
// front everywhere, then drop the old one everywhere.
func (g *Gossip) SetKeys(keys [][]byte) error {
	if len(keys) == 0 {
		return errors.New("gossip: the new keyring has no key; the old one stays in use")
	}
	for i, key := range keys {
		if err := memberlist.ValidateKey(key); err != nil {
			return fmt.Errorf("gossip: key %d of the new keyring has %d bytes; use 16, 24 or 32; the old one stays in use",
				i+1, len(key))
		}
	}
	g.keyring.Lock()
	defer g.keyring.Unlock()
	return setKeys(g.keyring.Keyring, keys)
}

// setKeys brings the ring into the order of the keys, and then drops what is
// behind them from the end: memberlist's RemoveKey would otherwise move keys in
// a slice that is being read for decryption.
func setKeys(ring *memberlist.Keyring, keys [][]byte) error {
	for _, key := range slices.Backward(keys) {
		if err := errors.Join(ring.AddKey(bytes.Clone(key)), ring.UseKey(key)); err != nil {
			return fmt.Errorf("gossip: keyring: %w", err)
		}
	}
	for _, key := range slices.Backward(slices.Clone(ring.GetKeys())) {
		wanted := slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, key) })
		if wanted {
			continue
		}
		if err := ring.RemoveKey(key); err != nil {
			return fmt.Errorf("gossip: keyring: %w", err)
		}
	}
	return nil
}
