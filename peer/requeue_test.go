package peer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestReclaimAfter: a job with Requeue is taken from a site that is lost as long after that as
// is configured, whenever since the hand-off that is.
func TestReclaimAfter(t *testing.T) {
	t.Parallel()
	const reclaim = 10 * protocol.Minute
	for _, lost := range []protocol.Duration{
		protocol.Second, protocol.Minute, 9 * protocol.Minute, 10*protocol.Minute + protocol.Second, 25 * protocol.Minute, 39 * protocol.Minute,
	} {
		t.Run(fmt.Sprint(lost), func(t *testing.T) {
			t.Parallel()
			w := twoSites(t)
			for _, s := range w.Sites() {
				w.Crash(s.Name)
				w.Configure(s.Name, func(cfg *rules.Config) { cfg.ReclaimAfter = reclaim })
				if err := w.Restart(s.Name); err != nil {
					t.Fatal(err)
				}
			}
			job := twoCPUs(protocol.Hour)
			job.Spec.Requeue = true
			id := submit(t, w, job)
			if stored, _ := w.Site("a").Rows().Job(id); stored.Phase != row.JobHandedOff {
				t.Fatalf("the job is %s", stored.Phase)
			}
			w.Advance(lost)
			w.Crash("b")
			w.Disconnect("a", "b")
			at := w.Now()
			var requeued protocol.Instant
			w.Journal = func(line string) {
				if strings.Contains(line, "event reclaimed") {
					requeued = w.Now()
				}
			}
			w.Advance(2 * reclaim)
			if took := requeued.Sub(at); took != reclaim {
				t.Errorf("it is taken back after %v, want %v", took, reclaim)
			}
		})
	}
}

// TestRefusedOffersAreNoReruns: a job with Requeue whose offers have been refused more often
// than a job is run again is run again all the same when its node fails, and no more often.
func TestRefusedOffersAreNoReruns(t *testing.T) {
	t.Parallel()
	const reruns = 10
	j := newJudged(t, map[protocol.SiteName]manner{"b": {refuse: true}})
	ev := submission(1)
	ev.Jobs[0].Spec.CPUs, ev.Jobs[0].Spec.Requeue = 2, true
	j.step(ev)
	j.pass(3 * protocol.Hour)
	rows := peertest.Rows{Rows: j.rows}
	if jobs := rows.Jobs(); len(jobs) != 1 || jobs[0].Epoch <= reruns+5 || jobs[0].Reruns != 0 {
		t.Fatalf("too few offers were refused: %+v", jobs)
	}
	j.manners["b"] = manner{starts: 1, runs: protocol.Minute, state: protocol.NodeFail}
	j.pass(protocol.Day)
	if j.given["b"] != 1+reruns {
		t.Errorf("the job was given to its site %d times, want %d", j.given["b"], 1+reruns)
	}
}
