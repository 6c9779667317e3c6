package peer_test

import (
	"flag"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// trial is many applications with limits, whose components run shorter or longer than predicted, or
// fail, over sites whose electricity has another price each hour.
type trial struct {
	*peertest.World

	rng    *rand.Rand
	prices map[protocol.SiteName][]int64 // by hour, of a MWh
	perCPU map[protocol.SiteName]protocol.Micro
	first  map[protocol.JobID]protocol.JobID // the first component of each job's application
	wanted map[protocol.JobID]*protocol.Application
	begun  map[protocol.JobID]protocol.Instant
	seen   map[protocol.Tag]bool // placements that were looked at
	grants int
}

// trialPower is what a CPU of the trial's sites draws, in mW: so much that its price matters.
const trialPower = 5_000_000

func newTrial(t *testing.T, seed uint64, hours int) *trial {
	t.Helper()
	tr := &trial{
		rng: rand.New(rand.NewPCG(seed, 7)), prices: map[protocol.SiteName][]int64{}, perCPU: map[protocol.SiteName]protocol.Micro{},
		first: map[protocol.JobID]protocol.JobID{}, wanted: map[protocol.JobID]*protocol.Application{},
		begun: map[protocol.JobID]protocol.Instant{}, seen: map[protocol.Tag]bool{},
	}
	options := peertest.Options{Seed: seed, Faults: gentle()}
	for _, name := range []protocol.SiteName{"a", "b", "c", "d"} {
		for range hours {
			tr.prices[name] = append(tr.prices[name], tr.rng.Int64N(500)-150)
		}
		tr.perCPU[name] = protocol.Micro(1 + tr.rng.Int64N(500_000))
		options.Sites = append(options.Sites, peertest.SiteOptions{
			Name: name, Capacity: protocol.Capacity{CPUs: 8, Nodes: 8}, Policy: solver(t),
			Prices: peertest.HourlyPrices("EUR", tr.prices[name]...),
			Config: func(c *rules.Config) {
				c.Area, c.Power, c.Currency = string(name), trialPower, "EUR"
				c.Tariff = localsched.Tariff{CPUHour: tr.perCPU[name], Currency: "EUR"}
			},
		})
	}
	w, err := peertest.New(options)
	if err != nil {
		t.Fatal(err)
	}
	tr.World = w
	return tr
}

func solver(t *testing.T) policy.Policy {
	t.Helper()
	p, err := iss.New(iss.Default())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// submit has a user of some site want an application.
func (tr *trial) submit(t *testing.T) {
	t.Helper()
	var jobs []protocol.Job
	hours := int64(0)
	for range 1 + tr.rng.IntN(3) {
		limit := protocol.Duration(1+tr.rng.IntN(6)) * protocol.Hour
		plan := peertest.Plan{Run: protocol.Duration(tr.rng.Int64N(int64(limit) * 5 / 4)), Exit: max(0, tr.rng.IntN(10)-8)}
		spec := protocol.Spec{Request: protocol.Request{CPUs: 1 + tr.rng.IntN(4), WallTime: limit}, Name: "x"}
		job := plan.Job(spec)
		job.Component = protocol.Component{Alpha: protocol.PPM, Gamma: protocol.PPM, Estimate: limit / 2}
		jobs = append(jobs, job)
		hours += int64(limit/protocol.Hour) * int64(spec.CPUs)
	}
	application := &protocol.Application{
		Beta:    protocol.PPM,
		MaxCost: protocol.Micro(hours * (100_000 + tr.rng.Int64N(1_500_000))),
		MaxTime: protocol.Duration(2+tr.rng.IntN(60)) * protocol.Hour,
	}
	asked := tr.Ask(tr.Sites()[tr.rng.IntN(4)].Name, func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: "ada", Jobs: jobs, Application: application}
	})
	for _, s := range tr.Sites() {
		submitted, ok := s.Answer(asked).(view.Submitted)
		if !ok || tr.first[submitted.Jobs[0]] != 0 {
			continue
		}
		for _, id := range submitted.Jobs {
			tr.first[id], tr.begun[id] = submitted.Jobs[0], tr.Now()
		}
		tr.wanted[submitted.Jobs[0]] = application
	}
}

