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
