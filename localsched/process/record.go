package process

import (
	"github.com/switchyard-hpc/switchyard/localsched/cgroup"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The names in a job's directory beside those of every spool.
const (
	startedFile = "started"
	placedFile  = "place"
	exitFile    = "exit"
	stepsFile   = "steps"
	logFile     = "shim.log"
)

// jobRecord is job.json.
type jobRecord struct {
	spool.Job
	Seq   uint64            `json:"seq"`                 // the place in the order of submission
	Grace protocol.Duration `json:"grace_ms"`            // from TERM to KILL
	Power int               `json:"power_ppm,omitempty"` // that it is taken to draw, as in [protocol.Request]

	MaxProcesses int `json:"max_processes,omitempty"` // and threads; 0: any number

	Socket   string `json:"socket,omitempty"`   // as in [Config]
	Commands string `json:"commands,omitempty"` // as in [Config]
}

// limits are what the job's processes may have together. All nodes are this machine.
func (r *jobRecord) limits() cgroup.Limits {
	request := r.Submission.Spec.Request
	return cgroup.Limits{MemoryMB: request.TotalMemoryMB(), Processes: r.MaxProcesses}
}

// placeRecord is the file place: where the engine wants the job, if its places have names, for how long, and
// which devices the job is given.
type placeRecord struct {
	Place   string   `json:"place"`
	Devices []Device `json:"devices,omitempty"` // of the job
	Others  []Device `json:"others,omitempty"`  // of the machine

	Limit protocol.Duration `json:"limit_ms,omitempty"` // time limit, if it is shorter than the one that the job asks for

	NodeCPUs int `json:"node_cpus,omitempty"` // that a job has which has the node for itself; 0: those that it asks for

	Claim string `json:"claim,omitempty"` // directory from which the file started comes, see [withdrawClaim]; empty: the job's own
}

// startedRecord is the file started: the shim that watches the job, or that no
// shim ever may.
type startedRecord struct {
	processID
	Started   protocol.Instant  `json:"started_ms,omitempty"`
	Launched  protocol.Duration `json:"launched_ms,omitempty"` // the same, by the steady clock
	Began     protocol.Duration `json:"began_ms,omitempty"`    // when the engine started the job, on the same clock: it plans with that
	Place     string            `json:"place,omitempty"`       // where the job runs
	Limit     protocol.Duration `json:"limit_ms,omitempty"`    // as in [placeRecord]
	Devices   []Device          `json:"devices,omitempty"`     // that it has
	Withdrawn bool              `json:"withdrawn,omitempty"`
	Group     cgroup.Group      `json:"cgroup,omitzero"` // of its processes
}

// exitRecord is the file exit.
type exitRecord struct {
	spool.End
	Ended       protocol.Instant `json:"ended_ms"`
	Notice      string           `json:"notice,omitempty"`      // what is wrong with the job's report of its usage
	Uncontained string           `json:"uncontained,omitempty"` // how the job was not contained as it should be
}

// readExit reads how a job ended.
func readExit(dir string) (exitRecord, error) { return spool.ReadEnd[exitRecord](dir, exitFile) }
