package broker_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// of makes a job a member of a group of an application.
func of(application protocol.JobID, group int, id protocol.JobID) *row.Job {
	j := member(id, row.JobOffered, 0)
	j.Application, j.Component = application, &protocol.Component{Together: group}
	return j
}

// TestPlacements: a group is placed as a whole, or not at all.
func TestPlacements(t *testing.T) {
	t.Parallel()
	one, two, three, four := of(1, 1, 1), of(1, 2, 2), of(1, 1, 3), of(9, 2, 4)
	for name, tt := range map[string]struct {
		parted []*row.Job
		groups [][]protocol.JobID
		left   []protocol.JobID
	}{
		"all are placed":      {nil, [][]protocol.JobID{{1, 3}, {2}, {4}}, nil},
		"a member stays":      {[]*row.Job{of(1, 1, 5)}, [][]protocol.JobID{{2}, {4}}, []protocol.JobID{1, 3}},
		"members of two stay": {[]*row.Job{two, of(9, 2, 6)}, [][]protocol.JobID{{1, 3}}, []protocol.JobID{2, 4}},
	} {
		var p broker.Placements
		for _, j := range []*row.Job{one, two, three, four} {
			p.Place(broker.Place{Job: j, Site: "b"})
		}
		for _, j := range tt.parted {
			p.Part(j, "full")
		}
		groups, left := p.Groups()
		var ids [][]protocol.JobID
		for _, g := range groups {
			var members []protocol.JobID
			for _, m := range g {
				members = append(members, m.Job.Spec.Job)
			}
			ids = append(ids, members)
		}
		var stay []protocol.JobID
		for _, l := range left {
			if stay = append(stay, l.Job.Spec.Job); l.Reason != "full" {
				t.Errorf("%s: %q", name, l.Reason)
			}
		}
		if !slices.EqualFunc(ids, tt.groups, slices.Equal) || !slices.Equal(stay, tt.left) {
			t.Errorf("%s: groups %v, left %v", name, ids, stay)
		}
	}
}

// TestStartsWithOthers: a job whose group has no other member in the round starts on its own.
func TestStartsWithOthers(t *testing.T) {
	t.Parallel()
	in := &policy.Snapshot{
		Applications: []policy.Application{{ID: 1}, {ID: 9}},
		Jobs:         []policy.Job{{ID: 1, Together: 1}, {ID: 2, Together: 2}, {ID: 3, Together: 1}, {ID: 4, Together: 2, Application: 1}},
	}
	for id, want := range map[protocol.JobID]bool{1: true, 2: false, 3: true} {
		if got := broker.StartsWithOthers(in, of(1, in.Jobs[id-1].Together, id)); got != want {
			t.Errorf("job %v: %t", id, got)
		}
	}
	if broker.StartsWithOthers(in, &row.Job{}) {
		t.Error("a plain job starts with others")
	}
}

// TestCrowds: a site that refuses one of several members has shown how many it takes, for a while.
func TestCrowds(t *testing.T) {
	t.Parallel()
	seeks := func(id protocol.JobID, site protocol.SiteName) *row.Job {
		j := of(1, 1, id)
		j.Site, j.ReserveFrom = site, noon
		return j
	}
	members := []*row.Job{seeks(1, "b"), seeks(2, "b"), seeks(3, "b"), seeks(4, "c")}
	rows := broker.Rows{App: &row.Application{}, Members: members}
	until := func() protocol.Instant { return noon + 10 }
	var c broker.Crowds
	if c.Refused(rows, members[3], until) || c.Max(1, "c", noon) != 0 {
		t.Error("a refusal of one member is about the group")
	}
	if !c.Refused(rows, members[0], until) {
		t.Error("a refusal of one of three members is not about the group")
	}
	for _, tt := range []struct {
		group int
		site  protocol.SiteName
		now   protocol.Instant
		want  int
	}{{1, "b", noon, 2}, {1, "b", noon + 9, 2}, {1, "b", noon + 10, 0}, {2, "b", noon, 0}, {1, "c", noon, 0}} {
		if got := c.Max(tt.group, tt.site, tt.now); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}
