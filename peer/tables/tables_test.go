package tables_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/intake"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAt: messages are about the present epoch of a job that their sender has.
func TestAt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		phase row.JobPhase
		site  protocol.SiteName
		epoch protocol.Epoch
		ok    bool
	}{
		"its site":            {row.JobHandedOff, "b", 2, true},
		"another site":        {row.JobHandedOff, "c", 2, false},
		"an earlier epoch":    {row.JobHandedOff, "b", 1, false},
		"a job that is ended": {row.JobEnding, "b", 2, false},
	} {
		h := newHouse()
		h.Jobs[seven] = jobIn(tt.phase)
		if got := h.At(tt.site, protocol.Tag{Job: seven, Epoch: tt.epoch}); (got != nil) != tt.ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	if newHouse().At("b", protocol.Tag{Job: seven, Epoch: 2}) != nil {
		t.Error("a job that is not there")
	}
}

// TestPlacementsHere: what the rows say of a placement in the local queue, of a job and of a guest.
func TestPlacementsHere(t *testing.T) {
	t.Parallel()
	now, before := protocol.Tag{Job: seven, Epoch: 2}, protocol.Tag{Job: seven, Epoch: 1}
	tariff := &protocol.Tariff{}
	job := newHouse()
	job.Jobs[seven] = jobIn(row.JobCommittedLocal)
	job.Jobs[seven].Tariff, job.Jobs[seven].ReservedAt = tariff, 5
	guest := newHouse()
	guest.Guests[seven] = guestIn(row.GuestAccepted)
	guest.Guests[seven].Tariff, guest.Guests[seven].ReservedAt = tariff, 5
	for name, h := range map[string]*house{"job": job, "guest": guest} {
		if h.TariffOf(now) != tariff || h.TariffOf(before) != nil || !h.HasReservation(now) || h.HasReservation(before) {
			t.Errorf("%s: tariff and reservation", name)
		}
		if h.SpecOf(before) == nil || h.ClosedHere(now) || !h.ClosedHere(before) {
			t.Errorf("%s: what it runs, and whether it is closed", name)
		}
	}
	none := newHouse()
	none.site.FirstSeq, none.site.NextSeq = 1, 20
	if none.TariffOf(now) != nil || none.HasReservation(now) || none.SpecOf(now) != nil {
		t.Error("a placement without a row")
	}
	if !none.ClosedHere(now) || none.ClosedHere(protocol.Tag{Job: protocol.NewJobID(1, 30), Epoch: 1}) {
		t.Error("a job that has ended is closed, and one that this store has not issued is not")
	}
}

// TestPartnerJobs: which sites open jobs and guests concern.
func TestPartnerJobs(t *testing.T) {
	t.Parallel()
	h := newHouse()
	h.Jobs[seven] = jobIn(row.JobHandedOff)
	open, returned, closed := guestIn(row.GuestPrepared), guestIn(row.GuestAborted), guestIn(row.GuestClosed)
	returned.Origin, returned.ReturnUnacked, closed.Origin = "c", true, "d"
	h.Guests[protocol.NewJobID(2, 30)], h.Guests[protocol.NewJobID(3, 1)], h.Guests[protocol.NewJobID(4, 1)] = open, returned, closed
	if got := h.PartnerJobs(); got["b"] != (row.PartnerJobs{Sent: 1, Here: 1}) || len(got) != 1 {
		t.Errorf("jobs of partners: %v", got)
	}
	if got := h.Concerned(); len(got) != 2 || !got["b"] || !got["c"] {
		t.Errorf("concerned are %v", got)
	}
	if h.HighestSeq("b") != 30 || h.HighestSeq("x") != 0 || h.Committed() != 0 {
		t.Error("the highest number of a site's jobs, and what is in the local queue")
	}
	h.Jobs[seven] = jobIn(row.JobCommittedLocal)
	if h.Committed() != 1 {
		t.Error("a job in the local queue is not counted")
	}
}

