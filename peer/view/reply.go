package view

import "github.com/switchyard-hpc/switchyard/protocol"

// Reply is what an answer says. The set is closed.
//
//sumtype:decl
type Reply interface{ reply() }

// Submitted answers [Submit].
type Submitted struct {
	Elsewhere

	Jobs    []protocol.JobID `json:"jobs"`
	Notices []string         `json:"notices,omitempty"`
}

// Elsewhere says where jobs may run beside the site where they are submitted.
type Elsewhere struct {
	Site       protocol.SiteName   `json:"site,omitempty"`         // where they are submitted
	MayLeaveTo []protocol.SiteName `json:"may_leave_to,omitempty"` // by what is known now, sorted
	InPlace    []protocol.SiteName `json:"in_place,omitempty"`     // of them those at which all of the jobs would run in their own directories

	ExportRemote []string `json:"export_remote,omitempty"` // variables that leave with every job, as [protocol.Export.Allows] reads them; only with MayLeaveTo
}

// Done answers [Cancel]: the request is durable, and carried out as soon as it can
// be.
type Done struct {
	Notice string `json:"notice,omitempty"` // what is not carried out, and why
}

// Refusal answers a question that cannot be granted.
type Refusal struct {
	Code   RefusalCode   `json:"code"`
	Reason string        `json:"reason"`
	Sites  []SiteRefusal `json:"sites,omitempty"` // NoSite: each site's reason
}

// SiteRefusal is one site's reason for refusing.
type SiteRefusal struct {
	Site   protocol.SiteName `json:"site"`
	Reason string            `json:"reason"`
}

// RefusalCode says what kind of refusal it is. Its text is part of the API.
type RefusalCode string

// The refusal codes, and the exit codes that the command line gives them.
const (
	BadRequest  RefusalCode = "bad-request" // 2
	NotFound    RefusalCode = "not-found"   // 3
	Denied      RefusalCode = "denied"      // 4
	NoSite      RefusalCode = "no-site"     // 5
	Conflict    RefusalCode = "conflict"    // 1: repeating the request does not help, since the job is in a state that does not allow it
	Unavailable RefusalCode = "not-now"     // 1
)

// OfDependency begins the reason of a refusal about a job on which another one is to depend, which is [NotFound] as the refusal of a job
// itself is.
const OfDependency = "dependency "

func (Submitted) reply() {}

func (Done) reply() {}

func (Refusal) reply() {}
