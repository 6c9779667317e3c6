package handoff_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestOutputLimit: files are collected up to the limit, all together.
func TestOutputLimit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sizes []int64
		ok    bool
	}{
		"none":           {nil, true},
		"just the limit": {[]int64{3 << 20, 1 << 20}, true},
		"a byte more":    {[]int64{3 << 20, 1<<20 + 1}, false},
		"a huge one":     {[]int64{1<<63 - 1, 1<<63 - 1}, false},
	} {
		var files []protocol.File
		for _, size := range tt.sizes {
			files = append(files, protocol.File{Size: size})
		}
		why := handoff.OutputLimitReason(files, 4<<20, 0)
		if (why == "") != tt.ok || !tt.ok && !strings.Contains(why, "4 MiB") {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestOutputTexts: what is said of output that is not where its user wants it.
func TestOutputTexts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ got, want string }{
		"written":            {handoff.NotWritten(event.CollectResult{Kept: "/k"}), ""},
		"not written":        {handoff.NotWritten(event.CollectResult{Problem: "disk full"}), "output not written: disk full"},
		"kept":               {handoff.NotWritten(event.CollectResult{Problem: "disk full", Kept: "/k"}), "output not written: disk full; it is kept in /k"},
		"gone":               {handoff.OutputGone(event.CollectResult{})[:25], "it has the output no long"},
		"nothing to be said": {handoff.WithOutput(&protocol.Outcome{Reason: "r"}, "").Reason, "r"},
		"said alone":         {handoff.WithOutput(&protocol.Outcome{}, "o").Reason, "o"},
		"said with another":  {handoff.WithOutput(&protocol.Outcome{Reason: "r"}, "o").Reason, "r; o"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", name, tt.got, tt.want)
		}
	}
	if got := handoff.OutputGone(event.CollectResult{Kept: "/k"}); !strings.HasSuffix(got, "kept in /k") {
		t.Errorf("gone, and kept: %q", got)
	}
	before := &protocol.Outcome{Reason: "r"}
	if handoff.WithOutput(before, "o"); before.Reason != "r" {
		t.Error("the outcome that was given has changed")
	}
}
