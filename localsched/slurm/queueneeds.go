package slurm

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// This file is what the plan of the queue counts of resources beside CPUs and memory: those of the
// first kinds that nodes have. It has no clock and no side effects.

// kinds are the kinds of resources that nodes have, without counts, the first [maxKinds] of them.
func (c *cluster) kinds() (kinds []protocol.Resource) {
	for i := range c.nodes {
		for _, one := range c.nodes[i].resources {
			if one.Count = 0; len(kinds) < maxKinds && !slices.Contains(kinds, one) {
				kinds = append(kinds, one)
			}
		}
	}
	return kinds
}

// amountsOf is what a node has.
func (o *queuePlan) amountsOf(n *node) (has amounts) {
	for k, kind := range o.kinds {
		for _, one := range n.resources {
			if one.Name == kind.Name && one.Type == kind.Type {
				has[k] = clamp32(one.Count)
			}
		}
	}
	return has
}

func clamp32(n int) int32 { return int32(min(max(n, 0), math.MaxInt32)) }

// set is the nodes of a partition that meet a constraint. Where all nodes of a job must meet one
// and the same alternative they are the nodes that meet any.
func (o *queuePlan) set(of setOf) *nodeSet {
	if known := o.sets[of]; known != nil {
		return known
	}
	set := &nodeSet{}
	o.sets[of] = set
	features, err := protocol.ParseFeatures(of.features)
	all := o.sets[setOf{partition: of.partition}]
	if err != nil || all == nil {
		return set
	}
	for _, i := range all.nodes {
		n := &protocol.NodeGroup{Features: o.cluster.nodes[i].features}
		if slices.ContainsFunc(features.Alternatives(), func(c protocol.Constraint) bool { return c.Admits(n) }) {
			set.nodes = append(set.nodes, i)
		}
	}
	return set
}

// need adds what a job asks for to a demand. What it asks for all its nodes together it gets of
// as few nodes as it may have, of each the same number as far as they have it.
func (o *queuePlan) need(d *demand, asked []protocol.Resource) {
	for _, one := range asked {
		n := need{kinds: o.serving(one)}
		switch {
		case n.kinds == [maxKinds]bool{} || o.uncounted(one):
			continue // no node has it, or the plan does not count it
		case one.Per == protocol.PerTask:
			n.perTask = clamp32(one.Count)
		case one.Per == protocol.PerNode:
			n.node = clamp32(one.Count)
			n.share = n.node
		default:
			o.spread(&n, d, one.Count)
		}
		d.needs = append(d.needs, n)
	}
}

// spread divides the number of resources that a job asks for by the nodes that have the most.
func (o *queuePlan) spread(n *need, d *demand, count int) {
	var has []int32
	for _, i := range d.among.nodes {
		of := o.amountsOf(&o.cluster.nodes[i])
		has = append(has, n.of(&of))
	}
	slices.SortFunc(has, func(a, b int32) int { return cmp.Compare(b, a) })
	nodes, sum := 0, 0
	for nodes < len(has) && (nodes < max(1, d.nodes) || sum < count) {
		sum += int(has[nodes])
		nodes++
	}
	n.share = clamp32(ceil(count, nodes))
	if n.node = n.share; nodes > 1 {
		n.node = min(n.share, has[nodes-1])
		d.nodes, d.cpus = nodes, max(d.cpus, nodes*max(1, d.taskCPUs))
	}
}

// uncounted says whether some nodes serve what is asked by a kind that the plan does not count.
func (o *queuePlan) uncounted(asked protocol.Resource) bool {
	return slices.ContainsFunc(o.cluster.nodes, func(n node) bool {
		return slices.ContainsFunc(n.resources, func(has protocol.Resource) bool {
			kind := has
			kind.Count = 0
			return has.Serves(asked) && !slices.Contains(o.kinds, kind)
		})
	})
}

// serving are the kinds that a job may be given for what it asks for.
func (o *queuePlan) serving(asked protocol.Resource) (kinds [maxKinds]bool) {
	for k, kind := range o.kinds {
		kinds[k] = kind.Serves(asked)
	}
	return kinds
}

// taken is what a job that runs on a number of nodes has of one of them, of what is free there.
func (o *queuePlan) taken(e *entry, nodes int, free amounts) (taken amounts) {
	for _, one := range e.resources {
		n := need{kinds: o.serving(one), share: clamp32(one.Count)}
		if one.Per == protocol.PerJob {
			n.share = clamp32(ceil(one.Count, nodes))
		}
		for k, count := range n.take(&free, 0) {
			taken[k] += count
			free[k] -= count
		}
	}
	return taken
}

// askedInQueue reads the columns tres-per-node, tres-per-job and tres-per-task of a job with a
// number of tasks: "gres:gpu:v100:3", or "gres/gpu:v100=3" of later versions. Columns that cannot
// be read count as empty: they are for estimates alone.
func askedInQueue(columns []string, tasks int) (asked []protocol.Resource) {
	for i, text := range columns {
		var words []string
		for word := range strings.SplitSeq(strings.ReplaceAll(text, "=", ":"), ",") {
			if rest, is := strings.CutPrefix(strings.Replace(word, "gres/", "gres:", 1), "gres:"); is {
				words = append(words, rest)
			}
		}
		list, err := parseResources(strings.Join(words, ","))
		if err != nil {
			continue
		}
		for _, one := range list {
			one.Per = protocol.PerJob
			switch i {
			case 0:
				one.Per = protocol.PerNode
			case 2:
				one.Count = min(one.Count, math.MaxInt32/max(1, tasks)) * max(1, tasks)
			}
			asked = append(asked, one)
		}
	}
	return asked
}
