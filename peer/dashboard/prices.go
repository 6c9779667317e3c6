package dashboard

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// pricesSection is what electricity costs from now on.
type pricesSection struct {
	Answer  string
	Caption string
	Figure  template.HTML
}

// pricesOf draws the prices of electricity from now on; nil: none are known.
func pricesOf(r *request) (*pricesSection, error) {
	prices, err := r.visitor.Peer.Prices(r.Context())
	if err != nil {
		return nil, err
	}
	now := protocol.InstantOf(time.Now())
	left := slices.DeleteFunc(slices.Clone(prices.Slots), func(s api.PriceSlot) bool { return s.Start.Add(s.Length) <= now })
	if len(left) == 0 {
		return nil, nil //nolint:nilnil // as the page has it
	}
	cheapest := slices.MinFunc(left, func(a, b api.PriceSlot) int { return cmp.Compare(a.Price, b.Price) })
	section := &pricesSection{
		Answer: fmt.Sprintf("Electricity is cheapest from %s on, at %s a MWh.", console.Clock(max(cheapest.Start, now)), console.Amount(cheapest.Price, prices.Currency)),
	}
	section.Caption = captionOf(left, prices)
	drawn, err := priceCurves(left, prices, now).Figure()
	if err != nil {
		return nil, err
	}
	section.Figure = drawn.HTML()
	return section, nil
}

// captionOf says which of the prices are forecast, and why there are no newer ones.
func captionOf(left []api.PriceSlot, prices api.Prices) string {
	caption := "All of these prices are published."
	switch {
	case left[0].Start >= prices.PublishedUntil:
		caption = "All of these prices are forecast."
	case left[len(left)-1].Start >= prices.PublishedUntil:
		caption = "Prices that are published until " + console.Clock(prices.PublishedUntil) + ", and forecast after that."
	}
	if caption += " Quotes go by these."; prices.StaleReason != "" {
		caption += " They are old: " + strings.ReplaceAll(prices.StaleReason, "\n", "; ") + "."
	}
	return caption
}

// priceCurves are the prices from now on: those that are published, and those that are forecast.
func priceCurves(slots []api.PriceSlot, prices api.Prices, now protocol.Instant) report.Curves {
	published, forecast := report.Curve{Name: "published"}, report.Curve{Name: "forecast"}
	for _, slot := range slots {
		curve := &published
		if slot.Start >= prices.PublishedUntil {
			curve = &forecast
		}
		for _, at := range []protocol.Instant{max(slot.Start, now), slot.Start.Add(slot.Length) - 1} { // a slot is level
			curve.Points = append(curve.Points, report.Point{
				X: float64(at.Sub(now)) / float64(protocol.Hour), Y: report.Estimate{Mean: float64(slot.Price) / float64(protocol.Unit), N: 1},
			})
		}
	}
	curves := report.Curves{
		Words: report.Words{Name: "prices", Title: "Price of electricity from now on"},
		X:     "hours from now", Y: prices.Currency + " a MWh", KindX: report.Number, KindY: report.Number, AtLeast: &report.Frame{},
	}
	for _, one := range []report.Curve{published, forecast} {
		if len(one.Points) > 0 {
			curves.Curves = append(curves.Curves, one)
		}
	}
	return curves
}
