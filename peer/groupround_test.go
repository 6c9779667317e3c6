package peer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// roomy is a grid of sites that hold room, with changes of each one's options.
func roomy(t *testing.T, names string, change func(*peertest.SiteOptions)) *peertest.World {
	t.Helper()
	calm := &peertest.Nemesis{CommitBy: 1, CallBy: 3, Late: 100}
	calm.Seed(1)
	options := peertest.Options{Seed: 1, Faults: calm}
	for _, name := range names {
		o := peertest.SiteOptions{
			Name: protocol.SiteName(name), Capacity: protocol.Capacity{CPUs: 8, Nodes: 8}, Policy: peertest.Greedy{ApplicationAware: true},
			Config: func(cfg *rules.Config) { cfg.Reserves = true },
		}
		change(&o)
		options.Sites = append(options.Sites, o)
	}
	w, err := peertest.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// also is a site's configuration with one change more.
func also(o *peertest.SiteOptions, change func(*rules.Config)) {
	before := o.Config
	o.Config = func(cfg *rules.Config) {
		before(cfg)
		change(cfg)
	}
}

// anywhere is a member of a group that may run at some sites.
func anywhere(cpus int, sites ...protocol.SiteName) protocol.Job {
	one := member(cpus)
	one.Spec.Sites = sites
	return one
}

// startTogether submits a group at a site and has it run, or be refused.
func startTogether(t *testing.T, w *peertest.World, origin protocol.SiteName, jobs ...protocol.Job) {
	t.Helper()
	asked := w.Ask(origin, func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: wanting()}
	})
	if refusal, refused := w.Site(origin).Answer(asked).(view.Refusal); refused {
		t.Fatalf("refused: %+v", refusal)
	}
	w.Advance(10 * protocol.Minute)
	for _, row := range w.Site(origin).Rows().Jobs() {
		t.Errorf("job %v waits in epoch %d: %s", row.Spec.Job, row.Epoch, row.Reason)
	}
	starts, sites := startsOf(t, w, w.Site(origin))
	if len(starts) != len(jobs) || slices.Min(starts) != slices.Max(starts) {
		t.Errorf("they started at %v, at %v", starts, sites)
	}
}

// A member that may go to one site only has its room there, whatever the policy gives the others.
func TestPinnedMemberHasItsRoom(t *testing.T) {
	t.Parallel()
	w := roomy(t, "ab", func(*peertest.SiteOptions) {})
	startTogether(t, w, "a", anywhere(4), anywhere(4), anywhere(4, "a"))
}

// A site that gives whole nodes has room for as many members as it has nodes.
func TestGroupOnWholeNodes(t *testing.T) {
	t.Parallel()
	whole := func(o *peertest.SiteOptions) {
		o.Capacity = protocol.Capacity{CPUs: 8, Nodes: 2, NodeCPUs: 4, WholeNode: true}
	}
	startTogether(t, roomy(t, "ab", whole), "a", anywhere(1), anywhere(1), anywhere(1, "a"), anywhere(1))
	refusal := refusedAt(t, roomy(t, "ab", whole), anywhere(1), anywhere(1), anywhere(1), anywhere(1), anywhere(1))
	if refusal.Sites[0].Reason != "has 8 CPUs on 2 nodes that run one job at a time" {
		t.Errorf("got %+v", refusal)
	}
}

// Members that need more than half of a node's memory do not share one.
func TestGroupInMemory(t *testing.T) {
	t.Parallel()
	thick := func(o *peertest.SiteOptions) { o.Capacity = protocol.Capacity{CPUs: 8, Nodes: 2, MemoryMB: 1000} }
	with := func(mb int64) protocol.Job {
		one := anywhere(1)
		one.Spec.MemoryMB = mb
		return one
	}
	startTogether(t, roomy(t, "ab", thick), "a", with(600), with(600), with(600), with(600))
	refusal := refusedAt(t, roomy(t, "ab", thick), with(600), with(600), with(600), with(600), with(600))
	if refusal.Sites[0].Reason != "has 8 CPUs on 2 nodes of 1000 MB" {
		t.Errorf("got %+v", refusal)
	}
	refusedAt(t, roomy(t, "ab", thick), with(450), with(450), with(450), with(450), with(450), with(450), with(450), with(450), with(450))
}

// refusedAt is the refusal of a group that is submitted at a.
func refusedAt(t *testing.T, w *peertest.World, jobs ...protocol.Job) view.Refusal {
	t.Helper()
	w.Advance(protocol.Second)
	asked := w.Ask("a", func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: wanting()}
	})
	refusal, refused := w.Site("a").Answer(asked).(view.Refusal)
	if !refused || refusal.Code != view.NoSite || !strings.Contains(refusal.Reason, "never enough") || len(refusal.Sites) == 0 {
		t.Fatalf("got %+v", w.Site("a").Answer(asked))
	}
	return refusal
}

