package main

import (
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestQueueStart: pending jobs by their expected starts, those of which nothing is known last.
func TestQueueStart(t *testing.T) {
	t.Parallel()
	soon := protocol.InstantOf(time.Now().Add(time.Hour).Truncate(time.Second))
	job := func(id protocol.JobID, waits *view.QuotedWaits, site protocol.SiteName) view.Job {
		return view.Job{ID: id, Name: "x", User: "ann", State: protocol.Pending, CPUs: 2, Site: site, Waits: waits, Reason: "Resources"}
	}
	delayed := job(someID+3, nil, "")
	delayed.Conditions.Begin, delayed.Reason = soon.Add(7_260_000), view.ReasonBeginTime
	array := job(someID+1000, &view.QuotedWaits{At: soon, AWT: 3_600_000}, "aurora")
	array.Array = &view.Array{ID: someID + 999, Elements: protocol.IndexesOf(3, 4, 9)}
	n := &fakeNode{replyF: always(view.Queue{Jobs: []view.Job{
		job(someID, nil, ""),
		job(someID+1, &view.QuotedWaits{At: soon, AWT: 7_200_000}, "aurora"),
		job(someID+2, &view.QuotedWaits{At: soon, AWT: 60_000, Low: 1000, Median: 30_000, High: 90_000}, "borealis"),
		delayed, array,
	}}, nil)}
	socket := serve(t, n)
	clock := func(after protocol.Duration) string {
		return soon.Add(after).Time().Local().Format("2006-01-02 15:04:05")
	}
	want := "JOBID NAME USER CPUS SITE START EARLIEST LATEST AGE REASON\n" +
		" 1000000000044 x ann 2 borealis " + clock(30_000) + " " + clock(1000) + " " + clock(90_000) + " 0:00:00 Resources\n" +
		"1000000001041_[3-4,9] x ann 2 aurora " + clock(3_600_000) + " " + clock(3_600_000) + " " + clock(3_600_000) + " 0:00:00 Resources\n" +
		" 1000000000043 x ann 2 aurora " + clock(7_200_000) + " " + clock(7_200_000) + " " + clock(7_200_000) + " 0:00:00 Resources\n" +
		" 1000000000045 x ann 2 - " + clock(7_260_000) + " " + clock(7_260_000) + " " + clock(7_260_000) + " - BeginTime\n" +
		" 1000000000042 x ann 2 - - - - - Resources\n"
	if got := command(t, socket, "", "queue", "--start"); squeezed(got.stdout) != want || got.code != 0 {
		t.Errorf("got\n%s%s\nwant\n%s", got.stdout, got.stderr, want)
	}
	if ask, ok := n.asked[0].(event.AskQueue); !ok || len(ask.Filter.States) != 1 || ask.Filter.States[0] != protocol.Pending {
		t.Errorf("asked %+v", n.asked[0])
	}
	if got := command(t, socket, "", "queue", "--start", "-t", "R"); got.code != exitUsage || !strings.Contains(got.stderr, "--start cannot be combined") {
		t.Errorf("%+v", got)
	}
}
