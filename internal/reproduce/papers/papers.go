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
	"github.com/switchyard-hpc/switchyard/internal/reproduce/gridcost"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/superscheduler"
)

// All lists the papers.
func All() []reproduce.Paper {
	return []reproduce.Paper{reproduce.MCMF(), bluegene.Paper(), gridcost.Paper(), superscheduler.Paper()}
}

// Names lists what [Choose] takes, in the order of the papers.
func Names() []string {
	var names []string
	for _, p := range All() {
		names = append(names, p.Names...)
	}
	return names
}

// Exhibits lists all exhibits, in the same order.
func Exhibits() []reproduce.Exhibit {
	var all []reproduce.Exhibit
	for _, p := range All() {
		all = append(all, p.Exhibits...)
	}
	return all
}

// paperOf is which of the papers a name is of; negative: none.
func paperOf(all []reproduce.Paper, name string) int {
	return slices.IndexFunc(all, func(p reproduce.Paper) bool { return slices.Contains(p.Names, name) })
}

// Claims are what the papers say, in the order of [Exhibits].
func Claims() []PaperClaims {
	var claims []PaperClaims
	for _, p := range All() {
		claims = append(claims, PaperClaims{p.Name, p.Claims})
	}
	return claims
}

// Choice is what of each paper is made.
type Choice struct {
	options reproduce.Options
	papers  []reproduce.Paper
	names   [][]string // of exhibits, by paper
}

// Choose checks the options and the names, before anything is read. Without names all of the
// MCMF paper is made but what takes long.
func Choose(o reproduce.Options, names []string) (*Choice, error) {
	c := &Choice{options: o, papers: All()}
	c.names = make([][]string, len(c.papers))
	for _, name := range names {
		i := paperOf(c.papers, name)
		if i < 0 {
			return nil, fmt.Errorf("nothing is called %q; choose from %s", name, strings.Join(Names(), ", "))
		}
		c.names[i] = append(c.names[i], name)
	}
	if len(names) == 0 {
		c.papers = c.papers[:1]
	}
	return c, o.Check()
}

// Run makes what was chosen. Progress is called for each paper, and returns what is called with how
// many of its simulations are done, and what is called when they are.
func (c *Choice) Run(ctx context.Context, progress func() (step func(done, of int), end func())) ([]reproduce.Report, error) {
	var made []reproduce.Report
	for i := range c.papers {
		if len(c.papers) > 1 && len(c.names[i]) == 0 {
			continue
		}
		step, end := progress()
		reports, err := c.papers[i].Run(ctx, c.options, c.names[i], step)
		end()
		if err != nil {
			return nil, err
		}
		made = append(made, reports...)
	}
	return made, nil
}
