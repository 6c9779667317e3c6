package slurm

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// snapshot is one look at Slurm: its queue, its nodes, its partitions, its reservations.
// It does not change once made, but for what its outlooks keep.
type snapshot struct {
	at         time.Time // before the commands were run
	own        map[string][]entry
	partitions []*partition // in which jobs are put
	all        []*partition
	licenses   []protocol.Resource
	limits     time.Time // when the partitions and licenses were asked for
	machine    machine
	load       protocol.Load
	plan       *queuePlan // by the limits of jobs
	predicted  *queuePlan // by the times that they are likely to run
	// fingerprint is equal for looks that saw the same jobs in the same states.
	fingerprint uint64
}

// limitsKept is how long the answer about partitions and licenses is good: after this time a
// partition that was taken down gets no more jobs.
const limitsKept = 10 * time.Second

// see looks at Slurm and keeps what it sees.
func (s *Scheduler) see(ctx context.Context) (*snapshot, error) {
	seen := &snapshot{at: time.Now()}
	s.mu.Lock()
	if last := s.snapshot; last != nil && time.Since(last.limits) < limitsKept {
		seen.all, seen.licenses, seen.limits = last.all, last.licenses, last.limits
	}
	c := &cluster{at: protocol.InstantOf(seen.at), memory: s.memory, linear: s.linear}
	s.mu.Unlock()
	var err error
	if seen.all == nil {
		seen.limits = seen.at
		if seen.all, err = s.commands.partitions(ctx); err != nil {
			return nil, err
		}
		if seen.licenses, err = s.commands.licenses(ctx); err != nil {
			return nil, err
		}
	}
	c.partitions = seen.all
	if seen.partitions, err = ours(seen.all, s.config.Partitions); err != nil {
		return nil, err
	}
	if c.queue, err = s.commands.queue(ctx); err != nil {
		return nil, err
	}
	if c.nodes, err = s.commands.nodes(ctx); err != nil {
		return nil, err
	}
	if c.reservations, err = s.commands.reservations(ctx); err != nil {
		return nil, err
	}
	s.runs.addEnded(c.queue)
	if err = seen.take(c, s.config.Site, &s.runs); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snapshot == nil || seen.at.After(s.snapshot.at) {
		s.snapshot = seen
	}
	return seen, nil
}

// take keeps what is to be known of a cluster.
func (s *snapshot) take(c *cluster, site protocol.SiteName, runs *runTimes) error {
	names := namesOf(s.partitions)
	s.machine = machineOf(c.nodes, names, s.licenses)
	if s.machine.nodes == 0 {
		return errors.New("Slurm's partitions " + strings.Join(names, ", ") + " have no nodes; name others in [localsched.slurm] partitions")
	}
	s.own = ownJobs(site, c.queue)
	c.queue = slices.DeleteFunc(c.queue, func(e entry) bool { return e.over() })
	known := false // of how long jobs run
	for i := range c.queue {
		e := &c.queue[i]
		e.predicted = runs.predict(e, c.ran(e))
		known = known || e.predicted != e.limit
	}
	s.load = loadOf(c.queue, names, s.machine)
	s.fingerprint = fingerprint(c)
	s.plan = &queuePlan{cluster: c}
	if s.predicted = s.plan; known {
		s.predicted = &queuePlan{cluster: c, predicted: true}
	}
	return nil
}

// ownJobs are the entries with names of this site, by name.
func ownJobs(site protocol.SiteName, queue []entry) map[string][]entry {
	own := map[string][]entry{}
	for _, e := range queue {
		if _, ok := parseName(site, e.name); ok {
			own[e.name] = append(own[e.name], e)
		}
	}
	return own
}

// in reports whether the job is in one of the partitions.
func (e *entry) in(names []string) bool {
	for name := range strings.SplitSeq(e.partition, ",") {
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// loadOf is the load of some partitions. CPUs of nodes that take no jobs are busy.
func loadOf(queue []entry, names []string, m machine) protocol.Load {
	load := protocol.Load{CPUs: m.cpus, Busy: m.cpus - m.idle}
	for _, e := range queue {
		if e.waits() && e.in(names) {
			load.QueuedJobs++
			load.QueuedWork = addWork(load.QueuedWork, e.cpus, e.limit)
		}
	}
	return load
}

// fingerprint hashes what the starts of further jobs depend on.
func fingerprint(c *cluster) uint64 {
	sum := fnv.New64a()
	for _, n := range c.nodes {
		_, _ = fmt.Fprintln(sum, n.name, n.state, n.idle) // a hash takes everything
	}
	for _, r := range c.reservations {
		_, _ = fmt.Fprintln(sum, r.name, r.start, r.end, r.nodes)
	}
	for _, e := range c.queue {
		_, _ = fmt.Fprintln(sum, e.ID, e.state, e.cpus, e.limit, e.priority)
	}
	return sum.Sum64()
}

// addWork adds CPUs × time to an amount of work, up to the largest int64.
func addWork(work int64, cpus int, limit protocol.Duration) int64 {
	const most = int64(protocol.Never)
	if limit > 0 && int64(cpus) > (most-work)/int64(limit) {
		return most
	}
	return work + int64(cpus)*int64(limit)
}

// capacity is what the partitions can ever offer one job.
func (s *snapshot) capacity() protocol.Capacity {
	c := protocol.Capacity{
		CPUs: s.machine.cpus, Nodes: s.machine.nodes, NodeCPUs: s.machine.nodeCPUs, MemoryMB: s.machine.memoryMB,
		WholeNode: true, Groups: s.machine.groups, Shared: s.machine.licenses, Exclusive: true,
	}
	for _, p := range s.partitions {
		c.WholeNode = c.WholeNode && p.wholeNode
		if p.maxTime == 0 {
			c.MaxWallTime = protocol.Never
		}
		c.MaxWallTime = max(c.MaxWallTime, p.maxTime)
	}
	if c.MaxWallTime == protocol.Never {
		c.MaxWallTime = 0
	}
	return c
}

// has reports whether a job of this name was seen.
func (s *snapshot) has(name string) bool { return len(s.own[name]) > 0 }

// of is the entry that stands for a job; nil when there is none. Of several, the
// one that has claimed it counts; as long as none has, one that has not ended, and
// of these the one that Slurm has acknowledged. One that has ended and has another number than
// that is of an earlier submission, which was withdrawn.
func (s *snapshot) of(name string, uid uint32, record nativeRecord, c claim) *entry {
	var best *entry
	rank := -1
	for i := range s.own[name] {
		e := &s.own[name][i]
		if e.uid != uid || slices.Contains(record.Past, e.native) || c.id != 0 && e.ID != c.id {
			continue
		}
		if c.id == 0 && record.ID != 0 && e.ID != record.ID && e.over() {
			continue
		}
		value := 0
		if !e.over() {
			value += 2
		}
		if e.ID == record.ID {
			value++
		}
		if value > rank {
			best, rank = e, value
		}
	}
	return best
}
