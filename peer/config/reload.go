package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Change is a key that has another value in a configuration that was read again.
type Change struct {
	Key  string
	From string // in TOML; empty if the table was missing
	To   string // in TOML; empty if the table is missing now
	Live bool   // whether it can change while the peer runs
}

// Changes lists in the order of the reference what another configuration would
// change.
func (c *Config) Changes(next *Config) (changes []Change) {
	partners, associations := c.mayTake(next)
	for _, s := range reference() {
		from, to := c.values(s), next.values(s)
		for _, key := range orderedKeys(from, to) {
			if from[key].text != to[key].text {
				live := from[key].live && to[key].live || s.name == pluginSection && c.adds(to[key].element)
				switch s.name {
				case partnerSection, rosterSection:
					live = partners
				case associationSection:
					live = associations
				case oidcUserSection:
					live = c.mayTakeOIDCUsers(next)
				}
				changes = append(changes, Change{Key: key, From: from[key].text, To: to[key].text, Live: live})
			}
		}
	}
	return changes
}

// shownValue is a value in TOML.
type shownValue struct {
	text string
	live bool
	rank int // of its key in the reference

	table   string // "partner[north]"
	name    string // of the key there
	element string // name of the array's element that it is of
}

// values are those of a section by their keys, as people know these.
func (c *Config) values(s section) map[string]shownValue {
	out := map[string]shownValue{}
	for i, table := range c.tables(s) {
		for rank, e := range s.entries(table.fields) {
			if value, ok := settings.Field(table.fields, e.name); ok {
				out[settings.Join(table.label, e.name)] = shownValue{settings.Format(value), e.live, i*len(s.keys) + rank, table.label, e.name, table.element}
			}
		}
	}
	return out
}

// orderedKeys lists the keys of both in the order of the reference.
func orderedKeys(from, to map[string]shownValue) []string {
	all := maps.Clone(from)
	maps.Copy(all, to)
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(all[a].rank, all[b].rank), cmp.Compare(a, b))
	})
}

// adds says whether a plugin of the name would be new.
func (c *Config) adds(name string) bool {
	return name != "" && !slices.ContainsFunc(c.Plugins, func(p Plugin) bool { return p.Name == name })
}

// The arrays of tables that may change while the peer runs: that of plugins only grows.
const (
	pluginSection  = "plugin"
	partnerSection = "partner"
	rosterSection  = "roster" // makes partners

	associationSection = "association"
	oidcUserSection    = "api.oidc.user"
)

// mayHave says whether a configuration that [Load] has checked may have its partners beside the
// keys of this one that change with a restart only: one that connects to this site needs
// [nats] listen, for one.
func (c *Config) mayHave(partners []Partner) bool {
	mixed := *c
	mixed.Partners = partners
	r := &checker{Reader: settings.NewReader(&mixed), config: &mixed, uidOf: noUID} // [Load] has looked them up
	r.checkPartners()
	r.checkCurrencies()
	return r.Err() == nil
}

// mayTake says whether the partners and the associations of another configuration may be taken now. Partners
// wait for the associations: without the rules that are meant for it, a new one would be refused nothing.
func (c *Config) mayTake(next *Config) (partners, associations bool) {
	associations = c.mayAssociate(next)
	return associations && c.mayHave(next.Partners), associations
}

// mayAssociate says the same of the associations of another configuration: those that name a QOS of [cost]
// qos_factors or a partition of the batch system need it in this one.
func (c *Config) mayAssociate(next *Config) bool {
	mixed := *c
	mixed.Associations = next.Associations
	if c.mayHave(next.Partners) {
		mixed.Partners, mixed.Roster = next.Partners, next.Roster
	}
	r := &checker{Reader: settings.NewReader(&mixed), config: &mixed}
	r.checkAssociations()
	return r.Err() == nil
}

// OtherPartners lists by name the partners that another configuration would add and remove.
func (c *Config) OtherPartners(next *Config) (added, removed []protocol.SiteName) {
	return next.without(c), c.without(next)
}

