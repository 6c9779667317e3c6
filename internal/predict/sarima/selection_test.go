package sarima_test

import (
	"math"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/sarima"
)

// TestSelectFindsTheTerms: of a series with one strong term the order that has it alone is
// chosen, or one with a term more, but none without.
func TestSelectFindsTheTerms(t *testing.T) {
	t.Parallel()
	orders := []sarima.Order{
		parsed(t, "(0,0,0)(0,0,0)24"), parsed(t, "(1,0,0)(0,0,0)24"), parsed(t, "(0,0,1)(0,0,0)24"), parsed(t, "(1,0,1)(0,0,0)24"),
	}
	noise := simulate(1, 300)
	series := make([]float64, len(noise))
	for i := range series {
		series[i] = noise[i]
		if i > 0 {
			series[i] += 0.9 * series[i-1]
		}
	}
	got, err := sarima.Select(series, orders)
	if err != nil || got.AR != 1 {
		t.Errorf("%v, %v", got, err)
	}
	lowest := math.Inf(1)
	for _, order := range orders {
		m, err := sarima.Fit(series, order)
		if err != nil {
			t.Fatal(err)
		}
		lowest = min(lowest, m.AIC())
	}
	if m, _ := sarima.Fit(series, got); m.AIC() != lowest {
		t.Errorf("%v has an AIC of %v, the lowest is %v", got, m.AIC(), lowest)
	}
}

// TestAICByHand: 2 coefficients, a mean and a variance are 4 parameters.
func TestAICByHand(t *testing.T) {
	t.Parallel()
	m, err := sarima.Fit(simulate(2, 60), parsed(t, "(1,0,1)"))
	if err != nil {
		t.Fatal(err)
	}
	if want := 8 - 2*m.LogLikelihood; m.AIC() != want {
		t.Errorf("%v, want %v", m.AIC(), want)
	}
}

func TestSelectRefuses(t *testing.T) {
	t.Parallel()
	if _, err := sarima.Select(simulate(1, 60), []sarima.Order{parsed(t, "(1,0,0)"), parsed(t, "(1,1,0)")}); err == nil || !strings.Contains(err.Error(), "difference differently") {
		t.Errorf("%v", err)
	}
	if _, err := sarima.Select([]float64{1, 2}, sarima.Grid(24)[1:]); err == nil || !strings.Contains(err.Error(), "too few") {
		t.Errorf("%v", err)
	}
	if n := len(sarima.Grid(24)); n != 36 {
		t.Errorf("the grid has %d orders", n)
	}
	flat, err := sarima.Select(make([]float64, 72), sarima.Grid(24))
	if err != nil || flat != sarima.Grid(24)[0] {
		t.Errorf("of a constant series %v, %v", flat, err)
	}
}
