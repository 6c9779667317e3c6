package wire

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// First returns the first error, so that checks read as lists.
func First(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// In names the field that holds the fault, by a [*protocol.FieldError].
func In(field string, err error) error {
	if err == nil {
		return nil
	}
	return &protocol.FieldError{Field: field, Err: err}
}

// Wrong is a fault of a field.
func Wrong(field, format string, args ...any) error {
	return In(field, fmt.Errorf(format, args...))
}

// Entry is the name of an entry of a column, counted from 0.
func Entry(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// Each checks every entry of a column and names the first that is wrong.
func Each[T any](field string, column []T, check func(T) error) error {
	for i := range column {
		if err := check(column[i]); err != nil {
			return In(Entry(field, i), err)
		}
	}
	return nil
}

// Present checks that a field is there.
func Present(field string, is bool) error {
	if !is {
		return Wrong(field, "is missing")
	}
	return nil
}

// AtMost checks how many entries a column has, or bytes a text.
func AtMost(field string, n, most int) error {
	if n > most {
		return Wrong(field, "has %d entries or bytes, at most %d are allowed", n, most)
	}
	return nil
}

// Length checks that a column has an entry for each row.
func Length(field string, n, rows int) error {
	if n != rows {
		return Wrong(field, "has %d entries, not %d", n, rows)
	}
	return nil
}

// Bytes checks the length of bytes, such as those of a checksum.
func Bytes(field string, b []byte, n int) error {
	if len(b) != n {
		return Wrong(field, "has %d bytes, not %d", len(b), n)
	}
	return nil
}

// Count checks a number that must not be negative and must fit an int anywhere.
func Count[T int | int64](field string, n T) error {
	if n < 0 || n > math.MaxInt32 {
		return Wrong(field, "%d is outside 0 to %d", n, math.MaxInt32)
	}
	return nil
}

// Amount checks an integer that may be large but not negative: spans, instants,
// sizes, work.
func Amount[T ~int64](field string, n T) error {
	if n < 0 {
		return Wrong(field, "%d is negative", n)
	}
	return nil
}

// Required checks a text of at most this number of bytes that must not be empty.
func Required(field, s string, most int) error {
	if s == "" {
		return Present(field, false)
	}
	return AtMost(field, len(s), most)
}

// Text checks a text of at most this number of bytes, which may be empty, for one that travels as a
// string.
func Text(field, s string, most int) error {
	if !utf8.ValidString(s) {
		return Wrong(field, "is not UTF-8")
	}
	return AtMost(field, len(s), most)
}

// UnixString checks what is handed to a program as a C string, in bytes.
func UnixString(field, s string, most int) error {
	if strings.IndexByte(s, 0) >= 0 {
		return Wrong(field, "contains a NUL byte")
	}
	return AtMost(field, len(s), most)
}

// Env checks one variable, which is NAME=value in at most this number of bytes.
func Env(pair string, most int) error {
	if strings.IndexByte(pair, '=') < 1 {
		return errors.New("is not NAME=value")
	}
	return UnixString("value", pair, most)
}
