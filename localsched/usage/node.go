package usage

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// The metrics of node_exporter that count here.
const (
	metricCPU    = "node_cpu_seconds_total"         // of each CPU and mode
	metricTotal  = "node_memory_MemTotal_bytes"     //
	metricFree   = "node_memory_MemAvailable_bytes" //
	metricEnergy = "node_rapl_package_joules_total" // of each CPU package
)

// Node is what a node's exporter tells at one time.
type Node struct {
	CPUs     int
	Busy     protocol.Duration // of all its CPUs together, since it was started
	MemoryMB int64             // in use; zero if not reported
	packages []counter
}

// ReadNode reads the metrics of a node in Prometheus' text format. A text without CPU metrics
// is refused: its other counters could not be attributed to runs.
func ReadNode(from io.Reader) (Node, error) {
	var node Node
	var seconds, total, free float64
	cpus := map[string]bool{}
	wanted := []string{metricCPU, metricTotal, metricFree, metricEnergy}
	err := parseExposition(from, func(name string) bool { return slices.Contains(wanted, name) }, func(s sample) {
		switch s.name {
		case metricCPU:
			cpus[s.label("cpu")] = true
			if !slices.Contains([]string{"idle", "iowait", "steal"}, s.label("mode")) {
				seconds += s.value
			}
		case metricTotal:
			total = s.value
		case metricFree:
			free = s.value
		case metricEnergy:
			if count, ok := whole(s.value, 1e6); ok {
				node.packages = append(node.packages, counter{zone: s.label("index") + s.label("path"), count: uint64(count)}) //nolint:gosec // it is not negative
			}
		}
	})
	if err != nil {
		return Node{}, err
	}
	busy, ok := whole(seconds, 1000)
	if len(cpus) == 0 || !ok {
		return Node{}, fmt.Errorf("it does not tell how busy its CPUs are; %s is missing or no sum of seconds", metricCPU)
	}
	node.CPUs, node.Busy = len(cpus), protocol.Duration(busy)
	if total > free {
		node.MemoryMB, _ = whole(total-free, 1./(1<<20))
	}
	slices.SortFunc(node.packages, func(a, b counter) int { return strings.Compare(a.zone, b.zone) })
	return node, nil
}

// Tally adds up what a node did while a run was on it. Its first reading is the beginning.
// The zero Tally has begun nothing.
type Tally struct {
	begun, broken bool
	last          Node
	busy          protocol.Duration
	powered       protocol.Duration // of that, the time of which the energy is known
	microjoules   uint64            // drawn in it
	before, most  int64             // memory in use, in MB
}

// Add adds what came since the last reading. A node that was restarted meanwhile, or that has
// other CPU packages, ends the tally: then it tells nothing. An energy counter that has begun
// again, as most do several times an hour, at a height that an exporter does not tell, leaves
// this one pause without energy.
func (t *Tally) Add(node Node) {
	if !t.begun {
		t.begun, t.last, t.before, t.most = true, node, node.MemoryMB, node.MemoryMB
		return
	}
	if node.Busy < t.last.Busy || !samePackages(t.last.packages, node.packages) {
		t.broken = true
		return
	}
	busy := node.Busy - t.last.Busy
	t.busy += busy
	if energy, ok := drawn(t.last.packages, node.packages); ok {
		t.powered += busy
		t.microjoules += energy
	}
	t.most = max(t.most, node.MemoryMB)
	t.last = node
}

// Energy is the share, in millijoules, that a run of so much CPU time has in what the node
// drew: as much for each second of a busy CPU as in the time of which it is known. 0: not
// known, as also when that was less than half of the run.
func (t *Tally) Energy(cpu protocol.Duration) int64 {
	if t.broken || t.powered <= 0 || t.powered < cpu/2 {
		return 0
	}
	return int64(math.Round(float64(t.microjoules) / 1000 * float64(max(0, cpu)) / float64(t.powered)))
}

// Alone is what is measured of a run that had the node to itself, including the counters that
// cannot be divided between runs of a shared node. What a node sends is not in it: the CPUs of a
// node send each other nothing through its network.
func (t *Tally) Alone() protocol.Usage {
	if t.broken || t.busy <= 0 {
		return protocol.Usage{}
	}
	return protocol.Usage{CPU: t.busy, MemoryMB: t.most - t.before, Energy: t.Energy(t.busy)}
}
