package broker_test

import (
	"slices"
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
		Phase: phase, Epoch: 1, Site: "b", State: protocol.Pending, ReserveFrom: noon, ReservedAt: held,
		Component: &protocol.Component{Together: 1},
	}
}

// groupOf is a group of members, and its rows.
func groupOf(members ...*row.Job) (*broker.Group, broker.Rows) {
	return &broker.Group{Key: broker.GroupKey{Application: 1, Number: 1}}, broker.Rows{
		App:     &row.Application{Application: protocol.Application{MaxTime: protocol.Never, MaxCost: protocol.Unlimited}, ID: 1, Submitted: noon},
		Members: members,
	}
}

// TestReserved: all are granted only when each has room from the same instant, with time for the grant;
// else those are asked again that do not have it from the latest of these.
func TestReserved(t *testing.T) {
	t.Parallel()
	later := noon.Add(protocol.Minute)
	for name, tt := range map[string]struct {
		held  [2]protocol.Instant
		now   protocol.Instant
		do    broker.Verb
		again []int // members
		start protocol.Instant
		why   string
	}{
		"one has not answered":       {[2]protocol.Instant{later, 0}, noon, broker.Nothing, nil, 0, ""},
		"they agree":                 {[2]protocol.Instant{later, later}, noon, broker.Grant, []int{0, 1}, later, ""},
		"the second is later":        {[2]protocol.Instant{noon.Add(margin), later}, noon, broker.Reserve, []int{0}, later, "since b has room for job 2 only from then on"},
		"the first is later":         {[2]protocol.Instant{later, noon.Add(margin)}, noon, broker.Reserve, []int{1}, later, "since b has room for job 1 only from then on"},
		"half of the margin is left": {[2]protocol.Instant{later, later}, later.Add(-margin / 2), broker.Grant, []int{0, 1}, later, ""},
		"less than that is left": {
			[2]protocol.Instant{later, later}, later.Add(-margin/2 + 1), broker.Reserve, []int{0, 1}, later.Add(margin/2 + 1), "since the instant before is too near to grant all",
		},
		"they differ, and the later one is near": {
			[2]protocol.Instant{noon, later}, later.Add(-margin / 2), broker.Reserve, []int{0, 1}, later.Add(margin / 2), "since b has room for job 2 only from then on",
		},
	} {
		g, rows := groupOf(member(1, row.JobOffered, tt.held[0]), member(2, row.JobReserving, tt.held[1]))
		got := g.Reserved(rows, tt.now, margin)
		var members []*row.Job
		for _, i := range tt.again {
			members = append(members, rows.Members[i])
		}
		if got.Do != tt.do || got.Start != tt.start || got.Reason != tt.why || !slices.Equal(got.Members, members) || got.Late != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestReservedPastTheLimit: a common instant that max_time rules out ends the attempt, and sites that
// have room only later than was asked for are left out.
func TestReservedPastTheLimit(t *testing.T) {
	t.Parallel()
	a, b := member(1, row.JobOffered, noon), member(2, row.JobOffered, noon.Add(protocol.Minute))
	a.Prediction = &row.Prediction{Run: protocol.Hour}
	g, rows := groupOf(a, b)
	rows.App.MaxTime = protocol.Hour
	got := g.Reserved(rows, noon.Add(-protocol.Minute), margin)
	if got.Do != broker.Dissolve || !strings.HasPrefix(got.Reason, "max_time") || len(got.Members) != 2 || len(got.Late) != 1 || got.Late[0] != b {
		t.Errorf("%+v", got)
	}
	b.ReservedAt = 0
	if got = g.Reserved(rows, noon, margin); got.Do != broker.Nothing {
		t.Errorf("one has not answered: %+v", got)
	}
}

// TestReservedInVain: sites that name ever later instants are left alone after some tries, and a new
// attempt has as many again.
func TestReservedInVain(t *testing.T) {
	t.Parallel()
	a, b := member(1, row.JobOffered, noon), member(2, row.JobOffered, noon.Add(protocol.Minute))
	g, rows := groupOf(a, b)
	if err := g.Follow(rows); err != nil || g.Phase != broker.GroupReserving {
		t.Fatalf("%s: %v", g.Phase, err)
	}
	tries := func() (n int) {
		for n = range 100 {
			got := g.Reserved(rows, noon.Add(-protocol.Minute), margin)
			if got.Do == broker.Dissolve {
				if !strings.Contains(got.Reason, "no common instant to start in 8 tries") || len(got.Late) != 1 || got.Late[0] != b || len(got.Members) != 2 {
					t.Errorf("%+v", got)
				}
				return n
			}
		}
		return n
	}
	if n := tries(); n != 8 {
		t.Errorf("%d tries", n)
	}
	places := []broker.Place{{Job: a, Site: "b"}}
	g.Begin(rows.App, places, noon, margin)
	if n := tries(); n != 8 {
		t.Errorf("after a new beginning %d tries", n)
	}
	a.Phase, b.Phase, a.ReserveFrom, b.ReserveFrom = row.JobInGridQueue, row.JobInGridQueue, 0, 0
	if err := g.Follow(rows); err != nil || g.Phase != broker.GroupQueued {
		t.Fatalf("%s: %v", g.Phase, err)
	}
	a.Phase, b.Phase, a.ReserveFrom, b.ReserveFrom = row.JobOffered, row.JobOffered, noon, noon
	if n := tries(); n != 8 {
		t.Errorf("after the grid queue %d tries", n)
	}
}

// TestBegin: the first instant is that of the latest quote, and at least a margin away.
func TestBegin(t *testing.T) {
	t.Parallel()
	a, b := member(1, row.JobInGridQueue, 0), member(2, row.JobInGridQueue, 0)
	a.Prediction = &row.Prediction{Run: protocol.Hour}
	for name, tt := range map[string]struct {
		waits [2]protocol.Duration
		limit protocol.Duration
		do    broker.Verb
		start protocol.Instant
		why   string
	}{
		"at once":          {[2]protocol.Duration{0, margin}, protocol.Never, broker.Reserve, noon.Add(margin), "as soon as its group can start by the quotes"},
		"the first waits":  {[2]protocol.Duration{margin + 1, 5}, protocol.Never, broker.Reserve, noon.Add(margin + 1), "when job 1 can start at c by its quote"},
		"the second waits": {[2]protocol.Duration{5, protocol.Minute}, protocol.Never, broker.Reserve, noon.Add(protocol.Minute), "when job 2 can start at d by its quote"},
		"both wait":        {[2]protocol.Duration{protocol.Minute, protocol.Minute}, protocol.Never, broker.Reserve, noon.Add(protocol.Minute), "when job 2 can start at d by its quote"},
		"in time":          {[2]protocol.Duration{0, margin}, protocol.Hour + margin, broker.Reserve, noon.Add(margin), "as soon as its group can start by the quotes"},
		"too late":         {[2]protocol.Duration{0, margin}, protocol.Hour + margin - 1, broker.Wait, 0, "max_time"},
	} {
		g, rows := groupOf(a, b)
		rows.App.MaxTime = tt.limit
		got := g.Begin(rows.App, []broker.Place{{Job: a, Site: "c", Wait: tt.waits[0]}, {Job: b, Site: "d", Wait: tt.waits[1]}}, noon, margin)
		if got.Do != tt.do || got.Start != tt.start || !strings.HasPrefix(got.Reason, tt.why) || len(got.Members) != 2 || got.Members[0] != a || got.Members[1] != b {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestDissolving: whoever is refused, or leaves, takes the others with it that seek room.
func TestDissolving(t *testing.T) {
	t.Parallel()
	a, b, c := member(1, row.JobOffered, 0), member(2, row.JobReserving, noon), member(3, row.JobHandedOff, noon)
	g, rows := groupOf(a, b, c)
	if got := g.Refused(rows, a, "no"); got.Do != broker.Dissolve || got.Reason != "job 1: no" || !slices.Equal(got.Members, []*row.Job{a, b}) {
		t.Errorf("refused: %+v", got)
	}
	if got := g.Without(rows, a, ""); got.Do != broker.Dissolve || got.Reason != "job 1 has left the group" || !slices.Equal(got.Members, []*row.Job{b}) {
		t.Errorf("left: %+v", got)
	}
	if got := g.Without(rows, c, "it came back"); got.Reason != "it came back" || !slices.Equal(got.Members, []*row.Job{a, b}) {
		t.Errorf("came back: %+v", got)
	}
}

// TestSeeking: members that are granted, or back in the queue, are not asked to hold room.
func TestSeeking(t *testing.T) {
	t.Parallel()
	queued := member(3, row.JobInGridQueue, 0)
	queued.ReserveFrom = 0
	_, rows := groupOf(member(1, row.JobOffered, 0), member(2, row.JobGranted, noon), queued, member(4, row.JobReserving, noon))
	var ids []protocol.JobID
	for _, j := range rows.Seeking() {
		ids = append(ids, j.Spec.Job)
	}
	if len(ids) != 2 || ids[0] != 1 || ids[1] != 4 {
		t.Errorf("room is sought for %v", ids)
	}
	if others := rows.Others(rows.Members[0]); len(others) != 3 || others[0] != rows.Members[1] || len(rows.Members) != 4 {
		t.Errorf("the others are %v, of %d", others, len(rows.Members))
	}
}

// TestMisses: a member that comes back unstarted has missed its start when others run, or may.
func TestMisses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(j, other *row.Job, app *row.Application)
		at     protocol.Instant
		misses bool
	}{
		"it is given back in time":       {func(_, _ *row.Job, _ *row.Application) {}, noon, false},
		"at the end of the tolerance":    {func(_, _ *row.Job, _ *row.Application) {}, noon.Add(30 * protocol.Second), false},
		"after the tolerance":            {func(_, _ *row.Job, _ *row.Application) {}, noon.Add(30*protocol.Second + 1), true},
		"its user has another tolerance": {func(_, _ *row.Job, app *row.Application) { app.StartTolerance = protocol.Minute }, noon.Add(protocol.Minute), false},
		"its site says so":               {func(j, _ *row.Job, _ *row.Application) { j.Reason = broker.MissedStart + "it is late" }, noon, true},
		"another one runs":               {func(_, o *row.Job, _ *row.Application) { o.State = protocol.Running }, noon, true},
		"another one has ended, and its output comes": {func(_, o *row.Job, _ *row.Application) {
			o.State, o.Phase = protocol.Running, row.JobStagingOut
		}, noon, false},
		"another one has run to its end": {func(_, _ *row.Job, app *row.Application) { app.Ran = []int{1} }, noon, true},
		"one of another group has":       {func(_, _ *row.Job, app *row.Application) { app.Ran = []int{2} }, noon, false},
		"it has started":                 {func(j, _ *row.Job, _ *row.Application) { j.Started = noon }, noon.Add(protocol.Hour), false},
		"its user has cancelled it":      {func(j, _ *row.Job, _ *row.Application) { j.Cancelling = true }, noon.Add(protocol.Hour), false},
		"its group recalls it":           {func(j, _ *row.Job, _ *row.Application) { j.Parted = true }, noon.Add(protocol.Hour), false},
		"its rows are old":               {func(j, _ *row.Job, _ *row.Application) { j.Restored = true }, noon.Add(protocol.Hour), false},
		"it was not granted":             {func(j, _ *row.Job, _ *row.Application) { j.Phase = row.JobOffered }, noon.Add(protocol.Hour), false},
		"it has no room":                 {func(j, _ *row.Job, _ *row.Application) { j.ReservedAt = 0 }, noon.Add(protocol.Hour), false},
	} {
		j, other := member(1, row.JobHandedOff, noon), member(2, row.JobHandedOff, noon)
		g, rows := groupOf(j, other)
		tt.change(j, other, rows.App)
		if got := g.Misses(rows, j, tt.at); got != tt.misses {
			t.Errorf("%s: misses %t", name, got)
		}
	}
}

// TestEndOfMissed: the group is placed again only if whatever has started may start twice.
func TestEndOfMissed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(other *row.Job, app *row.Application)
		ends   string
	}{
		"nothing else has started":    {func(_ *row.Job, _ *row.Application) {}, ""},
		"another runs, with requeue":  {func(o *row.Job, _ *row.Application) { o.State, o.Spec.Requeue = protocol.Running, true }, ""},
		"another runs, and only once": {func(o *row.Job, _ *row.Application) { o.State = protocol.Running }, "may not start twice"},
		"its user wants the end":      {func(_ *row.Job, app *row.Application) { app.StartMissed = protocol.FailMissed }, "its user wants"},
		"a member has run to its end": {func(_ *row.Job, app *row.Application) { app.Ran = []int{1} }, "has run to its end"},
		"nobody is left":              {nil, "has ended without it"},
	} {
		j, other := member(1, row.JobHandedOff, noon), member(2, row.JobHandedOff, noon)
		g, rows := groupOf(j, other)
		if tt.change == nil {
			rows.Members = rows.Members[:1]
		} else {
			tt.change(other, rows.App)
		}
		if got := g.EndOfMissed(rows, j); (got == "") != (tt.ends == "") || !strings.Contains(got, tt.ends) {
			t.Errorf("%s: it ends since %q", name, got)
		}
		late := noon.Add(protocol.Hour)
		if got := g.EndsUnheard(rows, j, late); got != (tt.ends != "") {
			t.Errorf("%s: unheard it ends: %t", name, got)
		}
		if g.EndsUnheard(rows, j, noon) && !g.Misses(rows, j, noon) {
			t.Errorf("%s: it ends and has missed nothing", name)
		}
	}
}

// TestGroupsEndOnce: the first reason stays, and the rows that were given out are not changed.
func TestGroupsEndOnce(t *testing.T) {
	t.Parallel()
	j := member(1, row.JobHandedOff, noon)
	g, rows := groupOf(j, member(2, row.JobInGridQueue, 0))
	other, app := &broker.Group{Key: broker.GroupKey{Application: 1, Number: 2}}, rows.App
	if g.Ended(app) != "" || !g.End(app, "first") || g.End(app, "second") || g.Ended(app) != "first" || other.Ended(app) != "" {
		t.Errorf("ended: %q and %q, %+v", g.Ended(app), other.Ended(app), app.Apart)
	}
	given := app.Apart
	if !other.End(app, "other") || len(given) != 1 || other.Ended(app) != "other" {
		t.Errorf("the row that was given out has %v", given)
	}
	if changed, _ := g.RanToEnd(rows, j); changed || g.RanWithout(app) {
		t.Error("a member that has not started has run to its end")
	}
	j.Started = noon
	if changed, ends := g.RanToEnd(rows, j); !changed || ends == "" || !g.RanWithout(app) || other.RanWithout(app) {
		t.Errorf("one has run, another waits in the queue: changed %t, ends since %q", changed, ends)
	}
	if changed, ends := g.RanToEnd(rows, j); changed || ends != "" {
		t.Error("it has run to its end twice")
	}
	g, rows = groupOf(member(1, row.JobHandedOff, noon), member(2, row.JobHandedOff, noon))
	rows.Members[0].Started = noon
	if changed, ends := g.RanToEnd(rows, rows.Members[0]); !changed || ends != "" {
		t.Errorf("one has run, and the other is placed: changed %t, ends since %q", changed, ends)
	}
	g, rows = groupOf(member(1, row.JobHandedOff, noon), member(2, row.JobHandedOff, noon))
	rows.Members[0].Started, rows.Members[1].Parted = noon, true
	if changed, ends := g.RanToEnd(rows, rows.Members[0]); !changed || ends == "" {
		t.Errorf("one has run, and the other is recalled: changed %t, ends since %q", changed, ends)
	}
}

// TestAfterRun: a job is placed again only as often as its user and its group allow.
func TestAfterRun(t *testing.T) {
	t.Parallel()
	failed := &protocol.Outcome{State: protocol.NodeFail, Reason: "power"}
	killed := &protocol.Outcome{State: protocol.Cancelled}
	done := &protocol.Outcome{State: protocol.Completed}
	for name, tt := range map[string]struct {
		change  func(j *row.Job)
		outcome *protocol.Outcome
		ended   string
		again   string
		ends    bool
		ran     bool
	}{
		"it is done":                             {func(*row.Job) {}, done, "", "", false, true},
		"its node failed":                        {func(*row.Job) {}, failed, "", "its node failed: power", false, false},
		"for the tenth time":                     {func(j *row.Job) { j.Reruns = 9 }, failed, "", "its node failed: power", false, false},
		"once too often":                         {func(j *row.Job) { j.Reruns = 10 }, failed, "", "", false, true},
		"its node failed, and it runs once":      {func(j *row.Job) { j.Spec.Requeue = false }, failed, "", "", false, true},
		"its node failed, and it is cancelled":   {func(j *row.Job) { j.Cancelling = true }, failed, "", "", false, false},
		"its node failed, and its group is over": {func(*row.Job) {}, failed, "over", "", false, true},
		"it is cancelled":                        {func(j *row.Job) { j.Cancelling, j.Parted = true, true }, killed, "", "", false, false},
		"ended by its group":                     {func(j *row.Job) { j.Parted = true }, killed, "", "its group did not start together", false, false},
		"ended by its group, and runs once":      {func(j *row.Job) { j.Parted, j.Spec.Requeue = true, false }, killed, "", "", true, false},
		"ended by its group, once too often":     {func(j *row.Job) { j.Parted, j.Reruns = true, 10 }, killed, "", "", true, false},
		"ended by its group, which is over":      {func(j *row.Job) { j.Parted = true }, killed, "over", "", false, false},
		"done before its group could end it":     {func(j *row.Job) { j.Parted = true }, done, "", "", false, true},
	} {
		j := member(1, row.JobHandedOff, noon)
		j.Spec.Requeue = true
		tt.change(j)
		if got := broker.AfterRun(j, tt.outcome, tt.ended); got.Again != tt.again || (got.Ends != "") != tt.ends || got.Ran != tt.ran {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestStartBy: without room that is reserved nothing bounds the start.
func TestStartBy(t *testing.T) {
	t.Parallel()
	_, rows := groupOf(member(1, row.JobHandedOff, noon), member(2, row.JobOffered, 0))
	if by, limited := broker.StartBy(rows.Members[0], rows.App); !limited || by != noon.Add(protocol.DefaultStartTolerance) {
		t.Errorf("by %v", by)
	}
	if by, limited := broker.StartBy(rows.Members[1], rows.App); limited {
		t.Errorf("without room by %v", by)
	}
	for want, guest := range map[protocol.Instant]row.Guest{
		0:                              {Tolerance: protocol.Second},
		noon.Add(protocol.Second):      {ReservedAt: noon, Tolerance: protocol.Second},
		noon.Add(30 * protocol.Second): {ReservedAt: noon},
	} {
		if by, limited := broker.GuestStartBy(&guest); by != want || limited != (want != 0) {
			t.Errorf("%+v by %v, want %v", guest, by, want)
		}
	}
}
