package broker_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const noon protocol.Instant = 1_800_000_000_000

// member is one of a group, at a partner that holds room from an instant on; 0: not yet.
func member(id protocol.JobID, phase row.JobPhase, held protocol.Instant) *row.Job {
	return &row.Job{
		Spec:  protocol.Spec{Request: protocol.Request{Job: id, CPUs: 1, WallTime: protocol.Hour}},
		Phase: phase, Epoch: 1, Site: "b", State: protocol.Pending, Hold: noon, Held: held,
		Component: &protocol.Component{Together: 1},
	}
}

func groupOf(members ...*row.Job) *broker.Group {
	return &broker.Group{
		App:    &row.Application{Application: protocol.Application{MaxTime: protocol.Never, MaxCost: protocol.Unlimited}, ID: 1, Submitted: noon},
		Number: 1, Members: members,
	}
}

// TestAgree: all are granted only when each has room from the same instant, with time for the grant.
func TestAgree(t *testing.T) {
	t.Parallel()
	const margin = 10 * protocol.Second
	later := noon.Add(protocol.Minute)
	for name, tt := range map[string]struct {
		held [2]protocol.Instant
		now  protocol.Instant
		want broker.Agreement
	}{
		"one has not answered": {[2]protocol.Instant{later, 0}, noon, broker.Agreement{}},
		"they agree":           {[2]protocol.Instant{later, later}, noon, broker.Agreement{Answered: true, Agreed: true, Start: later}},
		"one is later": {[2]protocol.Instant{noon.Add(margin), later}, noon, broker.Agreement{
			Answered: true, Start: later, Why: "since b has room for job 2 only from then on",
		}},
		"half of the margin is left": {[2]protocol.Instant{later, later}, later.Add(-margin / 2), broker.Agreement{Answered: true, Agreed: true, Start: later}},
		"less than that is left": {[2]protocol.Instant{later, later}, later.Add(-margin/2 + 1), broker.Agreement{
			Answered: true, Start: later.Add(margin/2 + 1), Why: "since the instant before is too near to grant all",
		}},
	} {
		g := groupOf(member(1, row.JobOffered, tt.held[0]), member(2, row.JobReserving, tt.held[1]))
		got := g.Agree(g.Seeking(), tt.now, margin)
		if got.Agreed { // and then nobody reads why
			got.Why = ""
		}
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// TestSeeking: members that are granted, or back in the queue, are not asked to hold room.
func TestSeeking(t *testing.T) {
	t.Parallel()
	queued := member(3, row.JobInGridQueue, 0)
	queued.Hold = 0
	g := groupOf(member(1, row.JobOffered, 0), member(2, row.JobGranted, noon), queued, member(4, row.JobReserving, noon))
	var ids []protocol.JobID
	for _, j := range g.Seeking() {
		ids = append(ids, j.Spec.Job)
	}
	if len(ids) != 2 || ids[0] != 1 || ids[1] != 4 {
		t.Errorf("room is sought for %v", ids)
	}
	if others := g.Others(g.Members[0]); len(others) != 3 || others[0] != g.Members[1] || len(g.Members) != 4 {
		t.Errorf("the others are %v, of %d", others, len(g.Members))
	}
}

// TestPastLimit: max_time counts to the end of the run and the way of the data back.
func TestPastLimit(t *testing.T) {
	t.Parallel()
	j := member(1, row.JobOffered, noon)
	j.Foreseen = &row.Prediction{Run: 40 * protocol.Minute, Back: 5 * protocol.Minute}
	g := groupOf(j, member(2, row.JobOffered, noon)) // nothing is predicted of the other
	g.App.MaxTime = protocol.Hour
	if why := g.PastLimit(g.Members, noon.Add(15*protocol.Minute)); why != "" {
		t.Errorf("it would be done within its hour: %s", why)
	}
	if why := g.PastLimit(g.Members, noon.Add(15*protocol.Minute+1)); !strings.Contains(why, "job 1 ") || !strings.HasPrefix(why, "max_time") {
		t.Errorf("a millisecond late: %q", why)
	}
	g.App.MaxTime = protocol.Never
	if why := g.PastLimit(g.Members, noon.Add(protocol.Day)); why != "" {
		t.Errorf("without a limit: %s", why)
	}
}

// TestMisses: a member that comes back unstarted has missed its start when others run, or may.
func TestMisses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(j, other *row.Job, g *broker.Group)
		at     protocol.Instant
		misses bool
	}{
		"it is given back in time":       {func(_, _ *row.Job, _ *broker.Group) {}, noon, false},
		"at the end of the tolerance":    {func(_, _ *row.Job, _ *broker.Group) {}, noon.Add(30 * protocol.Second), false},
		"after the tolerance":            {func(_, _ *row.Job, _ *broker.Group) {}, noon.Add(30*protocol.Second + 1), true},
		"its user has another tolerance": {func(_, _ *row.Job, g *broker.Group) { g.App.StartTolerance = protocol.Minute }, noon.Add(protocol.Minute), false},
		"its site says so":               {func(j, _ *row.Job, _ *broker.Group) { j.Reason = broker.MissedStart + "it is late" }, noon, true},
		"another one runs":               {func(_, o *row.Job, _ *broker.Group) { o.State = protocol.Running }, noon, true},
		"another one has ended, and its output comes": {func(_, o *row.Job, _ *broker.Group) {
			o.State, o.Phase = protocol.Running, row.JobStagingOut
		}, noon, false},
		"another one has run to its end": {func(_, _ *row.Job, g *broker.Group) { g.App.Ran = []int{1} }, noon, true},
		"one of another group has":       {func(_, _ *row.Job, g *broker.Group) { g.App.Ran = []int{2} }, noon, false},
		"it has started":                 {func(j, _ *row.Job, _ *broker.Group) { j.Started = noon }, noon.Add(protocol.Hour), false},
		"its user has cancelled it":      {func(j, _ *row.Job, _ *broker.Group) { j.Cancelling = true }, noon.Add(protocol.Hour), false},
		"its group wants it back":        {func(j, _ *row.Job, _ *broker.Group) { j.Parted = true }, noon.Add(protocol.Hour), false},
		"its rows are old":               {func(j, _ *row.Job, _ *broker.Group) { j.Restored = true }, noon.Add(protocol.Hour), false},
		"it was not granted":             {func(j, _ *row.Job, _ *broker.Group) { j.Phase = row.JobOffered }, noon.Add(protocol.Hour), false},
		"it has no room":                 {func(j, _ *row.Job, _ *broker.Group) { j.Held = 0 }, noon.Add(protocol.Hour), false},
	} {
		j, other := member(1, row.JobHandedOff, noon), member(2, row.JobHandedOff, noon)
		g := groupOf(j, other)
		tt.change(j, other, g)
		if got := g.Misses(j, tt.at); got != tt.misses {
			t.Errorf("%s: misses %t", name, got)
		}
	}
}

