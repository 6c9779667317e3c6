package protocol

import (
	"fmt"
	"slices"
)

// An array with [AfterCorr] waits with each element for another job. As long as the elements are no jobs, the term of the
// array has what is known of all; one that becomes a job gets a dependency of its own: on the job for which it waits, or, while
// nothing is known of that and it is of another origin, still on the array, with what becomes of it in Met and Never.

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
func (d *Dependency) OfElement(e Element) *Dependency {
	if !d.Corresponds() {
		return d
	}
	one := *d
	one.Terms = slices.Clone(d.Terms)
	for i := range one.Terms {
		if t := &one.Terms[i]; t.Kind == AfterCorr {
			*t = t.ofElement(e)
		}
	}
	return &one
}

// ofElement is the term of one element. Of another origin it is not known yet whether the array has an element of that index:
// the ID that it would have may be another job's, so the term goes on to name the array.
func (t DependencyTerm) ofElement(e Element) DependencyTerm {
	out := DependencyTerm{Kind: AfterOK, Job: Element{Array: t.Job, Index: e.Index}.ID()}
	switch {
	case t.MetFor.Has(e.Index):
		out.Met = 1
	case t.NeverFor.Has(e.Index):
		out.Never = t.counterpartFailed(e.Index)
	case t.Job.Origin() != e.Array.Origin():
		return DependencyTerm{Kind: AfterCorr, Job: t.Job}
	}
	return out
}

func (t DependencyTerm) counterpartFailed(index int) string {
	return fmt.Sprintf("job %v has not ended as %v, and this job waits with %s", Element{Array: t.Job, Index: index}, Completed, t.Kind)
}

// CounterpartEnded is the term of [AfterCorr] of an element that is a job, once the element of the same index has ended at an
// instant, as COMPLETED or otherwise.
func (t DependencyTerm) CounterpartEnded(index int, completed bool, at Instant) DependencyTerm {
	switch {
	case t.Kind != AfterCorr || !t.Open():
	case completed:
		t.Met = max(1, at)
	default:
		t.Never = t.counterpartFailed(index)
	}
	return t
}

// NoCounterparts is the term of [AfterCorr] of an array with some elements, once it is known at an instant that no other element
// of the array that it names is going to end, and why. What is known of some stays.
func (t DependencyTerm) NoCounterparts(own Indexes, why string, at Instant) DependencyTerm {
	if t.Kind != AfterCorr || !t.Open() {
		return t
	}
	if t.MetFor.IsZero() {
		t.Never = why
	}
	t.NeverFor = own.Without(t.MetFor)
	return t.AllKnown(own, at)
}

// AllKnown is the term once it is known at an instant of the counterparts of all elements, of which some are given, how they have
// ended. Until then it is as before.
func (t DependencyTerm) AllKnown(own Indexes, at Instant) DependencyTerm {
	if t.Kind == AfterCorr && t.Open() && own.Without(t.MetFor).Without(t.NeverFor).IsZero() {
		t.Met = max(1, at)
	}
	return t
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
