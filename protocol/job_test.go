package protocol_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestParseJobID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		id     protocol.JobID
		origin protocol.SiteNumber
		seq    uint64
		fault  string
	}{
		"7000000000042":        {id: 7_000_000_000_042, origin: 7, seq: 42},
		"9000999999999999":     {id: 9_000_999_999_999_999, origin: 9000, seq: 999_999_999_999},
		"1000000000000":        {id: 1_000_000_000_000, origin: 1},
		"9001000000000000":     {fault: "names no site"},
		"42":                   {fault: "names no site"},
		"0":                    {fault: "names no site"},
		"":                     {fault: "not a number"},
		"-1":                   {fault: "not a number"},
		"+7000000000042":       {fault: "not a number"},
		"7e12":                 {fault: "not a number"},
		"18446744073709551616": {fault: "not a number"},
		"18446744073709551615": {fault: "names no site"},
	} {
		id, err := protocol.ParseJobID(text)
		if want.fault != "" {
			if err == nil || !strings.Contains(err.Error(), want.fault) {
				t.Errorf("ParseJobID(%q): %v, want an error about %q", text, err, want.fault)
			}
			continue
		}
		if err != nil || id != want.id || id.Origin() != want.origin || id.Seq() != want.seq || id.String() != text {
			t.Errorf("ParseJobID(%q) = %v of site %d, seq %d, error %v", text, id, id.Origin(), id.Seq(), err)
		}
		if protocol.NewJobID(want.origin, want.seq) != id {
			t.Errorf("NewJobID(%d, %d) is not %v", want.origin, want.seq, id)
		}
	}
}

// TestJobIDsFitInDoubles: tools that hold numbers as doubles keep job ids exact.
func TestJobIDsFitInDoubles(t *testing.T) {
	t.Parallel()
	if largest := protocol.NewJobID(protocol.MaxSiteNumber, protocol.SeqsPerSite-1); largest >= 1<<53 {
		t.Errorf("the largest job id is %v, not below 2⁵³", largest)
	}
}

func TestParseTag(t *testing.T) {
	t.Parallel()
	for text, fault := range map[string]string{
		"7000000000042:1":          "",
		"7000000000042:4294967295": "",
		"7000000000042:4294967296": "epoch",
		"7000000000042:":           "epoch",
		"7000000000042:-1":         "epoch",
		"7000000000042:1:2":        "epoch",
		"7000000000042":            "not job:epoch",
		"42:1":                     "names no site",
		":1":                       "not a number",
		"":                         "not job:epoch",
	} {
		tag, err := protocol.ParseTag(text)
		if fault == "" && (err != nil || tag.String() != text) {
			t.Errorf("ParseTag(%q) = %v, error %v", text, tag, err)
		}
		if fault != "" && (err == nil || !strings.Contains(err.Error(), fault)) {
			t.Errorf("ParseTag(%q): %v, want an error about %q", text, err, fault)
		}
	}
}

func FuzzParseJobID(f *testing.F) {
	f.Add("7000000000042")
	f.Add("9001000000000000")
	f.Add("007000000000042")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := protocol.ParseJobID(text)
		if err != nil {
			return
		}
		if id.Origin().Validate() != nil || id >= 1<<53 {
			t.Errorf("ParseJobID(%q) = %v", text, id)
		}
		if again, err := protocol.ParseJobID(id.String()); err != nil || again != id {
			t.Errorf("%v reads back as %v, error %v", id, again, err)
		}
	})
}

func FuzzParseTag(f *testing.F) {
	f.Add("7000000000042:3")
	f.Add("7000000000042:4294967296")
	f.Add(":")
	f.Fuzz(func(t *testing.T, text string) {
		tag, err := protocol.ParseTag(text)
		if err != nil {
			return
		}
		if again, err := protocol.ParseTag(tag.String()); err != nil || again != tag {
			t.Errorf("%v reads back as %v, error %v", tag, again, err)
		}
	})
}

