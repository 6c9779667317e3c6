package peer_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// TestDescriptionInRows: rows keep all that a job's user has said of it.
func TestDescriptionInRows(t *testing.T) {
	t.Parallel()
	job := protocoltest.Full[protocol.Job]()
	for table, want := range map[row.Table]row.Row{
		row.JobTable:         row.Job{Spec: job.Spec, Phase: row.JobInGridQueue, State: protocol.Pending, Component: &job.Component, Export: job.Export},
		row.GuestTable:       row.Guest{Spec: job.Spec, Phase: row.GuestPrepared},
		row.PayloadTable:     row.Payload{Payload: job.Payload},
		row.RunTable:         row.Run{Phase: row.RunEnded, Outcome: new(protocoltest.Full[protocol.Outcome]())},
		row.ApplicationTable: row.Application{Application: protocoltest.Full[protocol.Application]()},
	} {
		data, err := row.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := row.Decode(table, data); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("table %s: %v\ngot  %+v\nwant %+v", table, err, got, want)
		}
	}
}

// TestDescriptionInViews: a job's view has all that its user has said of it, but for what queue,
// status and explain do not show.
func TestDescriptionInViews(t *testing.T) {
	t.Parallel()
	hidden := []string{"DataOut", "Licenses", "QOS"}
	spec := protocoltest.Full[protocol.Spec]()
	view := reflect.ValueOf(view.Described(spec))
	described := spec.Described()
	for _, group := range []any{described.Request, described} {
		for field, value := range reflect.ValueOf(group).Fields() {
			name := field.Name
			if value.IsZero() || field.Anonymous {
				continue // a peer says it
			}
			shown := view.FieldByName(name)
			if slices.Contains(hidden, name) {
				if shown.IsValid() {
					t.Errorf("%s is in the view, and not hidden any more", name)
				}
				continue
			}
			if !shown.IsValid() || !reflect.DeepEqual(shown.Interface(), value.Interface()) {
				t.Errorf("the view does not show %s", name)
			}
		}
	}
}

// TestRequestBytes: no job takes more of a quote request than it is calculated with.
func TestRequestBytes(t *testing.T) {
	t.Parallel()
	spec := protocoltest.Full[protocol.Spec]()
	spec.MHz, spec.Mflops, spec.Data, spec.DataOut = 1<<31-1, 1<<31-1, 1<<62, 1<<62
	for _, field := range reflect.ValueOf(&spec).Elem().Fields() {
		if field.Kind() == reflect.String {
			field.SetString(strings.Repeat("x", 1000))
		}
	}
	const frame = 3 // of the job within the request
	if got, most := proto.Size(commonv1.EncodeSpec(spec.Asked()))+frame, quoting.RequestBytes(&spec, true); got > most {
		t.Errorf("it has %d bytes, and is reckoned with %d", got, most)
	}
}
