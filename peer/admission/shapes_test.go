package admission_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestShapeNotices: users hear once that the policy uses the first of several counts of CPUs, unless it chooses one.
func TestShapeNotices(t *testing.T) {
	t.Parallel()
	d := desk()
	several := job(4)
	several.Component.Shapes = []protocol.Shape{{CPUs: 8}}
	jobs := []protocol.Job{job(1), several, several}
	d.Policy = &policy.Description{Name: "tc"}
	want := []string{"--cpus names several counts of CPUs: the policy tc of this site chooses none, and uses the first, 4"}
	if got := d.ShapeNotices(jobs); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	d.Policy = &policy.Description{Name: "iss", Can: []policy.Capability{policy.Applications}}
	if got := d.ShapeNotices(jobs); got != nil {
		t.Errorf("under a policy that chooses: %q", got)
	}
}
