package process_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestJobStartsClean has a job look at what it inherits: no signal blocked or
// ignored, and of the peer's open files none, also of those that the peer itself
// inherited.
func TestJobStartsClean(t *testing.T) {
	t.Parallel()
	const high = 500                                   // shells use lower ones
	stray, err := unix.FcntlInt(0, unix.F_DUPFD, high) // passed on to children, as files that Go opens are not
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(stray)
	s := openSite(t, nil)
	// The shell does it all itself: around a command, it blocks signals.
	tag := s.submit(t, guest(t, `umask
while read -r line; do case $line in SigBlk*|SigIgn*) echo "$line";; esac; done </proc/$$/status
cd /proc/$$/fd; echo *`))
	s.awaitEnd(t, tag)
	got := strings.Split(strings.TrimSpace(s.read(t, tag, protocol.Stdout)), "\n")
	if len(got) != 4 {
		t.Fatalf("got %q", got)
	}
	for i, want := range []string{"0022", "SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"} {
		if got[i] != want {
			t.Errorf("got %q, want %q", got[i], want)
		}
	}
	for number := range strings.FieldsSeq(got[3]) {
		if fd, err := strconv.Atoi(number); err != nil || fd >= high {
			t.Errorf("the job has the open files %q", got[3])
		}
	}
}

// TestSpoolOfAnotherAccount is refused: whoever owns the folder could change what
// runs as whom.
func TestSpoolOfAnotherAccount(t *testing.T) {
	t.Parallel()
	asRoot(t)
	config := configOf(homeDir(t))
	config.Dir = filepath.Dir(config.Dir)
	s, err := process.Open(config)
	if err == nil {
		s.Close()
		t.Fatal("it is accepted")
	}
	if !strings.Contains(err.Error(), "must belong to the account of the peer") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(config.Dir, "lock")); err == nil {
		t.Error("it was touched")
	}
}
