package view

import "github.com/switchyard-hpc/switchyard/protocol"

// Recovery answers [AskRecovery] and [Recover].
type Recovery struct {
	Needed  bool           `json:"needed"`            // nothing is started until an operator decides
	Reasons []string       `json:"reasons,omitempty"` // who has seen what
	Life    protocol.Life  `json:"life"`              // of this store, now
	Known   protocol.Life  `json:"known"`             // the most that partners have seen; zero: nothing that this store does not know
	NextID  protocol.JobID `json:"next_id"`           // that this store would give out
	// QueueCopied: the local queue is as old as this store, or a copy, so that what waits in it
	// may have started. It is taken out of the queue when this store goes on.
	QueueCopied bool `json:"queue_copied,omitempty"`
	// Jobs of this site: that would be placed if the rows were right; that have a place in the
	// local queue; that partners have by the rows; that need an operator.
	Waiting   []protocol.JobID `json:"waiting,omitempty"`
	Here      []protocol.JobID `json:"here,omitempty"`
	Elsewhere []protocol.JobID `json:"elsewhere,omitempty"`
	InDoubt   []protocol.JobID `json:"in_doubt,omitempty"`
	Guests    []protocol.JobID `json:"guests,omitempty"`   // open jobs of partners
	Aside     []AsideJob       `json:"aside,omitempty"`    // what the local scheduler has and no row knows
	Unknown   []UnknownJob     `json:"unknown,omitempty"`  // what partners have of this site and no row knows
	Partners  []PartnerMark    `json:"partners,omitempty"` // what partners have said of this site
	Private   bool             `json:"private,omitempty"`  // the lists of jobs are left out, which are for administrators
}

// WithoutJobs is the recovery for those who see only their own jobs.
func (r Recovery) WithoutJobs() Recovery { //nolint:gocritic // a copy is what is wanted
	r.Waiting, r.Here, r.Elsewhere, r.InDoubt, r.Guests, r.Aside, r.Unknown = nil, nil, nil, nil, nil, nil, nil
	r.Private = true
	return r
}

// AsideJob is a placement that the local scheduler has and no row knows.
type AsideJob struct {
	Tag   protocol.Tag   `json:"tag"`
	State protocol.State `json:"state"`
}

// UnknownJob is a job of this site at a partner, which no row knows.
type UnknownJob struct {
	Tag  protocol.Tag      `json:"tag"`
	Site protocol.SiteName `json:"site"`
}

// PartnerMark is what a partner has said of this site.
type PartnerMark struct {
	Site    protocol.SiteName `json:"site"`
	Life    protocol.Life     `json:"life"`
	Highest protocol.JobID    `json:"highest_job"` // that it has seen
}

func (Recovery) reply() {}
