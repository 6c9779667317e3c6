package batchscript

import (
	"fmt"
	"math"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Money is an amount in a currency.
type Money struct {
	Amount   protocol.Micro
	Currency string // empty: the site's own
}

// ParseMoney reads an amount that is not negative, with up to six decimals, and maybe a
// currency: "10.50 CHF".
func ParseMoney(text string) (Money, error) {
	number, currency := text, ""
	if end := strings.IndexFunc(text, func(r rune) bool { return r >= 'A' && r <= 'Z' }); end >= 0 {
		number, currency = strings.TrimRight(text[:end], " "), text[end:]
	}
	amount, err := decimal.Millionths(0).Parse(number)
	invalid := func(r rune) bool { return r < 'A' || r > 'Z' }
	if err != nil || (currency != "" && len(currency) != 3) || strings.ContainsFunc(currency, invalid) {
		return Money{}, fmt.Errorf("%q is not an amount of money; write for instance 10.50 CHF, with up to six decimals", text)
	}
	return Money{Amount: protocol.Micro(amount), Currency: currency}, nil
}

// maxQuantity is the most that a number of operations, words or messages may be.
const maxQuantity = 1 << 53

// parseQuantity reads a number as 3.2e12, in units of a power of ten, rounded up.
func parseQuantity(text string, power int) (int64, error) {
	form := decimal.Form{Scale: -power, Max: maxQuantity, Scientific: true, Rounding: decimal.AwayFromZero}
	read, err := form.Parse(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number from 0 to %.0e; write for instance 3.2e12", text, maxQuantity*math.Pow10(power))
	}
	return read, nil
}
