package process_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func owner(info fs.FileInfo) int {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return int(st.Uid)
}

// alive reports whether there is a process with this pid that is no zombie.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
	return !strings.HasPrefix(rest, " Z") && !strings.HasPrefix(rest, " X")
}

// shimOf is the pid of the shim that watches a job.
func (s *site) shimOf(t testing.TB, tag protocol.Tag) int {
	t.Helper()
	var started struct{ PID int }
	if err := json.Unmarshal([]byte(readFile(t, s.dir(tag, "started"))), &started); err != nil || started.PID < 2 {
		t.Fatal(started, err)
	}
	return started.PID
}
