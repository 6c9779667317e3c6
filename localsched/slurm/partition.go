package slurm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// partition is a partition's limits. A number that is 0 is no limit.
type partition struct {
	name         string
	isDefault    bool
	state        string // UP, DOWN, DRAIN, INACTIVE
	maxTime      protocol.Duration
	maxNodes     int
	cpus         int
	nodes        int
	cpusPerNode  int   // MaxCPUsPerNode
	memPerNodeMB int64 // MaxMemPerNode
	wholeNode    bool
	tier         int   // PriorityTier: jobs of higher ones are considered first
	defCPUMB     int64 // DefMemPerCPU
	defNodeMB    int64 // DefMemPerNode
}

// partitions asks for all partitions.
func (c *commands) partitions(ctx context.Context) ([]*partition, error) {
	out, _, err := c.run(ctx, "", "scontrol", "-a", "show", "partition", "-o")
	if err != nil {
		return nil, err
	}
	return parsePartitions(out)
}

// ours are the named partitions, in their order; without names the default one.
func ours(all []*partition, names []string) (chosen []*partition, err error) {
	if len(names) == 0 {
		i := slices.IndexFunc(all, func(p *partition) bool { return p.isDefault })
		if i < 0 {
			return nil, fmt.Errorf("no partition of Slurm is the default; name one in the configuration, of: %s", strings.Join(namesOf(all), ", "))
		}
		return all[i : i+1], nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(p *partition) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no partition of Slurm is called %q; there are: %s", name, strings.Join(namesOf(all), ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func namesOf(all []*partition) []string {
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.name
	}
	return names
}

// parsePartitions reads what scontrol show partition -o prints.
func parsePartitions(out string) (all []*partition, err error) {
	number := 0
	for line := range strings.Lines(out) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		p, err := parsePartition(parseWords(line))
		if err != nil {
			return nil, fmt.Errorf("scontrol show partition, line %d: %w", number, err)
		}
		all = append(all, &p)
	}
	return all, nil
}

// parseWords reads a line of Key=Value words. Words without = are passed over,
// and of equal keys the first counts.
func parseWords(line string) map[string]string {
	words := map[string]string{}
	for word := range strings.FieldsSeq(line) {
		key, value, ok := strings.Cut(word, "=")
		if _, known := words[key]; ok && !known {
			words[key] = value
		}
	}
	return words
}

func parsePartition(words map[string]string) (p partition, err error) {
	p.name, p.state = words["PartitionName"], words["State"]
	if p.name == "" || p.state == "" {
		return partition{}, fmt.Errorf("a partition has no name or no state: %v", words)
	}
	p.isDefault = words["Default"] == "YES"
	p.wholeNode = words["OverSubscribe"] == "EXCLUSIVE"
	limit, err := parseLimit(words["MaxTime"])
	if err != nil {
		return partition{}, fmt.Errorf("partition %s: MaxTime: %w", p.name, err)
	}
	if limit != protocol.Never {
		p.maxTime = limit
	}
	var most, each, of int
	for key, to := range map[string]*int{
		"MaxNodes": &p.maxNodes, "TotalCPUs": &p.cpus, "TotalNodes": &p.nodes, "PriorityTier": &p.tier,
		"MaxCPUsPerNode": &p.cpusPerNode, "MaxMemPerNode": &most, "DefMemPerCPU": &each, "DefMemPerNode": &of,
	} {
		text := words[key]
		if text == "UNLIMITED" || text == "" {
			continue
		}
		if *to, err = parseCount(text, 1<<50); err != nil {
			return partition{}, fmt.Errorf("partition %s: %s: %w", p.name, key, err)
		}
	}
	p.memPerNodeMB, p.defCPUMB, p.defNodeMB = int64(most), int64(each), int64(of)
	return p, nil
}

