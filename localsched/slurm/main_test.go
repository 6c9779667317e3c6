package slurm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The clusters of the tests, each brought up by the first test that needs it. Each run of the
// tests has a slot of its own, with a directory and ports.
const (
	tools    = "../../../shared/tools"
	nodes    = 2
	nodeCPUs = 8
	allCPUs  = nodes * nodeCPUs
)

// ample bounds what the tests wait for, of which nothing takes nearly as long: also on a
// busy machine.
const ample = 3 * time.Minute

// cluster is one of the real Slurms: siteA for most tests, siteB to be killed,
// siteC, which forgets quickly, to be stopped, siteD for the suite that needs a
// machine for itself, siteE, which has a small queue, to be filled, siteF for reservations,
// siteG, with partitions that share nodes, for quotes, siteH with a database, and siteI with one in
// which jobs must have an association.
type cluster string

// ports is how many a cluster may take, and clusters how many there are.
const (
	ports    = 100
	clusters = 9
)

// slot is what this run of the tests has taken.
var slot struct {
	lock *os.File // nil: none yet
	base string
	port int
}

// takeSlot takes a slot that no other run has, and stops what an earlier run that
// was killed has left in it.
var takeSlot = sync.OnceValue(func() error {
	const first, slots = 17000, 6
	for i := range slots {
		base := fmt.Sprintf("/tmp/slurm-adapter-test.%d", i)
		lock, err := os.OpenFile(base+".lock", os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			lock.Close()
			continue
		}
		port := first + i*clusters*ports
		if err = bringDown(base); err != nil {
			return err
		}
		if taken := firstTaken(port); taken != 0 {
			lock.Close() // by something that is no cluster
			continue
		}
		slot.lock, slot.base, slot.port = lock, base, port
		return os.MkdirAll(base, 0o755)
	}
	return errors.New("too many runs of these tests at once")
})

// firstTaken is the first port of a slot's clusters at which something else listens; 0: none.
func firstTaken(port int) int {
	const each = 1 + nodes + 2 // the controller, the nodes, and a database
	for i := range clusters {
		for at := port + ports*i; at < port+ports*i+each; at++ {
			here, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(at)) //nolint:noctx // it does not wait
			if err != nil {
				return at
			}
			here.Close()
		}
	}
	return 0
}

