package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Describe implements [localsched.Planner]. What the batch system holds room for could draw more
// than the budget, of which it knows nothing: so none is held.
func (g *Gate) Describe(ctx context.Context) (localsched.Description, error) {
	d, err := g.Scheduler.Describe(ctx)
	d.Capabilities = slices.DeleteFunc(slices.Clone(d.Capabilities), func(one string) bool { return one == localsched.Reserve })
	return d, err
}

// Quote implements [localsched.Planner], as doc.go explains it.
func (g *Gate) Quote(ctx context.Context, query localsched.Query) ([]protocol.Quote, error) {
	plans, behind, err := g.plan(query)
	if err != nil {
		return nil, err
	}
	quotes, err := g.Scheduler.Quote(ctx, behind)
	if err != nil {
		return nil, err
	}
	if len(quotes) != len(query.Jobs) {
		return nil, fmt.Errorf("the batch system gave %d quotes for %d jobs", len(quotes), len(query.Jobs))
	}
	for i := range quotes {
		plans[i].put(&quotes[i])
	}
	return quotes, nil
}

// planned is what the gate says of a job.
type planned struct {
	localsched.Planned

	wait  protocol.Duration // until it is given to the batch system
	least protocol.Duration // the same, if all that runs ended now
	delay protocol.Duration // that it brings to those that are guarded
}

// put joins a quote of the batch system with it.
func (p planned) put(q *protocol.Quote) {
	switch {
	case q.Declined != "":
		return
	case p.Declined != "":
		*q = protocol.Quote{Job: q.Job, Declined: p.Declined}
		return
	}
	if p.wait > q.AWT {
		q.Bound = 0 // of a wait that is another now
	}
	q.AWTLow, q.AWT, q.AWTHigh = max(q.AWTLow, p.least), max(q.AWT, p.wait), max(q.AWTHigh, p.wait)
	q.Delay = max(q.Delay, p.delay)
	switch {
	case q.Note == "":
		q.Note = p.Note
	case p.Note != "":
		q.Note += "; " + p.Note
	}
}

// plan is what the gate says of each job, and what the batch system is to be asked: it does
// not know of those promised jobs that are held here, which the gate counts.
func (g *Gate) plan(query localsched.Query) (plans []planned, behind localsched.Query, err error) {
	behind = query
	behind.Ahead = nil
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, behind, ErrClosed
	}
	var ahead []protocol.Request
	for _, one := range query.Ahead {
		j := g.jobs[one.Tag]
		if j == nil || j.state == making || j.state == unwanted {
			ahead = append(ahead, one.Request)
		}
		if j == nil || j.state != held {
			behind.Ahead = append(behind.Ahead, one)
		}
	}
	return g.planAll(ahead, query), behind, nil
}

// planAll plans each shape of job once. The lock is held.
func (g *Gate) planAll(ahead []protocol.Request, query localsched.Query) []planned {
	at := g.now()
	index := map[protocol.Request]int{}
	shapes := make([]protocol.Request, 0, len(query.Jobs))
	of := make([]int, len(query.Jobs))
	for i, r := range query.Jobs {
		r.Job, r.Like = 0, 0
		n, known := index[r]
		if !known {
			n = len(shapes)
			index[r] = n
			shapes = append(shapes, r)
		}
		of[i] = n
	}
	starts := g.engine.Plan(at, ahead, shapes)
	delays := make([]protocol.Duration, len(shapes))
	if query.Guard != 0 {
		delays = g.engine.Delays(at, ahead, shapes, query.Guard)
	}
	least := make([]protocol.Duration, len(shapes))
	for n := range shapes {
		if starts[n].Start > at {
			least[n] = max(0, g.engine.Earliest(at, shapes[n], starts[n].Start).Sub(at))
		}
	}
	plans := make([]planned, len(query.Jobs))
	for i, n := range of {
		plans[i] = planned{starts[n], max(0, starts[n].Start.Sub(at)), least[n], delays[n]}
		if starts[n].Declined == "" && starts[n].Start == protocol.Instant(protocol.Never) {
			plans[i].Declined = "no start is in sight"
		}
	}
	return plans
}
