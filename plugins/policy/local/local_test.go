package local_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestJobsStay: every job that its own site quotes stays there, whatever others
// offer, up to what the site accepts.
func TestJobsStay(t *testing.T) {
	t.Parallel()
	const never = protocol.Never
	sites := []policy.Site{{Name: "a", MaxJobs: 9}, {Name: "b", MaxJobs: 2}}
	for name, tt := range map[string]struct {
		self int
		awt  []protocol.Duration // of a, of b; row by row
		want map[int]protocol.Duration
	}{
		"a better partner is passed over":      {1, []protocol.Duration{0, 500}, map[int]protocol.Duration{0: 500}},
		"no quote, no decision":                {1, []protocol.Duration{0, never, 0, 7}, map[int]protocol.Duration{1: 7}},
		"no more than the site accepts":        {1, []protocol.Duration{0, 1, 0, 2, 0, 3}, map[int]protocol.Duration{0: 1, 1: 2}},
		"a peer without a site places nothing": {-1, []protocol.Duration{0, 0}, map[int]protocol.Duration{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := policy.Snapshot{Self: tt.self, Sites: sites, Jobs: make([]policy.Job, len(tt.awt)/2), AWT: tt.awt}
			decisions, hint, err := local.New().Decide(t.Context(), in)
			if err != nil || hint != nil {
				t.Fatalf("hint %v, error %v", hint, err)
			}
			got := map[int]protocol.Duration{}
			for _, d := range decisions {
				if d.Site != tt.self || d.Reason == "" {
					t.Errorf("decision %+v", d)
				}
				got[d.Job] = d.Wait
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("placed %v, want %v", got, tt.want)
			}
		})
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	info := policy.Describe(local.New())
	if info.Name != "local" || !info.LocalOnly() || !info.SkipsRoundBelowThreshold() || len(info.Initiations) != 4 {
		t.Errorf("Describe = %+v", info)
	}
}
