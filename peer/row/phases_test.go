package row_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/phase"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// placed is a job that has all that a placement leaves in its row.
func placed(phase row.JobPhase) row.Job {
	shapes := []protocol.Shape{{CPUs: 4, WallTime: protocol.Hour}, {CPUs: 8, WallTime: protocol.Minute}}
	return row.Job{
		Spec: protocol.Spec{
			Request:          protocol.Request{Job: protocol.NewJobID(1, 7), CPUs: 8, WallTime: protocol.Minute},
			PredictedRunTime: 5, Intensity: 6, Computing: 7, MeasuredPower: 8,
		},
		Phase: phase, Epoch: 3, Site: "b", State: protocol.Running, Reason: "why", StatusSeq: 4, QuotedAWT: new(protocol.Duration(5)), CommittedAt: 6, Started: 7,
		Quoted: &view.QuotedPrice{}, Home: &view.QuotedPrice{}, Tariff: &protocol.Tariff{}, Offset: 1, Disputed: "no", OperatorReason: "lost",
		Reruns: 2, Restored: true, Component: &protocol.Component{Shapes: shapes}, Prediction: &row.Prediction{}, ReserveFrom: 8, ReservedAt: 9, Parted: true,
	}
}

// TestBackInTheQueueNothingIsLeft: what is left of a placement before would count for the next.
func TestBackInTheQueueNothingIsLeft(t *testing.T) {
	t.Parallel()
	for _, from := range []row.JobPhase{row.JobCommittedLocal, row.JobOffered, row.JobGranted, row.JobHandedOff, row.JobRecalling} {
		j := placed(from)
		if err := j.Move(row.JobInGridQueue); err != nil {
			t.Fatal(err)
		}
		if err := j.Check(); err != nil {
			t.Errorf("from %s: %v", from, err)
		}
		if j.Spec.CPUs != 4 || j.Spec.WallTime != protocol.Hour || j.Spec.PredictedRunTime != 0 || j.Spec.MeasuredPower != 0 {
			t.Errorf("from %s it keeps the shape or the prediction of its placement: %+v", from, j.Spec)
		}
		if j.Home != nil || j.Disputed != "" || j.Offset != 0 || j.StatusSeq != 0 || j.OperatorReason != "" || j.State != protocol.Pending {
			t.Errorf("from %s it keeps what its site said: %+v", from, j)
		}
		if j.Epoch != 3 || j.Reruns != 2 || !j.Restored {
			t.Errorf("from %s it forgets how often it was placed, or that its rows are old: %+v", from, j)
		}
	}
}

// TestMoves has the moves on which at most one start rests.
func TestMoves(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, to row.JobPhase
		legal    bool
	}{
		{row.JobOffered, row.JobGranted, true},
		{row.JobInGridQueue, row.JobGranted, false},    // a grant without an offer
		{row.JobReserving, row.JobGranted, false},      // to a partner, while the own site holds room
		{row.JobCommittedLocal, row.JobGranted, false}, // it has its place here
		{row.JobCommittedLocal, row.JobOffered, false},
		{row.JobCommittedLocal, row.JobHandedOff, false},
		{row.JobGranted, row.JobOffered, false}, // past the point of no return
		{row.JobGranted, row.JobCommittedLocal, false},
		{row.JobHandedOff, row.JobCommittedLocal, false},
		{row.JobOffered, row.JobRecalling, false},     // nothing was granted: an Abort is enough
		{row.JobStagingOut, row.JobInGridQueue, true}, // a user has it start again
		{row.JobStagingOut, row.JobRecalling, false},
		{row.JobEnding, row.JobInGridQueue, false}, // it is cancelled
		{row.JobEnding, row.JobOffered, false},
		{row.JobEnding, row.JobHandedOff, false},
		{row.JobGranted, "granted twice", false},
	} {
		j := placed(tt.from)
		before := j
		err := j.Move(tt.to)
		if legal := err == nil; legal != tt.legal {
			t.Errorf("%s to %s: %v", tt.from, tt.to, err)
		}
		if wrong, ok := errors.AsType[*phase.MoveError](err); err != nil &&
			(!ok || wrong.From != string(tt.from) || wrong.To != string(tt.to) || j.Phase != before.Phase || j.Site != before.Site) {
			t.Errorf("%s to %s: %v, and the row is %+v", tt.from, tt.to, err, j)
		}
	}
}

