package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// slurmTools are the scripts that bring real clusters up.
const slurmTools = "../../../shared/tools/"

// slurms are real clusters of 2 nodes each.
type slurms struct {
	base     string
	port     int // the first of theirs
	clusters int
	cpus     int      // of a node
	nodes    int      // of a cluster; 0: 2
	more     []string // options of slurm-up.sh
	under    []string // a command that runs theirs and their peers; empty: none
}

// slurmsStarted tells the tests' clusters apart.
var slurmsStarted atomic.Int32

// startSlurms starts clusters with 2 CPUs in each node, which end with the test.
func startSlurms(t *testing.T) slurms {
	t.Helper()
	return startSlurmsOf(t, 2)
}

// startSlurmsOf starts two clusters with a number of CPUs in each node.
func startSlurmsOf(t *testing.T, cpus int) slurms {
	t.Helper()
	return slurms{clusters: 2, cpus: cpus}.started(t)
}

// startNewerSlurm starts one cluster of the newer Slurm.
func startNewerSlurm(t *testing.T) slurms {
	t.Helper()
	under, err := testbed.NewerSlurm()
	if errors.Is(err, os.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return slurms{clusters: 1, cpus: 2, under: under}.started(t)
}

// started starts the clusters, which end with the test.
func (c slurms) started(t *testing.T) slurms {
	t.Helper()
	needsSlurm(t)
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o755); err != nil { // munge's and the jobs' accounts pass through
		t.Fatal(err)
	}
	c.base, c.port = filepath.Join(dir, "slurm"), 24000+300*int(slurmsStarted.Add(1))
	c.up(t)
	t.Cleanup(func() {
		if t.Failed() {
			c.show(t)
		}
		c.down(t)
	})
	return c
}

// needsSlurm skips a test without what real clusters need, which on CI is there.
func needsSlurm(t *testing.T) {
	t.Helper()
	missing := ""
	for _, name := range []string{"slurmctld", "slurmd", "munged", "sbatch", slurmTools + "slurm-up.sh"} {
		if _, err := exec.LookPath(name); err != nil {
			missing = err.Error()
		}
	}
	if os.Geteuid() != 0 {
		missing = "only root can start slurmd"
	}
	switch {
	case missing == "":
	case os.Getenv("CI") == "true":
		t.Fatal("no real Slurm: ", missing)
	default:
		t.Skip("no real Slurm: ", missing)
	}
}

// up starts the clusters. Some daemon may not answer in the time that slurm-up.sh allows when the
// machine is busy; then they are started anew, up to three times.
func (c slurms) up(t *testing.T) {
	t.Helper()
	for try := 1; ; try++ {
		args := []string{
			slurmTools + "slurm-up.sh", "-n", strconv.Itoa(c.clusters), "-N", strconv.Itoa(cmp.Or(c.nodes, 2)), "-c", strconv.Itoa(c.cpus),
			"-i", "1", "-d", c.base, "-p", strconv.Itoa(c.port),
		}
		up := c.command(patience(t), append(args, c.more...)...)
		out, err := up.CombinedOutput()
		if err == nil {
			return
		}
		c.down(t)
		if try == 3 {
			t.Fatalf("slurm-up.sh: %v\n%s", err, out)
		}
		t.Logf("started anew: slurm-up.sh: %v\n%s", err, out)
	}
}

// down stops the clusters and removes what they have left.
func (c slurms) down(t *testing.T) {
	t.Helper()
	if out, err := c.command(context.Background(), slurmTools+"slurm-down.sh", "-d", c.base).CombinedOutput(); err != nil {
		t.Errorf("slurm-down.sh: %v\n%s", err, out)
	}
}

// show logs what the clusters have to say.
func (c slurms) show(t *testing.T) {
	t.Helper()
	for _, cluster := range []string{"siteA", "siteB"}[:c.clusters] {
		for _, command := range []string{"squeue -t all -o '%i %j %T %r %S %e %N'", "sinfo -N -l", "tail -n 40 " + filepath.Join(c.base, cluster, "log/slurmctld.log")} {
			out, err := c.run(context.Background(), cluster, "sh", "-c", command)
			t.Logf("%s: %s (%v)\n%s", cluster, command, err, out)
		}
	}
}

func (c slurms) conf(cluster string) string { return filepath.Join(c.base, cluster, "etc/slurm.conf") }

// command is one for these clusters.
func (c slurms) command(ctx context.Context, args ...string) *exec.Cmd {
	args = slices.Concat(c.under, args)
	return exec.CommandContext(ctx, args[0], args[1:]...)
}

