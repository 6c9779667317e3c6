package row_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestJobKeys: keys sort as the IDs do, and are read again.
func TestJobKeys(t *testing.T) {
	t.Parallel()
	var keys []string
	for _, id := range []protocol.JobID{protocol.NewJobID(1, 7), protocol.NewJobID(1, 10), protocol.NewJobID(2, 1), protocol.NewJobID(90, 1)} {
		key := row.JobKey(id)
		keys = append(keys, key)
		if got, err := row.ParseJobKey(key); err != nil || got != id {
			t.Errorf("%s is read as %v, %v; want %v", key, got, err, id)
		}
	}
	if !slices.IsSorted(keys) {
		t.Errorf("not sorted: %q", keys)
	}
	for _, key := range []string{"", "0000000000000000", "x"} {
		if got, err := row.ParseJobKey(key); err == nil {
			t.Errorf("%q is read as %v", key, got)
		}
	}
}
