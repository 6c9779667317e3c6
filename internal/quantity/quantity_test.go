package quantity_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/quantity"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The forms of the callers, and some others.
var (
	memory  = quantity.Size{Bare: quantity.Mega, In: quantity.Mega, Max: 1 << 50, Rounding: decimal.AwayFromZero}
	printed = quantity.Size{Bare: quantity.Mega, In: quantity.Mega, Max: 1 << 50, Decimals: 3, Rounding: decimal.TowardZero}
	rss     = quantity.Size{Bare: quantity.Byte, In: quantity.Mega, Decimals: 3, Rounding: decimal.AwayFromZero}
	config  = quantity.Size{Units: quantity.Binary, In: quantity.Mega, Max: 1 << 50}
	data    = quantity.Size{Units: quantity.SI, In: quantity.Byte, Max: 1e16, Decimals: 12, Rounding: decimal.Nearest}
	bytes   = quantity.Size{Bare: quantity.Byte, In: quantity.Byte}
)

func TestSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form quantity.Size
		text string
		want int64
	}{
		{memory, "0", 0},
		{memory, "4000", 4000},
		{memory, "010", 10},
		{memory, "4m", 4},
		{memory, "4Mb", 4},
		{memory, "1K", 1},
		{memory, "1024K", 1},
		{memory, "1025k", 2},
		{memory, "2G", 2048},
		{memory, "2GB", 2048},
		{memory, "1T", 1 << 20},
		{memory, "1P", 1 << 30},
		{memory, "1152921504606846976K", 1 << 50},
		{printed, "1.50G", 1536},
		{printed, "1.001G", 1025},
		{printed, "1.500000G", 1536},
		{printed, "512K", 0},
		{printed, "2048K", 2},
		{rss, "1", 1},
		{rss, "1048577", 2},
		{rss, "2048K", 2},
		{rss, "1.5G", 1536},
		{config, "512MB", 512},
		{config, "4 gib", 4096},
		{config, "2048KB", 2},
		{config, "0", 0},
		{data, "0", 0},
		{data, "12B", 12},
		{data, "1.5kB", 1500},
		{data, "10 GB", 10_000_000_000},
		{data, "10GB ", 10_000_000_000},
		{data, "1tb", 1_000_000_000_000},
		{data, "10PB", 10_000_000_000_000_000},
		{data, "0.00000000005TB", 50},
		{data, "0.0005kB", 1}, // half a byte
		{data, "0.00049kB", 0},
		{data, "5.GB", 5_000_000_000},
		{data, ".5GB", 500_000_000},
		{bytes, "1025", 1025},
		{bytes, "4611686018427387904", 1 << 62},
	} {
		if got, err := c.form.Parse(c.text); err != nil || got != c.want {
			t.Errorf("%+v, %q: got %d, %v; want %d", c.form, c.text, got, err, c.want)
		}
	}
}

func TestSizeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form  quantity.Size
		want  string
		texts []string
	}{
		{
			memory, `is not a valid size; write a whole number and possibly a unit of K, M, G, T or P, as "512M" or "4G"`,
			[]string{"", "G", "-1", "+4", "1.5G", "5.G", "4X", "4GiB", "4 G", " 4G", "4G ", "4B", "B", "1GG", "0x10", "1_000", "4\u212a", "much"},
		},
		{memory, "is more than 1048576P; write less", []string{"99999999999999999", "9999999999999T", "9223372036854775807K", "9223372036854775808", "1048577P"}},
		{printed, `is not a valid size; write a number and possibly a unit of K, M, G, T or P, as "512M" or "1.5G"`, []string{"", "1,5G", "1.xG", ".", ".G", "1e3"}},
		{printed, "has more than 3 decimals; write fewer", []string{"1.2345G", "1.00000000000001G"}},
		{rss, "is not a valid size", []string{"NaN", "Inf", "-1", "1e99T"}},
		{
			config, `is not a valid size; write a whole number and a unit of MB, GB, TB or PB, as "512MB" or "4GB"`,
			[]string{"", "MB", "5", "-5MB", "1.5GB", "4 G\u0131B", "4B", "4G B"},
		},
		{config, "is not a multiple of 1MB; write a multiple", []string{"4KB", "1025KB"}},
		{config, "is more than 1048576PB; write less", []string{"9999999999999TB", "9999999999999999999MB"}},
		{
			data, `is not a valid size; write a number and a unit of B, kB, MB, GB, TB or PB, as "512MB" or "1.5GB"`,
			[]string{"", "1", "TB", "-1GB", "1e3GB", "1.2.3GB", "1GB/s", "..B", "1T", "1TiB"},
		},
		{data, "is more than 10PB; write less", []string{"11PB", "10000000000000001B", "10.000000000001PB", "9999999999999999999B"}},
		{bytes, "is more than 4096P; write less", []string{"4611686018427387905", "9223372036854775807", "9223372036854775808", "9223372036854775807P"}},
		{data, "has more than 12 decimals; write fewer", []string{"1.0000000000001PB"}},
	} {
		for _, text := range c.texts {
			if got, err := c.form.Parse(text); err == nil || !strings.HasPrefix(err.Error(), c.want) || got != 0 {
				t.Errorf("%+v, %q: got %d, %v; want %s", c.form, text, got, err, c.want)
			}
		}
	}
}

func TestSizesReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom([]quantity.Size{memory, printed, config, data, bytes}).Draw(t, "form")
		most := form.Max
		if most == 0 {
			most = 1 << 62
		}
		size := rapid.Int64Range(0, most).Draw(t, "size")
		size = size >> rapid.IntRange(0, 62).Draw(t, "shift") << rapid.IntRange(0, 30).Draw(t, "back")
		if size < 0 || size > most {
			return
		}
		if got, err := form.Parse(form.Text(size)); err != nil || got != size {
			t.Fatalf("%d is printed as %s, which is read as %d, %v", size, form.Text(size), got, err)
		}
	})
}

// FuzzSize compares with exact fractions.
func FuzzSize(f *testing.F) {
	f.Add("1.5G", byte(0), byte(2), byte(2), byte(3), int64(0))
	f.Add("1025K", byte(1), byte(3), byte(3), byte(0), int64(7))
	f.Add("10 GB", byte(2), byte(0), byte(1), byte(12), int64(1e16))
	f.Fuzz(func(t *testing.T, text string, units, bare, in, bits byte, most int64) {
		form := quantity.Size{
			Units: quantity.Units(units % 3), Bare: quantity.Prefix(bare % 7), In: quantity.Byte + quantity.Prefix(in%3),
			Max: min(max(most, 0), 1<<62), Decimals: int(bits%16) % (quantity.MaxDecimals + 1), Rounding: decimal.Rounding(bits >> 4 % 4),
		}
		got, err := form.Parse(text)
		if err != nil {
			if got != 0 {
				t.Fatalf("%+v, %q: %d and %v", form, text, got, err)
			}
			return
		}
		exact := fraction(form, text)
		low := new(big.Int).Quo(exact.Num(), exact.Denom())
		rest := new(big.Rat).Sub(exact, new(big.Rat).SetInt(low))
		up := form.Rounding == decimal.AwayFromZero && rest.Sign() > 0 || form.Rounding == decimal.Nearest && rest.Cmp(big.NewRat(1, 2)) >= 0
		if up {
			low.Add(low, big.NewInt(1))
		}
		switch {
		case form.Rounding == decimal.Exact && rest.Sign() > 0:
			t.Fatalf("%+v, %q: %d, but %v is not whole", form, text, got, exact)
		case low.Cmp(big.NewInt(got)) != 0 || form.Max > 0 && got > form.Max:
			t.Fatalf("%+v, %q: %d, not %v", form, text, got, low)
		}
	})
}

// fraction is what a text means that a form accepts, in the unit of its result.
func fraction(form quantity.Size, text string) *big.Rat {
	number := strings.TrimRight(text, "KMGTPBkmgtpbIi ")
	value, ok := new(big.Rat).SetString(number)
	if !ok {
		panic(number)
	}
	power := int(form.Bare)
	if name := strings.ToUpper(strings.TrimLeft(text[len(number):], " ")); name != "" {
		power = strings.IndexByte("BKMGTP", name[0]) + 1
	}
	base := int64(1024)
	if form.Units == quantity.SI {
		base = 1000
	}
	if text == "0" {
		return value
	}
	for ; power < int(form.In); power++ {
		value.Mul(value, big.NewRat(1, base))
	}
	for ; power > int(form.In); power-- {
		value.Mul(value, big.NewRat(base, 1))
	}
	return value
}

