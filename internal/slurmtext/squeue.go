package slurmtext

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// The formats of squeue(1) by default, for --long and for --start.
const (
	QueueFormat      = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
	QueueLongFormat  = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
	QueueStartFormat = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"
)

// QueueColumns are the fields of squeue.
func QueueColumns() []Column[Job] {
	return slices.Concat(queueNames(), queueShape(), queueTimes(), queueStates(), queueUnused())
}

// QueueOrders are those of them by which squeue sorts, and that have an order.
func QueueOrders() []Column[Job] {
	const letters = "BcCdDefgGhHiIjJlLmMnNOpPQStTuUvVz"
	return slices.DeleteFunc(QueueColumns(), func(c Column[Job]) bool { return !strings.ContainsRune(letters, rune(c.Letter)) })
}

func constant(text string) func(*Job) string { return func(*Job) string { return text } }

func queueNames() []Column[Job] {
	id := func(letter byte, name, title string, value func(*Job) string) Column[Job] {
		byID := func(j *Job) int64 { return int64(j.ID) } //nolint:gosec // IDs have 63 bits at most
		return Column[Job]{Letter: letter, Name: name, Title: title, Value: value, Order: byID, Kept: true}
	}
	return []Column[Job]{
		id('i', "JobArrayID", "JOBID", func(j *Job) string { return j.Label() }),
		id('A', "JobID", "JOBID", func(j *Job) string { return j.rawID().String() }),
		id('F', "ArrayJobID", "ARRAY_JOB_ID", func(j *Job) string { return j.arrayID().String() }),
		id('K', "ArrayTaskID", "ARRAY_TASK_ID", func(j *Job) string { return cmp.Or(j.indexes(), notApplicable) }),
		{Letter: 'a', Name: "Account", Title: "ACCOUNT", Value: func(j *Job) string { return orAbsent(j.Account) }},
		{Letter: 'j', Name: "Name", Title: "NAME", Value: func(j *Job) string { return j.Name }},
		{Letter: 'k', Name: "Comment", Title: "COMMENT", Value: func(j *Job) string { return orAbsent(j.Comment) }},
		{Letter: 'o', Name: "Command", Title: "COMMAND", Value: constant(Absent)},
		{Letter: 'P', Name: "Partition", Title: "PARTITION", Value: (*Job).Partitions},
		{Letter: 'q', Name: "QOS", Title: "QOS", Value: func(j *Job) string { return orAbsent(j.QOS) }},
		{Letter: 'u', Name: "UserName", Title: "USER", Value: func(j *Job) string { return j.User }},
		{Letter: 'U', Name: "UserID", Title: "UID", Value: func(j *Job) string { return strconv.FormatUint(uint64(j.UID), 10) }},
		{Letter: 'g', Name: "GroupName", Title: "GROUP", Value: func(j *Job) string { return j.Group }},
		{Letter: 'G', Name: "GroupID", Title: "GROUP", Value: func(j *Job) string { return strconv.FormatUint(uint64(j.GID), 10) }},
		{Letter: 'Z', Name: "WorkDir", Title: "WORK_DIR", Value: func(j *Job) string { return j.WorkDir }},
		{Name: "StdOut", Title: "STDOUT", Value: func(j *Job) string { return j.inName(j.Stdout) }},
		{Name: "StdErr", Title: "STDERR", Value: func(j *Job) string { return j.inName(j.Stderr) }},
		{Name: "StdIn", Title: "STDIN", Value: constant("/dev/null")},
		{Name: "Cluster", Title: "CLUSTER", Value: func(j *Job) string { return j.Cluster }},
		{Name: "Container", Title: "CONTAINER", Value: func(j *Job) string { return orAbsent(j.Container) }},
		{Name: "Origin", Title: "ORIGIN", Value: func(j *Job) string { return string(j.Origin) }},
		{Name: "OriginRaw", Title: "ORIGIN_RAW", Value: func(j *Job) string { return strconv.Itoa(int(j.ID.Origin())) }},
		{Name: "AllocNodes", Title: "ALLOC_NODES", Value: func(j *Job) string { return string(j.Origin) }},
	}
}

