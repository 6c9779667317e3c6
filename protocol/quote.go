package protocol

import (
	"math"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
)

// Micro is an amount of money in millionths of the currency's unit.
type Micro int64

// Unit is one of the currency.
const Unit Micro = 1_000_000

// Term is one named part of a quote's price, such as "energy" or "cpu".
type Term struct {
	Name   string `json:"name"`
	Amount Micro  `json:"amount_micro"`
}

// Quote is a site's answer for one job: not binding, and made as if this job
// alone came after what is queued or reserved at the site.
type Quote struct {
	Job      JobID
	Declined string // why the site would not take the job; empty: it would

	// AWT is the approximate wait time [SS 2.1] by which policies place jobs: the plan
	// of the batch system, unless the site's wait_prediction replaces it. The three
	// that follow predict the wait from those of earlier jobs. They are of the
	// best estimate by backtest, which is another one than places best
	// (docs/reproduction.md). AWTLow ≤ AWTMedian ≤ AWTHigh, and AWTLow ≤ AWT ≤
	// AWTHigh; all three are 0 if they are not stated.
	AWT       Duration
	AWTLow    Duration // P10
	AWTMedian Duration // P50
	AWTHigh   Duration // P90

	Bound    Duration // the job starts within it with a probability of nominally 95 %; 0: not stated
	Delay    Duration // of a pending job of a local user that it would cause; not sent to other sites
	ERT      Duration // expected run time
	Terms    []Term   // price over the planned hours, in Currency
	Currency string
	Note     string // what else to know of the wait, for people: that the job waits for cheap hours
}

// ATT is the approximate turnaround time of [SS 2.1.1]: AWT + ERT, [Never] when
// the quote is declined.
func (q Quote) ATT() Duration {
	if q.Declined != "" {
		return Never
	}
	return q.AWT.Plus(q.ERT)
}

// Cost is the sum of the quote's terms, in its Currency, within what a [Micro]
// holds; 0 when it is declined.
func (q Quote) Cost() (sum Micro) {
	if q.Declined != "" {
		return 0
	}
	for _, term := range q.Terms {
		sum = sum.Plus(term.Amount)
	}
	return sum
}

// Plus adds two amounts. What would overflow stays at the largest or least one.
func (m Micro) Plus(n Micro) Micro {
	switch sum := m + n; {
	case m > 0 && n > 0 && sum < 0:
		return math.MaxInt64
	case m < 0 && n < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

// Text prints the amount with all its decimals, and two at least.
func (m Micro) Text() string { return decimal.Text(int64(m), 6, 2) }

// TextIn prints the amount as [Micro.Text] does, with its currency if it is named.
func (m Micro) TextIn(currency string) string {
	if currency == "" {
		return m.Text()
	}
	return m.Text() + " " + currency
}

// EnergyPricing is a way to work out the energy term of a quote.
type EnergyPricing string

// The reckonings. A site that does not know one uses the first.
const (
	Hourly   EnergyPricing = ""         // the hourly prices from the planned start on
	AtOnce   EnergyPricing = "now"      // as if the job started at once: INST of [MC 5]
	TwoPrice EnergyPricing = "twoprice" // two prices a day, on-peak and off-peak: TWOPRICE of [MC 5]
)