// run runs one of Slurm's commands, and not for ever.
func (c slurms) run(ctx context.Context, cluster, name string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	cmd := c.command(ctx, append([]string{name}, args...)...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf(cluster))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// crash kills a cluster's controller and starts it again once it is gone: before that
// its port is taken.
func (c slurms) crash(t *testing.T, cluster string) {
	t.Helper()
	ctx, pid := patience(t), c.signal(t, cluster, syscall.SIGKILL)
	for ; alive(pid); time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("slurmctld, process %d, does not die", pid)
		}
	}
	if out, err := c.run(t.Context(), cluster, "slurmctld"); err != nil {
		t.Fatalf("slurmctld: %v\n%s", err, out)
	}
	for ; ; time.Sleep(50 * time.Millisecond) {
		out, err := c.run(t.Context(), cluster, "scontrol", "ping")
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("slurmctld does not answer: %v\n%s", err, out)
		}
	}
}

// register has a cluster's nodes tell its controller every few seconds, until ctx ends, that they are
// there and what runs on them. A controller that was killed starts no job before it hears of the
// nodes, and takes jobs that have ended meanwhile for running ones; it asks only after a minute.
func (c slurms) register(ctx context.Context, t *testing.T, cluster string) {
	t.Helper()
	for ; ctx.Err() == nil; time.Sleep(3 * time.Second) {
		files, err := filepath.Glob(filepath.Join(c.base, cluster, "run/slurmd-*.pid"))
		for _, file := range files {
			var pid int
			if pid, err = pidIn(file); err == nil {
				err = syscall.Kill(pid, syscall.SIGHUP)
			}
			if err != nil {
				t.Error(err)
			}
		}
		if len(files) == 0 {
			t.Errorf("the nodes of %s are not there: %v", cluster, err)
		}
	}
}

// tend does what an operator would, until ctx ends: a controller that has forgotten
// jobs drains nodes that still run them ("Duplicate jobid"), and does not undo it.
func (c slurms) tend(ctx context.Context) {
	for ctx.Err() == nil {
		for _, cluster := range []string{"siteA", "siteB"}[:c.clusters] {
			drained, _ := c.run(ctx, cluster, "sinfo", "-h", "-N", "-t", "drain", "-o", "%N")
			for node := range strings.FieldsSeq(drained) {
				_, _ = c.run(ctx, cluster, "scontrol", "update", "NodeName="+node, "State=RESUME")
			}
		}
		time.Sleep(300 * time.Millisecond)
	}
}

