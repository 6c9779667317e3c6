package lineup_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/lineup"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// line is a site of 8 CPUs with a partner b of 64, and jobs 1, 2, 3 … that want so many CPUs each.
func line(can []policy.Capability, cpus ...int) (lineup.Lineup, *partner.Partner) {
	site, partners, queue := lives.New(lives.Here{Site: "a", Number: 1}), partner.NewSet(), &gridqueue.Queue{}
	partners.Begin(rules.Partner{Site: "b"})
	one := partners.Of("b")
	one.Card = &protocol.Card{Capacity: protocol.Capacity{CPUs: 64, Nodes: 64}}
	rows := tables.New(&site, &partners, queue)
	l := lineup.Lineup{
		Rows: &rows, Queue: queue, Partners: &partners, Policy: &policy.Description{Name: "p", Can: can},
		Here: eligible.Site{Name: "a", Capacity: &protocol.Capacity{CPUs: 8, Nodes: 8}},
	}
	l.Admits = func() *admission.Desk {
		return &admission.Desk{Site: l.Here, Policy: l.Policy, Partners: []admission.Partner{{Site: one.AsSite()}}}
	}
	for i, n := range cpus {
		id := protocol.JobID(i + 1)
		rows.Jobs[id] = &tables.Job{Job: row.Job{
			Spec:  protocol.Spec{Request: protocol.Request{Job: id, CPUs: n, WallTime: protocol.Hour}, User: "ada"},
			Phase: row.JobInGridQueue, State: protocol.Pending,
		}}
		queue.Put(id)
	}
	return l, one
}

// join makes jobs components of one application.
func join(l *lineup.Lineup, limit protocol.Duration, together int, ids ...protocol.JobID) *tables.Application {
	a := &tables.Application{Application: row.Application{
		ID: ids[0], Application: protocol.Application{MaxTime: limit, MaxCost: protocol.Unlimited},
	}}
	for _, id := range ids {
		j := l.Rows.Jobs[id]
		j.Application, j.Component = ids[0], &protocol.Component{Together: together}
		a.Join(j)
	}
	l.Rows.Applications[ids[0]] = a
	return a
}

func idsOf(kept []lineup.Kept) (ids []protocol.JobID) {
	for _, one := range kept {
		ids = append(ids, one.Job.Spec.Job)
	}
	return ids
}

var iss = []policy.Capability{policy.Applications}

// TestTake: the oldest jobs, no more than that are wanted.
func TestTake(t *testing.T) {
	t.Parallel()
	l, _ := line(nil, 1, 1, 1)
	for _, want := range [][]protocol.JobID{{}, {1, 2}, {3}, {}} {
		n := len(want)
		if n == 1 {
			n = 5
		}
		if got, kept := l.Take(n); !slices.Equal(got, want) || len(kept) > 0 {
			t.Errorf("of %d: %v, kept %v", n, got, kept)
		}
	}
}

// TestBlocked: a job that no site can run has one round, and then another when its site comes back.
func TestBlocked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cpus   int
		reason string
		linked bool
		takes  bool
	}{
		"it runs here":                         {8, view.ReasonAllDeclined, false, true},
		"its site can be asked":                {64, view.ReasonAllDeclined, true, true},
		"its first round":                      {64, "", false, true},
		"it has had a round":                   {64, view.ReasonAllDeclined, false, false},
		"no site is known, but by now all are": {64, view.ReasonNoEligibleSite, false, true},
		"it waits for something else":          {64, view.ReasonVolunteer, false, true},
	} {
		l, one := line(nil, tt.cpus)
		l.Rows.Jobs[1].Reason, one.Linked = tt.reason, tt.linked
		ids, _ := l.Take(1)
		if (len(ids) == 1) != tt.takes {
			t.Errorf("%s: %v", name, ids)
		}
		if tt.takes {
			continue
		}
		if l.Unblock(); l.Queue.Ready() {
			t.Errorf("%s: it is ready although nothing has changed", name)
		}
		one.Linked = true
		if l.Unblock(); !l.Queue.Ready() {
			t.Errorf("%s: it is not ready although its site is back", name)
		}
	}
}

