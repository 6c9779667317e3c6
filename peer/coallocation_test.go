package peer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// holders is a grid of sites a, b … of four CPUs that can hold room, but for those named.
func holders(t *testing.T, names string, cannot ...protocol.SiteName) *peertest.World {
	t.Helper()
	return holdersWith(t, names, func(*rules.Config) {}, cannot...)
}

// holdersWith are holders with a change of their configurations.
func holdersWith(t *testing.T, names string, change func(*rules.Config), cannot ...protocol.SiteName) *peertest.World {
	t.Helper()
	return holdersAt(t, names, nil, change, cannot...)
}

// holdersAt are holders whose clocks differ.
func holdersAt(
	t *testing.T, names string, skew map[protocol.SiteName]protocol.Duration, change func(*rules.Config), cannot ...protocol.SiteName,
) *peertest.World {
	t.Helper()
	calm := &peertest.Nemesis{CommitBy: 1, CallBy: 3, Late: 100}
	calm.Seed(1)
	options := peertest.Options{Seed: 1, Faults: calm}
	for _, name := range names {
		o := peertest.SiteOptions{
			Name: protocol.SiteName(name), Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}, Policy: peertest.Greedy{ApplicationAware: true},
			Skew: skew[protocol.SiteName(name)],
		}
		reserves := true
		for _, other := range cannot {
			reserves = reserves && other != o.Name
		}
		o.Config = func(cfg *rules.Config) {
			cfg.Reserves = reserves
			change(cfg)
		}
		options.Sites = append(options.Sites, o)
	}
	w, err := peertest.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// pair are two components that start together, each at its sites.
func pair(cpus int, first, second []protocol.SiteName) []protocol.Job {
	jobs := make([]protocol.Job, 2)
	for i, sites := range [][]protocol.SiteName{first, second} {
		jobs[i] = peertest.Plan{Run: protocol.Minute}.Job(protocol.Spec{
			Request: protocol.Request{CPUs: cpus, WallTime: 2 * protocol.Minute}, Name: "x", Sites: sites,
		})
		jobs[i].Component = protocol.Component{Alpha: protocol.PPM, Together: 1}
	}
	return jobs
}

// wanting is an application without limits.
func wanting() *protocol.Application {
	return &protocol.Application{Beta: protocol.PPM, MaxCost: protocol.Unlimited, MaxTime: protocol.Never}
}

func together(w *peertest.World, jobs []protocol.Job) *peertest.Site {
	w.Ask("a", func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: wanting()}
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

// Components that the policy puts at one site, which is too small for all of them at once, are
// spread, and no room is held in vain.
func TestGroupIsSpread(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*rules.Config){
		"one after the other": func(*rules.Config) {},
		"in cycles longer than σ": func(cfg *rules.Config) {
			cfg.Initiation, cfg.Policy.Initiations = policy.Cycle, []policy.Initiation{policy.Cycle}
			cfg.CheckInterval, cfg.CycleInterval = 15*protocol.Second, protocol.Minute
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := holdersWith(t, "abc", change)
			everywhere := []protocol.SiteName{"a", "b", "c"}
			s := together(w, append(pair(3, everywhere, everywhere), pair(3, everywhere, nil)[0]))
			w.Advance(10 * protocol.Minute)
			starts, sites := startsOf(t, w, s)
			if len(starts) != 3 || starts[0] != starts[1] || starts[1] != starts[2] {
				t.Errorf("they started at %v, at %v", starts, sites)
			}
			for _, job := range s.Rows().Jobs() {
				t.Errorf("job %v waits in epoch %d: %s", job.Spec.Job, job.Epoch, job.Reason)
			}
		})
	}
}

