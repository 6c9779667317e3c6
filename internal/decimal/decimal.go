// Package decimal reads decimal numbers from text into integers of a fixed unit, such as millionths, and prints them,
// exactly and without floating point. It is a package of its own because configurations, batch scripts, price files and the
// reports of jobs share it.
package decimal

import (
	"errors"
	"math"
	"strconv"
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
	TowardZero                   // they are dropped
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
	if size, ok := f.plain(text); ok {
		return size, nil
	}
	value, negative, ok := f.split(text)
	if !ok {
		return 0, ErrSyntax
	}
	if negative && !f.Negative && !value.zero {
		return 0, ErrNegative
	}
	size, err := value.round(f.Rounding, f.max())
	if negative {
		size = -size
	}
	return size, err
}

// plain reads most numbers in one loop: those without a sign or an exponent that need no rounding and are too short to
// overflow. Files of prices have a million of them. Of any other text, ok is false.
func (f Form) plain(text string) (size int64, ok bool) {
	const safe = 18 // digits that an int64 always holds
	if f.Scale < 0 || len(text)+f.Scale > safe {
		return 0, false
	}
	point := len(text)
	for i, c := range []byte(text) {
		switch {
		case c >= '0' && c <= '9':
			size = size*10 + int64(c-'0')
		case c == f.point() && point == len(text):
			point = i
		default:
			return 0, false
		}
	}
	decimals := max(len(text)-point-1, 0)
	for range f.Scale - decimals {
		size *= 10
	}
	return size, decimals <= f.Scale && size <= f.max() && point+decimals > 0
}

// split reads the notation of a number; ok is false if it is not in this form.
func (f Form) split(text string) (value number, negative, ok bool) {
	digits, negative := strings.CutPrefix(text, "-")
	if f.Scientific && !negative {
		digits, _ = strings.CutPrefix(text, "+")
	}
	exponent := 0
	if f.Scientific {
		if at := strings.IndexAny(digits, "eE"); at >= 0 {
			if exponent, ok = parseExponent(digits[at+1:]); !ok {
				return number{}, false, false
			}
			digits = digits[:at]
		}
	}
	whole, zero := len(digits), true
	for i, c := range []byte(digits) {
		switch {
		case c == f.point() && whole == len(digits):
			whole = i
		case c < '0' || c > '9':
			return number{}, false, false
		case c > '0':
			zero = false
		}
	}
	part := digits[min(whole+1, len(digits)):]
	return number{digits[:whole], part, whole + exponent + f.Scale, zero}, negative, whole > 0 || part != ""
}

func (f Form) point() byte {
	if f.Comma {
		return ','
	}
	return '.'
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
	zero        bool   // it is 0
}

func allZeros(digits string) bool {
	for _, c := range []byte(digits) {
		if c != '0' {
			return false
		}
	}
	return true
}

// cut is a text before and from the i-th byte; all of it is before an i beyond its end.
func cut(text string, i int) (before, from string) {
	i = min(max(i, 0), len(text))
	return text[:i], text[i:]
}

// round is the number in whole units, at most a limit.
func (n number) round(rounding Rounding, limit int64) (int64, error) {
	whole, wholeRest := cut(n.whole, n.units)
	part, partRest := cut(n.part, n.units-len(n.whole))
	size, ok := appendDigits(0, whole, limit)
	if ok {
		size, ok = appendDigits(size, part, limit)
	}
	for range n.units - len(n.whole) - len(n.part) {
		if size == 0 || !ok {
			break
		}
		size, ok = appendDigits(size, "0", limit)
	}
	up := false
	switch rounding {
	case Nearest:
		rest := wholeRest + partRest
		up = n.units >= 0 && rest != "" && rest[0] >= '5'
	case Exact, AwayFromZero:
		up = !allZeros(wholeRest) || !allZeros(partRest)
	case TowardZero:
	}
	switch {
	case !ok:
		return 0, ErrRange
	case !up:
		return size, nil
	case rounding == Exact:
		return 0, ErrPrecision
	case size == limit:
		return 0, ErrRange
	}
	return size + 1, nil
}

// appendDigits is a number with further digits; ok is false if it would be above the limit.
func appendDigits(size int64, digits string, limit int64) (longer int64, ok bool) {
	tenth := limit / 10
	for _, c := range []byte(digits) {
		digit := int64(c - '0')
		if size > tenth || size*10 > limit-digit {
			return 0, false
		}
		size = size*10 + digit
	}
	return size, true
}

// Text prints a number that is given in units of 10^-scale, exactly: with at least this many decimals, 0 to scale, and more only as
// it needs them. With a scale of 6, -1,720,000 is "-1.72", or with at least 3 decimals "-1.720".
func Text(number int64, scale, least int) string { return string(Append(nil, number, scale, least)) }

// Append appends what [Text] prints.
func Append(b []byte, number int64, scale, least int) []byte {
	size := uint64(number) //nolint:gosec // the sign is looked at next
	if number < 0 {
		b, size = append(b, '-'), -size
	}
	for ; scale > least && size%10 == 0; scale-- {
		size /= 10
	}
	unit := uint64(1)
	for range scale {
		unit *= 10
	}
	b = strconv.AppendUint(b, size/unit, 10)
	if scale > 0 {
		b = append(b, '.')
	}
	for rest := size % unit; unit > 1; rest %= unit {
		unit /= 10
		b = append(b, "0123456789"[rest/unit])
	}
	return b
}
