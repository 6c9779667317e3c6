package main

import (
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// round is what a round has done so far.
type round struct {
	in       *policy.Snapshot
	currency string // of the prices that are compared
	sites    []tally
}

// tally is what the round has sent to one site.
type tally struct {
	jobs  int
	free  int               // CPUs that are left
	delay protocol.Duration // the jobs' work, spread over the whole machine
}

func newRound(in *policy.Snapshot) *round {
	r := &round{in: in, currency: currencyOf(in), sites: make([]tally, len(in.Sites))}
	for s := range in.Sites {
		r.sites[s].free = in.Sites[s].Free
	}
	return r
}

// currencyOf is the own site's currency or, without one, that of the first site that
// names prices. Prices in another one cannot be compared with it.
func currencyOf(in *policy.Snapshot) string {
	if in.Self != policy.NoSite && in.Sites[in.Self].Currency != "" {
		return in.Sites[in.Self].Currency
	}
	for s := range in.Sites {
		if in.Sites[s].Currency != "" {
			return in.Sites[s].Currency
		}
	}
	return ""
}

// offers are those of all sites that quote the job and still take one.
func (r *round) offers(j int) []offer {
	offers := make([]offer, 0, len(r.sites))
	for s := range r.sites {
		site, sent, at := &r.in.Sites[s], &r.sites[s], r.in.At(j, s)
		if r.in.AWT[at] == protocol.Never || sent.jobs >= site.MaxJobs {
			continue
		}
		o := offer{site: s, wait: r.in.AWT[at], noPrice: true, sent: sent.jobs, away: s != r.in.Self}
		// The quote answers for this job alone. While CPUs are left for it, the jobs
		// that the round sent there before do not matter.
		if r.in.Jobs[j].CPUs > sent.free {
			o.wait = o.wait.Plus(sent.delay)
		}
		o.turnaround = o.wait.Plus(r.in.ERT[at])
		if site.Currency != "" && site.Currency == r.currency {
			o.noPrice, o.cost, o.currency = false, r.in.Cost[at], site.Currency
		}
		offers = append(offers, o)
	}
	return offers
}

// send notes that the round sends the job to the site.
func (r *round) send(j, s int) {
	job, sent := &r.in.Jobs[j], &r.sites[s]
	sent.jobs++
	sent.free = max(0, sent.free-job.CPUs)
	// As long as on the whole machine at once: run time · its CPUs / all CPUs.
	sent.delay = sent.delay.Plus(r.in.ERT[r.in.At(j, s)].Rescale(job.CPUs, r.in.Sites[s].CPUs))
}
