package driver

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Quote answers each job of a query alone, as [localsched.Planner] requires:
//
//	AWT = planned start − now,  AWTLow = earliest start − now ≤ AWT,  ERT = time limit
//
// The earliest start assumes that all running and pending jobs end early. Tentative jobs ahead are
// planned at the end of the queue, unless come reports that the job has been submitted or it has an
// advance reservation: then the engine has it already. TestQuote checks it.
func (d *Driver) Quote(now protocol.Instant, query localsched.Query, come func(protocol.Tag) bool) ([]protocol.Quote, error) {
	if len(query.Jobs) == 0 {
		return nil, nil
	}
	var ahead []protocol.Request
	for _, one := range query.Ahead {
		if !come(one.Tag) && !d.IsReserved(now, one.Tag) {
			ahead = append(ahead, one.Request)
		}
	}
	planned, err := d.engine.Plan(now, ahead, query.Jobs)
	if err != nil {
		return nil, err
	}
	quotes := make([]protocol.Quote, len(query.Jobs))
	for i, p := range planned {
		if p.Declined == "" && p.Start < now {
			return nil, fmt.Errorf("engine: planned start of job %v is %v in the past; report this defect", query.Jobs[i].Job, now.Sub(p.Start))
		}
		quotes[i] = d.quoteOf(now, query.Jobs[i], p)
	}
	return quotes, d.quoteDelays(now, ahead, query, quotes)
}

func (d *Driver) quoteOf(now protocol.Instant, r protocol.Request, p localsched.Planned) protocol.Quote {
	switch {
	case p.Declined != "":
		return protocol.Quote{Job: r.Job, Declined: p.Declined}
	case p.Start == protocol.Instant(protocol.Never):
		return protocol.Quote{Job: r.Job, Declined: "no start is in sight"}
	}
	wait := p.Start.Sub(now)
	q := protocol.Quote{Job: r.Job, AWT: wait, AWTLow: wait, AWTMedian: wait, AWTHigh: wait, ERT: r.WallTime, Note: p.Note}
	if wait > 0 && d.builtin != nil { // the plan assumes time limits, and most jobs end earlier
		q.AWTLow = max(0, d.builtin.Earliest(now, r, p.Start).Sub(now))
	}
	return q
}

// quoteDelays fills in by how much each job would delay the pending jobs of the protected site, if
// the query asks for that and the engine can calculate it.
func (d *Driver) quoteDelays(now protocol.Instant, ahead []protocol.Request, query localsched.Query, quotes []protocol.Quote) error {
	guard, ok := d.engine.(localsched.DelayEstimator)
	if query.ProtectSite == nil || !ok {
		return nil
	}
	delays, err := guard.Delays(now, ahead, query.Jobs, *query.ProtectSite)
	for i, delay := range delays {
		if quotes[i].Declined == "" {
			quotes[i].Delay = delay
		}
	}
	return err
}
