package partner

import (
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// View is the partner as people see it. Missing says which jobs concern it when it has departed.
func (p *Partner) View(now protocol.Instant, missing string) view.Site {
	v := view.Site{
		Site: p.Site, Link: "up", Age: p.LoadAge(now), LastSeen: p.Heard,
		GuestJobs: p.JobsHere, SentJobs: p.JobsThere,
	}
	if all := p.Row.Quality.Total(); all > 0 {
		v.QuotesMet = new(p.Row.Quality.Weights[row.Kept] * protocol.PPM / all)
	}
	if p.Row.Quality.Doubtful {
		v.AskedLastReason = p.Row.Quality.String()
	}
	switch {
	case p.Departed:
		v.Link, v.Reason = "missing", missing
	case p.Barred != "":
		v.Link, v.Reason = "refused", p.Barred
	case !p.Linked:
		v.Link, v.Reason = "down", p.Unlinked
	case p.Unresponsive:
		v.Link, v.Reason = "unresponsive", "no answer within quote_timeout; not asked until its next message"
	}
	if p.Card != nil {
		v.Number, v.Software = p.Card.Number, p.Card.Software
		v.ShowCapacity(&p.Card.Capacity)
	}
	if p.LoadAt != 0 {
		v.ShowLoad(&p.Load)
	}
	return v
}

// Mark is what the partner has said of this site, whose number is given; the second is false:
// nothing.
func (p *Partner) Mark(mine protocol.SiteNumber) (view.PartnerMark, bool) {
	return view.PartnerMark{Site: p.Site, Life: p.OfHere, Highest: protocol.NewJobID(mine, p.Highest)}, p.Highest > 0
}
