package protocol

import (
	"fmt"
	"strings"
	"unicode"
)

// Association is what sbatch's options --account, --partition and --qos say of a job: whom its use is
// charged to, where at the site it runs, and with what quality of service. In a job's [Spec] it is in the
// words of the job's user. What it means at a site is the site's mapping to say.
type Association struct {
	Account   string `json:"account,omitempty"`   // that is charged; empty: the default one
	Partition string `json:"partition,omitempty"` // of the machine, or several with commas between; empty: any
	QOS       string `json:"qos,omitempty"`       // quality of service; empty: the default one
}

// CheckAssociation says what is wrong with the names, if anything, wherever they come from.
func (a *Association) CheckAssociation() error {
	if err := checkAssociated("account", a.Account, MaxName); err != nil {
		return err
	}
	if err := checkAssociated("qos", a.QOS, MaxQOS); err != nil {
		return err
	}
	if len(a.Partition) > MaxPartitions {
		return wrongField("partition", "has %d bytes, at most %d are allowed", len(a.Partition), MaxPartitions)
	}
	for _, name := range a.Partitions() {
		if name == "" && a.Partition != "" {
			return wrongField("partition", "%.80q has an empty name in its list", a.Partition)
		}
		if err := checkAssociated("partition", name, MaxName); err != nil {
			return err
		}
	}
	return nil
}

// checkAssociated checks one name, which a pattern must be able to match as a whole and which Slurm must take
// for one.
func checkAssociated(field, name string, most int) error {
	err := CheckText(name)
	switch {
	case len(name) > most:
		return wrongField(field, "%.80q has %d bytes, at most %d are allowed", name, len(name), most)
	case err != nil:
		return wrongField(field, "%+.80q: %w", name, err)
	case strings.ContainsFunc(name, unicode.IsSpace) || strings.ContainsAny(name, ",*?"):
		return wrongField(field, "%.80q is not one name; it may have no space, comma, * or ?", name)
	}
	return nil
}

// Partitions are the names in Partition, of which the job runs in any; one empty name if it names none.
func (a *Association) Partitions() []string { return strings.Split(a.Partition, ",") }

// AssociationText names what is asked for, as `account "a" and QOS "b"`; empty if nothing is.
func (a *Association) AssociationText() string {
	var words []string
	for _, one := range []struct{ what, name string }{{"account", a.Account}, {"partition", a.Partition}, {"QOS", a.QOS}} {
		if one.name != "" {
			words = append(words, fmt.Sprintf("%s %q", one.what, one.name))
		}
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// AssociationRule is a line of an [AssociationTable]. Its first five fields are patterns, in which * stands for any
// characters and ? for one. An empty one fits all.
type AssociationRule struct {
	Origin    string `toml:"origin"` // site whose jobs it is for; a pattern must be there
	User      string `toml:"user"`   // who submitted the job there
	Account   string `toml:"account"`
	Partition string `toml:"partition"`
	QOS       string `toml:"qos"`

	AsAccount   string   `toml:"as_account"` // what the job gets; empty: what it asks for, if that was matched by a pattern
	AsPartition string   `toml:"as_partition"`
	AsQOS       string   `toml:"as_qos"`
	Ignore      []string `toml:"ignore"` // what of "account", "partition" and "qos" has no effect, though the job asks for it
	Refuse      string   `toml:"refuse"` // why such jobs are refused; empty: they are not
}

// AssociationTable is what accounts, partitions and QOS of jobs mean at a site.
type AssociationTable struct {
	Rules  []AssociationRule // the first that is for a job counts
	Priced []string          // the QOS that have a price at the site
}

// CheckAssociationTable says what is wrong with a table that is on a site's card, if anything.
func (t *AssociationTable) CheckAssociationTable() error {
	if n := len(t.Rules); n > MaxRules {
		return wrongField("rules", "has %d entries, at most %d are allowed", n, MaxRules)
	}
	if n := len(t.Priced); n > MaxRules {
		return wrongField("priced", "has %d entries, at most %d are allowed", n, MaxRules)
	}
	size := 0
	for i := range t.Rules {
		if err := t.Rules[i].CheckAssociationRule(); err != nil {
			return fmt.Errorf("rules[%d]: %w", i, err)
		}
		size += t.Rules[i].size()
	}
	if size > MaxRuleBytes {
		return wrongField("rules", "have %d bytes, at most %d are allowed", size, MaxRuleBytes)
	}
	for _, name := range t.Priced {
		if err := checkAssociated("priced", name, MaxQOS); err != nil {
			return err
		}
	}
	return nil
}

// CheckAssociationRule says what is wrong with a rule, if anything, wherever it comes from.
func (r *AssociationRule) CheckAssociationRule() error {
	for _, one := range []struct{ field, pattern string }{
		{"origin", r.Origin}, {"user", r.User}, {"account", r.Account}, {"partition", r.Partition}, {"qos", r.QOS},
	} {
		if err := CheckPattern(one.pattern); err != nil {
			return fmt.Errorf("%s: %w", one.field, err)
		}
	}
	as := Association{Account: r.AsAccount, Partition: r.AsPartition, QOS: r.AsQOS}
	if err := as.CheckAssociation(); err != nil {
		return err
	}
	const names = 3
	if n := len(r.Ignore); n > names {
		return wrongField("ignore", "has %d entries for %d names", n, names)
	}
	for _, name := range r.Ignore {
		if err := checkAssociated("ignore", name, MaxName); err != nil {
			return err
		}
	}
	if len(r.Refuse) > MaxNote {
		return wrongField("refuse", "has %d bytes, at most %d are allowed", len(r.Refuse), MaxNote)
	}
	if err := CheckText(r.Refuse); err != nil {
		return wrongField("refuse", "%w", err)
	}
	return nil
}

// size is about what the rule takes in a message.
func (r *AssociationRule) size() int {
	const tags = 40
	return tags + len(r.User) + len(r.Account) + len(r.Partition) + len(r.QOS) + len(r.AsAccount) + len(r.AsPartition) + len(r.AsQOS) +
		len(strings.Join(r.Ignore, "..")) + len(r.Refuse)
}

// CheckPattern says what is wrong with a pattern of names, if anything.
func CheckPattern(pattern string) error {
	if len(pattern) > MaxName {
		return fmt.Errorf("has %d bytes; use at most %d", len(pattern), MaxName)
	}
	if strings.Count(pattern, "*") > maxStars {
		return fmt.Errorf("has more than %d stars; one is enough for most patterns", maxStars)
	}
	return CheckText(pattern)
}

// maxStars bounds the time that a pattern takes.
const maxStars = 3
