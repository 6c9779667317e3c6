package config

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// millionths reads a number with up to six decimals, exactly, from 0 to a limit.
func millionths(raw any, most int64, want string) (int64, error) {
	read, err := settings.Millionths(raw, 0, most*1_000_000, want)
	if settings.OutOfBounds(err) {
		return 0, fmt.Errorf("is outside 0 to %d", most)
	}
	return read, err
}

// Factor multiplies something, in parts per million. It is written as a number with up to
// six decimals.
type Factor int //nolint:recvcheck // it is changed where it is read, and printed by value

// maxFactor is the largest that may be written.
const maxFactor = 1000

// UnmarshalTOML implements [settings.Unmarshaler].
func (f *Factor) UnmarshalTOML(raw any) error {
	read, err := millionths(raw, maxFactor, "a number, as 1.5")
	if err == nil {
		*f = Factor(read)
	}
	return err
}

// TOML implements [settings.Literal].
func (f Factor) TOML() string { return settings.Amount(f).TOML() }

// Gflops is a speed in thousands of floating point operations a second, written as a number
// of Gflop/s with up to six decimals.
type Gflops int64 //nolint:recvcheck // it is changed where it is read, and printed by value

// maxGflops is more than a CPU does.
const maxGflops = 1_000_000

// UnmarshalTOML implements [settings.Unmarshaler].
func (g *Gflops) UnmarshalTOML(raw any) error {
	read, err := millionths(raw, maxGflops, "a number of Gflop/s, as 4.8")
	if err == nil {
		*g = Gflops(read)
	}
	return err
}

// TOML implements [settings.Literal].
func (g Gflops) TOML() string { return settings.Amount(g).TOML() }

// Flops is the speed in flop/s.
func (g Gflops) Flops() int64 { return int64(g) * 1000 }

// Microseconds is a latency in picoseconds, written as a number of microseconds with up to
// six decimals.
type Microseconds int64 //nolint:recvcheck // it is changed where it is read, and printed by value

// maxMicroseconds is a minute.
const maxMicroseconds = 60_000_000

// UnmarshalTOML implements [settings.Unmarshaler].
func (m *Microseconds) UnmarshalTOML(raw any) error {
	read, err := millionths(raw, maxMicroseconds, "a number of microseconds, as 60.0")
	if err == nil {
		*m = Microseconds(read)
	}
	return err
}

// TOML implements [settings.Literal].
func (m Microseconds) TOML() string { return settings.Amount(m).TOML() }

// Nanoseconds is the latency in nanoseconds, to the nearest.
func (m Microseconds) Nanoseconds() int64 { return (int64(m) + 500) / 1000 }
