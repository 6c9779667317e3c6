package priceformat_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// twoAreas has a price for the hours 0, 1 and 4 in both.
type twoAreas struct{ price.Feed }

func (twoAreas) Describe(context.Context) (price.Description, error) {
	return price.Description{Areas: []string{"FI", "NO1"}, Currency: "EUR"}, nil
}

func (twoAreas) Prices(_ context.Context, query price.Query) (price.Series, error) {
	var series price.Series
	for _, hour := range []protocol.Instant{0, 1, 4} {
		series.Slots = append(series.Slots, price.Slot{
			Start: query.From + hour*protocol.Instant(protocol.Hour), Length: protocol.Hour, Price: 1_500_000,
		})
	}
	return series, nil
}

func TestOfFeed(t *testing.T) {
	t.Parallel()
	all, err := priceformat.OfFeed(t.Context(), twoAreas{}, price.Query{})
	if err != nil || len(all.Curves) != 2 || all.Curves[1].Area != "NO1" {
		t.Errorf("%+v, %v", all, err)
	}
	one, err := priceformat.OfFeed(t.Context(), twoAreas{}, price.Query{Area: "NO1", From: 1000})
	if err != nil || len(one.Curves) != 1 || one.Curves[0].Series.Slots[0].Start != 1000 {
		t.Errorf("%+v, %v", one, err)
	}
	missing, first := one.Curves[0].Gaps()
	if missing != 2*protocol.Hour || first.Start != 1000+2*protocol.Instant(protocol.Hour) || first.Length != 2*protocol.Hour {
		t.Errorf("%v are missing, from %+v", missing, first)
	}
	_, err = priceformat.OfFeed(t.Context(), twoAreas{}, price.Query{Area: "SE1"})
	if !errors.Is(err, price.ErrUnknownArea) || err.Error() != `there is no area "SE1"; there are FI, NO1` {
		t.Errorf("got %v", err)
	}
	one.Curves[0].Series.Slots = one.Curves[0].Series.Slots[:1]
	const want = `{"currency":"EUR","curves":[{"area":"NO1","slots":[{"start_ms":1000,"length_ms":3600000,"price_micro":1500000}]}]}`
	if text, err := json.Marshal(one.JSON()); err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

func TestAreaOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/a/FI.csv.gz": "FI", "Indiana.txt": "Indiana", "no,area.csv": "prices"} {
		if got := priceformat.AreaOf(path); got != want {
			t.Errorf("%s is of %s, want %s", path, got, want)
		}
	}
}
