package sim

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/local"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// usualBegin is the peers' clock at the workload's beginning, where the configuration
// says nothing else: 2026-01-01, from which new stores count their job ids.
const usualBegin protocol.Instant = 1_767_225_600_000

// grid is a simulated grid: peers, batch systems and wires under one clock.
type grid struct {
	cfg      Config
	zero     protocol.Instant // the peers' clock at the workload's beginning
	machines []Machine
	jobs     []workload.Job // the workload, then the components of all applications
	parts    parts
	sites    []*site // those of the configuration, then the portal if there is one
	byName   map[protocol.SiteName]*site
	wires    wires

	now      protocol.Instant
	heap     moments
	inbox    queue[delivery] // messages that arrive at once
	calls    queue[pending]  // calls that are answered at once
	underWay slots[pending]  // calls that take time
	dirty    []*site
	next     int // job of the workload that arrives next
	asking   int // application that arrives next
	result   *Result
	ended    int // jobs that are over at their origin, or were refused
	events   uint64
	trace    uint64 // a hash of all steps
	check    *checker

	keepsRows bool // peers crash
	staged    bool // data travel with jobs
	gossips   bool // some peer does not ask all its partners
	payload   protocol.Payload
	failure   error
}

// pending is a call of one life of a peer.
type pending struct {
	site *site
	life uint64
	call event.Call
}

// delivery is a message that arrives.
type delivery struct {
	from, to *site
	body     protocol.Message
}

// newGrid makes the sites and links their peers.
func newGrid(cfg Config, jobs []workload.Job) (*grid, error) {
	zero, trace := cmp.Or(cfg.Begin, usualBegin), len(jobs)
	jobs = cfg.withComponents(jobs)
	g := &grid{
		cfg: cfg, zero: zero, jobs: jobs, parts: newParts(cfg, trace), byName: map[protocol.SiteName]*site{}, now: zero,
		keepsRows: len(cfg.Crashes) > 0, staged: cfg.staged(), trace: 14695981039346656037,
		payload: protocol.Payload{Script: []byte("#!/bin/sh\n"), Stdout: "/dev/null", Stderr: "/dev/null"},
		result:  &Result{Placements: slices.Repeat([]Placement{{Site: -1}}, len(jobs))},
	}
	g.check = newChecker(g)
	g.cfg.Tuning.Policy = policy.Describe(cfg.Policy)
	for i := range cfg.Sites {
		one := &cfg.Sites[i]
		g.machines = append(g.machines, one.Machine)
		s := g.addSite(i, one.Name, one.Capacity())
		var err error
		if s.batch, err = newBatchSystem(s, one); err != nil {
			g.close()
			return nil, err
		}
		s.wakesBatch, s.electricity = one.wakes(), one.Electricity
		s.latencies, s.seed = one.Latencies, one.Seed
		s.charges(one)
		s.setMoney(one)
		if one.Peer != nil {
			s.configure(one.Peer)
		}
		s.cfg.FirstCheck = one.FirstCheck
		s.cfg.Prioritize = one.Local == engine.Multifactor()
		if one.Electricity.Ahead != nil {
			s.cfg.Area, s.cfg.Power = string(one.Name), one.Electricity.Milliwatts
		}
	}
	if cfg.Scheme == Central {
		g.addSite(len(cfg.Sites), portalName, protocol.Capacity{}).setMoney(&cfg.Sites[0])
	}
	g.partner()
	g.wires.init(cfg.Seed, len(g.sites), cfg.Network)
	return g, nil
}

// close gives back what batch systems elsewhere hold.
func (g *grid) close() {
	for _, s := range g.sites {
		if s.batch != nil {
			s.batch.close()
		}
	}
}

// portalName is the site without a machine that takes all jobs of the central
// scheme.
const portalName protocol.SiteName = "portal"

func (g *grid) addSite(i int, name protocol.SiteName, capacity protocol.Capacity) *site {
	s := &site{grid: g, index: i, name: name, rows: row.Rows{}}
	s.cfg = rules.Config{
		Site: name, Number: protocol.SiteNumber(i + 1), PublicKey: fmt.Sprintf("U%055d", i+1), //nolint:gosec // checked: at most 9000 sites
		Software: "simulator", Capacity: capacity, Accounts: allUsers{}, DisableLogEvents: true,
		MaxGridJobs: len(g.jobs) + 1, MaxUserJobs: len(g.jobs) + 1,
	}.WithRuntime(g.cfg.Tuning)
	if name != portalName && g.cfg.Scheme == Central { // it takes what the portal gives it, and keeps the rest
		s.cfg.Policy, s.cfg.Initiation = policy.Describe(local.New()), policy.Sender
	}
	if g.cfg.Fallback != nil {
		s.cfg.Fallback = g.cfg.Fallback.Info().Name
	}
	s.cfg.Protect, s.cfg.FairShare = g.cfg.Protect, g.cfg.FairShare
	s.cfg.PlannedStarts = s.cfg.Moves.Interval // nothing else asks for them here
	g.sites = append(g.sites, s)
	g.byName[name] = s
	return s
}

