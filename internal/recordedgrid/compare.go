package recordedgrid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Class is why the outcomes of a job differ.
type Class string

// The classes of differences.
const (
	Tie         Class = "tie"         // the policy chooses the simulated site if quotes differ by the noise
	Latency     Class = "latency"     // an event at a site, or the start, is within the noise, or as late as measured
	Consequence Class = "consequence" // an earlier job with a difference was still pending or running
	Other       Class = "other"       // none of these
)

// Classes returns the classes in the order in which they are tried.
func Classes() []Class { return []Class{Consequence, Tie, Latency, Other} }

// Comparison is a grid beside its simulation.
type Comparison struct {
	Grid      *Grid
	Tolerance protocol.Duration // of starts that are equal
	Jobs      []Compared        // in the order of the grid's
}

// Compared is a job beside its simulation.
type Compared struct {
	*Job
	SimulatedSite   int
	SimulatedStart  protocol.Instant
	SimulatedEnd    protocol.Instant
	simulatedQueued protocol.Instant
	Class           Class  // empty: no difference
	Because         string // of the class
}

// Later is how much later than simulated the job started.
func (c *Compared) Later() protocol.Duration { return c.Started.Sub(c.SimulatedStart) }

// SimulatedWait is from the submission to the simulated start.
func (c *Compared) SimulatedWait() protocol.Duration { return c.SimulatedStart.Sub(c.Submitted) }

// Compare compares the jobs of the grid with those of a simulation of its experiment. Unless the simulation has another
// policy, each difference gets a class.
func (g *Grid) Compare(ctx context.Context, outcome *experiment.Outcome, tolerance protocol.Duration, classify bool) (*Comparison, error) {
	c := &Comparison{Grid: g, Tolerance: tolerance}
	type key struct {
		origin int
		id     int64
	}
	index := map[key]int{}
	for i := range outcome.Jobs {
		index[key{outcome.Jobs[i].Origin, outcome.Jobs[i].ID}] = i
	}
	var errs []error
	for i := range g.Jobs {
		job := &g.Jobs[i]
		at, known := index[key{job.Origin, number(job.ID)}]
		if !known || outcome.Result.Placements[at].Site < 0 {
			errs = append(errs, fmt.Errorf("job %v did not run in the simulation", job.ID))
			continue
		}
		placed := outcome.Result.Placements[at]
		c.Jobs = append(c.Jobs, Compared{
			Job: job, SimulatedSite: placed.Site, SimulatedStart: g.Begin + placed.Start, SimulatedEnd: g.Begin + placed.End, simulatedQueued: g.Begin + placed.Queued,
		})
	}
	if classify {
		c.classify(ctx)
	}
	return c, errors.Join(errs...)
}

// Same says whether the job ran at the same site and started at the same time, within the tolerance.
func (c *Comparison) Same(job *Compared) bool {
	later := job.Later()
	return job.Site == job.SimulatedSite && max(later, -later) <= c.Tolerance
}

// diverged is when the two differ first: when the job comes into a local queue, or when it starts.
func (c *Compared) diverged(tolerance protocol.Duration) protocol.Instant {
	apart := c.queued.Sub(c.simulatedQueued)
	if c.Site != c.SimulatedSite || max(apart, -apart) > tolerance {
		return min(c.queued, c.simulatedQueued)
	}
	return min(c.Started, c.SimulatedStart)
}

func (c *Comparison) classify(ctx context.Context) {
	var differ []*Compared
	for i := range c.Jobs {
		if job := &c.Jobs[i]; !c.Same(job) {
			differ = append(differ, job)
		}
	}
	slices.SortStableFunc(differ, func(a, b *Compared) int { return cmp.Compare(a.diverged(c.Tolerance), b.diverged(c.Tolerance)) })
	for i, job := range differ {
		job.Class, job.Because = c.classOf(ctx, job, differ[:i])
	}
}

// classOf finds the class of a difference.
func (c *Comparison) classOf(ctx context.Context, job *Compared, earlier []*Compared) (Class, string) {
	for _, other := range slices.Backward(earlier) {
		if max(other.end(), other.SimulatedEnd) > job.Submitted {
			return Consequence, "follows " + other.ID.String()
		}
	}
	if job.Site != job.SimulatedSite && job.decision != nil {
		if why := c.isTie(ctx, job); why != "" {
			return Tie, why
		}
	}
	if why := c.isLate(job); why != "" {
		return Latency, why
	}
	return Other, ""
}

