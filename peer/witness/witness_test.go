package witness_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/witness"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const key = "UAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

func open(t *testing.T, publicKey, dir string, others ...string) (*witness.File, protocol.Life) {
	t.Helper()
	file, life, err := witness.Open([]string{publicKey}, dir, others...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file, life
}

// TestTheLatestIsRemembered: of the file and its copies, for this key only; what a power cut
// has left without sense says nothing.
func TestTheLatestIsRemembered(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	file, life := open(t, key, dir, other, filepath.Join(dir, "none"))
	if life != (protocol.Life{}) {
		t.Errorf("a new one remembers %v", life)
	}
	begun := protocol.Life{Incarnation: 5, Boot: 2, Begun: 7, Generation: 1 << 60}
	if err := file.Write(begun, true); err != nil {
		t.Fatal(err)
	}
	later := protocol.Life{Incarnation: 6, Boot: 2, Begun: 7, Generation: 9}
	if err := file.Write(later, false); err != nil {
		t.Fatal(err)
	}
	if _, life = open(t, key, dir, other); life != later {
		t.Errorf("got %v, want %v", life, later)
	}
	another := strings.Replace(key, "A", "B", 1)
	if _, life = open(t, another, dir, other); life != (protocol.Life{}) {
		t.Errorf("another key has %v", life)
	}
	if _, has, err := witness.Open([]string{another, key}, dir, other); err != nil || has != later {
		t.Errorf("a site that has had both keys has %v, %v", has, err)
	}
	if err := os.WriteFile(filepath.Join(dir, witness.Name), make([]byte, 512), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, life = open(t, key, dir, other); life != begun {
		t.Errorf("the copy has %v, want %v", life, begun)
	}
}

// TestMachine: a copied directory is another machine, a moved name is the same one.
func TestMachine(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	of := func(publicKey, dir, name string) string {
		text, err := witness.Machine(publicKey, dir, name)
		if err != nil {
			t.Error(err)
		}
		return text
	}
	if first, again := of(key, one, ""), of(key, one, ""); first != again || first == of(key, two, "") {
		t.Errorf("%q, %q", of(key, one, ""), of(key, two, ""))
	}
	if of(key, one, "pair") != of("other", two, "pair") {
		t.Errorf("%q, %q", of(key, one, "pair"), of("other", two, "pair"))
	}
	if id, err := os.ReadFile("/etc/machine-id"); err == nil && len(id) > 8 && strings.Contains(of(key, one, ""), strings.TrimSpace(string(id))) {
		t.Error("the machine's identity is shown")
	}
	if _, err := witness.Machine(key, filepath.Join(one, "none"), ""); err == nil {
		t.Error("a directory that is not there")
	}
}

// TestOnePeerOfAKeyOnAMachine: the second one learns who the first is, until that has gone.
func TestOnePeerOfAKeyOnAMachine(t *testing.T) {
	t.Parallel()
	name := key + t.Name()
	first, warning, err := witness.Acquire(t.Context(), name, "/srv/one")
	if err != nil || warning != "" {
		t.Fatal(err, warning)
	}
	_, _, err = witness.Acquire(t.Context(), name, "/srv/two")
	var held *witness.HeldError
	if !errors.As(err, &held) || !strings.Contains(held.Holder, "/srv/one") || !strings.Contains(held.Holder, "pid ") {
		t.Errorf("error %v", err)
	}
	if err = first.Close(); err != nil {
		t.Fatal(err)
	}
	again, _, err := witness.Acquire(t.Context(), name, "/srv/two")
	if err != nil {
		t.Fatal(err)
	}
	if err = again.Close(); err != nil {
		t.Error(err)
	}
}

// TestARecordThatDoesNotFit is refused in words.
func TestARecordThatDoesNotFit(t *testing.T) {
	t.Parallel()
	file, _ := open(t, strings.Repeat("U", 600), t.TempDir())
	err := file.Write(protocol.Life{Boot: 1}, false)
	if err == nil || !strings.HasSuffix(err.Error(), "bytes do not fit in 512") {
		t.Errorf("got %v", err)
	}
}
