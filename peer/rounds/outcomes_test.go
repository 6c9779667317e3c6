package rounds_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestOutcomes: an outcome is given until it is delivered, and the oldest are dropped.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	var o rounds.Outcomes
	check := func(when string, first, last protocol.JobID) (end uint64) {
		t.Helper()
		got, end := o.Pending()
		if len(got) != int(last-first)+1 || got[0].Job != first || got[len(got)-1].Job != last {
			t.Fatalf("%s: %+v, want jobs %d to %d", when, got, first, last)
		}
		return end
	}
	if got, end := o.Pending(); got != nil || end != 0 {
		t.Fatalf("at first %v, %d", got, end)
	}
	o.Add(policy.Outcome{Job: 1})
	o.Add(policy.Outcome{Job: 2})
	first := check("two", 1, 2)
	o.Add(policy.Outcome{Job: 3})
	second := check("not delivered", 1, 3)
	o.Delivered(first)
	check("added since", 3, 3)
	o.Delivered(second)
	o.Delivered(first) // of a round that was answered late
	if got, _ := o.Pending(); got != nil {
		t.Fatalf("all are delivered, but %v", got)
	}
	for job := range protocol.JobID(policy.MaxOutcomes + 10) {
		o.Add(policy.Outcome{Job: job})
	}
	check("more than the most", 10, policy.MaxOutcomes+9)
}
