package peer

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Table names a kind of row.
type Table string

// The tables. [New] wants the rows of all of them but Archive.
const (
	JobTable         Table = "job"         // jobs of this origin, by id
	PayloadTable     Table = "payload"     // what jobs and guests run, by id
	GuestTable       Table = "guest"       // jobs of other origins, and their tombstones, by id
	RunTable         Table = "run"         // placements in the local queue, by tag
	DedupTable       Table = "dedup"       // submissions with a key, by user and key
	SiteTable        Table = "site"        // one row: this site's counters
	GenerationTable  Table = "generation"  // one row: how often the rows have changed
	PartnerTable     Table = "partner"     // what is durably known of each partner, by name
	ApplicationTable Table = "application" // applications whose components have not all ended, by the id of the first one
	ExecutionTable   Table = "execution"   // the DataWarehouse [IS 4.1]: executions, by user, component and site
	Archive          Table = "archive"     // finished jobs, by id; never read back by the core
)

// Tables lists what a restored peer needs, in the order in which [New] expects
// it.
func Tables() []Table {
	return []Table{SiteTable, GenerationTable, PartnerTable, PayloadTable, ApplicationTable, JobTable, GuestTable, RunTable, DedupTable, ExecutionTable}
}

// Row is one row's content. The set is closed. Rows are values: a row given out
// in a [Record] never changes.
//
//sumtype:decl
type Row interface{ table() Table }

// JobPhase is where a job of this origin is in its life.
type JobPhase string

// The phases. Outside, all but Running, Collecting and Ended show as PENDING.
const (
	InGridQueue JobPhase = "grid-queue"
	Holding     JobPhase = "holding"    // room is held at the own site until the components that start together have theirs
	AtHome      JobPhase = "at-home"    // committed to the own site; its run row says more
	Offered     JobPhase = "offered"    // epoch offered to Site, not granted
	Granted     JobPhase = "granted"    // the point of no return
	Handed      JobPhase = "handed"     // Site owns it
	Recalling   JobPhase = "recalling"  // asked back from Site
	Collecting  JobPhase = "collecting" // ended at Site; its files are on the way
	Ending      JobPhase = "ending"     // to end as CANCELLED when the sites in Fenced have said that it is over there
)

// JobRow is a job of this origin.
type JobRow struct {
	Spec       protocol.Spec     `json:"spec"`
	Phase      JobPhase          `json:"phase"`
	Epoch      protocol.Epoch    `json:"epoch"` // the highest used
	Site       protocol.SiteName `json:"site,omitempty"`
	Cancelling bool              `json:"cancelling,omitempty"`
	State      protocol.State    `json:"state"` // shown outside
	Reason     string            `json:"reason,omitempty"`
	StatusSeq  uint32            `json:"status_seq,omitempty"` // of the last status taken at this epoch
	QuotedAWT  protocol.Duration `json:"quoted_awt,omitempty"`
	Placed     protocol.Instant  `json:"placed,omitempty"`
	Started    protocol.Instant  `json:"started,omitempty"`
	Ended      protocol.Instant  `json:"ended,omitempty"`
	Outcome    *protocol.Outcome `json:"outcome,omitempty"`
	Quoted     *QuotedPrice      `json:"quoted,omitempty"`      // the price that it is placed at; nil: none was named
	Home       *QuotedPrice      `json:"home,omitempty"`        // that the own site quoted when it was placed elsewhere; nil: none
	Tariff     *protocol.Tariff  `json:"tariff,omitempty"`      // that holds for its run; nil: it costs nothing, or its site does not say
	Offset     protocol.Duration `json:"offset,omitempty"`      // how far the clock of its site is ahead of this one's, as last heard
	Disputed   string            `json:"disputed,omitempty"`    // why the bill of its site is not believed
	Stuck      string            `json:"stuck,omitempty"`       // why an operator must look
	Reruns     int               `json:"reruns,omitempty"`      // after failures of nodes
	Holder     uint64            `json:"holder,omitempty"`      // incarnation of its site's store when that held room for it; 0: not known
	Restored   bool              `json:"restored,omitempty"`    // the row is older than what may have become of the job
	SkipEpochs bool              `json:"skip_epochs,omitempty"` // it was, so the next epochs may have been used
	Forced     bool              `json:"forced,omitempty"`      // an operator has requeued it by force: it may run twice
	Fenced     []FencedPlacement `json:"fenced,omitempty"`      // which its sites may still start; oldest first
	WorkDir    string            `json:"work_dir,omitempty"`
	Stdout     string            `json:"stdout,omitempty"`
	Stderr     string            `json:"stderr,omitempty"`
	Export     protocol.Export   `json:"export,omitzero"`

	Application protocol.JobID      `json:"application,omitempty"` // that it is a component of; 0: of its own
	Component   *protocol.Component `json:"component,omitempty"`   // nil: a plain job
	Foreseen    *Foreseen           `json:"foreseen,omitempty"`    // where it is placed; nil: it is not
	Hold        protocol.Instant    `json:"hold,omitempty"`        // room is to be held from then on; 0: it need not be
	Held        protocol.Instant    `json:"held,omitempty"`        // since when it is held; 0: not yet
	Parted      bool                `json:"parted,omitempty"`      // it is wanted back, and ended, since its group did not start together
}

