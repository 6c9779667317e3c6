package peer_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (l *lone) queue(f view.QueueFilter) view.Queue {
	l.t.Helper()
	l.step(event.AskQueue{Asked: 1, Filter: f})
	queue, ok := l.answers[len(l.answers)-1].(view.Queue)
	if !ok {
		l.t.Fatalf("got %T", l.answers[len(l.answers)-1])
	}
	return queue
}

func idsOf(queue view.Queue) (ids []protocol.JobID) {
	for _, job := range queue.Jobs {
		ids = append(ids, job.ID)
	}
	return ids
}

// TestQueueIsFilteredInThePeer: each condition alone and with others, and never a job that does
// not meet it.
func TestQueueIsFilteredInThePeer(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, func(r protocol.Request) protocol.Quote {
		return protocol.Quote{Job: r.Job, ERT: protocol.Hour}
	}))
	first := submission(3)
	first.User = "ann"
	first.Jobs[1].Spec.Name = "mesh"
	l.step(first)
	second := submission(1)
	second.User, second.Key = "bob", "second"
	second.Jobs[0].Spec.Sites = []protocol.SiteName{"b"}
	l.step(second)
	l.advance(protocol.Minute)
	all := idsOf(l.queue(view.QueueFilter{}))
	if len(all) != 4 {
		t.Fatalf("%d jobs", len(all))
	}
	waiting := all[3]
	for name, c := range map[string]struct {
		filter view.QueueFilter
		want   []protocol.JobID
	}{
		"ids, one of them unknown": {view.QueueFilter{Jobs: []protocol.JobID{all[2], 9_000_000_000_009, all[0], all[2]}}, []protocol.JobID{all[0], all[2]}},
		"user":                     {view.QueueFilter{Users: []string{"bob", "eve"}}, all[3:]},
		"name":                     {view.QueueFilter{Names: []string{"mesh"}}, all[1:2]},
		"site":                     {view.QueueFilter{Sites: []protocol.SiteName{"a"}}, all[:3]},
		"grid queue":               {view.QueueFilter{Sites: []protocol.SiteName{""}}, []protocol.JobID{waiting}},
		"state":                    {view.QueueFilter{States: []protocol.State{protocol.Failed, protocol.Pending}}, all},
		"no job has the state":     {view.QueueFilter{States: []protocol.State{protocol.Running}}, nil},
		"guests":                   {view.QueueFilter{Guests: view.OnlyGuests}, nil},
		"no guests":                {view.QueueFilter{Guests: view.WithoutGuests}, all},
		"viewer":                   {view.QueueFilter{Viewer: "ann"}, all[:3]},
		"viewer and user":          {view.QueueFilter{Viewer: "ann", Users: []string{"bob"}}, nil},
		"application":              {view.QueueFilter{Application: all[0]}, nil},
		"after, with ids":          {view.QueueFilter{After: all[0], Jobs: all[:2]}, all[1:2]},
	} {
		if got := idsOf(l.queue(c.filter)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v of %v", name, got, c.want, all)
		}
	}
}

// TestQueuePages: the pages of a long queue have each job once, by their ids, and only the last
// one says that nothing follows.
func TestQueuePages(t *testing.T) {
	t.Parallel()
	const jobs = 10_007
	l := newLone(t, func(c *rules.Config) { c.Initiation = policy.Cycle }, idle(peertest.Greedy{}, full))
	l.step(submission(jobs))
	whole := idsOf(l.queue(view.QueueFilter{}))
	if len(whole) != jobs {
		t.Fatalf("%d jobs", len(whole))
	}
	for _, size := range []int{1, 700, jobs} {
		var got []protocol.JobID
		for f, more := (view.QueueFilter{Limit: size, Users: []string{"ada"}}), true; more && len(got) < 5*size; {
			page := l.queue(f)
			got = append(got, idsOf(page)...)
			if more = page.Next != 0; more && (page.Next != got[len(got)-1] || len(page.Jobs) != size) {
				t.Fatalf("a page of %d has %d jobs, and %v follows", size, len(page.Jobs), page.Next)
			}
			f.After = page.Next
		}
		if !slices.Equal(got, whole[:min(5*size, jobs)]) {
			t.Errorf("pages of %d: %d jobs, others than the whole queue has", size, len(got))
		}
	}
	if last := l.queue(view.QueueFilter{Limit: 10, After: whole[jobs-10]}); len(last.Jobs) != 9 || last.Next != 0 {
		t.Errorf("the last page has %d jobs, and %v follows", len(last.Jobs), last.Next)
	}
}

// BenchmarkQueuePage is a page of 1000 of 180,000 jobs that wait.
func BenchmarkQueuePage(b *testing.B) {
	cfg := goodConfig()
	cfg.Policy, cfg.Initiation = policy.Describe(peertest.Greedy{}), policy.Cycle
	p, err := peer.New(cfg, 1, nil)
	if err != nil {
		b.Fatal(err)
	}
	p.Step(peertest.Epoch, event.Tick{})
	for range 18 {
		p.Step(peertest.Epoch, submission(10_000))
	}
	after := protocol.JobID(0)
	for b.Loop() {
		ready := p.Step(peertest.Epoch, event.AskQueue{Asked: 1, Filter: view.QueueFilter{Limit: 1000, After: after}})
		queue, ok := ready.Answers[0].Reply.(view.Queue)
		if !ok || len(queue.Jobs) != 1000 {
			b.Fatalf("%T", ready.Answers[0].Reply)
		}
		after = queue.Next
	}
}
