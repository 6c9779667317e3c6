// Package association says which account, partition and quality of service of this site a job gets that
// asks for those of its origin, from a table that the site's configuration gives. It is pure.
package association

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rule is a line of a [Table]: a table [[association]] of the configuration.
type Rule = protocol.AssociationRule

// The values of [Rule.Ignore].
const (
	Account   = "account"
	Partition = "partition"
	QOS       = "qos"
)

// Table is the rules of a site. The first one that is for a job counts. Accounts and QOS are the same in
// upper and in lower case, as they are to Slurm; partitions, users and sites are not. A site with no rule for an origin
// does not map its jobs: the account and the partition that they ask for have no effect there, as any site
// has some that serve. A QOS is a promise to the user, so that a job that asks for one is refused, unless
// the site has a price for it, which the job then has.
type Table protocol.AssociationTable

// For is what the site tells an origin of the rules for its jobs; nil: they are too many to be stated.
func (t Table) For(origin protocol.SiteName) *protocol.AssociationTable {
	stated := protocol.AssociationTable{Priced: t.Priced}
	for _, r := range t.Rules {
		if fits(r.Origin, string(origin)) {
			r.Origin = "*"
			stated.Rules = append(stated.Rules, r)
		}
	}
	if stated.CheckAssociationTable() != nil {
		return nil
	}
	return &stated
}

// Mapped is what a job gets at a site.
type Mapped struct {
	protocol.Association        // by the names of the site
	ByRule               bool   // the site has rules for jobs of its origin
	Note                 string // what of the job's association has no effect, or less than it seems; empty: nothing

	pricedQOS string // that sets the price, in the words of the site, of a job that no rule is for
}

// Price is the association by which a job of that association is priced at the site: as it is mapped, and
// as it is where nothing is mapped.
func (m *Mapped) Price(asked protocol.Association) protocol.Association {
	if m.ByRule {
		return m.Association
	}
	asked.QOS = cmp.Or(m.pricedQOS, asked.QOS)
	return asked
}

// Map finds what a job of a user of an origin gets. The error says what is not mapped, or why it is refused.
// A job that asks for several partitions gets those that they are mapped to, as far as that is with the same
// account and QOS as the first.
func (t Table) Map(origin protocol.SiteName, user string, asked protocol.Association) (Mapped, error) {
	if !slices.ContainsFunc(t.Rules, func(r Rule) bool { return fits(r.Origin, string(origin)) }) {
		return t.unmapped(origin, user, asked)
	}
	var got Mapped
	var refused error
	var counted, names []string // of the partitions that are asked for, and what they are mapped to
	for _, partition := range asked.Partitions() {
		one := asked
		one.Partition = partition
		mapped, err := t.find(origin, user, one)
		switch {
		case err != nil:
			refused = cmp.Or(refused, err)
			continue
		case mapped.Partition == "" && names == nil:
			return mapped, nil // any of the site
		case names == nil:
			got = mapped
		case mapped.Partition == "" || !mapped.joins(&got) || len(strings.Join(names, ","))+1+len(mapped.Partition) > protocol.MaxPartitions:
			continue
		}
		counted = append(counted, partition)
		if !slices.Contains(names, mapped.Partition) {
			names = append(names, mapped.Partition)
		}
	}
	if names == nil {
		return Mapped{}, refused
	}
	got.Partition = strings.Join(names, ",")
	if those := strings.Join(counted, ","); those != asked.Partition && asked.Partition != "" {
		got.add(fmt.Sprintf("of the partitions %q only %q counts here", asked.Partition, those))
	}
	return got, nil
}

// joins says whether two mapped jobs differ in nothing but their partitions.
func (m *Mapped) joins(other *Mapped) bool {
	return m.Account == other.Account && m.QOS == other.QOS && m.Note == other.Note
}

// unmapped is what a job gets for whose origin there is no rule.
func (t Table) unmapped(origin protocol.SiteName, user string, asked protocol.Association) (Mapped, error) {
	var mapped Mapped
	if asked.QOS != "" {
		priced, has := t.priced(asked.QOS)
		if !has {
			return Mapped{}, refusal(origin, user, protocol.Association{QOS: asked.QOS},
				"this site has none of that name: no [[association]] maps it, and [cost] qos_factors does not have it; --qos= asks for none")
		}
		mapped.pricedQOS = priced
	}
	mapped.Note = noEffect(protocol.Association{Account: asked.Account, Partition: asked.Partition})
	if asked.QOS != "" {
		mapped.add(fmt.Sprintf("QOS %q sets the price only", asked.QOS))
	}
	return mapped, nil
}

