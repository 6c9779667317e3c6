package slurmtext

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Node is a site as sinfo and scontrol show it: all its nodes in one.
type Node struct {
	view.Site
	*Clock
}

// NoNode stands for the sites of a partition of which none is wanted.
func NoNode(clock *Clock) *Node { return &Node{Clock: clock} }

// none says whether it is [NoNode].
func (n *Node) none() bool { return n.Site.Site == "" }

// down says whether the site cannot be used now, and responding, whether it answers at all.
func (n *Node) down() (down, responding bool) {
	switch n.Link {
	case "self", "up":
		return false, true
	case "refused", "missing":
		return true, true
	}
	return true, false
}

// drained says whether an operator, of this site or of that one, has it that no job of this site's users starts there.
func (n *Node) drained() bool { return n.drainedHere() || n.Draining != "" }

// drainedHere says whether it is an operator of this site who has it so.
func (n *Node) drainedHere() bool { return n.Drain.StopsStarts() || n.Drain.StopsSending() }

// HasReason says whether sinfo lists the site among those that are not as they should be: it is down, or an operator has
// limited what runs there, be it jobs of other sites alone.
func (n *Node) HasReason() bool {
	down, _ := n.down()
	return down || n.drained() || n.Drain != nil
}

// base is the state of the nodes but for a drain: idle, mixed, allocated or down.
func (n *Node) base() string {
	if down, _ := n.down(); down {
		return "down"
	}
	switch busy := n.busy(); {
	case busy == 0:
		return "idle"
	case busy >= n.CPUs:
		return "allocated"
	}
	return "mixed"
}

// silent is the mark of a site that does not answer.
func (n *Node) silent() string {
	if _, responding := n.down(); !responding {
		return "*"
	}
	return ""
}

// State is that of the nodes: idle, mixed, allocated, down, or of a drained site draining while jobs run there and then
// drained; with * if the site does not answer.
func (n *Node) State() string {
	switch base := n.base(); {
	case n.none():
		return "n/a"
	case !n.drained():
		return base + n.silent()
	case base == "mixed", base == "allocated":
		return "draining"
	}
	return "drained" + n.silent()
}

// completeState is the state with all its flags, and what is between them.
func (n *Node) completeState(separator string) string {
	if n.none() {
		return n.State()
	}
	state := n.base() + n.silent()
	if n.drained() {
		state += separator + "drain"
	}
	return state
}

// shortState is the state in the short form of sinfo.
func (n *Node) shortState() string {
	switch state := n.State(); state {
	case "allocated":
		return "alloc"
	case "mixed":
		return "mix"
	case "draining":
		return "drng"
	case "drained", "drained*":
		return "drain" + n.silent()
	default:
		return state
	}
}

// stateOrder is the order of states in which sinfo lists them.
func (n *Node) stateOrder() int64 {
	if n.none() {
		return 1
	}
	order := int64(slices.Index([]string{"down", "idle", "allocated", "mixed"}, n.base()))
	if n.drained() { // Slurm adds flags above all states
		order += 50
	}
	if n.silent() != "" {
		order += 100
	}
	return -order
}

// busy are CPUs of jobs.
func (n *Node) busy() int { return min(n.Busy, n.CPUs) }

// unusable are CPUs that no job can have now.
func (n *Node) unusable() int {
	if down, _ := n.down(); down || n.drained() {
		return n.CPUs - n.busy()
	}
	return min(n.PowerIdledCPUs, n.CPUs-n.busy())
}

// count is how many nodes the site has.
func (n *Node) count() int {
	if n.none() {
		return 0
	}
	return max(1, n.Nodes)
}

// each is how many CPUs each node of the site has.
func (n *Node) each() int { return n.CPUs / max(1, n.count()) }

// gres are the resources of a node of the site.
func (n *Node) gres() string {
	var parts []string
	for _, one := range n.Resources {
		if one.Name != protocol.License {
			parts = append(parts, fmt.Sprintf("%s:%d", typed(one), one.Count/max(1, n.count())))
		}
	}
	return orAbsent(strings.Join(parts, ","))
}

func (n *Node) features() string { return orAbsent(strings.Join(n.Features, ",")) }

// Why is why the site is drained or down, or takes no jobs of some kind; empty: there is nothing to say.
func (n *Node) Why() string {
	switch {
	case n.drainedHere():
		return n.Drain.Reason
	case n.Draining != "":
		return strings.TrimPrefix(n.Draining, view.Draining)
	case n.Drain != nil && n.Reason == "":
		return n.Drain.String() // jobs of this site's users start there all the same
	}
	return n.Reason
}

func (n *Node) reason() string { return cmp.Or(n.Why(), "none") }

// drainedBy is who has drained the site, and drainedAt when, if an operator of this site has.
func (n *Node) drainedBy() string {
	if n.Drain == nil {
		return unknown
	}
	return cmp.Or(n.Drain.By, unknown)
}

func (n *Node) drainedAt() string {
	if n.Drain == nil {
		return unknown
	}
	return n.Time(n.Drain.Since, unknown)
}

// NodeRow is a line of sinfo: sites that it shows alike.
type NodeRow struct {
	Nodes []*Node // at least one
}

func (r *NodeRow) first() *Node { return r.Nodes[0] }

// sum adds a number of all sites.
func (r *NodeRow) sum(n func(*Node) int) (all int) {
	for _, one := range r.Nodes {
		all += n(one)
	}
	return all
}

// least is the smallest of a number of all sites, with + if they differ.
func (r *NodeRow) least(n func(*Node) int) string {
	least, most := n(r.first()), n(r.first())
	for _, one := range r.Nodes {
		least, most = min(least, n(one)), max(most, n(one))
	}
	if most > least {
		return strconv.Itoa(least) + "+"
	}
	return strconv.Itoa(least)
}

func (r *NodeRow) names() string {
	names := make([]string, len(r.Nodes))
	for i, one := range r.Nodes {
		names[i] = string(one.Site.Site)
	}
	return JoinHosts(names)
}

// split counts what is allocated, idle, and neither, of all.
func (r *NodeRow) split(nodes bool) string {
	var allocated, idle, other int
	for _, one := range r.Nodes {
		busy, unusable := one.busy(), one.unusable()
		if !nodes {
			allocated, idle, other = allocated+busy, idle+one.CPUs-busy-unusable, other+unusable
			continue
		}
		switch down, _ := one.down(); {
		case down, one.drained():
			other += one.count()
		case busy > 0:
			allocated += one.count()
		default:
			idle += one.count()
		}
	}
	return fmt.Sprintf("%d/%d/%d/%d", allocated, idle, other, allocated+idle+other)
}

// Group puts sites into the rows of a format of sinfo: those that differ in none of its columns, or with exact not in
// those either of which the least is shown. With apart each site is in a row of its own.
func Group(nodes []*Node, f Format[NodeRow], exact, apart bool) (rows []*NodeRow) {
	at := map[string]*NodeRow{}
	for _, one := range nodes {
		alone := &NodeRow{Nodes: []*Node{one}}
		var key strings.Builder
		for _, column := range f.Columns() {
			if !column.Merges || exact && column.Order == nil {
				key.WriteString(column.Value(alone) + "\x00")
			}
		}
		if row := at[key.String()]; row != nil && !apart {
			row.Nodes = append(row.Nodes, one)
			continue
		}
		at[key.String()] = alone
		rows = append(rows, alone)
	}
	return rows
}
