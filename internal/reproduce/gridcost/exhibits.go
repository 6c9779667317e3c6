package gridcost

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// exhibit is a figure or number of [IS] that can be made again.
type exhibit struct {
	reproduce.Exhibit

	notes []string
	build func(machines string, r *reproduce.Report) error // from a directory with machines and classes
}

func catalogue() *reproduce.Catalogue[exhibit] {
	return &reproduce.Catalogue[exhibit]{All: "is", Exhibits: []exhibit{usage(), waiting(), energy(), ranges(), machineCosts()}}
}

// Paper is [IS]. Of the options its exhibits have the directory of the tables park.csv and classes.csv alone.
func Paper() reproduce.Paper {
	return catalogue().Of("[IS]", Claims(), func(_ context.Context, o reproduce.Options, names []string, _ func(done, of int)) ([]reproduce.Report, error) {
		return run(o.Machines, names)
	})
}

func run(machines string, names []string) ([]reproduce.Report, error) {
	chosen, err := catalogue().Chosen(names)
	if err != nil {
		return nil, err
	}
	reports := make([]reproduce.Report, len(chosen))
	for i, e := range chosen {
		reports[i] = e.Report(e.notes...)
		if err := e.build(machines, &reports[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return reports, nil
}
