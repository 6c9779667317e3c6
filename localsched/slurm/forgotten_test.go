package slurm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// forgets checks what the adapter tells of jobs that ended while it was closed and
// that the queue does not show any more: what ran has written down its end; what an
// operator cancelled before it ran is known from the history, if there is one, and
// else is submitted again.
func forgets(t *testing.T, s *site, history bool) {
	t.Helper()
	dir := homeDir(t)
	cancelled := s.held(t, home(dir, "echo ran >> cancelled"))
	ran := s.submit(t, home(dir, "echo ran >> ran; exit 4"))
	broken := s.submit(t, home(dir, "echo ran >> broken; kill -9 $PPID; exec sleep 0.1"))
	s.Close()
	s.cluster.must(t, "scancel", "--name="+s.name(cancelled))
	deadline := time.Now().Add(2 * ample) // it forgets once a minute
	for s.cluster.must(t, "squeue", "-h", "-t", "all", "-n", s.name(ran)+","+s.name(cancelled)+","+s.name(broken)) != "" {
		if time.Now().After(deadline) {
			t.Fatal("Slurm does not forget")
		}
		time.Sleep(200 * time.Millisecond)
	}
	s.open(t)
	if got := s.awaitEnd(t, ran); got.State != protocol.Failed || got.ExitCode != 4 {
		t.Errorf("%+v", got)
	}
	want, state, signal := "ran\n", protocol.Completed, 0
	if history {
		want, state = "", protocol.Cancelled
		signal = 9
	}
	got := s.awaitEnd(t, cancelled)
	if out, _ := os.ReadFile(filepath.Join(dir, "cancelled")); got.State != state || string(out) != want {
		t.Errorf("cancelled: %+v, and it wrote %q", got, out)
	}
	got = s.awaitEnd(t, broken)
	if out, _ := os.ReadFile(filepath.Join(dir, "broken")); string(out) != "ran\n" || got.Signal != signal ||
		history && got.State != protocol.Failed || !history && (got.State != protocol.NodeFail || !strings.Contains(got.Reason, "lost")) {
		t.Errorf("broken: %+v, and it wrote %q", got, out)
	}
}

func TestForgottenWithLog(t *testing.T) {
	t.Parallel()
	siteC.Lock()
	defer siteC.Unlock()
	forgets(t, openSite(t, "siteC", nil), true)
}

func TestForgottenWithoutAnything(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(newDir(t), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	siteC.Lock()
	defer siteC.Unlock()
	forgets(t, openSite(t, "siteC", func(c *slurm.Config) {
		c.JobComp = empty
		slurm.SetPatience(c, time.Minute, time.Second)
	}), false)
}

// TestForgottenWithDatabase has slurmdbd and no log.
func TestForgottenWithDatabase(t *testing.T) {
	t.Parallel()
	needs(t)
	for _, name := range []string{"mariadbd", "slurmdbd"} {
		if _, err := exec.LookPath(name); err != nil && os.Getenv("CI") == "true" {
			t.Fatal(err)
		} else if err != nil {
			t.Skip(err)
		}
	}
	here := slot.base + ".database"
	site := cluster("../" + filepath.Base(here) + "/siteA")
	t.Cleanup(func() { tool("slurm-down.sh", "-d", here) })
	if err := tool("slurm-up.sh", "-f", "-n", "1", "-N", "2", "-c", "8", "-d", here, "-p", strconv.Itoa(slot.port+600), "-a", "2"); err != nil {
		t.Fatal(err)
	}
	if err := site.restart(func(conf string) string {
		return strings.Replace(conf, "JobCompType=jobcomp/filetxt", "JobCompType=jobcomp/none", 1)
	}); err != nil {
		t.Fatal(err)
	}
	forgets(t, openSite(t, site, nil), true)
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", nil)
	tag := s.submit(t, guest("exec sleep 1000"))
	got := s.awaitEnd(t, tag)
	if got.State != protocol.Timeout || got.Ran < protocol.Minute-5*protocol.Second || !strings.Contains(got.Reason, "limit of 1m0s") {
		t.Errorf("%+v", got)
	}
}
