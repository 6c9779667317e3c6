package bus_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// startNATS runs a NATS server as a process of its own and returns its URL.
func startNATS(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), serverEnv+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "nats://") {
		t.Fatalf("the NATS server says %q, %v", line, err)
	}
	return strings.TrimSpace(line)
}

func external(url string) func(*bus.Config) {
	return func(c *bus.Config) { c.External = &bus.External{URL: url} }
}

func TestExternalNATS(t *testing.T) {
	t.Parallel()
	url := startNATS(t)
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, "", external(url), b.partner())
	b.start(t, "", external(url), a.partner())
	a.connected(t, b, 1)
	b.connected(t, a, 1)
	a.sends(t, b, protocol.Grant{Tag: tag})
	b.receives(t, a, protocol.Grant{Tag: tag})
	b.sends(t, a, protocol.Accept{Tag: tag})
	a.receives(t, b, protocol.Accept{Tag: tag})

	// Neither end of the external system may restart unnoticed, whoever opens.
	a.bus.Close()
	a.start(t, "", external(url), b.partner())
	b.connected(t, a, 2)
	b.bus.Close()
	b.start(t, "", external(url), a.partner())
	a.connected(t, b, 2)
	b.connected(t, a, 3)
	a.sends(t, b, protocol.PrepareExpired{Tag: tag})
	b.receives(t, a, protocol.PrepareExpired{Tag: tag})
}

// Whoever can use the external system can record, change, repeat and invent.
func TestExternalNATSIsNotTrusted(t *testing.T) {
	t.Parallel()
	url := startNATS(t)
	spy, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer spy.Close()
	seen := make(chan *nats.Msg, 1024)
	if _, err = spy.ChanSubscribe("switchyard.v1.desy.in.cern.>", seen); err != nil {
		t.Fatal(err)
	}
	if err = spy.Flush(); err != nil {
		t.Fatal(err)
	}
	a, b := newSite(t, "cern"), newSite(t, "desy")
	a.start(t, "", external(url), b.partner())
	b.start(t, "", external(url), a.partner())
	a.connected(t, b, 1)
	b.connected(t, a, 1)
	a.sends(t, b, protocol.Grant{Tag: tag})
	b.receives(t, a, protocol.Grant{Tag: tag})
	var hello, grant *nats.Msg
	for hello == nil || grant == nil {
		m := <-seen
		switch {
		case strings.HasSuffix(m.Subject, ".hello"):
			hello = m
		case strings.HasSuffix(m.Subject, ".frame") && len(m.Data) > 100: // pings are shorter
			grant = m
		}
	}
	change := func(m *nats.Msg, at int) []byte {
		data := append([]byte{}, m.Data...)
		data[at] ^= 1
		return data
	}
	last := len(grant.Data) - 1
	invent := func(at *site, subject string, data []byte, want bus.Reason) {
		t.Helper()
		at.mu.Lock()
		clear(at.rejected)
		at.mu.Unlock()
		if err = spy.Publish(subject, data); err != nil {
			t.Fatal(err)
		}
		at.refuses(t, want)
	}
	invent(b, grant.Subject, grant.Data, bus.Replay)
	invent(b, grant.Subject, change(grant, last), bus.BadMAC)
	invent(b, grant.Subject, change(grant, 1), bus.BadMAC)  // the flags
	invent(b, grant.Subject, change(grant, 17), bus.BadMAC) // the sequence
	invent(b, grant.Subject, change(grant, 18), bus.BadMAC) // the first sealed byte
	invent(b, grant.Subject, change(grant, 5), bus.NoSession)
	invent(b, grant.Subject, change(grant, 0), bus.BadVersion)
	invent(b, grant.Subject, grant.Data[:last], bus.BadMAC) // a part of the tag is missing
	invent(b, grant.Subject, grant.Data[:30], bus.Malformed)
	invent(b, strings.Replace(grant.Subject, "frame", "msg.grant", 1), grant.Data, bus.Malformed)
	invent(b, hello.Subject, change(hello, len(hello.Data)-1), bus.BadSignature)
	if err = spy.Publish("switchyard.v1.desy.in.kit.hello", hello.Data); err != nil { // of nobody: not even heard
		t.Fatal(err)
	}
	// What cern said, said to cern.
	invent(a, "switchyard.v1.cern.in.desy.frame", grant.Data, bus.BadMAC)
	invent(a, "switchyard.v1.cern.in.desy.hello", hello.Data, bus.BadSignature)

	// An old hello opens nothing, and the session goes on.
	b.mu.Lock()
	before := b.count("+cern")
	b.mu.Unlock()
	if err = spy.Publish(hello.Subject, hello.Data); err != nil {
		t.Fatal(err)
	}
	a.sends(t, b, protocol.Abort{Tag: tag})
	b.receives(t, a, protocol.Abort{Tag: tag})
	b.mu.Lock()
	defer b.mu.Unlock()
	if got := b.count("+cern"); got != before {
		t.Errorf("a repeated hello made %d sessions", got-before)
	}
	grants := 0
	for _, r := range b.got {
		if r.m.Kind() == "grant" {
			grants++
		}
	}
	if grants != 1 {
		t.Errorf("desy got %d grants", grants)
	}
}

func TestExternalConfigurationFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]bus.External{
		"token": {URL: "nats://127.0.0.1:1", Token: "/nonexistent/token"},
		"nkey":  {URL: "nats://127.0.0.1:1", Nkey: "/nonexistent/seed"},
		"CA":    {URL: "nats://127.0.0.1:1", CA: "/nonexistent/ca.pem"},
	}
	for name, ext := range cases {
		a, b := newSite(t, "cern"), newSite(t, "desy")
		bb, err := bus.New(bus.Config{
			Site: a.name, Key: a.key, External: &ext, Partners: []bus.Partner{b.partner()}, Card: a.card, Handler: a,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err = bb.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "/nonexistent/") {
			t.Errorf("%s: got %v, want an error that names the file", name, err)
			bb.Close()
		}
	}
}
