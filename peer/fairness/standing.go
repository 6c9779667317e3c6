package fairness

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Standing is how a user of this site stands in an account.
type Standing struct {
	fairshare.Key
	fairshare.Standing

	Placed int64     // of Use, CPU·ms that jobs ask for which are placed
	Sites  []SiteUse // where the rest was used, by name
}

// SiteUse is what a user has used at one site.
type SiteUse struct {
	Site     protocol.SiteName
	Use      int64 // CPU·ms, decayed, with what jobs that run at a partner may still use by its reports
	Reported bool  // a part is known from the site's reports
}

// Standings are those of all users that are known and are of this site, by account and name.
func (b *Book) Standings(now protocol.Instant) (all []Standing) {
	if !b.Shares() {
		return nil
	}
	placed := map[fairshare.Key]int64{}
	for _, c := range b.placed {
		placed[c.key] += c.work
	}
	sites := b.usedAt(now)
	tree := b.standings(now)
	for _, key := range tree.Keys() {
		s := Standing{Key: key, Standing: tree.Of(key), Placed: placed[key]}
		for _, one := range sites[key] {
			s.Sites = append(s.Sites, *one)
		}
		slices.SortFunc(s.Sites, func(x, y SiteUse) int { return cmp.Compare(x.Site, y.Site) })
		all = append(all, s)
	}
	return all
}

// usedAt is what users of this site have used, by the site where that was.
func (b *Book) usedAt(now protocol.Instant) map[fairshare.Key]map[protocol.SiteName]*SiteUse {
	all := map[fairshare.Key]map[protocol.SiteName]*SiteUse{}
	period := fairshare.PeriodOf(now)
	add := func(site protocol.SiteName, key fairshare.Key, amount int64, reported bool) {
		if all[key] == nil {
			all[key] = map[protocol.SiteName]*SiteUse{}
		}
		one := all[key][site]
		if one == nil {
			one = &SiteUse{Site: site}
			all[key][site] = one
		}
		one.Use, one.Reported = fairshare.Plus(one.Use, amount), one.Reported || reported
	}
	for _, u := range b.used {
		if b.countsHere(&u) {
			add(u.Site, fairshare.Key{Account: u.Account, User: u.User}, b.decay.In(u.Use, period).Amount, false)
		}
	}
	for u, amount := range b.reported(period) {
		add(u.Site, fairshare.Key{Account: u.Account, User: u.User}, amount, true)
	}
	for who, amount := range b.remainders(now) {
		add(who.site, who.Key, amount, true)
	}
	return all
}
