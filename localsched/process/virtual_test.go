package process_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/wallclock"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/driver"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/localsched/virtual"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAsTheSimulator gives the same submissions, ends, withdrawals, advance reservations and
// budgets to real processes, under a clock that stands still between them, and to the batch
// system of the simulator: every quote, start, load and refusal is the same to the millisecond.
func TestAsTheSimulator(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]engine.Policy{"easy": engine.EASY(), "conservative": engine.Conservative()} {
		for seed := range 2 {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				t.Parallel()
				steps := rapid.SliceOfN(rapid.Custom(drawStep), 24, 24).Example(seed)
				p := newPair(t, policy)
				for i, one := range steps {
					p.step(t, one)
					p.compare(t, fmt.Sprintf("step %d, %+v", i, one))
				}
				p.endAll(t)
				p.compare(t, "at the end")
			})
		}
	}
}

// pairStep is something that happens to both batch systems, after a pause.
type pairStep struct {
	what  string
	pause protocol.Duration
	cpus  int
	limit protocol.Duration
	power int // in parts per million
	which int // of the jobs that it may be about
}

func drawStep(t *rapid.T) pairStep {
	return pairStep{
		what: rapid.SampledFrom([]string{
			"submit", "submit", "submit", "submit", "end", "end", "withdraw", "reserve", "reserve", "take", "release", "budget",
		}).Draw(t, "what"),
		pause: protocol.Duration(rapid.Int64Range(0, 2_000_000).Draw(t, "pause")),
		cpus:  rapid.IntRange(1, 5).Draw(t, "cpus"),                                     // one more than there are
		limit: protocol.Duration(rapid.Int64Range(600_000, 6_000_000).Draw(t, "limit")), // shims keep it too, by the machine's clock
		power: rapid.IntRange(500_000, protocol.PPM).Draw(t, "power"),
		which: rapid.IntRange(0, 99).Draw(t, "which"),
	}
}

// pair is both batch systems, and their clock.
type pair struct {
	*site

	now      atomic.Int64
	policy   engine.Policy
	virtual  *virtual.System[localsched.Submission]
	reserved []localsched.Submission // that have not come
}

func newPair(t *testing.T, policy engine.Policy) *pair {
	t.Helper()
	p := &pair{policy: policy}
	began := wallclock.System()()
	p.now.Store(int64(began.Wall))
	p.site = openSite(t, func(c *process.Config) {
		c.Policy = policy
		c.Clock = func() wallclock.Reading {
			wall := protocol.Instant(p.now.Load())
			return wallclock.Reading{Wall: wall, Steady: began.Steady + wall.Sub(began.Wall)}
		}
	})
	runner := virtual.Runner[localsched.Submission]{
		Now:     func() protocol.Instant { return protocol.Instant(p.now.Load()) },
		Limit:   virtual.NoLimit[localsched.Submission],
		Changed: virtual.Unobserved[localsched.Submission],
	}
	runner.Start = func(j *virtual.Job[localsched.Submission]) error {
		p.virtual.Begin(j)
		return nil
	}
	p.virtual = virtual.New(engine.Of(p.config.Capacity), driver.Rules{Policy: policy}, runner)
	return p
}

