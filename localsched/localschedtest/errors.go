package localschedtest

import (
	"errors"
	"fmt"
)

// wrongError says that a call should have failed with an error, and did not.
func wrongError(call string, want, got error) error {
	if errors.Is(got, want) {
		return nil
	}
	return fmt.Errorf("%s: got the error %w, want %w", call, errOf(got), want)
}

// errOf is what is said of an error that is not there.
func errOf(err error) error {
	if err == nil {
		return errors.New("(none)")
	}
	return err
}