// TestPrune: tombstones and keys are forgotten by their age, open guests and unconfirmed returns never.
func TestPrune(t *testing.T) {
	t.Parallel()
	h := newHouse()
	for i, g := range []struct {
		phase    row.GuestPhase
		since    protocol.Instant
		returned bool
	}{
		{row.GuestAborted, 5, false},  // forgotten
		{row.GuestClosed, 5, false},   // forgotten
		{row.GuestClosed, 10, false},  // young
		{row.GuestAborted, 5, true},   // its return is not confirmed
		{row.GuestPrepared, 5, false}, // open
		{row.GuestAccepted, 5, false}, // open
	} {
		one := guestIn(g.phase)
		one.Since, one.ReturnUnacked = g.since, g.returned
		h.Guests[protocol.JobID(i)] = one
	}
	h.Dedup["old"], h.Dedup["young"] = row.Dedup{At: 9}, row.Dedup{At: 10}
	h.Prune(10)
	if got := h.GuestIDs(); !slices.Equal(got, []protocol.JobID{2, 3, 4, 5}) {
		t.Errorf("guests %v are left", got)
	}
	if _, old := h.Dedup["old"]; old || len(h.Dedup) != 1 {
		t.Errorf("submissions %v are left", h.Dedup)
	}
	delete(h.Guests, 5) // it has no run here
	if records, err := h.Records(nil); err != nil || len(records) != 3 {
		t.Errorf("%v, %v", records, err)
	}
}

// TestLocalQuote: the first quote counts, and one of no wait is a quote.
func TestLocalQuote(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		quotes []protocol.Quote
		want   tables.LocalQuote
	}{
		"none":            {nil, tables.LocalQuote{}},
		"declined":        {[]protocol.Quote{{Declined: "no"}, {AWT: protocol.Never}}, tables.LocalQuote{}},
		"no wait":         {[]protocol.Quote{{}, {AWT: 9}}, tables.LocalQuote{Known: true}},
		"the first of it": {[]protocol.Quote{{Declined: "no"}, {AWT: 9}, {AWT: 3}}, tables.LocalQuote{AWT: 9, Known: true}},
	} {
		var j tables.Job
		for _, q := range tt.quotes {
			j.NoteLocalQuote(&q)
		}
		if j.LocalQuote != tt.want {
			t.Errorf("%s: %+v", name, j.LocalQuote)
		}
	}
}

// TestAnyShape: the first n shapes are looked at, and the one that the job has.
func TestAnyShape(t *testing.T) {
	t.Parallel()
	j := jobIn(row.JobInGridQueue)
	j.Component = &protocol.Component{Shapes: []protocol.Shape{{CPUs: 1}, {CPUs: 4}, {CPUs: 16}}}
	wide := func(s *protocol.Spec) bool { return s.CPUs == 16 }
	if j.AnyShape(2, wide) || !j.AnyShape(3, wide) || !j.AnyShape(1, func(s *protocol.Spec) bool { return s.CPUs == 1 }) {
		t.Error("the wrong shapes are looked at")
	}
}

