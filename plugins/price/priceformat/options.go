package priceformat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Options say of a file what it does not say itself, and what is taken as right.
type Options struct {
	// Zone is that of the clock in Hourly and Nordpool. With CSV and ENTSOE, which have
	// times of their own, it is checked that these fit it; nil: nothing is checked.
	Zone *time.Location
	// Start is what the clock showed at the beginning of the first price; for Hourly. It
	// is a bare clock reading, as [ParseClock] returns.
	Start time.Time
	// ByClock says that each day of an Hourly file has 24 lines, those of the clock changes
	// too: the hour that is skipped in spring repeats the one before it or is empty, and
	// what happens twice in autumn has one price. Else a line is an hour that passes.
	ByClock bool
	// Area is that of Hourly, and of CSV that has no column area.
	Area string
	// Currency is that of files that name none; those that name one must agree.
	Currency string
	// PerMWh says that the prices are per MWh, for files that do not say so. Without it, a
	// curve that stays within ±1, and is above 0 for a day or more, is taken for one per
	// kWh, and refused.
	PerMWh bool
	// Slot is how long a price of Hourly holds, or of CSV without the column end; 0: an
	// hour.
	Slot protocol.Duration
	// Gaps says that hours without a price are in order.
	Gaps bool
	// MaxPrice is the largest price per MWh, and, below 0, the least, that is believed;
	// 0: [DefaultMaxPrice].
	MaxPrice protocol.Micro
	// Sequence is the auction whose prices are read where ENTSOE has several for the same
	// hours (classificationSequence…position); 0: there is one only.
	Sequence int
	// Rename gives areas other names.
	Rename map[string]string
	// Areas are those that are read, by their names in the result. Others are not
	// looked at: what is wrong with them is no mistake. Empty: all are read.
	Areas []string
}

// unit is a unit of money in millionths.
const unit protocol.Micro = 1_000_000

const (
	// DefaultMaxPrice bounds prices where nothing else is said. No European day-ahead
	// auction has allowed as much; currencies of small units need another bound.
	DefaultMaxPrice = 10_000 * unit
	// MaxPriceLimit is the highest bound that may be set.
	MaxPriceLimit = 1_000_000 * unit

	maxAreaName = 64 // bytes; as protocol.MaxName
)

// Fault is what is wrong with an option.
type Fault struct {
	Option string // as a key of the configuration, such as "max_price"
	Text   string
}

// Faults says what is wrong with the options for a format, if anything.
func (o *Options) Faults(format Format) (faults []Fault) {
	find := func(option string, wrong bool, text string, args ...any) {
		if wrong {
			faults = append(faults, Fault{option, fmt.Sprintf(text, args...)})
		}
	}
	if !slices.Contains(Formats(), string(format)) {
		find("format", true, "%q is unknown; use one of %s", format, strings.Join(Formats(), ", "))
		return faults
	}
	for _, rule := range o.rules() {
		find(rule.option, rule.set && !slices.Contains(rule.may, format), "has no use with format %q; leave it out", format)
		find(rule.option, !rule.set && slices.Contains(rule.must, format), "is missing; %s", rule.remedy)
	}
	if o.Area != "" {
		if err := CheckArea(o.Area); err != nil {
			find("area", true, "%v", err)
		}
	}
	for _, from := range sortedKeys(o.Rename) {
		if err := CheckArea(o.Rename[from]); err != nil {
			find("rename", true, "%v", err)
		}
	}
	find("currency", o.Currency != "" && !IsCurrency(o.Currency), "invalid currency %q; use three capital letters, such as \"EUR\"", o.Currency)
	find("slot", !lengthFits(o.slot()), "is %v; use a multiple of %v up to %v", o.slot(), price.Resolution, price.MaxSlot)
	find("hours", o.ByClock && o.slot() != protocol.Hour, "counts hours of the clock, so slot must be an hour")
	find("max_price", o.MaxPrice < 0 || o.MaxPrice > MaxPriceLimit, "is outside 0 to %s", MaxPriceLimit.Text())
	find("sequence", o.Sequence < 0, "is %d; use 1 or more", o.Sequence)
	if !o.Start.IsZero() && o.Zone != nil {
		find("start", len(instants(o.Start, o.Zone)) == 0, "%s does not exist in %s: the clock was put forward then",
			o.Start.Format(clockForm), o.Zone)
	}
	return faults
}

// rule says which formats may have an option, and which must.
type rule struct {
	option    string
	set       bool
	may, must []Format
	remedy    string
}

func (o *Options) rules() []rule {
	all := []Format{CSV, Hourly, Nordpool, ENTSOE}
	return []rule{
		{"zone", o.Zone != nil, all, []Format{Hourly, Nordpool}, `name the time zone of the file's clock, as "Europe/Oslo"`},
		{"start", !o.Start.IsZero(), []Format{Hourly}, []Format{Hourly}, `say when the first price begins, as "2026-01-01 00:00"`},
		{"hours", o.ByClock, []Format{Hourly}, nil, ""},
		{"area", o.Area != "", []Format{CSV, Hourly}, []Format{Hourly}, "name the price area of the file"},
		{"currency", o.Currency != "", all, []Format{Hourly, Nordpool}, `name the currency of the prices, as "EUR"`},
		{"unit", o.PerMWh, []Format{CSV, Hourly}, nil, ""},
		{"slot", o.Slot != 0, []Format{CSV, Hourly}, nil, ""},
		{"sequence", o.Sequence != 0, []Format{ENTSOE}, nil, ""},
	}
}

func (o *Options) slot() protocol.Duration {
	if o.Slot == 0 {
		return protocol.Hour
	}
	return o.Slot
}

func (o *Options) maxPrice() protocol.Micro {
	if o.MaxPrice == 0 {
		return DefaultMaxPrice
	}
	return o.MaxPrice
}

// lengthFits says whether a slot may last so long.
func lengthFits(d protocol.Duration) bool {
	return d > 0 && d <= price.MaxSlot && d%price.Resolution == 0
}

// IsCurrency says whether a text is three capital letters, as of ISO 4217.
func IsCurrency(text string) bool {
	return len(text) == 3 && !strings.ContainsFunc(text, func(c rune) bool { return c < 'A' || c > 'Z' })
}

// CheckArea says what is wrong with the name of an area, if anything.
func CheckArea(name string) error {
	switch {
	case name == "":
		return errors.New("an area has no name")
	case len(name) > maxAreaName:
		return fmt.Errorf("the area %.80q has more than %d bytes", name, maxAreaName)
	case strings.ContainsFunc(name, notInArea):
		return fmt.Errorf("the area %q has characters that do not print, or a comma", name)
	}
	return nil
}
