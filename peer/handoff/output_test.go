package handoff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/handoff"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestOutputLimit: output is collected up to the limit, all together, and the archive of files that come back up to
// its own: one that is too large leaves the other to come.
func TestOutputLimit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		output  []int64
		archive int64
		wanted  int
		why     []string
	}{
		"none":                  {nil, 0, 0, nil},
		"just the limit":        {[]int64{3 << 20, 1 << 20}, 0, 2, nil},
		"a byte more":           {[]int64{3 << 20, 1<<20 + 1}, 0, 0, []string{"4 MiB"}},
		"a huge one":            {[]int64{1<<63 - 1, 1<<63 - 1}, 0, 0, []string{"4 MiB"}},
		"a huge one first":      {[]int64{1<<63 - 1, 1}, 0, 0, []string{"4 MiB"}},
		"files":                 {[]int64{1, 1}, 1000, 3, nil},
		"files a byte more":     {[]int64{1, 1}, 1001, 2, []string{"has 1001 bytes, more than the 1000"}},
		"output, not files":     {[]int64{1, 4 << 20}, 1000, 1, []string{"4 MiB"}},
		"neither is collected":  {[]int64{1, 4 << 20}, 1001, 0, []string{"4 MiB", "1001 bytes"}},
		"files alone, too many": {nil, 1001, 0, []string{"1001 bytes"}},
	} {
		var files []protocol.File
		for i, size := range tt.output {
			files = append(files, protocol.File{Stream: []protocol.Stream{protocol.Stdout, protocol.Stderr}[i], Size: size})
		}
		if tt.archive > 0 {
			files = append(files, protocol.File{Stream: protocol.StageOutArchive, Size: tt.archive})
		}
		wanted, why := handoff.Collectable(files, 4<<20, 1000)
		if len(wanted) != tt.wanted || (why == "") != (tt.why == nil) {
			t.Errorf("%s: %+v, %q", name, wanted, why)
		}
		for _, text := range tt.why {
			if !strings.Contains(why, text) {
				t.Errorf("%s: %q", name, why)
			}
		}
	}
}

// TestOutputTexts: what is said of output that is not where its user wants it.
func TestOutputTexts(t *testing.T) {
	t.Parallel()
	kept := []view.Undelivered{{File: "stdout", Kept: "/k"}, {File: "stderr"}}
	for name, tt := range map[string]struct{ got, want string }{
		"written":            {handoff.NotWritten(event.CollectResult{Left: kept}), ""},
		"not written":        {handoff.NotWritten(event.CollectResult{Problem: "disk full"}), "output not written: disk full"},
		"kept":               {handoff.NotWritten(event.CollectResult{Problem: "disk full", Left: kept}), "output not written: disk full; it is kept in /k"},
		"gone":               {handoff.OutputGone(event.CollectResult{})[:25], "it has the output no long"},
		"nothing to be said": {handoff.WithOutput(&protocol.Outcome{Reason: "r"}, "").Reason, "r"},
		"said alone":         {handoff.WithOutput(&protocol.Outcome{}, "o").Reason, "o"},
		"said with another":  {handoff.WithOutput(&protocol.Outcome{Reason: "r"}, "o").Reason, "r; o"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", name, tt.got, tt.want)
		}
	}
	if got := handoff.OutputGone(event.CollectResult{Left: kept}); !strings.HasSuffix(got, "kept in /k") {
		t.Errorf("gone, and kept: %q", got)
	}
	before := &protocol.Outcome{Reason: "r"}
	if handoff.WithOutput(before, "o"); before.Reason != "r" {
		t.Error("the outcome that was given has changed")
	}
}

// TestUndelivered: all files of a job are undelivered but those that were brought and are not left; files that the user wants back are, too,
// if a job that has completed has none.
func TestUndelivered(t *testing.T) {
	t.Parallel()
	out, errs, archive := protocol.File{Stream: protocol.Stdout}, protocol.File{Stream: protocol.Stderr}, protocol.File{Stream: protocol.StageOutArchive}
	kept := view.Undelivered{File: "stdout", Kept: "/k"}
	for name, tt := range map[string]struct {
		o        protocol.Outcome
		stageOut bool
		brought  []protocol.File
		left     []view.Undelivered
		want     []view.Undelivered
	}{
		"all delivered":       {o: protocol.Outcome{Files: []protocol.File{out, errs}}, brought: []protocol.File{out, errs}},
		"one left":            {o: protocol.Outcome{Files: []protocol.File{out, errs}}, brought: []protocol.File{out, errs}, left: []view.Undelivered{kept}, want: []view.Undelivered{kept}},
		"one not brought":     {o: protocol.Outcome{Files: []protocol.File{out, archive}}, stageOut: true, brought: []protocol.File{out}, want: []view.Undelivered{{File: "stage-out"}}},
		"gone but for a part": {o: protocol.Outcome{Files: []protocol.File{out, errs}}, left: []view.Undelivered{kept}, want: []view.Undelivered{kept, {File: "stderr"}}},
		"no archive":          {o: protocol.Outcome{State: protocol.Completed, Files: []protocol.File{out}}, stageOut: true, brought: []protocol.File{out}, want: []view.Undelivered{{File: "stage-out"}}},
		"failed before one":   {o: protocol.Outcome{State: protocol.Failed}, stageOut: true},
	} {
		if got := handoff.Undelivered(&tt.o, tt.stageOut, tt.brought, tt.left); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