// TestGroups: the members of a group, whether one is on its way back, and until when they may start.
func TestGroups(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := &tables.Application{Application: row.Application{ID: seven, Application: protocol.Application{MaxTime: protocol.Never}}}
	h.Applications[seven] = a
	var members []*tables.Job
	for i, phase := range []row.JobPhase{row.JobHandedOff, row.JobCommittedLocal, row.JobHandedOff} {
		j := jobIn(phase)
		j.Spec.Job, j.Application, j.Component = seven+protocol.JobID(i), seven, &protocol.Component{Together: 1}
		j.ReserveFrom, j.ReservedAt = 100, 100
		if i == 2 {
			j.Component.Together = 0 // a component of its own
		}
		a.Join(j)
		h.Jobs[j.Spec.Job] = j
		members = append(members, j)
	}
	if err := h.FollowAll(a); err != nil {
		t.Fatal(err)
	}
	g, rows := h.Group(members[0])
	if g == nil || len(rows.Members) != 2 || rows.App != &a.Application {
		t.Fatalf("the group is %v, its rows %v", g, rows)
	}
	if other, _ := h.Group(members[2]); other != nil {
		t.Error("a component of its own has a group")
	}
	if got := h.Of(rows.Others(&members[0].Job)); len(got) != 1 || got[0] != members[1] {
		t.Errorf("beside the first member there are %v", got)
	}
	if key, ok := h.KeyOf(seven); !ok || key != (broker.GroupKey{Application: seven, Number: 1}) {
		t.Errorf("the key is %v", key)
	}
	if _, ok := h.KeyOf(seven + 2); ok {
		t.Error("a component of its own has a key")
	}
	if h.SeeksRoom(g.Key) || h.LearnedCrowd(g.Key, "b", 1) != 0 || h.GroupEndReason(members[0]) != "" {
		t.Error("the group seeks reservations, has learned of sites, or has ended")
	}

	if by, limited := h.StartBy(members[0].Tag()); !limited || by != protocol.Instant(100).Add(protocol.DefaultStartTolerance) {
		t.Errorf("a member may start until %v, %t", by, limited)
	}
	if _, limited := h.StartBy(members[2].Tag()); limited {
		t.Error("the start of a component of its own is limited")
	}
	guest := guestIn(row.GuestAccepted)
	guest.Spec.Job, guest.ReservedAt, guest.Tolerance = protocol.NewJobID(2, 1), 50, 7
	h.Guests[guest.Spec.Job] = guest
	if by, limited := h.StartBy(guest.Tag()); !limited || by != 57 {
		t.Errorf("a guest may start until %v, %t", by, limited)
	}
	if _, limited := h.StartBy(protocol.Tag{Job: guest.Spec.Job, Epoch: 1}); limited {
		t.Error("an earlier epoch of a guest is limited")
	}

	h.Runs[members[1].Tag()] = &localrun.Run{Run: row.Run{Tag: members[1].Tag()}}
	if got := h.Returning(members[0]); got != nil {
		t.Errorf("%v is on its way back", got)
	}
	h.Runs[members[1].Tag()].Withdraw = true
	if got := h.Returning(members[0]); got != members[1] {
		t.Errorf("a run that is withdrawn: %v", got)
	}
	members[1].Cancelling = true
	members[0].Parted = true
	if got := h.Returning(members[0]); got != members[0] {
		t.Errorf("a member that is recalled, beside one that is cancelled: %v", got)
	}
	if members[0].Tolerance() != protocol.DefaultStartTolerance || (&tables.Job{}).Tolerance() != 0 {
		t.Error("the tolerance of a start")
	}
}

// TestPayloadAbroad: a partner gets no variable that the site keeps, and is told how much may come back.
func TestPayloadAbroad(t *testing.T) {
	t.Parallel()
	h := newHouse()
	j := jobIn(row.JobInGridQueue)
	h.AddJob(j, &protocol.Payload{Env: []string{"A=1", "B=2", "C=3=4"}, Staging: &protocol.Staging{Out: []string{"."}}})
	j.Export = protocol.Export{Names: []string{"C"}}
	if got := j.PayloadAbroad([]string{"A"}, 7); !slices.Equal(got.Env, []string{"A=1", "C=3=4"}) || got.Staging.MaxOut != 7 {
		t.Errorf("%q, %+v", got.Env, got.Staging)
	}
	if got := j.Payload(); len(got.Env) != 3 || got.Staging.MaxOut != 0 {
		t.Errorf("the job keeps %q, %+v", got.Env, got.Staging)
	}
}

// TestCountPrepared: the guests that a restart finds prepared count in the period in which they came.
func TestCountPrepared(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		phase row.GuestPhase
		since protocol.Instant
		want  intake.Number
	}{
		"at its begin":  {row.GuestPrepared, 10, 3},
		"before it":     {row.GuestPrepared, 9, 0},
		"after that":    {row.GuestPrepared, 11, 3},
		"accepted ones": {row.GuestAccepted, 11, 0},
	} {
		h := newHouse()
		g := guestIn(tt.phase)
		g.Since = tt.since
		h.Guests[seven] = g
		h.CountPrepared(10, 3)
		if g.Intake != tt.want {
			t.Errorf("%s: %d, want %d", name, g.Intake, tt.want)
		}
	}
}