// priced is a QOS as it is spelled where it has its price, if it has one.
func (t Table) priced(qos string) (spelled string, has bool) {
	i := slices.IndexFunc(t.Priced, func(name string) bool { return SameQOS(name, qos) })
	if i < 0 {
		return "", false
	}
	return t.Priced[i], true
}

// find looks for the first rule of a job that asks for one partition or none.
func (t Table) find(origin protocol.SiteName, user string, asked protocol.Association) (Mapped, error) {
	for i := range t.Rules {
		r := &t.Rules[i]
		if !matches(r, origin, user, asked) {
			continue
		}
		if r.Refuse != "" {
			return Mapped{}, refusal(origin, user, asked, "refused: "+r.Refuse)
		}
		mapped, all := apply(r, asked)
		if !all {
			continue
		}
		switch priced, has := t.priced(mapped.QOS); {
		case has:
			mapped.QOS = priced
		case mapped.QOS != "" && len(t.Priced) > 0: // the site would decline it whenever it is asked for a price
			return Mapped{}, refusal(origin, user, asked, fmt.Sprintf("QOS %q has no price at this site, [cost] qos_factors does not have it", mapped.QOS))
		}
		return mapped, nil
	}
	if asked == (protocol.Association{}) {
		return Mapped{ByRule: true}, nil
	}
	return Mapped{}, refusal(origin, user, asked, "not mapped by any [[association]] of this site")
}

func refusal(origin protocol.SiteName, user string, asked protocol.Association, why string) error {
	what := asked.AssociationText()
	if what == "" {
		what = "jobs without account"
	}
	return fmt.Errorf("%s of user %q of %s: %s", what, user, origin, why)
}

// matches says whether a rule's patterns fit a job.
func matches(r *Rule, origin protocol.SiteName, user string, asked protocol.Association) bool {
	return fits(r.Origin, string(origin)) && free(r.User, user) &&
		free(fold(r.Account), fold(asked.Account)) && free(r.Partition, asked.Partition) && free(fold(r.QOS), fold(asked.QOS))
}

// apply is what a job gets by a rule; all says that the rule has something to say about all that the job
// asks for.
func apply(r *Rule, asked protocol.Association) (m Mapped, all bool) {
	all = true
	var ignored protocol.Association
	for _, one := range []struct {
		key, pattern, as, asked string
		to, ignored             *string
	}{
		{Account, r.Account, r.AsAccount, asked.Account, &m.Account, &ignored.Account},
		{Partition, r.Partition, r.AsPartition, asked.Partition, &m.Partition, &ignored.Partition},
		{QOS, r.QOS, r.AsQOS, asked.QOS, &m.QOS, &ignored.QOS},
	} {
		switch {
		case one.as != "":
			*one.to = one.as
		case slices.Contains(r.Ignore, one.key):
			*one.ignored = one.asked
		case one.pattern != "":
			*one.to = one.asked
		case one.asked != "":
			all = false
		}
	}
	m.ByRule, m.Note = true, noEffect(ignored)
	return m, all
}

func (m *Mapped) add(note string) {
	if m.Note != "" {
		m.Note += "; "
	}
	m.Note += note
}

// noEffect says that nothing comes of what was asked for; empty: nothing was.
func noEffect(asked protocol.Association) string {
	what := asked.AssociationText()
	switch {
	case what == "":
		return ""
	case strings.Contains(what, `" and `):
		return what + " are not used at this site"
	}
	return what + " is not used at this site"
}

// fold is a name as Slurm compares accounts and QOS: a letter of ASCII is the same in upper and in lower case.
func fold(name string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c - 'A' + 'a'
		}
		return c
	}, name)
}

// SameQOS says whether two names are of one QOS.
func SameQOS(a, b string) bool { return fold(a) == fold(b) }

// IsFor says whether a rule is for jobs of an origin.
func IsFor(r *Rule, origin protocol.SiteName) bool { return fits(r.Origin, string(origin)) }

// Covers says whether a partition is among those that a rule names, if it names any.
func Covers(r *Rule, partition string) bool { return r.Partition != "" && fits(r.Partition, partition) }

// free is [fits] for a pattern that need not be there.
func free(pattern, name string) bool { return pattern == "" || fits(pattern, name) }

// fits says whether a whole name matches a pattern.
func fits(pattern, name string) bool { return fitAll([]rune(pattern), []rune(name)) }

func fitAll(pattern, name []rune) bool {
	for i, c := range pattern {
		switch {
		case c == '*':
			for at := range len(name) + 1 {
				if fitAll(pattern[i+1:], name[at:]) {
					return true
				}
			}
			return false
		case len(name) == 0 || c != '?' && c != name[0]:
			return false
		}
		name = name[1:]
	}
	return len(name) == 0
}
