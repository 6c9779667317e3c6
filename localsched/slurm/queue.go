package slurm

import (
	"context"
	"crypto/rand"
	"fmt"
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
	partition string // several, with commas, while the job waits
	state     string
	reason    string
	start     protocol.Instant // of a job that waits: as Slurm plans it; 0: not known
	end       protocol.Instant // of a job that has not ended: its limit
	limit     protocol.Duration
	cpus      int
	priority  uint64
	placed    bool   // Slurm has given it nodes
	nodes     string // these, as squeue lists them; empty: none, or not asked
	name      string // of a job of a peer's only how it is known there, see [knownAs]
}

// queueFormat is what squeue is asked for. The name is the last because it may
// hold any character.
const queueFormat = "%A|%U|%P|%T|%V|%S|%e|%l|%C|%Q|%N|%r|%j"

const queueFields = 13

// queue lists jobs, of all partitions and states, one by one where they are
// arrays.
func (c *commands) queue(ctx context.Context) ([]entry, error) {
	// Names hold line breaks too. So each line begins with a word that nobody else
	// can know.
	mark := rand.Text()
	out, _, err := c.run(ctx, "", "squeue", "-h", "-a", "-r", "-t", "all", "-o", mark+"|"+queueFormat)
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
		text, marked := strings.CutPrefix(strings.TrimSuffix(line, "\n"), mark+"|")
		if !marked {
			if len(entries) > 0 {
				entries[len(entries)-1].name += "\n" + text
			}
			continue
		}
		e, err := parseEntry(text)
		if err != nil {
			return nil, fmt.Errorf("squeue, line %d: %w", number, err)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func parseEntry(line string) (e entry, err error) {
	f := strings.SplitN(line, "|", queueFields)
	if len(f) != queueFields {
		return entry{}, fmt.Errorf("%.200q has %d fields, not %d", line, len(f), queueFields)
	}
	id, err := strconv.ParseUint(f[0], 10, 32)
	if err != nil {
		return entry{}, fmt.Errorf("job id %q is not a number", f[0])
	}
	uid, err := strconv.ParseUint(f[1], 10, 32)
	if err != nil {
		return entry{}, fmt.Errorf("job %d: uid %q is not a number", id, f[1])
	}
	e = entry{native: native{ID: uint32(id)}, uid: uint32(uid), partition: f[2], state: f[3], reason: f[11], name: knownAs(f[12])}
	if e.placed = hasNodes(f[10]); e.placed {
		e.nodes = f[10]
	}
	if e.Submitted, err = parseTime(f[4]); err == nil {
		e.start, err = parseTime(f[5])
	}
	if err == nil {
		e.end, err = parseTime(f[6])
	}
	if err == nil {
		e.limit, err = parseLimit(f[7])
	}
	if err == nil {
		e.cpus, err = parseCount(f[8], 1<<31)
	}
	if err == nil {
		e.priority, err = strconv.ParseUint(f[9], 10, 64)
	}
	if err != nil {
		return entry{}, fmt.Errorf("job %d: %w", id, err)
	}
	return e, nil
}

// hasNodes says whether a list of nodes, as one of the commands prints it, names any.
func hasNodes(list string) bool { return list != "" && list != "(null)" && list != "None assigned" }

// waits says whether the job has not started.
func (e *entry) waits() bool {
	switch e.state {
	case "PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD":
		return true
	}
	return false
}

// over says whether the job has ended for good.
func (e *entry) over() bool { return finalState(e.state) != 0 }

// runs says whether the job has CPUs.
func (e *entry) runs() bool { return !e.waits() && !e.over() }

// may says whether the scheduler considers a job that waits.
func (e *entry) may() bool {
	switch e.reason {
	case "Dependency", "DependencyNeverSatisfied", "JobHeldUser", "JobHeldAdmin", "BeginTime", "BadConstraints",
		"PartitionTimeLimit", "PartitionNodeLimit", "PartitionConfig":
		return false
	}
	return true
}

// finalState is the grid's word for a state of Slurm's that is a last one; 0 for
// one that is not.
func finalState(word string) protocol.State {
	switch word {
	case "COMPLETED":
		return protocol.Completed
	case "FAILED", "OUT_OF_MEMORY", "LAUNCH_FAILED":
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
