package status_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// described is job 7.
func described() protocol.Spec {
	return protocol.Spec{Request: protocol.Request{Job: 7, CPUs: 4}, Name: "x", User: "ann"}
}

func TestJobView(t *testing.T) {
	t.Parallel()
	quoted, home := &view.QuotedPrice{Cost: 5}, &view.QuotedPrice{Cost: 6}
	plain := row.Job{
		Spec: described(), Phase: row.JobHandedOff, Site: "b", Epoch: 3, State: protocol.Running, CommittedAt: 10, Started: 20, Ended: 30,
		QuotedAWT: new(protocol.Duration(40)), WorkDir: "/w", Stdout: "/o", Stderr: "/e", Quoted: quoted, Home: home, Offset: 9,
	}
	want := view.Described(plain.Spec)
	want.State, want.Origin, want.Site, want.Epoch = protocol.Running, "a", "b", 3
	want.CommittedAt, want.Started, want.Ended, want.QuotedAWT = 10, 20, 30, new(protocol.Duration(40))
	want.WorkDir, want.Stdout, want.Stderr = "/w", "/o", "/e"
	want.Quoted, want.LocalQuoted, want.ClockOffset = quoted, home, 9
	s := status.Job{Job: &plain}
	if got := s.View("a"); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}

	member := plain
	member.Phase, member.Application, member.ReservedAt = row.JobOffered, 5, 50
	member.Component = &protocol.Component{Name: "solver", Together: 1}
	member.Prediction = &row.Prediction{Cost: 77, Run: 88}
	want.Site, want.Application, want.Component, want.ReservedAt, want.Cost, want.PredictedRunTime, want.Local = "", 5, "solver", 50, 77, 88, "id"
	want.Together = &view.Start{Tolerance: protocol.DefaultStartTolerance, Missed: protocol.RetryMissed}
	s = status.Job{Job: &member, Run: &row.Run{Local: "id"}, Application: &row.Application{}}
	if got := s.View("a"); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	s.Application.StartMissed = protocol.FailMissed
	if got := s.View("a").Together; got == nil || got.Missed != protocol.FailMissed {
		t.Errorf("what becomes of a missed start: %+v", got)
	}
	member.Component.Together = 0
	if s.View("a").Together != nil {
		t.Error("a component that starts on its own is shown to start with others")
	}
}

func TestPlacedAt(t *testing.T) {
	t.Parallel()
	for phase, want := range map[row.JobPhase]protocol.SiteName{
		row.JobOffered: "", row.JobReserving: "", row.JobCommittedLocal: "b", row.JobGranted: "b", row.JobHandedOff: "b", row.JobEnding: "b",
	} {
		j := row.Job{Spec: described(), Phase: phase, Site: "b", State: protocol.Pending, Application: 5}
		want := view.Traits{ID: 7, User: "ann", Name: "x", Site: want, State: protocol.Pending, Application: 5}
		if got := status.TraitsOf(&j); *got != want {
			t.Errorf("in phase %s: %+v, want %+v", phase, *got, want)
		}
	}
}

func TestShowOutcome(t *testing.T) {
	t.Parallel()
	j := row.Job{State: protocol.Failed, Reason: "why", Ended: 9, Outcome: &protocol.Outcome{ExitCode: 3, Signal: 9, Usage: protocol.Usage{Energy: 5}}}
	j.Undelivered = []view.Undelivered{{File: "stdout"}}
	v := view.Job{State: protocol.Running, Reason: "x", Ended: 1}
	want := view.Job{State: protocol.Failed, Reason: "why", Ended: 9, ExitCode: 3, Signal: 9, Usage: protocol.Usage{Energy: 5}, Undelivered: j.Undelivered}
	if status.ShowOutcome(&v, &j); !reflect.DeepEqual(v, want) {
		t.Errorf("%+v, want %+v", v, want)
	}
	j.Outcome = nil
	if status.ShowOutcome(&v, &j); v.ExitCode != 3 {
		t.Error("a job without an outcome has changed what is shown of its end")
	}
}

