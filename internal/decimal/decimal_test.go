package decimal_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
)

// The forms of the callers.
var (
	money    = decimal.Millionths(0)
	share    = decimal.Millionths(1_000_000)
	price    = decimal.Form{Scale: 6, Max: 10_000_000_000, Negative: true, Rounding: decimal.Nearest}
	comma    = decimal.Form{Scale: 6, Negative: true, Comma: true}
	count    = decimal.Form{Max: 1e18, Scientific: true, Rounding: decimal.Nearest}
	millions = decimal.Form{Scale: -6, Max: 1 << 53, Scientific: true, Rounding: decimal.AwayFromZero}
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form decimal.Form
		text string
		want int64
	}{
		{money, "0", 0},
		{money, "-0", 0},
		{money, "10.50", 10_500_000},
		{money, "0.000001", 1},
		{money, "1.5000000000", 1_500_000},
		{money, "5.", 5_000_000},
		{money, ".5", 500_000},
		{money, "0000000000000000000000001", 1_000_000},
		{money, "9223372036854.775807", math.MaxInt64},
		{share, "1", 1_000_000},
		{share, "1.000000", 1_000_000},
		{price, "-1.72", -1_720_000},
		{price, "0.0000005", 1},
		{price, "-0.0000005", -1},
		{price, "0.00000049999", 0},
		{price, "10000.0000004", 10_000_000_000},
		{comma, "-24,44", -24_440_000},
		{count, "12000", 12000},
		{count, "+3.2e12", 3_200_000_000_000},
		{count, "9007199254740993", 9007199254740993}, // 2^53 + 1, which no float64 is
		{count, "1e18", 1e18},
		{count, "15E-1", 2},
		{count, "0.5", 1},
		{count, "0.05e1", 1},
		{count, "0.049e1", 0},
		{count, "5e-2", 0},
		{count, "1e-99999999999999999999", 0},
		{count, "0e99999999999999999999", 0},
		{millions, "3.2e12", 3_200_000},
		{millions, "1", 1},
		{millions, "1e-999", 1},
		{millions, "1000000.0000", 1},
		{millions, "1000000.0001", 2},
		{decimal.Form{Negative: true, Rounding: decimal.AwayFromZero}, "-0.1", -1},
		{decimal.Form{Negative: true, Rounding: decimal.TowardZero}, "-1.9", -1},
		{decimal.Form{Scale: 3, Max: 1999, Rounding: decimal.TowardZero}, "1.9999", 1999},
		{decimal.Form{Max: 1}, "1", 1},
	} {
		if got, err := c.form.Parse(c.text); err != nil || got != c.want {
			t.Errorf("%+v, %q: got %d, %v; want %d", c.form, c.text, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form  decimal.Form
		want  error
		texts []string
	}{
		{money, decimal.ErrEmpty, []string{""}},
		{money, decimal.ErrSyntax, []string{
			"-", ".", "-.", "+1", "1e3", "1,5", "1.2.3", "1_000", "0x10", " 1", "1 ", "--1", "NaN", "Inf", "1.x", "99999999999999999999x", "-1x", "１",
		}},
		{money, decimal.ErrNegative, []string{"-1", "-0.000001", "-0.0000001", "-99999999999999999999"}},
		{money, decimal.ErrRange, []string{"9223372036854.775808", "99999999999999999999", "9300000000000"}},
		{money, decimal.ErrPrecision, []string{"1.0000001", "0.0000001", "0.00000000000001"}},
		{share, decimal.ErrRange, []string{"1.000001", "2", "10"}},
		{price, decimal.ErrRange, []string{"10000.000001", "-10000.000001", "10000.0000005"}},
		{comma, decimal.ErrSyntax, []string{"28.5", "1,2,3", ","}},
		{count, decimal.ErrSyntax, []string{"e", "e5", "1e", "1e+", "1e-", "1e1.5", "1e5e5", "+", "+-1", "-+1", "1e--1", ".e1"}},
		{count, decimal.ErrRange, []string{"1.1e18", "1e999", "1e99999999999999999999", "1000000000000000000.5"}},
		{count, decimal.ErrNegative, []string{"-1", "-1e-400"}},
		{decimal.Form{Scale: -6, Scientific: true}, decimal.ErrPrecision, []string{"1", "1e5", "1000001"}},
		{decimal.Form{Max: 1}, decimal.ErrRange, []string{"2", "5", "10"}},
		{decimal.Form{Max: 1, Rounding: decimal.AwayFromZero}, decimal.ErrRange, []string{"1.1"}},
	} {
		for _, text := range c.texts {
			if got, err := c.form.Parse(text); !errors.Is(err, c.want) || got != 0 {
				t.Errorf("%+v, %q: got %d, %v; want %v", c.form, text, got, err, c.want)
			}
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		number       int64
		scale, least int
		want         string
	}{
		{0, 6, 0, "0"},
		{0, 6, 2, "0.00"},
		{-1_720_000, 6, 0, "-1.72"},
		{-1_720_000, 6, 3, "-1.720"},
		{-1, 6, 0, "-0.000001"},
		{40_000, 6, 1, "0.04"},
		{30_000_000, 6, 1, "30.0"},
		{100, 0, 0, "100"},
		{12, 1, 1, "1.2"},
		{math.MaxInt64, 6, 2, "9223372036854.775807"},
		{math.MinInt64, 6, 2, "-9223372036854.775808"},
	} {
		if got := decimal.Text(c.number, c.scale, c.least); got != c.want {
			t.Errorf("%d of scale %d with %d decimals: got %q, want %q", c.number, c.scale, c.least, got, c.want)
		}
	}
}

// FuzzText: what is printed reads back.
func FuzzText(f *testing.F) {
	f.Add(int64(-1_720_000), 6, 2)
	f.Fuzz(func(t *testing.T, number int64, scale, least int) {
		scale = min(max(scale, 0), 18)
		if number == math.MinInt64 {
			return
		}
		text := decimal.Text(number, scale, min(max(least, 0), scale))
		if got, err := (decimal.Form{Scale: scale, Negative: true}).Parse(text); err != nil || got != number {
			t.Fatalf("%d of scale %d is printed as %q, which is read as %d, %v", number, scale, text, got, err)
		}
	})
}

// FuzzParse compares with exact fractions.
func FuzzParse(f *testing.F) {
	f.Add("1.5", 6, int64(0), byte(1))
	f.Add("-3.2e12", -6, int64(1<<53), byte(2|1<<2))
	f.Add("0,5", 0, int64(1), byte(8))
	f.Fuzz(func(t *testing.T, text string, scale int, most int64, bits byte) {
		form := decimal.Form{
			Scale: scale % 20, Max: max(most, 0), Rounding: decimal.Rounding(bits % 4), Negative: bits&4 > 0, Comma: bits&8 > 0, Scientific: bits&16 > 0,
		}
		got, err := form.Parse(text)
		plain := text
		if form.Comma {
			plain = strings.ReplaceAll(text, ",", ".")
		}
		if len(text) > 40 || strings.Count(text, "e")+strings.Count(text, "E") > 0 && len(text) > 6 {
			return // exponents that make the fractions huge
		}
		value, isNumber := new(big.Rat).SetString(plain)
		if !isNumber {
			if !errors.Is(err, decimal.ErrSyntax) && !errors.Is(err, decimal.ErrEmpty) {
				t.Fatalf("%+v, %q: got %d, %v for what is not a number", form, text, got, err)
			}
			return
		}
		if errors.Is(err, decimal.ErrSyntax) {
			if strings.Trim(text, "0123456789.") == "" && !form.Comma {
				t.Fatalf("%+v, %q is refused", form, text)
			}
			return
		}
		want, wantErr := exactly(form, value)
		if got != want || !errors.Is(err, wantErr) {
			t.Fatalf("%+v, %q: got %d, %v; want %d, %v", form, text, got, err, want, wantErr)
		}
	})
}

// exactly is what a form reads of a number, by fractions.
func exactly(form decimal.Form, value *big.Rat) (int64, error) {
	if value.Sign() < 0 && !form.Negative {
		return 0, decimal.ErrNegative
	}
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(form.Scale, -form.Scale))), nil))
	if form.Scale < 0 {
		power.Inv(power)
	}
	scaled := new(big.Rat).Mul(new(big.Rat).Abs(value), power)
	size, rest := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	limit := big.NewInt(form.Max)
	if form.Max == 0 {
		limit.SetInt64(math.MaxInt64)
	}
	if size.Cmp(limit) > 0 {
		return 0, decimal.ErrRange
	}
	switch form.Rounding {
	case decimal.Exact:
		if rest.Sign() > 0 {
			return 0, decimal.ErrPrecision
		}
	case decimal.Nearest:
		if new(big.Int).Lsh(rest, 1).Cmp(scaled.Denom()) >= 0 {
			size.Add(size, big.NewInt(1))
		}
	case decimal.AwayFromZero:
		if rest.Sign() > 0 {
			size.Add(size, big.NewInt(1))
		}
	case decimal.TowardZero:
	}
	if size.Cmp(limit) > 0 {
		return 0, decimal.ErrRange
	}
	if value.Sign() < 0 {
		size.Neg(size)
	}
	return size.Int64(), nil
}
