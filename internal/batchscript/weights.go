package batchscript

import (
	"errors"
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// weight is one of the weights of z [IS 4.2].
type weight int

// The weights.
const (
	computeWeight weight = iota
	waitWeight
	energyWeight
	dataWeight
)

func (x weight) String() string {
	return [...]string{"compute-weight", "wait-weight", "energy-weight", "data-weight"}[x]
}

// maxWeight bounds a weight: a thousand.
const maxWeight = 1000 * protocol.PPM

// weighing is what was said about weights by the last source that did.
type weighing struct {
	source    int
	objective cost.Objective // empty: none was named
	said      [4]bool
	values    [4]int // in parts per million
}

// from forgets what an earlier source has said.
func (g *weighing) from(source int) {
	if g.source != source {
		*g = weighing{source: source}
	}
}

// both says that the two ways to weigh are mixed.
func both() error {
	return errors.New("conflicts with an objective or weight given before; an objective sets all weights, so keep one of the two")
}

func setObjective(w *jobOptions, value string) error {
	w.weighing.from(w.source)
	objective := cost.Objective(value)
	if _, ok := objective.Weights(); !ok {
		return fmt.Errorf("invalid objective %q; use %s", value, objectives())
	}
	w.weighing.objective = objective
	if w.weighing.said != [4]bool{} {
		return both()
	}
	return nil
}

// objectives lists the objectives for people.
func objectives() string {
	all := cost.Objectives()
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func setWeight(which weight) func(*jobOptions, string) error {
	return func(w *jobOptions, value string) error {
		w.weighing.from(w.source)
		ppm, err := decimal.Millionths(maxWeight).Parse(value)
		if err != nil {
			return fmt.Errorf("%q is not a weight; write a number from 0 to %d with up to six decimals, as 0.5", value, maxWeight/protocol.PPM)
		}
		w.weighing.said[which], w.weighing.values[which] = true, int(ppm)
		if w.weighing.objective != "" {
			return both()
		}
		return nil
	}
}

// weights are what was asked for. Of weights of which some are named, the others are 1,
// as under the objective balanced. ok is false when nothing was said.
func (g *weighing) weights() (weights cost.Weights, ok bool) {
	if g.objective != "" {
		return g.objective.Weights()
	}
	weights, _ = cost.Balanced.Weights()
	for which, to := range []*int{&weights.Alpha, &weights.Beta, &weights.Gamma, &weights.Delta} {
		if g.said[which] {
			*to, ok = g.values[which], true
		}
	}
	return weights, ok
}

// lastWeight is the option by which a weight was said last, for messages.
func (g *weighing) lastWeight() string {
	for which := dataWeight; which > computeWeight; which-- {
		if g.said[which] {
			return which.String()
		}
	}
	return computeWeight.String()
}
