package batchscript

import (
	"fmt"
	"strconv"
	"strings"

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
	amount, err := parseDecimal(number)
	odd := func(r rune) bool { return r < 'A' || r > 'Z' }
	if err != nil || amount < 0 || (currency != "" && len(currency) != 3) || strings.ContainsFunc(currency, odd) {
		return Money{}, fmt.Errorf("%q is not an amount of money; write for instance 10.50 CHF, with up to six decimals", text)
	}
	return Money{Amount: protocol.Micro(amount), Currency: currency}, nil
}

// parseDecimal reads a number of units with up to six decimals, exactly, in millionths.
func parseDecimal(text string) (millionths int64, err error) {
	const decimals = 6
	whole, part, _ := strings.Cut(text, ".")
	digits := whole + part
	if whole == "" || len(part) > decimals || strings.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0, fmt.Errorf("%q is not a number with up to six decimals", text)
	}
	return strconv.ParseInt(digits+strings.Repeat("0", decimals-len(part)), 10, 64)
}

// maxQuantity is the most that a number of operations, words or messages may be.
const maxQuantity = 1 << 53

// parseQuantity reads a number as 3.2e12, in units of so many, rounded up.
func parseQuantity(text string, unit float64) (int64, error) {
	n, err := strconv.ParseFloat(text, 64)
	n /= unit
	if err != nil || strings.ContainsAny(text, "xX_") || !(n >= 0 && n <= maxQuantity) {
		return 0, fmt.Errorf("%q is not a number from 0 to %.0e; write for instance 3.2e12", text, maxQuantity*unit)
	}
	rounded := int64(n)
	if float64(rounded) < n {
		rounded++
	}
	return rounded, nil
}
