package bus_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// spy keeps all that passes a NATS system.
type spy struct {
	conn *nats.Conn
	mu   sync.Mutex
	seen bytes.Buffer
}

func newSpy(t *testing.T, url string) *spy {
	t.Helper()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	s := &spy{conn: conn}
	_, err = conn.Subscribe(">", func(m *nats.Msg) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen.WriteString(m.Subject + "\n")
		s.seen.Write(m.Data)
	})
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// finds says whether the secret passed in the clear, in base64 or in hexadecimal.
func (s *spy) finds(secret string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen.Bytes()
	for _, form := range append(base64Forms(secret), secret, hex.EncodeToString([]byte(secret))) {
		if bytes.Contains(seen, []byte(form)) {
			return true
		}
	}
	return false
}

// base64Forms are what the middle of a secret looks like in base64, at each of the
// three places where it may begin.
func base64Forms(secret string) []string {
	var forms []string
	for shift := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("-", shift) + secret))
		forms = append(forms, text[4:len(text)-4])
	}
	return forms
}

// Whoever reads all that passes the user's NATS system sees no byte of a job: not
// its script, arguments, environment, directory, user or output, and not which
// messages pass.
func TestABrokerReadsNothingOfAJob(t *testing.T) {
	t.Parallel()
	url := startNATS(t)
	reader := newSpy(t, url)
	a, b := newSite(t, "cern"), newSite(t, "desy")
	b.file = bytes.Repeat([]byte("secret-output "), 60000)
	a.start(t, "", external(url), b.partner())
	b.start(t, "", external(url), a.partner())
	a.connected(t, b, 1)
	b.connected(t, a, 1)

	offer := protocol.Offer{
		Spec: protocol.Spec{
			Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: protocol.Hour},
			Name:    "secret-jobname", User: "secret-user",
		},
		Epoch: 1,
		Payload: &protocol.Payload{
			Script:  bytes.Repeat([]byte("#!/bin/sh\necho secret-script\n"), 50000), // in fragments
			Args:    []string{"secret-argument"},
			Env:     []string{"TOKEN=secret-environment"},
			WorkDir: "/home/secret-directory",
			Stdout:  "/home/secret-stdout",
		},
	}
	a.sends(t, b, offer)
	a.sends(t, b, protocol.Grant{Tag: tag})
	b.receives(t, a, protocol.Grant{Tag: tag})
	b.sends(t, a, protocol.Accept{Tag: tag})
	a.receives(t, b, protocol.Accept{Tag: tag})
	file := protocol.File{Stream: protocol.Stdout, Size: int64(len(b.file)), SHA256: sha256.Sum256(b.file)}
	var output bytes.Buffer
	if err := a.bus.FetchFile(t.Context(), b.name, tag, file, &output); err != nil || !bytes.Equal(output.Bytes(), b.file) {
		t.Fatalf("fetched %d bytes, %v", output.Len(), err)
	}

	b.eventually(t, "all of it at the spy", func() bool {
		reader.mu.Lock()
		defer reader.mu.Unlock()
		return reader.seen.Len() > len(b.file)+len(offer.Payload.Script)
	})
	for _, secret := range []string{
		"secret-jobname", "secret-user", "secret-script", "secret-argument", "secret-environment",
		"secret-directory", "secret-stdout", "secret-output", "msg.offer", "msg.grant",
	} {
		if reader.finds(secret) {
			t.Errorf("%q passed in the clear", secret)
		}
	}
	if !reader.finds("switchyard.v1.desy.in.cern.frame") || !reader.finds("switchyard.v1.cern.in.desy.hello") {
		t.Error("the spy did not see the frames and hellos")
	}
}
