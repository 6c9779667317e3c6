package partner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Set are the partners of a site, by name. A partner that leaves the configuration while rows
// name it keeps a place among them: it has no session and is never asked, but its guests count,
// and its jobs say why they wait.
type Set struct {
	all    []*Partner // by name
	named  map[protocol.SiteName]*Partner
	former map[protocol.SiteName]row.Partner // rows of sites that have no place
	places uint64                            // given so far, but for those that a life begins with
}

// NewSet has no partner yet.
func NewSet() Set {
	return Set{named: map[protocol.SiteName]*Partner{}, former: map[protocol.SiteName]row.Partner{}}
}

// Begin gives a place to a partner that a life begins with. They come by name.
func (s *Set) Begin(cfg rules.Partner) {
	one := New(cfg)
	s.all = append(s.all, one)
	s.named[cfg.Site] = one
}

// All are the partners, by name. Callers must not change the list.
func (s *Set) All() []*Partner { return s.all }

// Of is the partner of a name; nil: there is none.
func (s *Set) Of(site protocol.SiteName) *Partner { return s.named[site] }

// At is the partner of the ID; nil: it has left.
func (s *Set) At(id ID) *Partner {
	if one := s.named[id.Site]; one != nil && one.Place == id.Place {
		return one
	}
	return nil
}

// Restore takes the row of a partner that an earlier life has left.
func (s *Set) Restore(stored row.Partner) {
	if one := s.named[stored.Site]; one != nil {
		one.Row = stored
	} else {
		s.former[stored.Site] = stored
	}
}

// Row is the row of a site that has a place, or had one.
func (s *Set) Row(site protocol.SiteName) row.Partner {
	stored := s.former[site]
	if one := s.named[site]; one != nil {
		stored = one.Row
	}
	stored.Site, stored.Quality.Failures = site, slices.Clone(stored.Quality.Failures)
	return stored
}

// Enter gives a site its place, with what an earlier life or an earlier time as a partner has
// left of it.
func (s *Set) Enter(one *Partner) {
	s.places++
	one.Place, one.Row = s.places, s.former[one.Site]
	delete(s.former, one.Site)
	s.named[one.Site] = one
	at, _ := slices.BinarySearchFunc(s.all, one.Site, bySite)
	s.all = slices.Insert(s.all, at, one)
}

func bySite(one *Partner, site protocol.SiteName) int { return cmp.Compare(one.Site, site) }

// Depart takes their places from the departed partners that no job concerns any more.
func (s *Set) Depart(concerned map[protocol.SiteName]bool) {
	s.all = slices.DeleteFunc(s.all, func(one *Partner) bool {
		if !one.Departed || concerned[one.Site] {
			return false
		}
		delete(s.named, one.Site)
		s.former[one.Site] = one.Row
		return true
	})
}

// AllSpoke says whether every partner has said what it knows of this site.
func (s *Set) AllSpoke() bool {
	return !slices.ContainsFunc(s.all, func(one *Partner) bool { return !one.Spoken && !one.Departed })
}

// Highest is the highest sequence number of a job of this site that any partner has seen.
func (s *Set) Highest() (seq uint64) {
	for _, one := range s.all {
		seq = max(seq, one.Highest)
	}
	return seq
}

// CPUsHere are the CPUs that guests of all partners have or wait for.
func (s *Set) CPUsHere() (cpus int) {
	for _, one := range s.all {
		cpus += one.CPUsHere
	}
	return cpus
}

// Site numbers make job IDs unique, so no two sites may have one number. What decides about
// that is this site's configuration, and the cards of configured partners in their own
// sessions; and all that it decides is whether jobs are exchanged with that partner. Of two
// partners with one number the one keeps it that this store knew first by it: a card cannot
// say that it is the older.

// JudgeCards judges the cards of all partners: claimed are those whose row has changed, and barred those with
// which no jobs can be exchanged, for a reason that is new. The card of the first partner comes first, if one is
// given. One card may give up a number that another partner waits for.
func (s *Set) JudgeCards(first *Partner, mine protocol.SiteNumber) (claimed, barred []*Partner) {
	claim := func(one *Partner) {
		if s.ClaimNumber(one) {
			claimed = append(claimed, one)
		}
	}
	if first != nil {
		claim(first)
	}
	for _, one := range s.all {
		if one.Card == nil {
			continue
		}
		claim(one)
		if s.Bar(one, mine) {
			barred = append(barred, one)
		}
	}
	return claimed, barred
}

// ConflictReason says which other site has the name or number of this one, as gossip says; empty: the member
// has neither, or is this site.
func ConflictReason(here *rules.Config, site protocol.SiteName, number protocol.SiteNumber, key string) string {
	if key == here.PublicKey || (site != here.Site && number != here.Number) {
		return ""
	}
	return fmt.Sprintf(
		"gossip has a site %s with number %d and key %s, and this site is %s with number %d; nothing is done about it: "+
			"ask its operator, and make a new gossip keyring if no operator knows that site",
		site, number, key, here.Site, here.Number)
}

// ClaimNumber notes which number the partner's card says, if no other partner has it. A partner
// whose card says another one than before gives that up. It says whether the row has changed.
func (s *Set) ClaimNumber(one *Partner) bool {
	number := one.Card.Number
	if one.Row.Number == number {
		return false
	}
	one.Row.Number = 0
	if s.HolderOf(number) == nil {
		one.Row.Number = number
	}
	return true
}

// HolderOf is the configured partner that this store knew first by a site number; nil: none. Other partners whose cards say that
// number are barred.
func (s *Set) HolderOf(number protocol.SiteNumber) *Partner {
	for _, one := range s.all {
		if one.Row.Number == number && !one.Departed {
			return one
		}
	}
	return nil
}

// Bar notes why no jobs can be exchanged with the partner by its card, if so; mine is this site's
// number. It reports whether that is news for people: what the partner says of jobs is then
// ignored, and the reason is logged elsewhere.
func (s *Set) Bar(one *Partner, mine protocol.SiteNumber) (news bool) {
	why := s.barReason(one, mine)
	news = why != "" && why != one.Barred && why != one.DistrustReason()
	one.Barred = why
	return news
}

func (s *Set) barReason(one *Partner, mine protocol.SiteNumber) string {
	card := one.Card
	if why := one.DistrustReason(); why != "" {
		return why
	}
	if card.Protocol != protocol.ProtocolVersion {
		return fmt.Sprintf("speaks protocol %d, this site %d", card.Protocol, protocol.ProtocolVersion)
	}
	if card.Number == mine {
		return fmt.Sprintf("has site number %d, as this site has; one of the two needs another [site] number", card.Number)
	}
	if other := s.HolderOf(card.Number); other != nil && other != one {
		return fmt.Sprintf("has site number %d, by which %s was known here first; one of the two needs another [site] number",
			card.Number, other.Site)
	}
	return ""
}
