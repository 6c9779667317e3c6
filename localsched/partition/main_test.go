package partition_test

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/partition"
)

// small is a layout of two racks in a pair, cut by hand: two cards a rack.
const small = `# kind,name,nodes
card,R0-N0,32
card,R0-N1,32
card,R1-N0,32
card,R1-N1,32
# kind,name,nodes,type,cards,wires,parents,conflicts
partition,ALL,128,torus,R0 R1,Z0 Z1
partition,CHECK,64,diagnostics,R0
partition,MESH-R0,64,mesh,R0,Z0,ALL
partition,MESH-R1,64,mesh,R1,Z1,ALL
partition,ONE,32,mesh,R0-N0,,MESH-R0 TORUS-R0
partition,TORUS-R0,64,torus,R0,Z0 Z1,ALL
partition,TWO,32,mesh,R1-N1,,,ONE
`

func parse(tb testing.TB, text string) *partition.Layout {
	tb.Helper()
	l, err := partition.Parse(strings.NewReader(text), "machine.csv")
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func intrepid(tb testing.TB) *partition.Layout {
	tb.Helper()
	l, err := partition.Intrepid()
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func written(tb failer, l *partition.Layout) string {
	tb.Helper()
	var text strings.Builder
	if err := l.Write(&text); err != nil {
		tb.Fatalf("%v", err)
	}
	return text.String()
}

// failer is what *testing.T and *rapid.T share.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// conflicts are the names of what cannot run beside a partition.
func conflicts(tb failer, l *partition.Layout, name string) (names []string) {
	tb.Helper()
	i, ok := l.Find(name)
	if !ok {
		tb.Fatalf("there is no partition %s", name)
	}
	for _, other := range l.Conflicts(i) {
		names = append(names, l.Partitions[other].Name)
	}
	return names
}

// shared reads the rows of a CSV file that is shared beside the checkout.
func shared(t *testing.T, name string) [][]string {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "bgp", name))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	defer file.Close()
	var r io.Reader = file
	if filepath.Ext(name) == ".gz" {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}
