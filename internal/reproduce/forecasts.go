package reproduce

import (
	"context"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/internal/predict/sarima"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// prices is [MC] Figure 3.
func prices() exhibit {
	return exhibit{
		Exhibit: Exhibit{Name: "fig3", Title: "prices 24 hours ahead", Paper: "[MC] Figure 3 and section 5.3"},
		build: func(ctx context.Context, s *study, r *Report) error {
			r.Notes = append(r.Notes, "Each day from the fourth on, from what was known before it. The paper: 8 % mean error in Texas, 1 to 20 June;",
				"75 % of the jobs with less than 15 %. Beside the five regions: R's SARIMA and the rules as in facts/performance.md.")
			texas, regions, err := s.regions()
			if err != nil {
				return err
			}
			nordPool, err := s.nordPoolCurves()
			if err != nil {
				return err
			}
			for _, t := range []struct {
				title   string
				curves  []*forecast.Curve
				methods []string
				paper   map[string]float64
			}{
				{"Texas, 1 to 20 June 2014", texas, append(cheap(), "sarima", selected), map[string]float64{"sarima": 8}},
				{
					"Five regions of XSEDE, June 2014", regions, append(cheap(), "sarima", selected),
					map[string]float64{"blend": 10.87, "yesterday": 11.84, "mean": 14.28, "sarima": 13.90},
				},
				{"Nord Pool, all areas, the year 2014", nordPool, cheap(), nil},
			} {
				made, err := forecastTable(ctx, t.title, t.curves, t.methods, t.paper)
				if err != nil {
					return err
				}
				r.Tables = append(r.Tables, made)
			}
			return nil
		},
	}
}

// cheap are the forecasters that need no fit, the default first.
func cheap() []string { return []string{"auto", "blend", "yesterday", "mean", "flat"} }

// regions are the curves of Texas, as far as the paper shows it, and of all regions of
// XSEDE whose prices vary.
func (s *study) regions() (texas, all []*forecast.Curve, err error) {
	for _, name := range []string{"Indiana", "Louisiana", "Pittsburgh", "San_Diego", "Texas"} {
		series, err := s.data.hourly("USD", "prices", "xsede-2014-06", name+".csv")
		if err != nil {
			return nil, nil, err
		}
		curve, err := forecast.NewCurve(series, time.UTC)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, curve)
		if name == "Texas" {
			shown := min(20*24, len(series.Slots))
			if curve, err = forecast.NewCurve(price.Series{Slots: series.Slots[:shown]}, time.UTC); err != nil {
				return nil, nil, err
			}
			texas = append(texas, curve)
		}
	}
	return texas, all, nil
}

func (s *study) nordPoolCurves() (curves []*forecast.Curve, err error) {
	zone, err := time.LoadLocation("Europe/Oslo")
	if err != nil {
		return nil, err
	}
	set, err := s.data.nordPool()
	if err != nil {
		return nil, err
	}
	for _, area := range set.Curves {
		curve, err := forecast.NewCurve(area.Series, zone)
		if err != nil {
			return nil, err
		}
		curves = append(curves, curve)
	}
	return curves, nil
}

// selected is a SARIMA model whose order has the lowest AIC on the three days before the first
// day that is forecast ([MC 3.2]: the order is chosen on training data).
const selected = "sarima by AIC"

// forecasterOf is a forecaster by its name, for prices with a past.
func forecasterOf(name string, past forecast.Past) (forecast.Forecaster, error) {
	if name != selected {
		return forecast.Named(name)
	}
	window := past.Prices[:min(len(past.Prices), int(training/protocol.Day)*past.Day)]
	series := make([]float64, len(window))
	for i, cost := range window {
		series[i] = float64(cost) / float64(protocol.Unit)
	}
	order, err := sarima.Select(series, sarima.Grid(past.Day))
	if err != nil {
		return nil, err
	}
	return forecast.NewSeasonal(order), nil
}

// forecastTable tries forecasters on curves. Areas with negative prices or prices near
// nothing make percentages large; the absolute error stands beside them.
func forecastTable(ctx context.Context, title string, curves []*forecast.Curve, methods []string, paper map[string]float64) (Table, error) {
	t := Table{Title: title, Stub: "forecaster", Columns: []Column{
		{"ape_pct", "mean error", "%", 2},
		{"median_ape_pct", "median of the days", "%", 2},
		{"mae", "mean error", "a MWh", 2},
		{"relative_pct", "over the mean price", "%", 2},
		{"slots_under_15_pct", "hours < 15 %", "%", 1},
	}}
	for _, method := range methods {
		var windows forecast.Windows
		for _, curve := range curves {
			if err := ctx.Err(); err != nil {
				return Table{}, err
			}
			f, err := forecasterOf(method, curve.Past())
			if err != nil {
				return Table{}, err
			}
			windows = append(windows, forecast.Daily().Run(curve, f)...)
		}
		a := windows.Accuracy()
		beside, known := paper[method]
		t.Rows = append(t.Rows, Row{method, []Cell{
			Ours(a.MeanAPE).besideKnown(beside, known), Ours(a.MedianAPE), Ours(a.MAE), Ours(a.Relative), Ours(100 * a.SlotUnder15),
		}})
	}
	return t, nil
}
