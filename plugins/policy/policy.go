// Package policy decides where jobs go. A [Policy] is a pure proposer: it sees a
// [Snapshot] of jobs and quotes and returns decisions with reasons; the peer
// checks them before it acts.
package policy

import (
	"context"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Policy places the jobs of a round. The same snapshot and hint give the same
// decisions. Decide changes nothing and keeps nothing but the hint. What else a policy can it says
// by further methods: [ApplicationPolicy], [ParetoPolicy], [LocalPolicy], [ThresholdPolicy], [EnergyPricer], [MarginalWaitPolicy]. One that
// wraps another is a [Describer].
type Policy interface {
	Info() Info
	// Decide returns at most one decision for each job; a job without one stays
	// in the grid queue. The returned hint goes into the next snapshot (at most
	// [MaxHint] bytes). When ctx ends, because the peer stops or has waited for long
	// enough, the answer is discarded: a policy that may take long checks it.
	Decide(ctx context.Context, in Snapshot) (decisions []Decision, hint []byte, err error)
}

// MaxHint bounds a policy's hint, in bytes.
const MaxHint = 64 << 10

// Info says what a policy is and which rounds it serves. What else it can it says by its methods
// ([Describe]).
type Info struct {
	Name        string
	Initiations []Initiation // that it accepts
	Params      []Param      // sorted by name; policies of one name with equal ones decide alike
}

// Param is a parameter of a policy, in a form that travels: in recordings, for
// one.
type Param struct{ Name, Value string }

// Initiation is what opens rounds.
type Initiation string

// The initiations.
const (
	Sender    Initiation = "sender"    // [SS 2.1.1]
	Receiver  Initiation = "receiver"  // [SS 2.1.2]
	Symmetric Initiation = "symmetric" // [SS 2.1.3]
	Cycle     Initiation = "cycle"
)

// Snapshot is all that a policy may know, in columns. Jobs are in the order of
// the grid queue, sites are sorted by name. Quote columns are dense: the quote
// of site s for job j is at j·len(Sites)+s.
//
// A [ApplicationPolicy] sees a job that may run on several counts of CPUs as one row for each
// with one ID, one after the other, of which it chooses at most one.
type Snapshot struct {
	Self  int // index of the deciding site, [NoSite] if it is not in Sites
	Sites []Site
	Jobs  []Job

	AWT  []protocol.Duration // [protocol.Never]: declined, or not asked
	ERT  []protocol.Duration
	Cost []protocol.Micro // sum of the quote's terms, in the site's Currency

	// InPlace says of each quote whether the job would run where its files are, on a file system that the sites share, so that
	// nothing travels; empty: no job would.
	InPlace []bool

	// What follows is for a [ApplicationPolicy], and empty for others. Money is in
	// Currency, whatever the sites name.
	Currency     string
	Applications []Application
	UsageCost    []protocol.Micro // K_e of each quote
	LicenseCost  []protocol.Micro // K_l
	EnergyCost   []protocol.Micro // K_eco
	DataCost     []protocol.Micro // K_d

	// Outcomes are those of earlier decisions of this policy, in the order in which the jobs ended,
	// at most [MaxOutcomes]. Each is in every snapshot until a call of Decide that had it returns
	// without an error.
	Outcomes []Outcome
	Hint     []byte // that the last call of Decide returned; empty at first and after a restart of the peer
}

// Site is one row of a snapshot's sites.
type Site struct {
	Name     protocol.SiteName
	RUS      int               // parts per million
	Age      protocol.Duration // of RUS
	CPUs     int
	Free     int    // CPUs that neither run a job nor are promised to one
	MaxJobs  int    // jobs that the site takes this round
	Currency string // of its quotes; empty: it names no prices
	NoEnergy bool   // its quotes do not tell what the electricity costs
	// The link from the deciding site. A bandwidth of 0 is not stated: data take no time.
	Latency   protocol.Duration
	Bandwidth int64 // bytes a second
	// MarginalWaits is how much longer the second, third … job of the round would wait here when
	// the earlier ones came too. It does not fall; beyond the listed values it grows as at the end.
	MarginalWaits []protocol.Duration
	Resources     []protocol.Resource // of all its nodes and of the whole site, sorted; empty: it names none
}

// Job is one row of a snapshot's jobs.
type Job struct {
	ID       protocol.JobID
	CPUs     int
	WallTime protocol.Duration
	Waited   protocol.Duration // since it was submitted
	Data     int64             // bytes that must travel to another site than the deciding one
	DataOut  int64             // bytes that must travel back from it
	User     string            // who submitted it
	Account  string            // the local account that the deciding site maps the user to; a partner maps the user to one of its own
	Name     string            // "" if it has none
	MemoryMB int64             // per node; 0: any
	Nodes    int               // at least; 0: any

	// What it asks for beside CPUs and memory. A site that lacks it has declined.
	Resources []protocol.Resource // sorted
	Features  string              // of its nodes, see [protocol.ParseFeatures]; empty: none
	Exclusive bool                // no other job runs on its nodes

	// The fields below are set for an [ApplicationPolicy] only.
	Application int // index in Snapshot.Applications
	Together    int // components of its application with one number above 0 start together or not at all
	Alpha       int // α_k, γ_k, δ_k, in parts per million
	Gamma       int
	Delta       int
}

// Application is what the user of some jobs wants of them together [IS 4.2]. A job that
// was submitted alone is an application of one component.
type Application struct {
	ID             protocol.JobID         // of its first component
	Beta           int                    // β, in parts per million
	MaxCost        protocol.Micro         // KMAX; [protocol.Unlimited]: none
	MaxTime        protocol.Duration      // TMAX, from the first submission on; [protocol.Never]: none
	Elapsed        protocol.Duration      // since the first submission
	Spent          protocol.Micro         // cost, unweighted, of its components: of those that have ended as billed, of those that are placed as predicted, and no less than 0 each
	CommittedUntil protocol.Duration      // from now until the last of these has ended and its data are back; 0: none, or past
	WaitedCost     protocol.Micro         // K_w from the first submission until now; not below 0
	WaitingCost    []protocol.WaitingRate // k_w from now on; empty: waiting costs nothing
}

// NoSite is the [Decision.Site] of a job that stays in the grid queue, to say why, and the
// [Snapshot.Self] of a deciding site that is not among the sites.
const NoSite = -1

// Decision proposes a site for a job.
type Decision struct {
	Job    int               // index in Snapshot.Jobs
	Site   int               // index in Snapshot.Sites, or [NoSite]
	Wait   protocol.Duration // expected there: the quoted AWT, and what the policy itself sent before
	Reason string
}

// Transfer is how long the data of job j travel to site s.
func (in *Snapshot) Transfer(j, s int) protocol.Duration {
	to, data := &in.Sites[s], in.Jobs[j].Data
	if s == in.Self || data <= 0 || to.Bandwidth <= 0 || in.inPlace(j, s) {
		return 0
	}
	return protocol.Transfer(data, to.Latency, to.Bandwidth)
}

// Start is when job j would start at site s after a wait: when its data are there, too.
func (in *Snapshot) Start(j, s int, wait protocol.Duration) protocol.Duration {
	return max(wait, in.Transfer(j, s))
}

// Return is how long the results of job j travel back from site s.
func (in *Snapshot) Return(j, s int) protocol.Duration {
	from, data := &in.Sites[s], in.Jobs[j].DataOut
	if s == in.Self || data <= 0 || from.Bandwidth <= 0 || in.inPlace(j, s) {
		return 0
	}
	return protocol.Transfer(data, from.Latency, from.Bandwidth)
}

func (in *Snapshot) inPlace(j, s int) bool {
	at := in.At(j, s)
	return at < len(in.InPlace) && in.InPlace[at]
}

// At is the index of site s's quote for job j.
func (in *Snapshot) At(j, s int) int { return j*len(in.Sites) + s }
