package peer_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var trialGroups = flag.Int("trial.groups", 100, "groups of TestGroupsWithinTheirLimits")

// hourPrices are what a CPU costs in an hour at the sites of the trial.
var hourPrices = map[protocol.SiteName]protocol.Micro{"a": 1_000_000, "b": 2_000_000, "c": 3_000_000, "d": 4_000_000}

// longest is when the last group of the trial should have ended.
const longest = 4 * protocol.Hour

// The fates that the limits of a group leave it.
const (
	mayStart = iota // if its turn comes in time, or at a site that is cheap enough
	mustStart
	cannotStart
)

// limited is a group with limits.
type limited struct {
	wanted

	maxTime protocol.Duration
	maxCost protocol.Micro
	fate    int
	jobs    []protocol.JobID // none: it was refused
}

// costs are the least and the most that a group can cost, by its time limit.
func (one *wanted) costs() (least, most protocol.Micro) {
	for k, cpus := range one.cpus {
		low, high := hourPrices["a"], hourPrices["d"]
		if site := one.sites[k]; site != "" {
			low, high = hourPrices[site], hourPrices[site]
		}
		least += low * protocol.Micro(cpus) * protocol.Micro(one.limit) / protocol.Micro(protocol.Hour)
		most += high*protocol.Micro(cpus)*protocol.Micro(one.limit)/protocol.Micro(protocol.Hour) + 1
	}
	return least, most
}

// randomLimited has 2 to 4 members, a third of which are at one site only, and limits that it can
// keep at all times, never, or sometimes.
func randomLimited(rng *rand.Rand) *limited {
	names := []protocol.SiteName{"a", "b", "c", "d"}
	one := &limited{wanted: wanted{limit: protocol.Duration(60+rng.IntN(60)) * protocol.Second}, maxTime: longest, fate: mustStart}
	for range 2 + rng.IntN(3) {
		var pin protocol.SiteName
		if rng.IntN(3) == 0 {
			pin = names[rng.IntN(4)]
		}
		one.cpus, one.sites = append(one.cpus, 1+rng.IntN(6)), append(one.sites, pin)
	}
	least, most := one.costs()
	one.maxCost = most
	switch rng.IntN(8) {
	case 0:
		one.maxTime, one.fate = one.limit/4+protocol.Duration(rng.Int64N(int64(one.limit/2))), cannotStart
	case 1:
		one.maxCost, one.maxTime, one.fate = protocol.Micro(rng.Int64N(int64(least))), protocol.Hour, cannotStart
	case 2:
		one.maxTime, one.fate = one.limit+protocol.Duration(rng.Int64N(int64(protocol.Hour))), mayStart
	case 3:
		one.maxCost, one.fate = least+protocol.Micro(rng.Int64N(int64(most-least)+1)), mayStart
	case 4:
		one.maxCost = protocol.Unlimited
	}
	if free := map[protocol.SiteName]int{"a": 8, "b": 8, "c": 8, "d": 8}; !one.seat(free, make([]protocol.SiteName, len(one.cpus)), 0) {
		one.fate = cannotStart
	}
	return one
}

// submit has a user of a site want the group.
func (one *limited) submit(w *peertest.World, rng *rand.Rand, name string, origin protocol.SiteName) {
	var jobs []protocol.Job
	for k, cpus := range one.cpus {
		run := protocol.Duration(20+rng.IntN(40)) * protocol.Second
		job := peertest.Plan{Run: run}.Job(protocol.Spec{Request: protocol.Request{CPUs: cpus, WallTime: one.limit}, Name: fmt.Sprint(name, ".", k)})
		job.Component = protocol.Component{Alpha: protocol.PPM, Gamma: protocol.PPM, Estimate: one.limit, Together: 1}
		if one.sites[k] != "" {
			job.Spec.Sites = []protocol.SiteName{one.sites[k]}
		}
		jobs = append(jobs, job)
	}
	application := &protocol.Application{Beta: protocol.PPM, MaxCost: one.maxCost, MaxTime: one.maxTime}
	asked := w.Ask(origin, func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: application}
	})
	if submitted, taken := w.Site(origin).Answer(asked).(view.Submitted); taken {
		one.jobs = submitted.Jobs
	}
}

