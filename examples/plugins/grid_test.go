package plugins_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// grid is a grid of two real peers: costly, where jobs are submitted, and cheap, which
// connects to it.
type grid struct {
	dir  string
	work string // where jobs work and leave their output
}

// startGrid starts the peers with plugins: a policy, and perhaps a batch system.
func startGrid(t *testing.T, plugins []example) *grid {
	t.Helper()
	dir := publicDir(t)
	g := &grid{dir: dir, work: jobDir(t, dir)}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once: its port is free
	if err != nil {
		t.Fatal(err)
	}
	listen := listener.Addr().String()
	if err = listener.Close(); err != nil {
		t.Fatal(err)
	}
	for _, site := range []string{"costly", "cheap"} {
		g.must(t, "", "keygen", "--out", filepath.Join(dir, site+".key"))
	}
	g.start(t, "costly", settings{number: 1, listen: listen, price: "0.5", partner: "cheap", plugins: plugins})
	g.start(t, "cheap", settings{number: 2, url: "nats://" + listen, price: "0.04", partner: "costly", plugins: plugins})
	await(t, "the link of the peers", func() error { return g.linked(t) })
	return g
}

// settings are what distinguishes the sites' configurations.
type settings struct {
	number      int
	listen, url string // of the NATS server: the own one, the partner's
	price       string // of a CPU for an hour
	partner     string
	plugins     []example
}

// start starts a site's peer, which is stopped at the end of the test.
func (g *grid) start(t *testing.T, site string, s settings) {
	t.Helper()
	file := filepath.Join(g.dir, site+".toml")
	writeFile(t, file, g.configuration(t, site, s))
	log, err := os.Create(filepath.Join(g.dir, site+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(switchyard(), "peer", "--config", file) //nolint:noctx // it is asked to stop
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err = cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the peer of %s: %v", site, err)
		}
		if said, err := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("%s (%v):\n%s", log.Name(), err, said)
		}
	})
}

// configuration is that of a site, in TOML.
func (g *grid) configuration(t *testing.T, site string, s settings) string {
	t.Helper()
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	line("[site]\nname = %q\nnumber = %d", site, s.number)
	line("state_dir = %q\nkey = %q\nsocket = %q", filepath.Join(g.dir, site), filepath.Join(g.dir, site+".key"), g.socket(site))
	line("\n[nats]\nlisten = %q\n\n[metrics]\nlisten = \"\"", s.listen)
	line("\n[accounts]\nlocal = { root = \"nobody\" }")
	line("\n[tariff]\ncpu_hour = %s\ncurrency = \"EUR\"\n\n[policy]\nname = %q", s.price, s.plugins[0].name())
	machine, config := "cpus = 2\non_stop = \"end\"", "wait_limit = \"1h\"\n"
	for _, e := range s.plugins {
		if e == goScheduler() {
			machine, config = fmt.Sprintf("plugin = %q", e.name()), "cpus = 2\nkill_grace = \"1s\"\n"
		}
		own := filepath.Join(g.dir, site+"-"+e.name()+".toml")
		writeFile(t, own, config)
		line("\n[[plugin]]\nname = %q\nkind = %q\npath = %q", e.name(), e.kind, e.path)
		line("sha256 = %q\nmtls = %t\nconfig = %q", e.sum(t), !e.plain, own)
	}
	line("\n[localsched]\n%s", machine)
	line("\n[[partner]]\nname = %q\npublic_key_file = %q", s.partner, filepath.Join(g.dir, s.partner+".key.pub"))
	line("max_jobs = 100\nusers = { \"*\" = %q }", jobAccount(t).Username)
	if s.url != "" {
		line("url = %q", s.url)
	}
	return out.String()
}

func (g *grid) socket(site string) string { return filepath.Join(g.dir, site+".sock") }

// linked says why the peers do not see each other yet.
func (g *grid) linked(t *testing.T) error {
	t.Helper()
	out, said, err := g.run(t, "", "sites", "--json")
	if err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	var answer struct {
		Sites []struct{ Link string }
	}
	if err = json.Unmarshal([]byte(out), &answer); err != nil {
		return err
	}
	if len(answer.Sites) != 2 || answer.Sites[0].Link != "up" && answer.Sites[1].Link != "up" {
		return fmt.Errorf("the sites are %+v", answer.Sites)
	}
	return nil
}

// run runs a command at costly.
func (g *grid) run(t *testing.T, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, switchyard(), args...)
	cmd.Dir, cmd.Env = g.work, append(os.Environ(), "SWITCHYARD_SOCKET="+g.socket("costly"))
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &said
	err = cmd.Run()
	return out.String(), said.String(), err
}

// must runs a command at costly that must succeed, and returns what it printed.
func (g *grid) must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	stdout, stderr, err := g.run(t, stdin, args...)
	if err != nil {
		t.Fatalf("switchyard %q: %v\n%s%s", args, err, stdout, stderr)
	}
	return stdout
}

func switchyard() string { return filepath.Join(bin, "switchyard") }

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() error) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited for %s: %v", what, err)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// publicDir is a new folder that every account can pass through, with a path short
// enough for sockets: that of the test is neither.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sy") //nolint:usetesting // see above
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// jobDir makes a folder of the account that runs the jobs.
func jobDir(t *testing.T, dir string) string {
	t.Helper()
	path, account := filepath.Join(dir, "jobs"), jobAccount(t)
	uid, uidErr := strconv.Atoi(account.Uid)
	gid, gidErr := strconv.Atoi(account.Gid)
	if uidErr != nil || gidErr != nil {
		t.Fatal(uidErr, gidErr)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
	return path
}

// jobAccount is nobody for root, as no job runs as root, and else the account that runs
// the tests.
func jobAccount(t *testing.T) *user.User {
	t.Helper()
	account, err := user.Current()
	if err == nil && account.Uid == "0" {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	return account
}
