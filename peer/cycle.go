package peer

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/intake"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A cycle [MC 2] is a round of all jobs in the grid queue. The first one comes a
// period after a job has come into the empty queue, and then one every period while
// jobs are there; so the cycles of different sites are not in phase. One that is due
// while the one before is still open begins when that closes. Of more jobs than one
// message holds, the oldest are in the cycle and the others in the next one, a period
// later. A site takes at most MaxQ jobs in a period, whoever sends them: first come,
// first served, so that one partner can have them all.

// awaitCycle sets the time of the next cycle, if there is something to place.
func (p *Peer) awaitCycle() {
	switch {
	case p.cfg.Initiation != policy.Cycle:
	case p.queue.Len() == 0:
		p.forgetCycle()
	case !p.awaits:
		p.awaits = true
		p.after(p.cfg.Cycle, timer{kind: cycleTimer})
	}
}

// beginCycle is the time of a cycle, and sets that of the next one.
func (p *Peer) beginCycle() {
	p.cycleDue = true
	p.after(p.cfg.Cycle, timer{kind: cycleTimer})
}

// forgetCycle drops what was planned by other rules, or for jobs that have gone.
func (p *Peer) forgetCycle() {
	if !p.awaits {
		return
	}
	p.timers.Stop(timer{kind: cycleTimer})
	p.awaits, p.cycleDue = false, false
}

// A round's jobs are bounded by what one message may hold: by their number, and by the
// bytes of a request for all of them, well below the 4 MiB of the wire.
const (
	mostRoundJobs    = 16384
	mostRequestBytes = 3 << 20
)

// requestBytes is the most that a job can have in a quote request: its numbers take less
// than 100 bytes, and 50 more of results and with what is foreseen of the run; a text its
// length and up to 3 bytes more, and a licence 12 more than its name.
func requestBytes(spec *protocol.Spec, foreseen bool) int {
	n := 100 + len(spec.User)
	if foreseen || spec.DataOut > 0 || spec.Priority != "" {
		n += 50 + len(spec.Priority)
	}
	for _, site := range spec.Sites {
		n += 3 + len(site)
	}
	for _, licence := range spec.Licences {
		n += 12 + len(licence.Name)
	}
	return n
}

// tooLarge says why an application does not fit in one round, which has all its components
// in all their shapes; empty: it does.
func tooLarge(user string, a *protocol.Application, jobs []protocol.Job) string {
	if a == nil {
		return ""
	}
	rows, bytes := 0, 0
	for i := range jobs {
		shapes := 1 + len(jobs[i].Component.Shapes)
		rows += shapes
		bytes += shapes * (requestBytes(&jobs[i].Spec, true) + len(user))
	}
	if rows <= mostRoundJobs && bytes <= mostRequestBytes {
		return ""
	}
	return fmt.Sprintf("the application has %d components in %d shapes, which sites are asked about at once, in %d bytes; "+
		"at most %d and %d are possible: make several applications of it", len(jobs), rows, bytes, mostRoundJobs, mostRequestBytes)
}

// takeJobs are the jobs of the next round, oldest first, each in all its shapes. What no
// message holds stays. The components of an application are not parted.
func (p *Peer) takeJobs() []protocol.Spec {
	ids := p.onTheirWay(p.withSiblings(p.takeOpen(p.roundJobs())))
	specs, bytes := make([]protocol.Spec, 0, len(ids)), 0
	for len(ids) > 0 {
		next := ids[:p.whole(ids)]
		ids = ids[len(next):]
		rows := p.rowsOf(next)
		for i := range rows {
			bytes += requestBytes(&rows[i], p.cfg.Policy.DecidesApplications())
		}
		if len(specs) > 0 && (bytes > mostRequestBytes || len(specs)+len(rows) > mostRoundJobs) {
			for _, id := range next {
				p.queue.Put(id)
			}
			continue
		}
		specs = append(specs, rows...)
	}
	return specs
}

// rowsOf are jobs in their shapes.
func (p *Peer) rowsOf(ids []protocol.JobID) (rows []protocol.Spec) {
	for _, id := range ids {
		j := p.jobs[id]
		rows = append(rows, j.Spec)
		for shape := 1; shape < p.rowsFor(j); shape++ {
			rows = append(rows, j.Shaped(shape))
		}
	}
	return rows
}

// rowsFor is in how many shapes sites are asked about a job: in one, unless the policy chooses.
func (p *Peer) rowsFor(j *job) int {
	if p.cfg.Policy.DecidesApplications() {
		return max(1, len(j.Shapes()))
	}
	return 1
}

