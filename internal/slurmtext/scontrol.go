package slurmtext

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// record is text as scontrol prints it: fields, of which some begin a line.
type record [][]string

// RecordStyle is how scontrol prints records.
type RecordStyle struct {
	OneLine bool // with a blank for each end of a line
	Details bool // more of jobs and nodes
}

// text is the record in a style.
func (r record) text(style RecordStyle) string {
	lines := make([]string, len(r))
	for i, fields := range r {
		lines[i] = protocol.EscapeText(strings.Join(fields, " ")) // users have written some of it
	}
	if style.OneLine {
		return strings.Join(lines, " ")
	}
	return strings.Join(lines, "\n   ")
}

// ShowJob is the record of a job, as scontrol show job prints it.
func ShowJob(j *Job, style RecordStyle) string {
	nodes := strconv.Itoa(j.nodes())
	if most := j.maxNodes(); most > 0 && j.State == protocol.Pending {
		nodes = fmt.Sprintf("%d-%d", j.nodes(), most)
	}
	memory := "MinMemoryNode=" + Megabytes(j.memory(), j.Unit)
	if j.Layout.MemoryPerCPU > 0 {
		memory = "MinMemoryCPU=" + Megabytes(j.memory(), j.Unit)
	}
	nodeList := []string{"NodeList=" + j.nodeList()}
	if j.State == protocol.Pending && j.Site != "" {
		nodeList = append(nodeList, "SchedNodeList="+string(j.Site))
	}
	minTime := notApplicable
	if j.MinTime > 0 {
		minTime = LongSpan(j.MinTime)
	}
	perNode := "0"
	if j.Layout.TasksPerNode > 0 {
		perNode = strconv.Itoa(j.Layout.TasksPerNode)
	}
	out := record{
		append(j.names(), "JobName="+j.Name),
		{fmt.Sprintf("UserId=%s(%d)", j.User, j.UID), fmt.Sprintf("GroupId=%s(%d)", j.Group, j.GID), "MCS_label=N/A"},
		{"Priority=" + strconv.FormatInt(j.Conditions.Priority, 10), "Nice=" + strconv.FormatInt(j.Nice, 10), "Account=" + orAbsent(j.Account), "QOS=" + orAbsent(j.QOS)},
		{"JobState=" + j.State.String(), "Reason=" + j.SlurmReason(), "Dependency=" + orAbsent(j.dependency())},
		{"Requeue=" + zeroOne(j.Requeue), "Restarts=" + strconv.Itoa(j.Restarts), "BatchFlag=1", "Reboot=0", "ExitCode=" + j.exit()},
	}
	if style.Details {
		out = append(out, []string{"DerivedExitCode=0:0"})
	}
	out = append(out, record{
		{"RunTime=" + LongSpan(j.Used()), "TimeLimit=" + LongSpan(j.Limit()), "TimeMin=" + minTime},
		{"SubmitTime=" + j.Time(j.Submitted, unknown), "EligibleTime=" + j.Time(j.Eligible(), unknown)},
		{"AccrueTime=" + j.Time(j.Eligible(), unknown)},
		{"StartTime=" + j.Time(j.PlannedStart(), unknown), "EndTime=" + j.Time(j.plannedEnd(), unknown), "Deadline=" + j.Time(j.Conditions.Deadline, notApplicable)},
		{"SuspendTime=None", "SecsPreSuspend=0", "LastSchedEval=" + j.Time(j.CommittedAt, unknown), "Scheduler=Switchyard"},
		{"Partition=" + j.Partitions(), "AllocNode:Sid=" + string(j.Origin) + ":0"},
		{"ReqNodeList=(null)", "ExcNodeList=(null)"},
		nodeList,
	}...)
	if list := j.nodeList(); list != "" {
		out = append(out, []string{"BatchHost=" + list})
	}
	out = append(out, []string{
		"NumNodes=" + nodes, "NumCPUs=" + strconv.Itoa(j.CPUs), "NumTasks=" + strconv.Itoa(j.request().Tasks()), "CPUs/Task=" + j.perTask(),
		"ReqB:S:C:T=0:0:*:*",
	},
		[]string{"TRES=" + j.tres()},
		[]string{"Socks/Node=*", "NtasksPerN:B:S:C=" + perNode + ":0:*:*", "CoreSpec=*"})
	if style.Details && j.Started != 0 {
		out = append(out, j.details()...)
	}
	out = append(out,
		[]string{"MinCPUsNode=" + strconv.Itoa(j.minCPUs()), memory, "MinTmpDiskNode=0"},
		[]string{"Features=" + orAbsent(j.Features), "DelayBoot=00:00:00"},
		[]string{"OverSubscribe=" + j.shares(), "Contiguous=0", "Licenses=" + j.licenses(), "Network=(null)"})
	return append(out, j.files()...).text(style)
}

