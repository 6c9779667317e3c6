package slurmtext

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Absent is what Slurm prints for a text that is not set.
const Absent = "(null)"

const (
	notApplicable = "N/A"
	unknown       = "Unknown"
	unassigned    = "None assigned"
)

// Job is a job, and what of its user and its place is not in its view.
type Job struct {
	view.Job
	*Clock

	Cluster  string // of Slurm: the site that was asked
	UID, GID uint32
	Group    string // name of GID
	Unit     byte   // of memory, for [Megabytes]
}

// request is what the job asks for.
func (j *Job) request() *protocol.Request {
	return &protocol.Request{
		CPUs: j.CPUs, Nodes: j.Nodes, Layout: j.Layout, MemoryMB: j.MemoryMB, WallTime: j.WallTime,
		Resources: j.Resources, Features: j.Features, Exclusive: j.Exclusive,
	}
}

// Partitions are those that the job asks for, or [Partition].
func (j *Job) Partitions() string { return cmp.Or(j.Partition, Partition) }

// nodes is how many nodes the job has, or has at least.
func (j *Job) nodes() int { return max(1, j.request().LeastNodes()) }

// Nodes of the job as Slurm lists them: its site; empty while it has none.
func (j *Job) nodeList() string {
	if j.Started == 0 {
		return ""
	}
	return string(j.Site)
}

// Used is how long the job has run.
func (j *Job) Used() protocol.Duration {
	switch {
	case j.Started == 0:
		return 0
	case j.Ended != 0:
		return max(0, j.Ended.Sub(j.Started))
	}
	return max(0, j.Now.Sub(j.Started))
}

// waited is how long the job was pending.
func (j *Job) waited() protocol.Duration {
	until := cmp.Or(j.Started, j.Ended, j.Now)
	return max(0, until.Sub(j.Submitted))
}

// left is what remains of the time limit.
func (j *Job) left() protocol.Duration { return max(0, j.Limit()-j.Used()) }

// Eligible is from when on the job may start, or might have; 0: it is not known, as it is held or waits for other jobs.
func (j *Job) Eligible() protocol.Instant {
	at, c := cmp.Or(j.Started, j.Ended, j.Now), &j.Conditions
	if j.Started == 0 && (c.Hold != "" || !c.Dependency.MetAt(at)) {
		return 0
	}
	return max(j.Submitted, c.Begin, j.dependencyMet())
}

// dependencyMet is from when on the job's dependency was met; 0: it has none.
func (j *Job) dependencyMet() (met protocol.Instant) {
	d := j.Conditions.Dependency
	if d == nil {
		return 0
	}
	for _, term := range d.Terms {
		if !d.Any {
			met = max(met, term.Met)
		} else if term.Met != 0 && (met == 0 || term.Met < met) {
			met = term.Met
		}
	}
	return met
}

// dependency is what the job still waits for of others, as afterok:1000000000042(unfulfilled); empty: nothing.
func (j *Job) dependency() string {
	d := j.Conditions.Dependency
	if d == nil || j.Started != 0 || d.Any && d.MetAt(j.Now) {
		return ""
	}
	var parts []string
	for _, term := range d.Terms {
		if term.Met != 0 && term.Met <= j.Now {
			continue
		}
		text, state := string(term.Kind), "unfulfilled"
		if term.Job != 0 {
			text += ":" + term.Job.String()
		}
		if term.Kind == protocol.AfterCorr {
			text += "_*"
		}
		if term.Delay > 0 {
			text += "+" + strconv.FormatInt(int64(term.Delay/protocol.Minute), 10)
		}
		if term.Never != "" {
			state = "failed"
		}
		parts = append(parts, text+"("+state+")")
	}
	if d.Any {
		return strings.Join(parts, "?")
	}
	return strings.Join(parts, ",")
}

// PlannedStart is when the job is predicted to start, or has started; 0: it is not known.
func (j *Job) PlannedStart() protocol.Instant {
	if j.Started != 0 || j.State != protocol.Pending {
		return j.Started
	}
	if expected, known := j.ExpectedStart(j.Now); known {
		return expected.Median
	}
	if j.CommittedAt != 0 && j.QuotedAWT != nil {
		return max(j.Now, j.CommittedAt.Add(*j.QuotedAWT))
	}
	return 0
}

// plannedEnd is when the job will have ended at its time limit, or has ended.
func (j *Job) plannedEnd() protocol.Instant {
	start := j.PlannedStart()
	if j.Ended != 0 || start == 0 {
		return j.Ended
	}
	return start.Add(j.Limit())
}

// SlurmReason is why the job waits or has failed, in one word as squeue has it.
func (j *Job) SlurmReason() string {
	switch {
	case j.State == protocol.Pending && j.Reason != "":
		word, _, _ := strings.Cut(j.Reason, " ")
		return strings.TrimRight(word, ":;,.")
	case j.State == protocol.Timeout:
		return "TimeLimit"
	case j.State == protocol.NodeFail:
		return "NodeDown"
	case j.State == protocol.Failed && j.ExitCode != 0:
		return "NonZeroExitCode"
	case j.State == protocol.Failed && j.Signal == protocol.SignalOutOfMemory:
		return "OutOfMemory"
	case j.State == protocol.Failed && j.Signal != 0:
		return "RaisedSignal:" + strconv.Itoa(j.Signal)
	case j.State == protocol.Failed:
		return "JobLaunchFailure"
	}
	return "None"
}