func TestTimes(t *testing.T) {
	t.Parallel()
	const s, m, h, d = protocol.Second, protocol.Minute, protocol.Hour, protocol.Day
	for text, want := range map[string]protocol.Duration{
		"0": 0, "0:00": 0, "5": 5 * m, "90": 90 * m, "5:30": 5*m + 30*s, "1:02:03": h + 2*m + 3*s, "0:90": 90 * s, "100:00:00": 100 * h,
		"2-0": 2 * d, "1-12": d + 12*h, "1-2:3": d + 2*h + 3*m, "1-2:3:4": d + 2*h + 3*m + 4*s, "1-25:00": 2*d + h, "007": 7 * m,
	} {
		for what, parse := range map[string]func(string) (protocol.Duration, error){"limit": quantity.ParseTimeLimit, "CPU time": quantity.ParseCPUTime} {
			if got, err := parse(text); err != nil || got != want {
				t.Errorf("%s %s: got %v, %v; want %v", what, text, got, err, want)
			}
		}
	}
	for text, want := range map[string]protocol.Duration{
		"-1": protocol.Never, "UNLIMITED": protocol.Never, "Infinite": protocol.Never, "4294967295": math.MaxUint32 * m,
	} {
		if got, err := quantity.ParseTimeLimit(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]protocol.Duration{
		"00:01.123": s + 123, "00:01.1": s + 100, "00:01.": s, "1:00:00.0019": h + 1, "1-02:03:04.5": d + 2*h + 3*m + 4*s + 500,
		"4294967295-00:00:00": math.MaxUint32 * d,
	} {
		if got, err := quantity.ParseCPUTime(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestTimesRefused(t *testing.T) {
	t.Parallel()
	// The same as slurm_time_str2secs of Slurm 22.05, but for "1-", which it reads as a day although sbatch(1) has no such form.
	for _, text := range []string{
		"", "x", "1:", ":1", "1:2:3:4", "1-", "-", "1-2:3:4:5", "+1", "1-2-3", " 1", "1 ", "1h30m", "-5", "-1:00", "1::2", "1-:5", "1:-0", "1-2:-0", "1_0",
		"4294967296", "99999999999",
	} {
		for what, parse := range map[string]func(string) (protocol.Duration, error){"limit": quantity.ParseTimeLimit, "CPU time": quantity.ParseCPUTime} {
			if got, err := parse(text); err == nil {
				t.Errorf("%s %q: read as %v", what, text, got)
			}
		}
	}
	for _, text := range []string{"1.5", "00:01.123", "5.", "4294967295:01", "71582789:00:00", "2982617-0"} {
		if got, err := quantity.ParseTimeLimit(text); err == nil {
			t.Errorf("%q: read as %v", text, got)
		}
	}
	for _, text := range []string{"UNLIMITED", "-1", "1.5", "1-2:3.5", "00:01.x", "00:01.1.2", "00:01.-1"} {
		if got, err := quantity.ParseCPUTime(text); err == nil {
			t.Errorf("%q: read as %v", text, got)
		}
	}
}

func TestTimesReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := protocol.Duration(rapid.Int64Range(0, math.MaxUint32*60).Draw(t, "seconds")) * protocol.Second
		got, err := quantity.ParseTimeLimit(limit.Text())
		if cpu, cpuErr := quantity.ParseCPUTime(limit.Text()); err != nil || cpuErr != nil || got != limit || cpu != limit {
			t.Fatalf("%s is read as %v, %v and %v, %v", limit.Text(), got, err, cpu, cpuErr)
		}
	})
}

// FuzzTime: a limit is a CPU time as well, unless it has no bound; what is read is within bounds and reads back.
func FuzzTime(f *testing.F) {
	for _, text := range []string{"5", "5:30", "1-02:03:04", "00:01.123", "UNLIMITED", "4294967295-4294967295:4294967295:4294967295"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit, err := quantity.ParseTimeLimit(text)
		cpu, cpuErr := quantity.ParseCPUTime(text)
		if err == nil && limit != protocol.Never && (cpuErr != nil || cpu != limit || limit < 0 || limit%protocol.Second != 0) {
			t.Fatalf("%q: the limit %v, and the CPU time %v, %v", text, limit, cpu, cpuErr)
		}
		if cpuErr != nil || cpu >= math.MaxUint32*protocol.Day {
			return
		}
		again, err := quantity.ParseCPUTime((cpu - cpu%protocol.Second).Text())
		if err != nil || again+cpu%protocol.Second != cpu || cpu < 0 {
			t.Fatalf("%q: %v, which reads back as %v, %v", text, cpu, again, err)
		}
	})
}
