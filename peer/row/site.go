package row

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Intake is how many jobs the site has taken in a period of [Config.MaxQ].
type Intake struct {
	Until protocol.Instant `json:"until"` // the period is over
	Jobs  int              `json:"jobs"`
}

// Site is the site's own counters.
type Site struct {
	FirstStart  protocol.Instant  `json:"first_start"`
	Incarnation uint64            `json:"incarnation"`
	FirstSeq    uint64            `json:"first_seq"` // of the first job id that this store gave out
	NextSeq     uint64            `json:"next_seq"`  // of the next job id
	Cursor      localsched.Cursor `json:"cursor,omitempty"`
	Boot        uint64            `json:"boot,omitempty"`     // starts on this store
	Begun       protocol.Instant  `json:"begun,omitempty"`    // the last start
	Machine     string            `json:"machine,omitempty"`  // where that was
	Recovery    string            `json:"recovery,omitempty"` // why nothing is started until an operator decides
	// Until then: what the witness file had seen when it was newer than these rows (zero: it was
	// not), and another peer that has run as this site beside this one (zero: none is known of).
	// Until all that waits in it has been taken out: whether the local queue is a copy, or was
	// put back with the rows, so that what waits there may have run.
	Witnessed   protocol.Life `json:"witnessed,omitzero"`
	QueueCopied bool          `json:"queue_copied,omitempty"`
	Twin        protocol.Life `json:"twin,omitzero"`
	// RequeueableAfter is when an operator has said that these rows go on: what had ended by then may have been requeued, and have run.
	RequeueableAfter protocol.Instant `json:"requeueable_after,omitempty"`

	Settle    Settlement  `json:"settle,omitempty"` // of jobs that may have run since the rows were written
	SettledBy string      `json:"settled_by,omitempty"`
	Intake    Intake      `json:"intake,omitzero"`
	Totals    view.Totals `json:"totals,omitzero"`
	Drain     *view.Drain `json:"drain,omitempty"`
	Gaps      []Gap       `json:"gaps,omitempty"` // job ids that lives have given out which these rows do not know
}

// Settlement is what an operator has said of all jobs of which it is not known whether they
// have run since older rows were written.
type Settlement string

// The settlements. Empty: each job needs an operator.
const (
	SettleByCancel  Settlement = "cancel"
	SettleByRequeue Settlement = "requeue"
)

// Gap are sequence numbers of job ids, the last one exclusive.
type Gap struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// Generation counts the steps that changed rows.
type Generation struct {
	Generation uint64 `json:"generation"`
}

func (Site) table() Table { return SiteTable }

func (Generation) table() Table { return GenerationTable }
