package peer_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A job's start and end at its origin are those of the site that ran it, though the origin heard
// of both hours later, and though that site's clock is wrong.
func TestTimesAreThoseOfTheSiteThatRan(t *testing.T) {
	t.Parallel()
	for _, skew := range []protocol.Duration{0, -3 * protocol.Hour, 50 * protocol.Hour} {
		w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: []peertest.SiteOptions{
			{Name: "a", Capacity: protocol.Capacity{CPUs: 2, Nodes: 2}},
			{Name: "b", Capacity: protocol.Capacity{CPUs: 2, Nodes: 2}, Skew: skew},
		}})
		if err != nil {
			t.Fatal(err)
		}
		run := func(d protocol.Duration) protocol.Job {
			return peertest.Plan{Run: d}.Job(protocol.Spec{
				Request: protocol.Request{CPUs: 2, WallTime: 2 * protocol.Hour}, Sites: []protocol.SiteName{"b"},
			})
		}
		w.Submit("a", "ada", "", run(protocol.Hour), run(protocol.Hour))
		w.Advance(10 * protocol.Minute)
		first := w.Now().Add(50 * protocol.Minute)
		w.Disconnect("a", "b")
		w.Advance(5 * protocol.Hour)
		w.Connect("a", "b")
		if busy := w.RunUntilQuiet(protocol.Hour); busy != "" {
			t.Fatal(busy)
		}
		jobs := w.Site("a").Finished()
		slices.SortFunc(jobs, func(x, y view.Job) int { return cmp.Compare(x.Started, y.Started) })
		for i, want := range []struct{ started, ended protocol.Instant }{
			{first.Add(-protocol.Hour), first}, {first, first.Add(protocol.Hour)},
		} {
			if got := jobs[i]; !near(got.Started, want.started) || !near(got.Ended, want.ended) {
				t.Errorf("with a clock %s ahead, job %d ran from %v to %v, want %v to %v",
					skew.Text(), i, got.Started.Time(), got.Ended.Time(), want.started.Time(), want.ended.Time())
			}
			if !near(peertest.Epoch.Add(jobs[i].ClockOffset), peertest.Epoch.Add(skew)) {
				t.Errorf("the offset is told to be %s, want %s", jobs[i].ClockOffset.Text(), skew.Text())
			}
		}
	}
}

// near is within the time that messages are on their way.
func near(a, b protocol.Instant) bool { return max(a.Sub(b), b.Sub(a)) < 10*protocol.Second }

// What a site says makes no times that cannot be: no start before the grant, no end before the
// start or after it was heard of.
func TestNoImpossibleTimes(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]protocol.Result{
		"an end in the future":      {At: 1000, Started: 500, Ended: 2000},
		"a start before the grant":  {At: protocol.Instant(9 * protocol.Day), Started: 1, Ended: protocol.Instant(9*protocol.Day) - 60_000},
		"an end before the start":   {At: 9_000_000, Started: 8_000_000, Ended: 7_000_000},
		"a run longer than ever":    {Outcome: protocol.Outcome{Ran: 400 * protocol.Day}},
		"both before the grant":     {At: protocol.Instant(9 * protocol.Day), Started: 1, Ended: 2},
		"a partner without a clock": {Outcome: protocol.Outcome{Ran: protocol.Minute}},
	} {
		l, _ := atPartner(t, 1)
		offer := l.expensive()
		tag := protocol.Tag{Job: offer.Spec.Job, Epoch: offer.Epoch}
		l.step(event.MessageIn{From: "b", Body: protocol.Prepared{Tag: tag}})
		granted := l.now
		l.advance(protocol.Hour)
		result.Tag, result.Outcome.State = tag, protocol.Completed
		l.step(event.MessageIn{From: "b", Body: result})
		if got := l.finished(); got.Started < granted || got.Ended < got.Started || got.Ended > l.now {
			t.Errorf("%s: granted at %d, it ran from %d to %d, now is %d", name, granted, got.Started, got.Ended, l.now)
		}
	}
}
