package protocol_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// TestJobsInJSON: rows, spools and the API have one form of a job, which loses nothing of it: not
// even bytes that are no UTF-8.
func TestJobsInJSON(t *testing.T) {
	t.Parallel()
	want := protocoltest.Full[protocol.Job]()
	want.Payload.Args = append(want.Payload.Args, "\xff", "")
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var got protocol.Job
	if err = decoder.Decode(&got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v\nas   %s", err, got, want, data)
	}
	data, err = json.Marshal(protocol.Job{})
	if want := `{"spec":{"cpus":0,"wall_time_ms":0}}`; err != nil || string(data) != want {
		t.Errorf("of nothing: %s, %v, want %s", data, err, want)
	}
}

// TestDescribed: what a user describes is all that a Spec says but for what peers say of it.
func TestDescribed(t *testing.T) {
	t.Parallel()
	spec := protocoltest.Full[protocol.Spec]()
	got := protocoltest.Unset(spec.Described())
	want := []string{"Job", "PowerClass", "Priority", "User", "Submitted", "MHz", "Mflops", "StageIn", "StageOut", "InPlace", "Restarts", "PredictedRunTime", "Intensity", "Computing", "MeasuredPower"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("peers say %q, want %q", got, want)
	}
}
