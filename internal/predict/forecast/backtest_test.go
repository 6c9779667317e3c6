package forecast_test

import (
	"encoding/csv"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestAccuracy(t *testing.T) {
	t.Parallel()
	windows := forecast.Windows{
		{Forecast: []protocol.Micro{11e6, 18e6, 5e6}, Actual: []protocol.Micro{10e6, 20e6, forecast.Hole}},
		{Forecast: []protocol.Micro{-10e6, 3e6}, Actual: []protocol.Micro{-20e6, 0}},
		{Forecast: []protocol.Micro{1}, Actual: []protocol.Micro{forecast.Hole}},
	}
	got := windows.Accuracy()
	want := forecast.Accuracy{
		Windows: 3, MAE: 16.0 / 4, RMSE: math.Sqrt(114.0 / 4), Relative: 100 * 16.0 / 50,
		MeanAPE: 30, MedianAPE: 30, MedianSlot: 10, Under15: 0.5, SlotUnder15: 2.0 / 3,
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := (forecast.Windows{}).Accuracy(); got != (forecast.Accuracy{}) {
		t.Errorf("nothing: %+v", got)
	}
}

func TestBacktestWindows(t *testing.T) {
	t.Parallel()
	costs := make([]protocol.Micro, 100)
	for i := range costs {
		costs[i] = protocol.Micro(i)
	}
	start := time.Date(2014, 6, 1, 0, 0, 0, 0, time.UTC)
	c := curve(t, hours(start, costs), time.UTC)
	got := forecast.Backtest{First: 30 * protocol.Hour, Every: 20 * protocol.Hour, Ahead: 10 * protocol.Hour}.Run(c, named(t, "yesterday"))
	if len(got) != 4 { // at 30, 50, 70, 90
		t.Fatalf("%d windows", len(got))
	}
	last := got[3]
	if want := protocol.InstantOf(start.Add(90 * time.Hour)); last.Clock != want {
		t.Errorf("the last window begins at %v, want %v", last.Clock.Time(), want.Time())
	}
	if !slices.Equal(last.Actual, costs[90:]) || !slices.Equal(last.Forecast, costs[66:76]) {
		t.Errorf("the last window is %+v", last)
	}
}

// The naive forecasts of each reference window have the errors that are noted there.
func TestBacktestIsThatOfTheReference(t *testing.T) {
	t.Parallel()
	rows, err := csv.NewReader(strings.NewReader(string(shared(t, "reference", "sarima", "fits_statsmodels.csv.gz")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]string{"naive_yesterday": "yesterday", "naive_mean3": "mean", "naive_flatmean": "flat"}
	windows, checked := map[string]forecast.Windows{}, 0
	for _, region := range regions() {
		for _, name := range by {
			windows[region+name] = forecast.Daily().Run(xsede(t, region), named(t, name))
		}
	}
	for _, row := range rows[1:] {
		name, ok := by[row[2]]
		if !ok {
			continue
		}
		day := int(float(t, row[1]))
		got := windows[row[0]+name][day-3 : day-2].Accuracy()
		if !near(got.MeanAPE, float(t, row[4]), 1e-5) || !near(got.RMSE, float(t, row[5]), 1e-5) {
			t.Errorf("%s, day %d, %s: %.6f %% and %.6f, want %s and %s", row[0], day, name, got.MeanAPE, got.RMSE, row[4], row[5])
		}
		checked++
	}
	if checked != 405 {
		t.Errorf("%d windows were checked, want 405", checked)
	}
}

// The table of what was measured before: mean and median percentage errors.
func TestXSEDEAccuracy(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]float64{
		"blend": {10.87, 8.15}, "yesterday": {11.84, 8.88}, "mean": {14.28, 10.81}, "sarima": {13.87, 10.98},
	} {
		got := pooled(t, named(t, name)).Accuracy()
		tolerance := 0.006
		if name == "sarima" {
			tolerance = 0.1 // the references differ by 0.1
		}
		if got.Windows != 135 || !near(got.MeanAPE, want[0], tolerance) || !near(got.MedianAPE, want[1], tolerance) {
			t.Errorf("%s: %+v, want %v", name, got, want)
		}
		t.Logf("%s: %+v", name, got)
	}
}

func pooled(tb testing.TB, f forecast.Forecaster) (out forecast.Windows) {
	tb.Helper()
	for _, region := range regions() {
		out = append(out, forecast.Daily().Run(xsede(tb, region), f)...)
	}
	return out
}

// The default is no worse than the same hour yesterday, on XSEDE and on a year of Nord
// Pool, whatever number of weeks it chooses by.
func TestAutoIsNoWorseThanYesterday(t *testing.T) {
	t.Parallel()
	areas := nordPool(t)
	year := func(f forecast.Forecaster) (out forecast.Windows) {
		for i, area := range slices.Sorted(maps.Keys(areas)) {
			if !testing.Short() || i%4 == 0 {
				out = append(out, forecast.Daily().Run(areas[area], f)...)
			}
		}
		return out
	}
	type measured struct{ xsede, nordPool forecast.Accuracy }
	measure := func(f forecast.Forecaster) measured {
		m := measured{pooled(t, f).Accuracy(), year(f).Accuracy()}
		t.Logf("%s: XSEDE %+v", f.Name(), m.xsede)
		t.Logf("%s: Nord Pool %+v", f.Name(), m.nordPool)
		return m
	}
	naive := measure(named(t, "yesterday"))
	usual := forecast.NewAuto()
	for _, auto := range []forecast.Auto{usual, {Of: usual.Of, Days: 14, Least: usual.Least}} {
		got := measure(auto)
		for where, pair := range map[string][2]forecast.Accuracy{"XSEDE": {got.xsede, naive.xsede}, "Nord Pool": {got.nordPool, naive.nordPool}} {
			if pair[0].MAE > pair[1].MAE || pair[0].RMSE > pair[1].RMSE || pair[0].MeanAPE > pair[1].MeanAPE || pair[0].MedianAPE > pair[1].MedianAPE {
				t.Errorf("%s, %d days: %+v is worse than %+v", where, auto.Days, pair[0], pair[1])
			}
		}
	}
}

// BenchmarkForecast is a day ahead from a month of hours, by each forecaster.
func BenchmarkForecast(b *testing.B) {
	past := xsede(b, "Texas").Past()
	for _, name := range names() {
		f := named(b, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f.Forecast(past, 24)
			}
		})
	}
}
