package protocol

import (
	"fmt"
	"slices"
)

// An array with [AfterCorr] waits with each element for another job. As long as the elements are no jobs, the term of the
// array has what is known of all; one that becomes a job gets a dependency of its own.

// Corresponds says whether elements of the job array wait for those of another one.
func (d *Dependency) Corresponds() bool {
	return d != nil && slices.ContainsFunc(d.Terms, func(t DependencyTerm) bool { return t.Kind == AfterCorr })
}

// MetOf are those of some elements of the job array that may start, as far as other jobs matter, at an instant.
func (d *Dependency) MetOf(elements Indexes, now Instant) Indexes {
	if d == nil {
		return elements
	}
	return d.combine(!d.Any, elements, func(t *DependencyTerm) (corresponding Indexes, whole bool) {
		return t.MetFor, t.Met != 0 && t.Met <= now
	})
}

// NeverOf are those that never start.
func (d *Dependency) NeverOf(elements Indexes) Indexes {
	if d == nil {
		return nil
	}
	return d.combine(d.Any, elements, func(t *DependencyTerm) (corresponding Indexes, whole bool) {
		return t.NeverFor, t.Never != ""
	})
}

// combine are those of some elements of which something is true by all terms, or by one. Of [AfterCorr] it is true of the
// corresponding elements, of another term of the whole array or of none.
func (d *Dependency) combine(all bool, elements Indexes, by func(*DependencyTerm) (corresponding Indexes, whole bool)) (some Indexes) {
	if all {
		some = elements
	}
	for i := range d.Terms {
		of, whole := by(&d.Terms[i])
		switch {
		case d.Terms[i].Kind == AfterCorr:
			of = of.And(elements)
		case whole:
			of = elements
		}
		if all {
			some = some.And(of)
		} else {
			some = some.Or(of)
		}
	}
	return some
}

// OfElement is the dependency of an element of the array that becomes a job.
func (d *Dependency) OfElement(index int) *Dependency {
	if !d.Corresponds() {
		return d
	}
	one := *d
	one.Terms = slices.Clone(d.Terms)
	for i := range one.Terms {
		if t := &one.Terms[i]; t.Kind == AfterCorr {
			*t = t.ofElement(index)
		}
	}
	return &one
}

func (t DependencyTerm) ofElement(index int) DependencyTerm {
	counterpart := Element{Array: t.Job, Index: index}
	out := DependencyTerm{Kind: AfterOK, Job: counterpart.ID()}
	switch {
	case t.MetFor.Has(index):
		out.Met = 1
	case t.NeverFor.Has(index):
		out.Never = fmt.Sprintf("job %v has not ended as %v, and this job waits with %s", counterpart, Completed, t.Kind)
	}
	return out
}

// Equal says whether two terms are the same in everything.
func (t DependencyTerm) Equal(other DependencyTerm) bool {
	return t.Kind == other.Kind && t.Job == other.Job && t.Delay == other.Delay && t.Met == other.Met && t.Never == other.Never &&
		t.MetFor.Equal(other.MetFor) && t.NeverFor.Equal(other.NeverFor)
}

// CounterpartsEnded is the term of [AfterCorr] once elements of the array that it names have ended in a state.
func (t DependencyTerm) CounterpartsEnded(elements Indexes, state State) DependencyTerm {
	news := elements.Without(t.MetFor).Without(t.NeverFor)
	switch {
	case t.Kind != AfterCorr || news.IsZero():
	case state == Completed:
		t.MetFor = t.MetFor.Or(news)
	default:
		t.NeverFor = t.NeverFor.Or(news)
	}
	return t
}