// signal signals a cluster's controller, and returns its process id.
func (c slurms) signal(t *testing.T, cluster string, signal syscall.Signal) (pid int) {
	t.Helper()
	pid, err := pidIn(filepath.Join(c.base, cluster, "run/slurmctld.pid"))
	if err == nil {
		err = syscall.Kill(pid, signal)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// pidIn reads the process id that a file has.
func pidIn(file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// site is a site whose batch system is a cluster.
func (c slurms) site(name protocol.SiteName, cluster string) testbed.Machine {
	table := fmt.Sprintf("plugin = \"slurm\"\n[localsched.slurm]\nconf = %q\nspool = %q\npoll_interval = \"300ms\"\n",
		c.conf(cluster), filepath.Join(c.base, "spool-"+cluster))
	return testbed.Machine{Name: name, LocalSched: table}
}

// Two real Slurm clusters and a site with the built-in batch system: jobs that are
// submitted at the loaded one run at the others, and their results come back.
func TestSlurmGrid(t *testing.T) {
	t.Parallel()
	c := startSlurms(t)
	g := makeGrid(t, c.site("aurora", "siteA"), c.site("borealis", "siteB"), testbed.Machine{Name: "cygnus", CPUs: 2})
	here := g.Sites[0]
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	for _, site := range g.Sites {
		where := "--sites=" + string(site.Name)
		id := g.submit(t, here, "#!/bin/sh\necho \"$SWITCHYARD_EXEC_SITE $1\"\nexit 3\n", where, "--ntasks=2", "--time=5", "-", "arg")
		job := g.until(t, here, id, ended)
		if job.State != protocol.Failed || job.ExitCode != 3 || job.Site != site.Name {
			t.Errorf("at %s: %s, exit code %d, at %s", site.Name, display.State(job), job.ExitCode, job.Site)
		}
		if site == here && (job.Local == "" || !strings.Contains(g.at(t, here, "", "status", id.String()).stdout, "Local ID   "+string(job.Local)+"\n")) {
			t.Errorf("the local scheduler's number is %q; status: %s", job.Local, g.at(t, here, "", "status", id.String()).stdout)
		}
		if got, want := g.output(t, job), string(site.Name)+" arg\n"; got != want {
			t.Errorf("output of %s: %q, want %q", site.Name, got, want)
		}
	}

	signal := filepath.Join(g.work, "go") // until then the site has no free CPU
	full := g.submit(t, here, fmt.Sprintf("#!/bin/sh\nwhile ! [ -e %s ]; do sleep 0.1; done\n", signal), "--sites=aurora", "--ntasks=4", "--time=10")
	g.until(t, here, full, running)
	var ids []protocol.JobID
	for range 8 {
		ids = append(ids, g.submit(t, here, "#!/bin/sh\nsleep 1\n", "--ntasks=1", "--time=1"))
	}
	ran := map[protocol.SiteName]int{}
	for _, id := range ids {
		job := g.until(t, here, id, ended)
		if job.State != protocol.Completed {
			t.Errorf("job %v: %s", id, display.State(job))
		}
		ran[job.Site]++
	}
	if ran["aurora"] > 0 || ran["borealis"] == 0 {
		t.Errorf("jobs of the loaded site ran at %v", ran)
	}
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if job := g.until(t, here, full, ended); job.State != protocol.Completed || job.Site != "aurora" {
		t.Errorf("the job that loaded the site: %s", display.State(job))
	}

	got := g.at(t, here, "#!/bin/sh\ntrue\n", "submit", "--sites=aurora,borealis", "--ntasks=5")
	if got.code != exitNoSite || !strings.Contains(got.stderr, "needs 5 CPUs, the site has 4") {
		t.Errorf("a job that is too big: %+v", got)
	}
	id := g.submit(t, here, "#!/bin/sh\nsleep 60\n", "--sites=borealis", "--time=5")
	g.until(t, here, id, running)
	if got := g.at(t, here, "", "cancel", id.String()); got.code != 0 {
		t.Errorf("cancel: %+v", got)
	}
	if job := g.until(t, here, id, ended); job.State != protocol.Cancelled {
		t.Errorf("the cancelled job is %s", display.State(job))
	}
}

// Controllers are killed at random instants and started again, while jobs are
// submitted, queued, run and moved. Slurm forgets what it had not saved; nothing is
// lost and nothing runs twice. SWITCHYARD_KILL_SEED repeats a run's choices.
func TestKilledControllersLoseNothing(t *testing.T) {
	t.Parallel()
	seed := killSeed()
	t.Logf("SWITCHYARD_KILL_SEED=%d", seed)
	c := startSlurms(t)
	g := startGrid(t, c.site("aurora", "siteA"), c.site("borealis", "siteB"), testbed.Machine{Name: "cygnus", CPUs: 2})
	jobs, kills := 24, 6
	if testing.Short() {
		jobs, kills = 12, 3
	}
	tasks := testbed.Work(seed, jobs, g.work)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	var operator sync.WaitGroup
	operator.Go(func() { c.tend(ctx) })
	defer operator.Wait()
	defer cancel()
	ids := make([]protocol.JobID, len(tasks))
	var submitting sync.WaitGroup
	submitting.Go(func() { submitThroughKills(ctx, t, g, tasks, ids, 100*time.Millisecond) })
	rng := rand.New(rand.NewPCG(seed, 3))
	for range kills {
		time.Sleep(time.Duration(200+rng.IntN(1800)) * time.Millisecond) // the random instant
		c.crash(t, []string{"siteA", "siteB"}[rng.IntN(2)])
	}
	submitting.Wait()
	lost := 0
	for i, task := range tasks {
		if ids[i] == 0 {
			continue
		}
		job := g.outlasts(ctx, t, g.Sites[0], ids[i])
		runs, err := task.Runs()
		switch {
		case job.State == protocol.NodeFail && err == nil && runs <= 1: // Slurm forgot it after its start, and killed it
			lost++
		case job.State != protocol.Completed:
			t.Errorf("%s: %s, %d runs", task.Name, display.State(job), runs)
		default:
			if err := task.Verify(job.Stdout); err != nil {
				t.Errorf("job %s at %s, epoch %d: %v", ids[i], job.Site, job.Epoch, err)
			}
		}
	}
	t.Logf("%d of %d jobs were lost after their start", lost, len(tasks))
	if lost > len(tasks)/3 {
		t.Error("too many of them")
	}
	noneUnknown(ctx, t, g.Sites[0], ids)
}

// outlasts waits for the end of a job that may take longer than others: for minutes the
// adapter lets Slurm launch what it says is running, before it takes the job back.
func (g *grid) outlasts(ctx context.Context, t *testing.T, site *testbed.Site, id protocol.JobID) view.Job {
	t.Helper()
	client := site.Client()
	defer client.Close()
	for ; ; time.Sleep(10 * time.Millisecond) {
		job, err := client.Job(ctx, protocol.JobName{Job: id})
		if err == nil && ended(job) {
			return job
		}
		if ctx.Err() != nil {
			t.Fatalf("job %s never ended: %+v, %v", id, job, err)
		}
	}
}

// What is wrong with a Slurm is told to who asks.
func TestSlurmSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	c := startSlurms(t)
	nowhere := strings.Replace(c.site("borealis", "siteB").LocalSched, "poll_interval =", "partitions = [\"nowhere\"]\npoll_interval =", 1)
	g := makeGrid(t, c.site("aurora", "siteA"), testbed.Machine{Name: "borealis", LocalSched: nowhere})
	out, err := g.process(patience(t), t, g.Sites[1], "peer", "--config", g.Sites[1].Config).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "nowhere") {
		t.Errorf("a partition that does not exist: %v\n%s", err, out)
	}
	here := g.Sites[0]
	if err := here.Start(); err != nil {
		t.Fatal(err)
	}
	quote := func() string { return g.at(t, here, "#!/bin/sh\ntrue\n", "quote", "--ntasks=1", "--time=5").stdout }
	reported := func(wanted string) {
		t.Helper()
		var said string
		for ctx := patience(t); ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			if said = quote(); strings.Contains(said, wanted) {
				return
			}
		}
		t.Errorf("quotes never said %q:\n%s", wanted, said)
	}
	reported("0:00:00")
	c.signal(t, "siteA", syscall.SIGSTOP)
	reported("does not answer")
	id := g.submit(t, here, "#!/bin/sh\necho back\n", "--time=5")
	c.signal(t, "siteA", syscall.SIGCONT)
	if job := g.until(t, here, id, ended); job.State != protocol.Completed || g.output(t, job) != "back\n" {
		t.Errorf("the job that waited for the controller: %s", display.State(job))
	}
}

