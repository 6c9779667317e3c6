package protocoltest

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Refused reports an error of the test unless err names a field and says a word about it: want is "field: word", or
// "field" alone, with the last elements of the path that [protocol.FieldPath] returns; ": word" is of no field.
func Refused(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("got no error, want %q", want)
		return
	}
	field, word, _ := strings.Cut(want, ": ")
	path, text := protocol.FieldPath(err)
	if path != field && !strings.HasSuffix(path, "."+field) || !strings.Contains(text, word) {
		t.Errorf("got %q: %q, want %q", path, text, want)
	}
}
