package broker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Components that start together are a grant group (facts/handoff.md). Each site holds room
// for its member firmly from one common instant on. Only when all do, and agree on that
// instant, are all granted, in one transaction. Until then nothing has been given away: when
// one site refuses, dies or is too late, the holds of the others are given up and all members
// go back to the grid queue. Quotes hold nothing, so the first instant is that of the latest
// quote and a margin; a site that finds room only later says when, and then all are asked to
// hold from then on.
//
// A member that has not started by the instant and a tolerance never does: its site takes it out of
// the local queue, and a batch system that would start it all the same, while the peer is down,
// withdraws it (localsched.Submission.StartBy). The origin hears of it as of any job that is given
// back, and ends the members that have started: none runs alone. Then the group is placed again, or
// ends.

// GroupKey names a group.
type GroupKey struct {
	Application protocol.JobID
	Number      int // of the group, in its application
}

// Group is a co-allocation group as its rows have it. It decides; the core carries out, and makes a
// new one for each question.
type Group struct {
	App     *row.Application
	Number  int
	Members []*row.Job // that have not ended and are not about to, by id
}

// Seeking are the members for which room is sought or held.
func (g *Group) Seeking() (members []*row.Job) {
	for _, j := range g.Members {
		if j.SeeksRoom() {
			members = append(members, j)
		}
	}
	return members
}

// Others are the members beside one.
func (g *Group) Others(j *row.Job) []*row.Job {
	return slices.DeleteFunc(slices.Clone(g.Members), func(other *row.Job) bool { return other == j })
}

// PastLimit says why members must not start at an instant: their application's limit of time;
// empty: they may. What they cost from then on is not known here.
func (g *Group) PastLimit(members []*row.Job, start protocol.Instant) string {
	if g.App.MaxTime == protocol.Never {
		return ""
	}
	for _, j := range members {
		f := j.Foreseen
		if f == nil {
			continue
		}
		if end := start.Add(f.Run).Add(f.Back); end > g.App.Submitted.Add(g.App.MaxTime) {
			return fmt.Sprintf("max_time: from %s on, when its sites have room for all that start together, job %v would be done in %s from its submission, after max_time %s",
				start.Text(), j.Spec.Job, end.Sub(g.App.Submitted).Text(), g.App.MaxTime.Text())
		}
	}
	return ""
}

// Agreement is what members that seek room have agreed on.
type Agreement struct {
	Answered bool             // each has room; else the rest says nothing
	Agreed   bool             // from Start on, which leaves time for the grant: they are to be granted
	Start    protocol.Instant // else from when on room is to be held anew
	Why      string           // and why
}

// Agree compares the instants from which the sites of members hold room. A grant needs half of the
// margin; a new instant leaves all of it.
func (g *Group) Agree(members []*row.Job, now protocol.Instant, margin protocol.Duration) Agreement {
	start := now.Add(margin / 2)
	agree, latest := true, members[0]
	for _, one := range members {
		if one.Held == 0 {
			return Agreement{}
		}
		agree = agree && one.Held == members[0].Held
		start = max(start, one.Held)
		if one.Held > latest.Held {
			latest = one
		}
	}
	if start > latest.Held {
		return Agreement{Answered: true, Start: now.Add(margin), Why: "since the instant before is too near to grant all"}
	}
	why := fmt.Sprintf("since %s has room for job %v only from then on", latest.Site, latest.Spec.Job)
	return Agreement{Answered: true, Agreed: agree, Start: start, Why: why}
}

// Ended says why the group has ended; empty: it has not.
func (g *Group) Ended() string {
	for _, one := range g.App.Apart {
		if one.Number == g.Number {
			return one.Why
		}
	}
	return ""
}

// End ends the group: what comes back of it is not placed again. It says whether the row of the
// application has changed.
func (g *Group) End(why string) bool {
	if g.Ended() != "" {
		return false
	}
	g.App.Apart = append(slices.Clone(g.App.Apart), row.EndedGroup{Number: g.Number, Why: why})
	return true
}

// RanWithout says whether a member, and so not one that has yet to start, has run to its end.
func (g *Group) RanWithout() bool { return slices.Contains(g.App.Ran, g.Number) }

// RanToEnd notes that a member has run to its end, after which the group can never start as a whole
// again: it is over if others have not started with it. It says whether the row of the application
// has changed, and whether the group ends by it.
func (g *Group) RanToEnd(j *row.Job) (changed, ends bool) {
	if j.Started == 0 || g.RanWithout() {
		return false, false
	}
	g.App.Ran = append(slices.Clone(g.App.Ran), g.Number)
	return true, slices.ContainsFunc(g.Others(j), func(other *row.Job) bool {
		return other.Parted || other.Phase == row.JobInGridQueue
	})
}

// MissedStart begins the reason of a member that has missed its start.
const MissedStart = "it has missed the start of its group: "

// Misses says whether a member that comes back has not started with its group, and others have,
// or might have. That its user or its group wants it back is no miss.
func (g *Group) Misses(j *row.Job, now protocol.Instant) bool {
	placed := j.Phase == row.JobGranted || j.Phase == row.JobHandedOff || j.Phase == row.JobRecalling || j.Phase == row.JobCommittedLocal
	if j.Held == 0 || !placed || j.Started != 0 || j.Cancelling || j.Restored || j.Parted {
		return false
	}
	return strings.HasPrefix(j.Reason, MissedStart) || now > j.Held.Add(g.App.Tolerance()) || g.RanWithout() ||
		slices.ContainsFunc(g.Members, runsInGroup)
}

// runsInGroup says whether a member is known to run.
func runsInGroup(j *row.Job) bool {
	return j.Held != 0 && j.State == protocol.Running && j.Phase != row.JobStagingOut
}

// EndOfMissed says why the group ends of which a member has missed its start; empty: it is placed
// again.
func (g *Group) EndOfMissed(j *row.Job) string {
	others := g.Others(j)
	once := slices.IndexFunc(others, func(other *row.Job) bool { return runsInGroup(other) && !other.Spec.Requeue })
	switch {
	case g.App.StartMissed == protocol.FailMissed:
		return "which its user wants to end then"
	case len(others) == 0:
		return "which has ended without it"
	case g.RanWithout():
		return "of which a component has run to its end without it"
	case once >= 0:
		return fmt.Sprintf("and job %v, which did, may not start twice; submitted with --requeue the group would be placed again", others[once].Spec.Job)
	}
	return ""
}

// EndsUnheard says whether a member whose site is silent would end, were it taken back. It may still
// start there: so it is waited for.
func (g *Group) EndsUnheard(j *row.Job, now protocol.Instant) bool {
	return g.Ended() != "" || (g.Misses(j, now) && g.EndOfMissed(j) != "")
}

// StartBy is the last instant at which a member may start whose room is held; 0: there is none.
func (g *Group) StartBy(j *row.Job) protocol.Instant {
	if j.Held == 0 {
		return 0
	}
	return j.Held.Add(g.App.Tolerance())
}

// GuestStartBy is the last instant at which a guest may start for which room is held; 0: there is none.
func GuestStartBy(g *row.Guest) protocol.Instant {
	if g.Held == 0 {
		return 0
	}
	return g.Held.Add(cmp.Or(g.Tolerance, protocol.DefaultStartTolerance))
}
