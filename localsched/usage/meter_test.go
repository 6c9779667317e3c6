package usage_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/usage"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestMeterAddsTheTree: grandchildren as well, what was reaped and what runs, and of memory
// the most at once.
func TestMeterAddsTheTree(t *testing.T) {
	t.Parallel()
	k := newTree(t)
	k.process(100, "101 102\n", 9999, 9999, 9999, 9999, 9_999_999, 9_999_999) // the watcher itself does not count
	k.process(101, "103", 10, 20, 30, 40, 3000, 4000)
	k.process(102, "101", 1, 0, 0, 0, 500, 500) // a pid that has moved meanwhile
	k.process(103, "", 5, 5, 0, 0, 100, 100)
	k.process(104, "", 7777, 0, 0, 0, 8888, 8888) // of somebody else
	m := usage.NewMeter(k.Roots, 100)
	m.Sample(usage.Reaped{CPU: 1000})
	if got, want := m.Usage(), (protocol.Usage{CPU: 1000 + 1110, MemoryMB: 4}); got != want {
		t.Errorf("measured %+v, want %+v", got, want)
	}
	k.process(101, "103", 11, 20, 30, 40, 9000, 9000)
	k.process(103, "", 5, 5, 0, 0, 1200, 1500)
	m.Sample(usage.Reaped{CPU: 1000})
	k.process(100, "", 0, 0, 0, 0, 0, 0)
	m.Sample(usage.Reaped{CPU: 2130, Peak: 9100})
	if got, want := m.Usage(), (protocol.Usage{CPU: 2130, MemoryMB: 11}); got != want { // 9000 + 500 + 1200 KiB
		t.Errorf("measured %+v, want %+v", got, want)
	}
}

// TestMeterWithoutSamples: what only the end can tell.
func TestMeterWithoutSamples(t *testing.T) {
	t.Parallel()
	k := newTree(t)
	m := usage.NewMeter(k.Roots, 100)
	m.Sample(usage.Reaped{CPU: 7, Peak: 2049})
	if got, want := m.Usage(), (protocol.Usage{CPU: 7, MemoryMB: 3}); got != want {
		t.Errorf("measured %+v, want %+v", got, want)
	}
}

// TestMeterKeepsWhatIsLost: the CPU time of children that nobody waited for is not in the
// sum at the end.
func TestMeterKeepsWhatIsLost(t *testing.T) {
	t.Parallel()
	k := newTree(t)
	k.process(1, "2", 0, 0, 0, 0, 0, 0)
	k.process(2, "", 50, 0, 0, 0, 1, 1)
	m := usage.NewMeter(k.Roots, 1)
	m.Sample(usage.Reaped{})
	k.process(1, "", 0, 0, 0, 0, 0, 0)
	m.Sample(usage.Reaped{CPU: 20})
	if got := m.Usage().CPU; got != 500 {
		t.Errorf("measured %v of CPU time", got)
	}
}

// TestMeterPassesOverDamage: what cannot be read of a process is not measured.
func TestMeterPassesOverDamage(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(tree){
		"no stat":        func(k tree) { k.remove(filepath.Join(k.Proc, "2/stat")) },
		"no status":      func(k tree) { k.remove(filepath.Join(k.Proc, "2/status")) },
		"short stat":     func(k tree) { k.write(filepath.Join(k.Proc, "2/stat"), "2 (x) S 1 2 3") },
		"negative times": func(k tree) { k.process(2, "", -1, 0, 0, 0, 10, 10) },
		"endless times": func(k tree) {
			k.write(filepath.Join(k.Proc, "2/stat"), "2 (x) S 1"+strings.Repeat(" 9223372036854775807", 40))
		},
	} {
		k := newTree(t)
		k.process(1, "2 x -3 0", 0, 0, 0, 0, 0, 0)
		k.process(2, "", 5, 0, 0, 0, 10, 10)
		damage(k)
		m := usage.NewMeter(k.Roots, 1)
		m.Sample(usage.Reaped{CPU: 3})
		if got := m.Usage(); got != (protocol.Usage{CPU: 3}) {
			t.Errorf("%s: measured %+v", name, got)
		}
	}
}

