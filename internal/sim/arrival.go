package sim

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// expectArrival has the next job of the workload arrive.
func (g *grid) expectArrival() {
	if g.next < g.parts.first {
		g.heap.push(g.zero.Add(protocol.Duration(g.jobs[g.next].Submit)), arrival, 0, 0)
	}
}

// arrive submits the next job. Jobs come one by one, so that each has its own round.
// One whose peer is down is submitted when that is back.
func (g *grid) arrive() {
	index := int32(g.next) //nolint:gosec // a workload has fewer jobs
	s := g.sites[g.jobs[index].Origin]
	if g.cfg.Scheme == Central && g.cfg.throughGrid(index) {
		s = g.sites[len(g.sites)-1]
	}
	g.next++
	g.submitOrWait(s, submission{job: index})
	g.expectArrival()
}

// submission is a job of the workload or an application.
type submission struct {
	job         int32
	application int32 // one more than its index; 0: a job
}

// submitOrWait submits, or lets wait until the peer is back.
func (g *grid) submitOrWait(s *site, one submission) {
	if s.peer == nil {
		s.late = append(s.late, one)
		return
	}
	g.submit(s, one)
}

func (g *grid) submit(s *site, one submission) {
	g.check.arrived()
	indices := g.indices(one)
	s.sent, s.latest = append(s.sent, indices...), len(indices)
	if one.application > 0 {
		s.step(g.asked(int(one.application) - 1))
		return
	}
	job, index := &g.jobs[one.job], one.job
	spec := g.cfg.specOf(job, index)
	spec.MHz, spec.Mflops = g.machines[job.Origin].MHz, g.machines[job.Origin].Mflops
	if !g.cfg.throughGrid(index) {
		spec.Sites = []protocol.SiteName{s.name}
	}
	s.step(event.Submit{User: g.cfg.userOf(job), Jobs: []protocol.Job{{Spec: spec, Payload: &g.payload}}})
}

// userOf is who submits a job: one user for all, unless it counts who has used what.
func (c Config) userOf(job *workload.Job) string {
	if c.FairShare.HalfLife == 0 {
		return "sim"
	}
	return fmt.Sprintf("u%d", job.User)
}

// answered sees what became of a submission.
func (g *grid) answered(s *site, reply view.Reply) {
	switch reply := reply.(type) {
	case view.Submitted:
		if s.asked == 0 {
			s.first = reply.Jobs[0].Seq()
		}
		if s.first+uint64(s.asked) != reply.Jobs[0].Seq() { //nolint:gosec // counts up
			g.fail("site %s: job ids do not follow each other", s.name)
		}
		s.asked += len(reply.Jobs)
	case view.Refusal:
		last := len(s.sent) - s.latest
		if reply.Code != view.NoSite {
			g.fail("site %s refuses %s: %s", s.name, g.called(s.sent[last]), reply.Reason)
		}
		for _, index := range s.sent[last:] {
			g.check.refused(index)
			g.parts.refuse(index, reply.Reason)
		}
		s.sent = s.sent[:last]
		g.ended += s.latest
	case view.Done, view.Job, view.Queue, view.TestSubmitResult, view.Sites, view.Shares, view.RunHistory, view.Recovery: // replies to questions that the simulator does not ask
	}
}
