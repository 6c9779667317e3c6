package lineup_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/admission"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/eligible"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/lineup"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/rounds"
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
	a.Apart = []row.EndedGroup{{Number: 1, Reason: "it did not start"}}
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

// TestRefused: two jobs try the local scheduler again at a time, in the order in which it has refused them.
func TestRefused(t *testing.T) {
	t.Parallel()
	var r lineup.Refused
	jobs := map[protocol.JobID]*tables.Job{}
	refuse := func(id protocol.JobID, phase row.JobPhase, until protocol.Instant) {
		j := &tables.Job{Job: row.Job{Spec: protocol.Spec{Request: protocol.Request{Job: id}}, Phase: phase}}
		j.Excluded.Exclude("a", until)
		jobs[id] = j
		r.Add(j)
		r.Add(j) // it is in the list once
	}
	refuse(1, row.JobInGridQueue, 20)
	refuse(2, row.JobInGridQueue, 20)
	refuse(3, row.JobOffered, 20)
	refuse(4, row.JobInGridQueue, 10) // not excluded any more
	refuse(5, row.JobInGridQueue, 20)
	refuse(6, row.JobInGridQueue, 20)
	delete(jobs, 2)
	if got := r.Next(jobs, "a", 10); !slices.Equal(got, []protocol.JobID{1, 5}) || jobs[1].Excluded.Excludes("a", 10) {
		t.Errorf("first %v", got)
	}
	r.Add(jobs[1])
	if got := r.Next(jobs, "a", 10); !slices.Equal(got, []protocol.JobID{6}) || jobs[1].AwaitsMove {
		t.Errorf("then %v", got)
	}
	if got := r.Next(jobs, "a", 10); len(got) > 0 {
		t.Errorf("at last %v", got)
	}
}

// TestQuestion: the jobs of a question have the last IDs of the site, and a row for each shape.
func TestQuestion(t *testing.T) {
	t.Parallel()
	l, _ := line([]policy.Capability{policy.Applications})
	desk := l.Admits()
	desk.Number, desk.Objectives = 3, &broker.Objectives{Policy: l.Policy}
	ev := event.TestSubmit{User: "ada", Application: &protocol.Application{MaxTime: protocol.Never, MaxCost: protocol.Unlimited}, Jobs: []protocol.Job{
		{Spec: protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}}},
		{
			Spec:      protocol.Spec{Request: protocol.Request{CPUs: 2, WallTime: protocol.Hour}},
			Component: protocol.Component{Name: "mesh", Shapes: []protocol.Shape{{CPUs: 4, WallTime: protocol.Hour}}},
		},
	}}
	jobs, specs := lineup.Question(desk, &ev, 50)
	last := protocol.NewJobID(3, protocol.SeqsPerSite-1)
	simple := *desk
	simple.Policy = &policy.Description{Name: "tc"}
	if _, rows := lineup.Question(&simple, &ev, 50); len(rows) != 2 || rows[1].CPUs != 2 {
		t.Errorf("a policy that does not choose between shapes asks with %+v", rows)
	}
	if len(jobs) != 2 || len(specs) != 3 || specs[0].Job != last || specs[1].Job != last-1 || specs[2].Job != last-1 || specs[2].CPUs != 4 {
		t.Fatalf("%d jobs, rows %+v", len(jobs), specs)
	}
	if a := jobs[last].App; a == nil || a != jobs[last-1].App || a.Submitted != 50 || jobs[last].Spec.User != "ada" {
		t.Errorf("%+v", jobs[last])
	}
}

// TestRoom: what a site of a round has for a group.
func TestRoom(t *testing.T) {
	t.Parallel()
	l, b := line([]policy.Capability{policy.Applications}, 1)
	join(&l, protocol.Never, 1, 1)
	r := &rounds.Round{Asks: []*rounds.Ask{{Partner: b, Reply: &protocol.QuoteReply{MaxCPUs: 5}}}}
	in := &policy.Snapshot{Self: 0, Sites: []policy.Site{{Name: "a", MaxJobs: 3}, {Name: "b", MaxJobs: 4}, {Name: "c"}}}
	key := broker.GroupKey{Application: 1, Number: 1}
	room := func(site int, limited bool) broker.Room {
		one, known := l.Room(r, in, key, site, limited, 0)
		if known != (site < 2) {
			t.Errorf("the machine of site %d: known %t", site, known)
		}
		return one
	}
	if got := room(0, false); got.MaxJobs != nil || got.Capacity.CPUs != 8 || got.MaxCPUs != 0 {
		t.Errorf("this site has %+v", got)
	}
	if got := room(0, true); *got.MaxJobs != 3 {
		t.Errorf("this site with a limit has %+v", got)
	}
	if got := room(1, false); *got.MaxJobs != 4 || got.Capacity.CPUs != 64 || got.MaxCPUs != 5 || got.Name != "b" {
		t.Errorf("b has %+v", got)
	}
	room(2, false)
}