// TestEnergy: by the share of the time in which CPUs were busy, over the ends of counters.
func TestEnergy(t *testing.T) {
	t.Parallel()
	const first, second = "intel-rapl:0", "intel-rapl:1"
	for name, c := range map[string]struct {
		busy   int // ticks in each of five modes
		change func(tree)
		want   int64 // millijoules
	}{
		"a quarter": {80, func(k tree) { k.zone(first, "package-0", "9000000", "9999999") }, 2000},
		"two packages": {80, func(k tree) {
			k.zone(first, "package-0", "2000000", "9999999")
			k.zone(second, "package-1", "700000", "999999")
		}, 300},
		"around":        {80, func(k tree) { k.zone(second, "package-1", "400000", "999999") }, 225}, // 500000 to 10⁶, and on to 400000
		"all of it":     {20, func(k tree) { k.zone(first, "package-0", "3000000", "9999999") }, 2000},
		"clocks differ": {10, func(k tree) { k.zone(first, "package-0", "3000000", "9999999") }, 2000},
		"idle machine":  {0, func(k tree) { k.zone(first, "package-0", "3000000", "9999999") }, 0},
		"around at an unknown height": {80, func(k tree) {
			k.zone(first, "package-0", "10", "x")
		}, 0},
		"a package less": {80, func(k tree) { k.remove(filepath.Join(k.Sys, "class/powercap", second)) }, 0},
		"forbidden":      {80, func(k tree) { k.remove(filepath.Join(k.Sys, "class/powercap", first, "energy_uj")) }, 0},
		"no busy time":   {80, func(k tree) { k.write(filepath.Join(k.Proc, "stat"), "cpu 1 2 3") }, 0},
	} {
		k := newTree(t)
		k.busy(1000)
		k.zone(first, "package-0", "1000000", "9999999")
		k.zone(second, "package-1", "500000", "999999")
		for _, other := range []string{"intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0"} {
			k.zone(other, map[bool]string{true: "psys", false: "core"}[other == "intel-rapl:2"], "1", "9999999")
		}
		m := usage.NewMeter(k.Roots, 1)
		for _, other := range []string{"intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0"} {
			k.write(filepath.Join(k.Sys, "class/powercap", other, "energy_uj"), "8888888")
		}
		k.busy(1000 + c.busy)
		c.change(k)
		m.Sample(usage.Reaped{CPU: 1000}) // 100 ticks
		if got := m.Usage().Energy; got != c.want {
			t.Errorf("%s: measured %d mJ, want %d", name, got, c.want)
		}
	}
}

// TestEnergyOverGaps: where a reading of the counters fails, or the CPU time that is read falls
// for a moment while a process ends, the energy of the run is what its other parts tell.
func TestEnergyOverGaps(t *testing.T) {
	t.Parallel()
	const zone = "intel-rapl:0"
	for name, c := range map[string]struct {
		top   string
		joule []int // as the counter reads after each ten seconds, of 10 J; below 0: it cannot be read
		cpu   []protocol.Duration
		want  int64
	}{
		"all is read":               {"9999999999", []int{10, 20, 30, 40}, []protocol.Duration{5000, 10000, 15000, 20000}, 20_000},
		"one reading fails":         {"9999999999", []int{10, -1, 30, 40}, []protocol.Duration{5000, 10000, 15000, 20000}, 20_000},
		"around at unknown height":  {"x", []int{10, 20, 3, 13}, []protocol.Duration{5000, 10000, 15000, 20000}, 20_000},
		"most readings fail":        {"9999999999", []int{10, -1, -1, -1}, []protocol.Duration{5000, 10000, 15000, 20000}, 0},
		"a process ends meanwhile":  {"9999999999", []int{10, 20, 30, 40}, []protocol.Duration{5000, 1000, 15000, 20000}, 20_000},
		"its counters are not seen": {"9999999999", []int{-1, -1, -1, -1}, []protocol.Duration{5000, 10000, 15000, 20000}, 0},
	} {
		k := newTree(t)
		k.busy(0)
		k.zone(zone, "package-0", "0", c.top)
		m := usage.NewMeter(k.Roots, 1)
		for i, joule := range c.joule {
			k.busy(200 * (i + 1)) // ten seconds of CPUs
			k.zone(zone, "package-0", strconv.Itoa(1_000_000*joule), c.top)
			m.Sample(usage.Reaped{CPU: c.cpu[i]})
		}
		if got := m.Usage().Energy; got != c.want {
			t.Errorf("%s: measured %d mJ, want %d", name, got, c.want)
		}
	}
}

