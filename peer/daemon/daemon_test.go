package daemon_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testlog"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// patience bounds what should take a second.
const patience = 2 * time.Minute

// makeGrid makes a grid of which nothing runs yet.
func makeGrid(t *testing.T, machines ...testbed.Machine) *testbed.Grid {
	t.Helper()
	dir, err := os.MkdirTemp("", "sy") //nolint:usetesting // that of the test is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	grid, err := testbed.New(t.Context(), testbed.Config{Dir: dir, Sites: machines})
	if err != nil {
		t.Fatal(err)
	}
	return grid
}

// running is a daemon that runs, or has ended.
type running struct {
	*daemon.Daemon

	log   *testlog.Buffer
	end   context.CancelFunc
	ended chan error
}

// start runs a site's daemon.
func start(t *testing.T, site *testbed.Site) running {
	t.Helper()
	to := new(testlog.Buffer)
	d, err := site.Daemon(daemon.Build{Version: "test", Commit: "unknown"}, to)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := running{d, to, cancel, make(chan error, 1)}
	go func() { r.ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			t.Logf("the log of %s:\n%s", site.Name, to)
		}
	})
	return r
}

// ready waits until the daemon is.
func (r running) ready(t *testing.T) {
	t.Helper()
	select {
	case <-r.Ready():
	case err := <-r.ended:
		t.Fatalf("it has ended: %v", err)
	case <-time.After(patience):
		t.Fatal("it does not become ready")
	}
}

// stopped waits until the daemon has ended, and returns why.
func (r running) stopped(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(patience):
		t.Fatal("it does not end")
		return nil
	}
}

// Two daemons in one process are a grid: they find each other, serve their sockets, and stop well.
func TestTwoSitesInOneProcess(t *testing.T) {
	t.Parallel()
	grid := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2}, testbed.Machine{Name: "borealis", CPUs: 3})
	aurora, borealis := start(t, grid.Sites[0]), start(t, grid.Sites[1])
	aurora.ready(t)
	borealis.ready(t)
	client := grid.Sites[0].Client()
	defer client.Close()
	up := func() bool {
		sites, err := client.Sites(t.Context())
		return err == nil && slices.ContainsFunc(sites.Sites, func(s view.Site) bool {
			return s.Site == "borealis" && s.Link == "up" && s.CPUs == 3
		})
	}
	for deadline := time.Now().Add(patience); !up(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("aurora never sees borealis")
		}
	}
	if info, err := client.Info(t.Context()); err != nil || info.Version != "test" || info.Rules.Policy != "tc" {
		t.Errorf("%+v, %v", info, err)
	}
	for _, r := range []running{aurora, borealis} {
		r.end()
		if err := r.stopped(t); err != nil {
			t.Error(err)
		}
	}
	if log := aurora.log.String(); !strings.Contains(log, "peer_ready") || !strings.Contains(log, "peer_stops") {
		t.Errorf("the log is\n%s", log)
	}
}

