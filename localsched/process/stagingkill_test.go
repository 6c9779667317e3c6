package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestKilledWhilePacking kills the shim of a job that has ended while its files are packed, and the peer restarts then, or does
// not: the job has ended as it had, and its files go back.
func TestKilledWhilePacking(t *testing.T) {
	asRoot(t)
	for name, restart := range map[string]bool{"the shim alone": false, "and the peer": true} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			if err := syscall.Mount("none", dir, "tmpfs", 0, "size=72m,mode=711"); err != nil { // 64 MiB of it stay free of files
				t.Skip("cannot mount a small disk:", err)
			}
			s := openSite(t, func(c *process.Config) {
				c.Dir, c.Cgroup, c.MaxStaging = filepath.Join(dir, "spool"), "none", 1<<30
			})
			t.Cleanup(func() {
				s.Close()
				if err := syscall.Unmount(dir, 0); err != nil {
					t.Error(err)
				}
			})
			filler := filepath.Join(dir, "filler")
			if err := os.WriteFile(filler, make([]byte, 4<<20), 0o600); err != nil {
				t.Fatal(err)
			}
			job := guest(t, "echo printed; head -c 3000000 /dev/zero >result")
			job.Spec.StageOut, job.Payload.Staging = true, &protocol.Staging{Out: []string{"result"}}
			tag := s.submit(t, job)
			eventually(t, "the job's files wait for room", func() bool {
				_, err := os.Stat(s.dir(tag, "verdict"))
				log, _ := os.ReadFile(s.dir(tag, "shim.log"))
				return err == nil && strings.Contains(string(log), "no room")
			})
			if err := syscall.Kill(s.shimOf(t, tag), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if restart {
				s.reopen(t)
			}
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			got := s.awaitEnd(t, tag)
			if got.State != protocol.Completed || got.Reason != "" || len(got.Files) != 3 || got.Files[2].Size < 3_000_000 {
				t.Errorf("%+v", got)
			}
		})
	}
}
