package wire_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// says checks the whole text of an error, which people see; none is expected where
// it is empty.
func says(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 9)
	cases := []struct {
		name string
		err  error
		want string
	}{
		{"present", wire.Present("load", true), ""},
		{"absent", wire.Present("load", false), "load: is missing"},
		{"at the limit", wire.AtMost("jobs", 8, 8), ""},
		{"above the limit", wire.AtMost("jobs", 9, 8), "jobs: has 9 entries or bytes, at most 8 are allowed"},
		{"as many as rows", wire.Length("ert", 0, 0), ""},
		{"more than rows", wire.Length("ert", 2, 1), "ert: has 2 entries, not 1"},
		{"fewer than rows", wire.Length("ert", 0, 1), "ert: has 0 entries, not 1"},
		{"no CPUs", wire.Count("cpus", 0), ""},
		{"most CPUs", wire.Count("cpus", int64(math.MaxInt32)), ""},
		{"negative CPUs", wire.Count("cpus", -1), "cpus: -1 is outside 0 to 2147483647"},
		{"too many CPUs", wire.Count("cpus", int64(1)<<31), "cpus: 2147483648 is outside 0 to 2147483647"},
		{"never", wire.Amount("awt", protocol.Never), ""},
		{"no span", wire.Amount("awt", protocol.Duration(0)), ""},
		{"negative span", wire.Amount("awt", -2*protocol.Millisecond), "awt: -2 is negative"},
		{"negative size", wire.Amount("size", int64(math.MinInt64)), "size: -9223372036854775808 is negative"},
		{"name", wire.Required("name", "12345678", 8), ""},
		{"no name", wire.Required("name", "", 8), "name: is missing"},
		{"long name", wire.Required("name", long, 8), "name: has 9 entries or bytes, at most 8 are allowed"},
		{"path", wire.UnixString("stdout", "/\xff", 8), ""},
		{"no path", wire.UnixString("stdout", "", 8), ""},
		{"NUL in a path", wire.UnixString("stdout", long+"\x00", 8), "stdout: contains a NUL byte"},
		{"long path", wire.UnixString("stdout", long, 8), "stdout: has 9 entries or bytes, at most 8 are allowed"},
		{"variable", wire.Env("A=b=c", 8), ""},
		{"empty variable", wire.Env("A=", 8), ""},
		{"no variable", wire.Env("A", 8), "is not NAME=value"},
		{"variable without a name", wire.Env("=a", 8), "is not NAME=value"},
		{"NUL in a variable", wire.Env("A=\x00", 8), "value: contains a NUL byte"},
		{"long variable", wire.Env("A="+long, 8), "value: has 11 entries or bytes, at most 8 are allowed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			says(t, c.err, c.want)
		})
	}
}

func TestFirstKeepsTheOrderOfTheList(t *testing.T) {
	t.Parallel()
	one, two := errors.New("one"), errors.New("two")
	says(t, wire.First(), "")
	says(t, wire.First(nil, nil), "")
	says(t, wire.First(nil, one, two, nil), "one")
}

// Callers tell refusals from other errors, however deep these are.
func TestFieldsAreNamedAroundTheFault(t *testing.T) {
	t.Parallel()
	fault := errors.New("is odd")
	even := func(n int) error {
		if n%2 != 0 {
			return fault
		}
		return nil
	}
	says(t, wire.In("load", nil), "")
	says(t, wire.Each("free", []int{0, 2}, even), "")
	says(t, wire.Each("free", nil, even), "")
	err := wire.In("load", wire.Each("free", []int{2, 3, 5}, even))
	says(t, err, "load: free[1]: is odd")
	if !errors.Is(err, fault) {
		t.Error("the fault is lost")
	}
}

func TestTextAndBytes(t *testing.T) {
	t.Parallel()
	says(t, wire.Text("note", "größe", 7), "")
	says(t, wire.Text("note", "größe", 6), "note: has 7 entries or bytes, at most 6 are allowed")
	says(t, wire.Text("note", "\xff", 6), "note: is not UTF-8")
	says(t, wire.Bytes("sha256", make([]byte, 32), 32), "")
	says(t, wire.Bytes("sha256", nil, 32), "sha256: has 0 bytes, not 32")
}