// names are the IDs of the job and of its array, with the elements.
func (j *Job) names() []string {
	ids := []string{"JobId=" + j.rawID().String()}
	if elements := j.indexes(); elements != "" {
		ids = append(ids, "ArrayJobId="+j.arrayID().String(), "ArrayTaskId="+elements)
	}
	if j.Array != nil && j.Array.Throttle > 0 {
		ids = append(ids, "ArrayTaskThrottle="+strconv.Itoa(j.Array.Throttle))
	}
	return ids
}

// details are what a job has of its nodes, of which no CPUs are known by number.
func (j *Job) details() record {
	return record{{"JOB_GRES=(null)"}, {"  Nodes=" + j.nodeList(), "CPU_IDs=", fmt.Sprintf("Mem=%d", j.allMemory()), "GRES="}}
}

// files are the last lines of a job's record.
func (j *Job) files() (lines record) {
	lines = record{{"Command=(null)"}, {"WorkDir=" + j.WorkDir}}
	if j.Comment != "" {
		lines = append(lines, []string{"Comment=" + j.Comment + " "})
	}
	lines = append(lines, []string{"StdErr=" + j.inName(j.Stderr)}, []string{"StdIn=/dev/null"}, []string{"StdOut=" + j.inName(j.Stdout)}, []string{"Power="})
	for _, tres := range []struct {
		name string
		per  protocol.Per
	}{{"TresPerJob", protocol.PerJob}, {"TresPerNode", protocol.PerNode}, {"TresPerTask", protocol.PerTask}} {
		if asked := j.asked(tres.per); asked != notApplicable {
			lines = append(lines, []string{tres.name + "=" + asked})
		}
	}
	if j.Mail.To != "" {
		lines = append(lines, []string{"MailUser=" + j.Mail.To})
	}
	return append(lines, []string{""})
}

// ShowNode is the record of a site, as scontrol show node prints that of a node.
func ShowNode(n *Node, style RecordStyle) string {
	out := record{
		{"NodeName=" + string(n.Site.Site), "Arch=n/a", "CoresPerSocket=1 "},
		{"CPUAlloc=" + strconv.Itoa(n.busy()), "CPUEfctv=" + strconv.Itoa(n.CPUs), "CPUTot=" + strconv.Itoa(n.CPUs), "CPULoad=N/A"},
		{"AvailableFeatures=" + n.features()},
		{"ActiveFeatures=" + n.features()},
		{"Gres=" + n.gres()},
	}
	if style.Details {
		out = append(out, []string{"GresDrain=" + notApplicable})
	}
	out = append(out, record{
		{"NodeAddr=" + string(n.Site.Site), "NodeHostName=" + string(n.Site.Site), "Version=" + n.Software},
		{"RealMemory=" + strconv.FormatInt(n.allMemory(), 10), "AllocMem=N/A", "FreeMem=N/A", "Sockets=" + strconv.Itoa(n.CPUs), "Boards=1"},
		{"State=" + strings.ToUpper(n.completeState("+")), "ThreadsPerCore=1", "TmpDisk=0", "Weight=1", "Owner=N/A", "MCS_label=N/A"},
		{"Partitions=" + Partition + " "},
		{"BootTime=None", "SlurmdStartTime=None"},
		{"LastBusyTime=" + unknown},
		{"CfgTRES=" + n.tres()},
		{"AllocTRES=" + n.usedTRES()},
		{"CapWatts=n/a"},
		{"CurrentWatts=n/s", "AveWatts=n/s"},
		{"ExtSensorsJoules=n/s", "ExtSensorsWatts=n/s", "ExtSensorsTemp=n/s"},
	}...)
	if why := n.Why(); why != "" && n.Drain != nil {
		out = append(out, []string{fmt.Sprintf("Reason=%s [%s@%s]", why, n.drainedBy(), n.drainedAt())})
	} else if why != "" {
		out = append(out, []string{"Reason=" + why})
	}
	return out.text(style)
}

