package priceformat

import (
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// maxWhole bounds the whole part of a number, in units: far above every price, and far
// below what a [protocol.Micro] holds.
const maxWhole = 1_000_000_000_000

// parseMicro reads a decimal number as millionths, with this character before the
// decimals. The seventh decimal rounds, half away from zero. Exponents and separators
// of thousands are refused.
func parseMicro(text string, point byte) (amount protocol.Micro, ok bool) {
	digits, minus := strings.CutPrefix(text, "-")
	whole, decimals, pointed := strings.Cut(digits, string(point))
	if !allDigits(whole) || pointed && !allDigits(decimals) {
		return 0, false
	}
	for _, c := range []byte(whole) {
		if amount = amount*10 + protocol.Micro(c-'0'); amount > maxWhole {
			return 0, false
		}
	}
	for place := range 6 {
		amount *= 10
		if place < len(decimals) {
			amount += protocol.Micro(decimals[place] - '0')
		}
	}
	if len(decimals) > 6 && decimals[6] >= '5' {
		amount++
	}
	if minus {
		amount = -amount
	}
	return amount, true
}

// allDigits says whether a text is one or more digits.
func allDigits(text string) bool {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}

// FormatMicro prints millionths as a decimal number, with no more decimals than it
// needs: "-1.72".
func FormatMicro(amount protocol.Micro) string { return string(appendMicro(nil, amount)) }

func appendMicro(b []byte, amount protocol.Micro) []byte {
	size := uint64(amount) //nolint:gosec // the sign is looked at next
	if amount < 0 {
		b, size = append(b, '-'), -size
	}
	const whole = uint64(unit)
	b = strconv.AppendUint(b, size/whole, 10)
	decimals := size % whole
	if decimals == 0 {
		return b
	}
	b = append(b, '.')
	for digit := whole / 10; decimals > 0; digit /= 10 {
		b = append(b, "0123456789"[decimals/digit])
		decimals %= digit
	}
	return b
}