// unfit is why the partition will not take a job of this shape, in Slurm's words
// where it has some; empty when it may.
func (p *partition) unfit(r protocol.Request, m machine) string {
	switch {
	case p.state != "UP":
		return fmt.Sprintf("PartitionDown: partition %s is in the state %s", p.name, p.state)
	case p.maxTime > 0 && r.WallTime > p.maxTime:
		return fmt.Sprintf("PartitionTimeLimit: needs %s, partition %s allows %s", r.WallTime.Text(), p.name, p.maxTime.Text())
	case p.maxNodes > 0 && nodesOf(r, m) > p.maxNodes:
		return fmt.Sprintf("PartitionNodeLimit: needs %d nodes, partition %s allows %d", nodesOf(r, m), p.name, p.maxNodes)
	case nodesOf(r, m) > p.nodes:
		return fmt.Sprintf("PartitionConfig: needs %d nodes, partition %s has %d", nodesOf(r, m), p.name, p.nodes)
	case r.CPUs > p.cpus:
		return fmt.Sprintf("PartitionConfig: needs %d CPUs, partition %s has %d", r.CPUs, p.name, p.cpus)
	case p.cpusPerNode > 0 && p.nodes > 0 && r.CPUs > p.cpusPerNode*p.nodes:
		return fmt.Sprintf("PartitionConfig: needs %d CPUs, partition %s allows %d on each of %d nodes", r.CPUs, p.name, p.cpusPerNode, p.nodes)
	case p.memPerNodeMB > 0 && r.NodeMemoryMB() > p.memPerNodeMB:
		return fmt.Sprintf("MaxMemPerLimit: needs %d MB per node, partition %s allows %d", r.NodeMemoryMB(), p.name, p.memPerNodeMB)
	case m.memoryMB > 0 && r.NodeMemoryMB() > m.memoryMB:
		return fmt.Sprintf("needs %d MB per node, the largest node has %d", r.NodeMemoryMB(), m.memoryMB)
	}
	return cmp.Or(p.unfitNode(r.NodeCPUs(), m), p.lacks(r, m))
}

// unfitNode returns the reason why no node can give one job this number of CPUs, or "".
func (p *partition) unfitNode(cpus int, m machine) string {
	switch {
	case m.nodeCPUs > 0 && cpus > m.nodeCPUs:
		return fmt.Sprintf("needs %d CPUs on one node, the largest has %d", cpus, m.nodeCPUs)
	case p.cpusPerNode > 0 && cpus > p.cpusPerNode:
		return fmt.Sprintf("needs %d CPUs on one node, partition %s allows %d", cpus, p.name, p.cpusPerNode)
	}
	return ""
}

// nodesOf is how many nodes a job asks for, as many as it says or, if it allows more, as its
// tasks need, whichever is more; 0 when it does not say.
func nodesOf(r protocol.Request, m machine) int {
	least := r.LeastNodes()
	if least < 1 || r.Layout.MaxNodes > 0 || m.nodeCPUs < 1 {
		return least
	}
	return max(least, r.NodesOf(m.nodeCPUs))
}

// admitting are the partitions that take the job, or why none does.
func admitting(all []*partition, r protocol.Request, m machine) (some []*partition, reason string) {
	var reasons []string
	for _, p := range all {
		why := p.unfit(r, m)
		if why == "" {
			some = append(some, p)
			continue
		}
		reasons = append(reasons, why)
	}
	if len(some) > 0 {
		return some, ""
	}
	return nil, strings.Join(reasons, "; ")
}

// in are the partitions in which a job is put that is to run in one of a list of names with commas between, or
// without a name in any; or why there is none.
func (s *snapshot) in(names string) (some []*partition, reason string) {
	if names == "" {
		return s.partitions, ""
	}
	asked := strings.Split(names, ",")
	some = slices.DeleteFunc(slices.Clone(s.partitions), func(p *partition) bool { return !slices.Contains(asked, p.name) })
	if len(some) == 0 {
		return nil, fmt.Sprintf("PartitionConfig: jobs of the grid are put in %s here, not in partition %s",
			strings.Join(namesOf(s.partitions), ", "), strings.Join(asked, " or "))
	}
	return some, ""
}

// choose is the first partition that takes the job, or why none does.
func choose(all []*partition, r protocol.Request, m machine) (chosen *partition, reason string) {
	some, reason := admitting(all, r, m)
	if reason != "" {
		return nil, reason
	}
	return some[0], ""
}
