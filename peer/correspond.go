package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// correspond changes a term of an array by what is known of the elements of the array that it names. It returns why nothing
// can correspond to these; empty: it can.
func (r *resolver) correspond(t *protocol.DependencyTerm, is event.Ended, found bool) (why string) {
	p := r.p
	a := p.rows.Arrays[t.Job]
	switch ended := found && is.State != 0; {
	case r.array == nil: // a job is changed
		return "aftercorr is for job arrays, each element of which waits for one of another array; use afterok"
	case t.Job.Origin() != p.cfg.Number: // which is asked once the array that waits is in its row
		return p.unreachableJob(t.Job)
	case r.hides(t.Job, is):
		return neverWas(t.Job)
	case a != nil:
		r.counterparts(t, a.Asked.Indexes, openOf(a), a.Cancelled)
	case p.rows.Stands(t.Job) || ended && is.Elements.IsZero():
		return noArray(t.Job)
	case ended:
		r.counterparts(t, is.Elements, nil, is.NeverJobs)
		t.Met = max(1, is.Ended)
	case found || !p.site.IssuedHere(t.Job):
		return neverWas(t.Job)
	default:
		r.lookUp(t.Job)
	}
	return ""
}

func noArray(id protocol.JobID) string { return fmt.Sprintf("%v is no job array; use afterok", id) }

// counterparts notes how those elements of another array have ended to which elements of the array correspond. Of all,
// open have not ended, and cancelled were ended before they became jobs.
func (r *resolver) counterparts(t *protocol.DependencyTerm, all, open, cancelled protocol.Indexes) {
	own := r.array.Indexes
	t.NeverFor = own.Without(all).Or(own.And(cancelled))
	var completed, others []int
	for index := range own.Without(t.NeverFor).Without(open).All() {
		id := protocol.Element{Array: t.Job, Index: index}.ID()
		switch is, known := r.known[id]; {
		case !known:
			r.lookUp(id)
		case is.State == protocol.Completed:
			completed = append(completed, index)
		default: // also one whose record has been deleted
			others = append(others, index)
		}
	}
	*t = t.CounterpartsEnded(protocol.IndexesOf(completed...), protocol.Completed)
	*t = t.CounterpartsEnded(protocol.IndexesOf(others...), protocol.Failed)
}
