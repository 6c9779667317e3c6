package feeds

import (
	"fmt"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/plugins/price/contract"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
)

// Zone is a time zone, written by its name in the IANA database.
type Zone struct{ Location *time.Location }

// ParseZone finds a time zone by its name. That of the machine, "Local", is none: the
// same file must mean the same everywhere.
func ParseZone(name string) (Zone, error) {
	location, err := time.LoadLocation(name)
	if err != nil || name == "" || location == time.Local {
		return Zone{}, fmt.Errorf("invalid time zone %q; use a name such as \"Europe/Oslo\" or \"UTC\"", name)
	}
	return Zone{location}, nil
}

// UnmarshalTOML implements [settings.Unmarshaler].
func (z *Zone) UnmarshalTOML(raw any) error {
	return parse(z, raw, `the name of a time zone, as "Europe/Oslo"`, ParseZone)
}

// Clock is what a clock shows, whatever its zone.
type Clock struct{ Reading time.Time }

// ParseClock reads a date and time as [priceformat.ParseClock] does.
func ParseClock(text string) (Clock, error) {
	reading, err := priceformat.ParseClock(text)
	return Clock{reading}, err
}

// UnmarshalTOML implements [settings.Unmarshaler].
func (c *Clock) UnmarshalTOML(raw any) error {
	return parse(c, raw, `a date and time in quotes, as "2026-01-31 00:00"`, ParseClock)
}

type months struct{ set contract.Set }

// UnmarshalTOML implements [settings.Unmarshaler].
func (m *months) UnmarshalTOML(raw any) error {
	return parse(m, raw, `months, as "oct-mar"`, func(text string) (months, error) {
		set, err := contract.ParseMonths(text)
		return months{set}, err
	})
}

type days struct{ set contract.Set }

// UnmarshalTOML implements [settings.Unmarshaler].
func (d *days) UnmarshalTOML(raw any) error {
	return parse(d, raw, `weekdays, as "mon-fri"`, func(text string) (days, error) {
		set, err := contract.ParseDays(text)
		return days{set}, err
	})
}

type hours struct{ spans []contract.Span }

// UnmarshalTOML implements [settings.Unmarshaler].
func (h *hours) UnmarshalTOML(raw any) error {
	return parse(h, raw, `times of the day, as "06:00-22:00"`, func(text string) (hours, error) {
		spans, err := contract.ParseHours(text)
		return hours{spans}, err
	})
}

// parse reads a value that is written as a text.
func parse[T any](into *T, raw any, want string, read func(string) (T, error)) error {
	text, ok := raw.(string)
	if !ok {
		return settings.Mismatch(raw, want)
	}
	value, err := read(text)
	if err == nil {
		*into = value
	}
	return err
}

// checkSurcharge checks the keys of what is paid above the price of the energy, which
// both feeds have.
func checkSurcharge(r *settings.Reader, fee, tax settings.Amount) {
	if most := settings.Amount(priceformat.MaxPriceLimit); fee < -most || fee > most {
		r.Problem("grid_fee", "is outside ±%s per MWh", priceformat.MaxPriceLimit.Text())
	}
	if tax < 0 || contract.Percent(tax) > contract.MaxTax {
		r.Problem("tax", "is outside 0 to %d percent", contract.MaxTax/1_000_000)
	}
}
