package pluginhost_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// prices knows one area, in which every quarter of an hour costs less than the last.
type prices struct{}

func (prices) Describe(context.Context) (price.Description, error) {
	return price.Description{Areas: []string{"PT", "XX"}, Currency: "EUR"}, nil
}

func (prices) Prices(_ context.Context, query price.Query) (s price.Series, err error) {
	switch query.Area {
	case "XX": // wrong: one slot that was not requested
		s.Slots = []price.Slot{{Start: 0, Length: price.Resolution}}
	case "PT":
		for at := query.From; at < query.Until; at = at.Add(price.Resolution) {
			s.Slots = append(s.Slots, price.Slot{Start: at, Length: price.Resolution, Price: -protocol.Micro(at)})
		}
	default:
		err = price.ErrUnknownArea
	}
	return s, err
}

func pricesPlugin() sdk.Plugin {
	return sdk.Feed[struct{}]{
		Name: "prices", Version: "1.0.0",
		Make: func(struct{}, sdk.Host) (price.Feed, error) { return prices{}, nil },
	}
}

// A feed that is a plugin answers as the feed itself does.
func TestFeed(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "prices")
	spec.Kind = pluginhost.FeedKind
	name, feed := "plugin prices ("+spec.Path+"): ", up(t, spec).Feed()
	d, err := feed.Describe(t.Context())
	if want, _ := (prices{}).Describe(t.Context()); err != nil || !reflect.DeepEqual(d, want) {
		t.Errorf("%+v, %v", d, err)
	}
	query := price.Query{Area: "PT", From: protocol.Instant(10 * protocol.Hour), Until: protocol.Instant(12 * protocol.Hour)}
	got, err := feed.Prices(t.Context(), query)
	if want, _ := (prices{}).Prices(t.Context(), query); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	query.Area = "XX"
	_, err = feed.Prices(t.Context(), query)
	wants(t, err, name+"Prices: ", "was not asked for")
	query.Area = "ZZ"
	if _, err = feed.Prices(t.Context(), query); !errors.Is(err, price.ErrUnknownArea) {
		t.Error(err)
	}
}
