package reproduce

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Exhibit is a table or figure of a paper that can be made again.
type Exhibit struct {
	Name  string   `json:"name"`
	Also  []string `json:"also,omitempty"` // other tables and figures that it shows
	Title string   `json:"title"`
	Paper string   `json:"paper"` // what it stands beside
}

// About is the exhibit without how it is made, of all that embed it.
func (e Exhibit) About() Exhibit { return e }

// Called says whether the exhibit is meant by a name.
func (e Exhibit) Called(name string) bool { return e.Name == name || slices.Contains(e.Also, name) }

// Report is an empty report of the exhibit.
func (e Exhibit) Report(notes ...string) Report {
	return Report{Name: e.Name, Title: e.Title, Paper: e.Paper, Notes: notes}
}

// Catalogue is the exhibits of a paper with how they are made, in the paper's order; then what the paper has not.
type Catalogue[E interface{ About() Exhibit }] struct {
	All      string // stands for every exhibit; empty: nothing does
	Exhibits []E
}

// Names lists what can be chosen.
func (c *Catalogue[E]) Names() []string {
	var names []string
	for _, e := range c.About() {
		names = append(append(names, e.Name), e.Also...)
	}
	if c.All != "" {
		names = append(names, c.All)
	}
	return names
}

// About lists the exhibits without how they are made.
func (c *Catalogue[E]) About() []Exhibit {
	all := make([]Exhibit, len(c.Exhibits))
	for i, e := range c.Exhibits {
		all[i] = e.About()
	}
	return all
}

// Chosen are the exhibits of names, each once. The name of a table or figure stands for the exhibit that shows it.
func (c *Catalogue[E]) Chosen(names []string) ([]E, error) {
	var places []int
	for _, name := range names {
		if name == c.All && name != "" {
			return c.Exhibits, nil
		}
		i := slices.IndexFunc(c.Exhibits, func(e E) bool { return e.About().Called(name) })
		if i < 0 {
			return nil, fmt.Errorf("nothing is called %q; choose from %s", name, strings.Join(c.Names(), ", "))
		}
		if !slices.Contains(places, i) {
			places = append(places, i)
		}
	}
	found := make([]E, len(places))
	for k, i := range places {
		found[k] = c.Exhibits[i]
	}
	return found, nil
}

// Paper is one of the papers that are made again.
type Paper struct {
	Name     string    // as [MC]
	Names    []string  // that can be chosen
	Exhibits []Exhibit // in the paper's order
	Claims   []Claim
	Run      Run
}

// Run makes the exhibits of some names of a paper. Progress receives how many of the simulations are done, from one
// goroutine at a time; it may be nil. An error says which option is wrong, or which file is missing or malformed.
type Run func(ctx context.Context, o Options, names []string, progress func(done, of int)) ([]Report, error)

// Of is the paper of a name whose exhibits these are.
func (c *Catalogue[E]) Of(paper string, claims []Claim, run Run) Paper {
	return Paper{Name: paper, Names: c.Names(), Exhibits: c.About(), Claims: claims, Run: run}
}