// look checks each new placement: with what is known of the application's others, it is within the
// limits.
func (tr *trial) look(t *testing.T) {
	t.Helper()
	for _, s := range tr.Sites() {
		known := map[protocol.JobID]protocol.Micro{}
		for _, view := range s.Finished() {
			if view.Bill != nil {
				known[tr.first[view.ID]] += view.Bill.Cost
			}
		}
		open := s.Rows().Jobs()
		for _, row := range open {
			if row.Prediction != nil {
				known[row.Application] += max(0, row.Prediction.Cost) // a gain may not come to pass
			}
		}
		for _, row := range open {
			tag := protocol.Tag{Job: row.Spec.Job, Epoch: row.Epoch}
			if row.CommittedAt == 0 || row.Prediction == nil || tr.seen[tag] {
				continue
			}
			tr.seen[tag] = true
			tr.grants++
			limits := tr.wanted[row.Application]
			if known[row.Application] > limits.MaxCost {
				t.Errorf("job %v is granted to %s though its application then costs %v of at most %v", row.Spec.Job, row.Site, known[row.Application], limits.MaxCost)
			}
			if due := tr.begun[row.Spec.Job].Add(limits.MaxTime); row.CommittedAt > due || row.Prediction.End > due {
				t.Errorf("job %v is granted to %s at %v and is to end at %v, after %v", row.Spec.Job, row.Site, row.CommittedAt, row.Prediction.End, due)
			}
		}
	}
}

// settled checks the bill of each job against a sum of the prices of its hours, and that what broke
// a limit in fact is reported, and nothing else.
func (tr *trial) settled(t *testing.T) (broken int) {
	t.Helper()
	paid, late, reported := map[protocol.JobID]protocol.Micro{}, map[protocol.JobID]bool{}, map[protocol.JobID]string{}
	for _, s := range tr.Sites() {
		for _, view := range s.Finished() {
			if bill := view.Bill; bill != nil {
				site := view.Site
				if view.Guest {
					site = s.Name
				}
				if want := tr.integral(site, view.CPUs, bill); bill.Cost != want || bill.Disputed != "" {
					t.Errorf("job %v at %s: billed %v for %v from %v on, want %v; %s", view.ID, site, bill.Cost, bill.Ran, bill.Start, want, bill.Disputed)
				}
				if !view.Guest {
					paid[tr.first[view.ID]] += bill.Cost
				}
			}
			if view.Guest {
				continue
			}
			first := tr.first[view.ID]
			if due := tr.begun[view.ID].Add(tr.wanted[first].MaxTime); view.Ended > due && view.Started != 0 {
				late[first] = true
			}
			if view.Objectives != nil && view.Objectives.Broken != "" {
				reported[first] = view.Objectives.Broken
			}
		}
	}
	for first, limits := range tr.wanted {
		over := paid[first] > limits.MaxCost
		if (over || late[first]) != (reported[first] != "") {
			t.Errorf("application %v cost %v of at most %v, late: %t; told: %q", first, paid[first], limits.MaxCost, late[first], reported[first])
		}
		if over && !late[first] && !strings.HasPrefix(reported[first], "max_cost: ") {
			t.Errorf("application %v cost %v of at most %v; told: %q", first, paid[first], limits.MaxCost, reported[first])
		}
		if over || late[first] {
			broken++
		}
	}
	return broken
}

// integral is what a run costs by the prices of the trial.
func (tr *trial) integral(site protocol.SiteName, cpus int, bill *view.Bill) protocol.Micro {
	use := overHours(bill.Start, bill.Ran, func(int) int64 { return int64(tr.perCPU[site]) * int64(cpus) })
	energy := overHours(bill.Start, bill.Ran, func(hour int) int64 { return tr.prices[site][hour] * int64(protocol.Unit) })
	energy.Mul(energy, big.NewRat(int64(cpus)*trialPower, 1_000_000_000))
	return rounded(use) + rounded(energy)
}

var trialApplications = flag.Int("trial.applications", 120, "applications of TestApplicationsWithinTheirLimits")

// TestApplicationsWithinTheirLimits: no grant breaks a limit as known then, what
// is billed is the integral of the prices, what was broken in fact is reported, and none is left.
func TestApplicationsWithinTheirLimits(t *testing.T) {
	t.Parallel()
	applications := *trialApplications
	tr := newTrial(t, 1, 24*(13+applications/30))
	for range applications {
		tr.submit(t)
		for range 8 {
			tr.Advance(5 * protocol.Minute)
			tr.look(t)
		}
	}
	for range 24 * 12 * 4 {
		tr.Advance(5 * protocol.Minute)
		tr.look(t)
	}
	for _, s := range tr.Sites() {
		for _, row := range s.Rows().Jobs() {
			t.Errorf("job %v is left: %v, %s", row.Spec.Job, row.State, row.Reason)
		}
	}
	if err := tr.Err(); err != nil {
		t.Error(err)
	}
	broken := tr.settled(t)
	t.Logf("%d applications of %d were taken, with %d grants; %d broke a limit in fact", len(tr.wanted), applications, tr.grants, broken)
	if broken == 0 || tr.grants < applications/2 || len(tr.wanted) < applications/2 {
		t.Error("the trial shows nothing")
	}
}
