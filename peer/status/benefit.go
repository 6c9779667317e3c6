package status

import (
	"math"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Benefit is what the grid brings the users of this site, job by job: the response
// that the job would have had here over the one that it had ([MC] equation 9). What it
// would have had is the wait that the own site quoted at its first round and its run
// time at this site's speed. The site's mean is the geometric one of [MC 4.6], over
// about the last thousand jobs of this life of the peer. People are shown it; it decides
// nothing.
type Benefit struct {
	jobs int
	mean float64 // of the logarithms
}

// benefitJobs is how many jobs the mean looks back, about.
const benefitJobs = 1000

// Add counts a job that had one response, and alone would have had another one.
func (b *Benefit) Add(alone, had protocol.Duration) {
	b.jobs = min(b.jobs+1, benefitJobs)
	ratio := float64(max(1, alone)) / float64(max(1, had))
	b.mean += (math.Log(ratio) - b.mean) / float64(b.jobs)
}

// PPM is the mean in parts per million; 0: nothing was measured.
func (b *Benefit) PPM() int {
	if b.jobs == 0 {
		return 0
	}
	return int(min(math.Round(math.Exp(b.mean)*protocol.PPM), math.MaxInt32))
}

// AddJob counts a job that has run, of which the own site first quoted a wait. There is the
// machine that it ran on where that is a partner's; nil: it ran here.
func (b *Benefit) AddJob(j *row.Job, quoted protocol.Duration, here, there *protocol.Capacity) {
	if j.Started == 0 || j.Outcome == nil {
		return
	}
	ran := j.Outcome.Ran
	alone := ran
	if there != nil {
		alone = here.Rescale(ran, there.MHz, there.Mflops)
	}
	b.Add(quoted.Plus(alone), max(0, j.Started.Sub(j.Spec.Submitted)).Plus(ran))
}
