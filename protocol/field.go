package protocol

import (
	"errors"
	"fmt"
	"strings"
)

// FieldError is what is wrong with a field of a message, or of a type of this package. The error within may name a
// field of that field; see [FieldPath].
type FieldError struct {
	Field string // its name on the wire, of an entry with its index from 0, as "files[2]"
	Err   error
}

// Error prints "field: text".
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the field.
func (e *FieldError) Unwrap() error { return e.Err }

// FieldPath returns the fields that an error names, from the outermost one, with dots between them, as
// "outcome.files[2].stream", and the text about the last one. The path is empty if the error names none.
func FieldPath(err error) (path, text string) {
	var fields []string
	for {
		field, ok := errors.AsType[*FieldError](err)
		if !ok {
			return strings.Join(fields, "."), err.Error()
		}
		fields, err = append(fields, field.Field), field.Err
	}
}

// wrongField is an error about a field.
func wrongField(field, format string, args ...any) error {
	return &FieldError{field, fmt.Errorf(format, args...)}
}