// TestAwaitsSite: it depends on the shapes that the policy chooses among, and on no site for a policy
// that keeps jobs at home.
func TestAwaitsSite(t *testing.T) {
	t.Parallel()
	l, one := line(nil, 64)
	j := l.Rows.Jobs[1]
	j.Component = &protocol.Component{Shapes: []protocol.Shape{{CPUs: 64}, {CPUs: 8}}}
	if !l.AwaitsSite(j) {
		t.Error("its first shape runs nowhere")
	}
	l.Policy.Can = iss
	if l.AwaitsSite(j) {
		t.Error("its second shape runs here")
	}
	l.Policy.Can = []policy.Capability{policy.LocalOnly}
	if l.AwaitsSite(j) {
		t.Error("the policy asks no site")
	}
	l.Policy.Can, one.Linked = nil, true
	if l.AwaitsSite(j) {
		t.Error("the partner runs it")
	}
}

// TestKept: jobs with limits wait for a policy that looks at them, members for those on their way back,
// and members of ended groups end.
func TestKept(t *testing.T) {
	t.Parallel()
	l, _ := line(nil, 1, 1, 1)
	join(&l, protocol.Hour, 0, 2)
	ids, kept := l.Take(3)
	if !slices.Equal(ids, []protocol.JobID{1, 3}) || !slices.Equal(idsOf(kept), []protocol.JobID{2}) || kept[0].Reason != view.ReasonPolicyUnsupported {
		t.Errorf("a limit that the policy does not know: %v, %+v", ids, kept)
	}
	if ids, kept = l.All(); len(ids)+len(kept) > 0 {
		t.Errorf("all that is left: %v, %v", ids, kept)
	}

	l, _ = line(iss, 1, 1, 1)
	join(&l, protocol.Never, 1, 1, 2)
	returning := l.Rows.Jobs[2]
	l.Queue.Remove(2)
	returning.Phase = row.JobRecalling
	ids, kept = l.Take(3)
	if !slices.Equal(ids, []protocol.JobID{3}) || !slices.Equal(idsOf(kept), []protocol.JobID{1}) || kept[0].Reason != view.ReasonGroup || kept[0].Ends != "" {
		t.Errorf("a member is on its way back: %v, %+v", ids, kept)
	}

	l, _ = line(iss, 1, 1)
	a := join(&l, protocol.Never, 1, 1, 2)
	a.Apart = []row.EndedGroup{{Number: 1, Why: "it did not start"}}
	ids, kept = l.Take(3)
	if len(ids) > 0 || len(kept) != 2 || kept[0].Ends != "it did not start" {
		t.Errorf("a group that has ended: %v, %+v", ids, kept)
	}
}

// TestFill: all components are in one round, each in all its shapes, for a policy that decides about
// applications.
func TestFill(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		can  []policy.Capability
		want []protocol.JobID
		left int
	}{
		"iss": {iss, []protocol.JobID{1, 1, 3}, 1},
		"tc":  {nil, []protocol.JobID{1}, 2},
	} {
		l, _ := line(tt.can, 1, 1, 1)
		join(&l, protocol.Never, 0, 1, 3)
		l.Rows.Jobs[1].Component.Shapes = []protocol.Shape{{CPUs: 1}, {CPUs: 4}}
		ids, _ := l.Take(1)
		specs, kept := l.Fill(ids)
		var got []protocol.JobID
		for _, spec := range specs {
			got = append(got, spec.Job)
		}
		if !slices.Equal(got, tt.want) || len(kept) > 0 {
			t.Errorf("%s: %v, kept %v", name, got, kept)
		}
		if left := l.Queue.Take(9); len(left) != tt.left {
			t.Errorf("%s: left are %v", name, left)
		}
	}
}
