package invitation_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/peer/invitation"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// end is that of all invitations here.
const end protocol.Instant = 1_800_000_000_000

// key is a key of a site in these tests: its public key is hexadecimal.
type key struct{ private ed25519.PrivateKey }

func newKey(seed byte) key {
	return key{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))}
}

func (k key) public() string {
	return hex.EncodeToString(k.private[ed25519.SeedSize:])
}

func (k key) sign(message []byte) []byte { return ed25519.Sign(k.private, message) }

func verify(public string, message, signature []byte) bool {
	raw, err := hex.DecodeString(public)
	return err == nil && len(raw) == ed25519.PublicKeySize && ed25519.Verify(raw, message, signature)
}

// draft is an invitation of north for south.
func draft(secret byte) invitation.Invitation {
	v := invitation.New([invitation.IDBytes]byte{1}, [invitation.SecretSize]byte{secret})
	v.By = invitation.Site{Name: "north", Number: 1, PublicKey: newKey(1).public(), URL: "nats://north.example.org:7501"}
	v.For, v.Number, v.End = "south", 2, end
	return v
}

func invite(t testing.TB, secret byte) (v invitation.Invitation, text string) {
	t.Helper()
	v = draft(secret)
	err := v.Sign(newKey(1).sign)
	data, wrong := v.Encode()
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	return v, string(data)
}

// south is what south says of itself.
func south() invitation.Site {
	return invitation.Site{Name: "south", Number: 2, PublicKey: newKey(2).public()}
}

func answer(t testing.TB, v *invitation.Invitation) (a invitation.Answer, text string) {
	t.Helper()
	a, err := v.Answer(south(), newKey(2).sign)
	data, wrong := a.Encode()
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	return a, string(data)
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	v, text := invite(t, 7)
	wrapped := strings.ReplaceAll(text, "\n", "\r\n ")
	for _, one := range []string{text, wrapped} {
		got, err := invitation.Read("inv", []byte(one), verify)
		if err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	a, text := answer(t, &v)
	got, err := v.ReadAnswer("ans", []byte(text), verify)
	if err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("got %+v, %v", got, err)
	}
	secret, err := a.Encode()
	if err != nil || bytes.Contains(secret, v.Secret) || strings.Contains(string(secret), "secret") {
		t.Errorf("the answer shows the secret: %s, %v", secret, err)
	}
	for now, ended := range map[protocol.Instant]bool{end - 1: false, end: true} {
		if err := v.Expired(now); (err != nil) != ended {
			t.Errorf("at %d: %v", now, err)
		}
	}
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

func TestChangedInvitations(t *testing.T) {
	t.Parallel()
	_, text := invite(t, 7)
	other := newKey(3).public()
	for name, c := range map[string]struct {
		from, to, words string
		keys            []string
	}{
		"site":         {`"site": "north"`, `"site": "east"`, "the text was changed", []string{"signature"}},
		"number":       {`"number": 1`, `"number": 3`, "the text was changed", []string{"signature"}},
		"key":          {newKey(1).public(), other, "the text was changed", []string{"signature"}},
		"no key":       {newKey(1).public(), "U", "the text was changed", []string{"signature"}},
		"url":          {"north.example.org", "evil.example.org", "the text was changed", []string{"signature"}},
		"for":          {`"for": "south"`, `"for": "east"`, "the text was changed", []string{"signature"}},
		"proposal":     {`"number": 2`, `"number": 4`, "the text was changed", []string{"signature"}},
		"end":          {"1800000000000", "1900000000000", "the text was changed", []string{"signature"}},
		"id":           {`"id": "01`, `"id": "02`, "the text was changed", []string{"signature"}},
		"secret":       {`"secret": "Bw`, `"secret": "Cw`, "the text was changed", []string{"signature"}},
		"several":      {`"id": "01`, `"id": "xx`, "is not of 32 hexadecimal digits", []string{"id", "signature"}},
		"format":       {`"invitation_format": 1`, `"invitation_format": 2`, "this version reads 1", []string{"invitation_format", "signature"}},
		"itself":       {`"for": "south"`, `"for": "north"`, "name the one that is to join", []string{"for", "signature"}},
		"own number":   {`"number": 2`, `"number": 1`, "each site of a grid has its own", []string{"number", "signature"}},
		"control":      {"nats://north", `nats://\u001bnorth`, "", []string{"by.url", "signature"}},
		"unknown key":  {`"for"`, `"fore"`, "unknown field", []string{""}},
		"other case":   {`"for"`, `"For"`, "is no invitation as switchyard writes it", []string{""}},
		"twice":        {`"for": "south"`, `"for": "east", "for": "south"`, "is no invitation as switchyard writes it", []string{""}},
		"behind it":    {"\n}\n", "\n}\n{}", "is no invitation as switchyard writes it", []string{""}},
		"an answer":    {text, `{"answer_format": 1}`, "is no invitation", []string{""}},
		"empty":        {text, "", "is no invitation", []string{""}},
		"null":         {text, "null", "", []string{""}},
		"too long":     {text, strings.Repeat(" ", invitation.MaxText+1), "more than 4096 bytes", []string{""}},
		"no signature": {`"signature"`, `"Signature"`, "is no invitation as switchyard writes it", []string{""}},
		"short secret": {`"secret": "Bw`, `"secret": "`, "", []string{""}},
		"bad name":     {`"for": "south"`, `"for": "South"`, "must begin with a lower case letter", []string{"for", "signature"}},
		"large number": {`"number": 2`, `"number": 9001`, "outside 1 to 9000", []string{"number", "signature"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := invitation.Read("inv", []byte(changed(t, text, c.from, c.to)), verify)
			wants(t, err, c.words, c.keys...)
		})
	}
}

// changed is a text with a part of it replaced.
func changed(t *testing.T, text, from, to string) string {
	t.Helper()
	if !strings.Contains(text, from) || from == to {
		t.Fatalf("%q is not in %s", from, text)
	}
	return strings.Replace(text, from, to, 1)
}

func TestChangedAnswers(t *testing.T) {
	t.Parallel()
	v, _ := invite(t, 7)
	_, text := answer(t, &v)
	for name, c := range map[string]struct {
		from, to, words string
		keys            []string
	}{
		"site":         {`"site": "south"`, `"site": "east"`, "the invitation is for south", []string{"by.site", "code", "signature"}},
		"number":       {`"number": 2`, `"number": 3`, "the invitation is for number 2", []string{"by.number", "code", "signature"}},
		"its number":   {`"number": 2`, `"number": 1`, "the invitation is for number 2", []string{"by.number", "code", "signature"}},
		"key":          {newKey(2).public(), newKey(3).public(), "was not made with the secret", []string{"code", "signature"}},
		"url":          {newKey(2).public() + `"`, newKey(2).public() + `", "url": "nats://evil:1"`, "was not made with the secret", []string{"code", "signature"}},
		"invitation":   {`"invitation": "01`, `"invitation": "02`, "is another invitation", []string{"invitation", "code", "signature"}},
		"its key":      {newKey(2).public(), newKey(1).public(), "is the key of north", []string{"by.public_key", "code", "signature"}},
		"format":       {`"answer_format": 1`, `"answer_format": 2`, "this version reads 1", []string{"answer_format", "code", "signature"}},
		"an invitaton": {text, `{"invitation_format": 1}`, "is no answer", []string{""}},
		"empty":        {text, "", "is no answer", []string{""}},
		"behind it":    {"\n}\n", "\n}\nx", "is no answer as switchyard writes it", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := v.ReadAnswer("ans", []byte(changed(t, text, c.from, c.to)), verify)
			wants(t, err, c.words, c.keys...)
		})
	}
}

