package protocol

// Tariff is what a site charges for one job. The one active when the job is granted holds
// for its whole run, so that both sites can work out the same bill. A Tariff is never changed
// once made.
type Tariff struct {
	Currency string   `json:"currency"`
	Charges  []Charge `json:"charges"`
}

// Units in which electricity is priced.
const (
	Megawatt     = 1_000_000_000        // a MW, in milliwatts
	MegawattHour = Megawatt * 3_600_000 // a MWh, in milliwatts times milliseconds
)

// Charge is one part of a [Tariff]: Once, and Units / Per times the price of the hours in which
// the job runs.
type Charge struct {
	Name  string      `json:"name"`                 // of the term of the bill that it belongs to
	Once  Micro       `json:"once_micro,omitempty"` // however long the job runs
	Units int64       `json:"units,omitempty"`      // that the job uses: CPUs, milliwatts
	Per   int64       `json:"per,omitempty"`        // the number of units that Steps' prices are for; at least 1 where there are Steps
	Steps []PriceStep `json:"steps,omitempty"`      // by time
}

// PriceStep is the price of an hour from an instant on until the next step. The first one
// holds before it, too, and the last one for ever.
type PriceStep struct {
	From    Instant `json:"from_ms"`
	PerHour Micro   `json:"per_hour_micro"`
}

// MaxSteps bounds the steps of a [Charge].
const MaxSteps = 512

// Bill is what a job cost as it ran, by its [Tariff].
type Bill struct {
	Start    Instant `json:"start_ms"` // of the run, by the clock of the site that ran it
	Currency string  `json:"currency"`
	Terms    []Term  `json:"terms"`
}

// Cost is the sum of the bill's terms, within what a [Micro] holds; 0 without a bill.
func (b *Bill) Cost() (sum Micro) {
	if b == nil {
		return 0
	}
	for _, term := range b.Terms {
		sum = sum.Plus(term.Amount)
	}
	return sum
}