// partner gives each site its partners: all others, or the configured number sampled by
// the seed. Partnership is mutual.
func (g *grid) partner() {
	linked := make([][]int, len(g.sites))
	link := func(a, b int) {
		linked[a], linked[b] = append(linked[a], b), append(linked[b], a)
	}
	n := len(g.cfg.Sites)
	switch {
	case g.cfg.configured():
		g.partnerConfigured()
	case g.cfg.Scheme == Central:
		for i := range n {
			link(i, n)
		}
	case g.cfg.Partners == 0 || g.cfg.Partners >= n-1:
		for a := range n {
			for b := a + 1; b < n; b++ {
				link(a, b)
			}
		}
	default:
		g.partnerSome(link)
	}
	for i, s := range g.sites {
		s.decides, s.fallback = g.cfg.Policy, g.cfg.Fallback
		if i < n && g.cfg.Sites[i].Peer != nil {
			s.decides, s.fallback = g.cfg.Sites[i].Peer.Decides, g.cfg.Sites[i].Peer.Fallback
		}
		slices.Sort(linked[i])
		for _, other := range slices.Compact(linked[i]) {
			s.cfg.Partners = append(s.cfg.Partners, rules.Partner{
				Site: g.sites[other].name, PublicKey: g.sites[other].cfg.PublicKey, MaxJobs: 1 << 30,
				Latency: g.dataLink(i, other).Latency, Bandwidth: g.dataLink(i, other).Bandwidth,
				PerGB: g.dataLink(i, other).PerGB, PerHour: g.dataLink(i, other).PerHour,
			})
		}
		if s.name == portalName {
			s.cfg.PartnersPerRound = len(s.cfg.Partners) // it sees all
		}
		if ask := cmp.Or(s.cfg.PartnersPerRound, rules.Config{}.WithDefaults().PartnersPerRound); len(s.cfg.Partners) > ask {
			g.gossips = true
		}
	}
}

// dataLink is the way of jobs' data between two sites. The portal holds no data: the
// waits quoted to it already include them.
func (g *grid) dataLink(from, to int) DataLink {
	links := g.cfg.Stage.Links
	if links == nil || max(from, to) >= len(links) {
		return DataLink{}
	}
	return links[from][to]
}

// partnerSome lets every site choose half of its partners; the other half has
// chosen it, on average.
func (g *grid) partnerSome(link func(a, b int)) {
	rng := rand.New(rand.NewPCG(g.cfg.Seed, 0x9a27))
	n := len(g.cfg.Sites)
	for a := range n {
		for range max(1, g.cfg.Partners/2) {
			b := rng.IntN(n - 1)
			if b >= a {
				b++
			}
			link(a, b)
		}
	}
}

func (g *grid) site(name protocol.SiteName) *site { return g.byName[name] }

