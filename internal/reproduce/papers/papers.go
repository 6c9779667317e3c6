// Package papers joins the exhibits of all reproduced papers. It is a package of its own because the packages of
// the papers do not import each other: bluegene imports reproduce.
package papers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/bluegene"
)

// Names lists what [Run] takes, of the MCMF paper first, then of the one on power budgets.
func Names() []string { return append(reproduce.Names(), bluegene.Names()...) }

// Exhibits lists all exhibits, in the same order.
func Exhibits() []reproduce.Exhibit { return append(reproduce.Exhibits(), bluegene.Exhibits()...) }

// Choice is what of each paper is made.
type Choice struct {
	options     reproduce.Options
	mcmf, power []string
}

// Choose checks the options and the names, before anything is read. Without names all of the
// MCMF paper is made but what takes long.
func Choose(o reproduce.Options, names []string) (*Choice, error) {
	c := &Choice{options: o}
	for _, name := range names {
		switch {
		case slices.Contains(bluegene.Names(), name):
			c.power = append(c.power, name)
		case slices.Contains(reproduce.Names(), name):
			c.mcmf = append(c.mcmf, name)
		default:
			return nil, fmt.Errorf("nothing is called %q; choose from %s", name, strings.Join(Names(), ", "))
		}
	}
	if err := o.Check(c.mcmf); err != nil {
		return nil, err
	}
	return c, bluegene.Check(o.Size, c.power)
}

// Run makes what was chosen. Progress is called for each paper, and returns what is called with how
// many of its simulations are done, and what is called when they are.
func (c *Choice) Run(ctx context.Context, progress func() (step func(done, of int), end func())) ([]reproduce.Report, error) {
	var made []reproduce.Report
	run := func(paper func(step func(done, of int)) ([]reproduce.Report, error)) error {
		step, end := progress()
		reports, err := paper(step)
		end()
		made = append(made, reports...)
		return err
	}
	var err error
	if len(c.mcmf) > 0 || len(c.power) == 0 {
		err = run(func(step func(done, of int)) ([]reproduce.Report, error) {
			return reproduce.Run(ctx, c.options, c.mcmf, step)
		})
	}
	if err == nil && len(c.power) > 0 {
		err = run(func(step func(done, of int)) ([]reproduce.Report, error) {
			return bluegene.Run(ctx, c.options.Size, c.power, step)
		})
	}
	return made, err
}
