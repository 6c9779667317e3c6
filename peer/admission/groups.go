package admission

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// refuseGroups says of which components that start together it is certain that all sites never have
// room for them at one instant.
func (d *Desk) refuseGroups(jobs []protocol.Job) (view.Refusal, bool) {
	for i := range jobs {
		number := jobs[i].Component.Together
		first := slices.IndexFunc(jobs, func(one protocol.Job) bool { return one.Component.Together == number })
		if number == 0 || first < i {
			continue
		}
		members := slices.DeleteFunc(slices.Clone(jobs), func(one protocol.Job) bool { return one.Component.Together != number })
		if refusal, ok := d.refuseGroup(members); ok {
			return refusal, true
		}
	}
	return view.Refusal{}, false
}

// refuseGroup goes by the site cards: the machines that can reserve room, what partners take of
// this site's jobs at once, and what this site takes in a period.
func (d *Desk) refuseGroup(members []protocol.Job) (view.Refusal, bool) {
	rooms, certain := d.rooms()
	if !certain {
		return view.Refusal{}, false
	}
	s := broker.Seating{Rooms: rooms}
	total := 0
	for i := range members {
		seats := d.seats(&members[i], rooms)
		s.Members = append(s.Members, seats)
		least := members[i].Spec.CPUs
		for _, one := range seats {
			least = min(least, one.Need.CPUs)
		}
		total += least
	}
	if s.Find() != nil || s.CutOff {
		return view.Refusal{}, false
	}
	refusal := view.Refusal{Code: view.NoSite, Reason: fmt.Sprintf(
		"the sites that can hold room have never enough for the %d components that start together, %d CPUs, at one instant", len(members), total)}
	for i := range rooms {
		refusal.Sites = append(refusal.Sites, view.SiteRefusal{Site: rooms[i].Name, Reason: rooms[i].Text(d.Site.Name)})
	}
	return refusal, true
}

// rooms are the sites that can reserve room. It is not certain that these are all while the card of a
// partner is not known.
func (d *Desk) rooms() (rooms []broker.Room, certain bool) {
	if d.Site.Reserves {
		rooms = append(rooms, broker.Room{Site: d.Site, MaxJobs: atMost(d.MaxCycle)})
	}
	if d.Policy.LocalOnly() {
		return rooms, true
	}
	for i := range d.Partners {
		one := &d.Partners[i]
		if one.Capacity == nil {
			return nil, false
		}
		if one.Barred == "" && one.Reserves {
			rooms = append(rooms, broker.Room{Site: one.Site, MaxJobs: atMost(one.MaxJobs), MaxCPUs: one.MaxCPUs})
		}
	}
	return rooms, true
}

// atMost is a limit of jobs as [broker.Room] has it. A setting of zero limits nothing.
func atMost(setting int) *int {
	if setting > 0 {
		return &setting
	}
	return nil
}

// seats are the places that a member could have by the site cards, in all its shapes.
func (d *Desk) seats(one *protocol.Job, rooms []broker.Room) (seats []broker.Seat) {
	spec := one.Spec
	d.setReferenceSpeed(&spec)
	own := protocol.Shape{CPUs: spec.CPUs, Nodes: spec.Nodes, WallTime: spec.WallTime}
	for row, s := range append([]protocol.Shape{own}, one.Component.Shapes...) {
		spec.CPUs, spec.Nodes, spec.WallTime = s.CPUs, s.Nodes, s.WallTime
		for i := range rooms {
			if rooms[i].Judge(&spec, true) == eligible.Eligible {
				need := broker.NeedOf(spec.ScaledRequest(rooms[i].Capacity), rooms[i].Capacity)
				seats = append(seats, broker.Seat{Room: i, Row: row, Need: need, Weight: int64(s.CPUs)})
			}
		}
	}
	return seats
}
