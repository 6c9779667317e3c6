package broker

import (
	"cmp"
	"fmt"
	"slices"

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

// KeyOf names the group of a component of one.
func KeyOf(j *row.Job) GroupKey {
	return GroupKey{Application: j.Application, Number: j.Component.Together}
}

// Group is a co-allocation group, from its submission to the end of its last member. It decides by its
// members' rows, and the core carries out.
type Group struct {
	Key   GroupKey
	Phase GroupPhase

	tries int // how often members were asked to reserve room from a later instant on
}

// Rows are those of a group: its application, and its members that have not ended and are not about
// to, by id.
type Rows struct {
	App     *row.Application
	Members []*row.Job
}

// Seeking are the members for which room is sought or reserved.
func (r Rows) Seeking() (members []*row.Job) {
	for _, j := range r.Members {
		if j.SeeksRoom() {
			members = append(members, j)
		}
	}
	return members
}

// Others are the members beside one.
func (r Rows) Others(j *row.Job) []*row.Job {
	return slices.DeleteFunc(slices.Clone(r.Members), func(other *row.Job) bool { return other == j })
}

// Verb is what a group wants done.
type Verb uint8

// What a group may want done.
const (
	Nothing  Verb = iota
	Wait          // members of a round stay in the grid queue
	Reserve       // sites of members are asked to reserve room from an instant on
	Grant         // all members that have their room are granted, or none
	Dissolve      // the room of members is given up, and they go back to the grid queue
)

// Decision is what a group wants done.
type Decision struct {
	Do      Verb
	Members []*row.Job // with which
	Start   protocol.Instant
	Reason  string
	Late    []*row.Job // whose sites are left out for a while, since they have room only later than was asked for
}

// Begin decides about members that a round has placed and whose turn has come: their sites are asked to
// reserve room from the latest quote and a margin on, which is in the quotes already.
func (g *Group) Begin(app *row.Application, places []Place, now protocol.Instant, margin protocol.Duration) Decision {
	d := Decision{Do: Reserve, Reason: "as soon as its group can start by the quotes"}
	latest := margin
	for _, one := range places {
		latest = max(latest, one.Wait)
		d.Members = append(d.Members, one.Job)
	}
	d.Start = now.Add(latest)
	if past := (Limits{App: app}).PastTime(d.Members, d.Start); past != "" {
		return Decision{Do: Wait, Members: d.Members, Reason: past}
	}
	for _, one := range places {
		if one.Wait == latest && latest > margin {
			d.Reason = fmt.Sprintf("when job %v can start at %s by its quote", one.Job.Spec.Job, one.Site)
		}
	}
	g.forgetTries()
	return d
}

// maxTries is how often members are asked to reserve room from a later instant on before they are given
// up for a while.
const maxTries = 8

// Reserved decides once a member has its room: when each has room from the same instant on all are
// granted, else some are asked again.
func (g *Group) Reserved(rows Rows, now protocol.Instant, margin protocol.Duration) Decision {
	seeking := rows.Seeking()
	start, agreed, why := agree(seeking, now, margin)
	switch past := (Limits{App: rows.App}).PastTime(seeking, start); {
	case start == 0:
		return Decision{}
	case past != "":
		return Decision{Do: Dissolve, Members: seeking, Reason: past, Late: late(seeking)}
	case agreed:
		return Decision{Do: Grant, Members: seeking, Start: start}
	}
	if g.tries++; g.tries > maxTries {
		return Decision{
			Do: Dissolve, Members: seeking, Late: late(seeking),
			Reason: fmt.Sprintf("its sites found no common instant to start in %d tries", maxTries),
		}
	}
	start = max(start, now.Add(margin))
	again := slices.DeleteFunc(seeking, func(j *row.Job) bool { return j.ReservedAt == start })
	return Decision{Do: Reserve, Members: again, Start: start, Reason: why}
}

// agree compares the instants from which members have room. A grant needs half of the margin; a new
// instant leaves all of it. A start of 0: not each has answered. Unless they have agreed on it they are
// asked again for room from then on.
func agree(members []*row.Job, now protocol.Instant, margin protocol.Duration) (start protocol.Instant, agreed bool, why string) {
	start, agreed = now.Add(margin/2), true
	var latest *row.Job
	for _, one := range members {
		if one.ReservedAt == 0 {
			return 0, false, ""
		}
		agreed = agreed && one.ReservedAt == members[0].ReservedAt
		start = max(start, one.ReservedAt)
		if latest == nil || one.ReservedAt > latest.ReservedAt {
			latest = one
		}
	}
	switch {
	case latest == nil:
		return 0, false, ""
	case start > latest.ReservedAt:
		return now.Add(margin), false, "since the instant before is too near to grant all"
	}
	return start, agreed, fmt.Sprintf("since %s has room for job %v only from then on", latest.Site, latest.Spec.Job)
}

// late are the members that have room only later than was asked for.
func late(members []*row.Job) (out []*row.Job) {
	for _, one := range members {
		if one.ReservedAt > one.ReserveFrom {
			out = append(out, one)
		}
	}
	return out
}

// Without decides about the others when a member of the group that seeks room has left it.
func (g *Group) Without(rows Rows, j *row.Job, why string) Decision {
	seeking := slices.DeleteFunc(rows.Seeking(), func(other *row.Job) bool { return other == j })
	return Decision{Do: Dissolve, Members: seeking, Reason: cmp.Or(why, fmt.Sprintf("job %v has left the group", j.Spec.Job))}
}

// Refused decides when a site does not reserve room for a member, or cannot be granted it any more.
func (g *Group) Refused(rows Rows, j *row.Job, why string) Decision {
	return Decision{Do: Dissolve, Members: rows.Seeking(), Reason: fmt.Sprintf("job %v: %s", j.Spec.Job, why)}
}

// Ended says why the group has ended; empty: it has not.
func (g *Group) Ended(app *row.Application) string {
	for _, one := range app.Apart {
		if one.Number == g.Key.Number {
			return one.Reason
		}
	}
	return ""
}

// End ends the group: what comes back of it is not placed again. It says whether the row of the
// application has changed.
func (g *Group) End(app *row.Application, why string) bool {
	if g.Ended(app) != "" {
		return false
	}
	app.Apart = append(slices.Clone(app.Apart), row.EndedGroup{Number: g.Key.Number, Reason: why})
	return true
}
