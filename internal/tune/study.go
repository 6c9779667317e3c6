package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Study is what "switchyard sim tune" does with an experiment: the search that its table
// [tune] describes, and the ranking of its candidates.
type Study struct {
	Plan     *experiment.Plan // opened
	Method   string
	Runs     int
	Buy      bool // rank the candidates, too
	Workers  int
	Progress func(done int) // receives how many simulations are done; may be nil
}

// Result is what a study has found, as it is printed in JSON.
type Result struct {
	Experiment string                `json:"experiment"`
	Currency   string                `json:"currency,omitempty"`
	Method     string                `json:"method"`
	Seeds      []uint64              `json:"seeds"`
	Weights    experiment.Goal       `json:"weights"`
	Axes       []experiment.TuneAxis `json:"axes,omitempty"`
	Found

	Candidates []Ranked `json:"candidates,omitempty"` // the best first
	Demands    []Demand `json:"demand,omitempty"`     // with β = 0, in the order of the sites
}

// New is the study of a plan as its file asks for it. The error says what is missing.
func New(plan *experiment.Plan) (*Study, error) {
	if plan.Tune == nil {
		return nil, errors.New("the experiment has no table [tune]; say there what counts and what may change (docs/simulator.md)")
	}
	return &Study{Plan: plan, Method: plan.Tune.Method, Runs: plan.Tune.Runs, Workers: 1}, nil
}

// Check says why the study cannot be made: what the file says may not go with what was
// asked for besides.
func (s *Study) Check() error {
	tune := s.Plan.Tune
	switch {
	case !slices.Contains(experiment.Methods(), s.Method):
		return fmt.Errorf("invalid method %q; use %s", s.Method, strings.Join(experiment.Methods(), " or "))
	case s.Runs < 1:
		return fmt.Errorf("%d runs; give 1 or more", s.Runs)
	case s.Buy && len(s.Plan.Candidates) == 0:
		return errors.New("there is no candidate to buy; describe machines in tables [[candidate]]")
	case !s.Buy && len(tune.Axes) == 0:
		return errors.New("there is nothing to tune; name keys in tables [[tune.axis]], or ask what to buy")
	case s.Method == experiment.GridSearch:
		return fits(tune.Axes, s.Runs)
	case s.Method == experiment.NelderMead && !movable(tune.Axes):
		return fmt.Errorf("the method %q goes by factors; give each axis two values above 0, and none below", s.Method)
	}
	return nil
}

// Simulations is how many the study needs at most.
func (s *Study) Simulations() int {
	n := s.search().Simulations()
	if s.Buy {
		n += len(s.seeds()) * len(s.Plan.Candidates)
		if s.weighs() {
			n += len(s.seeds())
		}
	}
	return n
}

func (s *Study) seeds() []uint64 {
	seeds := make([]uint64, cmp.Or(s.Plan.Tune.Seeds, s.Plan.Seeds))
	for i := range seeds {
		seeds[i] = uint64(s.Plan.Seed) + uint64(i) //nolint:gosec // checked: not negative
	}
	return seeds
}

func (s *Study) search() *Search {
	return &Search{
		Method: s.Method, Axes: s.Plan.Tune.Axes, Goal: s.Plan.Tune.Goal, Runs: s.Runs, Seeds: s.seeds(), Workers: s.Workers,
		Evaluate: func(ctx context.Context, at Point, seed uint64) (Outcome, error) {
			plan, err := s.at(at)
			if err != nil {
				return Outcome{}, err
			}
			return simulate(ctx, plan, nil, seed)
		},
	}
}

// at is the experiment at a point.
func (s *Study) at(p Point) (*experiment.Plan, error) {
	if p == nil {
		return s.Plan, nil
	}
	var settings []experiment.Setting
	reopen := false
	for i := range p {
		axis := &s.Plan.Tune.Axes[i]
		settings = append(settings, s.Plan.At(axis, p[i])...)
		reopen = reopen || opened(axis.Key)
	}
	plan, err := s.Plan.With(settings...)
	if err == nil && reopen {
		err = plan.Open()
	}
	return plan, err
}

// opened says whether a key is looked at when an experiment's files are opened: of sites
// all but what they charge.
func opened(key string) bool {
	table, _, _ := strings.Cut(key, ".")
	return table == "site" && !strings.Contains(key, ".cost.")
}

// Run makes the study.
func (s *Study) Run(ctx context.Context) (*Result, error) {
	search := s.search()
	found, err := search.Run(ctx, s.Progress)
	if err != nil {
		return nil, err
	}
	result := &Result{
		Experiment: s.Plan.Name, Currency: s.Plan.Currency, Method: s.Method, Seeds: search.Seeds, Weights: search.Goal,
		Axes: search.Axes, Found: *found,
	}
	if s.Buy {
		err = s.buy(ctx, result, search.Simulations())
	}
	return result, err
}

// buy ranks the candidates beside the best that was found.
func (s *Study) buy(ctx context.Context, result *Result, done int) error {
	tuned, err := s.at(result.best().At)
	if err != nil {
		return err
	}
	ranking := Ranking{
		Goal: result.Weights, Seeds: result.Seeds, Base: result.best(), Workers: s.Workers,
		Evaluate: func(ctx context.Context, candidate int, seed uint64) (Outcome, error) {
			return buying(ctx, tuned, &s.Plan.Candidates[candidate], seed)
		},
	}
	for i := range s.Plan.Candidates {
		one := &s.Plan.Candidates[i]
		ranking.Candidates = append(ranking.Candidates, Priced{Name: one.Name, PerYear: perYear(one)})
	}
	if result.Candidates, err = ranking.Run(ctx, s.from(done)); err != nil || !s.weighs() {
		return err
	}
	result.Demands, err = s.demand(ctx, tuned, result, done+len(result.Seeds)*len(s.Plan.Candidates))
	return err
}

// buying simulates a plan with what a candidate changes.
func buying(ctx context.Context, plan *experiment.Plan, c *experiment.Candidate, seed uint64) (Outcome, error) {
	changed, err := plan.Buying(c)
	if err != nil {
		return Outcome{}, err
	}
	return simulate(ctx, changed, c.Retire, seed)
}

// from is the progress of a part of the study.
func (s *Study) from(begun int) func(done int) {
	if s.Progress == nil {
		return nil
	}
	return func(done int) { s.Progress(begun + done) }
}

// weighs says whether what decides looks at weights at all.
func (s *Study) weighs() bool {
	return s.Plan.Policy.Name == "iss" && s.Plan.DefaultWeights.ComputeWeight+s.Plan.DefaultWeights.EnergyWeight+s.Plan.DefaultWeights.DataWeight > 0
}

const year = 365 * protocol.Day

// perYear is what a candidate costs in a year, by its price alone.
func perYear(c *experiment.Candidate) float64 {
	return float64(c.Price) / float64(protocol.Unit) * float64(year) / float64(c.Lifetime)
}
