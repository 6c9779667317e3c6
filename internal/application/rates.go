package application

import (
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// MaxRates is the most rates of waiting that an application may have.
const MaxRates = 63

// maxName bounds the application's name, in bytes.
const maxName = 256

func printable(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("is not a name; write at most %d bytes of printable text", maxName)
	}
	if err := protocol.CheckText(name); err != nil {
		return fmt.Errorf("is not a name: %w", err)
	}
	return nil
}

// checkRates checks the user's own curve of waiting costs.
func (r *reader) checkRates() {
	rates := r.file.Application.Rates
	if len(rates) > 0 && r.file.Application.WaitingCost != "" {
		r.toml.Problem("application.waiting_cost", "names a curve of the site, and there are tables [[application.rate]], too; keep one of the two")
	}
	if len(rates) > MaxRates {
		r.toml.Problem("application.rate", "there are %d rates; at most %d are allowed", len(rates), MaxRates)
	}
	last := protocol.Duration(-1)
	var first *batchscript.Money // that can be read
	for i := range rates {
		row := fmt.Sprintf("application.rate[%d]", i)
		after, err := rates[i].after()
		switch {
		case err != nil:
			r.toml.Problem(row+".after", "%v", err)
		case after <= last:
			r.toml.Problem(row+".after", "comes after %s; name the rates in the order of time", settings.FormatDuration(last))
		}
		last = max(last, after)
		money, err := batchscript.ParseMoney(string(rates[i].PerHour))
		switch {
		case err != nil:
			r.toml.Problem(row+".per_hour", "%v", err)
		case first == nil:
			first = &money
		case money.Currency != first.Currency:
			r.toml.Problem(row+".per_hour", "is in %q, but the first rate is in %q; name all in one currency", money.Currency, first.Currency)
		}
	}
}

// checkMoney checks that the limit and the rates that will count are in one currency.
func (r *reader) checkMoney(options []batchscript.Setting) {
	limit := string(r.file.Application.MaxCost)
	for _, said := range options {
		switch said.Long {
		case "max-cost":
			limit = said.Value
		case "waiting-cost":
			return // beats the rates
		}
	}
	most, err := batchscript.ParseMoney(limit)
	rates, currency := r.rates()
	if err == nil && len(rates) > 0 && currency != most.Currency {
		r.toml.Problem("application.rate", "is %s, but the most that the application may cost is %s; name both in one currency",
			inCurrency(currency), inCurrency(most.Currency))
	}
}

// inCurrency says what an amount is in.
func inCurrency(name string) string {
	if name == "" {
		return "in the site's currency"
	}
	return "in " + name
}

// after is when the rate begins, from the submission on.
func (r *rate) after() (protocol.Duration, error) {
	if r.After == "" {
		return 0, errors.New(`is missing; say when the rate begins, as "0s" or "8h"`)
	}
	d, err := settings.ParseDuration(string(r.After))
	if err != nil {
		return 0, fmt.Errorf("%q %w", string(r.After), err)
	}
	return d, nil
}

// rates are the user's own curve, which has been checked, and its currency. Before the
// first rate waiting costs nothing.
func (r *reader) rates() (rates []protocol.WaitingRate, currency string) {
	for i := range r.file.Application.Rates {
		one := &r.file.Application.Rates[i]
		after, err := one.after()
		money, moneyErr := batchscript.ParseMoney(string(one.PerHour))
		if err != nil || moneyErr != nil {
			return nil, ""
		}
		if i == 0 && after > 0 {
			rates = append(rates, protocol.WaitingRate{})
		}
		rates, currency = append(rates, protocol.WaitingRate{From: after, PerHour: money.Amount}), money.Currency
	}
	return rates, currency
}
