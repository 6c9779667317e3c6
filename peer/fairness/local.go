package fairness

import (
	"iter"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Local is a job of this site or of a partner that is in the local queue, or may come there.
type Local struct {
	Origin  protocol.SiteName
	Account string // by the names of this site
	Spec    *protocol.Spec
	Since   protocol.Instant // it has waited since then, or has run
	Fixed   int64            // the priority that an administrator has given it; 0: none
}

// nice is what is taken off the priority of a job. A partner favors none of its jobs over those of this site.
func (b *Book) nice(job *Local) int64 {
	if job.Origin != b.site {
		return max(0, job.Spec.Nice)
	}
	return job.Spec.Nice
}

// AccountOf is the account that pays for a job here. One of a site whose accounts are those of this site keeps its own.
func (b *Book) AccountOf(job Local) string {
	if job.Origin != b.site && b.isLocal(job.Origin) {
		return job.Spec.Account
	}
	return job.Account
}

// keyOf is the user and account of a job, or of use. Users of partners have the names of their sites, as ada@borealis, unless
// they are those of this site.
func (b *Book) keyOf(origin protocol.SiteName, account, user string) fairshare.Key {
	if !b.isLocal(origin) {
		user += "@" + string(origin)
	}
	return fairshare.Key{Account: strings.ToLower(account), User: user}
}

// Prioritizes says whether jobs in the local queue have priorities.
func (b *Book) Prioritizes() bool { return b.prioritizes && b.Shares() }

// RefreshLocal counts again what users have used here, for the priorities of the local queue. Running jobs count as long as
// they have run. What users have used elsewhere counts only if use is exchanged, since else it is not known of those of partners.
func (b *Book) RefreshLocal(now protocol.Instant, running iter.Seq[Local]) {
	b.local = fairshare.NewTree(b.share.Shares)
	for _, u := range b.used {
		if u.Site == b.site || u.Origin == b.site && b.share.Exchanges() {
			b.local.Add(b.keyOf(u.Origin, u.Account, u.User), b.decay.In(u.Use, fairshare.PeriodOf(now)).Amount)
		}
	}
	for u, amount := range b.reported(fairshare.PeriodOf(now)) {
		b.local.Add(fairshare.Key{Account: u.Account, User: u.User}, amount)
	}
	for r := range running {
		b.local.Add(b.keyOf(r.Origin, b.AccountOf(r), r.Spec.User), b.decay.Of(r.Spec.CPUs, min(r.Since, now), now).Amount)
	}
}

// LocalPriority is that of a job in the local queue; 0: it has none.
func (b *Book) LocalPriority(job Local, now protocol.Instant) int64 {
	switch {
	case !b.Prioritizes():
		return 0
	case job.Fixed != 0:
		return job.Fixed
	}
	if b.local == nil {
		b.RefreshLocal(now, func(func(Local) bool) {})
	}
	w := &b.share.Weights
	factors := w.Of(b.local.Factor(b.keyOf(job.Origin, b.AccountOf(job), job.Spec.User)), &fairshare.Candidate{
		Waited: max(0, now.Sub(job.Since)), CPUs: job.Spec.CPUs, QOS: strings.ToLower(job.Spec.QOS),
	}, b.cpus)
	return w.Priority(factors, b.nice(&job))
}
