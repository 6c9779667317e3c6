package sim

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Machine is a site's machine, as in [SS] Table 1.
type Machine struct {
	Name        protocol.SiteName
	Nodes       int
	CPUsPerNode int
	MHz         int               // 0: not stated; run times scale with the ratio of speeds
	Mflops      int               // of a CPU; 0: not stated. Where two machines state it, it counts and not the MHz
	MaxWallTime protocol.Duration // that a job may ask for; 0: no limit
	MemoryMB    int64             // of a node; 0: not stated
	WholeNode   bool              // a node runs one job at a time
	Gamma       protocol.Machine  // a CPU as the Γ model sees it: by this components of applications run
	Partitions  *Partitions       // a job runs in one of these; nil: WholeNode says how jobs share the machine
	Groups      []protocol.NodeGroup
	Shared      []protocol.Resource // of the whole machine
	Exclusive   bool                // as in [protocol.Capacity]
}

// Partitions are those of a machine that is cut as Blue Gene/P is. The layout's cards
// have as many nodes as the machine.
type Partitions struct {
	Layout  *partition.Layout
	Enabled engine.Enabled
}

// CPUs is how many CPUs the machine has.
func (m Machine) CPUs() (all int) {
	if len(m.Groups) < 2 {
		return m.Nodes * m.CPUsPerNode
	}
	for i := range m.Groups {
		all += m.Groups[i].Nodes * m.Groups[i].CPUs
	}
	return all
}

// Capacity is the machine as site cards state it.
func (m Machine) Capacity() protocol.Capacity {
	largest := 0 // node, where they are not alike
	if len(m.Groups) > 1 {
		for i := range m.Groups {
			largest = max(largest, m.Groups[i].CPUs)
		}
	}
	return protocol.Capacity{
		CPUs: m.CPUs(), Nodes: m.Nodes, NodeCPUs: largest, WholeNode: m.WholeNode, MHz: m.MHz, Mflops: m.Mflops, MaxWallTime: m.MaxWallTime,
		MemoryMB: m.MemoryMB, Machine: m.Gamma, Groups: m.Groups, Shared: m.Shared, Exclusive: m.Exclusive,
	}
}

// Model is the machine for the batch engine. The error says what its partitions do not
// fit.
func (m Machine) Model() (engine.Machine, error) { return m.divided(m.Capacity()) }

// divided is the model of a machine that is cut like this one.
func (m Machine) divided(c protocol.Capacity) (engine.Machine, error) {
	if m.Partitions == nil {
		return engine.Of(c), nil
	}
	return engine.Partitioned(m.Partitions.Layout, c, m.Partitions.Enabled)
}

// Site is a site of a simulated grid.
type Site struct {
	Machine
	Local       engine.Policy // of its batch system
	Tariff      localsched.Tariff
	Electricity Electricity
	Waits       waitpredict.Method // of its quotes; empty: the plan, without an interval
	// Budget is what the jobs of the site may draw, by its Local policy; without Rates
	// there is none. Its signal is on the workload's clock.
	Budget engine.Budget
	// Engine makes another batch system than the built-in one; nil: that one, with
	// the policy Local.
	Engine func(protocol.Capacity) (localsched.Engine, error)

	Costs          pricing.Costs // what it charges, by the calendar; nil: its Tariff and its Electricity
	QOS            []string      // that Costs has prices for
	Currency       string        // of its users' costs and limits
	WaitingCosts   map[string]rules.WaitingCost
	DefaultWeights rules.DefaultWeights

	Seed       uint64 // of the site's peer; 0: by that of the grid
	Latencies  Latencies
	FirstCheck protocol.Duration // from the beginning to the peer's first check of its load; 0: drawn from the seed

	// Peer are the rules of the site's own peer, of a grid of sites as they are configured; nil:
	// those of the grid.
	Peer *Peer
}

// Peer are the rules of one site.
type Peer struct {
	// Config is the peer's configuration, except for its identity, its machine, and what the
	// simulator does its own way. Of the Partners those count that are sites of the grid and
	// have this one as a partner, too.
	Config   rules.Config
	Decides  policy.Policy // the rounds of the site
	Fallback policy.Policy // decides those in which Decides fails
}

// wakes says whether the batch system has starts that no other event brings.
func (s *Site) wakes() bool { return s.Engine != nil || s.budgeted() || engine.WakesByItself(s.Local) }

// takes is how long the work of a job takes on the machine that takes so long on
// another.
func (m Machine) takes(d protocol.Duration, on Machine) protocol.Duration {
	c := protocol.Capacity{MHz: m.MHz, Mflops: m.Mflops}
	return c.Rescale(d, on.MHz, on.Mflops)
}

// Scheme is how jobs are placed [SS 2].
type Scheme string

