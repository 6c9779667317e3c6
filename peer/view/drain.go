package view

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Drain is what an operator has said of the local site, or of a partner: which new jobs it does not take, or
// get. Jobs that run go on. A nil Drain stops nothing.
type Drain struct {
	Scope  DrainScope       `json:"scope"`
	Reason string           `json:"reason"`
	By     string           `json:"by"` // the operator
	Since  protocol.Instant `json:"since_ms"`
}

// DrainScope is what a [Drain] stops.
type DrainScope string

// The scopes: of the local site the first two, of a partner the others. An isolated partner is drained in both
// directions, waiting jobs are recalled from it, and of its messages only those count that hand-offs need which
// are under way.
const (
	DrainGuests    DrainScope = "guests"  // no guests are taken
	DrainStarts    DrainScope = "starts"  // and no job starts here any more
	DrainSending   DrainScope = "send"    // the partner is sent no jobs
	DrainReceiving DrainScope = "receive" // no jobs are taken from it
	DrainBoth      DrainScope = "both"
	DrainIsolated  DrainScope = "isolated"
)

// OfPartner says whether the scope is one of a partner, and not one of the local site.
func (s DrainScope) OfPartner() bool {
	return s == DrainSending || s == DrainReceiving || s == DrainBoth || s == DrainIsolated
}

// OfSelf says whether the scope is one of the local site.
func (s DrainScope) OfSelf() bool { return s == DrainGuests || s == DrainStarts }

// in says whether the drain is of one of the scopes.
func (d *Drain) in(scopes ...DrainScope) bool {
	for _, s := range scopes {
		if d != nil && d.Scope == s {
			return true
		}
	}
	return false
}

// StopsGuests says whether the local site takes no guests.
func (d *Drain) StopsGuests() bool { return d.in(DrainGuests, DrainStarts) }

// StopsStarts says whether no job starts at the local site.
func (d *Drain) StopsStarts() bool { return d.in(DrainStarts) }

// StopsSending says whether the partner is sent no jobs.
func (d *Drain) StopsSending() bool { return d.in(DrainSending, DrainBoth, DrainIsolated) }

// StopsReceiving says whether no jobs are taken from the partner.
func (d *Drain) StopsReceiving() bool { return d.in(DrainReceiving, DrainBoth, DrainIsolated) }

// Isolates says whether the partner is isolated.
func (d *Drain) Isolates() bool { return d.in(DrainIsolated) }

// Draining begins the reason why a drained site runs no job.
const Draining = "draining: "

// Draining is why the drained local site runs no job, in the words that partners and users see.
func (d *Drain) Draining() string { return Draining + d.Reason }

// String says what the drain stops, and why.
func (d *Drain) String() string {
	stops := map[DrainScope]string{
		DrainGuests: "draining, takes no guests", DrainStarts: "draining, takes no guests and starts no jobs",
		DrainSending: "drained here, is sent no jobs", DrainReceiving: "drained here, no jobs of it are taken",
		DrainBoth: "drained here, no jobs are sent or taken", DrainIsolated: "isolated here",
	}[d.Scope]
	return fmt.Sprintf("%s: %s", stops, d.Reason)
}
