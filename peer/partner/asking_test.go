package partner_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestVolunteerForAJob(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		v    partner.Volunteering
		lost uint64
		want bool
	}{
		"it would":            {partner.Volunteering{Number: 3, Until: 101, Left: 1}, 0, true},
		"any number":          {partner.Volunteering{Number: 3, Until: 101, AnyNumber: true}, 0, true},
		"not any more":        {partner.Volunteering{Number: 3, Until: 100, Left: 1}, 0, false},
		"no more jobs":        {partner.Volunteering{Number: 3, Until: 101}, 0, false},
		"it has lost":         {partner.Volunteering{Number: 3, Until: 101, Left: 1}, 3, false},
		"it has lost before":  {partner.Volunteering{Number: 3, Until: 101, Left: 1}, 2, true},
		"it has said nothing": {partner.Volunteering{}, 0, false},
	} {
		if got := c.v.For(c.lost, 100); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	v := partner.Volunteering{Left: 1}
	for _, want := range []int{0, 0} {
		if v.Use(); v.Left != want {
			t.Errorf("%d are left, want %d", v.Left, want)
		}
	}
	if v.Left = -1; true {
		v.Use()
	}
	if v.Left != -1 {
		t.Errorf("of any number %d are left", v.Left)
	}
}

func TestRenew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		heard, now protocol.Instant
		same       bool
	}{
		"the first one":        {0, 10, false},
		"soon after":           {100, 124, true},
		"a quarter of σ later": {100, 125, false},
	} {
		v := partner.Volunteering{Heard: c.heard, Until: 150}
		if got := v.Renew(c.now, 200, 100); got != c.same || (v.Until == 200) != c.same {
			t.Errorf("%s: %v, until %d", name, got, v.Until)
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	one := func(site protocol.SiteName, busy int, doubted bool) *partner.Partner {
		p := partner.New(rules.Partner{Site: site})
		p.Load, p.Row.Quality.Doubtful = protocol.Load{CPUs: 10, Busy: busy}, doubted
		return p
	}
	reverse := func(n int, swap func(i, j int)) {
		for i := range n / 2 {
			swap(i, n-1-i)
		}
	}
	for name, c := range map[string]struct {
		candidates []*partner.Partner
		limit      int
		want       []protocol.SiteName
	}{
		"all":                         {[]*partner.Partner{one("b", 9, true), one("c", 1, false)}, 2, []protocol.SiteName{"b", "c"}},
		"the least utilised":          {[]*partner.Partner{one("b", 9, false), one("c", 1, false), one("d", 2, false)}, 2, []protocol.SiteName{"c", "d"}},
		"those in doubt last":         {[]*partner.Partner{one("b", 0, true), one("c", 9, false), one("d", 8, false)}, 2, []protocol.SiteName{"c", "d"}},
		"and by their load":           {[]*partner.Partner{one("b", 1, true), one("c", 0, true), one("d", 8, false)}, 2, []protocol.SiteName{"c", "d"}},
		"equals as they are shuffled": {[]*partner.Partner{one("b", 5, false), one("c", 5, false), one("d", 5, false)}, 2, []protocol.SiteName{"c", "d"}},
	} {
		var got []protocol.SiteName
		for _, chosen := range partner.Choose(c.candidates, c.limit, reverse) {
			got = append(got, chosen.Site)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
