package rounds

import "github.com/switchyard-hpc/switchyard/plugins/policy"

// Reach is whom a round asks about a job.
type Reach uint8

// The reaches [SS 2.1.1 to 2.1.3].
const (
	AllPartners Reach = iota // sender-initiated
	Volunteers               // those that said they would take jobs
	NoPartner                // the job waits for a volunteer
)

// ReachOf is whom to ask about a job by what opens rounds; volunteers says whether there are any for
// it. Where the own site declines the job there is no better site to wait for. A policy that has no
// use for φ is asked about the own site when no partner volunteers.
func ReachOf(by policy.Initiation, homeDeclines, shortcut bool, volunteers func() bool) Reach {
	switch {
	case by == policy.Sender || by == policy.Cycle || homeDeclines:
		return AllPartners
	case volunteers():
		return Volunteers
	case by == policy.Symmetric:
		return AllPartners
	case !shortcut:
		return Volunteers // of whom there are none
	}
	return NoPartner
}
