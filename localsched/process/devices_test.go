package process_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// withDevices has the node have devices, and say so.
func withDevices(devices ...process.Device) func(*process.Config) {
	return func(c *process.Config) {
		group := protocol.NodeGroup{Nodes: 1, CPUs: c.Capacity.CPUs}
		for _, d := range devices {
			one := protocol.Resource{Name: d.Name, Type: d.Type, Count: 1}
			if i := slices.IndexFunc(group.Resources, func(r protocol.Resource) bool { return r.Kind() == one.Kind() }); i >= 0 {
				group.Resources[i].Count++
				continue
			}
			group.Resources = append(group.Resources, one)
		}
		slices.SortFunc(group.Resources, protocol.CompareResources)
		c.Devices, c.Capacity.Groups, c.Capacity.Exclusive = devices, []protocol.NodeGroup{group}, true
	}
}

// twoGPUs are without files, so that nothing is closed to jobs.
func twoGPUs() []process.Device {
	return []process.Device{{Name: "gpu", Index: 1}, {Name: "gpu", Index: 0}, {Name: "nic", Index: 0}}
}

// asking is a guest that asks for devices.
func asking(t testing.TB, script string, resources ...protocol.Resource) localsched.Submission {
	t.Helper()
	job := guest(t, script)
	job.Spec.Resources = resources
	return job
}

func gpus(kind string, count int) protocol.Resource {
	return protocol.Resource{Name: protocol.GPU, Type: kind, Count: count, Per: protocol.PerJob}
}

// printGPUs is a script that prints what it finds of its GPUs, with "unset" for what is not there.
const printGPUs = `echo "${CUDA_VISIBLE_DEVICES-unset} ${ROCR_VISIBLE_DEVICES-unset} ${SLURM_JOB_GPUS-unset} ${SLURM_GPUS_ON_NODE-unset}"
`

// TestDevicesOfJobs: jobs that run at once have different devices, the lowest that are free, and one that
// asks for none sees none, whatever its submitter's environment says.
func TestDevicesOfJobs(t *testing.T) {
	t.Parallel()
	s := openSite(t, withDevices(twoGPUs()...))
	first := s.submit(t, asking(t, printGPUs+waitsForGo, gpus("", 1)))
	second := s.submit(t, asking(t, printGPUs+waitsForGo, gpus("", 1)))
	plain := guest(t, printGPUs)
	plain.Payload.Env = []string{"CUDA_VISIBLE_DEVICES=0,1", "SLURM_JOB_GPUS=0"}
	third := s.submit(t, asking(t, printGPUs, gpus("", 1)))
	none := s.submit(t, plain)
	s.awaitEnd(t, none)
	eventually(t, "the first and the second job have printed", func() bool {
		return s.read(t, first, protocol.Stdout) != "" && s.read(t, second, protocol.Stdout) != ""
	})
	s.letGo(t, second)
	s.awaitEnd(t, third)
	s.letGo(t, first)
	s.awaitEnd(t, first)
	both := s.submit(t, asking(t, printGPUs, gpus("", 2)))
	nic := s.submit(t, asking(t, printGPUs, protocol.Resource{Name: "nic", Count: 1, Per: protocol.PerNode}))
	whole := guest(t, printGPUs+"echo $SLURM_CPUS_ON_NODE $SLURM_JOB_CPUS_PER_NODE $SWITCHYARD_CPUS\n")
	whole.Spec.Exclusive = true
	s.submit(t, whole)
	for _, c := range []struct {
		job  protocol.Tag
		want string
	}{
		{first, "0 0 0 1"},
		{second, "1 1 1 1"},
		{third, "1 1 1 1"},
		{none, "  unset unset"},
		{both, "0,1 0,1 0,1 2"},
		{nic, "  unset unset"},
		{whole.Tag, "0,1 0,1 0,1 2\n4 4 4"},
	} {
		s.awaitEnd(t, c.job)
		if got := s.read(t, c.job, protocol.Stdout); got != c.want+"\n" {
			t.Errorf("job %v has %q, want %q", c.job, got, c.want)
		}
	}
	if _, err := s.Submit(t.Context(), asking(t, "", gpus("", 3))); err == nil || !strings.Contains(err.Error(), "needs 3 gpu, the site has 2") {
		t.Errorf("more than there are: %v", err)
	}
}

// TestNoDevices: on a machine without devices a job keeps what its submitter has in the environment.
func TestNoDevices(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	job := guest(t, printGPUs)
	job.Payload.Env = []string{"CUDA_VISIBLE_DEVICES=5"}
	s.awaitEnd(t, s.submit(t, job))
	if got := s.read(t, job.Tag, protocol.Stdout); got != "5 unset unset unset\n" {
		t.Errorf("got %q", got)
	}
}

