package peer

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// benefit is what the grid brings the users of this site, job by job: the response
// that the job would have had here over the one that it had ([MC] equation 9). What it
// would have had is the wait that the own site quoted at its first round and its run
// time at this site's speed. The site's mean is the geometric one of [MC 4.6], over
// about the last thousand jobs of this life of the peer. It is told, and decides
// nothing.
type benefit struct {
	jobs int
	mean float64 // of the logarithms
}

// benefitJobs is how many jobs the mean looks back, about.
const benefitJobs = 1000

func (b *benefit) add(alone, had protocol.Duration) {
	b.jobs = min(b.jobs+1, benefitJobs)
	ratio := float64(max(1, alone)) / float64(max(1, had))
	b.mean += (math.Log(ratio) - b.mean) / float64(b.jobs)
}

// ppm is the mean in parts per million; 0: nothing was measured.
func (b *benefit) ppm() int {
	if b.jobs == 0 {
		return 0
	}
	return int(min(math.Round(math.Exp(b.mean)*protocol.PPM), math.MaxInt32))
}

// noteAlone keeps what the own site first quoted for a job.
func (j *job) noteAlone(q *protocol.Quote) {
	if j.alone == 0 && q.Declined == "" && q.AWT != protocol.Never {
		j.alone = 1 + q.AWT
	}
}

// noteBenefit compares a job that has run with what it would have had here.
func (p *Peer) noteBenefit(j *job) {
	if j.alone == 0 || j.Started == 0 || j.Outcome == nil {
		return
	}
	ran := j.Outcome.Ran
	here := ran
	if one := p.byName[j.Site]; one != nil {
		if one.card == nil {
			return
		}
		here = p.cfg.Capacity.Rescale(ran, one.card.Capacity.MHz, one.card.Capacity.Mflops)
	}
	p.benefit.add((j.alone - 1).Plus(here), max(0, j.Started.Sub(j.Spec.Submitted)).Plus(ran))
}
