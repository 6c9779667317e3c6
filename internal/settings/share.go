package settings

import (
	"errors"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
)

// Share is a part of a whole in parts per million, written as a number from 0 to
// 1 with up to six decimals.
type Share int //nolint:recvcheck // it is changed where it is read, and printed by value

// Whole is the share of everything.
const Whole Share = 1_000_000

// UnmarshalTOML implements [Unmarshaler]. It is exact: 0.7 is 700,000.
func (s *Share) UnmarshalTOML(raw any) error {
	read, err := Millionths(raw, 0, int64(Whole), "a number from 0 to 1, as 0.7")
	if OutOfBounds(err) {
		return fmt.Errorf("%v is outside 0 to 1", raw)
	}
	if err == nil {
		*s = Share(read)
	}
	return err
}

// OutOfBounds reports whether the error of [Millionths] says that a number is below 0, too large, infinite or NaN.
func OutOfBounds(err error) bool {
	return errors.Is(err, decimal.ErrNegative) || errors.Is(err, decimal.ErrRange) || errors.Is(err, decimal.ErrSyntax)
}

// TOML implements [Literal].
func (s Share) TOML() string { return decimal.Text(int64(s), 6, 1) }