// TestDeviceTypes: a job that names no type gets the one of which there are most, as the engine plans.
func TestDeviceTypes(t *testing.T) {
	t.Parallel()
	s := openSite(t, withDevices(
		process.Device{Name: "gpu", Type: "a100", Index: 0},
		process.Device{Name: "gpu", Type: "v100", Index: 1}, process.Device{Name: "gpu", Type: "v100", Index: 2},
	))
	anyType := s.submit(t, asking(t, printGPUs+waitsForGo, gpus("", 1)))
	rare := s.submit(t, asking(t, printGPUs+waitsForGo, gpus("a100", 1)))
	second := s.submit(t, asking(t, printGPUs+waitsForGo, gpus("", 1)))
	waits := s.submit(t, asking(t, printGPUs+waitsForGo, gpus("", 1))) // though an a100 is free soon
	for job, want := range map[protocol.Tag]string{anyType: "1", rare: "0", second: "2"} {
		eventually(t, "the job prints", func() bool { return s.read(t, job, protocol.Stdout) != "" })
		if got, _, _ := strings.Cut(s.read(t, job, protocol.Stdout), " "); got != want {
			t.Errorf("job %v has the GPU %s, want %s", job, got, want)
		}
	}
	s.letGo(t, rare)
	s.awaitEnd(t, rare)
	load, err := s.Load(t.Context())
	if err != nil || load.QueuedJobs != 1 {
		t.Errorf("the load is %+v, %v", load, err)
	}
	s.letGo(t, second)
	s.awaitEnd(t, second)
	s.awaitRunning(t, waits)
	for _, job := range []protocol.Tag{anyType, waits} {
		s.letGo(t, job)
		s.awaitEnd(t, job)
	}
	if got := s.read(t, waits, protocol.Stdout); !strings.HasPrefix(got, "2 ") {
		t.Errorf("the job that waited has %q", got)
	}
}

// TestDevicesOverRestart: a job keeps its devices when the peer starts again, and others get what is left.
func TestDevicesOverRestart(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { withDevices(twoGPUs()...)(c); c.OnStop = process.LeaveJobs })
	first := s.submit(t, asking(t, printGPUs+waitsForGo, gpus("", 1)))
	second := s.submit(t, asking(t, printGPUs+waitsForGo, gpus("", 1)))
	s.awaitRunning(t, first)
	s.awaitRunning(t, second)
	s.letGo(t, first)
	s.awaitEnd(t, first)
	s.reopen(t)
	third := s.submit(t, asking(t, printGPUs+waitsForGo, gpus("", 1)))
	s.awaitRunning(t, third)
	for _, job := range []protocol.Tag{second, third} {
		s.letGo(t, job)
		s.awaitEnd(t, job)
	}
	if two, three := s.read(t, second, protocol.Stdout), s.read(t, third, protocol.Stdout); two[0] != '1' || three[0] != '0' {
		t.Errorf("the second job has %q, the third %q", two, three)
	}
}

// TestFewerDevices: a job that an earlier configuration has given its devices keeps them though they are
// not planned any more, and no other gets them.
func TestFewerDevices(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { withDevices(twoGPUs()...)(c); c.OnStop = process.LeaveJobs })
	first := s.submit(t, asking(t, waitsForGo, gpus("", 2)))
	s.awaitRunning(t, first)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	withDevices(process.Device{Name: "gpu", Index: 0})(&s.config)
	s.open(t)
	second := s.submit(t, asking(t, printGPUs, gpus("", 1)))
	s.await(t, second, func(protocol.State) bool {
		return slices.ContainsFunc(s.seen, func(c localsched.Change) bool {
			return c.Tag == second && strings.Contains(c.Reason, "in use by jobs that no longer fit the configuration")
		})
	})
	s.letGo(t, first)
	s.awaitEnd(t, second)
	if got := s.read(t, second, protocol.Stdout); got != "0 0 0 1\n" {
		t.Errorf("got %q", got)
	}
}

// TestClosedDevices: where the kernel lets the peer, a job cannot open the devices of others, and its own
// have the numbers that drivers give to those that they see. Without a group it can, and the site says so.
func TestClosedDevices(t *testing.T) {
	t.Parallel()
	files := []process.Device{{Name: "gpu", Index: 0, File: "/dev/zero"}, {Name: "gpu", Index: 1, File: "/dev/full"}}
	const script = printGPUs + "head -c 1 /dev/zero >/dev/null 2>&1 && echo zero; head -c 1 /dev/full >/dev/null 2>&1 && echo full\n"
	const open = "nothing keeps jobs from the devices of other jobs"
	for _, where := range []string{cgroup.Own, cgroup.None} {
		s := openSite(t, func(c *process.Config) { withDevices(files...)(c); c.Cgroup = where })
		isOpen := strings.Contains(s.Uncontained(), open)
		if where == cgroup.None && !isOpen {
			t.Errorf("without groups the site says %q", s.Uncontained())
		}
		if where == cgroup.Own && isOpen {
			t.Log("devices cannot be closed here: " + s.Uncontained())
		}
		first := s.submit(t, asking(t, script+waitsForGo, gpus("", 1)))
		second, none := s.submit(t, asking(t, script, gpus("", 1))), s.submit(t, guest(t, script))
		s.awaitEnd(t, second)
		s.letGo(t, first)
		want := map[protocol.Tag]string{first: "0 0 0 1\nzero\n", second: "0 0 1 1\nfull\n", none: "  unset unset\n"}
		if isOpen {
			want = map[protocol.Tag]string{first: "0 0 0 1\nzero\nfull\n", second: "1 1 1 1\nzero\nfull\n", none: "  unset unset\nzero\nfull\n"}
		}
		for job, text := range want {
			s.awaitEnd(t, job)
			if got := s.read(t, job, protocol.Stdout); got != text {
				t.Errorf("cgroup %q: job %v prints %q, want %q", where, job, got, text)
			}
		}
	}
}

