package usage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// tick is how long a clock tick is in which /proc counts: Linux tells user space of 100 in
// a second on every machine (USER_HZ).
const tick = protocol.Second / 100

// process is what /proc tells of a living process.
type process struct {
	cpu  protocol.Duration // its own, and of its children that were waited for
	on   []int             // the CPUs on which threads of it run now
	rss  int64             // resident now, in KiB
	peak int64             // most resident ever, in KiB; 0 once it has ended
}

// descendants are the processes below one, as far as they can be read while they come and
// go.
func (r Roots) descendants(of int) (found []process) {
	pids := r.children(of)
	seen := map[int]bool{of: true} // while processes move, a pid may turn up twice
	for len(pids) > 0 {
		pid := pids[len(pids)-1]
		pids = pids[:len(pids)-1]
		if seen[pid] {
			continue
		}
		seen[pid] = true
		if p, err := r.process(pid); err == nil {
			found = append(found, p)
		}
		pids = append(pids, r.children(pid)...)
	}
	return found
}

// children are the pids of a process's children. A kernel without CONFIG_PROC_CHILDREN
// tells of none.
func (r Roots) children(of int) (pids []int) {
	threads := filepath.Join(r.Proc, strconv.Itoa(of), "task")
	entries, err := os.ReadDir(threads)
	if err != nil {
		return nil // the process is gone
	}
	for _, thread := range entries {
		data, err := os.ReadFile(filepath.Join(threads, thread.Name(), "children"))
		if err != nil {
			continue // the thread is gone
		}
		for word := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func (r Roots) process(pid int) (process, error) {
	dir := filepath.Join(r.Proc, strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return process{}, err
	}
	p, err := parseStat(string(stat))
	if err != nil {
		return process{}, err
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return process{}, err
	}
	p.rss, p.peak = kibibytes(string(status), "VmRSS:"), kibibytes(string(status), "VmHWM:")
	p.on = r.running(pid)
	return p, nil
}

// running are the CPUs on which threads of a process run now. The first thread of many programs
// only waits for the others.
func (r Roots) running(pid int) (on []int) {
	threads, _ := filepath.Glob(filepath.Join(r.Proc, strconv.Itoa(pid), "task", "*", "stat")) // the pattern is sound
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil {
			continue // it is gone
		}
		if cpu, ok := runsOn(string(stat)); ok {
			on = append(on, cpu)
		}
	}
	return on
}

// The numbers of fields in /proc/<pid>/stat and /proc/<pid>/task/<tid>/stat, proc_pid_stat(5).
const (
	fieldState     = 3
	fieldUser      = 14 // utime, then stime, cutime and cstime
	fieldReaped    = 17
	fieldProcessor = 39
)

// statFields are those from the state on. They are counted from behind the command's name,
// which may hold anything.
func statFields(line string) []string {
	return strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
}

// runsOn is the CPU of a thread that runs.
func runsOn(stat string) (cpu int, ok bool) {
	fields := statFields(stat)
	if len(fields) <= fieldProcessor-fieldState || fields[0] != "R" {
		return 0, false
	}
	cpu, err := strconv.Atoi(fields[fieldProcessor-fieldState])
	return cpu, err == nil && cpu >= 0
}

// parseStat adds up utime, stime, cutime and cstime of /proc/<pid>/stat.
func parseStat(line string) (p process, err error) {
	fields := statFields(line)
	if len(fields) <= fieldReaped-fieldState {
		return process{}, fmt.Errorf("process stat %.60q has too few fields", line)
	}
	for _, field := range fields[fieldUser-fieldState : fieldReaped-fieldState+1] {
		ticks, wrong := parseTicks(field)
		if wrong != nil {
			return process{}, fmt.Errorf("process stat %.60q: %w", line, wrong)
		}
		p.cpu += ticks
	}
	return p, nil
}

// parseTicks reads a count of ticks. More than a million CPUs work in thousand years is
// refused, so that sums cannot overflow.
func parseTicks(text string) (protocol.Duration, error) {
	const most = 1 << 58 / int64(tick)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%.30q is no number of clock ticks", text)
	}
	return protocol.Duration(n) * tick, nil
}

// kibibytes finds a line "key   123 kB" of /proc/<pid>/status or /proc/meminfo; 0 when there
// is none.
func kibibytes(text, key string) int64 {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, key)
		if !ok {
			continue
		}
		words := strings.Fields(rest)
		if len(words) != 2 || words[1] != "kB" {
			return 0
		}
		n, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			return 0
		}
		return min(max(0, n), maxKiB)
	}
	return 0
}

// maxKiB bounds the memory of a process, so that sums cannot overflow: 1 EiB.
const maxKiB = 1 << 50

// busy is how long the machine's CPUs have been busy, all together, since it was started.
// What a hypervisor has withheld (steal) is no work of this machine's.
func (r Roots) busy() (protocol.Duration, error) {
	data, err := os.ReadFile(filepath.Join(r.Proc, "stat"))
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	words := strings.Fields(line)
	const modes = 7 // user, nice, system, idle, iowait, irq, softirq; user holds guest already
	if len(words) <= modes || words[0] != "cpu" {
		return 0, errors.New("the first line of /proc/stat is not the sum over all CPUs")
	}
	var sum protocol.Duration
	for i, word := range words[1 : modes+1] {
		ticks, err := parseTicks(word)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		if i != 3 && i != 4 { // idle, and idle while a disk works
			sum += ticks
		}
	}
	return sum, nil
}
