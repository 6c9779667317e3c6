package peer_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// crowded is what became of many groups that were submitted at once.
type crowded struct {
	waiting  int               // members that have not ended
	apart    int               // groups whose members started at different instants
	inVain   int               // groups that found no common instant in their tries
	epochs   int               // of all members
	makespan protocol.Duration // until the last has ended
	used     float64           // of all CPUs until then
	packed   float64           // the same when groups are packed by their limits, the first ones first
}

// wanted is a group of a crowd.
type wanted struct {
	cpus  []int
	sites []protocol.SiteName // empty: any
	limit protocol.Duration
}

// packedByLimits is how long groups take when each, one after the other, starts as soon as there
// is room for all of its time limit.
func packedByLimits(allWanted []wanted) (last protocol.Duration) {
	const step = protocol.Second
	busy := map[protocol.SiteName][]int{"a": nil, "b": nil, "c": nil, "d": nil}
	for _, one := range allWanted {
		length := int(one.limit / step)
		for at := 0; ; at++ {
			free := map[protocol.SiteName]int{}
			for site := range busy {
				for len(busy[site]) < at+length {
					busy[site] = append(busy[site], 0)
				}
				free[site] = 8 - slices.Max(busy[site][at:at+length])
			}
			chosen := make([]protocol.SiteName, len(one.cpus))
			if !one.seat(free, chosen, 0) {
				continue
			}
			for k, site := range chosen {
				for i := range length {
					busy[site][at+i] += one.cpus[k]
				}
			}
			last = max(last, protocol.Duration(at+length)*step)
			break
		}
	}
	return last
}

func (one *wanted) seat(free map[protocol.SiteName]int, chosen []protocol.SiteName, k int) bool {
	if k == len(chosen) {
		return true
	}
	for _, site := range []protocol.SiteName{"a", "b", "c", "d"} {
		if (one.sites[k] != "" && one.sites[k] != site) || free[site] < one.cpus[k] {
			continue
		}
		free[site] -= one.cpus[k]
		chosen[k] = site
		found := one.seat(free, chosen, k+1)
		free[site] += one.cpus[k]
		if found {
			return true
		}
	}
	return false
}

// crowd has groups of 2 to 4 members, a third of them at one site only, started at once at sites
// of 8 CPUs. Their runs take a part of their limits.
func crowd(t *testing.T, seed uint64, groups int, origins []protocol.SiteName) (out crowded) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	facts := map[string]bool{}
	w := roomy(t, "abcd", func(o *peertest.SiteOptions) {
		o.Config = func(cfg *rules.Config) { cfg.Reserves = true }
	})
	w.Advance(protocol.Second)
	names := []protocol.SiteName{"a", "b", "c", "d"}
	var allWanted []wanted
	for g := range groups {
		limit := protocol.Duration(60+rng.IntN(60)) * protocol.Second
		one := wanted{limit: limit}
		var jobs []protocol.Job
		for range 2 + rng.IntN(3) {
			cpus, run := 1+rng.IntN(6), protocol.Duration(20+rng.IntN(40))*protocol.Second
			job := peertest.Plan{Run: run}.Job(protocol.Spec{Request: protocol.Request{CPUs: cpus, WallTime: limit}, Name: "x"})
			job.Component = protocol.Component{Alpha: protocol.PPM, Together: 1}
			var pin protocol.SiteName
			if rng.IntN(3) == 0 {
				pin = names[rng.IntN(4)]
				job.Spec.Sites = []protocol.SiteName{pin}
			}
			jobs = append(jobs, job)
			one.cpus, one.sites = append(one.cpus, cpus), append(one.sites, pin)
		}
		origin := origins[g%len(origins)]
		asked := w.Ask(origin, func(asked event.AskID) event.Event {
			return event.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: wanting()}
		})
		if _, refused := w.Site(origin).Answer(asked).(view.Refusal); refused {
			continue
		}
		allWanted = append(allWanted, one)
	}
	began := w.Now()
	work := int64(0)
	for range 3 * 3600 {
		w.Advance(protocol.Second)
		left := 0
		for _, s := range w.Sites() {
			for _, row := range s.Rows().Jobs() {
				left++
				if strings.Contains(row.Reason, "no common instant") {
					facts[row.Application.String()+row.Reason] = true
				}
			}
		}
		if left == 0 {
			break
		}
	}
	last := began
	for _, s := range w.Sites() {
		out.waiting += len(s.Rows().Jobs())
		starts := map[protocol.JobID][]protocol.Instant{}
		for _, view := range s.Finished() {
			at, _ := w.LastStart(view.ID)
			starts[view.Application] = append(starts[view.Application], at)
			work += int64(view.CPUs) * int64(view.Ended.Sub(view.Started))
			last = max(last, view.Ended)
			out.epochs += int(view.Epoch)
		}
		for _, at := range starts {
			if slices.Min(at) != slices.Max(at) {
				out.apart++
			}
		}
	}
	out.inVain, out.makespan = len(facts), last.Sub(began)
	out.used = float64(work) / float64(int64(out.makespan)*32)
	out.packed = float64(work) / float64(int64(packedByLimits(allWanted))*32)
	return out
}

// TestCrowdOfGroups submits 50 groups at once, at one site or at all: all of them start, each at one
// instant, and use at least 65 % of what packing them by their limits would.
func TestCrowdOfGroups(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		for _, origins := range [][]protocol.SiteName{{"a"}, {"a", "b", "c", "d"}} {
			got := crowd(t, seed, 50, origins)
			t.Logf("seed %d, %d origins: %+v", seed, len(origins), got)
			if got.waiting > 0 || got.apart > 0 || got.used < 0.65*got.packed || got.inVain > 5 {
				t.Errorf("seed %d, %d origins: %+v", seed, len(origins), got)
			}
		}
	}
}
