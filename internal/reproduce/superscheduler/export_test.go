package superscheduler

import (
	"context"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// RunOf runs [Paper] with experiments that are changed before their files are read.
func RunOf(
	ctx context.Context, o reproduce.Size, names []string, shrink func(*experiment.Plan), progress func(done, of int),
) ([]reproduce.Report, error) {
	return (&study{options: o, shrink: shrink}).reports(ctx, names, progress)
}

// Placed is how far a paper's value lies outside the interval of ours.
func Placed(paper float64, ours ...float64) float64 {
	return placed("", reproduce.Ours(ours...), paper).Cells[1].Ours.Mean
}

// Traits are those of a schedule: the waits, those of the wide jobs, and the time below δ.
func Traits(o *experiment.Outcome) (waits, wide, below []float64) {
	t := traitsOf(o)
	return []float64{t.median, t.ninety, t.longest}, []float64{t.wide, t.wideWait, t.wideShare, t.wideLate, t.restWait}, append([]float64{t.anyBelow}, t.below...)
}
