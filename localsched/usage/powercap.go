package usage

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// counter is an energy counter of a CPU package, in microjoules. It counts up to a range
// and begins again.
type counter struct {
	zone   string // the directory's name
	count  uint64
	around uint64 // one more than the highest count; 0: not known
}

// packages reads the energy counters of the CPU packages. It is empty where there are none,
// or where only root may read them. Zones within a package (cores, memory) and those of
// whole platforms, which hold packages, are not among them.
func (r Roots) packages() (counters []counter) {
	zones, _ := filepath.Glob(filepath.Join(r.Sys, "class/powercap/intel-rapl:*")) // the pattern is sound
	for _, zone := range zones {
		if name, err := readWord(zone, "name"); err != nil || !strings.HasPrefix(name, "package") {
			continue
		}
		count, err := readNumber(zone, "energy_uj")
		if err != nil {
			continue
		}
		c := counter{zone: filepath.Base(zone), count: count}
		if top, err := readNumber(zone, "max_energy_range_uj"); err == nil && top > 0 {
			c.around = top + 1
		}
		counters = append(counters, c)
	}
	return counters
}

// drawn is what the packages have drawn from one reading to a later one, in microjoules. It
// returns false if that is undefined: other packages, or a counter that wrapped around at an
// unknown value. A counter is assumed to have wrapped at most once.
func drawn(from, to []counter) (microjoules uint64, ok bool) {
	if len(from) == 0 || !samePackages(from, to) {
		return 0, false
	}
	for i, now := range to {
		before := from[i].count
		switch {
		case now.count >= before:
			microjoules += now.count - before
		case now.around > before:
			microjoules += now.around - before + now.count
		default:
			return 0, false
		}
	}
	return microjoules, true
}

// samePackages reports whether two readings are of the same packages.
func samePackages(a, b []counter) bool {
	return slices.EqualFunc(a, b, func(a, b counter) bool { return a.zone == b.zone })
}

func readWord(dir, name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(data)), err
}

// readNumber reads a number that fits in sums.
func readNumber(dir, name string) (uint64, error) {
	const most = 1 << 56 // two years at a kilowatt, in microjoules
	word, err := readWord(dir, name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(word, 10, 64)
	if err == nil && n > most {
		err = errors.New(filepath.Join(dir, name) + " is too large")
	}
	return n, err
}
