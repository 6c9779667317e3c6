package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/internal/testprogram"
)

var update = flag.Bool("update", false, "write the table of users' scripts into docs/scripts.md; read the difference before you commit it")

// userScripts has scripts as people write them for Slurm. One without #! is what a user types in a shell.
// The first comment of each says what it is about.
const userScripts = "testdata/scripts"

// places are where each script runs: by plain sbatch, and submitted to a peer, which keeps it or hands it
// to its partner.
var places = []string{plainSlurm, "north", "south"}

const plainSlurm = "sbatch"

// lastScripts run when all others have: one wants nodes for itself, and for one Slurm must have been up for a while.
var lastScripts = []string{"exclusive.sh", "scancel.sh"}

// scriptBed is two sites with Slurm, of which one also takes what users submit to Slurm itself.
type scriptBed struct {
	*grid

	slurm   slurms
	account passwd.Entry // who submits
	program string       // switchyard, where that account finds it
}

// TestScripts runs the scripts by plain sbatch and by switchyard submit, at the site and at its partner, and
// compares what comes of them with the table in docs/scripts.md.
func TestScripts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("some 200 jobs on two clusters take a minute or two")
	}
	bed := newScriptBed(t)
	files, err := os.ReadDir(userScripts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var operator sync.WaitGroup
	operator.Go(func() { bed.slurm.hasten(ctx, "siteA") })
	defer operator.Wait()
	defer stop()
	rows := make([]scriptRow, len(files))
	for _, last := range []bool{false, true} {
		if last {
			bed.awaitUptime(t)
		}
		var runs sync.WaitGroup
		free := make(chan struct{}, 8) // more at once are no faster
		for i, file := range files {
			if last != slices.Contains(lastScripts, file.Name()) {
				continue
			}
			rows[i] = scriptRow{name: file.Name(), about: aboutScript(t, file.Name()), outcomes: make([]scriptOutcome, len(places))}
			for at, place := range places {
				runs.Go(func() {
					free <- struct{}{}
					defer func() { <-free }()
					rows[i].outcomes[at] = bed.outcome(t, file.Name(), place)
				})
			}
		}
		runs.Wait()
	}
	if t.Failed() {
		return
	}
	if version, err := bed.slurm.run(t.Context(), "siteA", "sbatch", "--version"); err != nil || !strings.Contains(version, " 22.05") {
		t.Skipf("the table is that of Slurm 22.05, not of %q (%v)", version, err)
	}
	compareScriptTable(t, rows)
}

// newScriptBed starts the sites. The jobs' account submits, too, so that both ways lead to the same account.
func newScriptBed(t *testing.T) *scriptBed {
	t.Helper()
	bed := &scriptBed{slurm: startSlurmsOf(t, 16)}
	machines := []testbed.Machine{bed.slurm.site("north", "siteA"), bed.slurm.site("south", "siteB")}
	for i := range machines { // users have the accounts, partitions and QOS that they ask for, and batch by default
		machines[i].LocalSched += "partitions = [\"batch\", \"urgent\"]\n" + `
[[association]]
origin = "*"
account = "*"
partition = "?*"
qos = "*"

[[association]]
origin = "*"
account = "*"
as_partition = "batch"
qos = "*"
`
	}
	bed.grid = makeGrid(t, machines...)
	bed.adapt(t)
	var err error
	if bed.account, err = testbed.JobAccount(t.Context()); err != nil {
		t.Fatal(err)
	}
	edit(t, bed.Sites[0], "local = { \"root\"", fmt.Sprintf("local = { %q", bed.account.Name))
	if err := bed.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	bed.program = filepath.Join(bed.Dir, "switchyard")
	if err := os.Link(ownBinary(t), bed.program); err != nil {
		data, err := os.ReadFile(ownBinary(t))
		if err != nil {
			t.Fatal(err)
		}
		testprogram.Write(t, bed.program, string(data))
	}
	return bed
}

