package wire

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Convert converts a column; an empty one becomes nil.
func Convert[A, B any](column []A, convert func(A) B) []B {
	if len(column) == 0 {
		return nil
	}
	out := make([]B, len(column))
	for i := range column {
		out[i] = convert(column[i])
	}
	return out
}

// Decode checks and converts a column; an empty one becomes nil. The error names
// the entry. Room is made as the entries pass, since a short message may claim many
// that are empty.
func Decode[A, B any](field string, column []A, decode func(A) (B, error)) ([]B, error) {
	var out []B
	for i := range column {
		one, err := decode(column[i])
		if err != nil {
			return nil, In(Entry(field, i), err)
		}
		out = append(out, one)
	}
	return out, nil
}

// EncodeSpan is a span in ms, -1 for [protocol.Never]. Other negative ones become
// one that no check passes, and not never.
func EncodeSpan(d protocol.Duration) int64 {
	if d == protocol.Never {
		return -1
	}
	if d < 0 {
		return math.MinInt64
	}
	return int64(d)
}

// DecodeSpan reads what [EncodeSpan] makes.
func DecodeSpan(n int64) protocol.Duration {
	if n == -1 {
		return protocol.Never
	}
	return protocol.Duration(n)
}

// Narrow converts a count; one that does not fit becomes one that no check passes, also where
// int has 32 bits.
func Narrow(n int64) int {
	if n < 0 || n > math.MaxInt32 {
		return -1
	}
	return int(n)
}

// Clip makes a text for people valid UTF-8 and cuts it, between two characters, to
// at most this number of bytes: batch systems say what they like.
func Clip(s string, most int) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= most {
		return s
	}
	end := most
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// Sparse is a column that does not travel when it says nothing: one of zeros, or of
// empty texts, is empty.
func Sparse[T comparable](column []T) []T {
	var nothing T
	for _, one := range column {
		if one != nothing {
			return column
		}
	}
	return nil
}

// Dense is a column of this number of rows that may be one of zeros and not have travelled.
// The caller has checked it by [SparseLength].
func Dense[T comparable](column []T, rows int) []T {
	if len(column) == 0 {
		return make([]T, rows)
	}
	return column
}

// SparseLength is [Length] of a column that may not have travelled.
func SparseLength(field string, n, rows int) error {
	if n == 0 {
		return nil
	}
	return Length(field, n, rows)
}