// isTie says whether the policy would have chosen the simulated site if the quotes were different by no more than the
// noise; empty: it would not.
func (c *Comparison) isTie(ctx context.Context, job *Compared) string {
	d, noise, wanted := job.decision, c.Grid.Noise, c.Grid.Sites[job.SimulatedSite].Name
	if d.local {
		phi := d.threshold
		if max(d.wait-phi, phi-d.wait) <= noise {
			return fmt.Sprintf("its own wait, %v, is close to local_wait_threshold", d.wait)
		}
		return ""
	}
	decides, err := builtin.Restore(d.policy.Name, d.policy.Params)
	if err != nil {
		return ""
	}
	width := len(d.snapshot.Sites)
	for s := range width {
		for _, by := range []protocol.Duration{-noise, noise} {
			changed := d.snapshot
			changed.AWT = slices.Clone(d.snapshot.AWT)
			for j := range d.snapshot.Jobs {
				if at := j*width + s; changed.AWT[at] != protocol.Never {
					changed.AWT[at] = max(0, changed.AWT[at]+by)
				}
			}
			decisions, _, err := decides.Decide(ctx, changed)
			if err != nil {
				return ""
			}
			for _, one := range decisions {
				if one.Job == d.row && one.Site >= 0 && changed.Sites[one.Site].Name == wanted {
					return fmt.Sprintf("%s is chosen if the wait at %s is %v different", wanted, changed.Sites[s].Name, by)
				}
			}
		}
	}
	return ""
}

// isLate says which event is so close that latencies decide; empty: none is.
func (c *Comparison) isLate(job *Compared) string {
	if job.Site == job.SimulatedSite {
		return c.isLateStart(job)
	}
	from, to := c.placing(job)
	for i := range c.Jobs {
		other := &c.Jobs[i]
		if other == job || other.sameRound(job.Job) || other.Site != job.Site && other.Site != job.SimulatedSite {
			continue
		}
		for _, one := range []struct {
			at   protocol.Instant
			what string
		}{
			{other.end(), "end"},
			{other.called, "placement"},
			{other.queued, "arrival in the local queue"},
			{other.Started, "start"},
			{other.Submitted, "submission"},
		} {
			if one.at >= from.Add(-c.Grid.Noise) && one.at <= to.Add(c.Grid.Noise) {
				return fmt.Sprintf("%s of %s within %v of its placement", one.what, other.ID, c.Grid.Noise)
			}
		}
	}
	return ""
}

// sameRound says whether one decision placed both jobs: then neither came before the other.
func (j *Job) sameRound(other *Job) bool {
	a, b := j.decision, other.decision
	return j.Origin == other.Origin && a != nil && b != nil && !a.local && !b.local && a.at == b.at
}

// placing is when a job was placed by the one of the two that placed it first: from the question to the policy until it was
// in the local queue. Of the simulation the beginning is not known; it took as long as recorded.
func (c *Comparison) placing(job *Compared) (from, to protocol.Instant) {
	from = job.called
	if job.decision != nil {
		from = job.decision.at.Add(-c.Grid.Sites[job.Origin].Ahead)
	}
	if job.simulatedQueued < from {
		return job.simulatedQueued.Add(from.Sub(job.queued)), job.simulatedQueued
	}
	return from, job.queued
}

// isLateStart says why a job started at another time at the same site: another one came into the local queue at
// nearly the same time, or it came there late.
func (c *Comparison) isLateStart(job *Compared) string {
	for i := range c.Jobs {
		other := &c.Jobs[i]
		if apart := other.queued.Sub(job.queued); other.ID != job.ID && other.Site == job.Site && max(apart, -apart) <= c.Grid.Noise {
			return fmt.Sprintf("in the local queue within %v of %s", c.Grid.Noise, other.ID)
		}
	}
	if took := job.queued.Sub(job.Submitted); job.decision != nil && job.Later() > 0 && job.Later() <= took+c.Tolerance {
		return fmt.Sprintf("in the local queue %v after its submission", took)
	}
	return ""
}