// What a partner's limits leave for several jobs at once is looked at before any is offered
// there, and a group that they never allow is refused. [found.md E8]
func TestGroupWithinPartnersLimits(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*rules.Config){
		"max_jobs": func(cfg *rules.Config) { cfg.Partners[0].MaxJobs = 1 },
		"max_cpus": func(cfg *rules.Config) { cfg.Partners[0].MaxCPUs = 1 },
		"share":    func(cfg *rules.Config) { cfg.Protect.Share = protocol.PPM / 8 },
		"max_q":    func(cfg *rules.Config) { cfg.MaxJobsPerCycle = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limited := func(o *peertest.SiteOptions) {
				if o.Name == "a" {
					also(o, limit)
				} else {
					o.Capacity = protocol.Capacity{CPUs: 1, Nodes: 1}
				}
			}
			w := roomy(t, "ab", limited)
			startTogether(t, w, "b", anywhere(1), anywhere(1))
			asked := w.Ask("b", func(asked event.AskID) event.Event {
				return event.Submit{Asked: asked, User: "ada", Jobs: []protocol.Job{anywhere(1), anywhere(1), anywhere(1)}, Application: wanting()}
			})
			refusal, refused := w.Site("b").Answer(asked).(view.Refusal)
			if !refused || refusal.Code != view.NoSite || !strings.Contains(fmt.Sprint(refusal.Sites), "of this site") {
				t.Errorf("got %+v", w.Site("b").Answer(asked))
			}
		})
	}
}

// A partner that tells no limits and refuses one more member of a group is asked for fewer of
// them at once in the next round.
func TestRefusalTeachesTheNextRound(t *testing.T) {
	t.Parallel()
	l := holder(t, func(cfg *rules.Config) { cfg.Capacity = protocol.Capacity{CPUs: 1, Nodes: 1} }, func(op event.Op) (event.Result, error) {
		if ask, ok := op.(event.QuoteOp); ok { // so that b is better
			out := event.QuoteResult{Load: protocol.Load{CPUs: 1}}
			for _, one := range ask.Query.Jobs {
				out.Quotes = append(out.Quotes, protocol.Quote{Job: one.Job, AWT: protocol.Minute, ERT: 1})
			}
			return out, nil
		}
		return nil, nil
	})
	either := []protocol.SiteName{"a", "b"}
	jobs := pair(1, either, either)
	l.step(event.Submit{User: "ada", Jobs: jobs, Application: wanting()})
	l.answerAll()
	if got := l.phases(); got != "[offered offered]" {
		t.Fatalf("phases %s", got)
	}
	l.prepare("b", 0) // the last one
	first := l.jobs()[0]
	l.step(event.MessageIn{From: "b", Body: protocol.Refused{Tag: protocol.Tag{Job: first.Spec.Job, Epoch: first.Epoch}, Reason: "one is enough"}})
	l.answerAll()
	if got := l.phases(); got != "[offered reserving]" && got != "[reserving offered]" {
		t.Errorf("in the next round: phases %s", got)
	}
}

// A group without room for all its members in a round waits, holds nothing and says why.
func TestGroupWithoutRoomSaysWhy(t *testing.T) {
	t.Parallel()
	w := roomy(t, "ab", func(o *peertest.SiteOptions) {
		if o.Name == "a" {
			also(o, func(cfg *rules.Config) { cfg.Partners[0].MaxCPUs = 4 })
		}
	})
	w.Submit("b", "bob", "", peertest.Plan{Run: protocol.Hour}.Job(protocol.Spec{
		Request: protocol.Request{CPUs: 2, WallTime: 2 * protocol.Hour}, Sites: []protocol.SiteName{"a"},
	}))
	w.Advance(protocol.Minute)
	w.Ask("b", func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ada", Jobs: []protocol.Job{anywhere(8, "b"), anywhere(2, "a"), anywhere(2, "a")}, Application: wanting()}
	})
	w.Advance(10 * protocol.Minute)
	for _, row := range w.Site("b").Rows().Jobs()[1:] {
		view := viewOf(t, w, "b", row.Spec.Job)
		if row.Epoch != 0 || !strings.HasPrefix(view.Reason, "NoCommonStart (no sites have room for all 3 components") ||
			!strings.Contains(view.Reason, "gives jobs of this site 2 CPUs together") {
			t.Errorf("job %v in epoch %d: %s", row.Spec.Job, row.Epoch, view.Reason)
		}
	}
}

