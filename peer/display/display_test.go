package display_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job that did not end by itself has no exit code to show.
func TestEnding(t *testing.T) {
	t.Parallel()
	for want, job := range map[string]view.Job{
		"exit code 0":            {State: protocol.Completed},
		"exit code 3":            {State: protocol.Failed, ExitCode: 3},
		"signal 15":              {State: protocol.Cancelled, Signal: 15},
		"out of memory":          {State: protocol.Failed, Signal: protocol.SignalOutOfMemory},
		"exit code 1":            {State: protocol.Cancelled, ExitCode: 1},
		"":                       {State: protocol.Cancelled},
		"NODE_FAIL, went away":   {State: protocol.NodeFail, Reason: "went away"},
		"COMPLETED, exit code 0": {State: protocol.Completed},
	} {
		got := display.Ending(job)
		if strings.Contains(want, "_") || strings.Contains(want, ",") {
			got = display.State(job)
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestReasonsAreExplained(t *testing.T) {
	t.Parallel()
	text := display.JobStatus(view.Job{State: protocol.Pending, Reason: "WaitingForVolunteer", Local: "4711"}, time.Time{})
	if !strings.Contains(text, "Local ID   4711\n") {
		t.Errorf("got\n%s", text)
	}
	if !strings.Contains(text, "PENDING, WaitingForVolunteer (the local wait is local_wait_threshold or longer, and no partner volunteers)") {
		t.Errorf("got\n%s", text)
	}
}

func TestStatusShowsQuotedBesideBilled(t *testing.T) {
	t.Parallel()
	job := view.Job{
		State: protocol.Completed, Quoted: &view.QuotedPrice{Cost: 330_000, Currency: "EUR", Run: protocol.Hour},
		Bill: &view.Bill{
			Cost: 9_000, Currency: "EUR", Ran: 90 * protocol.Second, Disputed: "b bills 1.00 EUR",
			Terms: []view.PriceTerm{{Name: "cpu", Amount: 5_000}, {Name: "energy", Amount: 4_000}},
		},
		Objectives: &view.Objectives{Broken: "max_cost: too much"},
	}
	const want = "Quoted     0.33 EUR for 1:00:00\nBilled     0.009 EUR for 0:01:30 (cpu 0.005, energy 0.004)\n" +
		"Disputed   b bills 1.00 EUR\nLimit      exceeded: max_cost: too much\n"
	if text := display.JobStatus(job, time.Time{}); !strings.Contains(text, want) {
		t.Errorf("got\n%s", text)
	}
	job.Bill.Open = true
	if text := display.JobStatus(job, time.Time{}); !strings.Contains(text, "So far     0.009 EUR") {
		t.Errorf("got\n%s", text)
	}
}

// The price of the hours that a site holds stands beside their instant.
func TestHeldHoursAreReported(t *testing.T) {
	t.Parallel()
	fact := event.LogEvent{Kind: event.LogReserved, Site: "b", Text: "from 2026-01-01 08:00:00Z on", Epoch: 3}
	if got, want := display.Sentence(fact), "b made an advance reservation for it: from 2026-01-01 08:00:00Z on (epoch 3)"; got != want {
		t.Errorf("got %s", got)
	}
	fact.Price = &view.HeldPrice{
		Cost: 3_500_000, Currency: "EUR", Run: protocol.Hour,
		Terms: []view.PriceTerm{{Name: "cpu", Amount: 3_000_000}, {Name: "energy", Amount: 500_000}},
	}
	if got, want := display.Sentence(fact), "b made an advance reservation for it: from 2026-01-01 08:00:00Z on; 3.50 EUR for 1:00:00 (cpu 3.00, energy 0.50) (epoch 3)"; got != want {
		t.Errorf("got %s", got)
	}
}

// What holds of a start together is in status, and what its user has said of it in the story.
func TestStatusShowsHowAGroupStarts(t *testing.T) {
	t.Parallel()
	job := view.Job{Application: 42, Component: "mesh", Together: &view.Start{Tolerance: 90 * protocol.Second, Missed: protocol.FailMissed}}
	const late = "Together   at most 0:01:30 after the start of its group"
	for missed, want := range map[string]string{
		protocol.FailMissed:  late + "; if one starts later, the group fails\n",
		protocol.RetryMissed: late + "; if one starts later, the group is requeued\n",
		"":                   late + "\n", // a guest, as its origin alone knows
	} {
		job.Together.Missed = missed
		if text := display.JobStatus(job, time.Time{}); !strings.Contains(text, want) {
			t.Errorf("missing %q in\n%s", want, text)
		}
	}
	if text := display.JobStatus(view.Job{}, time.Time{}); strings.Contains(text, "Together") {
		t.Errorf("a job on its own:\n%s", text)
	}
	w := view.Objectives{Application: protocol.Application{MaxTime: protocol.Never, StartTolerance: protocol.Minute, StartMissed: protocol.FailMissed}}
	if text, want := display.OptionsText(&w), "components start at most 0:01:00 after the start of their group; if one starts later, the group fails."; !strings.Contains(text, want) {
		t.Errorf("missing %q in %s", want, text)
	}
}

// Costs that are not those of the planned hours are called so.
func TestCostNotice(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]string{"mcmf": "", "tc": "", "inst": "started immediately", "twoprice": "two electricity prices per day"} {
		if got := display.CostNotice(policy); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", policy, got, want)
		}
	}
}

// TestStatusShowsHowFarFilesAre: a file on its way is shown with what has come of it, in MB as its size is rounded.
func TestStatusShowsHowFarFilesAre(t *testing.T) {
	t.Parallel()
	job := view.Job{State: protocol.Pending, Transfer: &view.Transfer{File: "stage-in", Bytes: 3_900_000, Of: 11_000_001}}
	if text := display.JobStatus(job, time.Time{}); !strings.Contains(text, "\nTransfer   stage-in, 3 of 12 MB (35%)\n") {
		t.Error(text)
	}
	job.Transfer = nil
	if text := display.JobStatus(job, time.Time{}); strings.Contains(text, "Transfer") {
		t.Error(text)
	}
}
