package fairness

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Sites whose users and accounts have the same names tell each other what those have used ([protocol.UseReport]). Each site
// reports only what has run on its own machine, so no use is in the reports of two. What a site says of one user it alone
// adds to, and it decays: of two reports the one that is later says more ([fairshare.Use.Compare]). To merge reports is to
// keep that one for each user. So it makes no difference in which order reports come, how often, or whether one is lost.

// MaxReported is how many users the use of a partner's machine is kept of: those that ran there last.
const MaxReported = 4096

// maxSkew is how many periods the clock of a partner may be ahead.
const maxSkew = 1

// isReported says whether use is known from a report of a partner.
func (b *Book) isReported(u *row.Use) bool { return u.Site != b.site && u.Origin != b.site }

// user is a user of an origin in an account.
type user struct {
	origin protocol.SiteName
	fairshare.Key
}

// Report is what users have used of this machine, for partners: of sites whose users are those of this one. Running jobs
// count as long as they have run; what they may still use is beside it. If the users are more than [MaxReported], those that used the most are reported.
func (b *Book) Report(now protocol.Instant, running iter.Seq[Local]) []protocol.Use {
	uses := b.report(now, running, func(user) bool { return true })
	clear(b.changed)
	return uses
}

// HasChanges says whether jobs have started or ended here since the last report.
func (b *Book) HasChanges() bool { return len(b.changed) > 0 }

// ReportChanges is the part of [Book.Report] of users whose jobs have started or ended here since the last one.
func (b *Book) ReportChanges(now protocol.Instant, running iter.Seq[Local]) []protocol.Use {
	uses := b.report(now, running, func(who user) bool { return b.changed[who] })
	clear(b.changed)
	return uses
}

func (b *Book) report(now protocol.Instant, running iter.Seq[Local], wanted func(user) bool) []protocol.Use {
	period, used, remaining := fairshare.PeriodOf(now), map[user]fairshare.Use{}, map[user]int64{}
	for key := range b.changed { // there is no use of a job that ended at once, and partners are to know that nothing remains
		if wanted(key) {
			used[key] = fairshare.Use{Period: period}
		}
	}
	for _, u := range b.used {
		if key := (user{u.Origin, fairshare.Key{Account: u.Account, User: u.User}}); u.Site == b.site && b.isLocal(u.Origin) && wanted(key) {
			used[key] = u.Use
		}
	}
	for r := range running {
		if key := (user{r.Origin, b.keyOf(r.Origin, b.AccountOf(r), r.Spec.User)}); b.isLocal(r.Origin) && wanted(key) {
			used[key] = b.decay.Sum(used[key], b.decay.Of(r.Spec.CPUs, min(r.Since, now), now))
			remaining[key] = fairshare.Plus(remaining[key], left(&r, now))
		}
	}
	var uses []protocol.Use
	for key, u := range used {
		if (b.changed[key] || max(remaining[key], b.decay.In(u, period).Amount) >= negligible) && protocol.CheckText(key.User) == nil {
			uses = append(uses, protocol.Use{Origin: key.origin, Account: key.Account, User: key.User, Period: u.Period, Amount: u.Amount, Remaining: remaining[key]})
		}
	}
	uses = b.mostUsed(uses, period)
	slices.SortFunc(uses, func(x, y protocol.Use) int { return compareUsers(&x, &y) })
	return uses
}

// mostUsed are those that used the most, [MaxReported] of them at most.
func (b *Book) mostUsed(uses []protocol.Use, period int64) []protocol.Use {
	if len(uses) <= b.maxReported {
		return uses
	}
	decayed := func(u *protocol.Use) int64 { return b.decay.In(useOf(u), period).Amount }
	slices.SortFunc(uses, func(x, y protocol.Use) int {
		return cmp.Or(cmp.Compare(decayed(&y), decayed(&x)), compareUsers(&x, &y))
	})
	return uses[:b.maxReported]
}

func useOf(u *protocol.Use) fairshare.Use { return fairshare.Use{Period: u.Period, Amount: u.Amount} }

func compareUsers(x, y *protocol.Use) int {
	return cmp.Or(cmp.Compare(x.Origin, y.Origin), cmp.Compare(x.Account, y.Account), cmp.Compare(x.User, y.User))
}