// An answer counts only with the secret of its invitation, and only by the key that is in it.
func TestForgedAnswers(t *testing.T) {
	t.Parallel()
	v, _ := invite(t, 7)
	guessed, _ := invite(t, 8)
	_, text := answer(t, &guessed)
	_, err := v.ReadAnswer("ans", []byte(text), verify)
	wants(t, err, "was not made with the secret of the invitation", "code")

	a, err := v.Answer(south(), newKey(3).sign)
	data, wrong := a.Encode()
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	_, err = v.ReadAnswer("ans", data, verify)
	wants(t, err, "is not by the key that the answer names", "signature")
}

func TestWhatIsNotSigned(t *testing.T) {
	t.Parallel()
	v := draft(7)
	v.For, v.Number, v.End, v.By.URL = "North", 1, 0, "nats://x\n"
	wants(t, v.Sign(newKey(1).sign), "", "by.url", "for", "number", "end_ms")

	v = draft(7)
	v.Number, v.By.URL = 0, ""
	if err := v.Sign(newKey(1).sign); err != nil {
		t.Fatal(err)
	}
	by := south()
	by.Number = 1
	_, err := v.Answer(by, newKey(2).sign)
	wants(t, err, "is the number of north", "by.number", "by.url")
}

func FuzzRead(f *testing.F) {
	_, text := invite(f, 7)
	f.Add([]byte(text))
	f.Add([]byte(`{"invitation_format": 1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := invitation.Read("inv", text, func(string, []byte, []byte) bool { return true })
		if err != nil {
			return
		}
		again, err := v.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if same, err := invitation.Read("inv", again, func(string, []byte, []byte) bool { return true }); err != nil || !reflect.DeepEqual(same, v) {
			t.Fatalf("%+v was written and read as %+v, %v", v, same, err)
		}
	})
}

func FuzzReadAnswer(f *testing.F) {
	v, _ := invite(f, 7)
	_, text := answer(f, &v)
	f.Add([]byte(text))
	f.Add([]byte(`{"answer_format": 1}`))
	f.Fuzz(func(t *testing.T, changed []byte) {
		got, err := v.ReadAnswer("ans", changed, verify)
		if err == nil && (got.By != south() || got.Invitation != v.ID) {
			t.Fatalf("an answer that south has not written counts: %s", changed)
		}
	})
}

// Where sites meet, neither of the two has a URL of its own.
func TestWhereSitesMeet(t *testing.T) {
	t.Parallel()
	v := draft(7)
	v.NATSURL = "tls://nats.example.org:4222"
	wants(t, v.Sign(newKey(1).sign), "excludes nats_url", "by.url")
	v.By.URL = ""
	if err := v.Sign(newKey(1).sign); err != nil {
		t.Fatal(err)
	}
	_, text := answer(t, &v)
	if _, err := v.ReadAnswer("ans", []byte(text), verify); err != nil {
		t.Error(err)
	}
	by := south()
	by.URL = "nats://south.example.org:7501"
	_, err := v.Answer(by, newKey(2).sign)
	wants(t, err, "is not used: the sites of the grid meet at tls://nats.example.org:4222", "by.url")
	v.NATSURL = strings.Repeat("x", 1025)
	wants(t, v.Sign(newKey(1).sign), "at most 1024", "nats_url")
}

func keyring(t testing.TB) (k invitation.Keyring, text string) {
	t.Helper()
	k = invitation.Keyring{By: "north", For: "south", Made: end, Members: []string{"192.0.2.7:7601"}, Sealed: []byte("sealed")}
	err := k.Sign(newKey(1).sign)
	data, wrong := k.Encode()
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	return k, string(data)
}

// partnersOfSouth are the keys of its partners: north has two.
func partnersOfSouth() map[protocol.SiteName][]string {
	return map[protocol.SiteName][]string{"north": {newKey(4).public(), newKey(1).public()}, "east": {newKey(5).public()}}
}

func TestKeyrings(t *testing.T) {
	t.Parallel()
	k, text := keyring(t)
	got, err := invitation.ReadKeyring("ring", []byte(text), "south", partnersOfSouth(), verify)
	if err != nil || !reflect.DeepEqual(got, k) {
		t.Errorf("got %+v, %v", got, err)
	}
	for name, c := range map[string]struct {
		from, to, words string
		keys            []string
	}{
		"member":   {"192.0.2.7", "192.0.2.8", "the text was changed", []string{"signature"}},
		"time":     {"1800000000000", "1800000000001", "the text was changed", []string{"signature"}},
		"no time":  {"1800000000000", "0", "is no time", []string{"made_ms", "signature"}},
		"sealed":   {`"c2`, `"d2`, "the text was changed", []string{"signature"}},
		"none":     {`"sealed": "c2VhbGVk"`, `"sealed": ""`, "has 0 bytes", []string{"sealed", "signature"}},
		"by":       {`"north"`, `"east"`, "is not by a key of east", []string{"signature"}},
		"stranger": {`"north"`, `"west"`, "west is no [[partner]]", []string{"by"}},
		"for":      {`"south"`, `"west"`, "is west, and this is site south", []string{"for", "signature"}},
		"format":   {`_format": 1`, `_format": 2`, "this version reads 1", []string{"keyring_format", "signature"}},
		"answer":   {text, `{"answer_format": 1}`, "is no sealed keyring", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := invitation.ReadKeyring("ring", []byte(changed(t, text, c.from, c.to)), "south", partnersOfSouth(), verify)
			wants(t, err, c.words, c.keys...)
		})
	}
	k.Members, k.Sealed = make([]string, 9), make([]byte, 2049)
	wants(t, k.Sign(newKey(1).sign), "at most 8", "members", "sealed")
}

func FuzzReadKeyring(f *testing.F) {
	k, text := keyring(f)
	f.Add([]byte(text))
	f.Add([]byte(`{"keyring_format": 1}`))
	f.Fuzz(func(t *testing.T, changed []byte) {
		got, err := invitation.ReadKeyring("ring", changed, "south", partnersOfSouth(), verify)
		if err == nil && !reflect.DeepEqual(got, k) {
			t.Fatalf("a keyring that north has not sealed counts: %s", changed)
		}
	})
}
