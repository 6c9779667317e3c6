package slurm

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// native names a job of Slurm's. The number alone does not: a controller that
// was killed gives numbers of jobs that it has lost to others.
type native struct {
	ID        uint32           `json:"id"`
	Submitted protocol.Instant `json:"submitted_ms"` // by the controller's clock, whole seconds; 0: not seen yet
}

// entry is one line of squeue.
type entry struct {
	native
	uid       uint32
	account   string // in Slurm's accounting; empty: none
	array     string // the number of the array that it is in, or its own
	partition string // several, with commas, while the job waits
	state     string
	reason    string
	start     protocol.Instant // of a job that waits: as Slurm plans it; 0: not known
	end       protocol.Instant // of a job that has not ended: its limit
	limit     protocol.Duration
	predicted protocol.Duration // that it runs, in all, see runTimes
	cpus      int
	nodeCount int                 // that it has, or needs at least
	memoryMB  int64               // on all of them; 0: not known
	resources []protocol.Resource // that it asks for, by node or as a whole
	whole     bool                // it shares nodes with no other job
	priority  uint64
	inside    string // the reservation that it runs in; empty: none
	placed    bool   // Slurm has given it nodes
	nodes     string // these, as squeue lists them; empty: none, or not asked
	name      string // of a job of a peer's only how it is known there, see [tagName]
}

// queueColumns are what squeue is asked for. The name is the last because it may
// hold any character.
var queueColumns = []string{ //nolint:gochecknoglobals // it does not change
	"JobID", "UserID", "Account", "ArrayJobID", "Partition", "State", "SubmitTime", "StartTime", "EndTime", "TimeLimit",
	"NumCPUs", "NumNodes", "tres-alloc", "NumTasks", "tres-per-node", "tres-per-job", "tres-per-task",
	"OverSubscribe", "PriorityLong", "Reservation", "NodeList", "Reason", "Name",
}

// queueFormat has squeue begin each line with a word and end each column with a bar.
// Columns of no width are as long as what they hold.
func queueFormat(mark string) string {
	columns := slices.Clone(queueColumns)
	for i, name := range columns {
		switch i {
		case 0:
			columns[i] = name + ":0|" + mark + "|"
		case len(columns) - 1:
			columns[i] = name + ":0"
		default:
			columns[i] = name + ":0|"
		}
	}
	return strings.Join(columns, ",")
}

// queue lists jobs, of all partitions and states, one by one where they are
// arrays.
func (c *commands) queue(ctx context.Context) ([]entry, error) {
	// Names may contain line breaks, so a user could forge lines. Each line therefore has a
	// random word after the number, which no user can know.
	mark := rand.Text()
	out, _, err := c.run(ctx, "", "squeue", "-h", "-a", "-r", "-t", "all", "--noconvert", "-O", queueFormat(mark))
	if err != nil {
		return nil, err
	}
	return parseQueue(out, mark)
}