// Merge takes a report of a partner whose machine has a number of CPUs by its card. It returns the keys of the rows that have
// changed, and what is to be kept of the report. The error says why the report does not count, any of it. Use of jobs of
// this site is passed over: their results have said it. So is that of users who are not those of this site.
func (b *Book) Merge(site protocol.SiteName, cpus int, m protocol.UseReport, now protocol.Instant) (keys []string, kept row.UseReport, err error) {
	latest := fairshare.PeriodOf(now) + maxSkew
	kept = b.reports[site]
	switch {
	case !b.isLocal(site):
		return nil, kept, fmt.Errorf("[fairshare] common_names does not have %s", site)
	case m.HalfLife != b.share.HalfLife:
		return nil, kept, fmt.Errorf("its [fairshare] half_life is %v, here it is %v; use is exchanged only where they are the same", m.HalfLife, b.share.HalfLife)
	case fairshare.PeriodOf(m.At) > latest || slices.ContainsFunc(m.Uses, func(u protocol.Use) bool { return u.Period > latest }):
		return nil, kept, fmt.Errorf("its clock, or that of this site, is wrong by an hour or more: it says %v", m.At)
	}
	known := map[string]bool{} // by the key of a row that is another one now: whether it was there
	for i := range m.Uses {
		u := &m.Uses[i]
		if u.Origin == b.site || !b.isLocal(u.Origin) {
			continue
		}
		who := fairshare.Key{Account: u.Account, User: u.User}
		b.mergeRemaining(site, user{u.Origin, who}, remaining{at: m.At, got: now, amount: u.Remaining})
		if b.decay.In(useOf(u), fairshare.PeriodOf(now)).Amount < negligible {
			continue
		}
		said := row.Use{Site: site, Origin: u.Origin, Account: u.Account, User: u.User, Use: useOf(u)}
		key := said.Key()
		if old, has := b.used[key]; !has || old.Compare(said.Use) < 0 {
			b.used[key] = said
			b.countMore(site, who, max(0, b.decay.In(said.Use, fairshare.PeriodOf(now)).Amount-b.decay.In(old.Use, fairshare.PeriodOf(now)).Amount))
			if _, touched := known[key]; !touched {
				known[key] = has
			}
		}
	}
	for _, key := range b.dropBeyond(site) {
		if is, touched := known[key]; touched && !is {
			delete(known, key)
		} else {
			known[key] = true
		}
	}
	b.tree = nil
	kept = row.UseReport{At: max(kept.At, m.At), CPUs: cpus}
	b.reports[site] = kept
	return slices.Sorted(maps.Keys(known)), kept, nil
}

// remaining is what the newest report says that the running jobs of a user may still use. It rises and falls, so that it is not in
// the rows, and counts only as long as reports come.
type remaining struct {
	at      protocol.Instant // of the report, by the clock of its site
	got     protocol.Instant
	amount  int64 // CPU·ms
	counted int64 // what of it is in the local queue, in CPU·ms
}

// StaleAfter is how many intervals without a report of a partner make the last one stale.
const StaleAfter = 3

// mergeRemaining takes what a report of a partner says that remains for running jobs, if it is the newest, and counts it in the local
// queue. What is taken off there is at most what was added.
func (b *Book) mergeRemaining(site protocol.SiteName, who user, said remaining) {
	all := b.remaining[site]
	old, has := all[who]
	switch {
	case has && (old.at > said.at || old.at == said.at && old.amount >= said.amount):
		return
	case !has && (said.amount == 0 || len(all) >= b.maxReported):
		return
	case all == nil:
		all = map[user]remaining{}
		b.remaining[site] = all
	}
	if more := said.amount - old.amount; more >= 0 {
		said.counted = fairshare.Plus(old.counted, b.countMore(site, who.Key, more))
	} else {
		said.counted = old.counted + b.countMore(site, who.Key, max(more, -old.counted))
	}
	all[who] = said
}

// remainders is what running jobs at partners may still use and counts now. It counts for each partner at most as much as the use of its machine may.
func (b *Book) remainders(now protocol.Instant) iter.Seq2[reportedUser, int64] {
	return func(yield func(reportedUser, int64) bool) {
		for site, all := range b.remaining {
			total := map[protocol.SiteName]int64{}
			for who, r := range all {
				if now.Sub(r.got) >= StaleAfter*b.share.ExchangeInterval {
					delete(all, who)
					continue
				}
				total[site] += r.amount / unit
			}
			for who, r := range all {
				if !yield(reportedUser{site, who}, b.scaled(site, r.amount, total)) {
					return
				}
			}
		}
	}
}

