package settings

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
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
	read, err := Millionths(raw, -maxAmount*micros, maxAmount*micros, "an amount of money, as 0.04")
	switch {
	case errors.Is(err, decimal.ErrSyntax):
		return fmt.Errorf("%v is no number; write one in digits, as 0.04", raw)
	case errors.Is(err, decimal.ErrRange):
		return fmt.Errorf("%v is too large an amount", raw)
	case err == nil:
		*a = Amount(read)
	}
	return err
}

// TOML implements [Literal].
func (a Amount) TOML() string { return decimal.Text(int64(a), 6, 1) }

// Millionths reads a number with up to six decimals and these bounds in millionths, exactly as it is written: a
// floating-point number is read from the shortest decimal that stands for it. [OutOfBounds] recognizes the error of a
// number outside the bounds.
func Millionths(raw any, least, most int64, want string) (int64, error) {
	var text string
	switch number := raw.(type) {
	case int64:
		text = strconv.FormatInt(number, 10)
	case float64:
		text = strconv.FormatFloat(number, 'f', -1, 64)
	default:
		return 0, Mismatch(raw, want)
	}
	form := decimal.Form{Scale: 6, Max: max(-least, most), Negative: least < 0}
	read, err := form.Parse(text)
	switch {
	case errors.Is(err, decimal.ErrPrecision):
		return 0, errors.New("has more than six decimals; write fewer")
	case err == nil && (read < least || read > most):
		return 0, decimal.ErrRange
	}
	return read, err
}
