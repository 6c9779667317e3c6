package view

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Array is what a view of a job array, or of several elements of one, says besides what they have alike.
type Array struct {
	ID       protocol.JobID   `json:"id"`
	Elements protocol.Indexes `json:"elements"` // for which the view stands
	Throttle int              `json:"throttle,omitempty"`

	// Of the whole array, by the states of its elements.
	Pending   int `json:"pending,omitempty"`
	Running   int `json:"running,omitempty"`
	Completed int `json:"completed,omitempty"`
	Failed    int `json:"failed,omitempty"`
	Cancelled int `json:"cancelled,omitempty"`
	Timeout   int `json:"timeout,omitempty"`
	NodeFail  int `json:"node_fail,omitempty"`

	Undelivered int `json:"undelivered,omitempty"` // elements that have ended with files that are not where their user wants them

	NeverJobs protocol.Indexes `json:"never_jobs,omitzero"` // elements that were cancelled before they were to be placed: nothing else is known of them
}

// Text counts the elements of the array by their states.
func (a *Array) Text() string {
	var parts []string
	for _, one := range []struct {
		elements int
		state    protocol.State
	}{
		{a.Pending, protocol.Pending},
		{a.Running, protocol.Running},
		{a.Completed, protocol.Completed},
		{a.Failed, protocol.Failed},
		{a.Cancelled, protocol.Cancelled},
		{a.Timeout, protocol.Timeout},
		{a.NodeFail, protocol.NodeFail},
	} {
		if one.elements > 0 {
			parts = append(parts, protocol.Count(one.elements, "element")+" "+one.state.String())
		}
	}
	return strings.Join(parts, ", ")
}

// Label is how people name the job: by its ID, as an element of an array as ID_7, and several of one as ID_[1-5,9].
func (v *Job) Label() string {
	switch {
	case v.Array != nil:
		return v.Array.ID.String() + "_[" + v.Array.list() + "]"
	case v.Element != nil:
		return v.Element.String()
	}
	return v.ID.String()
}

// list is the elements as squeue lists them.
func (a *Array) list() string {
	return protocol.Array{Indexes: a.Elements, Throttle: a.Throttle}.String()
}

// Listed is the job as lists of finished jobs have it: of an array, those elements that are not there by themselves; false:
// there are none.
func (v *Job) Listed() (Job, bool) {
	if v.Array == nil {
		return *v, true
	}
	one, array := *v, *v.Array
	array.Elements, array.Throttle = array.NeverJobs, 0
	one.Array, one.State, one.Started, one.ExitCode = &array, protocol.Cancelled, 0, 0
	return one, !array.NeverJobs.IsZero()
}

// AsElement is what is known of an element that an array which has ended never made a job of; false: it is none.
func (v *Job) AsElement(index int) (Job, bool) {
	if v.Array == nil || !v.Array.NeverJobs.Has(index) {
		return Job{}, false
	}
	one := *v
	one.Array, one.Element = nil, &protocol.Element{Array: v.Array.ID, Index: index}
	one.ID, one.State, one.Started, one.ExitCode, one.Reason = one.Element.ID(), protocol.Cancelled, 0, 0, ""
	return one, true
}
