package process_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestJobStartsClean has a job look at what it inherits: no signal blocked or
// ignored, and of the peer's open files none, also of those that the peer itself
// inherited.
func TestJobStartsClean(t *testing.T) {
	t.Parallel()
	stray, err := syscall.Dup(0) // passed on to children, as files that Go opens are not
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(stray)
	s := openSite(t, nil)
	tag := s.submit(t, guest(t, lookAtSelf))
	s.awaitEnd(t, tag)
	got := strings.Split(s.read(t, tag, protocol.Stdout), "\n")
	if len(got) != 5 {
		t.Fatalf("got %q", got)
	}
	for i, name := range []string{"SigBlk:", "SigIgn:"} {
		set, err := strconv.ParseUint(strings.TrimSpace(strings.TrimPrefix(got[i], name)), 16, 64)
		if err != nil || set&^ofGlibc != 0 {
			t.Errorf("got %q (%v), want none", got[i], err)
		}
	}
	if got[3] != "0022" {
		t.Errorf("the umask is %q", got[3])
	}
	// The shell has its script open, as file 10 or 255.
	if fds := strings.Fields(got[2]); len(fds) > 4 {
		t.Errorf("the job has the open files %q", fds)
	}
}

// lookAtSelf reads the shell's own status without a child: to start one, a shell
// blocks its signals for a moment.
const lookAtSelf = `while read -r name rest; do
	case $name in SigBlk:|SigIgn:) echo "$name $rest" ;; esac
done </proc/$$/status
ls /proc/$$/fd | tr '\n' ' '
echo
umask`

// ofGlibc are signals 32 and 33, which belong to glibc; its posix_spawn, and so
// make, has them ignored below it.
const ofGlibc = 3 << 31

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
