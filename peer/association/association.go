// Package association says which account, partition and quality of service of this site a job gets that
// asks for those of its origin, from a table that the site's configuration gives. It is pure.
package association

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rule is a line of a [Table]: a table [[association]] of the configuration. Its first five fields are
// patterns, in which * stands for any characters and ? for one. An empty one fits all.
type Rule struct {
	Origin    string `toml:"origin"` // site whose jobs it is for; a pattern must be there
	User      string `toml:"user"`   // who submitted the job there
	Account   string `toml:"account"`
	Partition string `toml:"partition"`
	QOS       string `toml:"qos"`

	AsAccount   string   `toml:"as_account"` // what the job gets; empty: what it asks for, if that was matched by a pattern
	AsPartition string   `toml:"as_partition"`
	AsQOS       string   `toml:"as_qos"`
	Ignore      []string `toml:"ignore"` // what of the three has no effect, though the job asks for it
	Refuse      string   `toml:"refuse"` // why such jobs are refused; empty: they are not
}

// The values of [Rule.Ignore].
const (
	Account   = "account"
	Partition = "partition"
	QOS       = "qos"
)

// Table is the rules of a site. The first one that is for a job counts. A site with no rule for an origin
// does not map its jobs: the account and the partition that they ask for have no effect there, as any site
// has some that serve. A QOS is a promise to the user, so that a job that asks for one is refused, unless
// the site has a price for it, which the job then has.
type Table struct {
	Rules  []Rule
	Priced []string // the QOS that have a price at the site
}

// Mapped is what a job gets at a site.
type Mapped struct {
	protocol.Association        // by the names of the site
	ByRule               bool   // the site has rules for jobs of its origin
	Note                 string // what of the job's association has no effect; empty: nothing
}

// Price is the association by which a job of that association is priced at the site: as it is mapped, and
// as it is where nothing is mapped.
func (m *Mapped) Price(asked protocol.Association) protocol.Association {
	if m.ByRule {
		return m.Association
	}
	return asked
}

// Map finds what a job of a user of an origin gets. The error says what is not mapped, or why it is refused.
// Of several partitions the job gets the first that is mapped.
func (t Table) Map(origin protocol.SiteName, user string, asked protocol.Association) (Mapped, error) {
	if !slices.ContainsFunc(t.Rules, func(r Rule) bool { return fits(r.Origin, string(origin)) }) {
		return t.unmapped(origin, user, asked)
	}
	var refused error
	for _, partition := range asked.Partitions() {
		one := asked
		one.Partition = partition
		mapped, err := t.find(origin, user, one)
		switch {
		case err == nil && mapped.Partition != "" && partition != asked.Partition:
			mapped.add(fmt.Sprintf("of the partitions %q the first that is mapped counts, %q", asked.Partition, partition))
			return mapped, nil
		case err == nil:
			return mapped, nil
		case refused == nil:
			refused = err
		}
	}
	return Mapped{}, refused
}

// unmapped is what a job gets for whose origin there is no rule.
func (t Table) unmapped(origin protocol.SiteName, user string, asked protocol.Association) (Mapped, error) {
	if asked.QOS != "" && !slices.Contains(t.Priced, asked.QOS) {
		return Mapped{}, refusal(origin, user, protocol.Association{QOS: asked.QOS},
			"this site has none of that name: no [[association]] maps it, and [cost] qos_factors does not have it; --qos= asks for none")
	}
	asked.QOS = ""
	return Mapped{Note: noEffect(asked)}, nil
}

// find looks for the first rule of a job that asks for one partition or none.
func (t Table) find(origin protocol.SiteName, user string, asked protocol.Association) (Mapped, error) {
	for i := range t.Rules {
		r := &t.Rules[i]
		if !r.matches(origin, user, asked) {
			continue
		}
		if r.Refuse != "" {
			return Mapped{}, refusal(origin, user, asked, "refused: "+r.Refuse)
		}
		if mapped, all := r.apply(asked); all {
			return mapped, nil
		}
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

// matches says whether the rule's patterns fit a job.
func (r *Rule) matches(origin protocol.SiteName, user string, asked protocol.Association) bool {
	return fits(r.Origin, string(origin)) && free(r.User, user) &&
		free(r.Account, asked.Account) && free(r.Partition, asked.Partition) && free(r.QOS, asked.QOS)
}

// apply is what a job gets by the rule; all says that the rule has something to say about all that the job
// asks for.
func (r *Rule) apply(asked protocol.Association) (m Mapped, all bool) {
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

// CheckPattern says what is wrong with a pattern, if anything.
func CheckPattern(pattern string) error {
	const most = 64
	if len(pattern) > most {
		return fmt.Errorf("has %d bytes; use at most %d", len(pattern), most)
	}
	if strings.Count(pattern, "*") > maxStars {
		return fmt.Errorf("has more than %d stars; one is enough for most patterns", maxStars)
	}
	return protocol.CheckText(pattern)
}

// maxStars bounds the time that a pattern takes.
const maxStars = 3
