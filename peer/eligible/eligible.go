// Package eligible answers one question, for all who ask it: may this site run this job, and if
// not, why? Submissions, rounds, quotes, offers, explanations and the simulator go by it, so that
// none of them promises what another one refuses.
//
// It goes by what does not change from one moment to the next: whom the user names, what the
// site's machine is, whether it can hold room. Whether the site has room now, or has just refused
// the job, or takes more of its partner's jobs is the business of those who ask.
package eligible

import "github.com/switchyard-hpc/switchyard/protocol"

// Site is what is known of a site.
type Site struct {
	Name     protocol.SiteName
	Capacity *protocol.Capacity // nil: not known yet
	Barred   string             // why it gets no job at all; empty: it may
	Reserves bool               // whether it can hold room for a job from an instant on
}

// Verdict is whether a site may run a job.
type Verdict uint8

// The verdicts. Of several that hold the first one is given.
const (
	Eligible     Verdict = iota
	NotNamed             // the user names other sites
	NotKnown             // nothing is known of the site's machine yet
	Barred               // the site gets no jobs
	TooLarge             // its machine can never run the job
	NoContainers         // the job runs in a container, and the site runs none
	HoldsNoRoom          // the job starts together with others, and the site cannot hold room
)

// Judge says whether the site may run a job. One that is together with others starts when they do.
func (s *Site) Judge(spec *protocol.Spec, together bool) Verdict {
	switch {
	case !spec.Allows(s.Name):
		return NotNamed
	case s.Capacity == nil:
		return NotKnown
	case s.Barred != "":
		return Barred
	case !s.Capacity.CanRun(spec.ScaledRequest(s.Capacity)):
		return TooLarge
	case spec.Container != "" && !s.Capacity.Containers:
		return NoContainers
	case together && (!s.Reserves || asksForMore(spec)):
		return HoldsNoRoom
	}
	return Eligible
}

// IneligibleReason is why the site may not run a job, for people. It is empty if the site may run it.
func (s *Site) IneligibleReason(spec *protocol.Spec, together bool) string {
	switch s.Judge(spec, together) {
	case NotNamed:
		return "not among the sites that the job names"
	case NotKnown:
		return "nothing is known of its machine yet"
	case Barred:
		return s.Barred
	case TooLarge:
		return s.Capacity.Fits(spec.ScaledRequest(s.Capacity))
	case NoContainers:
		return "runs no containers"
	case HoldsNoRoom:
		if s.Reserves {
			return "cannot hold resources, licenses, features or whole nodes for components that start together"
		}
		return "cannot hold room for components that start together (capability reserve)"
	case Eligible:
	}
	return ""
}

// asksForMore says whether a job asks for more than CPUs and memory, which batch systems do not hold from
// an instant on.
func asksForMore(spec *protocol.Spec) bool {
	return len(spec.Resources) > 0 || spec.Features != "" || spec.Exclusive
}
