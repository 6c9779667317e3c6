package usage

import (
	"fmt"
	"math"
	"syscall"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Roots are where the kernel's files are.
type Roots struct {
	Proc string // as /proc
	Sys  string // as /sys
}

// Kernel is where Linux has its files.
func Kernel() Roots { return Roots{Proc: "/proc", Sys: "/sys"} }

// Reaped is what the kernel tells of the children that a process has waited for, and of
// theirs.
type Reaped struct {
	CPU  protocol.Duration // of all, user and system, rounded up
	Peak int64             // of the largest process, in KiB; 0: nothing is known of it
}

// Children is what this process has reaped. Its children begin as copies of it, so that of a
// peak no larger than its own nothing is known.
func Children() (Reaped, error) {
	var own, children syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children); err != nil {
		return Reaped{}, fmt.Errorf("ask for the resources of children: %w", err)
	}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return Reaped{}, fmt.Errorf("ask for the own resources: %w", err)
	}
	const perMilli = 1_000_000
	reaped := Reaped{CPU: protocol.Duration((children.Utime.Nano() + children.Stime.Nano() + perMilli - 1) / perMilli)}
	if children.Maxrss > own.Maxrss {
		reaped.Peak = min(children.Maxrss, maxKiB)
	}
	return reaped, nil
}

// Meter measures the descendants of one process. [NewMeter] makes one. It is for one
// goroutine.
type Meter struct {
	roots   Roots
	watcher int
	last    reading

	cpu     protocol.Duration
	peak    int64             // KiB
	energy  float64           // millijoules
	powered protocol.Duration // of cpu, that of which the energy is known
	clock   float64           // the sum over the samples, in MHz
	clocks  int               // how many that are
}

// reading is what counters say at one time.
type reading struct {
	cpu      protocol.Duration // of the descendants
	busy     protocol.Duration // of the machine's CPUs
	packages []counter         // nil: not known
}

// NewMeter begins to measure the descendants of a process, which has none yet.
func NewMeter(roots Roots, watcher int) *Meter {
	m := &Meter{roots: roots, watcher: watcher}
	m.last = m.read(0)
	return m
}

// read reads the counters of the machine. Energy can be attributed to a run only if both
// counters can be read.
func (m *Meter) read(cpu protocol.Duration) reading {
	packages := m.roots.packages()
	if len(packages) == 0 {
		return reading{cpu: cpu}
	}
	busy, err := m.roots.busy()
	if err != nil {
		return reading{cpu: cpu}
	}
	return reading{cpu: cpu, busy: busy, packages: packages}
}

// Sample measures once more. The more often, the better is the peak of the memory known,
// and whose energy it was. It must be called at the end, when all descendants are reaped,
// and within [MaxPause] of the call before, so that no energy counter begins again twice.
func (m *Meter) Sample(reaped Reaped) {
	cpu, rss, peak := reaped.CPU, int64(0), reaped.Peak
	var on []int
	for _, p := range m.roots.descendants(m.watcher) {
		on = append(on, p.on...)
		cpu += p.cpu
		rss += p.rss
		peak = max(peak, p.peak)
	}
	m.cpu = max(m.cpu, cpu)
	m.peak = max(m.peak, rss, peak)
	now := m.read(m.cpu) // which never falls, as what is read does while a process moves to those reaped
	if energy, ok := shareOf(m.last, now); ok {
		m.energy += energy
		m.powered += now.cpu - m.last.cpu
	}
	m.last = now
	if len(on) == 0 {
		return // the clock of CPUs that idle or do something else says nothing
	}
	if clock := m.roots.MHz(on...); clock > 0 {
		m.clock += float64(clock)
		m.clocks++
	}
}

// MaxPause is the longest time between two samples: a CPU package of a kilowatt whose
// counter holds 262 kJ, as most do, begins again after four minutes.
const MaxPause = 30 * protocol.Second

// shareOf is what the descendants have drawn between two readings, in millijoules: of what
// the packages have drawn, their share of the time in which CPUs were busy. Not ok: it is not
// known.
func shareOf(from, to reading) (millijoules float64, ok bool) {
	microjoules, ok := drawn(from.packages, to.packages)
	busy, used := to.busy-from.busy, to.cpu-from.cpu
	if !ok || busy <= 0 || used <= 0 {
		return 0, false
	}
	return float64(microjoules) / 1000 * min(1, float64(used)/float64(busy)), true
}

// total is what the descendants have drawn, in millijoules. Where some readings failed they
// are taken to have drawn then what they draw else for their CPU time; 0: not known, as also
// when that was more than half of it.
func (m *Meter) total() float64 {
	if m.powered <= 0 || m.powered < m.cpu/2 {
		return 0
	}
	return m.energy * float64(m.cpu) / float64(m.powered)
}

// Usage is what was measured up to the last sample.
func (m *Meter) Usage() protocol.Usage {
	const perMB = 1024
	u := protocol.Usage{
		CPU:      m.cpu,
		MemoryMB: (m.peak + perMB - 1) / perMB,
		Energy:   int64(math.Round(min(m.total(), math.MaxInt64/2))),
	}
	if m.clocks > 0 {
		u.MHz = int(math.Round(m.clock / float64(m.clocks)))
	}
	return u
}
