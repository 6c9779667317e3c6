package broker

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

// Placements are where a round places members of groups. A group of which a member stays in the grid
// queue does not start: a part of it would wait for the others in vain.
type Placements struct {
	places []Place
	parted map[GroupKey]string // groups of which a member stays, and why
}

// Left is a member that was to be placed and stays, and why.
type Left struct {
	Job    *row.Job
	Reason string
}

// Place takes where a member is to run.
func (p *Placements) Place(one Place) { p.places = append(p.places, one) }

// Part takes that a member stays.
func (p *Placements) Part(j *row.Job, why string) {
	if p.parted == nil {
		p.parted = map[GroupKey]string{}
	}
	p.parted[KeyOf(j)] = why
}

// Groups are the members of each group that is placed as a whole, in the order of their first ones, and
// the members of the other groups.
func (p *Placements) Groups() (groups [][]Place, left []Left) {
	for _, one := range p.places {
		key := KeyOf(one.Job)
		if why, parted := p.parted[key]; parted {
			left = append(left, Left{one.Job, why})
			continue
		}
		at := slices.IndexFunc(groups, func(g []Place) bool { return KeyOf(g[0].Job) == key })
		if at < 0 {
			groups = append(groups, []Place{one})
		} else {
			groups[at] = append(groups[at], one)
		}
	}
	return groups, left
}

// StartsWithOthers says whether a job starts together with another one of a round.
func StartsWithOthers(in *policy.Snapshot, j *row.Job) bool {
	return j.Together() && slices.ContainsFunc(in.Jobs, func(other policy.Job) bool {
		return other.ID != j.Spec.Job && other.Together == j.Component.Together &&
			in.Applications[other.Application].ID == j.Application
	})
}
