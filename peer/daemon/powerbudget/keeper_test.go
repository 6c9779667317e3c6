package powerbudget

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// seriesFeed has one budget for all time that it is asked for.
type seriesFeed struct {
	price.Feed

	kilowatts protocol.Micro
	err       error
}

func (f *seriesFeed) Prices(_ context.Context, query price.Query) (s price.Series, err error) {
	for at := query.From; at < query.Until; at = at.Add(protocol.Day) {
		s.Slots = append(s.Slots, price.Slot{Start: at, Length: protocol.Day, Price: f.kilowatts * protocol.Unit})
	}
	return s, f.err
}

// keeper keeps the budget of a configuration, with a series if there is a feed for it, and
// notes what the batch system is given.
func keeper(cfg *config.Config, feed price.Feed) (k *Keeper, given *[]engine.Budget) {
	k = &Keeper{log: slog.New(slog.DiscardHandler), cfg: cfg, news: make(chan struct{}, 1)}
	if feed != nil {
		k.series = &pricefeed.Source{Feed: feed, Refresh: func(context.Context) error { return nil }}
	}
	k.current.Store(&engine.Budget{})
	given = new([]engine.Budget)
	k.Attach(func(b engine.Budget) error {
		*given = append(*given, b)
		return nil
	})
	return k, given
}

func budgeted(kilowatts config.Kilowatts, series string) *config.Config {
	cfg := config.Default()
	cfg.Power.WattsPerCPU, cfg.Power.Budget, cfg.Power.Series.Feed = 30_000_000, kilowatts*1_000_000, series
	return cfg
}

// The batch system hears of a budget when it is another one, and not otherwise; what a
// feed does not tell stays as it was.
func TestBudgetKeeperTellsWhatIsNew(t *testing.T) {
	t.Parallel()
	feed := &seriesFeed{kilowatts: 7}
	k, given := keeper(budgeted(9, "response"), feed)
	limits := func() (now []int64) {
		for _, b := range *given {
			limit, _ := b.Signal.At(protocol.InstantOf(time.Now()))
			now = append(now, limit/1_000_000)
		}
		return now
	}
	for i, step := range []struct {
		kilowatts protocol.Micro
		err       error
		want      []int64
	}{
		{7, nil, []int64{7}},
		{7, nil, []int64{7}},
		{5, nil, []int64{7, 5}},
		{4, errors.New("closed"), []int64{7, 5}},
		{4, nil, []int64{7, 5, 4}},
		{12, nil, []int64{7, 5, 4, 9}}, // the fixed budget is lower
	} {
		feed.kilowatts, feed.err = step.kilowatts, step.err
		if err := k.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := limits(); !reflect.DeepEqual(got, step.want) {
			t.Errorf("step %d: given %v, want %v", i, got, step.want)
		}
	}
	if got := k.Current().Rates; got != (power.Rates{Busy: 30_000_000}) {
		t.Errorf("rates %+v", got)
	}
}

// flatFeed knows one price.
type flatFeed struct{ err error }

func (flatFeed) Describe(context.Context) (price.Description, error) {
	return price.Description{Areas: []string{"here"}, Currency: "EUR"}, nil
}

func (f flatFeed) Prices(_ context.Context, query price.Query) (price.Series, error) {
	hour := query.From - query.From%protocol.Instant(protocol.Hour)
	return price.Series{Slots: []price.Slot{{Start: hour, Length: protocol.Hour, Price: protocol.Unit}}}, f.err
}

// The budget holds while electricity costs more than the threshold, by forecasts too, and
// is made anew when the peer has asked for prices.
func TestBudgetKeeperGoesByPrices(t *testing.T) {
	t.Parallel()
	cfg := budgeted(9, "")
	cfg.Prices.Area, cfg.Power.Price = "here", settings.Amount(protocol.Unit/2) // the feed has one hour, of 1
	watch, err := pricefeed.NewWatch(cfg.Prices)
	if err != nil {
		t.Fatal(err)
	}
	costs := func(feed price.Feed) {
		watch.SetSource(pricefeed.Source{Feed: feed, Refresh: func(context.Context) error { return nil }})
	}
	costs(flatFeed{})
	k, _ := keeper(cfg, nil)
	k.prices = watch
	k.prices.OnAhead(k.Wake)
	if err = k.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := protocol.InstantOf(time.Now())
	for _, at := range []protocol.Instant{now, now.Add(protocol.Day), now.Add(10 * protocol.Day)} {
		if limit, _ := k.Current().Signal.At(at); limit != 9*budget.Kilowatt {
			t.Errorf("at %v: %s", at.Time(), power.Text(limit))
		}
	}
	costs(flatFeed{errors.New("slow, and not asked")})
	next := budgeted(9, "")
	next.Prices.Area, next.Power.Price = "here", settings.Amount(2*protocol.Unit)
	if err = k.Change(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if limit, until := k.Current().Signal.At(now); limit != power.Unlimited || until != power.End {
		t.Errorf("where it costs less: %s", power.Text(limit))
	}
	<-k.news // the reload
	costs(flatFeed{})
	if _, err = k.prices.Ahead(t.Context(), price.Query{Area: "here", From: now, Until: now.Add(protocol.Hour)}); err != nil {
		t.Fatal(err)
	}
	if len(k.news) != 1 {
		t.Error("nobody hears that the peer has asked for prices")
	}
}

// While it runs, news make the budget anew.
func TestBudgetKeeperHearsNews(t *testing.T) {
	t.Parallel()
	feed := &seriesFeed{kilowatts: 7}
	k, _ := keeper(budgeted(9, "response"), feed)
	given := make(chan engine.Budget, 1)
	k.Attach(func(b engine.Budget) error {
		given <- b
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- k.Run(ctx) }()
	k.Wake()
	b := <-given
	if limit, _ := b.Signal.At(protocol.InstantOf(time.Now())); limit != 7*budget.Kilowatt {
		t.Errorf("given %s", power.Text(limit))
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A reload changes the budget, takes it away and gives it again; what cannot be is refused
// before anything changes.
func TestBudgetKeeperReloads(t *testing.T) {
	t.Parallel()
	k, given := keeper(budgeted(9, ""), nil)
	if err := k.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, kilowatts := range []config.Kilowatts{12, 0, 3} {
		next := budgeted(kilowatts, "")
		if err := errors.Join(k.CheckChange(next), k.Change(t.Context(), next)); err != nil {
			t.Fatal(err)
		}
	}
	now := protocol.InstantOf(time.Now())
	var limits []string
	for _, b := range *given {
		limit, _ := b.Signal.At(now)
		limits = append(limits, power.Text(limit))
	}
	if want := []string{"9 kW", "12 kW", "any power", "3 kW"}; !reflect.DeepEqual(limits, want) {
		t.Errorf("given %v, want %v", limits, want)
	}
	dark, priced, warm := budgeted(9, ""), budgeted(9, ""), budgeted(9, "")
	dark.Power.WattsPerCPU, priced.Power.Price, warm.Power.IdleWattsPerCPU = 0, 1, 30_500_000
	for want, next := range map[string]*config.Config{
		"needs watts_per_cpu": dark, "needs [prices]": priced,
		"idle_watts_per_cpu = 30.5 is more than watts_per_cpu, which is 30.0 until": warm,
	} {
		if err := k.CheckChange(next); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	k.Attach(nil)
	if err := k.CheckChange(budgeted(9, "")); err == nil || !strings.Contains(err.Error(), "start the peer again") {
		t.Errorf("a batch system that cannot change: %v", err)
	}
}
