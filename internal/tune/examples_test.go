package tune_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/tune"
)

func example(t testing.TB, name string) *experiment.Plan {
	t.Helper()
	plan, err := experiment.Read("../../examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestExampleOfWeights: what docs/simulator.md tells of it.
func TestExampleOfWeights(t *testing.T) {
	t.Parallel()
	s, err := tune.New(example(t, "experiments/iss-tune.toml"))
	if err != nil {
		t.Fatal(err)
	}
	s.Workers = 2
	r := result(t, s)
	if r.Best == nil || r.Points[*r.Best].At[0] != 0.3 || r.Points[*r.Best].Goal.Mean > 0.96 {
		t.Errorf("the best is %v, docs/simulator.md says β = 0.3", r.Best)
	}
	for i := range r.Points {
		if p := &r.Points[i]; (p.Goal.Mean > 2) != (p.At[0] == 0) {
			t.Errorf("%v has the goal %v; docs/simulator.md says that β = 0 alone is bad", p.At, p.Goal.Mean)
		}
	}
}

// TestExampleOfBuying has the sites of the park, and can be made.
func TestExampleOfBuying(t *testing.T) {
	t.Parallel()
	plan, park := example(t, "iss/buy.toml"), example(t, "iss/park.toml")
	if !reflect.DeepEqual(plan.Sites, park.Sites) {
		t.Error("examples/iss/buy.toml has other sites than park.toml")
	}
	s, err := tune.New(plan)
	if err != nil {
		t.Fatal(err)
	}
	s.Buy = true
	if err = s.Check(); err != nil {
		t.Error(err)
	}
	if n := s.Simulations(); n != 27 {
		t.Errorf("%d simulations, docs/simulator.md says 27", n)
	}
}