// TestEnergyAddsUp: however often it is sampled, jobs that are all that runs on the machine
// are given all that it draws.
func TestEnergyAddsUp(t *testing.T) {
	t.Parallel()
	k := newTree(t)
	rapid.Check(t, func(r *rapid.T) {
		count, top := uint64(rapid.IntRange(0, 1_000_000).Draw(r, "count")), uint64(1_000_000)
		set := func(busy int) {
			k.busy(busy)
			k.zone("intel-rapl:0", "package-0", strconv.FormatUint(count, 10), strconv.FormatUint(top, 10))
		}
		busy, cpu := 0, [2]protocol.Duration{}
		set(busy)
		jobs := [2]*usage.Meter{usage.NewMeter(k.Roots, 1), usage.NewMeter(k.Roots, 1)}
		var drawn uint64
		for range rapid.IntRange(1, 4).Draw(r, "samples") {
			more := uint64(rapid.IntRange(0, 1_000_000).Draw(r, "drawn"))
			drawn += more
			count = (count + more) % (top + 1)
			ticks := rapid.IntRange(1, 50).Draw(r, "busy")
			busy += ticks
			set(busy)
			mine := rapid.IntRange(0, 5*ticks).Draw(r, "mine")
			cpu[0] += protocol.Duration(mine) * 10
			cpu[1] += protocol.Duration(5*ticks-mine) * 10
			for i, m := range jobs {
				m.Sample(usage.Reaped{CPU: cpu[i]})
			}
		}
		sum := jobs[0].Usage().Energy + jobs[1].Usage().Energy
		if want := int64(drawn / 1000); sum < want-1 || sum > want+2 {
			r.Fatalf("jobs are given %d mJ of %d µJ", sum, drawn)
		}
	})
}

// TestSleepersHaveNoClock: the CPU on which a shell waits for its children runs slowly, or is
// somebody else's. The component runs at the clock of those where it works.
func TestSleepersHaveNoClock(t *testing.T) {
	t.Parallel()
	k := newTree(t)
	for cpu, kilohertz := range map[string]string{"cpu0": "800000", "cpu1": "2400000"} {
		k.write(filepath.Join(k.Sys, "devices/system/cpu", cpu, "cpufreq/scaling_cur_freq"), kilohertz)
	}
	k.process(1, "20", 0, 0, 0, 0, 0, 0)
	k.process(20, "21", 0, 0, 0, 0, 1, 1)
	k.process(21, "", 100, 0, 0, 0, 1, 1)
	k.sleeps(20)
	k.sleeps(21) // as the first thread of a program does that computes in its second one
	k.thread(21, 22, 1)
	m := usage.NewMeter(k.Roots, 1)
	m.Sample(usage.Reaped{})
	if got := m.Usage(); got.MHz != 2400 || got.CPU != 1000 {
		t.Errorf("measured %+v", got)
	}
}