func queueShape() []Column[Job] {
	number := func(n func(*Job) int) (value func(*Job) string, order func(*Job) int64) {
		return func(j *Job) string { return strconv.Itoa(n(j)) }, func(j *Job) int64 { return int64(n(j)) }
	}
	numbered := func(letter byte, name, title string, n func(*Job) int) Column[Job] {
		value, order := number(n)
		return Column[Job]{Letter: letter, Name: name, Title: title, Value: value, Order: order}
	}
	return []Column[Job]{
		numbered('C', "NumCPUs", "CPUS", func(j *Job) int { return j.CPUs }),
		numbered('D', "NumNodes", "NODES", (*Job).nodes),
		numbered(0, "NumTasks", "TASKS", func(j *Job) int { return j.request().Tasks() }),
		numbered('c', "MinCpus", "MIN_CPUS", (*Job).minCPUs),
		{
			Letter: 'm', Name: "MinMemory", Title: "MIN_MEMORY", Value: func(j *Job) string { return Megabytes(j.memory(), j.Unit) },
			Order: (*Job).memory,
		},
		{Letter: 'd', Name: "MinTmpDisk", Title: "MIN_TMP_DISK", Value: constant("0")},
		{Letter: 'f', Name: "Feature", Title: "FEATURES", Value: func(j *Job) string { return orAbsent(j.Features) }},
		{Letter: 'b', Name: "tres-per-node", Title: "TRES_PER_NODE", Value: func(j *Job) string { return j.asked(protocol.PerNode) }},
		{Name: "Gres", Title: "TRES_PER_NODE", Value: func(j *Job) string { return j.asked(protocol.PerNode) }},
		{Name: "tres-per-job", Title: "TRES_PER_JOB", Value: func(j *Job) string { return j.asked(protocol.PerJob) }},
		{Name: "tres-per-task", Title: "TRES_PER_TASK", Value: func(j *Job) string { return j.asked(protocol.PerTask) }},
		{Name: "tres-alloc", Title: "TRES_ALLOC", Value: (*Job).tres},
		{Letter: 'h', Name: "OverSubscribe", Title: "OVER_SUBSCRIBE", Value: (*Job).shares},
		{Name: "Shared", Title: "OVER_SUBSCRIBE", Value: (*Job).shares},
		{Letter: 'W', Name: "Licenses", Title: "LICENSES", Value: (*Job).licenses},
		{Name: "CPUs-Per-Task", Title: "CPUS_PER_TASK", Value: (*Job).perTask},
		{Name: "CPUsPerTask", Title: "CPUS_PER_TASK", Value: (*Job).perTask},
		{Name: "MaxNodes", Title: "MAX_NODES", Value: func(j *Job) string { return strconv.Itoa(j.maxNodes()) }},
		{Name: "MaxCPUs", Title: "MAX_CPUS", Value: func(j *Job) string { return strconv.Itoa(j.maxCPUs()) }},
		{Name: "NTPerNode", Title: "NTASKS_PER_NODE", Value: func(j *Job) string { return strconv.Itoa(j.Layout.TasksPerNode) }},
		{Name: "Requeue", Title: "REQUEUE", Value: func(j *Job) string { return zeroOne(j.Requeue) }},
	}
}

// minCPUs is what one of the job's nodes must have.
func (j *Job) minCPUs() int { return max(1, j.Layout.TasksPerNode) * max(1, j.Layout.CPUsPerTask) }

// maxNodes are the most nodes that the job may have, as squeue prints them; 0: any number.
func (j *Job) maxNodes() int {
	if j.State != protocol.Pending {
		return j.nodes()
	}
	return cmp.Or(j.Layout.MaxNodes, j.Nodes)
}

// maxCPUs are the most CPUs that the job may have, as squeue prints them; 0: any number.
func (j *Job) maxCPUs() int {
	if j.State != protocol.Pending {
		return j.CPUs
	}
	return 0
}

func (j *Job) perTask() string {
	if j.Layout.CPUsPerTask == 0 {
		return "1"
	}
	return strconv.Itoa(j.Layout.CPUsPerTask)
}

func (j *Job) shares() string {
	if j.Exclusive {
		return "NO"
	}
	return "OK"
}

