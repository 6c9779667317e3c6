// Package quantity reads amounts of memory and of data, and times as Slurm writes them, from text into integers, and
// prints such amounts: exactly and without floating point. It is a package of its own because configurations,
// experiments, batch scripts and the Slurm adapter share it. Its errors say what is wrong and what to write; callers put
// the text, or the key, before them.
package quantity

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/int128"
)

// Units are the names of units, and what they are multiples of.
type Units int

// The kinds of units. Upper and lower case are the same.
const (
	Slurm  Units = iota // K, M, G, T and P, or KB to PB, right behind the number: powers of 1024, as in sbatch(1)
	Binary              // these, or KiB to PiB; spaces may stand around them
	SI                  // B, kB, MB, GB, TB and PB: powers of 1000; spaces may stand around them
)

// Prefix is the power of 1024 or 1000 of a unit.
type Prefix int

// The prefixes. None is no unit.
const (
	None Prefix = iota
	Byte
	Kilo
	Mega
	Giga
	Tera
	Peta
)

func (u Units) base() int64 {
	if u == SI {
		return 1000
	}
	return 1024
}

// name prints a unit.
func (u Units) name(p Prefix) string {
	letter := ([]string{"", "", "K", "M", "G", "T", "P"})[p]
	switch {
	case u == Slurm:
		return letter
	case u == SI && p == Kilo:
		return "kB"
	}
	return letter + "B"
}

// prefix returns the prefix of the unit with a name.
func (u Units) prefix(name string) (Prefix, bool) {
	if name == "" || len(name) > len("KiB") {
		return None, false
	}
	name = strings.ToUpper(name)
	if name == "B" {
		return Byte, u == SI
	}
	i := strings.IndexByte("KMGTP", name[0])
	behind := [][]string{Slurm: {"", "B"}, Binary: {"", "B", "IB"}, SI: {"B"}}[u]
	return Kilo + Prefix(i), i >= 0 && slices.Contains(behind, name[1:])
}

// maxSize is where [Size].Max ends. A larger size is known to be larger, though int128 stops at the largest int64.
const maxSize = 1 << 62

// MaxDecimals is the most that [Size].Decimals may be.
const MaxDecimals = 12

// Size is a form in which amounts of memory or data are written, and the unit in which they are read: a number of
// digits, and a unit.
type Size struct {
	Units    Units
	Bare     Prefix // the unit of a number without one; None: a unit is required, but for 0
	In       Prefix // the unit of the result: [Byte], [Kilo] or [Mega]
	Max      int64  // the largest size, in the unit of the result; 0: 2^62
	Decimals int    // how many decimals the number may have, besides zeros at their end; 0: no decimal point
	Rounding decimal.Rounding
}

// Parse reads a size in the unit of the result.
func (s Size) Parse(text string) (int64, error) {
	number, unit, ok := s.split(text)
	if !ok || s.Decimals == 0 && strings.Contains(number, ".") {
		return 0, s.invalid()
	}
	_, decimals, _ := strings.Cut(number, ".")
	scale := len(strings.TrimRight(decimals, "0"))
	digits, err := decimal.Form{Scale: min(scale, MaxDecimals)}.Parse(number)
	switch {
	case errors.Is(err, decimal.ErrPrecision) || err == nil && scale > s.Decimals:
		return 0, fmt.Errorf("has more than %d decimals; write fewer", s.Decimals)
	case errors.Is(err, decimal.ErrRange):
		return 0, s.tooLarge()
	case err != nil:
		return 0, s.invalid()
	}
	return s.convert(digits, scale, unit)
}

// split takes the number and its unit apart.
func (s Size) split(text string) (number string, unit Prefix, ok bool) {
	if text == "0" {
		return text, s.In, true
	}
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		return text, s.Bare, s.Bare != None
	}
	name := text[end:]
	if s.Units != Slurm {
		name = strings.TrimSpace(name)
	}
	unit, ok = s.Units.prefix(name)
	return text[:end], unit, ok
}

// convert returns a number of 10^-scale units in the unit of the result.
func (s Size) convert(digits int64, scale int, unit Prefix) (int64, error) {
	times, by := int64(1), int64(1)
	for ; unit > s.In; unit-- {
		times *= s.Units.base()
	}
	for ; unit < s.In; unit++ {
		by *= s.Units.base()
	}
	for range scale {
		by *= 10
	}
	exact := int128.Product(digits, times)
	size, above := exact.Down(by), exact.Up(by)
	switch {
	case s.Rounding == decimal.Nearest:
		size = exact.Nearest(by)
	case s.Rounding == decimal.AwayFromZero:
		size = above
	case s.Rounding == decimal.Exact && size < above:
		return 0, fmt.Errorf("is not a multiple of 1%s; write a multiple", s.Units.name(s.In))
	}
	if size > s.max() {
		return 0, s.tooLarge()
	}
	return size, nil
}

func (s Size) max() int64 {
	if s.Max == 0 {
		return maxSize
	}
	return s.Max
}

func (s Size) tooLarge() error { return fmt.Errorf("is more than %s; write less", s.Text(s.max())) }

// invalid is the error of a text that is not in the form.
func (s Size) invalid() error {
	number, example, unit := "a whole number", "4", "a unit"
	if s.Decimals > 0 {
		number, example = "a number", "1.5"
	}
	if s.Bare != None {
		unit = "possibly a unit"
	}
	least := Kilo
	switch {
	case s.Units == SI:
		least = Byte
	case s.Rounding == decimal.Exact:
		least = max(s.In, Kilo)
	}
	var names []string
	for p := least; p < Peta; p++ {
		names = append(names, s.Units.name(p))
	}
	return fmt.Errorf(`is not a valid size; write %s and %s of %s or %s, as "512%s" or "%s%s"`,
		number, unit, strings.Join(names, ", "), s.Units.name(Peta), s.Units.name(Mega), example, s.Units.name(Giga))
}

// Text prints what [Size.Parse] reads, in the largest unit of which the size is a multiple. It is for forms in which the
// unit of the result can be written: of [Slurm], bytes cannot, unless they are Bare.
func (s Size) Text(size int64) string {
	unit := s.In
	for ; size != 0 && size%s.Units.base() == 0 && unit < Peta; unit++ {
		size /= s.Units.base()
	}
	return strconv.FormatInt(size, 10) + s.Units.name(unit)
}
