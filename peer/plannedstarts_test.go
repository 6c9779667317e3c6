package peer_test

import (
	"math"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPlannedStarts: the origin of a job that waits at a partner, or in the own queue, learns when it is planned to start;
// after a restart of the origin it learns it again. Once the job runs, nothing is planned.
func TestPlannedStarts(t *testing.T) {
	t.Parallel()
	for name, cpus := range map[string]int{"at a partner": 2, "here": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asks := func(cfg *rules.Config) { cfg.PlannedStarts = protocol.Minute }
			w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: []peertest.SiteOptions{
				{Name: "a", Capacity: protocol.Capacity{CPUs: 1, Nodes: 1}, Config: asks},
				{Name: "b", Capacity: protocol.Capacity{CPUs: 2, Nodes: 2}, Config: asks},
			}})
			if err != nil {
				t.Fatal(err)
			}
			job := peertest.Plan{Run: protocol.Hour}.Job(protocol.Spec{Request: protocol.Request{CPUs: cpus, WallTime: protocol.Hour}})
			if cpus == 1 {
				job.Spec.Sites = []protocol.SiteName{"a"}
			}
			first := shown(w, submit(t, w, job))
			id := submit(t, w, job)
			if got := shown(w, id); got.Planned != nil {
				t.Fatalf("stated %+v before the batch system was asked", got.Planned)
			}
			for range 2 {
				w.Advance(2 * protocol.Minute)
				now := w.Now()
				got := shown(w, id).Planned
				if got == nil || now.Sub(got.Stated) > protocol.Minute+protocol.Second {
					t.Fatalf("stated %+v at %v", got, now)
				}
				if late := got.Start.Sub(first.Started.Add(protocol.Hour)); late < -protocol.Second || late > protocol.Second {
					t.Errorf("planned %v after the end of the first job", late)
				}
				restarted(t, w, "a")
				if got = shown(w, id).Planned; got != nil && cpus == 1 {
					t.Errorf("planned %+v after a restart", got)
				}
			}
			w.Advance(protocol.Hour)
			if got := shown(w, id); got.State != protocol.Running || got.Planned != nil {
				t.Errorf("planned %+v, %v", got.Planned, got.State)
			}
			w.Advance(2 * protocol.Hour)
			if err := w.Check(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestPlannedStartsOfPartner: what a partner says of planned starts is taken of jobs that wait there, at their present
// epoch, whatever instants it names.
func TestPlannedStartsOfPartner(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	plan := peertest.Plan{Run: protocol.Hour}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}, Sites: []protocol.SiteName{"b"},
	})
	l.step(event.Submit{Asked: 1, User: "ann", Jobs: []protocol.Job{plan}})
	offer := l.expensive()
	tag := offer.Tag()
	says := func(tag protocol.Tag, wait protocol.Duration) *view.PlannedStart {
		l.step(event.MessageIn{From: "b", Body: protocol.PlannedStarts{Starts: []protocol.PlannedStart{{Tag: tag, Wait: wait}}}})
		return l.view(offer.Spec.Job).Planned
	}
	if got := says(tag, 5); got != nil {
		t.Errorf("planned %+v of a job that it has not got", got)
	}
	l.step(event.MessageIn{From: "b", Body: protocol.Prepared{Tag: tag}})
	for wait, want := range map[protocol.Duration]protocol.Instant{0: l.now, 5: l.now + 5, protocol.Never - 1: math.MaxInt64} {
		if got := says(tag, wait); got == nil || *got != (view.PlannedStart{Start: want, Stated: l.now}) {
			t.Errorf("planned in %d ms: %+v", wait, got)
		}
	}
	said := says(tag, 5)
	for name, other := range map[string]protocol.Tag{
		"of another epoch": {Job: tag.Job, Epoch: tag.Epoch + 1}, "of another job": {Job: tag.Job + 1, Epoch: tag.Epoch},
	} {
		if got := says(other, 7); got == nil || *got != *said {
			t.Errorf("%s: planned %+v", name, got)
		}
	}
	if got := says(tag, protocol.Never); got != nil {
		t.Errorf("planned %+v, and none is", got)
	}
	says(tag, 5)
	l.step(event.MessageIn{From: "b", Body: protocol.Status{Tag: tag, Seq: 1, State: protocol.Running}})
	if got := says(tag, 5); got != nil {
		t.Errorf("planned %+v of a job that runs", got)
	}
}

