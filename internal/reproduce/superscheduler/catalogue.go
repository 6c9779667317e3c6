package superscheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// exhibit is a table or figure that can be made again.
type exhibit struct {
	reproduce.Exhibit

	notes  []string
	sweeps []sweep
	build  func(s *study, r *reproduce.Report) error
}

func catalogue() *reproduce.Catalogue[exhibit] {
	return &reproduce.Catalogue[exhibit]{All: "ss", Exhibits: []exhibit{
		tableFour(), tableFive(), figureThree(), wholeNodes(), estimates(),
		tableSix(), figureFour(), sizes(), backfilling(), loads(), wide(), volunteers(),
		figureFive(), delta(), phi(), epsilon(), readings(),
	}}
}

// Paper is [SS]. Of the options its exhibits have the size alone.
func Paper() reproduce.Paper {
	return catalogue().Of("[SS]", Claims(), func(ctx context.Context, o reproduce.Options, names []string, progress func(done, of int)) ([]reproduce.Report, error) {
		return (&study{options: o.Size}).reports(ctx, names, progress)
	})
}

func (s *study) reports(ctx context.Context, names []string, progress func(done, of int)) ([]reproduce.Report, error) {
	exhibits, err := catalogue().Chosen(names)
	if err = errors.Join(s.options.Check(), err); err != nil {
		return nil, err
	}
	if err = s.simulate(ctx, exhibits, progress); err != nil {
		return nil, err
	}
	reports := make([]reproduce.Report, len(exhibits))
	for i, e := range exhibits {
		r := &reports[i]
		*r = e.Report(e.notes...)
		r.Seeds = s.common(e.sweeps)
		if len(e.sweeps) > 0 && r.Seeds == nil {
			r.Notes = append([]string{"Means over the seeds that the titles of the tables state, ± half the 95 % interval."}, r.Notes...)
		}
		if err = e.build(s, r); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
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
