package rounds

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Own is the own site as it is now.
type Own struct {
	Site   protocol.SiteName
	Load   protocol.Load
	Free   int // CPUs that neither run a job nor are claimed by one
	Accept int // jobs that it takes

	Resources []protocol.Resource // of all its nodes and of the whole site, sorted
}

// Answers are the sites that gave quotes, by name; nil stands for the own one.
func (r *Round) Answers(own protocol.SiteName) []*Ask {
	out := make([]*Ask, 1, len(r.Asks)+1)
	for _, a := range r.Asks {
		if a.Reply != nil {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b *Ask) int { return cmp.Compare(a.site(own), b.site(own)) })
	return out
}

func (a *Ask) site(own protocol.SiteName) protocol.SiteName {
	if a == nil {
		return own
	}
	return a.Partner.Site
}

// Snapshot is the round in the policy's columns, without what only a [policy.ApplicationPolicy] looks at.
func (r *Round) Snapshot(own Own, now protocol.Instant) policy.Snapshot {
	var in policy.Snapshot
	for i := range r.Specs {
		spec := &r.Specs[i]
		in.Jobs = append(in.Jobs, policy.Job{
			ID: spec.Job, CPUs: spec.CPUs, WallTime: spec.WallTime, Waited: max(0, now.Sub(spec.Submitted)),
			Data: spec.Data, DataOut: spec.DataOut, User: spec.User, Name: spec.Name, MemoryMB: spec.MemoryMB,
			Nodes: spec.Nodes, Resources: spec.Resources, Features: spec.Features, Exclusive: spec.Exclusive,
		})
	}
	answers := r.Answers(own.Site)
	in.AWT = make([]protocol.Duration, 0, len(r.Specs)*len(answers))
	in.ERT = make([]protocol.Duration, 0, len(r.Specs)*len(answers))
	in.Cost = make([]protocol.Micro, 0, len(r.Specs)*len(answers))
	for s, a := range answers {
		if a == nil {
			in.Self = s
			in.Sites = append(in.Sites, r.ownSite(own))
			continue
		}
		in.Sites = append(in.Sites, a.partnerSite(now))
	}
	for row := range r.Specs {
		for s, a := range answers {
			addQuote(&in, s, r.Quote(row, a))
			if a != nil && a.IsInPlace(row) {
				if in.InPlace == nil {
					in.InPlace = make([]bool, len(r.Specs)*len(answers))
				}
				in.InPlace[in.At(row, s)] = true
			}
		}
	}
	return in
}

// addQuote adds the next quote of a snapshot, which is of a site by its index.
func addQuote(in *policy.Snapshot, site int, q protocol.Quote) {
	if q.Declined != "" || q.AWT == protocol.Never {
		in.AWT, in.ERT, in.Cost = append(in.AWT, protocol.Never), append(in.ERT, protocol.Never), append(in.Cost, 0)
		return
	}
	s := &in.Sites[site]
	s.Currency = cmp.Or(s.Currency, q.Currency)
	s.NoEnergy = s.NoEnergy && !pricing.NamesEnergy(q.Terms)
	in.AWT, in.ERT, in.Cost = append(in.AWT, q.AWT), append(in.ERT, q.ERT), append(in.Cost, q.Cost())
}

func (r *Round) ownSite(own Own) policy.Site {
	return policy.Site{
		Name: own.Site, RUS: own.Load.RUS(), CPUs: own.Load.CPUs, Free: own.Free, MaxJobs: own.Accept, MarginalWaits: r.Extra,
		NoEnergy: true, Resources: own.Resources,
	}
}

func (a *Ask) partnerSite(now protocol.Instant) policy.Site {
	return policy.Site{
		Name: a.Partner.Site, RUS: a.Reply.Load.RUS(), Age: now.Sub(a.Partner.LoadAt), CPUs: a.Reply.Load.CPUs,
		Free: a.Reply.Free, MaxJobs: a.Reply.MaxJobs, MarginalWaits: a.Reply.MarginalWaits,
		Latency: a.Partner.Latency, Bandwidth: a.Partner.Bandwidth, NoEnergy: true,
		Resources: a.Partner.Resources(),
	}
}

// Explained are decisions, each with why another policy took it.
func Explained(decisions []policy.Decision, why string) []policy.Decision {
	all := slices.Clone(decisions)
	for i := range all {
		all[i].Reason += "; the policy failed, " + why
	}
	return all
}

// Money are the parts of the price of a site's quote in a currency; a is nil for the local site.
func (r *Round) Money(in pricing.Money, row int, a *Ask) view.Money {
	q, link := r.Quote(row, a), protocol.Micro(0)
	if a != nil && !a.IsInPlace(row) {
		spec := r.Specs[row]
		if a.Arrived {
			spec.Data = 0
		}
		link = a.Partner.LinkCost(&spec)
	}
	return in.Parts(&q, link)
}