// The schemes.
const (
	Distributed Scheme = "distributed" // a peer at each site, as in a real grid
	Central     Scheme = "central"     // one peer that owns no machine takes all jobs and sees all [SS 2.2]
	Ideal       Scheme = "ideal"       // one virtual machine of 1 MHz nodes, jobs perfectly malleable [SS 2.3]
)

// Config describes a simulated grid. The peers' own settings have the defaults of
// [rules.Config].
type Config struct {
	Seed         uint64
	Sites        []Site
	Scheme       Scheme
	Policy       policy.Policy       // of the peers; the same serves all, since policies keep nothing
	Fallback     policy.Policy       // decides the rounds in which Policy fails, as at a live site; nil: the simulation ends with the first failure
	Tuning       rules.RuntimeConfig // its Policy is set from the above
	Partners     int                 // size of each site's partner set, drawn from the seed; 0: all others
	Network      Network
	Crashes      []Crash
	Bytes        bool             // count the bytes of messages, which takes time
	JobLatencies []*JobLatencies  // of the jobs of the workload, wherever they run; nil, or nil for a job: those of the site that runs it
	Requests     []*protocol.Spec // what jobs of the workload request beyond CPUs and time; nil, or nil for a job: nothing
	Check        int              // moments between two full checks of the invariants; 0: only at the end

	History    int // how many of the first jobs go where they were submitted and are not measured
	LocalShare int // of the other jobs, in parts per million, that do so too; drawn from the seed
	Protect    rules.Protection
	// FairShare says whose jobs have the next round, at all sites. With a half-life, the users are those of the workload.
	FairShare rules.FairShare
	Stage     Stage
	PowerLow  int // bounds of the jobs' power in parts per million of the sites'; drawn from the seed. 0 both: all of it
	PowerHigh int
	Perturb   protocol.Duration // bound of the error that is drawn for each planned wait; 0: none

	Record func(protocol.SiteName) Recorder // of the first life of a site's peer; nil: none is recorded

	Applications []Application // that are submitted beside the workload, in the order of their times
	Exchange     cost.Exchange // the same at all sites
	// Begin is the time of the calendar at which the workload begins, for all that goes by
	// it: Costs and Waiting of the sites. 0: the beginning of 2026.
	Begin protocol.Instant
}

// requestOf is what a job of the workload requests beyond CPUs and time; nil: nothing.
func (c Config) requestOf(index int32) *protocol.Spec {
	if int(index) < len(c.Requests) {
		return c.Requests[index]
	}
	return nil
}

// specOf describes a job of the workload.
func (c Config) specOf(job *workload.Job, index int32) (spec protocol.Spec) {
	if own := c.requestOf(index); own != nil {
		spec = *own
	}
	spec.CPUs, spec.WallTime, spec.Power, spec.Data = job.CPUs, job.Estimate, c.powerOf(job, index), c.dataOf(index)
	return spec
}

// Recorder records a peer, as peer/recording does for a live one.
type Recorder interface {
	// Listen returns the configuration that the peer is made with.
	Listen(cfg rules.Config) rules.Config
	// Begin records what the peer is made from, before its first step.
	Begin(cfg rules.Config, seed uint64, rows []row.Record)
	// Stepped records a step.
	Stepped(now protocol.Instant, ev event.Event, ready event.Ready)
}

// Network is what happens to messages. The zero value delivers all at once, in
// order.
type Network struct {
	Link  // all that are not named below
	Links []LinkBetween
	Cuts  []Cut
}

// Link is what happens to the messages between two sites, in either direction.
type Link struct {
	Latency   protocol.Duration // of every message
	Jitter    protocol.Duration // drawn from 0 to this, added; reorders messages
	Loss      float64           // probability that a message is lost
	Duplicate float64           // probability that a message comes twice
}

// LinkBetween is the link of two sites. Later ones take the place of earlier ones.
type LinkBetween struct {
	A, B int // sites; a negative B means all other sites
	Link
}

// Cut parts two sites for a while.
type Cut struct {
	A, B  int // sites; a negative B means all other sites
	From  protocol.Instant
	Until protocol.Instant
}

// Crash stops a site's peer, which loses all but its rows, and starts it again.
// The batch system goes on.
type Crash struct {
	Site int
	At   protocol.Instant
	For  protocol.Duration
}

// MachineOf is a machine of a workload model, with its name in lower case. As in
// [SS 3] a node runs one job at a time.
func MachineOf(m workload.Machine) Machine {
	return Machine{
		Name:  protocol.SiteName(strings.ToLower(m.Name)),
		Nodes: m.Nodes, CPUsPerNode: m.CPUsPerNode, MHz: m.MHz, WholeNode: true,
	}
}