// TestBestQuote: a job that a round leaves in the grid queue keeps the quote with the shortest wait, as long as it may be placed.
func TestBestQuote(t *testing.T) {
	t.Parallel()
	answer := idle(peertest.Greedy{}, func(r protocol.Request) protocol.Quote {
		return protocol.Quote{Job: r.Job, AWT: 3 * protocol.Hour, ERT: r.WallTime}
	})
	l := newLone(t, func(*rules.Config) {}, func(op event.Op) (event.Result, error) {
		if _, ok := op.(event.DecideOp); ok {
			return event.DecideResult{}, nil // the job stays
		}
		return answer(op)
	})
	plan := peertest.Plan{Run: protocol.Hour}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}})
	l.step(event.Submit{Asked: 1, User: "ann", Jobs: []protocol.Job{plan}})
	request, ok := l.last().(protocol.QuoteRequest)
	if !ok {
		t.Fatalf("got %T instead of a question", l.last())
	}
	id := request.Jobs[0].Job
	if got := l.view(id).BestQuote; got != nil {
		t.Errorf("%+v before a site has quoted", got)
	}
	l.step(event.MessageIn{From: "b", Body: protocol.QuoteReply{Round: request.Round, MaxJobs: 1, Quotes: []protocol.Quote{
		{Job: id, AWT: protocol.Hour, AWTLow: protocol.Minute, AWTMedian: protocol.Hour, AWTHigh: 2 * protocol.Hour, ERT: protocol.Hour},
	}}})
	want := view.BestQuote{Site: "b", QuotedWaits: view.QuotedWaits{
		At: l.now, AWT: protocol.Hour, Low: protocol.Minute, Median: protocol.Hour, High: 2 * protocol.Hour, ERT: protocol.Hour,
	}}
	if got := l.view(id).BestQuote; got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	l.step(event.SetHold{Asked: 2, Job: id, Hold: true, User: "ann"})
	if got := l.view(id).BestQuote; got != nil {
		t.Errorf("%+v of a job that is held", got)
	}
}

// TestPlannedStartOfElements: the line of elements that wait at a site has the planned start of the next one.
func TestPlannedStartOfElements(t *testing.T) {
	t.Parallel()
	w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: []peertest.SiteOptions{
		{Name: "a", Capacity: protocol.Capacity{CPUs: 1, Nodes: 1}, Config: func(cfg *rules.Config) { cfg.PlannedStarts = protocol.Minute }},
	}})
	if err != nil {
		t.Fatal(err)
	}
	job := peertest.Plan{Run: protocol.Hour}.Job(protocol.Spec{Request: protocol.Request{CPUs: 1, WallTime: protocol.Hour}})
	array, err := protocol.ParseArray("1-3")
	if err != nil {
		t.Fatal(err)
	}
	job.Array = &array
	submit(t, w, job)
	w.Advance(2 * protocol.Minute)
	asked := w.Ask("a", func(asked event.AskID) event.Event {
		return event.AskQueue{Asked: asked, Filter: view.QueueFilter{States: []protocol.State{protocol.Pending}}}
	})
	queue, ok := w.Site("a").Answer(asked).(view.Queue)
	if !ok || len(queue.Jobs) != 1 {
		t.Fatalf("got %+v", w.Site("a").Answer(asked))
	}
	line := queue.Jobs[0]
	if line.Planned == nil || line.Array == nil || line.Array.Elements.Len() != 2 {
		t.Fatalf("the line is %+v, planned %+v", line, line.Planned)
	}
	if left := line.Planned.Start.Sub(w.Now()); left > protocol.Hour-protocol.Minute || left < 50*protocol.Minute {
		t.Errorf("the next element is planned in %v", left)
	}
}
