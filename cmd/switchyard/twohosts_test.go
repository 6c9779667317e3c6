package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// asHost makes the test binary the network of another host, in a network namespace of its own.
// Its value is a unix socket of the test; the arguments are addresses of this host which are to
// be reached there under the same name.
const asHost = "SWITCHYARD_TEST_AS_HOST"

// relayIn passes connections to the addresses on to the test, until the test has ended.
func relayIn(ctx context.Context, socket string, addresses []string) error {
	if out, err := exec.CommandContext(ctx, "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		return fmt.Errorf("ip link set lo up: %w: %s", err, out)
	}
	for _, address := range addresses {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			return err
		}
		go accept(l, func(conn net.Conn) {
			out, err := new(net.Dialer).DialContext(ctx, "unix", socket)
			if err == nil {
				_, err = fmt.Fprintln(out, address)
			}
			if err == nil {
				join(conn, conn, out)
			}
			_ = conn.Close()
		})
	}
	alive, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, alive)
	return err
}

func accept(l net.Listener, serve func(net.Conn)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go serve(conn)
	}
}

// join passes bytes both ways until one side has ended.
func join(read io.Reader, a, b net.Conn) {
	go func() {
		_, _ = io.Copy(b, read)
		_ = b.Close()
	}()
	_, _ = io.Copy(a, b)
	_ = a.Close()
}

// otherHost has the peer of a site run in a network namespace of its own, from which it
// reaches the addresses of this one. Files and processes are those of this host.
func otherHost(t *testing.T, site *testbed.Site, addresses ...string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root makes network namespaces")
	}
	socket := filepath.Join(site.Dir, "relay.sock")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go accept(l, func(conn net.Conn) {
		defer conn.Close()
		said := bufio.NewReader(conn)
		address, failed := said.ReadString('\n')
		if failed != nil {
			return // it only wanted to hear when the test ends
		}
		out, failed := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimSpace(address))
		if failed == nil {
			join(said, conn, out)
		}
	})
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	namespace := exec.CommandContext(t.Context(), "unshare", append([]string{"--net", binary}, addresses...)...)
	namespace.Env = append(os.Environ(), asHost+"="+socket)
	namespace.Stderr = t.Output()
	ready, err := namespace.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = namespace.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = namespace.Wait() })
	if line, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
		t.Fatalf("the other host's network: %q, %v", line, err)
	}
	site.Under = []string{"nsenter", fmt.Sprintf("--net=/proc/%d/ns/net", namespace.Process.Pid)}
}

// TestACopyOnAnotherHost has a site and its copy run at once, each on a host of its own, as
// two machines of a failover pair that both state one name: nothing else than the partner can
// know. Both are named, and what waited in the copied queue starts when an operator says so, once.
func TestACopyOnAnotherHost(t *testing.T) {
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1})
	site, partner := g.Sites[0], g.Sites[1]
	rewrite(t, site.Config, site.Config, "[site]\n", "[site]\nmachine = \"pair\"\n")
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	mark := func(name string) string { return filepath.Join(g.work, name) }
	script := func(name string) string { return "#!/bin/sh\necho run >> " + mark(name) + "\n" }
	blocker := g.submit(t, site, "#!/bin/sh\nsleep 300\n", "--sites=aurora")
	g.until(t, site, blocker, running)
	own := g.submit(t, site, script("own"), "--sites=aurora")
	guest := g.submit(t, partner, script("guest"), "--sites=aurora")
	for _, id := range []protocol.JobID{own, guest} {
		g.until(t, site, id, func(job view.Job) bool { return job.Site == site.Name })
	}

	clone := copyOf(t, site)
	otherHost(t, &clone, partner.Bus)
	start := time.Now()
	if err := clone.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = clone.Stop(stopPatience) })
	for _, one := range []*testbed.Site{site, &clone} {
		g.named(t, one)
		t.Logf("named at %s after %v", one.Dir, time.Since(start))
	}
	if got := g.at(t, partner, "", "sites"); !strings.Contains(got.stdout, "two peers run as aurora") {
		t.Errorf("the partner's sites: %+v", got)
	}
	if got := g.at(t, site, "", "cancel", blocker.String()); got.code != 0 {
		t.Errorf("cancel: %+v", got)
	}
	if err := clone.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	if got := g.at(t, site, "", "recover", "--resume"); got.code != 0 {
		t.Fatalf("recover --resume: %+v", got)
	}
	for origin, id := range map[*testbed.Site]protocol.JobID{site: own, partner: guest} {
		g.until(t, origin, id, func(job view.Job) bool { return strings.Contains(job.Reason, "NeedsOperator") })
	}
	if n := starts(t, mark("own")) + starts(t, mark("guest")); n != 0 {
		t.Errorf("%d starts before an operator has decided", n)
	}
	if got := g.at(t, site, "", "requeue", "--force", own.String()); got.code != 0 {
		t.Fatalf("requeue: %+v", got)
	}
	if job := g.until(t, site, own, ended); job.State != protocol.Completed || starts(t, mark("own")) != 1 {
		t.Errorf("%d starts of %+v", starts(t, mark("own")), job)
	}
	if got := g.at(t, partner, "", "requeue", "--force", guest.String()); got.code != 0 {
		t.Fatalf("requeue: %+v", got)
	}
	if job := g.until(t, partner, guest, ended); job.State != protocol.Completed || starts(t, mark("guest")) != 1 {
		t.Errorf("%d starts of %+v", starts(t, mark("guest")), job)
	}
}

// named waits until a peer says that another one runs as its site.
func (g *grid) named(t *testing.T, site *testbed.Site) {
	t.Helper()
	for ctx := patience(t); ; time.Sleep(20 * time.Millisecond) {
		view := g.recovery(t, site)
		if view.Needed && strings.Contains(strings.Join(view.Reasons, "\n"), "two peers run as aurora") {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s does not hear of the other peer: %+v", site.Dir, view)
		}
	}
}

// rewrite writes a configuration again, with words replaced.
func rewrite(t *testing.T, from, to string, words ...string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, []byte(strings.NewReplacer(words...).Replace(string(text))), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