// Clocks that differ by more than the margin cost no group its start: its sites hold room from
// one instant by their own clocks, and start as far apart as these are.
func TestClocksDiffer(t *testing.T) {
	t.Parallel()
	for _, skew := range []protocol.Duration{-5, 5, -20, 20, -120, 120} {
		for _, first := range []protocol.SiteName{"a", "b"} {
			w := holdersAt(t, "abc", map[protocol.SiteName]protocol.Duration{"c": skew * protocol.Second}, func(*rules.Config) {})
			s := together(w, pair(4, []protocol.SiteName{first}, []protocol.SiteName{"c"}))
			quiet(t, w)
			starts, sites := startsOf(t, w, s)
			if len(starts) != 2 {
				t.Fatalf("skew of %d s: they started at %v, at %v", skew, starts, sites)
			}
			if apart := max(starts[0].Sub(starts[1]), starts[1].Sub(starts[0])); apart > max(skew, -skew)*protocol.Second {
				t.Errorf("skew of %d s: they started %v apart, at %v", skew, apart, sites)
			}
		}
	}
}

// One of two sites dies when the other holds its room already: nothing was granted, the room
// is given up, and both go elsewhere together.
func TestSiteDiesBetweenTwoHolds(t *testing.T) {
	t.Parallel()
	w := holders(t, "abcd")
	s := together(w, pair(4, []protocol.SiteName{"b"}, []protocol.SiteName{"c", "d"}))
	offered := func() bool { return s.Rows().Jobs()[1].Phase == row.JobOffered }
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
			if job.Phase == row.JobGranted && job.Site == "c" {
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
	asked := w.Ask("a", func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ada", Jobs: pair(2, nil, nil), Application: wanting()}
	})
	refusal, ok := w.Site("a").Answer(asked).(view.Refusal)
	if !ok || refusal.Code != view.NoSite || len(refusal.Sites) != 2 || !strings.Contains(refusal.Sites[0].Reason, "cannot hold room") {
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

// A site that refuses a component which was granted gives its room up, and so do the others.
func TestRefusedComponentGivesItsRoomUp(t *testing.T) {
	t.Parallel()
	for _, refuses := range []protocol.SiteName{"a", "b"} {
		w := holders(t, "abc")
		jobs := pair(4, []protocol.SiteName{refuses}, []protocol.SiteName{"c"})
		refused := peertest.Plan{Run: protocol.Minute, Refuse: true}.Job(jobs[0].Spec)
		refused.Component = jobs[0].Component
		jobs[0] = refused
		s := together(w, jobs)
		returned := func() bool {
			one := s.Rows().Jobs()[0]
			return one.Epoch > 0 && one.Phase == row.JobInGridQueue
		}
		for range 60_000 {
			if returned() {
				break
			}
			w.Advance(1)
		}
		if !returned() {
			t.Fatalf("%s did not refuse it", refuses)
		}
		w.Advance(protocol.Second)
		if held := w.Site(refuses).Batch.Held(); len(held) > 0 {
			t.Errorf("%s refused the job and still holds room for %v", refuses, held)
		}
	}
}

// Users see the partners that are left out since they hold no room, also where another
// job of the round is asked about there.
func TestLeftOutIsReported(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{false, true} {
		w := holders(t, "abc", "b")
		jobs := pair(2, nil, nil)
		if alone {
			third := member(1)
			third.Component.Together = 0
			jobs = append(jobs, third)
		}
		asked := w.Ask("a", func(asked event.AskID) event.Event {
			return event.TestSubmit{Asked: asked, User: "ada", Jobs: jobs, Application: wanting()}
		})
		w.Advance(10 * protocol.Second)
		quoted, ok := w.Site("a").Answer(asked).(view.TestSubmitResult)
		if !ok {
			t.Fatalf("got %+v", w.Site("a").Answer(asked))
		}
		for i, quotes := range quoted.Jobs {
			at := slices.IndexFunc(quotes, func(q view.Quote) bool { return q.Site == "b" })
			if at < 0 || len(quotes) != 3 || strings.Contains(quotes[at].Declined, "cannot hold room") != (i < 2) {
				t.Errorf("of job %d is told: %+v", i+1, quotes)
			}
		}
	}
}

// A group that the sites together can never hold at one instant is refused; one that they can is
// not.
func TestGroupsLargerThanAllSites(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cpus    []int
		maxQ    int
		refused bool
	}{
		"fits":                    {[]int{4, 4, 2, 2}, 0, false},
		"more than all CPUs":      {[]int{4, 4, 4, 1}, 0, true},
		"does not go into them":   {[]int{3, 3, 3, 2}, 0, true},
		"more than MaxQ":          {[]int{2, 2, 2, 2, 2, 2}, 1, true},
		"as many as MaxQ":         {[]int{2, 2, 2, 2, 2}, 1, false},
		"with one of fewer CPUs":  {[]int{4, 4, -4}, 0, false},
		"with two of fewer CPUs":  {[]int{4, 4, -4, -4}, 0, false},
		"with five of fewer CPUs": {[]int{4, 4, -4, -4, -4, -4, -4}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := holdersWith(t, "abcd", func(cfg *rules.Config) {
				if cfg.Site == "a" {
					cfg.MaxJobsPerCycle = tt.maxQ
				}
			}, "d")
			var jobs []protocol.Job
			for _, cpus := range tt.cpus {
				jobs = append(jobs, member(cpus))
			}
			asked := w.Ask("a", func(asked event.AskID) event.Event {
				return event.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: wanting()}
			})
			refusal, refused := w.Site("a").Answer(asked).(view.Refusal)
			if refused != tt.refused || refused && (refusal.Code != view.NoSite || len(refusal.Sites) != 3) {
				t.Errorf("got %+v", w.Site("a").Answer(asked))
			}
		})
	}
}

