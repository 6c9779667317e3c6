package gridcost

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// exhibit is a figure or number of [IS] that can be made again.
type exhibit struct {
	name, title, paper string

	also  []string // other names of it
	notes []string
	build func(machines string, r *reproduce.Report) error // from a directory with machines and classes
}

func exhibits() []exhibit { return []exhibit{usage(), waiting(), energy(), ranges(), machineCosts()} }

// All stands for every exhibit.
const All = "is"

// Names lists what [Run] takes: the exhibits, and [All].
func Names() []string {
	var names []string
	for _, e := range exhibits() {
		names = append(append(names, e.name), e.also...)
	}
	return append(names, All)
}

// Exhibits lists all exhibits, in the paper's order.
func Exhibits() []reproduce.Exhibit {
	var all []reproduce.Exhibit
	for _, e := range exhibits() {
		all = append(all, reproduce.Exhibit{Name: e.name, Also: e.also, Title: e.title, Paper: e.paper})
	}
	return all
}

// Check says which name is none of [Names].
func Check(names []string) error {
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("nothing is called %q; choose from %s", name, strings.Join(Names(), ", "))
		}
	}
	return nil
}

// Run makes the exhibits of the names, those that compare machines with the tables park.csv and classes.csv of a
// directory.
func Run(machines string, names []string) ([]reproduce.Report, error) {
	if err := Check(names); err != nil {
		return nil, err
	}
	var reports []reproduce.Report
	for _, e := range exhibits() {
		called := append([]string{e.name, All}, e.also...)
		if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(called, name) }) {
			continue
		}
		r := reproduce.Report{Name: e.name, Title: e.title, Paper: e.paper, Notes: e.notes}
		if err := e.build(machines, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
		reports = append(reports, r)
	}
	return reports, nil
}
