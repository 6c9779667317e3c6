package settings

import (
	"fmt"
	"strings"
)

// Share is a part of a whole in parts per million, written as a number from 0 to
// 1 with up to six decimals.
type Share int //nolint:recvcheck // it is changed where it is read, and printed by value

// Whole is the share of everything.
const Whole Share = 1_000_000

// UnmarshalTOML implements [Unmarshaler]. It is exact: 0.7 is 700,000.
func (s *Share) UnmarshalTOML(raw any) error {
	switch number := raw.(type) {
	case int64:
		if number < 0 || number > 1 {
			return fmt.Errorf("%d is outside 0 to 1", number)
		}
		*s = Share(number) * Whole
		return nil
	case float64:
		parsed, err := parseShare(number)
		if err == nil {
			*s = parsed
		}
		return err
	}
	return Mismatch(raw, "a number from 0 to 1, as 0.7")
}

func parseShare(number float64) (Share, error) {
	if !(number >= 0 && number <= 1) {
		return 0, fmt.Errorf("%v is outside 0 to 1", number)
	}
	parts, err := millionths(number)
	return Share(parts), err
}

// TOML implements [Literal].
func (s Share) TOML() string {
	text := strings.TrimRight(fmt.Sprintf("%d.%06d", s/Whole, s%Whole), "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return text
}
