package process_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestShellOfTheSubmission: a job has the umask, the soft limits and the host of its submission, never more than the hard
// limits allow; a guest has only those limits that are for all sites. Without any it has the umask 022.
func TestShellOfTheSubmission(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	dir := homeDir(t)
	const script = `umask; echo "$SLURM_SUBMIT_HOST"; ulimit -S -n; ulimit -S -t; ulimit -S -c; [ "$(ulimit -S -s)" = "$(ulimit -H -s)" ] && echo most`
	shell := &protocol.Shell{Host: "login1", Umask: 0o27, Limits: []protocol.ResourceLimit{
		{Name: "CORE", Soft: 0}, {Name: "CPU", Soft: 1234}, {Name: "NOFILE", Soft: 321}, {Name: "STACK", Soft: protocol.NoSoftLimit},
	}}
	own, away, plain := home(t, dir, script), guest(t, script), guest(t, "umask; echo \"$SLURM_SUBMIT_HOST\"")
	own.Payload.Shell, away.Payload.Shell = shell, shell
	for _, job := range []localsched.Submission{own, away, plain} {
		s.submit(t, job)
		s.awaitEnd(t, job.Tag)
	}
	if got := readFile(t, filepath.Join(dir, "stdout")); got != "0027\nlogin1\n321\n1234\n0\nmost\n" {
		t.Errorf("a job of this site prints %q", got)
	}
	got := strings.Split(s.read(t, away.Tag, protocol.Stdout), "\n")
	if len(got) != 7 || got[0] != "0027" || got[1] != "login1" || got[2] != "321" || got[3] == "1234" || got[4] != "0" || got[5] != "most" {
		t.Errorf("a guest prints %q", got)
	}
	if got := s.read(t, plain.Tag, protocol.Stdout); got != "0022\n\n" {
		t.Errorf("a job without a shell prints %q", got)
	}
}

// TestCallingShell: what is read of the caller is whole, and valid.
func TestCallingShell(t *testing.T) {
	t.Parallel()
	shell := process.CallingShell(t.Context(), "login1")
	if err := (&protocol.Payload{Shell: shell}).CheckShell(); err != nil || len(shell.Limits) != len(protocol.ResourceLimits()) {
		t.Errorf("got %+v, %v", shell, err)
	}
}
