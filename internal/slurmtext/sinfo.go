package slurmtext

import (
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// The formats of sinfo(1), which are names of columns.
const (
	InfoFormat           = "partition:9 ,available:.5 ,time:.10 ,nodes:.6 ,statecompact:.6 ,nodelist:0"
	InfoLongFormat       = "partition:9 ,available:.5 ,time:.10 ,size:.10 ,root:.4 ,oversubscribe:.8 ,groups:.10 ,nodes:.6 ,statelong:.11 ,nodelist:0"
	InfoNodesFormat      = "nodelist:9 ,nodes:.6 ,partition:.9 ,statecompact:6"
	InfoLongNodesFormat  = "nodelist:9 ,nodes:.6 ,partition:.9 ,statelong:.11 ,cpus:4 ,socketcorethread:.8 ,memory:.6 ,disk:.8 ,weight:.6 ,features:.8 ,reason:20"
	InfoSummaryFormat    = "partition:9 ,available:.5 ,time:.10 ,nodeaiot:.16 ,nodelist:0"
	InfoReasonFormat     = "reason:20 ,user:9 ,timestamp:19 ,nodelist:0"
	InfoLongReasonFormat = "reason:20 ,userlong:12 ,timestamp:19 ,statecompact:6 ,nodelist:0"
)

// InfoColumns are the fields of sinfo.
func InfoColumns() []Column[NodeRow] { return append(infoOfSites(), infoOfPartition()...) }

func same(text string) func(*NodeRow) string { return func(*NodeRow) string { return text } }

func infoOfSites() []Column[NodeRow] {
	least := func(letter byte, name, title string, n func(*Node) int) Column[NodeRow] {
		return Column[NodeRow]{
			Letter: letter, Name: name, Title: title, Merges: true, Value: func(r *NodeRow) string { return r.least(n) },
		}
	}
	of := func(letter byte, name, title string, value func(*Node) string) Column[NodeRow] {
		return Column[NodeRow]{Letter: letter, Name: name, Title: title, Value: func(r *NodeRow) string { return value(r.first()) }}
	}
	whole := func(r *NodeRow) int64 { return int64(len(r.Nodes)) } // marks columns that are sums
	states := func(letter byte, name string, value func(*Node) string) Column[NodeRow] {
		column := of(letter, name, "STATE", value)
		column.Order = func(r *NodeRow) int64 { return -r.first().stateOrder() }
		return column
	}
	return []Column[NodeRow]{
		{
			Letter: 'N', Name: "NodeList", Title: "NODELIST", Value: (*NodeRow).names, Titled: true, Merges: true,
			Order: nil,
		},
		{
			Letter: 'D', Name: "Nodes", Title: "NODES", Value: func(r *NodeRow) string { return strconv.Itoa(r.sum((*Node).count)) },
			Merges: true, Order: func(r *NodeRow) int64 { return int64(r.sum((*Node).count)) },
		},
		{Letter: 'A', Name: "NodeAI", Title: "NODES(A/I)", Value: (*NodeRow).nodesInUse, Merges: true, Order: whole},
		{
			Letter: 'F', Name: "NodeAIOT", Title: "NODES(A/I/O/T)", Value: func(r *NodeRow) string { return r.split(true) },
			Merges: true, Order: whole,
		},
		{
			Letter: 'C', Name: "CPUsState", Title: "CPUS(A/I/O/T)", Value: func(r *NodeRow) string { return r.split(false) },
			Merges: true, Order: whole,
		},
		least('c', "CPUs", "CPUS", (*Node).each),
		least('m', "Memory", "MEMORY", func(n *Node) int { return int(n.MemoryMB) }),
		{
			Letter: 'z', Name: "SocketCoreThread", Title: "S:C:T",
			Value: func(r *NodeRow) string { return r.least((*Node).each) + ":1:1" }, Merges: true,
		},
		least('X', "Sockets", "SOCKETS", (*Node).each),
		states('t', "StateCompact", (*Node).shortState),
		states('T', "StateLong", (*Node).State),
		of(0, "StateComplete", "STATECOMPLETE", func(n *Node) string { return n.completeState("+") }),
		of('f', "Features", "AVAIL_FEATURES", (*Node).features),
		of('b', "features_act", "ACTIVE_FEATURES", (*Node).features),
		of('G', "Gres", "GRES", (*Node).gres),
		of('E', "Reason", "REASON", (*Node).reason),
		of('H', "TimeStamp", "TIMESTAMP", (*Node).drainedAt),
		of('u', "User", "USER", (*Node).drainedBy),
		of('U', "UserLong", "USER", (*Node).drainedBy),
		of('n', "NodeHost", "HOSTNAMES", func(n *Node) string { return string(n.Site.Site) }),
		of('o', "NodeAddr", "NODE_ADDR", func(n *Node) string { return string(n.Site.Site) }),
		of('v', "Version", "VERSION", func(n *Node) string { return n.Software }),
		of('l', "Time", "TIMELIMIT", (*Node).limit),
	}
}

// limit is the longest time limit that the site takes.
func (n *Node) limit() string {
	if n.MaxWallTime <= 0 {
		return "infinite"
	}
	return Span(n.MaxWallTime)
}

func (r *NodeRow) nodesInUse() string {
	parts := strings.Split(r.split(true), "/")
	return parts[0] + "/" + parts[1]
}

// defaultLimit is the time limit of a job that asks for none.
const defaultLimit = protocol.Hour

// infoOfPartition are the fields that are the same for all sites.
func infoOfPartition() (columns []Column[NodeRow]) {
	for _, one := range []struct {
		letter             byte
		name, title, value string
	}{
		{'P', "Partition", "PARTITION", Partition + "*"},
		{'R', "PartitionName", "PARTITION", Partition},
		{'a', "Available", "AVAIL", "up"},
		{'s', "Size", "JOB_SIZE", "1-infinite"},
		{'r', "Root", "ROOT", "no"},
		{'h', "OverSubscribe", "OVERSUBSCRIBE", "NO"},
		{0, "Share", "OVERSUBSCRIBE", "NO"},

		{'g', "Groups", "GROUPS", "all"},
		{'L', "DefaultTime", "DEFAULTTIME", Span(defaultLimit)},
		{'S', "AllocNodes", "ALLOCNODES", "all"},
		{'B', "MaxCPUsPerNode", "MAX_CPUS_PER_NODE", "UNLIMITED"},
		{'M', "PreemptMode", "PREEMPT_MODE", "OFF"},
		{'p', "PriorityTier", "PRIO_TIER", "1"},
		{'I', "PriorityJobFactor", "PRIO_JOB_FACTOR", "1"},
		{'d', "Disk", "TMP_DISK", "0"},
		{'w', "Weight", "WEIGHT", "1"},
		{'Y', "Cores", "CORES", "1"},
		{'Z', "Threads", "THREADS", "1"},
		{'O', "CPUsLoad", "CPU_LOAD", notApplicable},
		{'e', "FreeMem", "FREE_MEM", notApplicable},
		{0, "AllocMem", "ALLOCMEM", notApplicable},
		{'V', "Cluster", "CLUSTER", notApplicable},
		{0, "Comment", "COMMENT", Absent},
		{0, "Extra", "EXTRA", Absent},
		{0, "GresUsed", "GRES_USED", Absent},
		{0, "Port", "PORT", "0"},
	} {
		columns = append(columns, Column[NodeRow]{Letter: one.letter, Name: one.name, Title: one.title, Value: same(one.value)})
	}
	return columns
}

// NodeStates are the states of nodes that --states of sinfo knows, as it lists them.
const NodeStates = "unknown,down,idle,allocated,?,mixed,future,drain,drained,draining,no_respond,reserved,perfctrs,cloud,completing," +
	"powering_down,powered_down,power_down,powering_up,fail,maint,reboot,reboot^,unknown"

// IsNodeState says whether a name is one of a state of nodes, or its beginning.
func IsNodeState(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "*"))
	if name == "" || name == "?" {
		return false
	}
	for state := range strings.SplitSeq(NodeStates+",all,comp,drng,mix,alloc,resp,unk", ",") {
		if state != "?" && strings.HasPrefix(state, name) {
			return true
		}
	}
	return false
}

// InState says whether the site is in a state of a name that [IsNodeState] knows.
func (n *Node) InState(name string) bool {
	name = strings.ToLower(name)
	if name == "all" {
		return true
	}
	if name == "no_respond" || name == "resp" {
		_, responding := n.down()
		return responding == (name == "resp")
	}
	if name = strings.TrimSuffix(name, "*"); name == "drng" {
		name = "draining"
	}
	return strings.HasPrefix(strings.TrimSuffix(n.State(), "*"), name) || n.State() == "mixed" && strings.HasPrefix("allocated", name)
}