// of are the jobs in a state, in the order of submission.
func (p *pair) of(state protocol.State) (jobs []*virtual.Job[localsched.Submission]) {
	for _, j := range p.virtual.Jobs() {
		if j.State == state && !j.Withdrawn {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

func (p *pair) step(t *testing.T, one pairStep) {
	t.Helper()
	p.pass(t, one.pause)
	job := guest(t, waitsForGo)
	job.Spec.CPUs, job.Spec.WallTime, job.Spec.Power = one.cpus, one.limit, one.power
	switch one.what {
	case "submit":
		p.submitBoth(t, job)
	case "end":
		if running := p.of(protocol.Running); len(running) > 0 {
			p.end(t, running[one.which%len(running)])
		}
	case "withdraw":
		if pending := p.of(protocol.Pending); len(pending) > 0 {
			p.withdraw(t, pending[one.which%len(pending)].Tag)
		}
	case "reserve":
		p.reserve(t, job, one.pause)
	case "take", "release":
		p.takeOrRelease(t, one)
	case "budget":
		p.setBudget(t, one.which%3)
	}
}

// pass lets time pass: at each instant at which something happens by itself, jobs end that are
// at their limits, and then the engine is asked.
func (p *pair) pass(t *testing.T, by protocol.Duration) {
	t.Helper()
	until := protocol.Instant(p.now.Load()).Add(by)
	for {
		next := p.virtual.Wake()
		if next == 0 || next > until {
			break
		}
		p.now.Store(max(p.now.Load(), int64(next)))
		for _, j := range p.of(protocol.Running) {
			if j.Began.Add(j.WallTime) <= next {
				p.end(t, j)
			}
		}
		if wake := p.virtual.Wake(); wake == next {
			p.tick(t)
			if p.virtual.Wake() == next {
				t.Fatalf("the engine wants to be asked again at %d, and has been", next)
			}
		}
	}
	p.now.Store(int64(until))
	p.tick(t)
}

func (p *pair) tick(t *testing.T) {
	t.Helper()
	p.Tick()
	if err := p.virtual.Tick(); err != nil {
		t.Fatal(err)
	}
	p.awaitStarts(t)
}

// awaitStarts waits until the processes of all jobs run that the simulator has started.
func (p *pair) awaitStarts(t *testing.T) {
	t.Helper()
	for _, j := range p.of(protocol.Running) {
		p.awaitRunning(t, j.Tag)
	}
}

// same compares two errors: whether there is one, and the reasons of refusals.
func same(t *testing.T, what string, live, simulated error) {
	t.Helper()
	var a, b localsched.RefusedError
	if one := new(localsched.RefusedError); errors.As(live, &one) {
		a = *one
	}
	if one := new(localsched.RefusedError); errors.As(simulated, &one) {
		b = *one
	}
	if (live == nil) != (simulated == nil) || a != b {
		t.Fatalf("%s: processes say %v, the simulator %v", what, live, simulated)
	}
}

func (p *pair) submitBoth(t *testing.T, job localsched.Submission) {
	t.Helper()
	_, live := p.Submit(t.Context(), job)
	_, simulated := p.virtual.Submit(job.Tag, job.Spec.Request, job)
	same(t, "submit", live, simulated)
	p.awaitStarts(t)
}

func (p *pair) end(t *testing.T, j *virtual.Job[localsched.Submission]) {
	t.Helper()
	p.awaitRunning(t, j.Tag)
	p.letGo(t, j.Tag)
	p.awaitEnd(t, j.Tag)
	if err := p.virtual.End(j, protocol.Outcome{State: protocol.Completed}); err != nil {
		t.Fatal(err)
	}
	p.awaitStarts(t)
}

func (p *pair) endAll(t *testing.T) {
	t.Helper()
	for jobs := p.of(protocol.Running); len(jobs) > 0; jobs = p.of(protocol.Running) {
		p.end(t, jobs[0])
	}
}

func (p *pair) withdraw(t *testing.T, tag protocol.Tag) {
	t.Helper()
	was, live := p.Withdraw(t.Context(), tag)
	is, simulated := p.virtual.Withdraw(tag)
	if same(t, "withdraw", live, simulated); was != is {
		t.Fatalf("processes say %v, the simulator %v", was, is)
	}
	p.awaitStarts(t)
}

func (p *pair) reserve(t *testing.T, job localsched.Submission, later protocol.Duration) {
	t.Helper()
	hold := localsched.Reservation{Tag: job.Tag, Request: job.Spec.Request, Start: protocol.Instant(p.now.Load()).Add(later), Account: job.Account}
	was, live := p.Reserve(t.Context(), hold)
	is, simulated := p.virtual.Reserve(hold)
	if same(t, "reserve", live, simulated); was != is {
		t.Fatalf("processes reserve from %d on, the simulator from %d", was, is)
	}
	if live == nil {
		p.reserved = append(p.reserved, job)
	}
}

func (p *pair) takeOrRelease(t *testing.T, one pairStep) {
	t.Helper()
	if len(p.reserved) == 0 {
		return
	}
	job := p.reserved[0]
	p.reserved = p.reserved[1:]
	if one.what == "take" {
		p.submitBoth(t, job)
		return
	}
	same(t, "release", p.CancelReservation(t.Context(), job.Tag), p.virtual.CancelReservation(job.Tag))
	p.awaitStarts(t)
}

// setBudget has so many CPUs draw all that they may; 0: there is no budget.
func (p *pair) setBudget(t *testing.T, cpus int) {
	t.Helper()
	budget := engine.Budget{}
	if cpus > 0 {
		budget = until(t, protocol.Instant(p.now.Load()).Add(protocol.Hour), int64(cpus))
	}
	same(t, "budget", p.SetBudget(budget), p.virtual.SetRules(driver.Rules{Policy: p.policy, Budget: budget}))
	p.awaitStarts(t)
}

// compare asks both for quotes, alone and behind what is reserved, and for their loads.
func (p *pair) compare(t *testing.T, when string) {
	t.Helper()
	query := localsched.Query{ProtectSite: new(protocol.SiteNumber(7))}
	for cpus := range 6 {
		for _, limit := range []protocol.Duration{protocol.Minute, protocol.Hour, protocol.Day} {
			query.Jobs = append(query.Jobs, protocol.Request{CPUs: cpus, Nodes: 1, WallTime: limit})
		}
	}
	for range 2 {
		live, err := p.Quote(t.Context(), query)
		simulated, failed := p.virtual.Quote(query)
		if err != nil || failed != nil || !reflect.DeepEqual(live, simulated) {
			t.Fatalf("%s: processes quote\n%+v, %v, the simulator\n%+v, %v", when, live, err, simulated, failed)
		}
		for _, job := range p.reserved {
			query.Ahead = append(query.Ahead, localsched.Tentative{Tag: job.Tag, Request: job.Spec.Request})
		}
		other := guest(t, "")
		query.Ahead = append(query.Ahead, localsched.Tentative{Tag: other.Tag, Request: other.Spec.Request})
	}
	simulated, err := p.virtual.Load()
	if live := p.load(t); err != nil || live != simulated {
		t.Fatalf("%s: the load of processes is %+v, of the simulator %+v, %v", when, live, simulated, err)
	}
}
