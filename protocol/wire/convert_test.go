package wire_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

func TestColumns(t *testing.T) {
	t.Parallel()
	if got := wire.Convert([]int{1, 2}, strconv.Itoa); !reflect.DeepEqual(got, []string{"1", "2"}) {
		t.Errorf("got %q", got)
	}
	if got := wire.Convert([]int{}, strconv.Itoa); got != nil {
		t.Errorf("an empty column became %#v", got)
	}
	got, err := wire.Decode("wait", []string{"1", "2"}, strconv.Atoi)
	if err != nil || !reflect.DeepEqual(got, []int{1, 2}) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err = wire.Decode("wait", []string{}, strconv.Atoi); err != nil || got != nil {
		t.Errorf("an empty column became %#v, %v", got, err)
	}
	got, err = wire.Decode("wait", []string{"1", "x", "y"}, strconv.Atoi)
	says(t, err, `wait[1]: strconv.Atoi: parsing "x": invalid syntax`)
	if got != nil || !errors.Is(err, strconv.ErrSyntax) {
		t.Errorf("got %v, and %v", got, err)
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	cases := map[protocol.Duration]int64{
		0: 0, 1: 1, protocol.Never - 1: math.MaxInt64 - 1, protocol.Never: -1,
	}
	for d, want := range cases {
		if got := wire.EncodeSpan(d); got != want {
			t.Errorf("%d travels as %d, want %d", int64(d), got, want)
		}
		if got := wire.DecodeSpan(want); got != d {
			t.Errorf("%d arrives as %d, want %d", want, int64(got), int64(d))
		}
	}
	for _, d := range []protocol.Duration{-1, -2, math.MinInt64} {
		if got := wire.EncodeSpan(d); got >= -1 {
			t.Errorf("%d travels as %d, which passes checks", int64(d), got)
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""},
		{"whole", 5, "whole"},
		{"cut off", 3, "cut"},
		{"a→b", 4, "a→"},
		{"a→b", 3, "a"},
		{"→", 2, ""},
		{"a\xff\xfeb", 9, "a?b"},
		{"\xff\xffab", 2, "?a"},
	}
	for _, c := range cases {
		if got := wire.Clip(c.text, c.most); got != c.want {
			t.Errorf("%q in %d bytes became %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// What is cut is valid, short enough, and as long as whole characters allow.
func TestClipLosesNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.SampledFrom([]byte("a\xe2\x86\x92\xff\x80"))).Draw(t, "text"))
		most := rapid.IntRange(0, 20).Draw(t, "most")
		whole, got := strings.ToValidUTF8(text, "?"), wire.Clip(text, most)
		if !utf8.ValidString(got) || len(got) > most || !strings.HasPrefix(whole, got) {
			t.Fatalf("%q in %d bytes became %q", text, most, got)
		}
		if _, size := utf8.DecodeRuneInString(whole[len(got):]); size > 0 && len(got)+size <= most {
			t.Fatalf("%q in %d bytes became %q, though one more character has room", text, most, got)
		}
	})
}

// A column that says nothing does not travel, and is the same on the other side.
func TestSparseColumns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		column := rapid.SliceOfN(rapid.SampledFrom([]string{"", "", "", "x"}), 1, 4).Draw(t, "column")
		sent := wire.Sparse(column)
		if says := strings.Join(column, "") != ""; says != (sent != nil) {
			t.Fatalf("%q travels as %q", column, sent)
		}
		if err := wire.SparseLength("column", len(sent), len(column)); err != nil {
			t.Fatal(err)
		}
		if got := wire.Dense(sent, len(column)); !slices.Equal(got, column) {
			t.Fatalf("%q became %q", column, got)
		}
	})
}

func TestNarrow(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]int{0: 0, math.MaxInt32: math.MaxInt32, math.MaxInt32 + 1: -1, 1 << 32: -1, -5: -1, math.MinInt64: -1} {
		if got := wire.Narrow(n); got != want {
			t.Errorf("%d became %d, want %d", n, got, want)
		}
	}
}
