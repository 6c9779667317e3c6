package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// wingJobs are the two open components of an application of three, and a job on its own.
func wingJobs() []view.Job {
	stated := &view.Objectives{
		Application: protocol.Application{Name: "wing"}, Components: 3, Spent: 2_500_000, SpentCurrency: "CHF",
	}
	return []view.Job{
		{ID: someID + 1, Name: "solve", User: "ann", State: protocol.Running, Site: "cygnus", Application: someID, Objectives: stated},
		{ID: someID + 2, Name: "plot", User: "ann", State: protocol.Pending, Reason: "WaitingForRound", Application: someID, Objectives: stated, Together: &view.Start{Tolerance: protocol.Minute, Missed: protocol.FailMissed}},
		{ID: someID + 3, Name: "alone", User: "ann", State: protocol.Pending},
	}
}

// An application is listed as one, its components alone, and all of them are cancelled at once,
// by the id of any of them, also of one that has ended.
func TestApplicationsAsOne(t *testing.T) {
	t.Parallel()
	jobs := wingJobs()
	n := &fakeNode{jobs: map[protocol.JobID]view.Job{someID: {ID: someID, State: protocol.Completed, Application: someID}}}
	for _, job := range jobs {
		n.jobs[job.ID] = job
	}
	n.replyF = func(ev event.Event) (view.Reply, error) {
		if _, ok := ev.(event.Cancel); ok {
			return view.Done{}, nil
		}
		return queueOf(jobs...)(ev)
	}
	socket := serve(t, n)
	want := "  APPLICATION  NAME  USER  COMPONENTS  PENDING  RUNNING  ENDED      COST  SITES   REASON\n" +
		"1000000000042  wing  ann            3        1        1      1  2.50 CHF  cygnus  WaitingForRound\n"
	if got := command(t, socket, "", "queue", "--applications"); got != (result{0, want, ""}) {
		t.Errorf("got\n%s%s", got.stdout, got.stderr)
	}
	var listed struct{ Applications []display.Application }
	got := command(t, socket, "", "queue", "--applications", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &listed); err != nil || len(listed.Applications) != 1 || listed.Applications[0].Ended != 1 ||
		listed.Applications[0].Together == nil || listed.Applications[0].Together.Missed != protocol.FailMissed {
		t.Errorf("--json: %v\n%s", err, got.stdout)
	}
	for _, id := range []protocol.JobID{someID, someID + 2} {
		got = command(t, socket, "", "queue", "--application", id.String(), "-h", "-o", "%j")
		if got != (result{0, "solve\nplot\n", ""}) {
			t.Errorf("components by %v: %+v", id, got)
		}
		n.asked = nil
		if got = command(t, socket, "", "cancel", "--application", id.String()); got != (result{}) {
			t.Errorf("cancel by %v: %+v", id, got)
		}
		var ended []protocol.JobID
		for _, ev := range n.asked {
			if cancel, ok := ev.(event.Cancel); ok {
				ended = append(ended, cancel.Job)
			}
		}
		if !slices.Equal(ended, []protocol.JobID{someID + 1, someID + 2}) {
			t.Errorf("cancelled by %v: %v", id, ended)
		}
	}
	for _, args := range [][]string{{"cancel", "--application"}, {"queue", "--application"}} {
		got = command(t, socket, "", append(args, (someID+3).String())...)
		if got.code != exitNotFound || !strings.Contains(got.stderr, "job 1000000000045 is not a component of an application") {
			t.Errorf("%q of a job on its own: %+v", args, got)
		}
	}
	if got = command(t, socket, "", "queue", "--applications", "-o", "%i"); got.code != exitUsage {
		t.Errorf("with a format: %+v", got)
	}
	jobs = jobs[2:]
	got = command(t, socket, "", "cancel", "--application", someID.String())
	if got.code != 1 || !strings.Contains(got.stderr, "all components of the application of job 1000000000042 have already ended") {
		t.Errorf("an application that is over: %+v", got)
	}
}
