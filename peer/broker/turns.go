package broker

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Place is where a member of a group is to run, and when it could start there by its quote.
type Place struct {
	Job  *row.Job
	Site protocol.SiteName
	Wait protocol.Duration
}

// Turns are those of an origin's groups to seek room at sites. Groups that seek room at one site at the
// same time are in each other's way: each finds its instant taken by what the other has reserved, and
// asks for a later one. So of the groups of one origin only one at a time seeks room at a site. The
// others wait for the end of that, which is a matter of a few messages, and have another round then,
// whose quotes know of it. In cycles they would wait for the next one, so there groups take no turns.
type Turns struct {
	at      map[protocol.SiteName]GroupKey
	waiting []protocol.JobID // members of others, for the end of a turn
}

// Claim gives a group its turn at the sites of its members, or says at which of them another group seeks
// room, which is waited for.
func (t *Turns) Claim(key GroupKey, places []Place, seeks func(GroupKey) bool) (other GroupKey, site protocol.SiteName, waits bool) {
	for _, one := range places {
		other, taken := t.at[one.Site]
		if !taken || other == key || !seeks(other) {
			continue
		}
		for _, m := range places {
			t.waiting = append(t.waiting, m.Job.Spec.Job)
		}
		return other, one.Site, true
	}
	if t.at == nil {
		t.at = map[protocol.SiteName]GroupKey{}
	}
	for _, one := range places {
		t.at[one.Site] = key
	}
	return GroupKey{}, "", false
}

// End lets others seek room where a group did: the jobs that have waited for that.
func (t *Turns) End(key GroupKey) (woken []protocol.JobID) {
	ended := false
	for site, of := range t.at {
		if of == key {
			delete(t.at, site)
			ended = true
		}
	}
	if !ended {
		return nil
	}
	woken, t.waiting = t.waiting, nil
	return woken
}

// Open counts the sites where groups seek room, and the jobs that wait for the end of a turn.
func (t *Turns) Open() (sites, waiting int) { return len(t.at), len(t.waiting) }