func queueTimes() []Column[Job] {
	span := func(letter byte, name, title string, whole bool, d func(*Job) protocol.Duration) Column[Job] {
		return Column[Job]{
			Letter: letter, Name: name, Title: title, Whole: whole,
			Value: func(j *Job) string { return Span(d(j)) }, Order: func(j *Job) int64 { return int64(d(j)) },
		}
	}
	at := func(letter byte, name, title string, t func(*Job) protocol.Instant) Column[Job] {
		return Column[Job]{
			Letter: letter, Name: name, Title: title,
			Value: func(j *Job) string { return j.Time(t(j), notApplicable) }, Order: func(j *Job) int64 { return int64(t(j)) },
		}
	}
	return []Column[Job]{
		span('M', "TimeUsed", "TIME", true, (*Job).Used),
		span('l', "TimeLimit", "TIME_LIMIT", true, func(j *Job) protocol.Duration { return j.Limit() }),
		span('L', "TimeLeft", "TIME_LEFT", true, (*Job).left),
		{Name: "PendingTime", Title: "PENDING_TIME", Value: func(j *Job) string { return strconv.FormatInt(seconds(j.waited()), 10) }},
		at('S', "StartTime", "START_TIME", (*Job).PlannedStart),
		at('e', "EndTime", "END_TIME", (*Job).plannedEnd),
		at('V', "SubmitTime", "SUBMIT_TIME", func(j *Job) protocol.Instant { return j.Submitted }),
		at(0, "EligibleTime", "ELIGIBLE_TIME", (*Job).Eligible),
		at(0, "AccrueTime", "ACCRUE_TIME", (*Job).Eligible),
		at(0, "LastSchedEval", "LAST_SCHED_EVAL", func(j *Job) protocol.Instant { return j.CommittedAt }),
		at(0, "Deadline", "DEADLINE", func(j *Job) protocol.Instant { return j.Conditions.Deadline }),
		span(0, "MinTime", "TIME_MIN", false, func(j *Job) protocol.Duration { return j.MinTime }),
	}
}

func queueStates() []Column[Job] {
	return []Column[Job]{
		{Letter: 'T', Name: "State", Title: "STATE", Value: func(j *Job) string { return j.State.String() }},
		{Letter: 't', Name: "StateCompact", Title: "ST", Value: func(j *Job) string { return StateLetters(j.State) }},
		{Letter: 'r', Name: "Reason", Title: "REASON", Value: (*Job).SlurmReason},
		{Letter: 'R', Name: "ReasonList", Title: "NODELIST(REASON)", Value: (*Job).nodesOrReason, Whole: true, Titled: true},
		{Letter: 'N', Name: "NodeList", Title: "NODELIST", Value: (*Job).nodeList, Whole: true, Titled: true},
		{Letter: 'B', Name: "BatchHost", Title: "EXEC_HOST", Value: func(j *Job) string { return cmp.Or(j.nodeList(), "n/a") }},
		{Letter: 'Y', Name: "SchedNodes", Title: "SCHEDNODES", Value: (*Job).plannedNodes, Whole: true, Titled: true},
		{Name: "exit_code", Title: "EXIT_CODE", Value: func(j *Job) string { return strconv.Itoa(j.status()) }},
		{Letter: 'E', Name: "Dependency", Title: "DEPENDENCY", Value: func(j *Job) string { return orAbsent(j.dependency()) }},
		{Letter: 'y', Name: "Nice", Title: "NICE", Value: func(j *Job) string { return strconv.FormatInt(j.Nice, 10) }},
		{Letter: 'p', Name: "Priority", Title: "PRIORITY", Value: func(j *Job) string { return fmt.Sprintf("%.14f", float64(j.Conditions.Priority)/(1<<32)) }},
		{Letter: 'Q', Name: "PriorityLong", Title: "PRIORITY", Value: func(j *Job) string { return strconv.FormatInt(j.Conditions.Priority, 10) }},
		{Name: "RestartCnt", Title: "RESTART_COUNT", Value: func(j *Job) string { return strconv.Itoa(j.Restarts) }},
	}
}

func (j *Job) nodesOrReason() string {
	switch j.State {
	case protocol.Pending, protocol.Timeout, protocol.Failed:
		return "(" + j.SlurmReason() + ")"
	case protocol.Running, protocol.Completed, protocol.Cancelled, protocol.NodeFail:
	}
	return j.nodeList()
}

