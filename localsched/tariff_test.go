package localsched_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const euro protocol.Micro = 1_000_000

func TestCharge(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		hour protocol.Micro
		cpus int
		ert  protocol.Duration
		want protocol.Micro
	}{
		"an hour of one":       {euro / 100, 1, protocol.Hour, euro / 100},
		"half an hour of many": {euro / 100, 64, 30 * protocol.Minute, 32 * euro / 100},
		"rounded up":           {1, 1, 1, 1},
		"a full hour is exact": {1, 1, protocol.Hour, 1},
		"a little more is not": {1, 1, protocol.Hour + 1, 2},
		"nothing for nothing":  {euro, 0, protocol.Hour, 0},
		"no time":              {euro, 8, 0, 0},
		"free of charge":       {0, 8, protocol.Hour, 0},
		"negative":             {-euro, 8, protocol.Hour, 0},
		"never":                {euro, 8, protocol.Never, math.MaxInt64},
		"all at their largest": {math.MaxInt64, math.MaxInt64, protocol.Never, math.MaxInt64},
		"more than fits":       {math.MaxInt64, 2, protocol.Hour, math.MaxInt64},
		"the most that fits":   {math.MaxInt64, 1, protocol.Hour, math.MaxInt64},
	}
	for name, c := range cases {
		q := protocol.Quote{ERT: c.ert}
		localsched.Tariff{CPUHour: c.hour, Currency: "EUR"}.Charge(&q, c.cpus)
		want := []protocol.Term{{Name: localsched.CPUTerm, Amount: c.want}}
		if q.Currency != "EUR" || !reflect.DeepEqual(q.Terms, want) {
			t.Errorf("%s: got %v %s, want %v", name, q.Terms, q.Currency, want)
		}
	}
}

// The amount is the product over an hour, rounded up, in exact arithmetic, for all
// jobs whose CPU·ms fit 64 bits.
func TestChargeIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hour := rapid.Int64Min(1).Draw(t, "hour")
		cpus := rapid.IntRange(1, math.MaxInt32).Draw(t, "cpus")
		ert := int64(rapid.Uint64Range(1, min(math.MaxInt64, math.MaxUint64/uint64(cpus))).Draw(t, "ert"))
		q := protocol.Quote{ERT: protocol.Duration(ert)}
		localsched.Tariff{CPUHour: protocol.Micro(hour), Currency: "EUR"}.Charge(&q, cpus)
		want := new(big.Int).Mul(big.NewInt(hour), big.NewInt(int64(cpus)))
		want.Mul(want, big.NewInt(ert)).Add(want, big.NewInt(int64(protocol.Hour)-1)).Div(want, big.NewInt(int64(protocol.Hour)))
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		if got := q.Cost(); int64(got) != want.Int64() {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}

func TestChargeLeavesAlone(t *testing.T) {
	t.Parallel()
	energy := []protocol.Term{{Name: "energy", Amount: 5}}
	cases := map[string]struct {
		tariff protocol.Micro
		in     string
		quote  protocol.Quote
	}{
		"no currency":      {euro, "", protocol.Quote{ERT: 1}},
		"declined":         {euro, "EUR", protocol.Quote{Declined: "full", ERT: 1}},
		"another currency": {euro, "EUR", protocol.Quote{ERT: 1, Currency: "USD", Terms: energy}},
	}
	for name, c := range cases {
		q := c.quote
		localsched.Tariff{CPUHour: c.tariff, Currency: c.in}.Charge(&q, 1)
		if !reflect.DeepEqual(q, c.quote) {
			t.Errorf("%s: got %+v, want %+v", name, q, c.quote)
		}
	}
	q := protocol.Quote{ERT: protocol.Hour, Currency: "EUR", Terms: energy}
	localsched.Tariff{CPUHour: 7, Currency: "EUR"}.Charge(&q, 1)
	if want := protocol.Micro(12); q.Cost() != want || len(q.Terms) != 2 {
		t.Errorf("the terms are %v, want both", q.Terms)
	}
}

// planner quotes an hour for each job, or fails.
type planner struct {
	localsched.Scheduler
	err error
}

func (p planner) Quote(_ context.Context, query localsched.Query) ([]protocol.Quote, error) {
	var quotes []protocol.Quote
	for _, job := range query.Jobs {
		quotes = append(quotes, protocol.Quote{Job: job.Job, ERT: protocol.Hour})
	}
	return quotes, p.err
}

func TestChargingAddsPricesToQuotes(t *testing.T) {
	t.Parallel()
	query := localsched.Query{Jobs: []protocol.Request{{Job: 1, CPUs: 2}, {Job: 2, CPUs: 5}}}
	tariff := localsched.Tariff{CPUHour: euro, Currency: "EUR"}
	quotes, err := localsched.Charging{Scheduler: planner{}, Tariff: tariff}.Quote(t.Context(), query)
	if err != nil || len(quotes) != 2 || quotes[0].Cost() != 2*euro || quotes[1].Cost() != 5*euro {
		t.Errorf("got %+v, %v", quotes, err)
	}
	broken := errors.New("the batch system is away")
	_, err = localsched.Charging{Scheduler: planner{err: broken}, Tariff: tariff}.Quote(t.Context(), query)
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
