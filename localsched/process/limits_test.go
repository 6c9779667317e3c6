package process_test

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

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
	if got[0] != "0022" {
		t.Errorf("the umask is %q", got[0])
	}
	for _, line := range got[1:3] {
		_, set, _ := strings.Cut(line, "\t")
		if signals, err := strconv.ParseUint(set, 16, 64); err != nil || signals&^ofGlibc != 0 {
			t.Errorf("got %q (%v), want no signal", line, err)
		}
	}
	for number := range strings.FieldsSeq(got[3]) {
		if fd, err := strconv.Atoi(number); err != nil || fd >= high {
			t.Errorf("the job has the open files %q", got[3])
		}
	}
}

// ofGlibc are signals 32 and 33, which belong to glibc: its posix_spawn, and so
// make, has them ignored in all that it starts.
const ofGlibc = 3 << 31
