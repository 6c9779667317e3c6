package row

import (
	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Application is an application of this origin.
type Application struct { //nolint:recvcheck // it is asked by pointer, and given out by value
	protocol.Application

	ID        protocol.JobID   `json:"id"` // of its first component
	Count     int              `json:"count"`
	User      string           `json:"user"`
	Submitted protocol.Instant `json:"submitted"`
	Spent     protocol.Micro   `json:"spent,omitempty"`  // real cost of the components that have ended
	Broken    string           `json:"broken,omitempty"` // which limit the first component to break one has broken, and why
	Apart     []EndedGroup     `json:"apart,omitempty"`  // groups that have ended, of which not all components started together
	Ran       []int            `json:"ran,omitempty"`    // groups of which a component has run to its end, and so cannot start with the others again
}

// Deadline is when the application should be over, if it has a max_time.
func (a *Application) Deadline() protocol.Instant { return a.Submitted.Add(a.MaxTime) }

// EndedGroup is a group of components that did not start together.
type EndedGroup struct {
	Number int    `json:"number"`
	Reason string `json:"reason"` // why it has ended
}

// Executions are the last executions of a component at one site.
type Executions struct {
	User      string            `json:"user"`
	Component string            `json:"component"`
	Site      protocol.SiteName `json:"site"`
	Runs      []Execution       `json:"runs"`
}

// Execution is a run of a component, and what was predicted for it.
type Execution struct {
	gamma.Execution

	Predicted protocol.Duration `json:"predicted,omitempty"` // run time; 0: nothing was
	Censored  bool              `json:"censored,omitempty"`  // it was ended at its time limit
}

func (Application) table() Table { return ApplicationTable }

func (Executions) table() Table { return ExecutionTable }