// Foreseen is what was foreseen of a component when it was placed.
type Foreseen struct {
	Cost protocol.Micro    `json:"cost"` // K_e + K_l + K_eco + K_d, in the site's own currency
	End  protocol.Instant  `json:"end"`  // when its data are back
	Run  protocol.Duration `json:"run"`
	Back protocol.Duration `json:"back,omitempty"` // of its data
}

// ApplicationRow is an application of this origin.
type ApplicationRow struct {
	protocol.Application

	ID        protocol.JobID   `json:"id"` // of its first component
	Count     int              `json:"count"`
	User      string           `json:"user"`
	Submitted protocol.Instant `json:"submitted"`
	Spent     protocol.Micro   `json:"spent,omitempty"`  // real cost of the components that have ended
	Broken    string           `json:"broken,omitempty"` // which limit the first component to break one has broken, and why
	Apart     []ApartGroup     `json:"apart,omitempty"`  // groups that have ended, of which not all components started together
	Ran       []int            `json:"ran,omitempty"`    // groups of which a component has run to its end, and so cannot start with the others again
}

// ApartGroup is a group of components that did not start together.
type ApartGroup struct {
	Number int    `json:"number"`
	Why    string `json:"why"` // it has ended
}

// ExecutionRow are the last executions of a component at one site.
type ExecutionRow struct {
	User      string            `json:"user"`
	Component string            `json:"component"`
	Site      protocol.SiteName `json:"site"`
	Runs      []Execution       `json:"runs"`
}

// Execution is a run of a component, and what was foreseen of it.
type Execution struct {
	gamma.Execution

	Foreseen protocol.Duration `json:"foreseen,omitempty"` // run time; 0: nothing was
	Censored bool              `json:"censored,omitempty"` // it was ended at its time limit
}

// GuestPhase is where a job of another origin is.
type GuestPhase string

// The phases of a guest. Aborted and Closed are tombstones.
const (
	GuestIsPrepared GuestPhase = "prepared"
	GuestIsOwned    GuestPhase = "owned" // its run row says more
	GuestIsAborted  GuestPhase = "aborted"
	GuestIsClosed   GuestPhase = "closed"
)

// GuestRow is a job of another origin at this site.
type GuestRow struct {
	Spec     protocol.Spec     `json:"spec"`
	Origin   protocol.SiteName `json:"origin"`
	Account  string            `json:"account,omitempty"`
	Epoch    protocol.Epoch    `json:"epoch"`
	Phase    GuestPhase        `json:"phase"`
	Since    protocol.Instant  `json:"since"`
	Recalled bool              `json:"recalled,omitempty"` // the origin wants it back
	Cancel   bool              `json:"cancel,omitempty"`   // and ended if it has started
	Fenced   bool              `json:"fenced,omitempty"`   // the origin has gone on without it
	Untold   bool              `json:"untold,omitempty"`   // given back after the grant; the origin has not confirmed it
	Doubted  bool              `json:"doubted,omitempty"`  // prepared in restored rows; that it was granted is a guess
	Hold     protocol.Instant  `json:"hold,omitempty"`     // room is to be held firmly from then on; 0: it need not be
	Held     protocol.Instant  `json:"held,omitempty"`     // since when it is; 0: not yet
	Tariff   *protocol.Tariff  `json:"tariff,omitempty"`   // that holds for its run; nil: it costs nothing

	Tolerance protocol.Duration `json:"tolerance,omitempty"` // how much later than Held it may start; 0: by default
}

// RunPhase is where a placement in the local queue is.
type RunPhase string

// The phases of a run.
const (
	Submitting RunPhase = "submitting" // a submission may have been made
	Queued     RunPhase = "queued"
	Running    RunPhase = "running"
	Ended      RunPhase = "ended" // the outcome is here until the origin has it
)