// The adapter passes the suite of local schedulers as a plugin too, on a real cluster.
func TestCheckSlurm(t *testing.T) {
	t.Parallel()
	c := startSlurms(t)
	config := tempFile(t, "slurm.toml", fmt.Sprintf("conf = %q\nspool = %q\npoll_interval = \"300ms\"\n",
		c.conf("siteA"), filepath.Join(c.base, "spool")))
	done := checkPlugin(t, builtInPlugin(t, "slurm"), "--config", config, "--patience", checkPatience)
	if done.Kind != "localsched" || len(done.Cases) < 30 {
		t.Errorf("checked %+v", done)
	}
}

// TestSlurmsOfTwoVersions: jobs go both ways between sites with Slurm 22.05 and 24.11, and find there what they were
// asked for.
func TestSlurmsOfTwoVersions(t *testing.T) {
	t.Parallel()
	newer := startNewerSlurm(t)
	older := slurms{clusters: 1, cpus: 2}.started(t)
	g := makeGrid(t, older.site("aurora", "siteA"), newer.site("borealis", "siteA"))
	g.Sites[1].Under = newer.under
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	const script = "#!/bin/sh\n#SBATCH -N2 --ntasks-per-node=1 --mem=100 --time=5 --open-mode=append\n" +
		"echo \"$SWITCHYARD_EXEC_SITE $(scontrol --version) $SLURM_JOB_NUM_NODES $SLURM_NTASKS $SLURM_MEM_PER_NODE $1\"\nexit 3\n"
	for i, from := range g.Sites {
		to := g.Sites[1-i]
		version := []string{"slurm-wlm 22.05.", "slurm-wlm 24.11."}[1-i]
		job := g.until(t, from, g.submit(t, from, script, "--sites="+string(to.Name), "-", "arg"), ended)
		out := g.output(t, job)
		if job.State != protocol.Failed || job.ExitCode != 3 || job.Site != to.Name ||
			!strings.HasPrefix(out, string(to.Name)+" "+version) || !strings.HasSuffix(out, " 2 2 100 arg\n") {
			t.Errorf("from %s to %s: %s, exit code %d, output %q", from.Name, to.Name, display.State(job), job.ExitCode, out)
		}
		waits := g.submit(t, from, "#!/bin/sh\n#SBATCH --time=5\nsleep 300\n", "--sites="+string(to.Name))
		g.until(t, from, waits, running)
		if got := g.at(t, from, "", "cancel", waits.String()); got.code != 0 {
			t.Errorf("cancel: %+v", got)
		}
		if job := g.until(t, from, waits, ended); job.State != protocol.Cancelled {
			t.Errorf("from %s to %s: cancelled, it is %s", from.Name, to.Name, display.State(job))
		}
	}
}