func tool(name string, args ...string) error {
	if out, err := exec.CommandContext(context.Background(), tools+"/"+name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// bringUp starts a cluster with slurm-up.sh, of which some daemon may not answer in the time that it
// allows when the machine is busy. Then they are started anew, up to three times.
func bringUp(base string, args ...string) error {
	for try := 1; ; try++ {
		err := tool("slurm-up.sh", append(args, "-d", base)...)
		if err == nil || try == 3 {
			return err
		}
		fmt.Fprintln(os.Stderr, "started anew:", err)
		if err := tool("slurm-down.sh", "-d", base); err != nil {
			return err
		}
	}
}

// bringDown stops the clusters of a slot and removes its directory.
func bringDown(base string) error {
	bases, err := filepath.Glob(base + "/*")
	if err != nil {
		return err
	}
	failed := make([]error, len(bases))
	var downs sync.WaitGroup
	for i, one := range bases {
		downs.Go(func() { failed[i] = tool("slurm-down.sh", "-d", one) })
	}
	downs.Wait()
	return errors.Join(errors.Join(failed...), os.RemoveAll(base))
}

// started has a function for each cluster that was asked for, which brings it up once.
var started sync.Map

// up brings the cluster up, unless it is.
func (c cluster) up(t testing.TB) {
	t.Helper()
	needs(t)
	start, _ := started.LoadOrStore(c, sync.OnceValue(c.bringUp))
	if err := start.(func() error)(); err != nil {
		t.Fatal(err)
	}
}

// bringUp brings the cluster up with what it alone has.
func (c cluster) bringUp() error {
	if err := takeSlot(); err != nil {
		return err
	}
	port := slot.port + ports*int(c[len(c)-1]-'A')
	args := []string{"-n", "1", "-N", strconv.Itoa(nodes), "-c", strconv.Itoa(nodeCPUs)}
	if c == "siteH" || c == "siteI" {
		args, port = append(args, "-f", "-a", "2"), port+2 // the ports before are those of the database
	}
	if err := bringUp(c.base(), append(args, "-p", strconv.Itoa(port))...); err != nil {
		return err
	}
	return c.restart(c.adapt)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if slot.lock != nil {
		if err := bringDown(slot.base); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// needs skips a test without what real clusters need, which on CI is there.
func needs(t testing.TB) {
	t.Helper()
	missing := ""
	for _, name := range []string{"slurmctld", "slurmd", "munged", "sbatch", tools + "/slurm-up.sh"} {
		if _, err := exec.LookPath(name); err != nil {
			missing = err.Error()
		}
	}
	if os.Geteuid() != 0 {
		missing = "only root can start slurmd"
	}
	switch {
	case missing != "" && os.Getenv("CI") == "true":
		t.Fatal("no real Slurm:", missing)
	case missing != "":
		t.Skip("no real Slurm:", missing)
	}
}

func (c cluster) base() string { return filepath.Join(slot.base, string(c)) }

// path is where the cluster has a file; to slurm-up.sh it is the only one, siteA.
func (c cluster) path(name string) string { return filepath.Join(c.base(), "siteA", name) }

func (c cluster) conf() string { return c.path("etc/slurm.conf") }

// adapt gives the cluster partitions with limits, beside the one without, and what
// it alone has.
func (c cluster) adapt(conf string) string {
	conf = strings.ReplaceAll(conf, "KillWait=2\n", "KillWait=30\n") // Slurm's own: on a busy machine two seconds are short
	conf += "PartitionName=small Nodes=ALL MaxTime=30 MaxNodes=1 State=UP\nPartitionName=closed Nodes=ALL State=DOWN\n"
	switch c {
	case "siteC":
		conf = strings.ReplaceAll(conf, "MinJobAge=300", "MinJobAge=2") +
			"PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\nPartitionName=urgent Nodes=ALL PriorityTier=10 State=UP\n"
	case "siteE":
		conf = strings.ReplaceAll(conf, "MaxJobCount=50000", "MaxJobCount=6")
	case "siteD":
		conf += "DisableRootJobs=YES\n"
	case "siteH":
		conf = strings.ReplaceAll(conf, "JobCompType=jobcomp/filetxt", "JobCompType=jobcomp/none")
	case "siteI":
		conf += "AccountingStorageEnforce=associations,qos\n"
	case "siteG":
		conf = strings.ReplaceAll(conf, "NodeName=a[1-2] ", "GresTypes=gpu,nic\nLicenses=fluent:3\nNodeName=a[1-2] Gres=gpu:a100:2,nic:1 Feature=fast,big ")
		conf += "PartitionName=other Nodes=ALL State=UP\nPartitionName=left Nodes=a1 State=UP\nPartitionName=right Nodes=a2 State=UP\n"
	}
	return conf
}

// run runs one of Slurm's commands.
func (c cluster) run(name string, args ...string) (string, error) {
	return c.runIn(context.Background(), name, args...)
}

func (c cluster) runIn(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf(), "TZ=UTC")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c cluster) must(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := c.run(name, args...)
	if err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
	return strings.TrimSpace(out)
}

// controller is the process id of slurmctld.
func (c cluster) controller() (int, error) {
	data, err := os.ReadFile(c.path("run/slurmctld.pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(data)))
}

// signal signals the controller.
func (c cluster) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	pid, err := c.controller()
	if err == nil {
		err = syscall.Kill(pid, sig)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// kill kills the controller as a crash would, and waits until it is gone.
func (c cluster) kill() error {
	pid, err := c.controller()
	if err != nil {
		return err
	}
	if err = syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	for deadline := time.Now().Add(ample); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if len(status) == 0 || bytes.Contains(status, []byte("State:\tZ")) {
			return nil
		}
	}
	return fmt.Errorf("slurmctld %d does not die", pid)
}

// start starts the controller, with what it had saved.
func (c cluster) start() error { return c.startIn("UTC") }

// startIn starts the controller in a time zone.
func (c cluster) startIn(zone string) error {
	cmd := exec.CommandContext(context.Background(), "slurmctld")
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf(), "TZ="+zone)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("slurmctld: %w: %s", err, out)
	}
	for deadline := time.Now().Add(ample); ; time.Sleep(20 * time.Millisecond) {
		out, err := c.run("scontrol", "ping")
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("slurmctld does not answer: %s", out)
		}
	}
}

// tend does what an operator would, until ctx ends: a controller that has forgotten
// jobs drains nodes that still run them ("Duplicate jobid"), and does not undo it.
func (c cluster) tend(ctx context.Context) {
	for ctx.Err() == nil {
		drained, _ := c.runIn(ctx, "sinfo", "-h", "-N", "-t", "drain", "-o", "%N")
		for node := range strings.FieldsSeq(drained) {
			_, _ = c.runIn(ctx, "scontrol", "update", "NodeName="+node, "State=RESUME")
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// giveDevices has the nodes of the cluster have two device files, before the controller asks for them.
func (c cluster) giveDevices() error {
	const text = "NodeName=a[1-2] Name=gpu Type=a100 File=/dev/null\nNodeName=a[1-2] Name=gpu Type=a100 File=/dev/zero\nNodeName=a[1-2] Name=nic Count=1\n"
	err := os.WriteFile(c.path("etc/gres.conf"), []byte(text), 0o644)
	for i := 1; i <= nodes && err == nil; i++ {
		name := fmt.Sprintf("a%d", i)
		pid, failed := os.ReadFile(c.path("run/slurmd-" + name + ".pid"))
		if failed != nil {
			return failed
		}
		number, failed := strconv.Atoi(strings.TrimSpace(string(pid)))
		if failed != nil {
			return failed
		}
		if err = syscall.Kill(number, syscall.SIGKILL); err == nil {
			_, err = c.run("slurmd", "-N", name)
		}
	}
	return err
}

// restart starts the controller anew with another configuration.
func (c cluster) restart(change func(conf string) string) error {
	conf, err := os.ReadFile(c.conf())
	if err == nil {
		err = os.WriteFile(c.conf(), []byte(change(string(conf))), 0o644)
	}
	if err == nil && c == "siteG" {
		err = c.giveDevices()
	}
	if err == nil {
		err = c.kill()
	}
	if err == nil {
		err = c.start()
	}
	for deadline := time.Now().Add(ample); err == nil; time.Sleep(50 * time.Millisecond) {
		out, _ := c.run("sinfo", "-h", "-p", "batch", "-N", "-o", "%T")
		if strings.Count(out, "idle") == nodes {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the nodes of %s do not come up: %s", c, out)
		}
	}
	return err
}

// publicDir is a new directory that every account can pass through, which the directories
// of testing.T are not.
func publicDir() (string, error) {
	dir, err := os.MkdirTemp("", "slurm-test-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// newDir is a directory that every account can pass through.
func newDir(t testing.TB) string {
	t.Helper()
	dir, err := publicDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// jobAccount runs the tests' jobs.
const jobAccount = "nobody"

// homeDir is a directory of the account.
func homeDir(t testing.TB) string {
	t.Helper()
	dir := newDir(t)
	u, err := user.Lookup(jobAccount)
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err = os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return dir
}

// logTo prints the log of a test.
type logTo struct{ t testing.TB }

func (l logTo) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// site is a scheduler under test and what it was opened with.
type site struct {
	*slurm.Scheduler
	cluster cluster
	config  slurm.Config
	cursor  localsched.Cursor
	seen    []localsched.Change
}

var lastSite atomic.Int64

func openSite(t testing.TB, c cluster, change func(*slurm.Config)) *site {
	t.Helper()
	c.up(t)
	config := slurm.Config{
		Dir:  filepath.Join(newDir(t), "spool"),
		Site: protocol.SiteName(fmt.Sprintf("north%d", lastSite.Add(1))),
		Conf: c.conf(),
		Poll: 200 * time.Millisecond,
		Log:  slog.New(slog.NewTextHandler(logTo{t}, nil)),
	}
	slurm.SetKilledPatience(&config, -1) // the clusters have just been started
	if change != nil {
		change(&config)
	}
	s := &site{config: config, cluster: c}
	s.open(t)
	t.Cleanup(func() {
		s.Close()
		queue, _ := c.run("squeue", "-h", "-o", "%A %j")
		for line := range strings.Lines(queue) {
			id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			if strings.Contains(name, ".sy."+string(config.Site)+".") {
				c.run("scancel", id)
			}
		}
	})
	return s
}

func (s *site) open(t testing.TB) {
	t.Helper()
	opened, err := slurm.Open(t.Context(), s.config)
	if err != nil {
		t.Fatal(err)
	}
	s.Scheduler = opened
}

// reopen closes the scheduler, leaving the jobs alone, and opens it again.
func (s *site) reopen(t testing.TB) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.open(t)
}

var lastSeq atomic.Uint64

// guest is a job from another site that runs a shell script.
func guest(script string) localsched.Submission {
	tag := protocol.Tag{Job: protocol.NewJobID(7, lastSeq.Add(1)), Epoch: 3}
	return localsched.Submission{
		Tag: tag,
		Spec: protocol.Spec{
			Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: protocol.Minute},
			Name:    "test", User: "alice",
		},
		Payload: &protocol.Payload{
			Script: []byte("#!/bin/sh\n" + script + "\n"),
			Stdout: "/home/alice/out", Stderr: "/home/alice/err", WorkDir: "/home/alice",
		},
		Origin: "south", Account: jobAccount, Guest: true,
	}
}

// home is a job of this site that runs a shell script in dir.
func home(dir, script string) localsched.Submission {
	job := guest(script)
	job.Guest, job.Origin = false, "north"
	job.Payload.WorkDir = dir
	job.Payload.Stdout, job.Payload.Stderr = filepath.Join(dir, "stdout"), filepath.Join(dir, "stderr")
	return job
}

func (s *site) submit(t testing.TB, job localsched.Submission) protocol.Tag {
	t.Helper()
	if _, err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	return job.Tag
}

// await watches until the job is in a state.
func (s *site) await(t testing.TB, tag protocol.Tag, is func(localsched.Change) bool) localsched.Change {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*ample)
	defer cancel()
	for {
		for _, c := range s.seen {
			if c.Tag == tag && is(c) {
				return c
			}
		}
		watched, err := s.Watch(ctx, s.cursor)
		if err != nil {
			t.Fatalf("job %v: %v; seen: %+v", tag, err, s.seen)
		}
		s.cursor = watched.Cursor
		s.seen = append(s.seen, watched.Changes...)
	}
}

func (s *site) awaitRunning(t testing.TB, tag protocol.Tag) localsched.Change {
	t.Helper()
	return s.await(t, tag, func(c localsched.Change) bool { return c.State == protocol.Running })
}

func (s *site) awaitEnd(t testing.TB, tag protocol.Tag) protocol.Outcome {
	t.Helper()
	c := s.await(t, tag, func(c localsched.Change) bool { return c.State.Terminal() })
	if c.State != c.Outcome.State {
		t.Errorf("job %v is reported as %v with the outcome %v", tag, c.State, c.Outcome.State)
	}
	return c.Outcome
}

func (s *site) read(t testing.TB, tag protocol.Tag, stream protocol.Stream) string {
	t.Helper()
	data, err := s.Fetch(t.Context(), tag, stream, 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// eventually waits for something that real processes do.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(ample); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

func (s *site) dir(tag protocol.Tag, name string) string {
	return filepath.Join(s.config.Dir, "jobs", fmt.Sprintf("%d.%d", tag.Job, tag.Epoch), name)
}

func (s *site) name(tag protocol.Tag) string {
	return fmt.Sprintf("sy.%s.%d.%d", s.config.Site, tag.Job, tag.Epoch)
}

// jobName is the name in Slurm of a job that its user calls test.
func (s *site) jobName(tag protocol.Tag) string { return "test." + s.name(tag) }