// TestClock: the governor's word first, then that of cpuinfo; the mean over the CPUs that the
// processes run on, and over samples.
func TestClock(t *testing.T) {
	t.Parallel()
	k := newTree(t)
	if got := k.MHz(); got != 0 {
		t.Errorf("a machine that tells nothing runs at %d MHz", got)
	}
	k.write(filepath.Join(k.Proc, "cpuinfo"), "processor\t: 0\nmodel name\t: a CPU @ 9 MHz\ncpu MHz\t\t: 2100.400\n\nprocessor\t: 7\ncpu MHz\t\t: 2200.2\ncpu MHz : x\nprocessor: x\ncpu MHz\t: NaN\n")
	if got := k.MHz(); got != 2150 {
		t.Errorf("by cpuinfo it runs at %d MHz", got)
	}
	if got := k.MHz(7, 8); got != 2200 {
		t.Errorf("by cpuinfo the CPU 7 runs at %d MHz", got)
	}
	for cpu, kilohertz := range map[string]string{"cpu0": "800000\n", "cpu3": "1200000\n", "cpu17": "2200000\n", "cpufreq": "x"} {
		k.write(filepath.Join(k.Sys, "devices/system/cpu", cpu, "cpufreq/scaling_cur_freq"), kilohertz)
	}
	if got := k.MHz(); got != 1400 {
		t.Errorf("by the governor it runs at %d MHz", got)
	}
	k.process(1, "10 13", 0, 0, 0, 0, 0, 0)
	k.process(10, "", 1, 0, 0, 0, 1, 1)
	k.process(13, "", 1, 0, 0, 0, 1, 1)
	m := usage.NewMeter(k.Roots, 1)
	m.Sample(usage.Reaped{})
	k.write(filepath.Join(k.Sys, "devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"), "2800000")
	m.Sample(usage.Reaped{})
	k.sleeps(10)
	k.sleeps(13)
	m.Sample(usage.Reaped{}) // a CPU on which nothing runs is slow for that
	k.process(1, "", 0, 0, 0, 0, 0, 0)
	m.Sample(usage.Reaped{CPU: 20}) // nothing runs any more
	if got := m.Usage().MHz; got != 1500 {
		t.Errorf("by the governor it ran at %d MHz", got)
	}
}

// TestMeterOfRealProcesses: a shell holds 60 MB in a variable, and its child works. Once both
// are reaped the kernel has added their times up. It is alone: children of other tests would
// count.
func TestMeterOfRealProcesses(t *testing.T) {
	const script = `x=$(head -c 60000000 /dev/zero | tr '\0' x)
(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo ready; read -r go)
echo ${#x} >/dev/null`
	before, err := usage.Children()
	if err != nil {
		t.Fatal(err)
	}
	m := usage.NewMeter(usage.Kernel(), os.Getpid())
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatal(line, err)
	}
	if _, err = os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children"); err != nil {
		t.Skip("the kernel does not tell of children:", err)
	}
	m.Sample(before)
	running := m.Usage()
	if running.CPU < 10 || running.MemoryMB < 57 || running.MemoryMB > 4000 {
		t.Errorf("while it runs: %+v", running)
	}
	if _, err = in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	if err = cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	after, err := usage.Children()
	if err != nil {
		t.Fatal(err)
	}
	if used := cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime(); after.CPU-before.CPU < protocol.DurationOf(used)-1 {
		t.Errorf("it has used %v, and %v is reaped", used, after.CPU-before.CPU)
	}
	m.Sample(after)
	if ended := m.Usage(); ended.CPU < after.CPU || ended.MemoryMB < running.MemoryMB {
		t.Errorf("after its end: %+v", ended)
	}
}

func FuzzParseTimes(f *testing.F) {
	self, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(self))
	f.Add("1 (a) b) S 1 2 3")
	f.Add("1 (x) S " + strings.Repeat("9223372036854775807 ", 20))
	f.Fuzz(func(t *testing.T, line string) {
		if cpu, err := usage.ParseTimes(line); cpu < 0 || err != nil && cpu != 0 {
			t.Errorf("%q is %v, %v", line, cpu, err)
		}
	})
}