// TestEndOfMissed: the group is placed again only if whatever has started may start twice.
func TestEndOfMissed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(other *row.Job, g *broker.Group)
		ends   string
	}{
		"nothing else has started":    {func(_ *row.Job, _ *broker.Group) {}, ""},
		"another runs, with requeue":  {func(o *row.Job, _ *broker.Group) { o.State, o.Spec.Requeue = protocol.Running, true }, ""},
		"another runs, and only once": {func(o *row.Job, _ *broker.Group) { o.State = protocol.Running }, "may not start twice"},
		"its user wants the end":      {func(_ *row.Job, g *broker.Group) { g.App.StartMissed = protocol.FailMissed }, "its user wants"},
		"a member has run to its end": {func(_ *row.Job, g *broker.Group) { g.App.Ran = []int{1} }, "has run to its end"},
		"nobody is left":              {func(_ *row.Job, g *broker.Group) { g.Members = g.Members[:1] }, "has ended without it"},
	} {
		j, other := member(1, row.JobHandedOff, noon), member(2, row.JobHandedOff, noon)
		g := groupOf(j, other)
		tt.change(other, g)
		if got := g.EndOfMissed(j); (got == "") != (tt.ends == "") || !strings.Contains(got, tt.ends) {
			t.Errorf("%s: it ends since %q", name, got)
		}
		late := noon.Add(protocol.Hour)
		if got := g.EndsUnheard(j, late); got != (tt.ends != "") {
			t.Errorf("%s: unheard it ends: %t", name, got)
		}
		if g.EndsUnheard(j, noon) && !g.Misses(j, noon) {
			t.Errorf("%s: it ends and has missed nothing", name)
		}
	}
}

// TestGroupsEndOnce: the first reason stays, and the rows that were given out are not changed.
func TestGroupsEndOnce(t *testing.T) {
	t.Parallel()
	j := member(1, row.JobHandedOff, noon)
	g := groupOf(j, member(2, row.JobInGridQueue, 0))
	other := &broker.Group{App: g.App, Number: 2}
	if g.Ended() != "" || !g.End("first") || g.End("second") || g.Ended() != "first" || other.Ended() != "" {
		t.Errorf("ended: %q and %q, %+v", g.Ended(), other.Ended(), g.App.Apart)
	}
	given := g.App.Apart
	if !other.End("other") || len(given) != 1 || other.Ended() != "other" {
		t.Errorf("the row that was given out has %v", given)
	}
	if changed, _ := g.RanToEnd(j); changed || g.RanWithout() {
		t.Error("a member that has not started has run to its end")
	}
	j.Started = noon
	if changed, ends := g.RanToEnd(j); !changed || !ends || !g.RanWithout() || other.RanWithout() {
		t.Errorf("one has run, another waits in the queue: changed %t, ends %t", changed, ends)
	}
	if changed, ends := g.RanToEnd(j); changed || ends {
		t.Error("it has run to its end twice")
	}
	together := groupOf(member(1, row.JobHandedOff, noon), member(2, row.JobHandedOff, noon))
	together.Members[0].Started = noon
	if changed, ends := together.RanToEnd(together.Members[0]); !changed || ends {
		t.Errorf("one has run, and the other is placed: changed %t, ends %t", changed, ends)
	}
}

// TestStartBy: without room that is held nothing bounds the start.
func TestStartBy(t *testing.T) {
	t.Parallel()
	g := groupOf(member(1, row.JobHandedOff, noon), member(2, row.JobOffered, 0))
	if by := g.StartBy(g.Members[0]); by != noon.Add(protocol.DefaultStartTolerance) {
		t.Errorf("by %v", by)
	}
	if by := g.StartBy(g.Members[1]); by != 0 {
		t.Errorf("without room by %v", by)
	}
	for want, guest := range map[protocol.Instant]row.Guest{
		0:                              {Tolerance: protocol.Second},
		noon.Add(protocol.Second):      {Held: noon, Tolerance: protocol.Second},
		noon.Add(30 * protocol.Second): {Held: noon},
	} {
		if by := broker.GuestStartBy(&guest); by != want {
			t.Errorf("%+v by %v, want %v", guest, by, want)
		}
	}
}
