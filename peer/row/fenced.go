package row

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job with Requeue is taken from a site that is not heard, and any job from its site by an
// operator's word. The placement there is fenced: what it reports is refused, and it is ended once
// its site is heard. Until then the site may start it. So the job is not shown as CANCELLED before
// each site that it was taken from has said that the placement is over.

// FencedPlacement is one that was given up before its site had said that it is over.
type FencedPlacement struct {
	Site   protocol.SiteName `json:"site"`
	Epoch  protocol.Epoch    `json:"epoch"`
	Holder uint64            `json:"holder,omitempty"` // as in [Job]
	Lost   bool              `json:"lost,omitempty"`   // its site has no records of it, and will never say what became of it
}

// Fence remembers the present placement of a job as one that is given up unheard. Lost says
// that its site has no records of it.
func (j *Job) Fence(lost bool) {
	if !j.AtPartner() {
		return
	}
	if j.Started != 0 {
		j.Spec.Restarts++
		if !j.Requeueing {
			j.SetHold("") // which came too late for a run that has been
		}
	}
	j.Fenced = slices.DeleteFunc(slices.Clone(j.Fenced), func(f FencedPlacement) bool {
		return lost && f.Lost && f.Site == j.Site // it says as much
	})
	j.Fenced = append(j.Fenced, FencedPlacement{Site: j.Site, Epoch: j.Epoch, Holder: j.Holder, Lost: lost})
}

// ReplacedAt takes that a site has made room for a job that it had before: it does so only
// once it has closed the placement before. A store that followed a lost one proves nothing.
func (j *Job) ReplacedAt(site protocol.SiteName) {
	lost := false
	j.Fenced = slices.DeleteFunc(slices.Clone(j.Fenced), func(f FencedPlacement) bool {
		if f.Site != site {
			return false
		}
		other := f.Lost || f.Holder != j.Holder
		again := lost && other
		lost = lost || other
		return !other || again
	})
	for i := range j.Fenced {
		j.Fenced[i].Lost = j.Fenced[i].Lost || j.Fenced[i].Site == site
	}
}

// FencedAt is the index in the list of a placement that was given up at a site. It returns false if
// there is none.
func (j *Job) FencedAt(site protocol.SiteName, epoch protocol.Epoch) (at int, ok bool) {
	at = slices.IndexFunc(j.Fenced, func(f FencedPlacement) bool { return f.Site == site && f.Epoch == epoch && !f.Lost })
	return at, at >= 0
}

// FencedOver takes a site's word that the placement at a place of the list is over. Without proof
// the site has only lost its records of it.
func (j *Job) FencedOver(at int, proof bool) {
	j.Fenced = slices.Clone(j.Fenced)
	if proof {
		j.Fenced = slices.Delete(j.Fenced, at, at+1)
	} else {
		j.Fenced[at].Lost = true
	}
}

// AwaitsFenced says whether a site has yet to say that a placement of the job is over.
func (j *Job) AwaitsFenced() bool {
	return slices.ContainsFunc(j.Fenced, func(f FencedPlacement) bool { return !f.Lost })
}

// restoredEpochs is how far a job's epoch is raised when it is placed again after a restore,
// above all that the lost life can have used.
const restoredEpochs = 1000

// NextEpoch is for another placement of the job.
func (j *Job) NextEpoch() {
	j.Epoch++
	if j.SkipEpochs {
		j.SkipEpochs = false
		j.Epoch += restoredEpochs
	}
}

// ClosedAt says whether the row knows that the placement at an epoch is over.
func (j *Job) ClosedAt(epoch protocol.Epoch) bool {
	return epoch < j.Epoch || epoch == j.Epoch && (j.Phase == JobInGridQueue || j.Phase == JobEnding)
}

// MayBeAt says whether a job of a row that may be older than what was done can be at a site, by
// the site's word, at an epoch that the row does not know.
func (j *Job) MayBeAt(site protocol.SiteName, epoch protocol.Epoch) bool {
	return epoch > j.Epoch && j.Restored && j.Spec.Allows(site) && j.Phase != JobCommittedLocal && j.Phase != JobStagingOut
}
