package partition_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/partition"
)

// TestIntrepid checks some facts that need no file.
func TestIntrepid(t *testing.T) {
	t.Parallel()
	l := intrepid(t)
	if len(l.Partitions) != 1467 || len(l.Cards) != 1280 || l.Nodes() != 40960 {
		t.Errorf("%d partitions, %d cards, %d nodes", len(l.Partitions), len(l.Cards), l.Nodes())
	}
	sizes := map[string]int{}
	for _, p := range l.Partitions {
		if p.Nodes >= 512 && p.Kind != partition.Diagnostics {
			sizes[fmt.Sprintf("%d %v", p.Nodes, p.Kind)]++
		}
	}
	want := map[string]int{
		"512 torus": 80, "512 mesh": 2, "1024 torus": 41, "1024 mesh": 40, "2048 torus": 20, "2048 mesh": 1,
		"4096 torus": 17, "4096 mesh": 10, "8192 torus": 8, "16384 torus": 4, "24576 torus": 1, "32768 torus": 2, "40960 torus": 1,
	}
	if fmt.Sprint(sizes) != fmt.Sprint(want) {
		t.Errorf("sizes %v, want %v", sizes, want)
	}
	both := func(a, b string) bool { return !slices.Contains(conflicts(t, l, a), b) }
	for _, c := range []struct {
		a, b string
		both bool
	}{
		{"ANL-R00-M0-512", "ANL-R00-M1-512", true},
		{"ANL-R00-1024", "ANL-R01-1024", false},
		{"ANL-R00-1024", "MESH-R01-1024", false},
		{"MESH-R00-1024", "MESH-R01-1024", true},
		{"ANL-R00-1024", "ANL-R01-M0-512", true}, // passes through it
		{"ANL-R00-R03-4096", "ANL-R04-R07-4096", false},
		{"ANL-R00-R03-4096", "MESH-R04-R07-4096", false},
		{"MESH-R00-R03-4096", "MESH-R04-R07-4096", true},
		{"ANL-R00-R07-8192", "ANL-R10-R17-8192", true},
		{"ANL-R00-R13-8192", "ANL-R04-R17-8192", false},
		{"ANL-R00-R17-16384", "ANL-R20-R37-16384", true},
	} {
		if both(c.a, c.b) != c.both || both(c.b, c.a) != c.both {
			t.Errorf("%s beside %s: %v, want %v", c.a, c.b, !c.both, c.both)
		}
	}
	if text := written(t, l); text != written(t, parse(t, text)) {
		t.Error("it is not written as it is read")
	}
}

// TestIntrepidParents: every partition but the whole machine has parents, and they
// are those that its cards tell.
func TestIntrepidParents(t *testing.T) {
	t.Parallel()
	l := intrepid(t)
	for i := range l.Partitions {
		p := &l.Partitions[i]
		if !slices.Equal(p.Parents, l.Above(i)) || (len(p.Parents) == 0) != (p.Nodes == 40960) {
			t.Errorf("%s has the parents %v, its cards say %v", p.Name, p.Parents, l.Above(i))
		}
	}
}

// TestIntrepidPartitions compares with the flat form of Cobalt's file.
func TestIntrepidPartitions(t *testing.T) {
	t.Parallel()
	l := intrepid(t)
	rows := shared(t, "intrepid_partitions.csv.gz")
	if len(rows) != len(l.Partitions) {
		t.Errorf("%d partitions, want %d", len(l.Partitions), len(rows))
	}
	for _, row := range rows {
		name, nodes, wires := row[0], number(t, row[1]), number(t, row[5])
		i, ok := l.Find(name)
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		p := &l.Partitions[i]
		var cards, midplanes []string
		for _, card := range p.Cards {
			cards = append(cards, l.Cards[card].Name)
			midplanes = append(midplanes, l.Cards[card].Name[:len("R00-M0")])
		}
		midplanes = slices.Compact(midplanes)
		if p.Nodes >= 512 {
			cards = nil
		}
		if p.Nodes != nodes || len(p.Wires) != wires || len(midplanes) != number(t, row[2]) ||
			!slices.Equal(midplanes, sorted(row[3])) || !slices.Equal(cards, sorted(row[6])) {
			t.Errorf("%s: %d nodes, %d wires, midplanes %v, cards %v; want %v", name, p.Nodes, len(p.Wires), midplanes, cards, row)
		}
		if diagnostics := strings.HasPrefix(name, "_"); diagnostics != (p.Kind == partition.Diagnostics) {
			t.Errorf("%s is for diagnostics: %v", name, !diagnostics)
		}
	}
}

// TestIntrepidConflicts: of the partitions for jobs of at least a midplane, 2353 pairs
// share cards and 84 share wires only.
func TestIntrepidConflicts(t *testing.T) {
	t.Parallel()
	l := intrepid(t)
	wired := map[[2]string]bool{}
	for _, row := range shared(t, "intrepid_wire_conflicts_ge512.csv") {
		wired[[2]string{min(row[0], row[1]), max(row[0], row[1])}] = true
	}
	byCard, byWire := 0, 0
	large := func(p *partition.Partition) bool { return p.Nodes >= 512 && p.Kind != partition.Diagnostics }
	for i := range l.Partitions {
		if !large(&l.Partitions[i]) {
			continue
		}
		a := &l.Partitions[i]
		found := l.Conflicts(i)
		for j := range l.Partitions[:i] {
			b := &l.Partitions[j]
			if !large(b) {
				continue
			}
			cards := slices.ContainsFunc(a.Cards, func(card int) bool { return slices.Contains(b.Cards, card) })
			wires := wired[[2]string{b.Name, a.Name}]
			if slices.Contains(found, j) != (cards || wires) {
				t.Errorf("%s and %s: cards %v, wires %v, conflict %v", a.Name, b.Name, cards, wires, slices.Contains(found, j))
			}
			if cards {
				byCard++
			} else if wires {
				byWire++
			}
		}
	}
	if byCard != 2353 || byWire != 84 || len(wired) != 84 {
		t.Errorf("%d pairs share cards and %d wires, of %d; want 2353 and 84", byCard, byWire, len(wired))
	}
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func sorted(list string) []string { return slices.Sorted(slices.Values(strings.Fields(list))) }
