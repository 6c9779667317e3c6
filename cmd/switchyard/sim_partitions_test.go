package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/partition"
)

// TestSimPartitions: what there is of each size, of the real machine and of others.
func TestSimPartitions(t *testing.T) {
	t.Parallel()
	lines := strings.Split(good(t, simulate(t, "partitions", "intrepid")), "\n")
	if lines[0] != "intrepid: 1467 partitions in 13 sizes, 40960 nodes on 1280 cards" {
		t.Errorf("the first line is %q", lines[0])
	}
	var midplanes, rows string
	for _, line := range lines {
		switch cells := strings.Fields(line); {
		case len(cells) > 4 && cells[0] == "512":
			midplanes = strings.Join(cells[:4], " ")
		case len(cells) > 4 && cells[0] == "4096":
			rows = strings.Join(cells[:4], " ")
		}
	}
	if midplanes != "512 80 2 80" || rows != "4096 17 10 0" {
		t.Errorf("midplanes %q, half rows %q", midplanes, rows)
	}
	var shown partitionsJSON
	if err := json.Unmarshal([]byte(good(t, simulate(t, "partitions", "--racks", "1x1", "--json"))), &shown); err != nil {
		t.Fatal(err)
	}
	largest := shown.Classes[len(shown.Classes)-1]
	// The rack excludes its 2 midplanes and the 2·(8+4+2) parts of these.
	if want := (partition.Class{Nodes: 1024, Torus: 1, Fewest: 30, Most: 30}); largest != want || shown.Nodes != 1024 || shown.Cards != 32 {
		t.Errorf("a rack: %+v, the largest %+v", shown, largest)
	}
}

// TestSimPartitionsWritesWhatItReads, packed or not.
func TestSimPartitionsWritesWhatItReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plainFile, packed := filepath.Join(dir, "p.csv"), filepath.Join(dir, "p.csv.gz")
	made := good(t, simulate(t, "partitions", "--racks", "2x4", "--write", "-"))
	good(t, simulate(t, "partitions", "--racks", "2x4", "--write", packed))
	if got := good(t, simulate(t, "partitions", packed, "--write", plainFile, "--check")); got != packed+": 279 partitions in 8 sizes, 8192 nodes on 256 cards\n" {
		t.Errorf("the check says %q", got)
	}
	if again := good(t, simulate(t, "partitions", plainFile, "--write", "-")); again != made {
		t.Error("what is written is not what was read")
	}
}

// TestSimPartitionsTellsAllThatIsWrong, with the lines.
func TestSimPartitionsTellsAllThatIsWrong(t *testing.T) {
	t.Parallel()
	bad := tempFile(t, "bad.csv", "card,A,4\npartition,P,5,torus,A\npartition,Q,4,torus,B\npartition,R,4,ring,A\n")
	for _, check := range [][]string{{"--check"}, nil} {
		got := simulate(t, append([]string{"partitions", bad}, check...)...)
		if got.code != 1 || got.stdout != "" || strings.Count(got.stderr, "\n") < 3 {
			t.Errorf("got %+v", got)
		}
		for _, want := range []string{"bad.csv:2: P is to have 5 nodes", "bad.csv:3: there is no card", "bad.csv:4: "} {
			if !strings.Contains(got.stderr, want) {
				t.Errorf("nothing says %q: %s", want, got.stderr)
			}
		}
	}
	for _, c := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{nil, 2, "missing partitions"},
		{[]string{"a", "b"}, 2, "2 files of partitions; name one"},
		{[]string{"a", "--racks", "1x1"}, 2, "mutually exclusive"},
		{[]string{"--racks", "3x3"}, 2, "--racks: rows of 3 racks cannot be laid out"},
		{[]string{"--racks", "x"}, 2, "are no racks"},
		{[]string{"none.csv"}, 3, "none.csv: no such file"},
		{[]string{bad, "--write", bad}, 2, "--write would overwrite an input file"},
	} {
		if got := simulate(t, append([]string{"partitions"}, c.args...)...); got.code != c.code || !strings.Contains(got.stderr, c.stderr) {
			t.Errorf("%q: got %+v", c.args, got)
		}
	}
}