// allMemory is that of all the site's nodes, in MB; 0: not known.
func (n *Node) allMemory() int64 { return n.MemoryMB * int64(n.count()) }

// tres are the trackable resources of the site's nodes. Of memory, scontrol prints that of nodes in MB.
func (n *Node) tres() string {
	if n.CPUs == 0 {
		return ""
	}
	memory := ""
	if n.MemoryMB > 0 {
		memory = fmt.Sprintf(",mem=%dM", n.allMemory())
	}
	return fmt.Sprintf("cpu=%d%s,billing=%d", n.CPUs, memory, n.CPUs)
}

// usedTRES are those of them that jobs have. How much memory they have is not known.
func (n *Node) usedTRES() string {
	if n.busy() == 0 {
		return ""
	}
	return "cpu=" + strconv.Itoa(n.busy())
}

// ShowPartition is the record of the one partition, as scontrol show partition prints it.
func ShowPartition(sites []*Node, style RecordStyle) string {
	row := NodeRow{Nodes: sites}
	cpus, nodes := row.sum(func(n *Node) int { return n.CPUs }), row.sum((*Node).count)
	limit := protocol.Duration(0)
	for _, one := range sites {
		if one.MaxWallTime <= 0 {
			limit = 0
			break
		}
		limit = max(limit, one.MaxWallTime)
	}
	longest := "UNLIMITED"
	if limit > 0 {
		longest = LongSpan(limit)
	}
	return record{
		{"PartitionName=" + Partition},
		{"AllowGroups=ALL", "AllowAccounts=ALL", "AllowQos=ALL"},
		{"AllocNodes=ALL", "Default=YES", "QoS=N/A"},
		{"DefaultTime=" + LongSpan(defaultLimit), "DisableRootJobs=YES", "ExclusiveUser=NO", "GraceTime=0", "Hidden=NO"},
		{"MaxNodes=UNLIMITED", "MaxTime=" + longest, "MinNodes=1", "LLN=NO", "MaxCPUsPerNode=UNLIMITED"},
		{"Nodes=" + row.names()},
		{"PriorityJobFactor=1", "PriorityTier=1", "RootOnly=NO", "ReqResv=NO", "OverSubscribe=NO"},
		{"OverTimeLimit=NONE", "PreemptMode=OFF"},
		{"State=UP", "TotalCPUs=" + strconv.Itoa(cpus), "TotalNodes=" + strconv.Itoa(nodes), "SelectTypeParameters=NONE"},
		{"JobDefaults=(null)"},
		{"DefMemPerNode=UNLIMITED", "MaxMemPerNode=UNLIMITED"},
		{fmt.Sprintf("TRES=cpu=%d%s,node=%d,billing=%d", cpus, row.memory(), nodes, cpus)},
	}.text(style)
}

// memory is the memory of all sites as a trackable resource; empty: not all state it.
func (r *NodeRow) memory() string {
	all := int64(0)
	for _, one := range r.Nodes {
		if one.MemoryMB == 0 {
			return ""
		}
		all += one.MemoryMB * int64(one.count())
	}
	return fmt.Sprintf(",mem=%dM", all)
}