// TestGroupsWithinTheirLimits submits 100 groups at once, with limits of time and cost: each that can
// keep them whenever its turn comes starts, as a whole and at one instant; each that never can is
// refused, or ends and says why; no other is left either. What starts uses at least half of what
// packing it by its time limits would.
func TestGroupsWithinTheirLimits(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 4))
		w := roomy(t, "abcd", func(o *peertest.SiteOptions) {
			o.Policy = solver(t)
			also(o, func(c *rules.Config) {
				c.Currency, c.Tariff = "EUR", localsched.Tariff{CPUHour: hourPrices[c.Site], Currency: "EUR"}
			})
		})
		w.Advance(protocol.Second)
		var groups []*limited
		for i := range *trialGroups {
			one := randomLimited(rng)
			one.submit(w, rng, fmt.Sprint("g", i), w.Sites()[rng.IntN(4)].Name)
			groups = append(groups, one)
		}
		began := w.Now()
		for left := true; left && w.Now() < began.Add(2*longest); {
			w.Advance(10 * protocol.Second)
			left = slices.ContainsFunc(w.Sites(), func(s *peertest.Site) bool { return len(s.Rows().Jobs()) > 0 })
		}
		judge(t, w, groups, began)
		if err := w.Err(); err != nil {
			t.Error(err)
		}
	}
}

// judge compares what became of groups with the fates that their limits leave them.
func judge(t *testing.T, w *peertest.World, groups []*limited, began protocol.Instant) {
	t.Helper()
	views := map[protocol.JobID]view.Job{}
	for _, s := range w.Sites() {
		for _, row := range s.Rows().Jobs() {
			t.Errorf("job %v is left: %s", row.Spec.Job, row.Reason)
		}
		for _, view := range s.Finished() {
			if !view.Guest {
				views[view.ID] = view
			}
		}
	}
	last := began
	var packed []wanted
	work, counts := int64(0), map[string]int{}
	for i, one := range groups {
		var starts []protocol.Instant
		var why string
		for _, id := range one.jobs {
			view := views[id]
			if at, site := w.LastStart(id); site != "" {
				starts = append(starts, at)
				work += int64(view.CPUs) * int64(view.Ended.Sub(view.Started))
				last = max(last, view.Ended)
				continue
			}
			if why = view.Reason; view.State != protocol.Cancelled || why == "" {
				t.Errorf("a member of group %d has not started and is %v: %q", i, view.State, why)
			}
		}
		started := len(starts) > 0
		switch {
		case started && (len(starts) < len(one.cpus) || slices.Min(starts) != slices.Max(starts)):
			t.Errorf("of the %d members of group %d started %v", len(one.cpus), i, starts)
		case started && one.fate == cannotStart, !started && one.fate == mustStart:
			t.Errorf("group %d: started %t, %q; %+v", i, started, why, one)
		}
		switch {
		case started:
			counts["started"]++
			packed = append(packed, one.wanted)
		case len(one.jobs) == 0:
			counts["refused"]++
		default:
			counts["ended: "+strings.Fields(cmp.Or(why, "-"))[0]]++
		}
	}
	used, best := last.Sub(began), packedByLimits(packed)
	t.Logf("%d groups: %v; %d %% of the CPUs were used, %d %% when packed by limits",
		len(groups), counts, work*100/(int64(used)*32), work*100/(int64(best)*32))
	if len(packed) < len(groups)/2 || len(packed) == len(groups) {
		t.Error("the trial shows nothing")
	}
	if used > 2*best {
		t.Errorf("they took %s, and packed by their limits %s", used.Text(), best.Text())
	}
}
