package peer

import (
	"fmt"
	"reflect"

	"github.com/switchyard-hpc/switchyard/peer/due"
)

// Leftovers says what a peer still keeps in memory that it must not keep once
// all its jobs have ended; empty: nothing.
func (p *Peer) Leftovers() (out []string) {
	count := func(what string, n int) {
		if n != 0 {
			out = append(out, fmt.Sprintf("%d %s", n, what))
		}
	}
	tables := reflect.ValueOf(&p.rows).Elem()
	count("jobs", len(p.rows.Jobs))
	count("users with jobs", tables.FieldByName("ofUser").Len())
	count("runs", len(p.rows.Runs))
	count("rounds", len(p.rounds))
	count("tentative allocations", len(p.tentatives))
	count("weighed offers", len(p.impactChecks))
	count("applications", len(p.rows.Applications))
	sites, waiting := p.turns.Open()
	count("sites where groups seek room", sites)
	count("members that wait for their turn", waiting)
	count("jobs in the grid queue", p.queue.Len())
	count("calls beside the watch", len(p.calls.Pending())-1)
	count("calls in the order of releases", p.releases.Len())
	count("dirty rows", tables.FieldByName("changed").FieldByName("order").Len())
	if p.open != nil {
		out = append(out, "an open round")
	}
	if p.trial != nil {
		out = append(out, "a trial")
	}
	for t := range p.timers.Keys() {
		if t.Kind != due.PruneTimer && t.Kind != due.RequeueableTimer && t.Kind != due.ProbeTimer && t.Kind != due.LoadCheckTimer && t.Kind != due.PriceTimer && t.Kind != due.MarkTimer &&
			t.Kind != due.PaceTimer && t.Kind != due.TrialTimer {
			out = append(out, fmt.Sprintf("timer %+v", t))
		}
	}
	for _, one := range p.partners.All() {
		count("jobs here of "+string(one.Site), one.JobsHere)
		count("CPUs here of "+string(one.Site), one.CPUsHere)
		count("jobs there at "+string(one.Site), one.JobsThere)
	}
	for _, g := range p.rows.Guests {
		if g.Payload != nil {
			out = append(out, fmt.Sprintf("the payload of guest %v", g.Spec.Job))
		}
	}
	return out
}