// TestWithoutBound: a policy that looks at no limits places no component that has some.
func TestWithoutBound(t *testing.T) {
	t.Parallel()
	h := newHouse()
	bound, free := jobIn(row.JobInGridQueue), jobIn(row.JobInGridQueue)
	bound.Component, free.Spec.Job = &protocol.Component{Together: 1}, seven+1
	bound.App = &tables.Application{Application: row.Application{ID: seven, Count: 2}}
	h.Jobs[seven], h.Jobs[seven+1] = bound, free
	in := &policy.Snapshot{Jobs: []policy.Job{{ID: seven}, {ID: seven + 1}, {ID: seven + 2}}}
	got := h.WithoutBound(in, []policy.Decision{{Job: 0, Site: 1}, {Job: 1, Site: 2}, {Job: 2, Site: 3}})
	if got[0].Site != policy.NoSite || got[1].Site != 2 || got[2].Site != 3 {
		t.Errorf("%+v", got)
	}
}

// TestRestoredRuns: the local scheduler's confirmation of a run counts for its row and for that of its job.
func TestRestoredRuns(t *testing.T) {
	t.Parallel()
	h := newHouse()
	r := &localrun.Run{Run: row.Run{Tag: protocol.Tag{Job: seven, Epoch: 2}, Phase: row.RunQueued, Restored: true, Copied: true}}
	h.Runs[r.Tag] = r
	h.Jobs[seven] = jobIn(row.JobCommittedLocal)
	h.Jobs[seven].Restored = true
	if !h.HasCopiedRun() {
		t.Error("a run of a copied queue is not found")
	}
	h.ExplainRun(r, "no nodes")
	if r.Reason != "no nodes" || h.Jobs[seven].Reason != "no nodes" {
		t.Errorf("the reasons are %q and %q", r.Reason, h.Jobs[seven].Reason)
	}
	h.Confirm(r)
	if r.Restored || r.Copied || h.Jobs[seven].Restored || h.HasCopiedRun() {
		t.Errorf("%+v of %+v", r, h.Jobs[seven])
	}

	r.Restored, r.Copied, r.Phase = true, true, row.RunEnded
	h.Jobs[seven].Epoch, h.Jobs[seven].Restored = 3, true
	if h.HasCopiedRun() {
		t.Error("a run that has ended is in the queue")
	}
	if h.Confirm(r); !h.Jobs[seven].Restored {
		t.Error("an earlier epoch confirms the job")
	}
	delete(h.Jobs, seven)
	g := guestIn(row.GuestAccepted)
	g.OwnershipGuessed, r.Restored = true, true
	h.Guests[seven] = g
	if h.Confirm(r); g.OwnershipGuessed {
		t.Error("the guest is not confirmed")
	}
	g.OwnershipGuessed = true
	if h.Confirm(r); !g.OwnershipGuessed {
		t.Error("a run that is not restored confirms its guest")
	}
}

// TestCountAt: an open guest counts once.
func TestCountAt(t *testing.T) {
	t.Parallel()
	g, b := guestIn(row.GuestPrepared), partner.New(rules.Partner{Site: "b"})
	g.Spec.CPUs = 3
	g.CountAt(b, -1)
	g.CountAt(b, +1)
	g.CountAt(b, +1)
	if b.JobsHere != 1 || b.CPUsHere != 3 {
		t.Errorf("%d jobs with %d CPUs", b.JobsHere, b.CPUsHere)
	}
	g.CountAt(b, -1)
	if b.JobsHere != 0 || b.CPUsHere != 0 {
		t.Errorf("%d jobs with %d CPUs are left", b.JobsHere, b.CPUsHere)
	}
}

// TestIsComponent: a job is one by what it runs, or by its application.
func TestIsComponent(t *testing.T) {
	t.Parallel()
	alone, named, member := jobIn(row.JobInGridQueue), jobIn(row.JobInGridQueue), jobIn(row.JobInGridQueue)
	alone.Component, alone.App = nil, nil
	named.Component, named.App = &protocol.Component{Name: "solve"}, nil
	member.Component, member.App = nil, &tables.Application{}
	if alone.IsComponent() || !named.IsComponent() || !member.IsComponent() {
		t.Errorf("alone %t, with a component %t, in an application %t", alone.IsComponent(), named.IsComponent(), member.IsComponent())
	}
}