// viewOf is what a site tells of a job of its own.
func viewOf(t *testing.T, w *peertest.World, site protocol.SiteName, id protocol.JobID) view.Job {
	t.Helper()
	asked := w.Ask(site, func(asked event.AskID) event.Event { return event.AskJob{Asked: asked, Job: id} })
	view, ok := w.Site(site).Answer(asked).(view.Job)
	if !ok {
		t.Fatalf("got %+v", w.Site(site).Answer(asked))
	}
	return view
}

// TestFeasibleGroupsStart submits random groups, a third of whose members are pinned: those for
// which a search by brute force finds room start, the others are refused.
func TestFeasibleGroupsStart(t *testing.T) {
	t.Parallel()
	refusedSome, startedSome := 0, 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 1))
		caps := map[protocol.SiteName]int{}
		w := roomy(t, "abcd", func(o *peertest.SiteOptions) {
			caps[o.Name] = 2 + rng.IntN(7)
			o.Capacity = protocol.Capacity{CPUs: caps[o.Name], Nodes: caps[o.Name]}
		})
		w.Advance(protocol.Second)
		var jobs []protocol.Job
		for range 2 + rng.IntN(4) {
			one := anywhere(1 + rng.IntN(6))
			if rng.IntN(3) == 0 {
				one.Spec.Sites = []protocol.SiteName{[]protocol.SiteName{"a", "b", "c", "d"}[rng.IntN(4)]}
			}
			jobs = append(jobs, one)
		}
		can := packs(caps, jobs)
		asked := w.Ask("a", func(asked event.AskID) event.Event {
			return event.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: wanting()}
		})
		_, refused := w.Site("a").Answer(asked).(view.Refusal)
		if refused == can {
			t.Errorf("seed %d: feasible %v, refused %v", seed, can, refused)
		}
		if refused {
			refusedSome++
			continue
		}
		startedSome++
		w.Advance(10 * protocol.Minute)
		if starts, sites := startsOf(t, w, w.Site("a")); len(starts) != len(jobs) || slices.Min(starts) != slices.Max(starts) {
			t.Errorf("seed %d: they started at %v, at %v", seed, starts, sites)
		}
	}
	if refusedSome == 0 || startedSome == 0 {
		t.Errorf("%d refused, %d started", refusedSome, startedSome)
	}
}

// packs says whether jobs go into sites at once.
func packs(free map[protocol.SiteName]int, jobs []protocol.Job) bool {
	if len(jobs) == 0 {
		return true
	}
	for _, site := range []protocol.SiteName{"a", "b", "c", "d"} {
		if spec := jobs[0].Spec; spec.Allows(site) && spec.CPUs <= free[site] {
			free[site] -= spec.CPUs
			found := packs(free, jobs[1:])
			free[site] += spec.CPUs
			if found {
				return true
			}
		}
	}
	return false
}

// A group whose policy refuses the nearest places that have room, since they cost too much, has
// the cheapest ones.
func TestPolicyRefusesTheNearestPlaces(t *testing.T) {
	t.Parallel()
	asked := 0
	var second policy.Snapshot
	l := holder(t, func(cfg *rules.Config) { cfg.Capacity = protocol.Capacity{CPUs: 1, Nodes: 1} }, func(op event.Op) (event.Result, error) {
		ask, decides := op.(event.DecideOp)
		if !decides {
			return nil, nil
		}
		asked++
		in := ask.Snapshot
		var out []policy.Decision
		for j := range in.Jobs {
			one := policy.Decision{Job: j, Site: in.Self, Reason: "at home"}
			for s := range in.Sites {
				if in.AWT[in.At(j, in.Self)] == protocol.Never && in.AWT[in.At(j, s)] != protocol.Never {
					one.Site = s
				}
				if asked == 2 {
					one.Site, one.Reason, second = policy.NoSite, "max_cost: too much", in
				}
			}
			out = append(out, one)
		}
		return event.DecideResult{Decisions: out}, nil
	})
	l.costs = map[protocol.SiteName]protocol.Micro{"b": 20, "c": 10}
	l.step(event.Submit{User: "ada", Jobs: pair(1, nil, nil), Application: wanting()})
	l.answerAll()
	places := 0
	for _, awt := range second.AWT {
		if awt != protocol.Never {
			places++
		}
	}
	if asked != 3 || places != 2 {
		t.Errorf("the policy was asked %d times, the second time about %d places", asked, places)
	}
	rows := l.jobs()
	if sites := []protocol.SiteName{rows[0].Site, rows[1].Site}; !slices.Contains(sites, "a") || !slices.Contains(sites, "c") {
		t.Errorf("phases %s, at %v", l.phases(), sites)
	}
}
