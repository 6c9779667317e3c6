package spool_test

import (
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// unprivileged is the uid and gid of an account without rights, which jobs run as.
const unprivileged = 65534

// TestAsOrdinaryUser runs the other tests again as an account without rights.
func TestAsOrdinaryUser(t *testing.T) {
	t.Parallel()
	asRoot(t)
	again := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.skip", "TestAsOrdinaryUser|Fuzz")
	again.Env = []string{"PATH=" + os.Getenv("PATH"), "CI=" + os.Getenv("CI")}
	again.Dir = "/"
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func asRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to other accounts")
	}
}

// me is the account that jobs of these tests run as: nobody for root, and else the
// one that runs the tests.
func me() spool.Account {
	uid, gid := uint32(os.Geteuid()), uint32(os.Getegid())
	if uid == 0 {
		uid, gid = unprivileged, unprivileged
	}
	return spool.Account{Name: "me", UID: uid, GID: gid, Home: "/home/me", Shell: "/bin/sh"}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// open makes a spool and takes it.
func open(t testing.TB) (sp *spool.Spool, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "spool")
	if err := spool.Make(dir); err != nil {
		t.Fatal(err)
	}
	sp, err := spool.Open(dir, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sp.Close() })
	return sp, dir
}

var tag = protocol.Tag{Job: 7_000_000_000_005, Epoch: 3}

// guest is a submission from another site.
func guest() localsched.Submission {
	return localsched.Submission{
		Tag: tag, Spec: protocol.Spec{Name: "test"}, Origin: "south", Account: "me", Guest: true,
		Payload: &protocol.Payload{
			Script: []byte("#!/bin/sh\n"), WorkDir: "/home/alice", Stdout: "/home/alice/out", Stderr: "/home/alice/err",
		},
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// modeOf is the mode of a file that must be there.
func modeOf(t testing.TB, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// only checks what is in a directory.
func only(t testing.TB, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if strings.Join(found, " ") != strings.Join(names, " ") {
		t.Errorf("the directory has %q, want %q", found, names)
	}
}

// asUnprivileged calls f with the file system rights of an account without rights.
func asUnprivileged(f func()) {
	runtime.LockOSThread() // and never unlocked, so that the thread ends
	if err := unix.Setfsgid(unprivileged); err != nil {
		panic(err)
	}
	if err := unix.Setfsuid(unprivileged); err != nil {
		panic(err)
	}
	f()
}
