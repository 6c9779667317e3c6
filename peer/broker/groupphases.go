package broker

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/phase"
	"github.com/switchyard-hpc/switchyard/peer/row"
)

// GroupPhase is where a group is on the way to its common start.
type GroupPhase string

// The phases of a group.
const (
	GroupQueued       GroupPhase = "queued"        // nothing is asked of a site for it
	GroupAwaitingTurn GroupPhase = "awaiting-turn" // another group seeks room at one of its sites
	GroupReserving    GroupPhase = "reserving"     // sites are asked to reserve room from one instant on, or have
	GroupGranted      GroupPhase = "granted"       // members are placed that are to start, or have started, together
	GroupDissolving   GroupPhase = "dissolving"    // members are placed, and some of them are recalled
	GroupEnded        GroupPhase = "ended"         // it did not start as a whole, and is not placed again
)

// groupPhases are the phases of a group. It goes with the last of its members, from any of them. Where
// it has no member that seeks room or is placed it waits for a round; members that run do not keep
// others, which have come back, from another start.
//
//	queued ◄─► awaiting turn ─► reserving ─► granted ◄─► dissolving ─► queued
//	   ▲                            │           │
//	   └────────────────────────────┴───────────┘             from any: ended
var groupPhases = phase.Table[GroupPhase, Group]{ //nolint:gochecknoglobals // it does not change
	GroupQueued: {
		From:   []GroupPhase{phase.Created, GroupAwaitingTurn, GroupReserving, GroupGranted, GroupDissolving},
		Resets: (*Group).forgetTries,
	},
	GroupAwaitingTurn: {
		From: []GroupPhase{GroupQueued, GroupGranted, GroupDissolving},
	},
	GroupReserving: {
		From:   []GroupPhase{phase.Created, GroupQueued, GroupAwaitingTurn, GroupGranted, GroupDissolving},
		Resets: (*Group).forgetTries,
	},
	GroupGranted: { // from awaiting its turn: others of it run
		From:   []GroupPhase{phase.Created, GroupAwaitingTurn, GroupReserving, GroupDissolving},
		Resets: (*Group).forgetTries,
	},
	GroupDissolving: {
		From:   []GroupPhase{phase.Created, GroupAwaitingTurn, GroupReserving, GroupGranted},
		Resets: (*Group).forgetTries,
	},
	GroupEnded: {
		From:   []GroupPhase{phase.Created, GroupQueued, GroupAwaitingTurn, GroupReserving, GroupGranted, GroupDissolving},
		Resets: (*Group).forgetTries,
	},
}

// GroupPhases lists the moves between the phases of groups, a line each, for the page that explains
// them.
func GroupPhases() []string { return groupPhases.Lines("group") }

func (g *Group) forgetTries() { g.tries = 0 }

func (g *Group) name() string {
	return fmt.Sprintf("group %d of application %v", g.Key.Number, g.Key.Application)
}

// AwaitTurn has the group wait for the end of another one's turn, unless other members of it seek room
// already.
func (g *Group) AwaitTurn() error {
	if g.Phase == GroupAwaitingTurn || g.Phase == GroupReserving {
		return nil
	}
	return groupPhases.Move(g.name, g, &g.Phase, GroupAwaitingTurn)
}

// Follow has the group enter the phase that its rows have come to. A move that is in no table is a
// [phase.MoveError].
func (g *Group) Follow(rows Rows) error {
	to := g.phaseBy(rows)
	if to == g.Phase {
		return nil
	}
	return groupPhases.Move(g.name, g, &g.Phase, to)
}

// phaseBy is the phase that rows say.
func (g *Group) phaseBy(rows Rows) GroupPhase {
	if g.Ended(rows.App) != "" {
		return GroupEnded
	}
	placed, back := false, false
	for _, j := range rows.Members {
		switch {
		case j.SeeksRoom():
			return GroupReserving
		case j.ReserveFrom != 0 && j.Phase != row.JobInGridQueue:
			placed = true
			back = back || j.Parted || j.Phase == row.JobRecalling && !j.Cancelling
		}
	}
	switch {
	case back:
		return GroupDissolving
	case placed:
		return GroupGranted
	case g.Phase == GroupAwaitingTurn:
		return GroupAwaitingTurn
	}
	return GroupQueued
}
