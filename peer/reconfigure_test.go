package peer_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestTuningIsWhole: no part of a tuning is lost on its way into a configuration,
// and nothing else of that changes.
func TestTuningIsWhole(t *testing.T) {
	t.Parallel()
	want := rules.RuntimeConfig{
		Policy: policy.Describe(tc.New(tc.Config{Epsilon: 9})), Initiation: policy.Receiver,
		LocalWaitThreshold: 1, CheckInterval: 2, VolunteerBelow: 3, RecheckJobs: 4, JobsPerVolunteer: 5, StayLocal: true, QuoteTimeout: 6, RoundJobs: 7, PartnersPerRound: 8,
		CycleInterval: 9, MaxJobsPerCycle: 10, MaxUserStaging: 11, Moves: rules.Moves{Interval: 12, Most: 13},
	}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(want)) {
		if reflect.ValueOf(want).FieldByIndex(field.Index).IsZero() {
			t.Errorf("the test leaves %s out", field.Name)
		}
	}
	before := rules.Config{Site: "a", Number: 1, RetryInitial: protocol.Second}
	after := before.WithRuntime(want)
	if got := after.Runtime(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if back := after.WithRuntime(before.Runtime()); !reflect.DeepEqual(back, before) {
		t.Errorf("tuned back: %+v, want %+v", back, before)
	}
}