// member is a component of a group; below 0 it may run on that number of CPUs or on one.
func member(cpus int) protocol.Job {
	one := peertest.Plan{Run: protocol.Minute}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: max(cpus, -cpus), WallTime: 2 * protocol.Minute}, Name: "x",
	})
	one.Component = protocol.Component{Alpha: protocol.PPM, Together: 1}
	if cpus < 0 {
		one.Spec.CPUs = 1
		one.Component.Shapes = []protocol.Shape{{CPUs: -cpus, WallTime: protocol.Minute}}
	}
	return one
}

// Room that the local scheduler does not give up at once is asked for again until it is, less
// and less often and not for ever. Its first failure is reported, and giving up is.
func TestReleaseIsRepeated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		failures, asked, reported int
		last                      string
	}{
		"at once":     {0, 1, 0, ""},
		"third try":   {2, 3, 1, "release: it hangs; asked again"},
		"never again": {1000, 20, 2, "release: it hangs; given up; the room ends with the time that was asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, left := idle(peertest.Greedy{}, atOnce), tt.failures
			l := newLone(t, func(cfg *rules.Config) { cfg.Reserves = true }, func(op event.Op) (event.Result, error) {
				if _, ok := op.(event.CancelReservationOp); !ok {
					return answer(op)
				}
				if left--; left >= 0 {
					return nil, errors.New("it hangs")
				}
				return event.CancelReservationResult{}, nil
			})
			spec := guest(1, 1)
			l.step(event.MessageIn{From: "b", Body: protocol.Offer{
				Spec: spec, Epoch: 1, Payload: peertest.Plan{Run: 1}.Payload(), Start: l.now.Add(protocol.Minute),
			}})
			if prepared, ok := l.last().(protocol.Prepared); !ok || prepared.Start == 0 {
				t.Fatalf("no room is held: %+v", l.last())
			}
			l.step(event.MessageIn{From: "b", Body: protocol.Abort{Tag: protocol.Tag{Job: spec.Job, Epoch: 1}}})
			l.advance(protocol.Hour)
			if n := count[event.CancelReservationOp](l); n != tt.asked {
				t.Errorf("asked %d times, want %d", n, tt.asked)
			}
			var reported []string
			for _, f := range l.facts {
				if f.Kind == event.LogCallFailed {
					reported = append(reported, f.Text)
				}
			}
			if len(reported) != tt.reported || (tt.reported > 0 && reported[tt.reported-1] != tt.last) {
				t.Errorf("told %q, want %d ending with %q", reported, tt.reported, tt.last)
			}
		})
	}
}