// TestTombstonesStay: an epoch that has ended here never starts again.
func TestTombstonesStay(t *testing.T) {
	t.Parallel()
	for _, tombstone := range []row.GuestPhase{row.GuestAborted, row.GuestClosed} {
		for _, to := range []row.GuestPhase{row.GuestPrepared, row.GuestAccepted, row.GuestAborted, row.GuestClosed} {
			g := row.Guest{Phase: tombstone}
			if err := g.Move(to); err == nil {
				t.Errorf("a guest goes from %s to %s", tombstone, to)
			}
		}
	}
	g := row.Guest{
		Phase: row.GuestAccepted, Origin: "b", Epoch: 2, Recalled: true, Cancel: true, Tariff: &protocol.Tariff{},
		Spec: protocol.Spec{Request: protocol.Request{Job: 7, CPUs: 4}, Name: "long"},
	}
	if err := g.Move(row.GuestClosed); err != nil {
		t.Fatal(err)
	}
	if g.Recalled || g.Cancel || g.Tariff != nil || g.Spec.Name != "" || g.Spec.CPUs != 0 || g.Spec.Job != 7 || g.Epoch != 2 || g.Origin != "b" {
		t.Errorf("the tombstone is %+v", g)
	}
}

// TestRunsEndOnce: an end is the last that happens to a placement.
func TestRunsEndOnce(t *testing.T) {
	t.Parallel()
	for _, to := range []row.RunPhase{row.RunSubmitting, row.RunQueued, row.RunRunning, row.RunEnded} {
		r := row.Run{Phase: row.RunEnded}
		if err := r.Move(to); err == nil {
			t.Errorf("a run that has ended enters %s", to)
		}
	}
	r := row.Run{Phase: row.RunSubmitting, OperatorReason: "the scheduler does not answer"}
	if err := r.Move(row.RunRunning); err == nil {
		t.Error("a run starts that is in no queue")
	}
	if err := r.Move(row.RunQueued); err != nil || r.OperatorReason != "" {
		t.Errorf("in the queue: %v, %+v", err, r)
	}
}

