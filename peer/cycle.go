package peer

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A cycle [MC 2] is a round of all jobs in the grid queue. The first one comes a
// period after a job has come into the empty queue, and then one every period while
// jobs are there; so the cycles of different sites are not in phase. A site takes at
// most MaxQ jobs in a period, whoever sends them.

// awaitCycle sets the time of the next cycle, if there is something to place.
func (p *Peer) awaitCycle() {
	if p.cfg.Initiation != policy.Cycle || p.queue.Len() == 0 || p.awaits || p.cycleDue || p.open != nil {
		return
	}
	p.awaits = true
	p.after(p.cfg.Cycle, timer{kind: cycleTimer})
}

// forgetCycle drops what was planned by other rules.
func (p *Peer) forgetCycle() {
	p.timers.stop(timer{kind: cycleTimer})
	p.awaits, p.cycleDue = false, false
}

// mostRoundJobs bounds a round's jobs by what one message may hold.
const mostRoundJobs = 16384

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
// wait for a cycle: its user lets it run here only.
func (p *Peer) keepsOwn(spec *protocol.Spec) bool {
	return p.cfg.Initiation == policy.Cycle && len(spec.Sites) == 1 && spec.Sites[0] == p.cfg.Site
}

// intake counts the jobs that the site took in one period.
type intake struct {
	period protocol.Instant // its number
	jobs   int
}

// took notes that a job has come into the local queue by a policy's choice.
func (p *Peer) took() {
	p.openIntake()
	p.intake.jobs++
}

// room is how many jobs the site may still take in this period (MaxQ).
func (p *Peer) room() int {
	if p.cfg.MaxQ == 0 {
		return math.MaxInt32
	}
	p.openIntake()
	return max(0, p.cfg.MaxQ-p.intake.jobs)
}

// full says why the site takes no more jobs in this period; empty: it does.
func (p *Peer) full() string {
	if p.room() > 0 {
		return ""
	}
	return fmt.Sprintf("has taken %d jobs in this period, as many as it allows", p.cfg.MaxQ)
}

// fullOfOthers is full for a job that a cycle would keep at home: guests may have come
// while its policy thought.
func (p *Peer) fullOfOthers() string {
	if p.cfg.Initiation != policy.Cycle {
		return ""
	}
	return p.full()
}

func (p *Peer) openIntake() {
	if period := p.now / protocol.Instant(p.cfg.Cycle); period != p.intake.period {
		p.intake = intake{period: period}
	}
}

// growth learns how much longer the second, third … job of a round would wait here
// when the earlier ones came too: the quotes of one job of middling size after none,
// one, two … like it.
func (p *Peer) growth(specs []protocol.Spec, quotes []protocol.Quote, jobs int, then func([]protocol.Duration)) {
	i := middling(specs, quotes)
	if jobs = min(jobs, len(specs), protocol.MaxExtra); jobs < 2 || i < 0 {
		then(nil)
		return
	}
	g := &growing{request: specs[i].On(&p.cfg.Capacity), first: quotes[i].AWT, jobs: jobs, then: then}
	p.grow(g)
}

// growing is a question about the wait of job after job.
type growing struct {
	request protocol.Request
	first   protocol.Duration
	jobs    int
	waits   []protocol.Duration
	then    func([]protocol.Duration)
}

// grow asks about the next job; one that is declined, or not answered, ends it.
func (p *Peer) grow(g *growing) {
	if len(g.waits) == g.jobs-1 {
		g.then(g.waits)
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
	p.call(QuoteOp{Query: query}, func(result Result, err error) {
		quoted, err := resultAs[QuoteResult](result, err)
		if err != nil || len(quoted.Quotes) != 1 || quoted.Quotes[0].Declined != "" {
			g.then(g.waits)
			return
		}
		longer := max(0, quoted.Quotes[0].AWT-g.first)
		if n := len(g.waits); n > 0 {
			longer = max(longer, g.waits[n-1])
		}
		g.waits = append(g.waits, longer)
		p.grow(g)
	})
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
