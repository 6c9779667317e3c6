package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// jobNames reads the name of a job, of an array or of elements of one, as ID, ID_7 and ID_[1-5,9]. Each element gets a name
// of its own.
func (c *slurmCall) jobNames(text string) (names []protocol.JobName, err error) {
	name, err := protocol.ParseJobName(c.ownID(strings.TrimSpace(text)))
	if err != nil {
		return nil, err
	}
	return eachElement(name)
}

// idOf is the ID of a job, of an array or of an element that [slurmCall.jobNames] has read.
func idOf(name protocol.JobName) protocol.JobID {
	id, _ := name.ID() // it is never of several elements
	return id
}

// nameOf is the name of a job, or of the elements that a line of the queue stands for.
func nameOf(job *view.Job) protocol.JobName {
	switch {
	case job.Array != nil:
		return protocol.JobName{Job: job.Array.ID, Elements: job.Array.Elements}
	case job.Element != nil:
		return protocol.JobName{Job: job.Element.Array, Elements: protocol.IndexesOf(job.Element.Index)}
	}
	return protocol.JobName{Job: job.ID}
}

// nameSet finds jobs by their names, of which there may be thousands.
type nameSet struct {
	ids      map[protocol.JobID]bool // of jobs and arrays
	elements map[protocol.Element]bool
}

func newNameSet(names []protocol.JobName) nameSet {
	set := nameSet{map[protocol.JobID]bool{}, map[protocol.Element]bool{}}
	for _, name := range names {
		if name.Elements.IsZero() {
			set.ids[name.Job] = true
		}
		for index := range name.Elements.All() {
			set.elements[protocol.Element{Array: name.Job, Index: index}] = true
		}
	}
	return set
}

// has says whether one of the names is that of a job, or of the array that it is of. Several elements in one view have only
// the name of their array. An element that an array does not have may have the ID of another job, but never its name.
func (s nameSet) has(job *view.Job) bool {
	return s.ids[nameOf(job).Job] || job.Array == nil && s.ids[job.ID] || job.Element != nil && s.elements[*job.Element]
}

// only leaves out the jobs that have none of the names.
func (s nameSet) only(jobs []view.Job) []view.Job {
	return slices.DeleteFunc(jobs, func(job view.Job) bool { return !s.has(&job) })
}

// listed are the jobs of the queue that are named, or all. Pending elements of an array share lines; those that are named
// themselves have their own.
func (c *slurmCall) listed(ctx context.Context, wanted api.Listing, names []protocol.JobName) (jobs []view.Job, err error) {
	var all view.Queue
	if len(names) == 0 {
		all, err = c.client().WholeQueue(ctx, wanted)
		return all.Jobs, err
	}
	whole := slices.DeleteFunc(slices.Clone(names), func(name protocol.JobName) bool { return !name.Elements.IsZero() })
	if len(whole) > 0 {
		wanted.Jobs = idsOf(whole)
		all, err = c.client().WholeQueue(ctx, wanted)
		if err != nil {
			return nil, err
		}
		jobs = newNameSet(whole).only(all.Jobs)
	}
	seen := map[protocol.JobID]bool{}
	for i := range jobs {
		seen[nameOf(&jobs[i]).Job], seen[jobs[i].ID] = true, true
	}
	// The rest are elements, and may be so by IDs of their own.
	rest := slices.DeleteFunc(slices.Clone(names), func(name protocol.JobName) bool { return seen[name.Job] || seen[idOf(name)] })
	if len(rest) == 0 {
		return jobs, nil
	}
	wanted.Jobs, wanted.Elements = idsOf(rest), true
	all, err = c.client().WholeQueue(ctx, wanted)
	jobs = append(jobs, newNameSet(rest).only(all.Jobs)...)
	slices.SortFunc(jobs, func(x, y view.Job) int { return cmp.Compare(x.ID, y.ID) })
	return jobs, err
}

func idsOf(names []protocol.JobName) (ids []protocol.JobID) {
	for _, name := range names {
		ids = append(ids, idOf(name))
	}
	return ids
}

// eachJob does something for each of several jobs, and goes on after a refusal of the peer; an error of another kind ends it.
func eachJob(names []protocol.JobName, do func(protocol.JobName) error, refuse func(protocol.JobName, view.Refusal)) error {
	for _, name := range names {
		err := do(name)
		refused, ok := errorOf(err)
		switch {
		case err == nil:
		case ok:
			refuse(name, refused.Refusal)
		default:
			return err
		}
	}
	return nil
}