// TestWithdrawnBeforeItsStart: a job that is withdrawn while starts are not allowed yet gets no devices when they are.
func TestWithdrawnBeforeItsStart(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) {
		withDevices(process.Device{Name: "gpu", Index: 0})(c)
		c.Paused = true
	})
	gone := s.submit(t, asking(t, printGPUs, gpus("", 1)))
	if got, err := s.Withdraw(t.Context(), gone); err != nil || got != localsched.Withdrawn {
		t.Fatalf("withdraw: %v, %v", got, err)
	}
	s.AllowStarts(true)
	next := s.submit(t, asking(t, printGPUs, gpus("", 1)))
	s.awaitEnd(t, next)
	if got := s.read(t, next, protocol.Stdout); got != "0 0 0 1\n" {
		t.Errorf("the next job prints %q", got)
	}
}

// TestWithdrawnClaim has a shim claim its job while a new peer withdraws its claim: the shim has the job
// exactly if the file started says so, and never afterwards.
func TestWithdrawnClaim(t *testing.T) {
	t.Parallel()
	won := 0
	for range 300 {
		dir := t.TempDir()
		claim, err := process.PlaceWithClaim(dir)
		if err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		var wins bool
		var failed, withdrawn error
		both.Go(func() { wins, failed = process.Claim(dir, claim) })
		both.Go(func() { withdrawn = process.WithdrawClaim(dir) })
		both.Wait()
		_, err = os.Stat(filepath.Join(dir, "started"))
		if withdrawn != nil || wins != (err == nil) || wins == errors.Is(failed, fs.ErrNotExist) {
			t.Fatalf("the shim has the job: %v, %v; withdrawn: %v; started: %v", wins, failed, withdrawn, err)
		}
		if wins {
			won++
			continue
		}
		if again, err := process.Claim(dir, claim); again || err == nil {
			t.Fatalf("after it was withdrawn, the claim wins: %v, %v", again, err)
		}
	}
	t.Logf("the shim was faster in %d of 300", won)
}

// gpuWord is set for a victim whose jobs have GPUs.
const gpuWord = "PROCESS_TEST_GPUS"

// threeGPUs are what victims have, and the test that kills them.
func threeGPUs() []process.Device {
	return []process.Device{{Name: "gpu", Index: 0}, {Name: "gpu", Index: 1}, {Name: "gpu", Index: 2}}
}

// usesGPU is a script that says which of its GPUs another job has at the same time, in the directory.
func usesGPU(dir, name string) string {
	return fmt.Sprintf(`cd %s
for gpu in $(echo $CUDA_VISIBLE_DEVICES | tr , ' '); do mkdir gpu.$gpu || echo "%s $gpu" >>twice; done
sleep .05
for gpu in $(echo $CUDA_VISIBLE_DEVICES | tr , ' '); do rmdir gpu.$gpu; done
echo "$CUDA_VISIBLE_DEVICES" >%s`, dir, name, name)
}

// TestDevicesOverKills kills peers while their jobs are being started. No device is given to two jobs at a
// time, and all are free in the end.
func TestDevicesOverKills(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	home := filepath.Join(dir, "home")
	if err := os.Rename(homeDir(t), home); err != nil {
		t.Fatal(err)
	}
	submitted := map[string]protocol.Tag{}
	for round := range 5 {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), victimDir+"="+dir, gpuWord+"=yes", "PROCESS_TEST_SHIM="+strings.Join(shimCommand, " "))
		readVictim(t, child, 2+round*4, func(name, text string) {
			tag, err := protocol.ParseTag(text)
			if err != nil {
				t.Fatal(name, text)
			}
			submitted[name] = tag
		})
	}
	s := &site{config: configOf(dir)}
	s.config.Capacity.CPUs = 1000
	withDevices(threeGPUs()...)(&s.config)
	s.open(t)
	defer s.Close()
	for name, tag := range submitted {
		if got := s.awaitEnd(t, tag); got.State != protocol.Completed {
			t.Errorf("job %s: %+v", name, got)
		}
	}
	all := s.submit(t, asking(t, printGPUs, gpus("", 3)))
	s.awaitEnd(t, all)
	if got := s.read(t, all, protocol.Stdout); got != "0,1,2 0,1,2 0,1,2 3\n" {
		t.Errorf("in the end a job finds %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(home, "twice")); err == nil {
		t.Errorf("devices that two jobs had at once:\n%s", text)
	}
	if len(submitted) == 0 {
		t.Error("no peer has acknowledged a job before it was killed")
	}
	t.Logf("%d jobs acknowledged", len(submitted))
}