// TestImpossibleRows has a row for each condition of Check.
func TestImpossibleRows(t *testing.T) {
	t.Parallel()
	queued := row.Job{Phase: row.JobInGridQueue, State: protocol.Pending}
	handed := row.Job{Phase: row.JobHandedOff, State: protocol.Running, Site: "b", Epoch: 1}
	guest := row.Guest{Phase: row.GuestPrepared, Origin: "b", Epoch: 1}
	run := row.Run{Phase: row.RunQueued}
	// A member of a group has run, its output is here, and another placement is still to be heard of.
	ending := placed(row.JobEnding)
	ending.Cancelling, ending.Outcome = true, &protocol.Outcome{State: protocol.Cancelled}
	for _, possible := range []interface{ Check() error }{&queued, &handed, &ending, &guest, &run} {
		if err := possible.Check(); err != nil {
			t.Error(err)
		}
	}
	for name, change := range map[string]func(q, h *row.Job, g *row.Guest, r *row.Run){
		"a terminal state":             func(q, h *row.Job, _ *row.Guest, _ *row.Run) { h.State = protocol.Completed },
		"no state":                     func(q, h *row.Job, _ *row.Guest, _ *row.Run) { q.State = 0 },
		"no site":                      func(q, h *row.Job, _ *row.Guest, _ *row.Run) { h.Site = "" },
		"no epoch":                     func(q, h *row.Job, _ *row.Guest, _ *row.Run) { h.Epoch = 0 },
		"room that was not asked for":  func(q, h *row.Job, _ *row.Guest, _ *row.Run) { h.ReservedAt = 5 },
		"no instant to hold from":      func(q, h *row.Job, _ *row.Guest, _ *row.Run) { h.Phase = row.JobReserving },
		"granted at no time":           func(q, h *row.Job, _ *row.Guest, _ *row.Run) { h.Phase = row.JobGranted },
		"committed at no time":         func(q, h *row.Job, _ *row.Guest, _ *row.Run) { h.Phase = row.JobCommittedLocal },
		"output of no outcome":         func(q, h *row.Job, _ *row.Guest, _ *row.Run) { h.Phase = row.JobStagingOut },
		"a site in the queue":          func(q, h *row.Job, _ *row.Guest, _ *row.Run) { q.Site = "b" },
		"placed in the queue":          func(q, h *row.Job, _ *row.Guest, _ *row.Run) { q.CommittedAt = 5 },
		"started in the queue":         func(q, h *row.Job, _ *row.Guest, _ *row.Run) { q.Started = 5 },
		"room sought in the queue":     func(q, h *row.Job, _ *row.Guest, _ *row.Run) { q.ReserveFrom = 5 },
		"parted in the queue":          func(q, h *row.Job, _ *row.Guest, _ *row.Run) { q.Parted = true },
		"a price in the queue":         func(q, h *row.Job, _ *row.Guest, _ *row.Run) { q.Quoted = &view.QuotedPrice{} },
		"a tariff in the queue":        func(q, h *row.Job, _ *row.Guest, _ *row.Run) { q.Tariff = &protocol.Tariff{} },
		"a prediction in the queue":    func(q, h *row.Job, _ *row.Guest, _ *row.Run) { q.Prediction = &row.Prediction{} },
		"an outcome in the queue":      func(q, h *row.Job, _ *row.Guest, _ *row.Run) { q.Outcome = &protocol.Outcome{} },
		"ending and not cancelled":     func(q, h *row.Job, _ *row.Guest, _ *row.Run) { q.Phase = row.JobEnding },
		"a guest of nobody":            func(_, _ *row.Job, g *row.Guest, _ *row.Run) { g.Origin = "" },
		"a guest without epoch":        func(_, _ *row.Job, g *row.Guest, _ *row.Run) { g.Epoch = 0 },
		"prepared and to be returned":  func(_, _ *row.Job, g *row.Guest, _ *row.Run) { g.ReturnUnacked = true },
		"a guest with room unasked":    func(_, _ *row.Job, g *row.Guest, _ *row.Run) { g.ReservedAt = 5 },
		"acknowledged before it is":    func(_, _ *row.Job, _ *row.Guest, r *row.Run) { r.Acked = 1 },
		"an outcome before the end":    func(_, _ *row.Job, _ *row.Guest, r *row.Run) { r.Outcome = &protocol.Outcome{} },
		"an end without outcome":       func(_, _ *row.Job, _ *row.Guest, r *row.Run) { r.Phase = row.RunEnded },
		"killed and not withdrawn":     func(_, _ *row.Job, _ *row.Guest, r *row.Run) { r.Kill = true },
		"queued and started":           func(_, _ *row.Job, _ *row.Guest, r *row.Run) { r.Started = 5 },
		"being submitted, and started": func(_, _ *row.Job, _ *row.Guest, r *row.Run) { r.Phase, r.Started = row.RunSubmitting, 5 },
	} {
		q, h, g, r := queued, handed, guest, run
		change(&q, &h, &g, &r)
		if q.Check() == nil && h.Check() == nil && g.Check() == nil && r.Check() == nil {
			t.Errorf("%s: no row is wrong", name)
		}
	}
}

// TestUnknownPhases: a row of a newer version is refused, and not taken for another.
func TestUnknownPhases(t *testing.T) {
	t.Parallel()
	for table, text := range map[row.Table]string{
		row.JobTable: `{"phase":"beamed"}`, row.GuestTable: `{"phase":""}`, row.RunTable: `{"phase":"prepared"}`,
	} {
		if got, err := row.Decode(table, []byte(text)); err == nil {
			t.Errorf("%s %s is read as %+v", table, text, got)
		}
	}
	want := placed(row.JobRecalling)
	data, err := row.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := row.Decode(row.JobTable, data)
	if again, _ := json.Marshal(got); err != nil || string(again) != string(data) {
		t.Errorf("%v\n%s\nis read as\n%s", err, data, again)
	}
}

// TestPhasesAreExplained: docs/architecture.md has the moves of the tables.
func TestPhasesAreExplained(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- phases -->\n")
	shown, _, ok := strings.Cut(rest, "<!-- /phases -->")
	want := "| of a | phase | entered from |\n|---|---|---|\n" + strings.Join(row.Phases(), "\n") + "\n"
	if !ok || shown != want {
		t.Errorf("between <!-- phases --> and <!-- /phases --> docs/architecture.md has to have\n%s", want)
	}
}
