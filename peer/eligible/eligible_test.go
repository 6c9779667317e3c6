package eligible_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	job := protocol.Spec{Request: protocol.Request{CPUs: 4, WallTime: protocol.Hour, MemoryMB: 100}, Sites: []protocol.SiteName{"a"}, MHz: 1000}
	machine := protocol.Capacity{CPUs: 4, Nodes: 1, MemoryMB: 100, MaxWallTime: protocol.Hour}
	cases := map[string]struct {
		change func(s *eligible.Site, spec *protocol.Spec)
		want   eligible.Verdict
		why    string
	}{
		"it may":               {func(*eligible.Site, *protocol.Spec) {}, eligible.Eligible, ""},
		"any site may":         {func(_ *eligible.Site, spec *protocol.Spec) { spec.Sites = nil }, eligible.Eligible, ""},
		"another is named":     {func(s *eligible.Site, _ *protocol.Spec) { s.Name = "b" }, eligible.NotNamed, "not among the sites that the job names"},
		"no card":              {func(s *eligible.Site, _ *protocol.Spec) { s.Capacity = nil }, eligible.NotKnown, "nothing is known"},
		"it gets none":         {func(s *eligible.Site, _ *protocol.Spec) { s.Barred = "out" }, eligible.Barred, "out"},
		"too many CPUs":        {func(_ *eligible.Site, spec *protocol.Spec) { spec.CPUs = 5 }, eligible.TooLarge, "needs 5 CPUs, the site has 4"},
		"too long on its CPUs": {func(s *eligible.Site, _ *protocol.Spec) { s.Capacity.MHz = 500 }, eligible.TooLarge, "needs 2:00:00"},
		"no containers":        {func(_ *eligible.Site, spec *protocol.Spec) { spec.Container = "a.sif" }, eligible.NoContainers, "runs no containers"},
		"containers": {func(s *eligible.Site, spec *protocol.Spec) {
			s.Capacity.Containers, spec.Container = true, "a.sif"
		}, eligible.Eligible, ""},
		"it holds no room": {func(s *eligible.Site, _ *protocol.Spec) { s.Reserves = false }, eligible.HoldsNoRoom, "cannot hold room"},
		"it holds no GPUs": {func(s *eligible.Site, spec *protocol.Spec) {
			s.Capacity.Groups = []protocol.NodeGroup{{Nodes: 1, CPUs: 4, Features: []string{"f"}}}
			spec.Features = "f"
		}, eligible.HoldsNoRoom, "cannot hold resources"},
		"the first reason": {func(s *eligible.Site, spec *protocol.Spec) {
			s.Name, s.Barred, spec.CPUs = "b", "out", 5
		}, eligible.NotNamed, "not among"},
	}
	for name, c := range cases {
		capacity, spec := machine, job
		site := eligible.Site{Name: "a", Capacity: &capacity, Reserves: true}
		c.change(&site, &spec)
		got, why := site.Judge(&spec, true), site.IneligibleReason(&spec, true)
		if got != c.want || !strings.HasPrefix(why, c.why) || (why == "") != (got == eligible.Eligible) {
			t.Errorf("%s: %d, %q; want %d, %q", name, got, why, c.want, c.why)
		}
		if site.Reserves = false; got == eligible.HoldsNoRoom && site.Judge(&spec, false) != eligible.Eligible {
			t.Errorf("%s: a job that starts alone needs no room that is held", name)
		}
	}
}
