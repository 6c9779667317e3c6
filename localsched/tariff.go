package localsched

import (
	"context"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tariff is what a site charges for the use of its machine.
type Tariff struct {
	CPUHour  protocol.Micro // of one CPU for one hour
	Currency string         // such as "EUR"; empty: the site charges nothing
}

// CPUTerm is the name of the term that a [Tariff] adds to quotes.
const CPUTerm = "cpu"

// Charge adds to a quote what the job costs over its expected run time, rounded
// up. A quote that is declined, or in another currency, stays as it is.
func (t Tariff) Charge(q *protocol.Quote, cpus int) {
	if t.Currency == "" || q.Declined != "" || (q.Currency != "" && q.Currency != t.Currency) {
		return
	}
	q.Currency = t.Currency
	q.Terms = append(q.Terms, protocol.Term{Name: CPUTerm, Amount: t.price(cpus, q.ERT)})
}

// price is CPUHour · cpus · d, at most the largest amount.
func (t Tariff) price(cpus int, d protocol.Duration) protocol.Micro {
	if t.CPUHour <= 0 || cpus <= 0 || d <= 0 {
		return 0
	}
	return protocol.Micro(int128.Product(int64(cpus), int64(d)).Times(int64(t.CPUHour)).Up(int64(protocol.Hour)))
}

// Charging is a scheduler whose quotes carry prices. [WithTariff] makes one that can hold room
// as well.
type Charging struct {
	Scheduler
	Tariff Tariff
}

// WithTariff has a scheduler's quotes carry prices. What comes of it is a [Reserver] exactly if
// the scheduler is one.
func WithTariff(s Scheduler, t Tariff) Scheduler {
	charging := Charging{Scheduler: s, Tariff: t}
	if reserver, ok := s.(Reserver); ok {
		return chargingReserver{charging, reserver}
	}
	return charging
}

type chargingReserver struct {
	Charging
	Reserver
}

// PlannedStarts implements [StartPlanner].
func (c Charging) PlannedStarts(ctx context.Context, tags []protocol.Tag) ([]PlannedStart, error) {
	return PlannedStarts(ctx, c.Scheduler, tags)
}

// SetPriorities implements [Prioritizer].
func (c Charging) SetPriorities(ctx context.Context, priorities []Priority) error {
	return SetPriorities(ctx, c.Scheduler, priorities)
}

// Quote implements [Planner].
func (c Charging) Quote(ctx context.Context, query Query) ([]protocol.Quote, error) {
	quotes, err := c.Scheduler.Quote(ctx, query)
	if err != nil {
		return nil, err
	}
	for i := range min(len(quotes), len(query.Jobs)) {
		c.Tariff.Charge(&quotes[i], query.Jobs[i].CPUs)
	}
	return quotes, nil
}
