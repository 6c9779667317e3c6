package partner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// View is the partner as people see it. Missing says which jobs concern it when it has departed.
func (p *Partner) View(now protocol.Instant, missing string) view.Site {
	v := view.Site{
		Site: p.Site, Link: "up", Age: p.LoadAge(now), LastSeen: p.Heard,
		GuestJobs: p.JobsHere, SentJobs: p.JobsThere, Shared: p.Shared, Drain: p.Row.Drain, Draining: p.Draining,
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
	default:
		v.Reason = strings.Join(slices.DeleteFunc([]string{p.keyAdvice(), p.unshared()}, func(s string) bool { return s == "" }), "; ")
	}
	v.Number = p.Row.Number // until its card says it again
	if p.Card != nil {
		v.Number, v.Software, v.PublicKey = p.Card.Number, p.Card.Software, p.Card.PublicKey
		v.ShowCapacity(&p.Card.Capacity)
	}
	if p.LoadAt != 0 {
		v.ShowLoad(&p.Load)
	}
	return v
}

// keyAdvice says which of two keys the partner uses, and when the other one is to be removed; empty: it has one.
func (p *Partner) keyAdvice() string {
	switch {
	case p.NextPublicKey == "":
		return ""
	case p.KeyInUse() == p.NextPublicKey:
		return fmt.Sprintf("uses next_public_key: write public_key = %q in its [[partner]] in place of public_key or public_key_file, and remove next_public_key", p.NextPublicKey)
	}
	return "uses public_key, and may use next_public_key"
}

// unshared says that the partner names no directories which are shared with it by the configuration here; empty: nothing is to
// be said.
func (p *Partner) unshared() string {
	var not []string
	for _, dir := range p.Shared {
		if p.Card != nil && !slices.ContainsFunc(p.Card.Shared, func(there string) bool {
			return strings.HasPrefix(dir+"/", there+"/") || strings.HasPrefix(there+"/", dir+"/")
		}) {
			not = append(not, dir)
		}
	}
	if len(not) == 0 {
		return ""
	}
	return fmt.Sprintf("does not name %s in shared of its [[partner]] for this site, so files there are sent", strings.Join(not, ", "))
}

// Mark is what the partner has said of this site, whose number is given; the second is false:
// nothing.
func (p *Partner) Mark(mine protocol.SiteNumber) (view.PartnerMark, bool) {
	return view.PartnerMark{Site: p.Site, Life: p.OfHere, Highest: protocol.NewJobID(mine, p.Highest)}, p.Highest > 0
}
