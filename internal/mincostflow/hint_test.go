package mincostflow_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/mincostflow"
)

const maxHint = 64 << 10

// TestHintNeverChangesFlowAndCost, whatever problem it is from.
func TestHintNeverChangesFlowAndCost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, before := anyProblem(t, 60, 6), anyProblem(t, 60, 6)
		cold := solved(t, p, nil)
		for _, hint := range [][]byte{cold.Hint, solved(t, before, nil).Hint} {
			warm, again := solved(t, p, hint), solved(t, p, hint)
			if warm.Flow != cold.Flow || warm.Cost != cold.Cost {
				t.Fatalf("flow %d at %d, without the hint %d at %d", warm.Flow, warm.Cost, cold.Flow, cold.Cost)
			}
			if !slices.Equal(warm.System, again.System) {
				t.Fatal("the same hint gave another solution")
			}
		}
	})
}

// TestHintCarriesPrices: the next cycle's problem starts with them. Here it is the
// same problem, so that they are right at once and are returned.
func TestHintCarriesPrices(t *testing.T) {
	t.Parallel()
	p := instance(t, 2000, 50, 30, 1, 1_000_000)
	cold := solved(t, p, nil)
	if len(cold.Hint) == 0 || len(cold.Hint) > maxHint {
		t.Fatalf("a hint of %d bytes", len(cold.Hint))
	}
	if warm := solved(t, p, cold.Hint); !bytes.Equal(warm.Hint, cold.Hint) {
		t.Error("the prices were not kept")
	}
}

// TestHintOfAnotherShapeIsIgnored, as is one that is cut off, has more, or another
// version.
func TestHintOfAnotherShapeIsIgnored(t *testing.T) {
	t.Parallel()
	p := instance(t, 300, 12, 20, 1, mincostflow.ReferenceScale)
	cold := solved(t, p, nil)
	other := solved(t, instance(t, 300, 11, 20, 1, mincostflow.ReferenceScale), nil).Hint
	newer := slices.Clone(cold.Hint)
	newer[0]++
	for name, hint := range map[string][]byte{
		"other systems": other, "cut off": cold.Hint[:len(cold.Hint)-1], "longer": append(slices.Clone(cold.Hint), 0),
		"newer": newer, "text": []byte("prices"), "huge": make([]byte, 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := solved(t, p, hint); !slices.Equal(got.System, cold.System) {
				t.Error("the hint was taken")
			}
		})
	}
}

// TestHintIsBounded: so many systems get none.
func TestHintIsBounded(t *testing.T) {
	t.Parallel()
	for _, systems := range []int{1000, mincostflow.MaxSystems / 2} {
		s := solved(t, instance(t, 2, systems, 1, 1, 1_000_000), nil)
		if len(s.Hint) > maxHint {
			t.Errorf("%d systems: %d bytes", systems, len(s.Hint))
		}
	}
}

func FuzzHint(f *testing.F) {
	p, err := mincostflow.Instance(40, 4, 9, 1, mincostflow.ReferenceScale)
	if err != nil {
		f.Fatal(err)
	}
	cold := solved(f, p, nil)
	f.Add(cold.Hint)
	f.Add([]byte{1, 4, 0, 0, 0, 0, 0})
	f.Add([]byte{1, 4, 254, 255, 255, 255, 255, 255, 255, 255, 255, 1, 8, 8, 8, 8})
	f.Fuzz(func(t *testing.T, hint []byte) {
		if warm := solved(t, p, hint); warm.Flow != cold.Flow || warm.Cost != cold.Cost {
			t.Errorf("flow %d at %d, without the hint %d at %d", warm.Flow, warm.Cost, cold.Flow, cold.Cost)
		}
	})
}