// adapt starts the clusters again with job numbers that occur nowhere else, two GPUs in each node, a feature, a
// second partition, and a profile that has environment modules, which only their jobs see. GPUs have device
// files: without one, slurmd 22.05 reports none, and the controller drains the node. The partner's jobs do not
// see the users' directories, as on another machine.
func (b *scriptBed) adapt(t *testing.T) {
	t.Helper()
	profiles := filepath.Join(b.slurm.base, "profile.d")
	if err := os.Mkdir(profiles, 0o755); err != nil {
		t.Fatal(err)
	}
	testprogram.Write(t, filepath.Join(profiles, "modules.sh"), `module() {
	case $1 in
	load) shift; for m; do LOADEDMODULES=${LOADEDMODULES:+$LOADEDMODULES:}$m; done; export LOADEDMODULES ;;
	purge) unset LOADEDMODULES ;;
	esac
}
`)
	for i, cluster := range []string{"siteA", "siteB"} {
		nodes := []string{"ab"[i:i+1] + "1", "ab"[i:i+1] + "2"}
		b.stop(t, cluster)
		conf, err := os.ReadFile(b.slurm.conf(cluster))
		if err != nil {
			t.Fatal(err)
		}
		more := fmt.Sprintf("GresTypes=gpu\nFirstJobId=%d000001\nNodeName=%s[1-2] Gres=gpu:2 Feature=skylake TmpDisk=1000 ", 7+i, "ab"[i:i+1])
		text := strings.Replace(string(conf), "NodeName="+"ab"[i:i+1]+"[1-2] ", more, 1) + "PartitionName=urgent Nodes=ALL State=UP\n"
		gres := filepath.Join(filepath.Dir(b.slurm.conf(cluster)), "gres.conf")
		if err := errors.Join(os.WriteFile(b.slurm.conf(cluster), []byte(text), 0o644), os.WriteFile(gres, []byte("Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
		start := "mount --bind " + profiles + " /etc/profile.d"
		if cluster == "siteB" {
			start += " && mount -t tmpfs none " + b.work
		}
		start += " && slurmctld && slurmd -N " + nodes[0] + " && slurmd -N " + nodes[1]
		if out, err := b.slurm.run(t.Context(), cluster, "unshare", "--mount", "sh", "-c", start); err != nil {
			t.Fatalf("%s: %v\n%s", cluster, err, out)
		}
		for ctx := patience(t); ; time.Sleep(50 * time.Millisecond) {
			out, err := b.slurm.run(ctx, cluster, "sinfo", "-h", "-N", "-p", "batch", "-o", "%T")
			if strings.Count(out, "idle") == len(nodes) {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("the nodes of %s do not come up: %v\n%s", cluster, err, out)
			}
		}
	}
}

// stop kills a cluster's daemons but for munged, and waits until they are gone.
func (b *scriptBed) stop(t *testing.T, cluster string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(b.slurm.base, cluster, "run/*.pid"))
	if err != nil || len(files) != 3 {
		t.Fatalf("daemons of %s: %q, %v", cluster, files, err)
	}
	for _, file := range files {
		pid, err := pidIn(file)
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil {
			t.Fatal(err)
		}
		for ctx := patience(t); alive(pid); time.Sleep(10 * time.Millisecond) {
			if ctx.Err() != nil {
				t.Fatalf("process %d of %s does not die", pid, file)
			}
		}
	}
}

// awaitUptime waits until the controllers have been up for longer than the minute after their start in which a job that is cancelled
// in Slurm may be one that Slurm itself has cancelled, which the peer then says.
func (b *scriptBed) awaitUptime(t *testing.T) {
	t.Helper()
	const layout = "2006-01-02T15:04:05"
	booted := regexp.MustCompile(`(?m)^BOOT_TIME\s*= (\S+)$`)
	for _, cluster := range []string{"siteA", "siteB"} {
		out, err := b.slurm.run(t.Context(), cluster, "scontrol", "show", "config")
		found := booted.FindStringSubmatch(out)
		if err != nil || found == nil {
			t.Fatalf("%s does not say since when it is up: %v\n%s", cluster, err, out)
		}
		since, err := time.ParseInLocation(layout, found[1], time.Local)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(since.Add(time.Minute + 2*time.Second))) // both have seconds
	}
}

// hasten does what an operator would, until ctx ends: jobs that Slurm starts again would wait two minutes.
func (c slurms) hasten(ctx context.Context, cluster string) {
	for ; ctx.Err() == nil; time.Sleep(300 * time.Millisecond) {
		waiting, _ := c.run(ctx, cluster, "squeue", "-h", "-t", "PD", "-o", "%A %r")
		for line := range strings.Lines(waiting) {
			if id, found := strings.CutSuffix(strings.TrimSpace(line), " BeginTime"); found {
				_, _ = c.run(ctx, cluster, "scontrol", "update", "JobId="+id, "StartTime=now")
			}
		}
	}
}

// aboutScript is the first comment of a script.
func aboutScript(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(userScripts, name))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^# (.+)\.$`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s does not say in a comment what it is about", name)
	}
	return string(found[1])
}

// scriptOutcome is what came of a script, without what differs from run to run.
type scriptOutcome struct {
	refused bool
	code    int
	said    []string          // on the standard error
	files   map[string]string // those that it wrote or changed, by name
}

