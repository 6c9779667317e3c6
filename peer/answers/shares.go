package answers

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer/fairness"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Shares are how users stand with their shares: one, or all if the name is empty.
func (a Answers) Shares(rules *rules.FairShare, user string) view.Shares {
	out := view.Shares{HalfLife: rules.HalfLife, Users: []view.UserShare{}, Reports: []view.UseReport{}}
	ages := map[protocol.SiteName]*protocol.Duration{}
	if rules.Exchanges() {
		out.ExchangeInterval = rules.ExchangeInterval
		parts := a.Rows.Fair.PartsCounted(a.Now)
		for _, one := range a.Partners.All() {
			if one.Departed || !rules.HasCommonNames(one.Site) {
				continue
			}
			report := view.UseReport{Site: one.Site, Refused: one.UseRefused, Stale: true, Counted: int(protocol.PPM)}
			if part, less := parts[one.Site]; less {
				report.Counted = partsPerMillion(part, fairshare.One)
			}
			if at := one.Row.UseReport.At; at != 0 {
				report.Age = new(max(0, a.Now.Sub(at)))
				report.Stale = *report.Age >= fairness.StaleAfter*rules.ExchangeInterval
				ages[one.Site] = report.Age
			}
			out.Reports = append(out.Reports, report)
		}
		for _, site := range rules.CommonNames {
			if one := a.Partners.Of(site); site != a.Name && (one == nil || one.Departed) {
				out.Reports = append(out.Reports, view.UseReport{Site: site, Stale: true, Counted: int(protocol.PPM), Refused: "common_names has it, and it is no partner of this site"})
			}
		}
		slices.SortFunc(out.Reports, func(x, y view.UseReport) int { return cmp.Compare(x.Site, y.Site) })
	}
	standings := a.Rows.Fair.Standings(a.Now)
	all := int64(0)
	for i := range standings {
		all = fairshare.Plus(all, standings[i].Use)
	}
	for i := range standings {
		if user == "" || standings[i].User == user {
			out.Users = append(out.Users, userShare(&standings[i], all, ages))
		}
	}
	return out
}

func userShare(s *fairness.Standing, all int64, ages map[protocol.SiteName]*protocol.Duration) view.UserShare {
	out := view.UserShare{
		Account: s.Account, User: s.User, Share: partsPerMillion(s.Share, fairshare.One), Use: s.Use, Placed: s.Placed,
		Part: partsPerMillion(s.Part, fairshare.One), Sites: []view.SiteUse{},
	}
	if s.Share > 0 {
		out.Deviation = new(partsPerMillion(s.Part-s.Share, s.Share))
	}
	for _, one := range s.Sites {
		site := view.SiteUse{Site: one.Site, Use: one.Use, Part: partsPerMillion(one.Use, all)}
		if one.Reported {
			site.Age = ages[one.Site]
		}
		out.Sites = append(out.Sites, site)
	}
	return out
}

// partsPerMillion is a part of a whole in parts per million; 0 if the whole is.
func partsPerMillion(part, whole int64) int {
	if whole == 0 {
		return 0
	}
	return int(float64(part) / float64(whole) * float64(protocol.PPM))
}
