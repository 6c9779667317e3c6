package slurm

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/usage"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// nodeWord stands for a node's name in [Config.NodeExporter].
const nodeWord = "{node}"

// checkExporter validates the pattern of node exporters. The error names the pattern.
func checkExporter(pattern string) error {
	at := strings.ReplaceAll(pattern, nodeWord, "node")
	if address, err := url.Parse(at); err == nil && address.Host != "" && (address.Scheme == "http" || address.Scheme == "https") {
		return nil
	}
	if pattern == "" || filepath.IsAbs(at) {
		return nil
	}
	return fmt.Errorf("node exporter %q is neither a URL with http nor an absolute path, in which %s stands for a node's name", pattern, nodeWord)
}

// exporter returns the URL or path of a node's metrics. It is empty if the name cannot be part
// of a URL or path, as for a list of several nodes.
func (c Config) exporter(node string) string {
	harmless := func(r rune) bool {
		return r == '-' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if node == "" || strings.HasPrefix(node, ".") || strings.TrimFunc(node, harmless) != "" {
		return ""
	}
	return strings.ReplaceAll(c.NodeExporter, nodeWord, node)
}

// tally is what the node of a running job does meanwhile. The scheduler's lock guards it.
type tally struct {
	usage.Tally

	begun bool
	asked bool      // and not answered yet
	last  time.Time // when the node was asked last
	added time.Time // when it was asked for what was added last
}

// atOnceRead bounds how many nodes are read at once.
const atOnceRead = 32

// late is how long after a job's start the tally of its node may begin. What ran before the
// peer did is not measured: half of a run would be taken for all of it.
const late = 10 * time.Second

// meterNodes reads, as long as the scheduler is open, the metrics of the nodes on which jobs
// run. Each is read by itself: one that hangs must not have the others measured late.
func (s *Scheduler) meterNodes() {
	tick := time.NewTicker(s.config.Poll)
	defer tick.Stop()
	slots := make(chan struct{}, atOnceRead)
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		for _, j := range s.metered(atOnceRead - len(slots)) {
			slots <- struct{}{}
			s.driver.Go(func() {
				defer func() { <-slots }()
				s.meter(s.ctx, j)
			})
		}
	}
}

// metered returns the jobs, at most the given number, whose node is to be read now: those that have begun,
// then now and then.
func (s *Scheduler) metered(most int) (jobs []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, j := range s.jobs {
		if len(jobs) >= most {
			break
		}
		if j.state != running || j.tally.asked || !j.closed.IsZero() || j.record.Submission.Spec.LeastNodes() > 1 {
			continue // of several nodes all would have to be read at one time
		}
		wait := usage.MaxPause.Std()
		if !j.tally.begun {
			wait = 0
		}
		fresh := now.Sub(j.claim.started.Time()) < max(late, 2*s.config.Poll)
		if (j.tally.begun || fresh) && now.Sub(j.tally.last) >= wait {
			j.tally.asked = true
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// meter reads the metrics of a job's node once more. Which one it is Slurm says: in its claim a
// job could name any machine that this one reaches.
func (s *Scheduler) meter(ctx context.Context, j *job) {
	s.mu.Lock()
	source, at := s.config.exporter(j.nodes), time.Now()
	j.tally.last = at
	s.mu.Unlock()
	if source == "" {
		s.tallied(j, at, nil)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	node, err := fetchNode(ctx, source)
	if err != nil {
		s.config.Log.Warn("node_measure_failed", "job", j.tag.String(), "error", err, "advice", "see [localsched.slurm] node_exporter")
		s.tallied(j, at, nil)
		return
	}
	s.tallied(j, at, &node)
}

// tallied adds what a job's node answered that was asked at a time; nil: nothing of use. An
// answer that later ones have overtaken would look like a restart of the node.
func (s *Scheduler) tallied(j *job, at time.Time, node *usage.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.tally.asked = false
	if node == nil || at.Before(j.tally.added) {
		return
	}
	j.tally.Add(*node)
	j.tally.begun, j.tally.added = true, at
}

// closeTally reads the node of a job that has ended for the last time: once, since others may
// run there while the accounting is waited for.
func (s *Scheduler) closeTally(ctx context.Context, j *job) {
	s.mu.Lock()
	first, begun := j.closed.IsZero(), j.tally.begun
	if first {
		j.closed = time.Now()
	}
	s.mu.Unlock()
	if first && begun {
		s.meter(ctx, j)
	}
}

// byNode returns the usage of a job by the exporter of its node, given the CPU time of the job as
// far as it is known. Where jobs have whole nodes, all usage of the node is the job's; elsewhere
// the job has a share of the energy.
func (s *Scheduler) byNode(j *job, cpu protocol.Duration) protocol.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wholeNodes() {
		return j.tally.Alone()
	}
	return protocol.Usage{Energy: j.tally.Energy(cpu)}
}

// wholeNodes reports whether jobs have nodes to themselves. The lock is held.
func (s *Scheduler) wholeNodes() bool { return s.snapshot != nil && s.snapshot.capacity().WholeNode }
