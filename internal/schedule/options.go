package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/budget"
	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rates are what jobs draw, as options of these names say it.
type Rates struct {
	Name, Text     string // a number as 25.5, or a range as 20-33: kW of a rack, or W of a CPU
	IdleName, Idle string // of what a job holds and does not use
	CPUs           int64  // of a rack; 1: the numbers are of a CPU
}

// ReadRates sets what jobs draw.
func (p *Power) ReadRates(r Rates) error {
	low, high, ranged := strings.Cut(r.Text, "-")
	if !ranged {
		high = low
	}
	var numbers [3]int64
	for i, one := range [3]string{low, high, r.Idle} {
		var ok bool
		if numbers[i], ok = Thousandths(one); !ok {
			return fmt.Errorf("--%s %s: write a number as 25.5, or a range as 20-33", [3]string{r.Name, r.Name, r.IdleName}[i], one)
		}
	}
	if numbers[0] < 1 || numbers[1] < numbers[0] {
		return fmt.Errorf("--%s %s: a range begins above 0 and does not end before that", r.Name, r.Text)
	}
	if numbers[2] > numbers[0] {
		return fmt.Errorf("--%s %s: what is held idle draws at most as much as what works, --%s %s", r.IdleName, r.Idle, r.Name, r.Text)
	}
	// A thousandth of a kilowatt is a million microwatts, one of a watt a thousand.
	unit := int64(1_000_000)
	if r.CPUs == 1 {
		unit = 1000
	}
	p.Jobs = workload.PowerRange{Low: int(numbers[0]), High: int(numbers[1])}
	p.Rates = power.Rates{Busy: numbers[1] * unit / r.CPUs, Idle: numbers[2] * unit / r.CPUs}
	return nil
}

// Thousandths reads a number from 0 to a million with up to three decimals. It returns false
// if the text is no such number.
func Thousandths(text string) (number int64, ok bool) {
	form := decimal.Form{Scale: 3, Max: 1_000_000_000, Scientific: true}
	number, err := form.Parse(text)
	return number, err == nil
}

// Clock says when it is on-peak.
type Clock struct {
	Hours budget.Hours
	Zone  *time.Location // of the clock that shows them; nil: the trace's
	Start string         // what it shows at the trace's beginning; empty: what the trace's header tells
}

// Peak is when it is on-peak in the time of a trace with this header. When the trace begins must
// be known if energy has a ratio of prices.
func (c *Clock) Peak(header workload.Header, ratio protocol.Micro) (experiment.Peak, error) {
	peak := experiment.Peak{Hours: c.Hours, Zone: c.Zone}
	if peak.Zone == nil {
		peak.Zone = experiment.TraceZone(header)
	}
	if c.Start != "" {
		begin, err := experiment.ClockTime(c.Start, peak.Zone)
		if err != nil {
			return peak, fmt.Errorf("--start: %w", err)
		}
		peak.Begin = begin
		return peak, nil
	}
	begin, known := experiment.TraceBegin(header)
	if !known && ratio != protocol.Unit {
		return peak, errors.New("the trace does not tell when it begins (UnixStartTime); say with --start what the clock showed then")
	}
	peak.Begin = begin
	return peak, nil
}
