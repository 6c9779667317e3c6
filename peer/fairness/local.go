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
// Then running jobs count with all that they ask for, those of this site wherever they run: else a user with few running jobs
// would be the next at all sites at once, until the jobs that start there have run for as long as the user is owed.
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
	for who, amount := range b.remainders(now) {
		b.local.Add(who.Key, amount)
		r := b.remaining[who.site][who.user]
		r.counted = amount
		b.remaining[who.site][who.user] = r
	}
	b.room = b.rooms(now)
	clear(b.running)
	for r := range running {
		b.addRun(&r, now)
	}
}

// runClaim is what a job that runs counts in the local queue.
type runClaim struct {
	key    fairshare.Key
	amount int64 // CPU·ms
}

// addRun has a job that runs count in the local queue, once.
func (b *Book) addRun(run *Local, now protocol.Instant) {
	c := runClaim{b.keyOf(run.Origin, b.AccountOf(*run), run.Spec.User), b.decay.Of(run.Spec.CPUs, min(run.Since, now), now).Amount}
	if b.share.Exchanges() {
		if _, counts := b.running[run.Spec.Job]; counts {
			return
		}
		c.amount = fairshare.Plus(c.amount, left(run, now))
		b.running[run.Spec.Job] = c
	}
	b.local.Add(c.key, c.amount)
}

// left is what a job that runs may still use by its time limit.
func left(run *Local, now protocol.Instant) int64 {
	return fairshare.CPUTime(run.Spec.CPUs, run.Spec.WallTime-max(0, now.Sub(run.Since)))
}

// Start counts a job that has started here, or one of this site at a partner, if use is exchanged.
func (b *Book) Start(run Local, here bool, now protocol.Instant) {
	if !b.share.Exchanges() {
		return
	}
	if b.local != nil {
		b.addRun(&run, now)
	}
	if here {
		b.note(run.Origin, b.AccountOf(run), run.Spec.User)
	}
}

// note has the use of this machine by a user be in the next report of changes.
func (b *Book) note(origin protocol.SiteName, account, name string) {
	if b.isLocal(origin) {
		b.changed[user{origin, b.keyOf(origin, account, name)}] = true
	}
}

// endRun has a job count with what it has used, and no more with what it asked for.
func (b *Book) endRun(site, origin protocol.SiteName, spec *protocol.Spec, used int64) {
	if !b.share.Exchanges() {
		return
	}
	if site == b.site {
		b.note(origin, spec.Account, spec.User)
	}
	if c, counts := b.running[spec.Job]; counts {
		delete(b.running, spec.Job)
		b.local.Add(c.key, -c.amount)
		b.local.Add(c.key, used)
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
