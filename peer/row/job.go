package row

import (
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// JobPhase is where a job of this origin is in its life.
type JobPhase string

// The phases. Outside, all but a run that has started, JobStagingOut and the end show as PENDING.
const (
	JobInGridQueue    JobPhase = "grid-queue"
	JobReserving      JobPhase = "reserving"       // room is held at the own site until the components that start together have theirs
	JobCommittedLocal JobPhase = "committed-local" // committed to the own site; its run row says more
	JobOffered        JobPhase = "offered"         // epoch offered to Site, not granted
	JobGranted        JobPhase = "granted"         // the point of no return
	JobHandedOff      JobPhase = "handed-off"      // Site owns it
	JobRecalling      JobPhase = "recalling"       // asked back from Site
	JobStagingOut     JobPhase = "staging-out"     // ended at Site; its files are on the way
	JobEnding         JobPhase = "ending"          // to end as CANCELLED when the sites in Fenced have said that it is over there
)

// Job is a job of this origin.
type Job struct { //nolint:recvcheck // the core moves it, and gives it out by value
	Spec           protocol.Spec      `json:"spec"`
	Phase          JobPhase           `json:"phase"`
	Epoch          protocol.Epoch     `json:"epoch"` // the highest used
	Site           protocol.SiteName  `json:"site,omitempty"`
	Cancelling     bool               `json:"cancelling,omitempty"`
	CancelledBy    string             `json:"cancelled_by,omitempty"` // the user who first asked for its end
	CancelsAny     bool               `json:"cancels_any,omitempty"`  // that was while the row might be older than its placements: those which it does not know end, too
	Requeueing     bool               `json:"requeueing,omitempty"`   // it is to be ended where it runs, and placed again, since a user wants that
	NoRequeue      bool               `json:"no_requeue,omitempty"`   // no user may want that
	State          protocol.State     `json:"state"`                  // shown outside
	Reason         string             `json:"reason,omitempty"`
	StatusSeq      uint32             `json:"status_seq,omitempty"`  // of the last status taken at this epoch
	QuotedAWT      *protocol.Duration `json:"quoted_wait,omitempty"` // nil if no quote was requested
	Waits          *view.QuotedWaits  `json:"waits,omitempty"`       // that were quoted where it is placed; nil: no quote was requested
	CommittedAt    protocol.Instant   `json:"committed_at,omitempty"`
	Decided        Decided            `json:"decided,omitzero"` // the policy's decision that placed it; zero: none did
	Started        protocol.Instant   `json:"started,omitempty"`
	TimeLimit      protocol.Duration  `json:"time_limit_ms,omitempty"` // with which it runs; 0: the one that it asked for
	Ended          protocol.Instant   `json:"ended,omitempty"`
	Outcome        *protocol.Outcome  `json:"outcome,omitempty"`
	Undelivered    []view.Undelivered `json:"undelivered,omitempty"`     // of its files, once they have been brought or given up; what it holds never changes
	Quoted         *view.QuotedPrice  `json:"quoted,omitempty"`          // the price that it is placed at; nil: none was named
	Home           *view.QuotedPrice  `json:"home,omitempty"`            // that the own site quoted when it was placed elsewhere; nil: none
	Tariff         *protocol.Tariff   `json:"tariff,omitempty"`          // that holds for its run; nil: it costs nothing, or its site does not say
	Offset         protocol.Duration  `json:"offset,omitempty"`          // how far the clock of its site is ahead of this one's, as last heard
	Disputed       string             `json:"disputed,omitempty"`        // why the bill of its site is not believed
	OperatorReason string             `json:"operator_reason,omitempty"` // why an operator must look
	Reruns         int                `json:"reruns,omitempty"`          // after failures of nodes
	Holder         uint64             `json:"holder,omitempty"`          // incarnation of its site's store when that held room for it; 0: not known
	Restored       bool               `json:"restored,omitempty"`        // the row is older than what may have become of the job
	SkipEpochs     bool               `json:"skip_epochs,omitempty"`     // it was, so the next epochs may have been used
	Forced         bool               `json:"forced,omitempty"`          // an operator has requeued it by force: it may run twice
	Fenced         []FencedPlacement  `json:"fenced,omitempty"`          // which its sites may still start; oldest first
	WorkDir        string             `json:"work_dir,omitempty"`
	Stdout         string             `json:"stdout,omitempty"`
	Stderr         string             `json:"stderr,omitempty"`
	Spared         protocol.Travel    `json:"spared,omitzero"` // of a job that runs in place: what would travel elsewhere
	Export         protocol.Export    `json:"export,omitzero"`
	Mail           protocol.Mail      `json:"mail,omitzero"`
	Element        protocol.Element   `json:"element,omitzero"`   // of an array; zero: it is on its own
	Moves          int                `json:"moves,omitempty"`    // how often a local queue has given it back because another site would end it sooner
	MovedAt        protocol.Instant   `json:"moved_at,omitempty"` // when one did so last; 0: none has
	Moving         string             `json:"moving,omitempty"`   // why it is recalled, or has come back, to be placed at another site; empty: it is not

	Change     *protocol.Change     `json:"change,omitempty"`     // of it once it is back in the grid queue; nil: none. What it points to never changes
	Conditions *protocol.Conditions `json:"conditions,omitempty"` // before which it is not placed; nil: none. What it points to never changes

	Application protocol.JobID      `json:"application,omitempty"`  // that it is a component of; 0: of its own
	Component   *protocol.Component `json:"component,omitempty"`    // nil: a plain job
	Prediction  *Prediction         `json:"prediction,omitempty"`   // where it is placed; nil: it is not
	ReserveFrom protocol.Instant    `json:"reserve_from,omitempty"` // room is to be held from then on; 0: it need not be
	ReservedAt  protocol.Instant    `json:"reserved_at,omitempty"`  // since when it is held; 0: not yet
	Parted      bool                `json:"parted,omitempty"`       // it is recalled, and ended, since its group did not start together
}

// Decided is the decision of a policy that placed a job.
type Decided struct {
	Policy string            `json:"policy"`
	At     protocol.Instant  `json:"at"`
	AWT    protocol.Duration `json:"awt_ms"` // that the site quoted
}

// PolicyOutcome returns what came of the decision that placed a job in a terminal state; false if
// no policy decided.
func (j *Job) PolicyOutcome() (policy.Outcome, bool) {
	if j.Decided.Policy == "" {
		return policy.Outcome{}, false
	}
	o := policy.Outcome{
		Job: j.Spec.Job, Site: j.Site, DecidedAt: j.Decided.At, QuotedWait: j.Decided.AWT, Wait: protocol.Never, State: j.State,
	}
	if j.Outcome != nil {
		o.ExitCode = j.Outcome.ExitCode
		if j.Started != 0 {
			o.Wait = j.Outcome.Waited
		}
	}
	return o, true
}

// Unplace takes back what a decision said of a job: its shape, what was predicted of it, and at
// what price.
func (j *Job) Unplace() {
	j.Prediction, j.ReserveFrom, j.ReservedAt = nil, 0, 0
	j.Quoted, j.Home, j.Waits, j.Tariff, j.Disputed, j.Offset = nil, nil, nil, nil, "", 0
	j.Decided = Decided{}
	j.LeavePlace()
	j.Spec = j.Shaped(0)
	j.Spec.ForgetPrediction()
}

// StayInPlace has the job run in its own working directory at a site that shares that.
func (j *Job) StayInPlace() {
	if !j.Spec.InPlace {
		j.Spared = j.Spec.StayInPlace()
	}
}

// LeavePlace undoes [Job.StayInPlace].
func (j *Job) LeavePlace() {
	if j.Spec.InPlace {
		j.Spec.LeavePlace(j.Spared)
		j.Spared = protocol.Travel{}
	}
}

// NoteWaits keeps the waits of the quote by which the job is placed. The quote itself is not kept in memory.
func (j *Job) NoteWaits(q *protocol.Quote, now protocol.Instant) {
	j.Waits = new(WaitsOf(q, now))
}

// WaitsOf are the waits of a quote that was made at an instant.
func WaitsOf(q *protocol.Quote, at protocol.Instant) view.QuotedWaits {
	return view.QuotedWaits{At: at, AWT: q.AWT, Low: q.AWTLow, Median: q.AWTMedian, High: q.AWTHigh, ERT: q.ERT}
}

// Shapes are those that a moldable job may run in; none for a rigid one.
func (j *Job) Shapes() []protocol.Shape {
	if j.Component == nil {
		return nil
	}
	return j.Component.Shapes
}

// Shaped is the job's spec in one of its shapes, by their index; of a rigid job as it is.
func (j *Job) Shaped(shape int) protocol.Spec {
	spec := j.Spec
	if shapes := j.Shapes(); shape < len(shapes) {
		s := shapes[shape]
		spec.CPUs, spec.Nodes, spec.WallTime = s.CPUs, s.Nodes, s.WallTime
	}
	return spec
}

// InShapes are the specs of the job as it is and in its other shapes, n in all; n is at least 1.
func (j *Job) InShapes(n int) []protocol.Spec {
	specs := make([]protocol.Spec, 1, n)
	specs[0] = j.Spec
	for shape := 1; shape < n; shape++ {
		specs = append(specs, j.Shaped(shape))
	}
	return specs
}

// Estimate is the user's own word on the run time in a shape; 0: there is none.
func (j *Job) Estimate(shape int) protocol.Duration {
	if j.Component == nil {
		return 0
	}
	if shapes := j.Shapes(); shape < len(shapes) {
		return shapes[shape].Estimate
	}
	return j.Component.Estimate
}

// ComponentName is the name of the component that a job is: its own, where it is on its own.
func (j *Job) ComponentName() string {
	if j.Component != nil && j.Component.Name != "" {
		return j.Component.Name
	}
	return j.Spec.Name
}

// Tag names the present placement of the job.
func (j *Job) Tag() protocol.Tag { return protocol.Tag{Job: j.Spec.Job, Epoch: j.Epoch} }

// AtPartner says whether a partner has the job, or may have it: it was granted, and the origin has neither
// its result nor proof that it did not start.
func (j *Job) AtPartner() bool {
	return j.Phase == JobGranted || j.Phase == JobHandedOff || j.Phase == JobRecalling
}

// Reclaimable says whether a partner has the job, or may have it, and it shall run.
func (j *Job) Reclaimable() bool {
	return j.AtPartner() && (j.Phase != JobRecalling || !j.Cancelling)
}

// EndWanted says whether the job is to be ended where it is, should it have started.
func (j *Job) EndWanted() bool { return j.Cancelling || j.Parted || j.Requeueing }

// Together says whether the job starts together with others.
func (j *Job) Together() bool { return j.Component != nil && j.Component.Together > 0 }

// SeeksRoom says whether room is sought or held for a member of a group that is not granted.
func (j *Job) SeeksRoom() bool {
	return j.ReserveFrom != 0 && (j.Phase == JobOffered || j.Phase == JobReserving)
}

// Prediction is what was predicted for a component when it was placed.
type Prediction struct {
	Cost protocol.Micro    `json:"cost"` // K_e + K_l + K_eco + K_d, in the site's own currency
	End  protocol.Instant  `json:"end"`  // when its data are back
	Run  protocol.Duration `json:"run"`
	Back protocol.Duration `json:"back,omitempty"` // of its data
}

// From is the prediction for a job that starts no earlier than an instant, since it waits for the others of
// its group; nil: there is none.
func (p *Prediction) From(start protocol.Instant) *Prediction {
	if p == nil || p.End >= start.Add(p.Run).Add(p.Back) {
		return p
	}
	return &Prediction{Cost: p.Cost, Run: p.Run, Back: p.Back, End: start.Add(p.Run).Add(p.Back)}
}

// PredictedCost is what the job is predicted to cost where it is placed; 0: nothing is predicted.
func (j *Job) PredictedCost() protocol.Micro {
	if j.Prediction == nil {
		return 0
	}
	return j.Prediction.Cost
}

// Dedup remembers a submission by its key.
type Dedup struct {
	First  protocol.JobID   `json:"first"`
	Count  int              `json:"count"`
	At     protocol.Instant `json:"at"`
	SHA256 [32]byte         `json:"sha256,omitzero"` // of what was submitted; 0: an earlier version, which did not keep it
}

// Archived is a finished job, with its last run.
type Archived struct {
	View view.Job `json:"view"`
}

// EarlierRun is a run that has ended, and after which its job was requeued.
type EarlierRun struct {
	View view.Job `json:"view"` // as if the job had ended with it; Earlier is set
}

func (Job) table() Table { return JobTable }

func (Dedup) table() Table { return DedupTable }

func (Archived) table() Table { return ArchiveTable }

func (EarlierRun) table() Table { return EarlierTable }
