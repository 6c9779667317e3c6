package priceformat

import (
	"strconv"

	"github.com/switchyard-hpc/switchyard/protocol"
)

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
