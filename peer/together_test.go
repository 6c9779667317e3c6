package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// holders is a grid of sites a, b … of four CPUs that can hold room, but for those named.
func holders(t *testing.T, names string, cannot ...protocol.SiteName) *peertest.World {
	t.Helper()
	calm := &peertest.Nemesis{CommitBy: 1, CallBy: 3, Late: 100}
	calm.Seed(1)
	options := peertest.Options{Seed: 1, Faults: calm}
	for _, name := range names {
		o := peertest.SiteOptions{
			Name: protocol.SiteName(name), Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}, Policy: peertest.Greedy{Whole: true},
		}
		reserves := true
		for _, other := range cannot {
			reserves = reserves && other != o.Name
		}
		o.Config = func(cfg *peer.Config) { cfg.Reserves = reserves }
		options.Sites = append(options.Sites, o)
	}
	w, err := peertest.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// pair are two components that start together, each at its sites.
func pair(cpus int, first, second []protocol.SiteName) []peer.NewJob {
	jobs := make([]peer.NewJob, 2)
	for i, sites := range [][]protocol.SiteName{first, second} {
		jobs[i] = peertest.Plan{Run: protocol.Minute}.Job(protocol.Spec{
			Request: protocol.Request{CPUs: cpus, WallTime: 2 * protocol.Minute}, Name: "x", Sites: sites,
		})
		jobs[i].Component = peer.Component{Alpha: protocol.PPM, Together: 1}
	}
	return jobs
}

// wanting is an application without limits.
func wanting() *peer.Application {
	return &peer.Application{Beta: protocol.PPM, MaxCost: policy.Unlimited, MaxTime: protocol.Never}
}

func together(w *peertest.World, jobs []peer.NewJob) *peertest.Site {
	w.Ask("a", func(asked peer.AskID) peer.Event {
		return peer.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: wanting()}
	})
	return w.Site("a")
}

// startsOf are the starts of a site's jobs by the world's clock, with an error for one that
// has not ended well.
func startsOf(t *testing.T, w *peertest.World, s *peertest.Site) (starts []protocol.Instant, sites []protocol.SiteName) {
	t.Helper()
	for _, view := range s.Finished() {
		if view.State != protocol.Completed {
			t.Errorf("job %v is %v: %s", view.ID, view.State, view.Reason)
		}
		at, site := w.LastStart(view.ID)
		starts, sites = append(starts, at), append(sites, site)
	}
	return starts, sites
}

func quiet(t *testing.T, w *peertest.World) {
	t.Helper()
	if busy := w.RunUntilQuiet(protocol.Hour); busy != "" {
		t.Fatalf("still busy:\n%s", busy)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
	for _, s := range w.Sites() {
		if held := s.Batch.Held(); len(held) > 0 {
			t.Errorf("room is still held at %s for %v", s.Name, held)
		}
	}
}

// Two components of one application start at one instant, at two partners, at home and at a
// partner, and after another job's end.
func TestComponentsStartTogether(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		first, second []protocol.SiteName
		busy          protocol.SiteName
	}{
		"at two partners":    {[]protocol.SiteName{"b"}, []protocol.SiteName{"c"}, ""},
		"at home and away":   {[]protocol.SiteName{"a"}, []protocol.SiteName{"b"}, ""},
		"both at home":       {[]protocol.SiteName{"a"}, []protocol.SiteName{"a"}, ""},
		"after another job":  {[]protocol.SiteName{"a"}, []protocol.SiteName{"b"}, "b"},
		"wherever they like": {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := holders(t, "abc")
			if tt.busy != "" {
				w.Submit(tt.busy, "bob", "", peertest.Plan{Run: 40 * protocol.Second}.Job(protocol.Spec{
					Request: protocol.Request{CPUs: 4, WallTime: protocol.Minute}, Sites: []protocol.SiteName{tt.busy},
				}))
			}
			s := together(w, pair(2, tt.first, tt.second))
			quiet(t, w)
			starts, sites := startsOf(t, w, s)
			if len(starts) != 2 || starts[0] != starts[1] {
				t.Errorf("they started at %v, at %v", starts, sites)
			}
		})
	}
}