func TestGuestView(t *testing.T) {
	t.Parallel()
	base := view.Described(described())
	base.Guest, base.Origin, base.Site, base.Epoch, base.State, base.CommittedAt = true, "b", "a", 2, protocol.Pending, 11
	outcome := &protocol.Outcome{State: protocol.Failed, ExitCode: 3, Signal: 9, Ran: 5, Usage: protocol.Usage{CPU: 4, Energy: 2}}
	tests := map[string]struct {
		hold, held, tolerance protocol.Instant
		run                   *row.Run
		want                  func(*view.Job)
	}{
		"no run yet": {want: func(v *view.Job) { v.Reason = "HandOff" }},
		"room is sought": {hold: 12 * 3600_000, want: func(v *view.Job) {
			v.Reason, v.Together = "HandOff", &view.Start{Tolerance: protocol.DefaultStartTolerance}
		}},
		"queued":       {run: &row.Run{Phase: row.RunQueued, Reason: "Priority", Local: "id"}, want: func(v *view.Job) { v.Reason, v.Local = "Priority", "id" }},
		"nobody knows": {run: &row.Run{Phase: row.RunSubmitting, Reason: "Priority", OperatorReason: "lost"}, want: func(v *view.Job) { v.Reason = "lost" }},
		"room is there": {held: 12 * 3600_000, tolerance: 5, run: &row.Run{Phase: row.RunQueued}, want: func(v *view.Job) {
			v.Reason, v.ReservedAt, v.Together = "WaitingForStartTime (at 12:00:00Z)", 12*3600_000, &view.Start{Tolerance: 5}
		}},
		"and a reason": {held: 12 * 3600_000, run: &row.Run{Phase: row.RunQueued, Reason: "Priority"}, want: func(v *view.Job) {
			v.Reason, v.ReservedAt, v.Together = "Priority", 12*3600_000, &view.Start{Tolerance: protocol.DefaultStartTolerance}
		}},
		"runs in its room": {held: 12 * 3600_000, run: &row.Run{Phase: row.RunRunning, Started: 20}, want: func(v *view.Job) {
			v.State, v.Started, v.ReservedAt, v.Together = protocol.Running, 20, 12*3600_000, &view.Start{Tolerance: protocol.DefaultStartTolerance}
		}},
		"ended": {run: &row.Run{Phase: row.RunEnded, Started: 20, Ended: 26, Outcome: outcome}, want: func(v *view.Job) {
			v.State, v.Reason, v.Started, v.Ended, v.ExitCode, v.Signal = protocol.Failed, "waiting until b has received its result", 20, 26, 3, 9
			v.Ran, v.Usage = 5, protocol.Usage{CPU: 4, Energy: 2}
		}},
		"ended, by a row of before": {run: &row.Run{Phase: row.RunEnded, Started: 20, Outcome: &protocol.Outcome{State: protocol.Completed, Reason: "r", Ran: 5}}, want: func(v *view.Job) {
			v.State, v.Reason, v.Started, v.Ended, v.Ran = protocol.Completed, "r", 20, 25, 5
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := row.Guest{Spec: described(), Origin: "b", Epoch: 2, Since: 11, ReserveFrom: tt.hold, ReservedAt: tt.held, Tolerance: protocol.Duration(tt.tolerance)}
			want := base
			tt.want(&want)
			if got := status.Guest(&g, tt.run, "a"); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v\nwant %+v", got, want)
			}
		})
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	for phase, want := range map[row.GuestPhase]bool{row.GuestPrepared: true, row.GuestAccepted: true, row.GuestAborted: false, row.GuestClosed: false} {
		if got := status.Shown(&row.Guest{Phase: phase}); got != want {
			t.Errorf("a guest in phase %s: %v", phase, got)
		}
	}
}

// Whatever the order of the jobs and however many there are, pages follow one another without a
// gap, and only jobs that can still be on the page are asked for.
func TestPages(t *testing.T) {
	t.Parallel()
	const jobs = 5000
	for _, limit := range []int{0, 1, 2, 700} {
		f := view.QueueFilter{Limit: limit, Users: []string{"ann"}}
		var seen []protocol.JobID
		for {
			page := status.NewPage(&f)
			for i := range jobs {
				id := protocol.JobID(1 + (i*2473)%jobs) // each once
				if !page.Reaches(id) {
					continue
				}
				user := "ann"
				if id%3 == 0 {
					user = "bob"
				}
				page.Add(&view.Traits{ID: id, User: user, Guest: id%2 == 0})
			}
			listed, next := page.Jobs()
			if limit > 0 && len(listed) > limit {
				t.Fatalf("a page of %d jobs, the limit is %d", len(listed), limit)
			}
			for _, one := range listed {
				if one.Guest != (one.ID%2 == 0) {
					t.Fatalf("job %d is a guest: %v", one.ID, one.Guest)
				}
				seen = append(seen, one.ID)
			}
			if f.After = next; next == 0 {
				break
			}
			if next != listed[len(listed)-1].ID {
				t.Fatalf("the next page begins after %d, this one ends with %d", next, listed[len(listed)-1].ID)
			}
			if limit < 700 && len(seen) > 20*limit {
				break // far enough for small pages
			}
		}
		want := protocol.JobID(0)
		for _, id := range seen {
			if want++; want%3 == 0 {
				want++
			}
			if id != want {
				t.Fatalf("limit %d: job %d, want %d", limit, id, want)
			}
		}
		if (limit == 0 || limit == 700) && want != jobs {
			t.Errorf("limit %d: the last job is %d", limit, want)
		}
	}
}
