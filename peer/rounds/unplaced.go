package rounds

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Unplaced is what is known of a job for which a round has chosen no site.
type Unplaced struct {
	Takers   int    // sites that would take it
	NoRoom   string // why the sites have no common start for its group; empty: they have one, or it has no group
	Because  string // what the policy says; empty: nothing
	Fallback bool   // the fallback policy has decided

	// Unknown says whether no site that is known can run it, and Declines what the sites have said. Each is
	// called only if that matters.
	Unknown  func() bool
	Declines func() string
}

// Reason is why the job waits: a word, and what there is to say about it.
func (u *Unplaced) Reason() (reason, detail string) {
	switch {
	case u.NoRoom != "" && u.Takers > 0:
		return view.ReasonNoCommonStart, u.NoRoom
	case u.Because != "" && u.Fallback:
		return view.ReasonPolicyUnsupported, u.Because
	case u.Because != "":
		return view.ReasonInfeasible, u.Because
	case u.Unknown():
		return view.ReasonNoEligibleSite, ""
	case u.Takers > 0:
		return view.ReasonCycleLimit, fmt.Sprintf("%d sites would take it, but not in this round", u.Takers)
	}
	return view.ReasonAllDeclined, u.Declines()
}

// StaysReason is why a job with a wait at the local site below φ stays there.
func StaysReason(awt, phi protocol.Duration) string {
	wait := "own wait " + awt.Text()
	if awt.Text() == phi.Text() {
		wait = "own wait" // would read as no less than φ
	}
	return wait + " is below φ = " + phi.Text() + " ([rounds] local_wait_threshold), so no partner was asked"
}