// outcome runs a script in a new directory of its user, and waits for its end.
func (b *scriptBed) outcome(t *testing.T, name, place string) scriptOutcome {
	t.Helper()
	dir := filepath.Join(b.work, name, place)
	text, err := os.ReadFile(filepath.Join(userScripts, name))
	if err != nil {
		t.Error(err)
		return scriptOutcome{}
	}
	before := map[string]string{name: string(text), "input.dat": "salt\n", "log.txt": "old\n", "sub/notes.txt": "notes\n"}
	if err = b.fill(dir, before); err != nil {
		t.Error(err)
		return scriptOutcome{}
	}
	command := ". ./" + name
	if bytes.HasPrefix(text, []byte("#!")) {
		command = "sbatch --wait " + name
	}
	if place != plainSlurm {
		command = fmt.Sprintf("sbatch() { SWITCHYARD_SOCKET=%s %s=1 %s submit --sites=%s \"$@\"; }; %s",
			b.Sites[0].Socket, asBinary, b.program, place, command)
	}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + b.account.Home, "USER=" + b.account.Name, "LOGNAME=" + b.account.Name,
		"SLURM_CONF=" + b.slurm.conf("siteA"), "LANG=C", "FOO=bar", "OMP_NUM_THREADS=4",
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: b.account.UID, Gid: b.account.GID}}
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Errorf("%s by %s: %v\n%s%s", name, place, errors.Join(err, ctx.Err()), &stdout, &stderr)
		return scriptOutcome{}
	}
	files, err := b.written(dir, before)
	if err != nil {
		t.Error(err)
	}
	code := cmd.ProcessState.ExitCode()
	return scriptOutcome{
		refused: code != 0 && !strings.Contains(stdout.String(), "Submitted batch job"),
		code:    code, files: files, said: b.messages(stderr.String(), dir),
	}
}

// fill makes a directory of the user with files.
func (b *scriptBed) fill(dir string, files map[string]string) error {
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	own := exec.CommandContext(context.Background(), "chown", "-R", fmt.Sprintf("%d:%d", b.account.UID, b.account.GID), dir)
	if out, err := own.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// written are the files of a directory that are not as they were.
func (b *scriptBed) written(dir string, before map[string]string) (map[string]string, error) {
	files := map[string]string{}
	return files, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if old, ok := before[name]; err != nil || ok && old == string(text) {
			return err
		}
		name = b.plain(name, dir)
		if base := filepath.Base(name); base == "slurm-ID.out" || base == "switchyard-ID.out" {
			name = filepath.Join(filepath.Dir(name), "output")
		}
		files[name] += b.plain(string(text), dir)
		return nil
	})
}

// plain is a text with words instead of what differs from run to run.
func (b *scriptBed) plain(text, dir string) string {
	host, _ := os.Hostname()
	host, _, _ = strings.Cut(host, ".")
	for _, c := range []struct{ pattern, word string }{
		{regexp.QuoteMeta(dir) + `\b`, "DIR"},
		{regexp.QuoteMeta(b.Dir) + `/north\b`, "NORTH"},
		{`\.switchyard-\d+`, ".switchyard-NUMBER"},
		{`cannot start the job: \d+: `, "cannot start the job: "},
		{regexp.QuoteMeta(b.slurm.base) + `/(?:site[AB]/spool/[ab]\d/job\d+/slurm_script|spool-\w+/jobs/[^/\s]+/script)`, "SCRIPT"},
		{`(?m)^slurmstepd-\w+: error: _handle_signal_container: failed signal .*\n`, ""}, // to a process that was just gone
		{`(?m)^Terminated\n`, ""}, // a shell says so if it comes to it
		{`(?m)^srun: (?:Job \d+ step creation temporarily|Step created for job).*\n`, ""}, // as nodes are just busy
		{regexp.QuoteMeta(b.slurm.base) + `/spool-\w+/jobs/[^/\s]+`, "SPOOL"},
		{regexp.QuoteMeta(b.slurm.base) + `/site[AB]`, "SLURM"},
		{`\b[78]00\d{4}\b|\b10\d{11}\b`, "ID"},
		{`\b[ab](\d\b|\[\d-\d\])`, "NODE"},
		{`\bsite[ab]\b`, "CLUSTER"},
		{`\b` + b.account.Name + `\b`, "USER"},
		{`\b` + regexp.QuoteMeta(host) + `\b`, "HOST"},
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`, "TIME"},
		{`(?m)^(SLURM_[A-Z_]*(?:PID|PORT|PORTS|COMM_HOST|ADDR_IPV4))=[\d,.-]+`, "$1=NUMBER"},
		{`(?m)^(SLURM_WORKING_CLUSTER=\w+:[\d.]+):\d+`, "$1:NUMBER"},
		{`(?m)^(SLURM_JOB_GPUS|SLURM_STEP_GPUS|GPU_DEVICE_ORDINAL|CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES)=\d$`, "$1=NUMBER"},
	} {
		text = regexp.MustCompile(c.pattern).ReplaceAllString(text, c.word)
	}
	return text
}

// messages are what a command said on its standard error, but that no files go with the job, which docs/scripts.md says of all jobs.
func (b *scriptBed) messages(stderr, dir string) (said []string) {
	for line := range strings.Lines(b.plain(stderr, dir)) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "switchyard: "), "sbatch: "))
		if line != "" && !strings.HasPrefix(line, "no files are named that go with the job") {
			said = append(said, line)
		}
	}
	return slices.Compact(said)
}
