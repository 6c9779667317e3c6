package policy_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
)

// TestAt: the quotes of one job lie together, in the order of the sites.
func TestAt(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{Sites: make([]policy.Site, 3), Jobs: make([]policy.Job, 4)}
	want := 0
	for j := range in.Jobs {
		for s := range in.Sites {
			if got := in.At(j, s); got != want {
				t.Errorf("At(%d, %d) = %d, want %d", j, s, got, want)
			}
			want++
		}
	}
}