// RunRow is a placement of a job in the local queue.
type RunRow struct {
	Tag      protocol.Tag       `json:"tag"`
	Phase    RunPhase           `json:"phase"`
	Local    localsched.LocalID `json:"local,omitempty"`
	Account  string             `json:"account,omitempty"`
	Since    protocol.Instant   `json:"since"` // of the commit
	Started  protocol.Instant   `json:"started,omitempty"`
	Ended    protocol.Instant   `json:"ended,omitempty"`
	Seq      uint32             `json:"seq"`             // of the last status to the origin
	Acked    uint32             `json:"acked,omitempty"` // by the origin
	Reason   string             `json:"reason,omitempty"`
	Withdraw bool               `json:"withdraw,omitempty"` // to be taken back
	Kill     bool               `json:"kill,omitempty"`     // or ended
	Stuck    string             `json:"stuck,omitempty"`
	Restored bool               `json:"restored,omitempty"` // the row is older than what may have become of it
	Copied   bool               `json:"copied,omitempty"`   // and the local queue was copied with it
	Outcome  *protocol.Outcome  `json:"outcome,omitempty"`
}

// PayloadRow is what a job runs.
type PayloadRow struct {
	Payload *protocol.Payload `json:"payload"`
}

// DedupRow remembers a submission by its key.
type DedupRow struct {
	First protocol.JobID   `json:"first"`
	Count int              `json:"count"`
	At    protocol.Instant `json:"at"`
}

// SiteRow is the site's own counters.
type SiteRow struct {
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
	Settle      Settlement    `json:"settle,omitempty"` // of jobs that may have run since the rows were written
	SettledBy   string        `json:"settled_by,omitempty"`
	Intake      IntakeRow     `json:"intake,omitzero"`
	Totals      Totals        `json:"totals,omitzero"`
	Gaps        []Gap         `json:"gaps,omitempty"` // job ids that lives have given out which these rows do not know
}

// Settlement is what an operator has said of all jobs of which nobody knows whether they
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

// GenerationRow counts the steps that changed rows.
type GenerationRow struct {
	Generation uint64 `json:"generation"`
}

// PartnerRow is what this store has known of a partner, longer than the peer runs.
type PartnerRow struct {
	Site   protocol.SiteName   `json:"site"`
	Number protocol.SiteNumber `json:"number,omitempty"` // that its card said, and no other partner's before; 0: none
	Life   protocol.Life       `json:"life"`             // the latest that its peer has stated, with its proof; zero: none

	Quality Quality `json:"quality,omitzero"` // how it has kept what it said
}

// ArchiveRow is a finished job.
type ArchiveRow struct {
	View JobView `json:"view"`
}

func (JobRow) table() Table        { return JobTable }
func (PayloadRow) table() Table    { return PayloadTable }
func (GuestRow) table() Table      { return GuestTable }
func (RunRow) table() Table        { return RunTable }
func (DedupRow) table() Table      { return DedupTable }
func (SiteRow) table() Table       { return SiteTable }
func (PartnerRow) table() Table    { return PartnerTable }
func (GenerationRow) table() Table { return GenerationTable }
func (ArchiveRow) table() Table    { return Archive }

func (ApplicationRow) table() Table { return ApplicationTable }
func (ExecutionRow) table() Table   { return ExecutionTable }

// EncodeRow gives a row's durable form.
func EncodeRow(row Row) ([]byte, error) {
	data, err := json.Marshal(row)
	if err != nil {
		return nil, fmt.Errorf("row of table %s: %w", row.table(), err)
	}
	return data, nil
}

// DecodeRow reads what [EncodeRow] wrote.
func DecodeRow(table Table, data []byte) (Row, error) {
	switch table {
	case JobTable:
		return decodeAs[JobRow](data)
	case PayloadTable:
		return decodeAs[PayloadRow](data)
	case GuestTable:
		return decodeAs[GuestRow](data)
	case RunTable:
		return decodeAs[RunRow](data)
	case DedupTable:
		return decodeAs[DedupRow](data)
	case SiteTable:
		return decodeAs[SiteRow](data)
	case GenerationTable:
		return decodeAs[GenerationRow](data)
	case PartnerTable:
		return decodeAs[PartnerRow](data)
	case ApplicationTable:
		return decodeAs[ApplicationRow](data)
	case ExecutionTable:
		return decodeAs[ExecutionRow](data)
	case Archive:
		return archived(data)
	}
	return nil, fmt.Errorf("table %q is unknown; it may come from a newer version", table)
}

// decodeAs reads a row of which each field must be known: another version's row is refused,
// since a part of it that is left out could be a user's wish, or who owns a job.
func decodeAs[R Row](data []byte) (Row, error) {
	var row R
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&row); err != nil {
		return nil, fmt.Errorf("row of table %s: %w; it may come from another version", row.table(), err)
	}
	if decoder.More() {
		return nil, fmt.Errorf("row of table %s: it goes on after its end", row.table())
	}
	return row, nil
}

// archived reads a finished job, of any version: what is not known of it any more is left out.
func archived(data []byte) (Row, error) {
	var row ArchiveRow
	if err := json.Unmarshal(data, &row); err != nil {
		return nil, fmt.Errorf("row of table %s: %w", Archive, err)
	}
	return row, nil
}
