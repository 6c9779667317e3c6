package main

import (
	"bufio"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const printed = `goos: linux
pkg: github.com/switchyard-hpc/switchyard/peer/store
cpu: AMD EPYC
BenchmarkCommit/1-2     	     100	      3000 ns/op	         2.00 x-raw-append-fsync	      50 jobs/s	 10 B/op	 1 allocs/op
BenchmarkCommit/1-2     	     100	      1000 ns/op	         4.00 x-raw-append-fsync	      50 jobs/s	 10 B/op	 1 allocs/op
BenchmarkCommit/1-2     	     100	      2000 ns/op	         3.00 x-raw-append-fsync	      50 jobs/s	 10 B/op	 1 allocs/op
BenchmarkCommit/1: a line of a log
PASS
ok  	github.com/switchyard-hpc/switchyard/peer/store	1.2s
`

// Times are divided by the reference, units that are ratios stay, others are left out, and the
// median of the repetitions counts.
func TestParseBenchmarks(t *testing.T) {
	t.Parallel()
	got := parseBenchmarks(bufio.NewScanner(strings.NewReader(printed)), 1000)
	want := ratios{{"peer/store.Commit/1", timeUnit}: 2, {"peer/store.Commit/1", "x-raw-append-fsync"}: 3}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	again, err := parseRatios(got.text())
	if err != nil || !maps.Equal(again, want) {
		t.Errorf("read back: %v, %v", again, err)
	}
}

func TestParseRatiosFails(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# a comment\na\tx-raw":  "line 2 has 2 columns",
		"a\tx-raw\tfast":         `invalid ratio "fast"`,
		"a\tx-raw\t1\nb x-raw 2": "line 2 has 1 columns",
	} {
		if _, err := parseRatios([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// A run without packages prints no ratio and keeps the recorded ones.
func TestRecordedStays(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "recorded.tsv")
	old := ratios{{"peer.Step", timeUnit}: 0.5}
	if err := os.WriteFile(file, old.text(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), config{recorded: file, record: true}, nil, io.Discard); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(file)
	if err != nil || string(kept) != string(old.text()) {
		t.Errorf("got %s, %v", kept, err)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	measured := ratios{{"peer.Step", timeUnit}: 0.6, {"peer.New", timeUnit}: 2}
	got := table(measured, ratios{{"peer.Step", timeUnit}: 0.5}).Text("", true)
	want := "" +
		"BENCHMARK  UNIT         NEW  RECORDED  NEW/RECORDED\n" +
		"peer.New   x-reference    2         -             -\n" +
		"peer.Step  x-reference  0.6       0.5          1.20\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}
