package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/quantity"
	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// Megabytes is an amount of memory; 1 GB is 1024 MB.
type Megabytes int64 //nolint:recvcheck // it is changed where it is read, and printed by value

// sizes is the form of the configuration's sizes.
func sizes() quantity.Size {
	return quantity.Size{Units: quantity.Binary, In: quantity.Mega, Max: 1 << 50}
}

// UnmarshalTOML reads "512MB", "4GB", "2TB", or a number of megabytes. It
// implements [settings.Unmarshaler].
func (m *Megabytes) UnmarshalTOML(raw any) error {
	switch raw := raw.(type) {
	case int64:
		if raw < 0 {
			return errors.New("is negative; sizes are 0 or more")
		}
		if most := sizes().Max; raw > most {
			return fmt.Errorf("is more than %s; write less", sizes().Text(most))
		}
		*m = Megabytes(raw)
		return nil
	case string:
		mb, err := sizes().Parse(raw)
		if err == nil {
			*m = Megabytes(mb)
		}
		return err
	}
	return settings.Mismatch(raw, `a size, as "512MB" or "4GB", or a number of megabytes`)
}

// Bytes is the amount in bytes.
func (m Megabytes) Bytes() int64 {
	const each = 1 << 20
	return min(int64(m), math.MaxInt64/each) * each
}

// TOML prints what UnmarshalTOML reads. It implements [settings.Literal].
func (m Megabytes) TOML() string { return strconv.Quote(sizes().Text(int64(m))) }

// Watts is a power in millionths of a watt, written as a number of watts with up to six
// decimals.
type Watts settings.Amount //nolint:recvcheck // it is changed where it is read, and printed by value

// maxWatts bounds a CPU's power. It is far from where a product of CPUs overflows.
const maxWatts = 1_000_000

// UnmarshalTOML implements [settings.Unmarshaler]. It is exact: 30.588624 is 30,588,624
// millionths.
func (w *Watts) UnmarshalTOML(raw any) error {
	read, err := millionths(raw, maxWatts, "a number of watts, as 30.5")
	if err == nil {
		*w = Watts(read)
	}
	return err
}

// TOML implements [settings.Literal].
func (w Watts) TOML() string { return settings.Amount(w).TOML() }

// Kilowatts is a power in millionths of a kilowatt, written as a number of kilowatts with
// up to six decimals.
type Kilowatts settings.Amount //nolint:recvcheck // it is changed where it is read, and printed by value

// maxKilowatts bounds a site's power: a gigawatt.
const maxKilowatts = 1_000_000

// UnmarshalTOML implements [settings.Unmarshaler]. It is exact, as that of [Watts].
func (k *Kilowatts) UnmarshalTOML(raw any) error {
	read, err := millionths(raw, maxKilowatts, "a number of kilowatts, as 12.5")
	if err == nil && read == 0 {
		return errors.New("is 0; to have no budget, leave it out")
	}
	if err == nil {
		*k = Kilowatts(read)
	}
	return err
}

// TOML implements [settings.Literal].
func (k Kilowatts) TOML() string { return settings.Amount(k).TOML() }

// Milliwatts is the power in thousandths of a watt.
func (k Kilowatts) Milliwatts() int64 { return int64(k) }

// Milliwatts is the power in thousandths of a watt, to the nearest.
func (w Watts) Milliwatts() int64 { return (int64(w) + 500) / 1000 }

// Bandwidth is how fast a link is, in bytes a second.
type Bandwidth int64 //nolint:recvcheck // it is changed where it is read, and printed by value

// rate is a unit of bandwidth. As usual for links, a kilo is 1000.
type rate struct {
	name        string
	bytes, bits int64 // a second: one of them is set
}

// rates lists the units from the largest down.
func rates() []rate {
	return []rate{
		{name: "GB/s", bytes: 1e9},
		{name: "MB/s", bytes: 1e6},
		{name: "kB/s", bytes: 1e3},
		{name: "B/s", bytes: 1},
		{name: "Gbit/s", bits: 1e9},
		{name: "Mbit/s", bits: 1e6},
		{name: "kbit/s", bits: 1e3},
	}
}

// maxBandwidth is more than any link has, and far from overflow.
const maxBandwidth = 1e15

// UnmarshalTOML reads "125MB/s" or "1Gbit/s". It implements [settings.Unmarshaler].
func (b *Bandwidth) UnmarshalTOML(raw any) error {
	const want = `a number and a unit of kB/s, MB/s, GB/s, kbit/s, Mbit/s or Gbit/s, as "125MB/s" or "1Gbit/s"`
	text, ok := raw.(string)
	if !ok {
		return settings.Mismatch(raw, want+", in quotes")
	}
	end := max(0, strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }))
	n, err := strconv.ParseInt(text[:end], 10, 64)
	unit := strings.TrimSpace(text[end:])
	i := slices.IndexFunc(rates(), func(r rate) bool { return r.name == unit })
	if err != nil || i < 0 {
		return errors.New("is not a valid bandwidth; write " + want)
	}
	one := rates()[i]
	if n == 0 || n > maxBandwidth/max(one.bytes, one.bits) {
		return fmt.Errorf("is outside 1B/s to %s", Bandwidth(maxBandwidth).words())
	}
	*b = Bandwidth(n*one.bytes + n*one.bits/8)
	return nil
}

// TOML prints what UnmarshalTOML reads. It implements [settings.Literal].
func (b Bandwidth) TOML() string { return strconv.Quote(b.words()) }

func (b Bandwidth) words() string {
	for _, unit := range rates() {
		if unit.bytes > 0 && b > 0 && int64(b)%unit.bytes == 0 {
			return fmt.Sprintf("%d%s", int64(b)/unit.bytes, unit.name)
		}
	}
	return "0B/s"
}
