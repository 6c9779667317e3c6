package usage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/usage"
)

// tree is a copy of the kernel's files, to a test's wishes.
type tree struct {
	t testing.TB
	usage.Roots
}

func newTree(t testing.TB) tree {
	t.Helper()
	dir := t.TempDir()
	return tree{t, usage.Roots{Proc: filepath.Join(dir, "proc"), Sys: filepath.Join(dir, "sys")}}
}

func (k tree) write(path, text string) {
	k.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

// sleeps has the thread of a process wait for something, as a shell does for its children.
func (k tree) sleeps(pid int) {
	k.t.Helper()
	path := filepath.Join(k.Proc, strconv.Itoa(pid), "task", strconv.Itoa(pid), "stat")
	stat, err := os.ReadFile(path)
	if err != nil {
		k.t.Fatal(err)
	}
	k.write(path, strings.Replace(string(stat), " R ", " S ", 1))
}

// thread adds a thread to a process, that runs on a CPU.
func (k tree) thread(pid, tid, cpu int) {
	k.t.Helper()
	k.write(filepath.Join(k.Proc, strconv.Itoa(pid), "task", strconv.Itoa(tid), "stat"), fmt.Sprintf("%d (a) R %s%d 0 0\n", tid, strings.Repeat("0 ", 35), cpu))
}

// process makes a process of one thread that runs, on the CPU of its last digit. Times are in ticks of 10 ms, memory in KiB.
func (k tree) process(pid int, children string, user, system, reapedUser, reapedSystem, rss, peak int) {
	k.t.Helper()
	dir := filepath.Join(k.Proc, strconv.Itoa(pid))
	k.write(filepath.Join(dir, "task", strconv.Itoa(pid), "children"), children)
	for _, path := range []string{"stat", "task/" + strconv.Itoa(pid) + "/stat"} {
		k.write(filepath.Join(dir, path), fmt.Sprintf("%d (a) b (c) R 1 %d %d 0 -1 4194560 1 2 3 4 %d %d %d %d 20 0 1 0 77 5 6 %s %d 0 0\n",
			pid, pid, pid, user, system, reapedUser, reapedSystem, strings.Repeat("0 ", 14), pid%10))
	}
	k.write(filepath.Join(dir, "status"), fmt.Sprintf("Name:\ta\nVmHWM:\t%8d kB\nVmRSS:\t%8d kB\nThreads:\t1\n", peak, rss))
}

// busy makes the machine's CPUs have been busy for so many ticks, in each of five modes.
func (k tree) busy(ticks int) {
	k.t.Helper()
	k.write(filepath.Join(k.Proc, "stat"), fmt.Sprintf("cpu  %d %d %d 99999 88888 %d %d 7777 0 0\ncpu0 1 2 3\n", ticks, ticks, ticks, ticks, ticks))
}

// zone makes a zone of powercap; count and top are in microjoules.
func (k tree) zone(zone, name, count, top string) {
	k.t.Helper()
	dir := filepath.Join(k.Sys, "class/powercap", zone)
	k.write(filepath.Join(dir, "name"), name+"\n")
	k.write(filepath.Join(dir, "energy_uj"), count+"\n")
	k.write(filepath.Join(dir, "max_energy_range_uj"), top+"\n")
}

// remove takes a file or directory away.
func (k tree) remove(path string) {
	k.t.Helper()
	if err := os.RemoveAll(path); err != nil {
		k.t.Fatal(err)
	}
}
