package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/gossip"
)

// gossiping are two sites that are partners, of which north has [gossip] and has sealed its keyring for south.
type gossiping struct {
	joined

	keyring string
}

func sealed(t *testing.T) gossiping {
	t.Helper()
	g := gossiping{joined: inviteAndJoin(t), keyring: filepath.Join(t.TempDir(), "keyring")}
	writeText(t, filepath.Join(g.north, "gossip.toml"), "[gossip]\nadvertise = \"192.0.2.7:7601\"\njoin = [\"east.example.org:7601\"]\nkeyring = \"ring\"\n")
	wantWords(t, command(t, "", "", "keygen", "--gossip", filepath.Join(g.north, "ring")), 0)
	wantWords(t, command(t, "", "", "keyring", "seal", "south", "--out", g.keyring, "--config", g.north), 3, "south is no [[partner]] of site north")
	wantWords(t, g.accept(t), 0, "It gets the keyring of the gossip by: switchyard keyring seal south --out FILE")
	wantWords(t, command(t, "", "", "keyring", "seal", "south", "--out", g.keyring, "--config", g.north), 0, "Keyring for site south")
	return g
}

func (g *gossiping) open(t *testing.T, args ...string) result {
	t.Helper()
	return command(t, "", "", append([]string{"keyring", "open", g.keyring, "--config", g.south}, args...)...)
}

// A site gets the keyring of a partner without a secret that travels, and nothing is replaced.
func TestKeyringIsSealedForAPartner(t *testing.T) {
	t.Parallel()
	g := sealed(t)
	want, err := gossip.LoadKeys(filepath.Join(g.north, "ring"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(g.keyring)
	ring, wrong := os.ReadFile(filepath.Join(g.north, "ring"))
	if err != nil || wrong != nil || strings.Contains(string(text), strings.TrimSpace(string(ring))) {
		t.Fatalf("the sealed keyring shows the key: %s, %v, %v", text, err, wrong)
	}
	wantWords(t, g.open(t), 2, "missing --advertise IP:PORT")
	wantWords(t, g.open(t, "--advertise", "south:7601"), 1, "gossip.advertise", "is not an IP address and port")
	unchanged(t, g.south, "partner-north.toml", "site.key", "site.key.pub", "site.toml")
	wantWords(t, g.open(t, "--advertise", "[2001:db8::9]:7603"), 0)
	wantWords(t, command(t, "", "", "config", "show", "--config", g.south), 0, `bind = "[::]:7603"`)
	for _, name := range []string{"gossip.keys", "gossip.toml"} {
		if err = os.Remove(filepath.Join(g.south, name)); err != nil {
			t.Fatal(err)
		}
	}
	wantWords(t, g.open(t, "--advertise", "192.0.2.9:7601"), 0, "gossip.keys. The peer gossips after its next start")
	got, err := gossip.LoadKeys(filepath.Join(g.south, "gossip.keys"))
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("south has other keys, %v", err)
	}
	wantWords(t, command(t, "", "", "config", "show", "--config", g.south), 0, `"192.0.2.9:7601"`, `bind = "0.0.0.0:7601"`, `["192.0.2.7:7601", "east.example.org:7601"]`)
	wantWords(t, g.open(t, "--advertise", "192.0.2.9:7601"), 2, "the configuration has [gossip] already")
	wantWords(t, g.open(t), 1, "gossip.keys: exists already, and is not replaced")
	if err = os.Remove(filepath.Join(g.south, "gossip.keys")); err != nil {
		t.Fatal(err)
	}
	wantWords(t, g.open(t), 0, "wrote "+filepath.Join(g.south, "gossip.keys")+".")
}

func TestKeyringsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*testing.T, *gossiping)
		words  string
	}{
		"changed": {func(t *testing.T, g *gossiping) {
			t.Helper()
			rewrite(t, g.keyring, g.keyring, "192.0.2.7:7601", "192.0.2.66:7601")
		}, "signature: is not by a key of north that this site has"},
		"by another": {func(t *testing.T, g *gossiping) {
			t.Helper()
			rewrite(t, g.keyring, g.keyring, `"north"`, `"east"`)
		}, "by: east is no [[partner]] of this site"},
		"for another": {func(t *testing.T, g *gossiping) {
			t.Helper()
			rewrite(t, filepath.Join(g.south, "site.toml"), filepath.Join(g.south, "site.toml"), `"south"`, `"west"`)
		}, "for: is south, and this is site west"},
		"another key": {func(t *testing.T, g *gossiping) {
			t.Helper()
			path := filepath.Join(g.south, "site.key")
			for _, one := range []string{path, path + ".pub"} {
				if err := os.Remove(one); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := writeKey(path); err != nil {
				t.Fatal(err)
			}
		}, "cannot be opened: it is not sealed for this site's key"},
		"an answer": {func(t *testing.T, g *gossiping) {
			t.Helper()
			g.keyring = g.answer
		}, "is no sealed keyring"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := sealed(t)
			c.change(t, &g)
			wantWords(t, g.open(t, "--advertise", "192.0.2.9:7601"), 1, c.words)
			unchanged(t, g.south, "partner-north.toml", "site.key", "site.key.pub", "site.toml")
		})
	}
	n, _ := north(t)
	wantWords(t, command(t, "", "", "keyring", "seal", "south", "--out", filepath.Join(n, "x"), "--config", n), 1, "site north has no [gossip], so it has no keyring")
}

// The address of a site that is bound to the one at which it is reached goes with its keyring.
func TestMembersOfAKeyring(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   config.Gossip
		want string
	}{
		{config.Gossip{Bind: "127.0.0.1:7601", Advertise: "127.0.0.1:7601", Join: []string{"east:7601"}}, "[127.0.0.1:7601 east:7601]"},
		{config.Gossip{Bind: "192.0.2.7:7601", Advertise: "192.0.2.8:7601"}, "[192.0.2.8:7601]"},
		{config.Gossip{Bind: "192.0.2.7:7601", Join: []string{"192.0.2.7:7601"}}, "[192.0.2.7:7601]"},
		{config.Gossip{Bind: "0.0.0.0:7601"}, "[]"},
	} {
		if got := fmt.Sprint(members(&c.of)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.of, got, c.want)
		}
	}
}
