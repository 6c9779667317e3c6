package workload

import (
	"fmt"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/problems"
)

// swfKind is how the number of a field is read.
type swfKind int

const (
	swfWhole   swfKind = iota // a whole number
	swfCPUs                   // a whole number of CPUs
	swfSeconds                // seconds, perhaps with a fraction; read as milliseconds
	swfKB                     // kilobytes; a fraction is rounded away
)

const (
	swfMaxWhole   = 1 << 53        // what tools that compute in floating point keep exactly
	swfMaxCPUs    = 1<<31 - 1      // more than any machine has
	swfMaxSeconds = 10_000_000_000 // three centuries: sums of times stay far inside 64 bits
)

// swfBlank tells a separator of fields.
func swfBlank(c byte) bool { return c == ' ' || c == '\t' }

// swfPlain reads at line[i:] what nearly all fields hold, −1 or a whole number
// of at most nine digits (so it is within the bounds of every kind), and
// returns the index behind it; −1 if something else stands there.
func swfPlain(line []byte, i int) (value int64, next int) {
	start := i
	for i < len(line) && line[i]-'0' <= 9 {
		value = value*10 + int64(line[i]-'0')
		i++
	}
	switch {
	case i == start:
		if i+1 >= len(line) || line[i] != '-' || line[i+1] != '1' {
			return 0, -1
		}
		value, i = Unknown, i+2
	case i-start > 9:
		return 0, -1
	}
	if i < len(line) && !swfBlank(line[i]) {
		return 0, -1
	}
	return value, i
}

// swfNumber reads a number of any form. A number below zero is [Unknown]; it
// tells whether it was another one than −1. The problem is empty or says what
// is wrong.
func swfNumber(token []byte, kind swfKind) (value int64, negative bool, problem string) {
	d, ok := swfSplit(token)
	switch {
	case !ok:
		return 0, false, problems.Quote(token) + " is not a number"
	case d.units > swfLimit(kind):
		return 0, false, fmt.Sprintf("%s is too large: at most %d", problems.Quote(token), swfLimit(kind))
	case kind != swfSeconds && kind != swfKB && d.fraction:
		return 0, false, problems.Quote(token) + " is not a whole number"
	}
	value = d.units
	switch kind {
	case swfSeconds:
		value = d.units*1000 + d.milli
	case swfKB:
		value += (d.milli + 500) / 1000
	case swfWhole, swfCPUs:
	}
	if d.minus && (d.units > 0 || d.fraction) {
		return Unknown, d.units != 1 || d.fraction, ""
	}
	return value, false, ""
}

func swfLimit(kind swfKind) int64 {
	switch kind {
	case swfCPUs:
		return swfMaxCPUs
	case swfSeconds:
		return swfMaxSeconds
	case swfWhole, swfKB:
	}
	return swfMaxWhole
}

// swfDecimal is a decimal number in parts. It is read digit by digit, since whole traces have
// times with fractions: reading them by strconv made a log a quarter slower to read.
type swfDecimal struct {
	minus    bool
	units    int64
	milli    int64 // thousandths, rounded; 1000 at most
	fraction bool  // there is one, and not of zeros only
}

func swfSplit(token []byte) (d swfDecimal, ok bool) {
	if len(token) > 0 && token[0] == '-' {
		d.minus, token = true, token[1:]
	}
	digits, decimals, point := 0, 0, false
	for _, c := range token {
		switch {
		case c == '.' && !point:
			point = true
		case c < '0' || c > '9':
			return d, false
		case !point:
			digits++
			// Numbers beyond every limit stay there and do not wrap.
			d.units = min(d.units*10+int64(c-'0'), swfMaxWhole+1)
		default:
			decimals++
			d.fraction = d.fraction || c != '0'
			d.milli += swfThousandths(decimals, c)
		}
	}
	return d, digits+decimals > 0
}

// swfThousandths is what a digit behind the point adds; the fourth rounds.
func swfThousandths(place int, c byte) int64 {
	digit := int64(c - '0')
	switch place {
	case 1:
		return digit * 100
	case 2:
		return digit * 10
	case 3:
		return digit
	case 4:
		return digit / 5
	}
	return 0
}

// swfAppendSeconds writes milliseconds as seconds, with a fraction only where
// there is one.
func swfAppendSeconds(b []byte, ms int64) []byte {
	if ms < 0 {
		return append(b, "-1"...)
	}
	b = strconv.AppendInt(b, ms/1000, 10)
	rest := ms % 1000
	if rest == 0 {
		return b
	}
	b = append(b, '.', byte('0'+rest/100))
	if rest%100 == 0 {
		return b
	}
	b = append(b, byte('0'+rest/10%10))
	if rest%10 == 0 {
		return b
	}
	return append(b, byte('0'+rest%10))
}

// swfAppendWhole writes a whole number, and anything below zero as unknown.
func swfAppendWhole(b []byte, n int64) []byte { return strconv.AppendInt(b, max(n, Unknown), 10) }
