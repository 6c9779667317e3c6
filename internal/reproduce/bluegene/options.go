package bluegene

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// Check says what is wrong with the size and with the names of exhibits, before anything is
// read. Each seed draws other powers, and another half year.
func Check(o reproduce.Size, names []string) error {
	_, err := chosen(names)
	return errors.Join(o.Check(), err)
}

// All stands for every exhibit.
const All = "bg"

// chosen are the exhibits of the names.
func chosen(names []string) ([]exhibit, error) {
	var found []exhibit
	all := exhibits()
	for _, name := range names {
		if name == All {
			return all, nil
		}
		i := slices.IndexFunc(all, func(e exhibit) bool { return e.name == name })
		if i < 0 {
			return nil, fmt.Errorf("nothing is called %q; choose from %s", name, strings.Join(Names(), ", "))
		}
		if !slices.ContainsFunc(found, func(e exhibit) bool { return e.name == name }) {
			found = append(found, all[i])
		}
	}
	return found, nil
}

// Names lists what [Run] takes: the exhibits, and [All].
func Names() []string {
	var names []string
	for _, e := range exhibits() {
		names = append(names, e.name)
	}
	return append(names, All)
}

// Exhibits lists all exhibits, in the paper's order; then what the paper has not.
func Exhibits() []reproduce.Exhibit {
	var all []reproduce.Exhibit
	for _, e := range exhibits() {
		all = append(all, reproduce.Exhibit{Name: e.name, Title: e.title, Paper: e.paper})
	}
	return all
}
