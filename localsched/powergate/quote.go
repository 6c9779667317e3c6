package powergate

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
	own, behind, err := g.ownQuotes(query)
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
		combine(own[i], &quotes[i])
	}
	return quotes, nil
}

// combine joins the gate's own quote with one of the batch system.
func combine(own protocol.Quote, q *protocol.Quote) {
	switch {
	case q.Declined != "":
		return
	case own.Declined != "":
		*q = protocol.Quote{Job: q.Job, Declined: own.Declined}
		return
	}
	if own.AWT > q.AWT {
		q.Bound = 0 // of a wait that is another now
	}
	q.AWTLow, q.AWT, q.AWTHigh = max(q.AWTLow, own.AWTLow), max(q.AWT, own.AWT), max(q.AWTHigh, own.AWTHigh)
	q.AWTMedian = min(max(q.AWTMedian, own.AWTMedian, q.AWTLow), q.AWTHigh)
	q.Delay = max(q.Delay, own.Delay)
	switch {
	case q.Note == "":
		q.Note = own.Note
	case own.Note != "":
		q.Note += "; " + own.Note
	}
}

// ownQuotes are the gate's own quotes, and what the batch system is to be asked: it does not know of
// those promised jobs that are held here, which the gate counts.
func (g *Gate) ownQuotes(query localsched.Query) (quotes []protocol.Quote, behind localsched.Query, err error) {
	behind = query
	behind.Ahead = nil
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, behind, localsched.ErrClosed
	}
	for _, one := range query.Ahead {
		if j := g.jobs[one.Tag]; j == nil || j.state != stateHeld {
			behind.Ahead = append(behind.Ahead, one)
		}
	}
	quotes, err = g.driver.Quote(g.driver.Now(), query, func(tag protocol.Tag) bool {
		j := g.jobs[tag]
		return j != nil && j.state != stateNew && j.state != stateDiscarding
	})
	return quotes, behind, err
}