// run lets the time go from one moment to the next until all jobs are over.
func (g *grid) run(ctx context.Context, progress func(ended int)) error {
	if err := g.begin(ctx); err != nil {
		return err
	}
	for n := 0; g.ended < len(g.jobs) && g.failure == nil; n++ {
		if len(g.heap.heap) == 0 {
			break
		}
		if n&63 == 0 { // a policy that is a plugin may make each moment long
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if n&4095 == 0 && progress != nil {
			progress(g.ended)
		}
		m := g.heap.pop()
		if g.stuck(m.at) {
			break
		}
		if m.at < g.now {
			return fmt.Errorf("at %v: the time runs back by %v", g.now.Sub(g.zero), g.now.Sub(m.at))
		}
		g.now = m.at
		g.happen(ctx, m)
		g.drain(ctx)
		g.check.sometimes()
	}
	if progress != nil {
		progress(g.ended)
	}
	if g.failure != nil {
		return g.failure
	}
	return g.check.end()
}

// patience is how long the grid may go on without a job arriving, starting or
// ending while jobs wait: longer than any pause of a peer.
const patience = 3 * protocol.Day

// stuck says that nothing will happen to the jobs that are left: no policy places
// them. They stay unplaced, and the metrics count them.
func (g *grid) stuck(at protocol.Instant) bool {
	return g.next == g.parts.first && g.asking == len(g.cfg.Applications) && g.check.running == 0 && at.Sub(g.check.last) > patience && !g.budgetEnds(g.now)
}

// begin starts the peers and introduces them to each other.
func (g *grid) begin(ctx context.Context) error {
	for _, s := range g.sites {
		if err := s.start(); err != nil {
			return err
		}
	}
	g.drain(ctx)
	for i := range g.cfg.Sites {
		if g.cfg.Sites[i].budgeted() {
			g.heap.push(g.zero, budgetTurns, i, 0)
		}
	}
	for _, a := range g.sites {
		for _, p := range a.cfg.Partners {
			a.step(event.Connected{Card: g.site(p.Site).peer.Card(a.name)})
		}
	}
	g.drain(ctx)
	for i, cut := range g.cfg.Network.Cuts {
		g.heap.push(g.zero.Add(protocol.Duration(cut.From)), cutBegins, cut.A, i)
		g.heap.push(g.zero.Add(protocol.Duration(cut.Until)), cutEnds, cut.A, i)
	}
	for i, crash := range g.cfg.Crashes {
		g.heap.push(g.zero.Add(protocol.Duration(crash.At)), crashes, crash.Site, i)
	}
	g.expectArrival()
	g.expectApplication()
	return nil
}

func (g *grid) happen(ctx context.Context, m moment) {
	s := g.sites[m.site]
	switch m.kind {
	case arrival:
		g.arrive()
	case jobBegins:
		s.batch.begins(m.which)
	case jobEnds:
		s.batch.ends(g.now, m.which)
	case batch:
		s.batch.tick(g.now)
	case wake:
		s.woken()
	case arrives:
		g.deliver(g.wires.onWay.take(m.which))
	case answers:
		g.answer(ctx, m.which)
	case gossips:
		s.gossip()
	case cutBegins:
		g.cut(g.cfg.Network.Cuts[m.which], true)
	case cutEnds:
		g.cut(g.cfg.Network.Cuts[m.which], false)
	case crashes:
		g.crash(s)
		g.heap.push(g.now.Add(g.cfg.Crashes[m.which].For), restarts, s.index, int(m.which))
	case restarts:
		g.failure = g.restart(ctx, s)
	case budgetTurns:
		s.batch.turn(g.now)
	case applies:
		g.apply()
	}
}

// indexOf is the place of a job in the workload.
func (g *grid) indexOf(id protocol.JobID) (int32, error) {
	if n := int(id.Origin()) - 1; n >= 0 && n < len(g.sites) {
		s := g.sites[n]
		if k := id.Seq() - s.first; k < uint64(len(s.sent)) {
			return s.sent[k], nil
		}
	}
	return 0, fmt.Errorf("job %v was never submitted", id)
}

// started notes a start and returns how long the job will be there: held while its data
// travel, then running, at most until a limit that is shorter than the one that it asked for.
func (g *grid) started(s *site, job *batchJob, now protocol.Instant) protocol.Duration {
	w := &g.jobs[job.Detail.index]
	run := g.machines[s.index].takes(w.Run, g.machines[w.Origin])
	if job.Detail.run != nil {
		run = job.Detail.run.ran
		g.parts.begins(w, job)
	}
	run = run.Plus(max(0, job.Detail.data.Sub(now)))
	if job.Limit > 0 { // shorter than the one that it asked for, in which its run has place
		run = min(run, job.Limit)
	}
	p := &g.result.Placements[job.Detail.index]
	g.check.started(s, job.Detail.index)
	*p = Placement{Site: s.index, Queued: job.Queued - g.zero, Start: now - g.zero, End: now.Add(run) - g.zero}
	return run
}

func (g *grid) endOf(index int32) protocol.Instant {
	return g.result.Placements[index].End + g.zero
}

// archived notes that a job is over at its origin.
func (g *grid) archived(view view.Job) {
	index, err := g.indexOf(view.ID)
	if err != nil {
		g.fail("%v", err)
		return
	}
	g.ended++
	g.check.archived(index, view)
	g.parts.seen(index, view)
}

func (g *grid) fail(format string, args ...any) {
	if g.failure == nil {
		g.failure = fmt.Errorf("at %v: "+format, append([]any{g.now.Sub(g.zero)}, args...)...)
	}
}

// touch notes that a site must be looked at before time goes on.
func (g *grid) touch(s *site) {
	if !s.touched {
		s.touched = true
		g.dirty = append(g.dirty, s)
	}
}

// drain carries out all that takes no time: messages in the order in which they
// were sent, then calls, then what the batch systems have to tell.
func (g *grid) drain(ctx context.Context) {
	for {
		switch {
		case g.inbox.len() > 0:
			g.deliver(g.inbox.pop())
		case g.calls.len() > 0:
			g.answerCalls(ctx)
		case len(g.dirty) > 0:
			s := g.dirty[len(g.dirty)-1]
			g.dirty = g.dirty[:len(g.dirty)-1]
			s.settle()
		default:
			return
		}
	}
}

func (g *grid) answerCalls(ctx context.Context) {
	for g.calls.len() > 0 {
		p := g.calls.pop()
		if p.site.life != p.life {
			continue
		}
		if _, ok := p.call.Op.(event.WatchOp); ok {
			p.site.watch = &p.call
			g.touch(p.site)
			continue
		}
		result, err := p.site.do(ctx, p.call.Op)
		p.site.step(event.CallDone{ID: p.call.ID, Result: result, Err: err})
	}
}

// mix adds a step to the hash of the trace.
func (g *grid) mix(site, messages, calls int) {
	const prime = 1099511628211
	for _, part := range [...]int64{int64(g.now), int64(site), int64(messages)<<32 | int64(calls)} {
		g.trace = (g.trace ^ uint64(part)) * prime //nolint:gosec // a hash
	}
}

// queue is a first-in first-out queue.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) len() int { return len(q.items) - q.head }

func (q *queue[T]) push(item T) { q.items = append(q.items, item) }

func (q *queue[T]) pop() (item T) {
	item = q.items[q.head]
	q.head++
	if q.head == len(q.items) {
		clear(q.items)
		q.items, q.head = q.items[:0], 0
	}
	return item
}
