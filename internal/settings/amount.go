package settings

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Amount is an amount of money, written as a number with up to six decimals.
type Amount protocol.Micro //nolint:recvcheck // it is changed where it is read, and printed by value

// micros is how many millionths a unit of money has.
const micros = 1_000_000

// maxAmount is the largest amount that can be written, in units.
const maxAmount = 1_000_000_000_000

// UnmarshalTOML implements [Unmarshaler]. It is exact: 0.04 is 40,000 millionths.
func (a *Amount) UnmarshalTOML(raw any) error {
	switch number := raw.(type) {
	case int64:
		if number < -maxAmount || number > maxAmount {
			return fmt.Errorf("%d is too large an amount", number)
		}
		*a = Amount(number * micros)
		return nil
	case float64:
		switch {
		case math.IsNaN(number) || math.IsInf(number, 0):
			return fmt.Errorf("%v is no number; write one in digits, as 0.04", number)
		case number < -maxAmount || number > maxAmount:
			return fmt.Errorf("%v is too large an amount", number)
		}
		parsed, err := millionths(number)
		if err == nil {
			*a = Amount(parsed)
		}
		return err
	}
	return Mismatch(raw, "an amount of money, as 0.04")
}

// TOML implements [Literal].
func (a Amount) TOML() string {
	sign, whole := "", uint64(a) //nolint:gosec // the sign is looked at next
	if a < 0 {
		sign, whole = "-", -whole
	}
	text := strings.TrimRight(fmt.Sprintf("%s%d.%06d", sign, whole/micros, whole%micros), "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return text
}

// millionths goes by the shortest decimal that is this number, which is what was
// written.
func millionths(number float64) (int64, error) {
	whole, decimals, _ := strings.Cut(strconv.FormatFloat(number, 'f', -1, 64), ".")
	if len(decimals) > 6 {
		return 0, errors.New("has more than six decimals; write fewer")
	}
	parts, err := strconv.ParseInt(whole+decimals+strings.Repeat("0", 6-len(decimals)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%v has too many digits: %w", number, err)
	}
	return parts, nil
}