func TestStates(t *testing.T) {
	t.Parallel()
	terminal := map[protocol.State]bool{
		protocol.Completed: true, protocol.Failed: true, protocol.Cancelled: true,
		protocol.Timeout: true, protocol.NodeFail: true,
	}
	for _, state := range protocol.States() {
		if state.Terminal() != terminal[state] {
			t.Errorf("%v.Terminal() = %t", state, state.Terminal())
		}
		text, err := state.MarshalText()
		var back protocol.State
		if err != nil || back.UnmarshalText(text) != nil || back != state {
			t.Errorf("%v is printed as %q and read back as %v", state, text, back)
		}
	}
	for _, text := range []string{"", "STATE(0)", "pending", "COMPLETED ", "NODEFAIL"} {
		if state, err := protocol.ParseState(text); err == nil {
			t.Errorf("ParseState(%q) = %v", text, state)
		}
	}
	if protocol.State(0).Terminal() || protocol.State(200).Terminal() {
		t.Error("what is no state is terminal")
	}
}

func TestAllows(t *testing.T) {
	t.Parallel()
	anywhere, named := protocol.Spec{}, protocol.Spec{Sites: []protocol.SiteName{"b", "c"}}
	if !anywhere.Allows("a") || named.Allows("a") || !named.Allows("c") {
		t.Error("a job without sites may run anywhere, one with sites only there")
	}
}

// PowerClassOf tells users, names and sites apart, also where their letters run together, and
// is never 0, which would be unknown.
func TestPowerClassOf(t *testing.T) {
	t.Parallel()
	seen := map[uint64][]string{0: {"unknown"}}
	for _, words := range [][]string{
		{"a", "ada", "sum"},
		{"a", "ada", "sun"},
		{"a", "bob", "sum"},
		{"b", "ada", "sum"},
		{"a", "adas", "um"},
		{"aa", "da", "sum"},
		{"a", "ada", ""},
		{"", "", ""},
	} {
		like := protocol.PowerClassOf(protocol.SiteName(words[0]), words[1], words[2])
		if other, ok := seen[like]; ok {
			t.Errorf("%q and %q are alike", words, other)
		}
		seen[like] = words
	}
	if again := protocol.PowerClassOf("a", "ada", "sum"); seen[again] == nil {
		t.Errorf("a job is not like itself: %d", again)
	}
}

// TestLargestRequests: a request is as large as its bounds at most, on all nodes together.
func TestLargestRequests(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(r *protocol.Request)
		fault  string
	}{
		"the longest limit":     {func(r *protocol.Request) { r.WallTime = protocol.MaxWallTime }, ""},
		"a longer one":          {func(r *protocol.Request) { r.WallTime = protocol.MaxWallTime + 1 }, "time limit"},
		"the longest there is":  {func(r *protocol.Request) { r.WallTime = protocol.Never }, "time limit"},
		"the most memory":       {func(r *protocol.Request) { r.MemoryMB = protocol.MaxMemory }, ""},
		"more":                  {func(r *protocol.Request) { r.MemoryMB = protocol.MaxMemory + 1 }, "MB together"},
		"the most on two nodes": {func(r *protocol.Request) { r.MemoryMB, r.Nodes = protocol.MaxMemory/2, 2 }, ""},
		"more on two nodes":     {func(r *protocol.Request) { r.MemoryMB, r.Nodes = protocol.MaxMemory/2+1, 2 }, "MB together"},
		"a product of 0":        {func(r *protocol.Request) { r.MemoryMB, r.Nodes = 1<<62, 4 }, "MB together"},
	} {
		spec := protocol.Spec{Request: protocol.Request{CPUs: 4, WallTime: protocol.Hour}}
		tt.change(&spec.Request)
		switch err := spec.Check(); {
		case tt.fault == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
			t.Errorf("%s: %v, want %q", name, err, tt.fault)
		}
	}
}