// withSiblings adds to jobs that were taken the other components of their applications
// that have no place.
func (p *Peer) withSiblings(ids []protocol.JobID) []protocol.JobID {
	if !p.cfg.Policy.DecidesApplications() {
		return ids
	}
	var last *application // ids of one are neighbours
	for _, id := range ids {
		a := p.jobs[id].application
		if a == nil || a == last {
			continue
		}
		last = a
		for _, sibling := range a.jobs {
			if p.queue.TakeAlso(sibling) {
				ids = append(ids, sibling)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// whole is how many of the first jobs belong to one application; 1 for a job on its own.
func (p *Peer) whole(ids []protocol.JobID) int {
	a := p.jobs[ids[0]].application
	if a == nil || !p.cfg.Policy.DecidesApplications() {
		return 1
	}
	n := 1
	for n < len(ids) && p.jobs[ids[n]].application == a {
		n++
	}
	return n
}

// roundJobs is how many jobs the next round may have; 0: it is not its time yet.
func (p *Peer) roundJobs() int {
	if p.cfg.Initiation != policy.Cycle {
		return p.cfg.RoundJobs
	}
	if !p.cycleDue {
		return 0
	}
	p.cycleDue = false
	return mostRoundJobs
}

// keepsOwn says whether there is nothing to decide about a job, so that it need not
// wait for a cycle: its user lets it run here only, in one shape, and wants no more.
func (p *Peer) keepsOwn(j *job) bool {
	sites := j.Spec.Sites
	return p.cfg.Initiation == policy.Cycle && len(sites) == 1 && sites[0] == p.cfg.Site &&
		j.application == nil && p.rowsFor(j) == 1
}

// intakeRule is how many jobs the site takes in a period.
func (p *Peer) intakeRule() intake.Rule {
	return intake.Rule{Max: p.cfg.MaxQ, Period: p.cfg.Cycle}
}

// countIntake notes that a job has come into the local queue by a policy's choice, and returns the
// intake in which it counts.
func (p *Peer) countIntake() intake.Number {
	number := p.intake.Take(p.intakeRule(), p.now)
	p.saveIntake()
	return number
}

// countOwn notes the same of an own job, which only cycles count.
func (p *Peer) countOwn() {
	if p.cfg.Initiation == policy.Cycle {
		p.countIntake()
	}
}

// uncountIntake takes a guest that did not come after all out of the count, if it was in this
// period's.
func (p *Peer) uncountIntake(g *guest) {
	if p.intake.GiveBack(p.intakeRule(), p.now, g.intake) {
		p.saveIntake()
	}
	g.intake = 0
}

// saveIntake has the intake outlive the peer.
func (p *Peer) saveIntake() {
	if p.cfg.MaxQ > 0 {
		p.site.Intake = p.intake.Row(p.intakeRule())
		p.saveSite()
	}
}

// resumeIntake goes on with the period in which an earlier life ended, and counts the guests
// for which that had made room last.
func (p *Peer) resumeIntake() {
	since, number, lasts := p.intake.Resume(p.intakeRule(), p.now, p.site.Intake)
	if !lasts {
		return
	}
	for _, g := range p.guests {
		if g.Phase == row.GuestPrepared && g.Since >= since {
			g.intake = number
		}
	}
}

// intakeLeft is how many jobs the site may still take in this period (MaxQ).
func (p *Peer) intakeLeft() int { return p.intake.Left(p.intakeRule(), p.now) }

// intakeFullReason says why the site takes no more jobs in this period; empty: it does.
func (p *Peer) intakeFullReason() string { return p.intake.FullReason(p.intakeRule(), p.now) }

// fullForOwn says the same of a job that a cycle would keep at home: guests may have come
// while its policy thought.
func (p *Peer) fullForOwn() string {
	if p.cfg.Initiation != policy.Cycle {
		return ""
	}
	return p.intakeFullReason()
}

// growth learns how much longer the second, third … job of a round would wait here
// when the earlier ones came too: the quotes of one job of middling size after none,
// one, two … like it. It tells what it knows when half of the time for the reply is over.
func (p *Peer) growth(g growWait, specs []protocol.Spec, quotes []protocol.Quote) {
	i := middling(specs, quotes)
	if g.jobs = min(g.jobs, len(specs), protocol.MaxExtra); g.jobs < 2 || i < 0 {
		g.quotes.grown(p, nil)
		return
	}
	g.request, g.first = specs[i].On(&p.cfg.Capacity), quotes[i].AWT
	p.grow(g)
}

// growWait asks about the wait of job after job.
type growWait struct {
	quotes  grower
	jobs    int
	until   protocol.Instant // nobody is asked any more then
	request protocol.Request
	first   protocol.Duration
	waits   []protocol.Duration
}

// grower are the quotes that the growing waits are for, [quoteHome] or [quotePartner].
type grower interface {
	grown(p *Peer, extra []protocol.Duration)
}

// grow asks about the next job; one that is declined, or not answered, ends it.
func (p *Peer) grow(g growWait) {
	if len(g.waits) == g.jobs-1 || p.now >= g.until {
		g.quotes.grown(p, g.waits)
		return
	}
	request := g.request
	request.Job = 0 // nobody's: one like it
	query := localsched.Query{Jobs: []protocol.Request{request}, Ahead: p.promises()}
	for k := range len(g.waits) + 1 {
		query.Ahead = append(query.Ahead, localsched.Promise{
			Tag:     protocol.Tag{Job: g.request.Job, Epoch: math.MaxUint32 - protocol.Epoch(k)},
			Request: g.request,
		})
	}
	p.call(event.QuoteOp{Query: query}, g)
}

func (g growWait) answered(p *Peer, result event.Result, err error) {
	quoted, err := resultAs[event.QuoteResult](result, err)
	if err != nil || len(quoted.Quotes) != 1 || quoted.Quotes[0].Declined != "" {
		g.quotes.grown(p, g.waits)
		return
	}
	longer := max(0, quoted.Quotes[0].AWT-g.first)
	if n := len(g.waits); n > 0 {
		longer = max(longer, g.waits[n-1])
	}
	g.waits = append(g.waits, longer)
	p.grow(g)
}

// middling is the index of the job of middling size among those that the site would
// take; -1: it takes none.
func middling(specs []protocol.Spec, quotes []protocol.Quote) int {
	var taken []int
	for i := range quotes {
		if quotes[i].Declined == "" {
			taken = append(taken, i)
		}
	}
	if len(taken) == 0 {
		return -1
	}
	slices.SortStableFunc(taken, func(a, b int) int { return cmp.Compare(specs[a].CPUs, specs[b].CPUs) })
	return taken[len(taken)/2]
}