// reportedUser is a user whose jobs run at a partner.
type reportedUser struct {
	site protocol.SiteName
	user
}

// rooms are how much the next reports of partners may add in the local queue until it is made again: by then no more counts than may.
func (b *Book) rooms(now protocol.Instant) map[protocol.SiteName]int64 {
	room := map[protocol.SiteName]int64{}
	if !b.share.Exchanges() {
		return room
	}
	for site, total := range b.totals(fairshare.PeriodOf(now)) {
		room[site] = max(0, b.decay.Most(b.reports[site].CPUs)-unit*min(total, math.MaxInt64/unit))
	}
	return room
}

// countMore has a user have used more at a partner in the local queue, within what is left for the partner's reports, or less. It
// returns how much more.
func (b *Book) countMore(site protocol.SiteName, who fairshare.Key, amount int64) int64 {
	if b.local == nil {
		return 0
	}
	amount = min(amount, b.room[site])
	if amount < 0 {
		b.room[site] = fairshare.Plus(b.room[site], -amount)
	} else {
		b.room[site] -= amount
	}
	b.local.Add(who, amount)
	return amount
}

// dropBeyond forgets what the machine of a partner was used by users beyond [MaxReported], and returns the keys of their
// rows. Those are left that would be left if all reports had come at once.
func (b *Book) dropBeyond(site protocol.SiteName) (keys []string) {
	if len(b.used) <= b.maxReported {
		return nil
	}
	for key, u := range b.used {
		if u.Site == site && b.isReported(&u) {
			keys = append(keys, key)
		}
	}
	if len(keys) <= b.maxReported {
		return nil
	}
	slices.SortFunc(keys, func(x, y string) int {
		return cmp.Or(b.used[y].Compare(b.used[x].Use), cmp.Compare(x, y))
	})
	for _, key := range keys[b.maxReported:] {
		delete(b.used, key)
	}
	return keys[b.maxReported:]
}

// RestoreReport takes in what was kept of the reports of a partner.
func (b *Book) RestoreReport(site protocol.SiteName, kept row.UseReport) { b.reports[site] = kept }

// reported is the use in reports of partners that counts now, in CPU·ms. What a partner says of its machine counts no
// more than the machine can do: if it is more, all of it counts less, in proportion.
func (b *Book) reported(period int64) iter.Seq2[*row.Use, int64] {
	return func(yield func(*row.Use, int64) bool) {
		if !b.share.Exchanges() {
			return
		}
		total := b.totals(period)
		for _, u := range b.used {
			if b.isBelieved(&u) && !yield(&u, b.scaled(u.Site, b.decay.In(u.Use, period).Amount, total)) {
				return
			}
		}
	}
}

// isBelieved says whether use is known from a report of a partner and counts.
func (b *Book) isBelieved(u *row.Use) bool {
	return b.isReported(u) && b.isLocal(u.Site) && b.isLocal(u.Origin)
}

// unit is that of sums, in CPU·ms: the sum of all amounts is an int64.
const unit = MaxReported

// totals are what partners say of their machines, in units.
func (b *Book) totals(period int64) map[protocol.SiteName]int64 {
	total := map[protocol.SiteName]int64{}
	for _, u := range b.used {
		if b.isBelieved(&u) {
			total[u.Site] += b.decay.In(u.Use, period).Amount / unit
		}
	}
	return total
}

// scaled is what counts of an amount that a partner reports.
func (b *Book) scaled(site protocol.SiteName, amount int64, total map[protocol.SiteName]int64) int64 {
	return fairshare.Scaled(amount, total[site], b.decay.Most(b.reports[site].CPUs)/unit)
}

// PartsCounted are, by the partners that report more use than their machines can do, the part of it that counts, as the parts that
// shares are given in.
func (b *Book) PartsCounted(now protocol.Instant) map[protocol.SiteName]int64 {
	parts, total := map[protocol.SiteName]int64{}, b.totals(fairshare.PeriodOf(now))
	for site := range total {
		if part := b.scaled(site, fairshare.One, total); part < fairshare.One {
			parts[site] = part
		}
	}
	return parts
}
