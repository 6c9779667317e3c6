package row

import (
	"cmp"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// GuestPhase is where a job of another origin is.
type GuestPhase string

// The phases of a guest. Aborted and Closed are tombstones.
const (
	GuestPrepared GuestPhase = "prepared"
	GuestAccepted GuestPhase = "accepted" // its run row says more
	GuestAborted  GuestPhase = "aborted"
	GuestClosed   GuestPhase = "closed"
)

// Open says whether the guest is more than a tombstone.
func (p *GuestPhase) Open() bool { return *p == GuestPrepared || *p == GuestAccepted }

// Guest is a job of another origin at this site.
type Guest struct { //nolint:recvcheck // the core moves it, and gives it out by value
	Spec             protocol.Spec     `json:"spec"`
	Origin           protocol.SiteName `json:"origin"`
	Account          string            `json:"account,omitempty"`
	Epoch            protocol.Epoch    `json:"epoch"`
	Phase            GuestPhase        `json:"phase"`
	Since            protocol.Instant  `json:"since"`
	Recalled         bool              `json:"recalled,omitempty"`          // by its origin
	Cancel           bool              `json:"cancel,omitempty"`            // and ended if it has started
	Fenced           bool              `json:"fenced,omitempty"`            // the origin has gone on without it
	ReturnUnacked    bool              `json:"return_unacked,omitempty"`    // given back after the grant; the origin has not confirmed it
	OwnershipGuessed bool              `json:"ownership_guessed,omitempty"` // of restored rows: that it was granted, or has ended here, is a guess
	ReserveFrom      protocol.Instant  `json:"reserve_from,omitempty"`      // room is to be held firmly from then on; 0: it need not be
	ReservedAt       protocol.Instant  `json:"reserved_at,omitempty"`       // since when it is; 0: not yet
	Tariff           *protocol.Tariff  `json:"tariff,omitempty"`            // that holds for its run; nil: it costs nothing

	Association protocol.Association `json:"association,omitzero"` // by its names at this site

	Tolerance protocol.Duration `json:"tolerance,omitempty"` // how much later than ReservedAt it may start; 0: by default
}

// Tag names the present placement of the guest.
func (g *Guest) Tag() protocol.Tag { return protocol.Tag{Job: g.Spec.Job, Epoch: g.Epoch} }

// StartTolerance is how much later than its instant the guest may start for which room is reserved.
func (g *Guest) StartTolerance() protocol.Duration {
	return cmp.Or(g.Tolerance, protocol.DefaultStartTolerance)
}

// ClosedAt says whether the row knows that the placement at an epoch is over.
func (g *Guest) ClosedAt(epoch protocol.Epoch) bool {
	return epoch < g.Epoch || epoch == g.Epoch && !g.Phase.Open()
}

func (Guest) table() Table { return GuestTable }
