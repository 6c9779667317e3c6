package experiment

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// NodeGroup is a table [[site.node_group]]: nodes of a site that are alike, on a machine whose nodes are not.
type NodeGroup struct {
	Nodes     int              `toml:"nodes"`
	CPUs      int              `toml:"cpus"`      // of each
	Memory    config.Megabytes `toml:"memory"`    // of each; 0: not stated
	Features  []string         `toml:"features"`  // of each
	Resources []string         `toml:"resources"` // of each, as --gres has them
}

// maxGroupCPUs bounds a group, as a machine is bounded.
const maxGroupCPUs = 1 << 30

// checkNodeGroups checks the groups of a site, and fills in the CPUs and the memory that its machine has by them.
// It returns the number of nodes; without groups that of the machine.
func (s *Site) checkNodeGroups(c *checker, key string) (nodes int) {
	l := &s.LocalSched
	if len(s.NodeGroups) == 0 {
		return l.Nodes
	}
	switch {
	case l.Machine == config.Partitioned:
		c.Problem(key+".node_group", "has no effect on a machine in partitions; leave it out")
	case len(l.Devices)+len(l.Features) > 0:
		c.Problem(key+".node_group", "states devices and features by node; remove those of [site.localsched]")
	}
	cpus, alike := 0, true
	for i := range s.NodeGroups {
		g, at := &s.NodeGroups[i], fmt.Sprintf("%s.node_group[%d]", key, i)
		if g.Nodes < 1 || g.CPUs < 1 || g.Nodes > maxGroupCPUs/g.CPUs {
			c.Problem(at, "has %d nodes of %d CPUs; give positive numbers of at most %d CPUs together", g.Nodes, g.CPUs, maxGroupCPUs)
			continue
		}
		if _, err := g.group(); err != nil {
			c.Problem(at, "%v", err)
		}
		cpus, nodes = cpus+g.Nodes*g.CPUs, nodes+g.Nodes
		alike = alike && g.CPUs == s.NodeGroups[0].CPUs
		l.Memory = max(l.Memory, g.Memory)
	}
	s.checkGroupTotals(c, key, cpus, nodes, alike)
	l.CPUs = cpus
	return nodes
}

// checkGroupTotals compares the groups with what the machine of the site states.
func (s *Site) checkGroupTotals(c *checker, key string, cpus, nodes int, alike bool) {
	l := &s.LocalSched
	switch {
	case l.CPUs != 0 && l.CPUs != cpus:
		c.Problem(key+".localsched.cpus", "is %d, and the tables [[site.node_group]] have %d; leave it out", l.CPUs, cpus)
	case l.Nodes > 1 && l.Nodes != nodes:
		c.Problem(key+".localsched.nodes", "is %d, and the tables [[site.node_group]] have %d; leave it out", l.Nodes, nodes)
	case l.Machine == config.WholeNode && !alike:
		c.Problem(key+".localsched.machine", "%q is simulated with nodes of one size only; give all tables [[site.node_group]] as many cpus, or use %q", l.Machine, config.PerCPU)
	}
}

// group is the table as a site card states it.
func (g *NodeGroup) group() (out protocol.NodeGroup, err error) {
	out = protocol.NodeGroup{Nodes: g.Nodes, CPUs: g.CPUs, MemoryMB: int64(g.Memory), Features: slices.Sorted(slices.Values(g.Features))}
	for _, text := range g.Resources {
		list, err := parseResources(text)
		if err != nil {
			return out, err
		}
		for _, one := range list {
			one.Per = 0
			out.Resources = append(out.Resources, one)
		}
	}
	slices.SortFunc(out.Resources, protocol.CompareResources)
	return out, (&protocol.Capacity{Groups: []protocol.NodeGroup{out}}).CheckGroups()
}

// nodeGroups are those of the site's machine, which is checked.
func (s *Site) nodeGroups() (groups []protocol.NodeGroup) {
	for i := range s.NodeGroups {
		one, _ := s.NodeGroups[i].group()
		groups = append(groups, one)
	}
	return groups
}
