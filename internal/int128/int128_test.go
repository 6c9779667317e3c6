package int128_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/int128"
)

// whole draws numbers of all sizes, and those at which something overflows.
func whole() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64(),
		rapid.Int64Range(-10, 10),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, -1 << 32, 1 << 32, math.MaxInt64 - 1, math.MaxInt64}),
	)
}

func divisor() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64Range(1, 10), rapid.Int64Range(1, math.MaxInt64))
}

// bound keeps a number within a range that is the same on both sides of 0.
func bound(n, most *big.Int) *big.Int {
	if n.CmpAbs(most) <= 0 {
		return n
	}
	if n.Sign() < 0 {
		return new(big.Int).Neg(most)
	}
	return most
}

// TestLikeBigNumbers: sums, products and the three roundings are those of numbers without a
// limit, kept within one after each step.
func TestLikeBigNumbers(t *testing.T) {
	t.Parallel()
	widest := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1))
	rapid.Check(t, func(t *rapid.T) {
		got, want := int128.Number{}, new(big.Int)
		for range rapid.IntRange(1, 4).Draw(t, "summands") {
			a, b, c := whole().Draw(t, "a"), whole().Draw(t, "b"), whole().Draw(t, "c")
			product := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
			product = bound(new(big.Int).Mul(product, big.NewInt(c)), widest)
			got, want = got.Plus(int128.Product(a, b).Times(c)), bound(new(big.Int).Add(want, product), widest)
		}
		by := rapid.SliceOfN(divisor(), 1, 2).Draw(t, "by")
		over := big.NewInt(1)
		for _, one := range by {
			over.Mul(over, big.NewInt(one))
		}
		if want.CmpAbs(new(big.Int).Rsh(widest, 1)) > 0 {
			return // to round up may go beyond the largest
		}
		down, rest := new(big.Int).DivMod(want, over, new(big.Int)) // Euclidean: down, as over > 0
		up, nearest := new(big.Int).Set(down), new(big.Int).Set(down)
		if rest.Sign() > 0 {
			up.Add(up, big.NewInt(1))
		}
		twice := new(big.Int).Lsh(rest, 1)
		if by := twice.Cmp(over); by > 0 || by == 0 && want.Sign() >= 0 {
			nearest.Set(up)
		}
		most := big.NewInt(math.MaxInt64)
		for name, pair := range map[string][2]*big.Int{
			"down":    {big.NewInt(got.Down(by...)), bound(down, most)},
			"up":      {big.NewInt(got.Up(by...)), bound(up, most)},
			"nearest": {big.NewInt(got.Nearest(by...)), bound(nearest, most)},
		} {
			if pair[0].Cmp(pair[1]) != 0 {
				t.Fatalf("%v over %v, rounded %s, is %v, want %v", want, by, name, pair[0], pair[1])
			}
		}
	})
}

// TestRounds: n is a quotient, a rest and divisors, so what each rounding gives is known without
// a division. The rests at which a rounding turns are drawn often: none, half, one less than a whole.
func TestRounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.SliceOfN(rapid.Int64Range(1, 1<<31), 1, 2).Draw(t, "by")
		over := int64(1)
		for _, one := range by {
			over *= one
		}
		quotient := rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "quotient")
		rest := rapid.OneOf(
			rapid.SampledFrom([]int64{0, min(1, over-1), (over - 1) / 2, over / 2, over - 1}),
			rapid.Int64Range(0, over-1),
		).Draw(t, "rest")
		n := int128.Product(quotient, over).Plus(int128.Whole(rest))
		up, nearest := quotient, quotient
		if rest > 0 {
			up++
		}
		if rest >= over-rest {
			nearest++
		}
		for _, c := range []struct {
			name      string
			got, want int64
		}{
			{"down", n.Down(by...), quotient},
			{"up", n.Up(by...), up},
			{"nearest", n.Nearest(by...), nearest},
			{"the negative down", n.Negative().Down(by...), -up},
			{"the negative up", n.Negative().Up(by...), -quotient},
			{"the negative nearest", n.Negative().Nearest(by...), -nearest},
		} {
			if c.got != c.want {
				t.Fatalf("(%d·%d + %d) over %v, %s, is %d, want %d", quotient, over, rest, by, c.name, c.got, c.want)
			}
		}
	})
}

// words is high·2⁶⁴ + low.
func words(high, low int64) int128.Number {
	return int128.Product(high, 1<<32).Times(1 << 32).Plus(int128.Whole(low))
}

// TestEdges: where one word ends and the next begins, and where the range does. A sum or product
// that passes there by one must neither wrap around nor stop a step before the end.
func TestEdges(t *testing.T) {
	t.Parallel()
	const fifth = 7378697629483820646 // ⌊2⁶⁵/5⌋
	one := int128.Whole(1)
	largest := int128.Product(math.MaxInt64, math.MaxInt64).Times(math.MaxInt64)
	least := largest.Negative()
	top := words(math.MaxInt64-1, 0).Plus(words(1, 0)) // the largest without its low word
	for _, c := range []struct {
		name      string
		got, want int128.Number
	}{
		{"-1 + 1", one.Negative().Plus(one), int128.Number{}},
		{"2⁶⁴ - 1 + 1", words(1, -1).Plus(one), words(1, 0)},
		{"-2⁶³ - 2⁶³", int128.Whole(math.MinInt64).Plus(int128.Whole(math.MinInt64)), words(-1, 0)},
		{"-2⁶³ · -2⁶³", int128.Product(math.MinInt64, math.MinInt64), words(1<<62, 0)},
		{"the largest + 1", largest.Plus(one), largest},
		{"1 + the largest", one.Plus(largest), largest},
		{"the largest - 1 + 1", largest.Plus(one.Negative()).Plus(one), largest},
		{"the least - 1", least.Plus(one.Negative()), least},
		{"-1 + the least", one.Negative().Plus(least), least},
		{"the least - 2⁶⁴", least.Plus(words(-1, 0)), least},
		{"the least + the largest", least.Plus(largest), int128.Number{}},
		{"the negative of the least - 1", least.Plus(one.Negative()).Negative(), largest},
		{"the top word is full", words(1, 0).Times(math.MaxInt64), top},
		{"the top word is full, and beyond", top.Plus(words(1, 0)), largest},
		{"a product that fits but for its carry", words(fifth, fifth+1).Times(5), largest},
		{"the same below 0", words(fifth, fifth+1).Times(-5), least},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestBeyondTheLargest: what overflows stays at the end of the range, and can be negated.
func TestBeyondTheLargest(t *testing.T) {
	t.Parallel()
	huge := int128.Product(math.MaxInt64, math.MaxInt64).Times(math.MaxInt64)
	if got := huge.Plus(huge).Down(1); got != math.MaxInt64 {
		t.Errorf("the largest is %d", got)
	}
	least := huge.Negative().Plus(int128.Whole(-1))
	if got := least.Plus(least).Negative().Up(1); got != math.MaxInt64 {
		t.Errorf("the negative of the least is %d", got)
	}
	if got := least.Times(-1).Plus(huge.Negative()); got != (int128.Number{}) {
		t.Errorf("the largest and the least add up to %v", got)
	}
}