// One of two sites dies when the other holds its room already: nothing was granted, the room
// is given up, and both go elsewhere together.
func TestSiteDiesBetweenTwoHolds(t *testing.T) {
	t.Parallel()
	w := holders(t, "abcd")
	s := together(w, pair(4, []protocol.SiteName{"b"}, []protocol.SiteName{"c", "d"}))
	offered := func() bool { return s.Rows().Jobs()[1].Phase == peer.Offered }
	for range 1000 {
		if offered() {
			break
		}
		w.Advance(1)
	}
	w.Crash("c")
	held := false
	for range 60 {
		w.Advance(protocol.Second / 2)
		held = held || len(w.Site("b").Batch.Held()) == 1
		for _, job := range s.Rows().Jobs() {
			if job.Phase == peer.Granted && job.Site == "c" {
				t.Fatalf("job %v is granted to a site that is dead", job.Spec.Job)
			}
		}
	}
	if !held {
		t.Error("b never held room")
	}
	w.Advance(5 * protocol.Minute)
	if err := w.Restart("c"); err != nil {
		t.Fatal(err)
	}
	quiet(t, w)
	starts, sites := startsOf(t, w, s)
	if len(starts) != 2 || starts[0] != starts[1] {
		t.Errorf("they started at %v, at %v", starts, sites)
	}
}

// The origin dies while its group holds room, and goes on after its restart.
func TestOriginDiesWithHolds(t *testing.T) {
	t.Parallel()
	for step := range 12 {
		w := holders(t, "abc")
		s := together(w, pair(4, []protocol.SiteName{"a"}, []protocol.SiteName{"c"}))
		w.Advance(protocol.Duration(step))
		w.Crash("a")
		w.Advance(protocol.Minute)
		if err := w.Restart("a"); err != nil {
			t.Fatal(err)
		}
		quiet(t, w)
		if starts, sites := startsOf(t, w, s); len(starts) != 2 || starts[0] != starts[1] {
			t.Errorf("crash after %d ms: they started at %v, at %v", step, starts, sites)
		}
	}
}

// Cancelling one component before the grant ends it alone; the other runs by itself.
func TestCancelOneOfAGroup(t *testing.T) {
	t.Parallel()
	w := holders(t, "abc")
	w.Submit("b", "bob", "", peertest.Plan{Run: protocol.Minute}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 4, WallTime: protocol.Minute}, Sites: []protocol.SiteName{"b"},
	}))
	s := together(w, pair(4, []protocol.SiteName{"b"}, []protocol.SiteName{"c"}))
	w.Advance(20)
	first := s.Rows().Jobs()[0].Spec.Job
	w.Cancel("a", first)
	quiet(t, w)
	for _, view := range s.Finished() {
		want := protocol.Completed
		if view.ID == first {
			want = protocol.Cancelled
		}
		if view.State != want {
			t.Errorf("job %v is %v (%s), want %v", view.ID, view.State, view.Reason, want)
		}
	}
}

// Sites that hold no room are left out, and a group that no sites can hold is refused.
func TestOnlyReserversTakeGroups(t *testing.T) {
	t.Parallel()
	w := holders(t, "abc", "a", "b")
	s := together(w, pair(2, nil, nil))
	quiet(t, w)
	if starts, sites := startsOf(t, w, s); len(starts) != 2 || sites[0] != "c" || sites[1] != "c" {
		t.Errorf("they ran at %v (%v), c alone can hold room", sites, starts)
	}
	w = holders(t, "ab", "a", "b")
	asked := w.Ask("a", func(asked peer.AskID) peer.Event {
		return peer.Submit{Asked: asked, User: "ada", Jobs: pair(2, nil, nil), Application: wanting()}
	})
	refusal, ok := w.Site("a").Answer(asked).(peer.Refusal)
	if !ok || refusal.Code != peer.NoSite || len(refusal.Sites) != 2 || !strings.Contains(refusal.Sites[0].Reason, "cannot hold room") {
		t.Errorf("got %+v", w.Site("a").Answer(asked))
	}
}

// A peer that dies between noting that room is given up and giving it up does so when it is
// back: at the origin and at a partner.
func TestRoomIsGivenUpAfterACrash(t *testing.T) {
	t.Parallel()
	for _, dies := range []protocol.SiteName{"a", "b"} {
		w := holders(t, "abc")
		w.Submit("c", "bob", "", peertest.Plan{Run: 20 * protocol.Minute}.Job(protocol.Spec{
			Request: protocol.Request{CPUs: 4, WallTime: protocol.Hour / 2}, Sites: []protocol.SiteName{"c"},
		}))
		first := []protocol.SiteName{dies}
		s := together(w, pair(4, first, []protocol.SiteName{"c"}))
		held := func() bool { return len(w.Site(dies).Batch.Held()) > 0 }
		for range 2000 {
			if held() {
				break
			}
			w.Advance(1)
		}
		if !held() {
			t.Fatalf("%s never held room", dies)
		}
		site := w.Site(dies)
		site.LoseReleases()
		w.Cancel("a", s.Rows().Jobs()[1].Spec.Job)
		w.Advance(protocol.Second / 10)
		if !held() {
			t.Fatalf("%s gave its room up all the same", dies)
		}
		w.Crash(dies)
		if err := w.Restart(dies); err != nil {
			t.Fatal(err)
		}
		quiet(t, w)
	}
}