// without lists the partners that another configuration does not have.
func (c *Config) without(other *Config) (names []protocol.SiteName) {
	for _, p := range c.Partners {
		if !slices.ContainsFunc(other.Partners, func(has Partner) bool { return has.Name == p.Name }) {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// With returns the configuration with what may change while the peer runs taken
// from another one that [Load] has checked: with its partners, and with the plugins that are
// new. All keys that bound each other change together, so the mixture is as sound as both.
func (c *Config) With(next *Config) *Config {
	mixed := *c
	mixed.places = maps.Clone(c.places)
	partners, associations := c.mayTake(next)
	mixed.replaceLive(next, partners)
	mixed.Plugins = slices.Clone(c.Plugins)
	for i, p := range next.Plugins {
		if c.adds(p.Name) {
			mixed.movePlaces(next, pluginSection, i, len(mixed.Plugins))
			mixed.Plugins = append(mixed.Plugins, p)
		}
	}
	if associations {
		mixed.replaceAssociations(next)
	}
	if c.mayTakeOIDCUsers(next) {
		mixed.replaceOIDCUsers(next)
	}
	if partners {
		maps.DeleteFunc(mixed.places, func(key string, _ problems.Place) bool { return strings.HasPrefix(key, partnerSection+"[") })
		mixed.Partners, mixed.signed, mixed.ended, mixed.unused = slices.Clone(next.Partners), next.signed, next.ended, next.unused
		for i := range next.Partners {
			mixed.movePlaces(next, partnerSection, i, i)
		}
	}
	return &mixed
}

// replaceLive takes over what may change while the peer runs of tables that there are always.
func (c *Config) replaceLive(next *Config, partners bool) {
	for _, s := range reference() {
		switch s.name {
		case partnerSection, associationSection, oidcUserSection: // each by a function of its own
			continue
		case rosterSection:
			if !partners {
				continue
			}
		}
		for i, table := range c.tables(s) {
			for _, e := range s.keys {
				if !e.live {
					continue
				}
				to, _ := settings.Field(table.fields, e.name)
				from, _ := settings.Field(next.tables(s)[i].fields, e.name)
				to.Set(from)
				key := settings.Join(s.name, e.name)
				delete(c.places, key)
				if at, set := next.places[key]; set {
					c.places[key] = at
				}
			}
		}
	}
}

// mayTakeOIDCUsers says whether the users of the issuers may be taken from another configuration: the issuers themselves, and
// the claims that the tables look at, change with a restart only.
func (c *Config) mayTakeOIDCUsers(next *Config) bool {
	return len(c.API.OIDC) > 0 && slices.EqualFunc(c.API.OIDC, next.API.OIDC, func(here, there OIDC) bool {
		return here.Name == there.Name && here.Issuer == there.Issuer && here.Audience == there.Audience &&
			here.UserClaim == there.UserClaim && here.GroupsClaim == there.GroupsClaim && here.ScopesClaim == there.ScopesClaim
	})
}

// replaceOIDCUsers takes all of them over from another configuration: their order counts.
func (c *Config) replaceOIDCUsers(next *Config) {
	c.API.OIDC = slices.Clone(c.API.OIDC)
	for at := range c.API.OIDC {
		key := fmt.Sprintf("api.oidc[%d].user", at)
		maps.DeleteFunc(c.places, func(place string, _ problems.Place) bool { return strings.HasPrefix(place, key+"[") })
		c.API.OIDC[at].Users = slices.Clone(next.API.OIDC[at].Users)
		for i := range c.API.OIDC[at].Users {
			c.movePlaces(next, key, i, i)
		}
	}
}

// replaceAssociations takes all of them over from another configuration: their order counts.
func (c *Config) replaceAssociations(next *Config) {
	maps.DeleteFunc(c.places, func(key string, _ problems.Place) bool { return strings.HasPrefix(key, associationSection+"[") })
	c.Associations = slices.Clone(next.Associations)
	for i := range next.Associations {
		c.movePlaces(next, associationSection, i, i)
	}
}

// movePlaces takes over where the keys of an element of an array were set, as those of another
// one.
func (c *Config) movePlaces(from *Config, section string, element, to int) {
	old, now := fmt.Sprintf("%s[%d]", section, element), fmt.Sprintf("%s[%d]", section, to)
	for key, place := range from.places {
		if rest, of := strings.CutPrefix(key, old); of {
			c.places[now+rest] = place
		}
	}
}

// ProblemsOf lists the lines of an error of [Load].
func ProblemsOf(err error) []string {
	all, ok := errors.AsType[problems.List](err)
	if !ok {
		return []string{err.Error()}
	}
	lines := make([]string, len(all))
	for i, problem := range all {
		lines[i] = problem.String()
	}
	return lines
}