// parseQueue reads what squeue prints. Lines without the mark belong to the name
// of the job before them, which is none of ours.
func parseQueue(out, mark string) (entries []entry, err error) {
	number := 0
	for line := range strings.Lines(out) {
		number++
		line = strings.TrimSuffix(line, "\n")
		id, text, marked := strings.Cut(line, "|"+mark+"|")
		if !marked {
			if len(entries) > 0 {
				entries[len(entries)-1].name += "\n" + line
			}
			continue
		}
		e, err := parseEntry(id, text)
		if err != nil {
			return nil, fmt.Errorf("squeue, line %d: %w", number, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// parseEntry reads a line, the columns behind the number in text.
func parseEntry(number, text string) (e entry, err error) {
	f := strings.SplitN(text, "|", len(queueColumns)-1)
	if len(f) != len(queueColumns)-1 {
		return entry{}, fmt.Errorf("job %.20s: %.200q has %d columns, not %d", number, text, len(f), len(queueColumns)-1)
	}
	id, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return entry{}, fmt.Errorf("job id %.20q is not a number", number)
	}
	uid, err := strconv.ParseUint(f[0], 10, 32)
	if err != nil {
		return entry{}, fmt.Errorf("job %d: uid %q is not a number", id, f[0])
	}
	e = entry{
		native: native{ID: uint32(id)}, uid: uint32(uid), account: nameOrNone(f[1]), array: f[2], partition: f[3], state: f[4],
		whole: f[16] == "NO", inside: nameOrNone(f[18]), reason: f[20], name: tagName(f[21]),
	}
	if e.placed = hasNodes(f[19]); e.placed {
		e.nodes = f[19]
	}
	if err = e.parseTimes(f[5:9]); err == nil {
		err = e.parseNeeds(f[9:16])
	}
	if err == nil {
		e.priority, err = strconv.ParseUint(f[17], 10, 64)
	}
	if err != nil {
		return entry{}, fmt.Errorf("job %d: %w", id, err)
	}
	return e, nil
}

// parseTimes reads the columns SubmitTime, StartTime, EndTime, TimeLimit.
func (e *entry) parseTimes(f []string) (err error) {
	if e.Submitted, err = parseTime(f[0]); err == nil {
		e.start, err = parseTime(f[1])
	}
	if err == nil {
		e.end, err = parseTime(f[2])
	}
	if err == nil {
		e.limit, err = parseLimit(f[3])
	}
	return err
}

// parseNeeds reads the columns from NumCPUs to tres-per-task.
func (e *entry) parseNeeds(f []string) (err error) {
	if e.cpus, err = parseCount(f[0], 1<<31); err != nil {
		return err
	}
	nodes, _, _ := strings.Cut(f[1], "-") // at least and at most
	if e.nodeCount, err = parseCount(nodes, 1<<31); err != nil {
		return err
	}
	for word := range strings.SplitSeq(f[2], ",") {
		if amount, ok := strings.CutPrefix(word, "mem="); ok {
			if e.memoryMB, err = parseMegabytes(amount); err != nil {
				return err
			}
		}
	}
	tasks := 0
	if f[3] != noValue { // as of a job that names tasks per node alone
		tasks, err = parseCount(f[3], math.MaxInt32)
	}
	e.resources = askedInQueue(f[4:], tasks)
	return err
}

// noValue is Slurm's NO_VAL, which squeue prints for some numbers that a job does not name.
const noValue = "4294967294"

// nameOrNone is a name that one of the commands prints; empty for its words for none.
func nameOrNone(text string) string {
	if text == "(null)" || text == "N/A" {
		return ""
	}
	return text
}

// hasNodes reports whether a list of nodes, as one of the commands prints it, names any.
func hasNodes(list string) bool { return list != "" && list != "(null)" && list != "None assigned" }

// waits reports whether the job has not started.
func (e *entry) waits() bool {
	switch e.state {
	case "PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD":
		return true
	}
	return false
}

// over reports whether the job has ended for good.
func (e *entry) over() bool { return finalState(e.state) != 0 }

// runs reports whether the job has CPUs.
func (e *entry) runs() bool { return !e.waits() && !e.over() }

// ready reports whether a pending job waits for nodes only. Other jobs wait for events that the
// state of the nodes does not show, and delay no job until then.
func (e *entry) ready() bool {
	reason, _, _ := strings.Cut(e.reason, ",")
	switch reason {
	case "None", "", "Priority", "Resources", "ReqNodeNotAvail":
		return e.state == "PENDING"
	}
	return e.state == "PENDING" && (strings.HasPrefix(reason, "Nodes required") || strings.HasPrefix(reason, "Nodes_required"))
}

// throttled reports whether a task of an array waits for others of its array to end.
func (e *entry) throttled() bool { return e.waits() && e.reason == "JobArrayTaskLimit" }

// outOfMemory is Slurm's word for the end of a job of which a process was ended for want of memory.
const outOfMemory = "OUT_OF_MEMORY"

// finalState is the grid's word for a state of Slurm's that is a last one; 0 for
// one that is not.
func finalState(word string) protocol.State {
	switch word {
	case "COMPLETED":
		return protocol.Completed
	case "FAILED", outOfMemory, "LAUNCH_FAILED":
		return protocol.Failed
	case "CANCELLED":
		return protocol.Cancelled
	case "TIMEOUT", "DEADLINE":
		return protocol.Timeout
	case "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REVOKED", "RECONFIG_FAIL":
		return protocol.NodeFail
	}
	return 0
}
