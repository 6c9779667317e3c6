// Package decimal reads decimal numbers from text into integers of a fixed unit, such as millionths, exactly and
// without floating point. It is a package of its own because configurations, batch scripts, price files and the
// reports of jobs share it.
package decimal

import (
	"errors"
	"math"
	"strings"
)

// The errors of [Form.Parse]. Callers put the text and an example of a valid one beside them.
var (
	ErrEmpty     = errors.New("is empty")
	ErrSyntax    = errors.New("is not a decimal number")
	ErrNegative  = errors.New("is negative")
	ErrRange     = errors.New("is out of range")
	ErrPrecision = errors.New("has too many decimals")
)

// Rounding says what happens to decimals that the unit cannot hold.
type Rounding int

// The kinds of rounding. Zeros at the end of a number are never too many decimals.
const (
	Exact        Rounding = iota // they are an error
	Nearest                      // to the nearest integer, halves away from zero
	AwayFromZero                 // to the next integer away from zero
)

// Form is a form in which decimal numbers are written, and the unit in which they are read.
//
// A number has digits with at most one decimal point before, between or after them. A minus sign may precede it.
type Form struct {
	Scale int   // the unit is 10^-Scale: 6 reads "1.5" as 1,500,000 millionths, -6 reads "3e6" as 3 millions
	Max   int64 // the largest absolute value, in the unit; 0: the largest int64

	// Negative allows numbers below 0. Without it, "-0" is still 0.
	Negative bool
	// Scientific allows a plus sign and an exponent, as in "+3.2e12".
	Scientific bool
	// Comma is for files that have a decimal comma instead of the point.
	Comma    bool
	Rounding Rounding
}

// Millionths is the form of numbers from 0 with up to six decimals. The largest is given in millionths, as in [Form].
func Millionths(most int64) Form { return Form{Scale: 6, Max: most} }

// Parse reads a number. The error is one of this package's. A number whose notation is wrong is never reported as
// negative, too large or too precise.
func (f Form) Parse(text string) (int64, error) {
	if text == "" {
		return 0, ErrEmpty
	}
	value, negative, ok := f.split(text)
	if !ok {
		return 0, ErrSyntax
	}
	if negative && !f.Negative && !value.zero() {
		return 0, ErrNegative
	}
	size, err := value.round(f.Rounding, f.max())
	if negative {
		size = -size
	}
	return size, err
}

// split reads the notation of a number; ok is false if it is not in this form.
func (f Form) split(text string) (value number, negative, ok bool) {
	digits, negative := strings.CutPrefix(text, "-")
	if f.Scientific && !negative {
		digits, _ = strings.CutPrefix(text, "+")
	}
	exponent := 0
	if at := strings.IndexAny(digits, "eE"); f.Scientific && at >= 0 {
		if exponent, ok = parseExponent(digits[at+1:]); !ok {
			return number{}, false, false
		}
		digits = digits[:at]
	}
	point := "."
	if f.Comma {
		point = ","
	}
	whole, part, _ := strings.Cut(digits, point)
	ok = onlyDigits(whole) && onlyDigits(part) && (whole != "" || part != "")
	return number{whole, part, len(whole) + exponent + f.Scale}, negative, ok
}

func (f Form) max() int64 {
	if f.Max == 0 {
		return math.MaxInt64
	}
	return f.Max
}

// maxExponent is where exponents are cut: no text has as many digits, and so a larger exponent changes nothing.
const maxExponent = 1 << 40

func parseExponent(text string) (exponent int, ok bool) {
	digits, negative := strings.CutPrefix(text, "-")
	if !negative {
		digits, _ = strings.CutPrefix(text, "+")
	}
	for _, c := range []byte(digits) {
		exponent = min(exponent*10+int(c-'0'), maxExponent)
	}
	if negative {
		exponent = -exponent
	}
	return exponent, digits != "" && onlyDigits(digits)
}

func onlyDigits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// number is an unsigned decimal number.
type number struct {
	whole, part string // its digits
	units       int    // how many of the digits count whole units; it may be negative, or more than there are
}

func (n number) len() int { return len(n.whole) + len(n.part) }

// digit is the i-th digit; all beyond the last are 0.
func (n number) digit(i int) int64 {
	switch {
	case i < len(n.whole):
		return int64(n.whole[i] - '0')
	case i < n.len():
		return int64(n.part[i-len(n.whole)] - '0')
	}
	return 0
}

func (n number) zero() bool {
	return strings.Trim(n.whole, "0") == "" && strings.Trim(n.part, "0") == ""
}

// round is the number in whole units, at most a limit.
func (n number) round(rounding Rounding, limit int64) (int64, error) {
	if n.zero() {
		return 0, nil
	}
	var size int64
	for i := range max(n.units, 0) {
		digit := n.digit(i)
		if size > limit/10 || size*10 > limit-digit {
			return 0, ErrRange
		}
		size = size*10 + digit
	}
	up := false
	switch rounding {
	case Nearest:
		up = n.units >= 0 && n.digit(n.units) >= 5
	case Exact, AwayFromZero:
		for i := max(n.units, 0); i < n.len() && !up; i++ {
			up = n.digit(i) > 0
		}
	}
	switch {
	case !up:
		return size, nil
	case rounding == Exact:
		return 0, ErrPrecision
	case size == limit:
		return 0, ErrRange
	}
	return size + 1, nil
}
