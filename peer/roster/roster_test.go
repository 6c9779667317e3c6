package roster_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/peer/roster"
)

// key is a key in these tests: its public key is hexadecimal.
type key struct{ private ed25519.PrivateKey }

func newKey(seed byte) key {
	return key{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))}
}

func (k key) public() string { return hex.EncodeToString(k.private[ed25519.SeedSize:]) }

func (k key) sign(message []byte) []byte { return ed25519.Sign(k.private, message) }

func verify(public string, message, signature []byte) bool {
	raw, err := hex.DecodeString(public)
	return err == nil && len(raw) == ed25519.PublicKeySize && ed25519.Verify(raw, message, signature)
}

func valid(public string) error {
	if raw, err := hex.DecodeString(public); err != nil || len(raw) != ed25519.PublicKeySize {
		return errors.New("is no key")
	}
	return nil
}

func draft() roster.Roster {
	return roster.Roster{Serial: 7, End: 1_800_000_000_000, Sites: []roster.Site{
		{Name: "north", Number: 1, PublicKey: newKey(1).public(), URL: "nats://north.example.org:7501"},
		{Name: "south", Number: 2, PublicKey: newKey(2).public(), NextPublicKey: newKey(3).public()},
	}}
}

func signed(t testing.TB) (r roster.Roster, text string) {
	t.Helper()
	r = draft()
	err := r.Sign("draft", newKey(9).public(), valid, newKey(9).sign)
	data, wrong := r.Encode()
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	return r, string(data)
}

// wants fails unless the problems are those with the keys, in this order; the first has these words.
func wants(t *testing.T, err error, words string, keys ...string) {
	t.Helper()
	list := problems.Of(err)
	var got []string
	for _, one := range list {
		got = append(got, one.Key)
	}
	if !reflect.DeepEqual(got, keys) || !strings.Contains(list.Error(), words) {
		t.Errorf("got %q, want problems of %q with %q", list.Error(), keys, words)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	r, text := signed(t)
	for _, one := range []string{text, strings.ReplaceAll(text, "\n", "\r\n ")} {
		got, err := roster.Read("roster", []byte(one), valid, verify)
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	again := draft()
	if err := again.Sign("draft", newKey(8).public(), valid, newKey(8).sign); err != nil || again.Digest() != r.Digest() {
		t.Errorf("signed by another key it is another roster: %v", err)
	}
	again.Sites[0].URL = ""
	if again.Digest() == r.Digest() {
		t.Error("two rosters have one digest")
	}
	if s := r.Find("south"); s == nil || len(s.PublicKeys()) != 2 || r.Find("east") != nil {
		t.Errorf("found %+v", s)
	}
}

func TestChangedRosters(t *testing.T) {
	t.Parallel()
	_, text := signed(t)
	for name, c := range map[string]struct {
		from, to, words string
		keys            []string
	}{
		"serial":      {`"serial": 7`, `"serial": 8`, "the text was changed", []string{"signature"}},
		"end":         {"1800000000000", "1900000000000", "the text was changed", []string{"signature"}},
		"name":        {`"south"`, `"east"`, "the text was changed", []string{"signature"}},
		"key":         {newKey(2).public(), newKey(4).public(), "the text was changed", []string{"signature"}},
		"next key":    {newKey(3).public(), newKey(4).public(), "the text was changed", []string{"signature"}},
		"url":         {"north.example", "evil.example", "the text was changed", []string{"signature"}},
		"signer":      {newKey(9).public(), newKey(8).public(), "the text was changed", []string{"signature"}},
		"unsigned":    {`"signature": "`, `"signature": "AAAA`, "the text was changed, or never signed", []string{"signature"}},
		"one key":     {newKey(3).public(), newKey(1).public(), "duplicate, first at sites[0].public_key", []string{"sites[1].next_public_key", "signature"}},
		"one number":  {`"number": 2`, `"number": 1`, "duplicate", []string{"sites[1].number", "signature"}},
		"one name":    {`"south"`, `"north"`, "duplicate", []string{"sites[1].name", "signature"}},
		"no key":      {newKey(2).public(), "U", "is no key", []string{"sites[1].public_key", "signature"}},
		"control":     {"nats://north", `nats://\u001bnorth`, "", []string{"sites[0].url", "signature"}},
		"format":      {`_format": 1`, `_format": 2`, "this version reads 1", []string{"roster_format", "signature"}},
		"no serial":   {`"serial": 7`, `"serial": 0`, "begin with 1", []string{"serial", "signature"}},
		"twice":       {`"serial": 7`, `"serial": 6, "serial": 7`, "is no roster as switchyard writes it", []string{""}},
		"unknown key": {`"serial"`, `"serials"`, "unknown field", []string{""}},
		"empty":       {text, "", "is no roster", []string{""}},
		"too long":    {text, strings.Repeat(" ", roster.MaxText+1), "more than", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(text, c.from) {
				t.Fatalf("%q is not in %s", c.from, text)
			}
			_, err := roster.Read("roster", []byte(strings.Replace(text, c.from, c.to, 1)), valid, verify)
			wants(t, err, c.words, c.keys...)
		})
	}
}

func TestWhatIsNotSigned(t *testing.T) {
	t.Parallel()
	r := draft()
	r.Serial, r.End, r.Sites[1].Name = 0, 0, "South"
	wants(t, r.Sign("draft", newKey(9).public(), valid, newKey(9).sign), "begin with 1", "serial", "end_ms", "sites[1].name")
	r.Sites = nil
	wants(t, r.Sign("draft", newKey(9).public(), valid, newKey(9).sign), "begin with 1", "serial", "end_ms", "sites")
}

func FuzzRead(f *testing.F) {
	r, text := signed(f)
	f.Add([]byte(text))
	f.Add([]byte(`{"roster_format": 1}`))
	f.Fuzz(func(t *testing.T, changed []byte) {
		if got, err := roster.Read("roster", changed, valid, verify); err == nil && got.By == newKey(9).public() && !reflect.DeepEqual(got, r) {
			t.Fatalf("a roster that its signer has not signed counts: %s", changed)
		}
		// Without a signature, what is read is what is written.
		got, err := roster.Read("roster", changed, func(string) error { return nil }, func(string, []byte, []byte) bool { return true })
		if err != nil {
			return
		}
		again, err := got.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if same, err := roster.Read("roster", again, func(string) error { return nil }, func(string, []byte, []byte) bool { return true }); err != nil || !reflect.DeepEqual(same, got) {
			t.Fatalf("%+v was written and read as %+v, %v", got, same, err)
		}
	})
}
