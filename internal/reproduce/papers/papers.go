// Package papers joins the exhibits of all reproduced papers. It is a package of its own because the packages of
// the papers do not import each other: bluegene imports reproduce.
package papers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/bluegene"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/gridcost"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/superscheduler"
)

// Names lists what [Choose] takes, of the MCMF paper first, then of the one on power budgets, of the ISS paper, and of
// the superscheduler paper.
func Names() []string {
	return slices.Concat(reproduce.Names(), bluegene.Names(), gridcost.Names(), superscheduler.Names())
}

// Exhibits lists all exhibits, in the same order.
func Exhibits() []reproduce.Exhibit {
	return slices.Concat(reproduce.Exhibits(), bluegene.Exhibits(), gridcost.Exhibits(), superscheduler.Exhibits())
}

// paperOf is which paper's an exhibit is.
func paperOf(exhibit string) string {
	for _, one := range []struct {
		paper string
		names []string
	}{{"[BG]", bluegene.Names()}, {"[IS]", gridcost.Names()}, {"[SS]", superscheduler.Names()}} {
		if slices.Contains(one.names, exhibit) {
			return one.paper
		}
	}
	return "[MC]"
}

// Claims are what the papers say, in the order of [Exhibits].
func Claims() []PaperClaims {
	return []PaperClaims{{"[MC]", reproduce.Claims()}, {"[BG]", bluegene.Claims()}, {"[IS]", gridcost.Claims()}, {"[SS]", superscheduler.Claims()}}
}

// Choice is what of each paper is made.
type Choice struct {
	options           reproduce.Options
	mcmf, power, grid []string
	super             []string
}

// Choose checks the options and the names, before anything is read. Without names all of the
// MCMF paper is made but what takes long.
func Choose(o reproduce.Options, names []string) (*Choice, error) {
	c := &Choice{options: o}
	for _, name := range names {
		switch {
		case slices.Contains(bluegene.Names(), name):
			c.power = append(c.power, name)
		case slices.Contains(gridcost.Names(), name):
			c.grid = append(c.grid, name)
		case slices.Contains(superscheduler.Names(), name):
			c.super = append(c.super, name)
		case slices.Contains(reproduce.Names(), name):
			c.mcmf = append(c.mcmf, name)
		default:
			return nil, fmt.Errorf("nothing is called %q; choose from %s", name, strings.Join(Names(), ", "))
		}
	}
	if err := o.Check(c.mcmf); err != nil {
		return nil, err
	}
	return c, errors.Join(bluegene.Check(o.Size, c.power), superscheduler.Check(o.Size, c.super))
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
	if len(c.mcmf) > 0 || len(c.power)+len(c.grid)+len(c.super) == 0 {
		err = run(func(step func(done, of int)) ([]reproduce.Report, error) {
			return reproduce.Run(ctx, c.options, c.mcmf, step)
		})
	}
	if err == nil && len(c.power) > 0 {
		err = run(func(step func(done, of int)) ([]reproduce.Report, error) {
			return bluegene.Run(ctx, c.options.Size, c.power, step)
		})
	}
	if err == nil && len(c.grid) > 0 {
		var reports []reproduce.Report
		reports, err = gridcost.Run(c.options.Machines, c.grid)
		made = append(made, reports...)
	}
	if err == nil && len(c.super) > 0 {
		err = run(func(step func(done, of int)) ([]reproduce.Report, error) {
			return superscheduler.Run(ctx, c.options.Size, c.super, step)
		})
	}
	return made, err
}
