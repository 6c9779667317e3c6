package api

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// checkQuery refuses a query that cannot be read, of which [url.URL.Query] would leave a part out, and any parameter of a request that
// takes none. Handlers read the parameters of the others with [parse].
func (r *route) checkQuery(request *http.Request) error {
	q, err := url.ParseQuery(request.URL.RawQuery)
	switch {
	case err != nil:
		return refuse(view.BadRequest, "invalid parameters after ?: %v", err)
	case r.query:
		return nil
	}
	return parse(q, nil)
}

// parse reads the parameters of a request. One that it does not know is an error, so that no condition
// is passed over in silence.
func parse(q url.Values, known map[string]func([]string) error) error {
	for _, name := range slices.Sorted(maps.Keys(q)) {
		read, ok := known[name]
		if !ok {
			return refuse(view.BadRequest, "unknown parameter %.80q; use %s",
				name, cmp.Or(strings.Join(slices.Sorted(maps.Keys(known)), ", "), "none with this request"))
		}
		if err := read(q[name]); err != nil {
			return refuse(view.BadRequest, "%s: %v", name, err)
		}
	}
	return nil
}

// parseInstant reads milliseconds since 1970.
func parseInstant(s string) (protocol.Instant, error) {
	at, err := strconv.ParseInt(s, 10, 64)
	if err != nil || at < 0 {
		return 0, fmt.Errorf("invalid time %.40q; give milliseconds since 1970", s)
	}
	return protocol.Instant(at), nil
}

// into reads every value of a parameter.
func into[T any](to *[]T, parse func(string) (T, error)) func([]string) error {
	return func(values []string) error {
		if len(values) > maxValues {
			return fmt.Errorf("has %d values; at most %d are allowed", len(values), maxValues)
		}
		for _, text := range values {
			value, err := parse(text)
			if err != nil {
				return err
			}
			*to = append(*to, value)
		}
		return nil
	}
}

// once reads a parameter that is there once.
func once[T any](to *T, parse func(string) (T, error)) func([]string) error {
	return func(values []string) (err error) {
		if len(values) != 1 {
			return fmt.Errorf("is given %d times; give it once", len(values))
		}
		*to, err = parse(values[0])
		return err
	}
}

// parseBool reads a parameter that is true or false.
func parseBool(s string) (bool, error) {
	set, err := strconv.ParseBool(s)
	if err != nil {
		return false, fmt.Errorf("invalid value %.40q; use true or false", s)
	}
	return set, nil
}

func itself(s string) (string, error) { return s, nil }

func parseSite(name string) (protocol.SiteName, error) {
	if name == "" {
		return "", nil // the grid queue
	}
	return protocol.SiteName(name), protocol.SiteName(name).Validate()
}

func parseState(name string) (protocol.State, error) {
	state, err := protocol.ParseState(strings.ToUpper(name))
	if err != nil {
		return 0, fmt.Errorf("invalid value %.40q; use %s", name, strings.Join(texts(protocol.States(), protocol.State.String), ", "))
	}
	return state, nil
}

func parseStream(name string) (protocol.Stream, error) {
	switch name {
	case "stdout":
		return protocol.Stdout, nil
	case "stderr":
		return protocol.Stderr, nil
	}
	return 0, fmt.Errorf("invalid value %.40q; use stdout or stderr", name)
}

func parseOffset(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("invalid value %.40q; use a number of bytes", s)
	}
	return n, nil
}

func parseGuests(s string) (view.GuestFilter, error) {
	switch s {
	case "none":
		return view.WithoutGuests, nil
	case "only":
		return view.OnlyGuests, nil
	}
	return 0, fmt.Errorf("invalid value %q; use none or only", s)
}

func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxListed {
		return 0, fmt.Errorf("invalid number; use 1 to %d", maxListed)
	}
	return n, nil
}
