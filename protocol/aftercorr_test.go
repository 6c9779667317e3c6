package protocol_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAfterCorr: of an array with aftercorr those elements may start whose counterparts have COMPLETED, or all whose
// other terms are met where one is enough.
func TestAfterCorr(t *testing.T) {
	t.Parallel()
	elements := protocol.IndexesOf(0, 1, 2, 3)
	for _, tt := range []struct {
		text, met, never string
	}{
		{"aftercorr:1000000000001", "1", "2"},
		{"aftercorr:1000000000001,afterok:1000000000099", "", "2"},
		{"aftercorr:1000000000001?afterok:1000000000099", "1", ""},
		{"aftercorr:1000000000001,aftercorr:1000000000050", "", "2"},
		{"aftercorr:1000000000001?aftercorr:1000000000050", "1", ""},
	} {
		d, err := protocol.ParseDependency(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		for i, term := range d.Terms {
			if term.Job == 1_000_000_000_001 {
				term = term.CounterpartsEnded(protocol.IndexesOf(1, 7), protocol.Completed)
				term = term.CounterpartsEnded(protocol.IndexesOf(1, 2), protocol.Failed) // what is known of 1 stays
				d.Terms[i] = term
			}
		}
		if !d.Corresponds() || d.MetOf(elements, 5).String() != tt.met || d.NeverOf(elements).String() != tt.never {
			t.Errorf("%s: met %v, never %v, want %q and %q", tt.text, d.MetOf(elements, 5), d.NeverOf(elements), tt.met, tt.never)
		}
		for index := range elements.All() {
			one := d.OfElement(protocol.Element{Array: 1_000_000_000_500, Index: index})
			if got, want := one.MetAt(5), d.MetOf(elements, 5).Has(index); got != want {
				t.Errorf("%s: element %d alone may start: %t, want %t", tt.text, index, got, want)
			}
			if got, want := one.NeverReason() != "", d.NeverOf(elements).Has(index); got != want {
				t.Errorf("%s: element %d alone never starts: %t, want %t", tt.text, index, got, want)
			}
		}
	}
}

// TestAfterCorrOfOtherTerms: terms that are about whole jobs hold for all elements.
func TestAfterCorrOfOtherTerms(t *testing.T) {
	t.Parallel()
	elements := protocol.IndexesOf(0, 1)
	var none *protocol.Dependency
	if none.Corresponds() || !none.MetOf(elements, 1).Equal(elements) || !none.NeverOf(elements).IsZero() || none.OfElement(protocol.Element{Index: 1}) != nil {
		t.Error("no dependency lets all elements start")
	}
	d, _ := protocol.ParseDependency("afterok:1000000000001")
	if d.Corresponds() || d.OfElement(protocol.Element{}) != d || !d.MetOf(elements, 1).IsZero() {
		t.Errorf("%+v", d)
	}
	d.Terms[0] = d.Terms[0].Ended(protocol.Completed, 3)
	if !d.MetOf(elements, 3).Equal(elements) {
		t.Errorf("%+v", d)
	}
	d.Terms[0] = protocol.DependencyTerm{Kind: protocol.AfterOK, Job: 1_000_000_000_001}.Ended(protocol.Failed, 3)
	if !d.NeverOf(elements).Equal(elements) {
		t.Errorf("%+v", d)
	}
}

// TestAfterCorrIsForArrays: a job that is no array waits by other kinds.
func TestAfterCorrIsForArrays(t *testing.T) {
	t.Parallel()
	d, _ := protocol.ParseDependency("aftercorr:1000000000001")
	job := protocol.Job{Spec: protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: 1}}, Conditions: protocol.Conditions{Dependency: d}}
	if err := job.Check(); err == nil {
		t.Error("a job on its own waits with aftercorr")
	}
	job.Array = &protocol.Array{Indexes: protocol.IndexesOf(1)}
	if err := job.Check(); err != nil {
		t.Error(err)
	}
}
