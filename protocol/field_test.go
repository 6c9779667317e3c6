package protocol_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestFieldPath(t *testing.T) {
	t.Parallel()
	missing := errors.New("is missing")
	in := func(field string, err error) error { return &protocol.FieldError{Field: field, Err: err} }
	for name, c := range map[string]struct {
		err                 error
		path, text, printed string
	}{
		"no field": {missing, "", "is missing", "is missing"},
		"one":      {in("name", missing), "name", "is missing", "name: is missing"},
		"within":   {in("outcome", in("files[2]", in("stream", missing))), "outcome.files[2].stream", "is missing", "outcome: files[2]: stream: is missing"},
		"wrapped":  {fmt.Errorf("read: %w", in("card", fmt.Errorf("of a: %w", in("site", missing)))), "card.site", "is missing", "read: card: of a: site: is missing"},
	} {
		path, text := protocol.FieldPath(c.err)
		if path != c.path || text != c.text || c.err.Error() != c.printed || !errors.Is(c.err, missing) {
			t.Errorf("%s: got %q, %q of %v", name, path, text, c.err)
		}
	}
}