// exit is the exit code and the signal, as 3:0.
func (j *Job) exit() string { return fmt.Sprintf("%d:%d", j.ExitCode, j.signal()) }

// signal is the one that ended the job. Slurm ends jobs by SIGTERM, which is 15.
func (j *Job) signal() int {
	const term = 15
	if j.Signal == 0 && j.ExitCode == 0 && j.Started != 0 && (j.State == protocol.Cancelled || j.State == protocol.Timeout) {
		return term
	}
	return j.Signal
}

// status is what wait(2) has of the job's end.
func (j *Job) status() int { return j.ExitCode<<8 | j.signal() }

// memory is what the job asks for of each node or CPU.
func (j *Job) memory() int64 { return cmp.Or(j.Layout.MemoryPerCPU, j.MemoryMB) }

// Megabytes prints an amount of memory as Slurm does: in a unit, of K, M, G, T and P, or with 0 multiples of half a gigabyte in
// the largest unit that they have one of, and others in megabytes. There are two digits after the point if the amount is no
// whole number of the unit.
func Megabytes(mb int64, unit byte) string {
	const step = 1024
	units, one := "MGTP", int64(1)
	switch {
	case mb == 0:
		return "0"
	case unit == 'K':
		return strconv.FormatInt(mb*step, 10) + "K"
	}
	for len(units) > 1 && (unit == 0 && mb%(step/2) == 0 && mb/one >= step || unit != 0 && units[0] != unit) {
		one, units = one*step, units[1:]
	}
	if mb%one != 0 {
		return strconv.FormatFloat(float64(mb)/float64(one), 'f', 2, 64) + units[:1]
	}
	return strconv.FormatInt(mb/one, 10) + units[:1]
}

// allMemory is the memory of the whole job.
func (j *Job) allMemory() int64 {
	if each := j.Layout.MemoryPerCPU; each > 0 {
		return each * int64(j.CPUs)
	}
	return j.MemoryMB * int64(j.nodes())
}

// tres are the trackable resources of the job, as squeue and scontrol list them.
func (j *Job) tres() string {
	parts := []string{"cpu=" + strconv.Itoa(j.CPUs)}
	if mb := j.allMemory(); mb > 0 {
		parts = append(parts, "mem="+Megabytes(mb, j.Unit))
	}
	parts = append(parts, "node="+strconv.Itoa(j.nodes()), "billing="+strconv.Itoa(j.CPUs))
	r := j.request()
	for _, one := range j.Resources {
		if one.Name != protocol.License {
			parts = append(parts, fmt.Sprintf("gres/%s=%d", typed(one), r.InAll(one)))
		}
	}
	return strings.Join(parts, ",")
}

func typed(one protocol.Resource) string {
	if one.Type == "" {
		return one.Name
	}
	return one.Name + ":" + one.Type
}

// asked are the resources that the job asks for by the count of something, as gres:gpu:2; N/A if there are none.
func (j *Job) asked(per protocol.Per) string {
	var parts []string
	for _, one := range j.Resources {
		if one.Per == per && one.Name != protocol.License {
			parts = append(parts, fmt.Sprintf("gres:%s:%d", typed(one), one.Count))
		}
	}
	return cmp.Or(strings.Join(parts, ","), notApplicable)
}

func (j *Job) licenses() string {
	var parts []string
	for _, one := range j.request().Licenses() {
		parts = append(parts, fmt.Sprintf("%s:%d", one.Type, one.Count))
	}
	return orAbsent(strings.Join(parts, ","))
}

// inName is the name of an output file with the job's ID in place of %j and %A. That of several elements keeps what differs.
func (j *Job) inName(path string) string {
	if j.Array != nil {
		return strings.ReplaceAll(path, "%A", j.Array.ID.String())
	}
	return strings.NewReplacer("%j", j.ID.String(), "%A", j.arrayID().String(), "%%", "%").Replace(path)
}

// rawID is the job's ID, of several elements that of their array.
func (j *Job) rawID() protocol.JobID {
	if j.Array != nil {
		return j.Array.ID
	}
	return j.ID
}

// arrayID is the ID of the job's array, of a job on its own the job's.
func (j *Job) arrayID() protocol.JobID {
	if j.Element != nil {
		return j.Element.Array
	}
	return j.rawID()
}

// indexes are those of the elements, as 7 or 1-5,9%2; empty: the job is in no array.
func (j *Job) indexes() string {
	switch {
	case j.Array != nil:
		return protocol.Array{Indexes: j.Array.Elements, Throttle: j.Array.Throttle}.String()
	case j.Element != nil:
		return strconv.Itoa(j.Element.Index)
	}
	return ""
}

func orAbsent(text string) string { return cmp.Or(text, Absent) }

func zeroOne(so bool) string {
	if so {
		return "1"
	}
	return "0"
}
