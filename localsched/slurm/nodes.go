package slurm

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// machine is the nodes of some partitions, each counted once.
type machine struct {
	nodes    int
	cpus     int
	idle     int   // CPUs that are free on nodes that take jobs
	up       int   // CPUs, busy or free, of nodes that take jobs
	upNodes  int   // nodes that take jobs
	memoryMB int64 // of the node with the most
	nodeCPUs int   // of the node with the most
}

const nodesFormat = "%N|%R|%C|%m"

// machine asks for the nodes of the partitions.
func (c *commands) machine(ctx context.Context, partitions []string) (machine, error) {
	out, _, err := c.run(ctx, "", "sinfo", "-h", "-N", "-o", nodesFormat, "-p", strings.Join(partitions, ","))
	if err != nil {
		return machine{}, err
	}
	return parseNodes(out, partitions)
}

// parseNodes reads what sinfo prints: a line for each node and partition.
func parseNodes(out string, partitions []string) (m machine, err error) {
	seen := map[string]bool{}
	number := 0
	for line := range strings.Lines(out) {
		number++
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 4 {
			return machine{}, fmt.Errorf("sinfo, line %d: %.200q has %d fields, not 4", number, line, len(f))
		}
		if seen[f[0]] || !slices.Contains(partitions, f[1]) {
			continue
		}
		seen[f[0]] = true
		if err := m.add(f[2], f[3]); err != nil {
			return machine{}, fmt.Errorf("sinfo, line %d, node %s: %w", number, f[0], err)
		}
	}
	return m, nil
}

// add counts a node: its CPUs as allocated/idle/other/total, and its memory in MB.
// The CPUs of nodes that are down or drained are the other ones.
func (m *machine) add(cpus, memory string) error {
	f := strings.Split(cpus, "/")
	if len(f) != 4 {
		return fmt.Errorf("%q is not allocated/idle/other/total CPUs", cpus)
	}
	var n [4]int
	for i, text := range f {
		var err error
		if n[i], err = parseCount(text, 1<<31); err != nil {
			return fmt.Errorf("CPUs %q: %w", cpus, err)
		}
	}
	mb, err := parseCount(strings.TrimSuffix(memory, "+"), 1<<50)
	if err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	m.nodes++
	m.cpus += n[3]
	m.idle += n[1]
	m.up += n[0] + n[1]
	if n[0]+n[1] > 0 {
		m.upNodes++
	}
	m.memoryMB, m.nodeCPUs = max(m.memoryMB, int64(mb)), max(m.nodeCPUs, n[3])
	return nil
}
