package superscheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// exhibit is a table or figure that can be made again.
type exhibit struct {
	name, title, paper string

	also   []string // other names of it
	notes  []string
	sweeps []sweep
	build  func(s *study, r *reproduce.Report) error
}

func exhibits() []exhibit {
	return []exhibit{
		tableFour(), tableFive(), figureThree(), wholeNodes(), estimates(),
		tableSix(), figureFour(), sizes(), backfilling(), loads(), wide(), volunteers(),
		figureFive(), delta(), phi(), epsilon(), readings(),
	}
}

// All stands for every exhibit.
const All = "ss"

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

// Check says what is wrong with the size and with the names of exhibits, before anything is read.
func Check(o reproduce.Size, names []string) error {
	_, err := chosen(names)
	return errors.Join(o.Check(), err)
}

// chosen are the exhibits of the names.
func chosen(names []string) ([]exhibit, error) {
	var found []exhibit
	all := exhibits()
	for _, name := range names {
		if name == All {
			return all, nil
		}
		i := slices.IndexFunc(all, func(e exhibit) bool { return e.name == name || slices.Contains(e.also, name) })
		if i < 0 {
			return nil, fmt.Errorf("nothing is called %q; choose from %s", name, strings.Join(Names(), ", "))
		}
		if !slices.ContainsFunc(found, func(e exhibit) bool { return e.name == all[i].name }) {
			found = append(found, all[i])
		}
	}
	return found, nil
}

// Run makes the exhibits of the names. Progress is called with how many of the simulations are
// done, from one goroutine at a time; it may be nil. An error says which option is wrong,
// or which file is missing or malformed.
func Run(ctx context.Context, o reproduce.Size, names []string, progress func(done, of int)) ([]reproduce.Report, error) {
	return (&study{options: o}).reports(ctx, names, progress)
}

func (s *study) reports(ctx context.Context, names []string, progress func(done, of int)) ([]reproduce.Report, error) {
	if err := Check(s.options, names); err != nil {
		return nil, err
	}
	exhibits, err := chosen(names)
	if err != nil {
		return nil, err
	}
	if err = s.simulate(ctx, exhibits, progress); err != nil {
		return nil, err
	}
	reports := make([]reproduce.Report, len(exhibits))
	for i, e := range exhibits {
		r := &reports[i]
		*r = reproduce.Report{Name: e.name, Title: e.title, Paper: e.paper, Notes: e.notes, Seeds: s.common(e.sweeps)}
		if len(e.sweeps) > 0 && r.Seeds == nil {
			r.Notes = append([]string{"Means over the seeds that the titles of the tables state, ± half the 95 % interval."}, r.Notes...)
		}
		if err = e.build(s, r); err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return reports, nil
}

// common are the seeds of all sweeps; nil: they differ.
func (s *study) common(sweeps []sweep) (seeds []uint64) {
	for _, w := range sweeps {
		own := s.swept(w).Seeds
		if seeds != nil && !slices.Equal(seeds, own) {
			return nil
		}
		seeds = own
	}
	return seeds
}
