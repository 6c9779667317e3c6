package policy

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// ParetoPolicy is a policy that computes the choices between cost and time that an application
// has, under the terms by which it decides.
type ParetoPolicy interface {
	// ParetoFront returns the choices for a snapshot of one application. Equal snapshots have equal
	// fronts. As with Decide, the result is discarded once ctx has ended.
	ParetoFront(ctx context.Context, in Snapshot) (ParetoFront, error)
}

// ParetoFront are the choices of sites and CPU counts for an application that no other one beats
// in both cost and time, whatever its limits, the fastest first; and among them the one that
// its weights and limits choose, which others may beat, since these may count the terms of the
// cost differently.
type ParetoFront struct {
	Currency string
	Points   []FrontPoint
	More     bool   // there are more points than these, which are sampled by steps of time
	Gap      int    // the cost of a point is above the least by this number of parts per million of it, at most
	Reason   string // why there are none, or what the limits rule out
}

// FrontPoint is one such choice.
type FrontPoint struct {
	Time    protocol.Duration // from now until all data are back
	Cost    protocol.Micro    // K_e + K_l + K_eco + K_d, unweighted
	Chosen  bool              // by the weights and limits
	Choices []FrontChoice     // one for each component, in the order of the snapshot
}

// FrontChoice is where a component would run.
type FrontChoice struct {
	Job  int // index in Snapshot.Jobs
	Site int // index in Snapshot.Sites
	CPUs int
	Wait protocol.Duration
	Run  protocol.Duration
	Cost protocol.Micro
}

// MaxFrontPoints bounds a front: more points are of no use to a reader.
const MaxFrontPoints = 256

// CheckFront says what is wrong with a policy's front for the snapshot, if anything: it names
// no job or site that there is not, and no site that declined the job.
func (in *Snapshot) CheckFront(f *ParetoFront) error {
	if len(f.Points) > MaxFrontPoints {
		return fmt.Errorf("the front has %d points, at most %d are allowed", len(f.Points), MaxFrontPoints)
	}
	chosen := 0
	for p := range f.Points {
		point := &f.Points[p]
		if point.Chosen {
			chosen++
		}
		for _, c := range point.Choices {
			switch {
			case c.Job < 0 || c.Job >= len(in.Jobs) || c.Site < 0 || c.Site >= len(in.Sites):
				return fmt.Errorf("point %d of the front has job %d at site %d, counted from 0, of %d jobs and %d sites", p, c.Job, c.Site, len(in.Jobs), len(in.Sites))
			case in.AWT[in.At(c.Job, c.Site)] == protocol.Never:
				return fmt.Errorf("point %d of the front has job %v at %s, which declined it", p, in.Jobs[c.Job].ID, in.Sites[c.Site].Name)
			case c.Wait < 0 || c.Run < 0 || c.CPUs < 0:
				return fmt.Errorf("point %d of the front has job %v wait %v and run %v on %d CPUs; none may be negative", p, in.Jobs[c.Job].ID, c.Wait, c.Run, c.CPUs)
			}
		}
	}
	if chosen > 1 {
		return fmt.Errorf("%d points of the front are chosen, at most one may be", chosen)
	}
	return nil
}