// A reload puts in force what has changed, from the socket and by the method alike, all or nothing;
// before the peer is ready there is none.
func TestReload(t *testing.T) {
	t.Parallel()
	grid := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2})
	site := grid.Sites[0]
	idle, err := site.Daemon(daemon.Build{}, new(testlog.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = idle.Reload(t.Context(), "a test"); err == nil {
		t.Error("a daemon that does not run reads its configuration again")
	}
	d := start(t, site)
	d.ready(t)
	text, err := os.ReadFile(site.Config)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(from, to string) {
		t.Helper()
		next := strings.Replace(string(text), from, to, 1)
		if next == string(text) {
			t.Fatalf("%q is not in the configuration", from)
		}
		if err = os.WriteFile(site.Config, []byte(next), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit("turnaround_tolerance = \"1s\"", "turnaround_tolerance = \"2s\"\nno_such_key = 1")
	if done, failed := d.Reload(t.Context(), "a test"); failed != nil || len(done.Problems) != 1 || len(done.Changed) != 0 {
		t.Errorf("a wrong file: %+v, %v", done, failed)
	}
	edit("turnaround_tolerance = \"1s\"", "turnaround_tolerance = \"2s\"")
	want := api.Change{Key: "policy.tc.turnaround_tolerance", From: "\"1s\"", To: "\"2s\""}
	if done, failed := d.Reload(t.Context(), "a test"); failed != nil || !slices.Equal(done.Changed, []api.Change{want}) {
		t.Errorf("a change: %+v, %v", done, failed)
	}
	client := site.Client()
	defer client.Close()
	if done, failed := client.Reload(t.Context()); failed != nil || len(done.Changed) != 0 {
		t.Errorf("again: %+v, %v", done, failed)
	}
	if log := d.log.String(); !strings.Contains(log, `"by":"a test"`) {
		t.Errorf("the log is\n%s", log)
	}
	d.end()
	if err = d.stopped(t); err != nil {
		t.Error(err)
	}
	recorded, err := os.ReadFile(filepath.Join(site.Dir, "state", "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	actions := regexp.MustCompile(`"action":"([^"]*)","way":"(\w+)"`).FindAllStringSubmatch(string(recorded), -1)
	if len(actions) != 3 || actions[0][1] != "peer-start" || actions[1][1] != "POST /v1/reload" || actions[1][2] != "socket" || actions[2][1] != "peer-stop" {
		t.Errorf("the audit log is\n%s", recorded)
	}
}

// A hangup has the configuration read again, and the audit log says so.
func TestReloadBySignal(t *testing.T) {
	t.Parallel()
	grid := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2})
	site := grid.Sites[0]
	cfg, err := config.Load(site.Config)
	if err != nil {
		t.Fatal(err)
	}
	hangups, to := make(chan os.Signal), new(testlog.Buffer)
	d := daemon.New(daemon.Options{Config: cfg, Paths: []string{site.Config}, Build: daemon.Build{Version: "test", Commit: "unknown"}, Log: to, Reload: hangups})
	ctx, cancel := context.WithCancel(t.Context())
	r := running{d, to, cancel, make(chan error, 1)}
	go func() { r.ended <- d.Run(ctx) }()
	defer cancel()
	r.ready(t)
	text, err := os.ReadFile(site.Config)
	if err != nil {
		t.Fatal(err)
	}
	next := strings.Replace(string(text), "turnaround_tolerance = \"1s\"", "turnaround_tolerance = \"2s\"", 1)
	if err = os.WriteFile(site.Config, []byte(next), 0o600); err != nil {
		t.Fatal(err)
	}
	hangups <- syscall.SIGHUP
	hangups <- syscall.SIGHUP // taken when the first one is done
	r.end()
	if err = r.stopped(t); err != nil {
		t.Error(err)
	}
	recorded, err := os.ReadFile(filepath.Join(site.Dir, "state", "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := `"action":"reload","way":"signal","changed":["policy.tc.turnaround_tolerance: \"1s\" → \"2s\""],"result":"done"}`
	if !strings.Contains(string(recorded), want) {
		t.Errorf("the audit log is\n%s", recorded)
	}
}

// A start that fails says why, closes what was open, and never becomes ready: the same site starts
// once its key is free.
func TestOneDaemonOfASite(t *testing.T) {
	t.Parallel()
	grid := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 2})
	first := start(t, grid.Sites[0])
	first.ready(t)
	second := start(t, grid.Sites[0])
	if err := second.stopped(t); err == nil || !strings.Contains(err.Error(), "[site] key: ") {
		t.Errorf("the second: %v", err)
	}
	select {
	case <-second.Ready():
		t.Error("the second is ready")
	default:
	}
	first.end()
	if err := first.stopped(t); err != nil {
		t.Error(err)
	}
	third := start(t, grid.Sites[0])
	third.ready(t)
	third.end()
	if err := third.stopped(t); err != nil {
		t.Error(err)
	}
}