// plannedNodes is the site that a pending job is committed to.
func (j *Job) plannedNodes() string {
	if j.State != protocol.Pending {
		return Absent
	}
	return orAbsent(string(j.Site))
}

// queueUnused are fields of Slurm that no job of Switchyard has a value of its own for.
func queueUnused() (columns []Column[Job]) {
	for _, one := range []struct {
		letter             byte
		name, title, value string
	}{
		{'O', "Contiguous", "CONTIGUOUS", "0"},
		{'H', "Sockets", "SOCKETS_PER_NODE", "*"},
		{'I', "Cores", "CORES_PER_SOCKET", "*"},
		{'J', "Threads", "THREADS_PER_CORE", "*"},
		{'z', "SCT", "S:C:T", "*:*:*"},
		{'X', "CoreSpec", "CORE_SPEC", notApplicable},
		{'v', "Reservation", "RESERVATION", Absent},
		{'w', "WCKey", "WCKEY", Absent},
		{'n', "ReqNodes", "REQ_NODES", ""},
		{'x', "ExcNodes", "EXC_NODES", ""},
		{'s', "", "", ""},
		{0, "admin_comment", "ADMIN_COMMENT", Absent},
		{0, "system_comment", "SYSTEM_COMMENT", Absent},
		{0, "AllocSID", "ALLOC_SID", "0"},
		{0, "AssocID", "ASSOC_ID", "0"},
		{0, "BatchFlag", "BATCH_FLAG", "1"},
		{0, "BoardsPerNode", "BOARDS_PER_NODE", "0"},
		{0, "BurstBuffer", "BURST_BUFFER", Absent},
		{0, "BurstBufferState", "BURST_BUFFER_STATE", Absent},
		{0, "ClusterFeature", "CLUSTER_FEATURES", Absent},
		{0, "cpus-per-tres", "CPUS_PER_TRES", notApplicable},
		{0, "DelayBoot", "DELAY_BOOT", "0:00"},
		{0, "DerivedEC", "DERIVED_EC", "0"},
		{0, "HetJobID", "HET_JOB_ID", notApplicable},
		{0, "HetJobIDSet", "HET_JOB_ID_SET", notApplicable},
		{0, "HetJobOffset", "HET_JOB_OFFSET", notApplicable},
		{0, "mem-per-tres", "MEM_PER_TRES", notApplicable},
		{0, "MCSLabel", "MCSLABEL", Absent},
		{0, "Network", "NETWORK", Absent},
		{0, "NTPerBoard", "NTASKS_PER_BOARD", "0"},
		{0, "NTPerCore", "NTASKS_PER_CORE", notApplicable},
		{0, "NTPerSocket", "NTASKS_PER_SOCKET", notApplicable},
		{0, "PreemptTime", "PREEMPT_TIME", notApplicable},
		{0, "Prefer", "PREFER", Absent},
		{0, "Profile", "PROFILE", "NotSet"},
		{0, "Reboot", "REBOOT", "0"},
		{0, "ReqSwitch", "REQ_SWITCH", "0"},
		{0, "ResizeTime", "RESIZE_TIME", notApplicable},
		{0, "SiblingsActive", "ACTIVE_SIBLINGS", "NA"},
		{0, "SiblingsActiveRaw", "ACTIVE_SIBLINGS_RAW", "NA"},
		{0, "SiblingsViable", "VIABLE_SIBLINGS", "NA"},
		{0, "SiblingsViableRaw", "VIALBLE_SIBLINGS_RAW", "NA"}, // as Slurm spells it
		{0, "SPerBoard", "SOCKETS_PER_BOARD", "0"},
		{0, "tres-bind", "TRES_BIND", notApplicable},
		{0, "tres-freq", "TRES_FREQ", notApplicable},
		{0, "tres-per-socket", "TRES_PER_SOCKET", notApplicable},
		{0, "Wait4Switch", "WAIT4SWITCH", "0:00"},
	} {
		columns = append(columns, Column[Job]{Letter: one.letter, Name: one.name, Title: one.title, Value: constant(one.value)})
	}
	return columns
}
