package slurm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// node is one node of the cluster.
type node struct {
	name       string
	partitions []string
	cpus       int
	busy       int // CPUs of jobs
	idle       int // CPUs that are free, if it takes jobs
	threads    int // CPUs of a core
	memoryMB   int64
	state      string
	features   []string            // that it has, or that Slurm can have it boot with; sorted
	resources  []protocol.Resource // beside CPUs and memory; sorted
}

const nodesFormat = "%N|%R|%C|%m|%Z|%T|%f|%G"

// nodes asks for the nodes of all partitions.
func (c *commands) nodes(ctx context.Context) ([]node, error) {
	out, _, err := c.run(ctx, "", "sinfo", "-h", "-a", "-N", "--noconvert", "-o", nodesFormat)
	if err != nil {
		return nil, err
	}
	return parseNodes(out)
}

// parseNodes reads what sinfo prints: a line for each node and partition.
func parseNodes(out string) (nodes []node, err error) {
	known := map[string]int{}
	number := 0
	for line := range strings.Lines(out) {
		number++
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 8 {
			return nil, fmt.Errorf("sinfo, line %d: %.200q has %d fields, not 8", number, line, len(f))
		}
		i, again := known[f[0]]
		if !again {
			n, err := parseNode(f)
			if err != nil {
				return nil, fmt.Errorf("sinfo, line %d, node %s: %w", number, f[0], err)
			}
			i = len(nodes)
			nodes, known[f[0]] = append(nodes, n), i
		}
		nodes[i].partitions = append(nodes[i].partitions, f[1])
	}
	return nodes, nil
}

// parseNode reads a node: its CPUs as allocated/idle/other/total, and its memory in MB.
// The CPUs of nodes that are down or drained are the other ones.
func parseNode(f []string) (n node, err error) {
	cpus := strings.Split(f[2], "/")
	if len(cpus) != 4 {
		return node{}, fmt.Errorf("%q is not allocated/idle/other/total CPUs", f[2])
	}
	var counts [4]int
	for i, text := range cpus {
		if counts[i], err = parseCount(text, 1<<31); err != nil {
			return node{}, fmt.Errorf("CPUs %q: %w", f[2], err)
		}
	}
	mb, err := parseCount(strings.TrimSuffix(f[3], "+"), 1<<50)
	if err != nil {
		return node{}, fmt.Errorf("memory: %w", err)
	}
	threads, err := parseCount(strings.TrimSuffix(f[4], "+"), 1<<16)
	if err != nil {
		return node{}, fmt.Errorf("threads of a core: %w", err)
	}
	resources, err := parseResources(f[7])
	if err != nil {
		return node{}, err
	}
	return node{
		name: f[0], busy: counts[0], idle: counts[1], cpus: counts[3], memoryMB: int64(mb), threads: max(1, threads), state: f[5],
		features: parseFeatures(f[6]), resources: resources,
	}, nil
}

// takesJobs reports whether jobs may start on the node now or when others have ended. One
// that is drained or down takes none until an operator changes that.
func (n *node) takesJobs() bool {
	// The marks are for nodes that save power, start up, or are planned for a job. One
	// that does not answer has a *.
	switch strings.TrimRight(n.state, "~#!%$@^+-") {
	case "idle", "mixed", "allocated", "completing", "planned", "reserved", "maint":
		return true
	}
	return false
}

// machine is the nodes of some partitions, each counted once.
type machine struct {
	nodes    int
	cpus     int
	idle     int   // CPUs that are free on nodes that take jobs
	memoryMB int64 // of the node with the most
	nodeCPUs int   // of the node with the most

	groups      []protocol.NodeGroup            // of like nodes
	byPartition map[string][]protocol.NodeGroup // the same for each partition alone
	licenses    []protocol.Resource             // of the cluster
}

// machineOf is the nodes of some partitions and the licenses of the cluster.
func machineOf(nodes []node, partitions []string, licenses []protocol.Resource) (m machine) {
	m.licenses, m.byPartition = licenses, map[string][]protocol.NodeGroup{}
	var all []*node
	of := map[string][]*node{}
	for i := range nodes {
		n := &nodes[i]
		is := false
		for _, name := range n.partitions {
			if slices.Contains(partitions, name) {
				is, of[name] = true, append(of[name], n)
			}
		}
		if !is {
			continue
		}
		all = append(all, n)
		m.nodes++
		m.cpus += n.cpus
		m.idle += n.idle
		m.memoryMB, m.nodeCPUs = max(m.memoryMB, n.memoryMB), max(m.nodeCPUs, n.cpus)
	}
	m.groups = groupsOf(all)
	for name, some := range of {
		m.byPartition[name] = groupsOf(some)
	}
	return m
}
