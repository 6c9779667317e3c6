package rounds_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/rounds"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPack: jobs of one application, of equal tens here, are in a round together; each has as many rows
// as its last digit says.
func TestPack(t *testing.T) {
	t.Parallel()
	together := func(a, b protocol.JobID) bool { return a/10 == b/10 }
	rowsOf := func(id protocol.JobID) []protocol.Spec {
		return slices.Repeat([]protocol.Spec{{Request: protocol.Request{Job: id}}}, int(id%10))
	}
	for name, tt := range map[string]struct {
		ids  []protocol.JobID
		room int
		rows int
		left []protocol.JobID
	}{
		"none":                            {nil, 5, 0, nil},
		"all fit":                         {[]protocol.JobID{11, 12, 22}, 5, 5, nil},
		"an application does not":         {[]protocol.JobID{11, 21, 25, 31}, 5, 2, []protocol.JobID{21, 25}},
		"a later one still fits":          {[]protocol.JobID{19, 21}, 5, 1, []protocol.JobID{19}},
		"neighbours only are in the same": {[]protocol.JobID{13, 23, 12}, 5, 5, []protocol.JobID{23}},
	} {
		room := tt.room
		specs, left := rounds.Pack(tt.ids, together, rowsOf, func(rows []protocol.Spec) bool {
			if len(rows) > room {
				return false
			}
			room -= len(rows)
			return true
		})
		if len(specs) != tt.rows || !slices.Equal(left, tt.left) {
			t.Errorf("%s: %d rows, left %v", name, len(specs), left)
		}
	}
}
