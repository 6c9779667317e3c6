package usage_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched/usage"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestReport(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]protocol.Usage{
		"": {},
		"# PAPI 7.1\n\noperations = 3.2e12  # flop\naccesses=1100000000000\r\n\tsent =4e9\nmessages= 12000": {
			Mflop: 3_200_000, Mwords: 1_100_000, Sent: 4_000_000_000, Messages: 12_000,
		},
		"operations = 1":                   {Mflop: 1}, // of 0 nobody would know that it was measured
		"operations = 2.5e6":               {Mflop: 3},
		"operations = 0\nsent = 0":         {},
		"operations = 1e24\nsent = 1e18":   {Mflop: 1e18, Sent: 1e18},
		"messages = -0":                    {},
		"messages = 1e-400\naccesses = +7": {Mwords: 1, Messages: 1}, // more than 0 stays so
	} {
		if got, err := usage.ReadReport(strings.NewReader(text)); err != nil || got != want {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// TestReportIsRefused: all that is wrong is said at once, and nothing of it counts.
func TestReportIsRefused(t *testing.T) {
	t.Parallel()
	for text, words := range map[string][]string{
		"operations = 1e9\nflops = 3\nsent 4\nmessages = many": {
			`line 2: the key "flops" is unknown; there are operations, accesses, sent, messages`, `line 3: "sent 4" is not key = number`, `line 4: messages: "many" is no number`,
		},
		"sent = 1\nsent = 2":  {"line 2: duplicate key sent"},
		"energy = 0":          {`the key "energy" is unknown`},
		"sent = -1":           {"negative"},
		"sent = 1.1e18":       {"more than 1e+18"},
		"operations = 1.1e24": {"more than 1e+24"},
		"sent = 1e999":        {"more than"},
		"sent = NaN":          {"no number"},
		"sent = Inf":          {"no number"},
		"sent = 0x10":         {"no number"},
		"sent = 1_000":        {"no number"},
		"sent = ":             {"no number"},
		"sent = 1 2":          {"no number"},
		"\x00\xff":            {"line 1"},
		"# " + strings.Repeat("x", usage.MaxReport):   {"longer than 4096 bytes"},
		"sent = " + strings.Repeat("9", 2000) + "abc": {"line 1"},
	} {
		got, err := usage.ReadReport(strings.NewReader(text))
		if err == nil || got != (protocol.Usage{}) {
			t.Errorf("%.60q is read as %+v", text, got)
			continue
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%.60q: %v does not say %q", text, err, w)
			}
		}
		if len(err.Error()) > 600 {
			t.Errorf("%.60q is refused at length: %v", text, err)
		}
	}
}

func TestTakeReport(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "usage")
	if got, err := usage.TakeReport(os.Open(path)); err != nil || got != (protocol.Usage{}) {
		t.Errorf("one that is not there is %+v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("messages = 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := usage.TakeReport(file, nil); err != nil || got.Messages != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := file.Close(); !errors.Is(err, os.ErrClosed) {
		t.Error("it is left open:", err)
	}
	if _, err := usage.TakeReport(nil, fs.ErrPermission); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	if _, err := usage.TakeReport(io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// TestPrefer: the second counts only where the first has nothing.
func TestPrefer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyUsage(t, "first"), anyUsage(t, "second")
		got := usage.Prefer(a, b)
		fields := func(u protocol.Usage) []int64 {
			return []int64{int64(u.CPU), u.MemoryMB, u.Energy, u.Mflop, u.Mwords, u.Sent, u.Messages, int64(u.MHz)}
		}
		for i, field := range fields(got) {
			want := fields(a)[i]
			if want == 0 {
				want = fields(b)[i]
			}
			if field != want {
				t.Fatalf("field %d of %+v and %+v is %d", i, a, b, field)
			}
		}
	})
}

func anyUsage(t *rapid.T, name string) protocol.Usage {
	n := rapid.SliceOfN(rapid.Int64Range(0, 3), 8, 8).Draw(t, name)
	return protocol.Usage{
		CPU: protocol.Duration(n[0]), MemoryMB: n[1], Energy: n[2], Mflop: n[3],
		Mwords: n[4], Sent: n[5], Messages: n[6], MHz: int(n[7]),
	}
}

// FuzzReadReport: whatever a job writes, nothing but counts that fit comes of it, and what is
// read is read the same from the numbers that it gave.
func FuzzReadReport(f *testing.F) {
	f.Add("operations = 3.2e12\naccesses = 1e12\nsent = 4e9\nmessages = 12000\n")
	f.Add("sent = 1e309\nsent")
	f.Add("=\n#\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := usage.ReadReport(strings.NewReader(text))
		if err != nil {
			if u != (protocol.Usage{}) {
				t.Fatalf("%q is refused and read as %+v", text, u)
			}
			return
		}
		for _, n := range []int64{u.Mflop, u.Mwords, u.Sent, u.Messages} {
			if n < 0 || n > 1e18 {
				t.Fatalf("%q is read as %+v", text, u)
			}
		}
		if u.CPU != 0 || u.MemoryMB != 0 || u.Energy != 0 || u.MHz != 0 {
			t.Fatalf("%q has set what is measured: %+v", text, u)
		}
		if max(u.Mflop, u.Mwords, u.Sent, u.Messages) > math.MaxInt32 {
			return
		}
		again := fmt.Sprintf("operations = %d000000\naccesses = %d000000\nsent = %d\nmessages = %d", u.Mflop, u.Mwords, u.Sent, u.Messages)
		if back, err := usage.ReadReport(strings.NewReader(again)); err != nil || back != u {
			t.Fatalf("%q is %+v, and again %+v, %v", text, u, back, err)
		}
	})
}
