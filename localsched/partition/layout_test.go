package partition_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/localsched/partition"
)

func TestConflicts(t *testing.T) {
	t.Parallel()
	l := parse(t, small)
	for name, want := range map[string]string{
		"ALL":      "CHECK MESH-R0 MESH-R1 ONE TORUS-R0 TWO",
		"CHECK":    "ALL MESH-R0 ONE TORUS-R0",
		"MESH-R0":  "ALL CHECK ONE TORUS-R0",
		"MESH-R1":  "ALL TORUS-R0 TWO", // a wire of the torus, no card
		"ONE":      "ALL CHECK MESH-R0 TORUS-R0 TWO",
		"TORUS-R0": "ALL CHECK MESH-R0 MESH-R1 ONE",
		"TWO":      "ALL MESH-R1 ONE", // it names ONE
	} {
		if got := strings.Join(conflicts(t, l, name), " "); got != want {
			t.Errorf("%s excludes %s, want %s", name, got, want)
		}
	}
	if got := l.Nodes(); got != 128 {
		t.Errorf("%d nodes, want 128", got)
	}
}

// TestAbove: parents are the smallest partitions for jobs that hold more.
func TestAbove(t *testing.T) {
	t.Parallel()
	l := parse(t, small)
	for i := range l.Partitions {
		p := &l.Partitions[i]
		want := p.Parents
		switch p.Name {
		case "CHECK":
			want = []int{0} // ALL; the racks are no larger
		case "TWO":
			want = []int{3} // MESH-R1
		}
		if got := l.Above(i); !slices.Equal(got, want) {
			t.Errorf("above %s are %v, want %v", p.Name, got, want)
		}
	}
}

func TestWriteIsCanonical(t *testing.T) {
	t.Parallel()
	if got := written(t, parse(t, small)); got != small {
		t.Errorf("wrote\n%s", got)
	}
	lines := strings.Split(strings.TrimSpace(small), "\n")
	slices.Reverse(lines)
	other := strings.ReplaceAll(strings.Join(lines, "\r\n\n"), "torus,R0 R1,", " torus , R1-N1 R0  R1-N0 ,")
	if got := written(t, parse(t, other)); got != small {
		t.Errorf("of the same, told otherwise, wrote\n%s", got)
	}
}

// TestShortNamesAreClear: a prefix that is a card itself stands for that card.
func TestShortNamesAreClear(t *testing.T) {
	t.Parallel()
	l := parse(t, "card,A,1\ncard,A-1,2\ncard,A-2,4\npartition,P,1,mesh,A\npartition,Q,6,mesh,A-1 A-2\n")
	text := written(t, l)
	for _, line := range []string{"partition,P,1,mesh,A\n", "partition,Q,6,mesh,A-1 A-2\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	const cards = "card,A-1,32\ncard,A-2,32\ncard,B,32\n"
	for _, c := range []struct {
		name, text string
		line       int
		word       string
	}{
		{"empty", "# nothing\n\n", 0, "it has no partition"},
		{"no keyword", cards + "wire,X", 4, `a line begins with card, partition or #, not with "wire"`},
		{"not UTF-8", cards + "partition,P\xff,32,mesh,B", 4, "\"partition,P\\xff,32,mesh,B\" is not UTF-8"},
		{"card: fields", "card,A", 1, "a card has 3 fields, not 2"},
		{"card: trailing junk", "card,A,32,x", 1, "a card has 3 fields, not 4"},
		{"card: no name", "card,,32", 1, `"" is no name`},
		{"card: space", "card,A B,32", 1, `"A B" is no name`},
		{"card: control character", "card,A\x01,32", 1, `"A\x01" is no name`},
		{"card: nodes", "card,A,0", 1, `"0" is no number of nodes`},
		{"card: nodes with a sign", "card,A,+32", 1, `"+32" is no number of nodes`},
		{"card: too many nodes", "card,A,99999999999999999999", 1, "is no number of nodes"},
		{"card: twice", cards + "card,A-1,64", 4, "duplicate card A-1, first in line 1"},
		{"fields", cards + "partition,P,32,mesh", 4, "a partition has 5 to 8 fields, not 4"},
		{"trailing junk", cards + "partition,P,32,mesh,B,,,,x", 4, "a partition has 5 to 8 fields, not 9"},
		{"nodes", cards + "partition,P,many,mesh,B", 4, `"many" is no number of nodes`},
		{"type", cards + "partition,P,32,ring,B", 4, `"ring" is no type of partition`},
		{"twice", cards + "partition,P,32,mesh,B\npartition,P,32,mesh,B", 5, "duplicate partition P, first in line 4"},
		{"unknown card", cards + "partition,P,32,mesh,C", 4, `there is no card "C" and none below it`},
		{"half a name is no prefix", cards + "partition,P,64,mesh,A-", 4, `there is no card "A-"`},
		{"no cards", cards + "partition,P,32,mesh,", 4, "P has no cards"},
		{"card listed twice", cards + "partition,P,64,mesh,A A-2", 4, "card A-2 is listed twice"},
		{"wire listed twice", cards + "partition,P,32,mesh,B,X X", 4, "wire X is listed twice"},
		{"sum", cards + "partition,P,64,mesh,B", 4, "P is to have 64 nodes, but its cards have 32 in all"},
		{"unknown parent", cards + "partition,P,32,mesh,B,,Q", 4, `there is no partition "Q" to be a parent of P`},
		{"unknown conflict", cards + "partition,P,32,mesh,B,,,Q", 4, `there is no partition "Q" to be a conflict of P`},
		{"conflict with itself", cards + "partition,P,32,mesh,B,,,P", 4, "P is in conflict with itself"},
		{
			"no parent", cards + "partition,P,96,mesh,A B,,Q\npartition,Q,32,mesh,A-2", 4, "Q is no parent of P: it lacks 2 of its cards, the first of them A-1",
		},
		{"own parent", cards + "partition,P,32,mesh,B,,P", 4, "the parents run in a circle: P > P;"},
		{
			"cycle", cards + "partition,R,32,mesh,B,,P\npartition,O,32,mesh,B,,P\npartition,P,32,mesh,B,,Q\npartition,Q,32,mesh,B,,R", 6, "the parents run in a circle: P > Q > R > P;",
		},
		{"too large", "#" + strings.Repeat(" ", 16<<20), 0, "it has more than 16 MB"},
		{"too many", strings.Repeat("card,A,1\n", 100_001), 0, "it has 100001 cards and 0 partitions"},
	} {
		_, err := partition.Parse(strings.NewReader(c.text), "m.csv")
		if _, ok := errors.AsType[*partition.MalformedError](err); !ok {
			t.Errorf("%s: an error of type %T", c.name, err)
		}
		problemstest.Check(t, err, problemstest.At("m.csv", c.line, "", c.word))
	}
}

// TestAllProblems: what is wrong is told at once, in the order of the lines.
func TestAllProblems(t *testing.T) {
	t.Parallel()
	const text = "partition,P,64,mesh,B X,,Q\ncard,B,no\ncard,A,32\npartition,R,31,mesh,A\nend"
	want := []int{1, 1, 2, 4, 5}
	_, err := partition.Parse(strings.NewReader(text), "m.csv")
	var malformed *partition.MalformedError
	if !errors.As(err, &malformed) {
		t.Fatal(err)
	}
	var lines []int
	for _, p := range malformed.List {
		lines = append(lines, p.Line)
	}
	if !slices.Equal(lines, want) {
		t.Errorf("problems in lines %v, want %v:\n%v", lines, want, err)
	}
}

// TestMemoryIsBounded: prefixes say much with few bytes.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "card,A-%d,1\n", i)
	}
	for i := range 1000 {
		fmt.Fprintf(&text, "partition,P%d,10000,mesh,A\n", i)
	}
	_, err := partition.Parse(strings.NewReader(text.String()), "m.csv")
	problemstest.Check(t, err, problemstest.At("m.csv", 0, "", "4000000 cards in all"))
}

func TestMostProblems(t *testing.T) {
	t.Parallel()
	_, err := partition.Parse(strings.NewReader(strings.Repeat("card,A\n", 1234)), "m.csv")
	if malformed, ok := errors.AsType[*partition.MalformedError](err); !ok || len(malformed.List) != 1000 || malformed.More != 234 {
		t.Error(err)
	}
	_, err = partition.Parse(strings.NewReader(strings.Repeat("x\n", 1234)), "m.csv")
	problemstest.Check(t, err, problemstest.At("m.csv", 0, "", "1224 more lines"))
	if found := problems.Of(err); len(found) != 11 || found[0].Line != 0 {
		t.Error(err)
	}
}

// drawLayout draws the text of a layout: cards in racks, partitions of any of them,
// parents where there can be some.
func drawLayout(t *rapid.T) string {
	var text strings.Builder
	racks := rapid.IntRange(1, 4).Draw(t, "racks")
	card := func(i int) string { return fmt.Sprintf("R%d-N%d", i/4, i%4) }
	for i := range 4 * racks {
		text.WriteString("card," + card(i) + ",8\n")
	}
	sets := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.IntRange(0, 4*racks-1), 1, -1, rapid.ID), 1, 8).Draw(t, "sets")
	for i, set := range sets {
		names, parents := make([]string, len(set)), []string{}
		for j, c := range set {
			names[j] = card(c)
		}
		for j, other := range sets[:i] {
			if !slices.ContainsFunc(set, func(c int) bool { return !slices.Contains(other, c) }) {
				parents = append(parents, fmt.Sprintf("P%d", j))
			}
		}
		wires := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"X", "Y", "Z"}), rapid.ID).Draw(t, "wires")
		apart := []string{}
		if i > 0 && rapid.Bool().Draw(t, "apart") {
			apart = append(apart, "P0")
		}
		kind := rapid.SampledFrom([]string{"torus", "mesh", "diagnostics"}).Draw(t, "kind")
		fmt.Fprintf(&text, "partition,P%d,%d,%s,%s,%s,%s,%s\n", i, 8*len(set), kind,
			strings.Join(names, " "), strings.Join(wires, " "), strings.Join(parents, " "), strings.Join(apart, " "))
	}
	return text.String()
}

// TestRoundTrip: what is written is read as the same, and conflicts are what a look
// at every pair gives.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawLayout(t)
		l, err := partition.Parse(strings.NewReader(text), "drawn.csv")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		first := written(t, l)
		again, err := partition.Parse(strings.NewReader(first), "written.csv")
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if second := written(t, again); second != first {
			t.Fatalf("wrote\n%s\nand then\n%s", first, second)
		}
		for i := range l.Partitions {
			want := slices.DeleteFunc(indices(l), func(j int) bool { return i == j || !apart(l, i, j) })
			if got := again.Conflicts(i); !slices.Equal(got, want) {
				t.Fatalf("%s excludes %v, want %v\n%s", l.Partitions[i].Name, got, want, first)
			}
		}
	})
}

func indices(l *partition.Layout) []int {
	all := make([]int, len(l.Partitions))
	for i := range all {
		all[i] = i
	}
	return all
}

// apart reports whether two partitions exclude each other, by a look at all they have.
func apart(l *partition.Layout, i, j int) bool {
	a, b := &l.Partitions[i], &l.Partitions[j]
	return slices.ContainsFunc(a.Cards, func(card int) bool { return slices.Contains(b.Cards, card) }) ||
		slices.ContainsFunc(a.Wires, func(wire string) bool { return slices.Contains(b.Wires, wire) }) ||
		slices.Contains(a.Apart, j) || slices.Contains(b.Apart, i)
}

// FuzzParse: any bytes are read or refused with a line, and what is read can be
// written and read again.
func FuzzParse(f *testing.F) {
	f.Add(small)
	f.Add("card,A,32\npartition,P,32,mesh,A,,P,P\n")
	f.Add("card,A-1,1\ncard,A-1-2,1\ncard,A-1-3,2\npartition,P,3,mesh,A-1-2 A-1-3\npartition,Q,1,torus,A-1,X\n")
	f.Add("\ufeffcard,A,32\r\n#\r\npartition,-,32,mesh,A,,,")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := partition.Parse(strings.NewReader(text), "fuzz.csv")
		if err != nil {
			var malformed *partition.MalformedError
			if !errors.As(err, &malformed) || len(malformed.List) == 0 {
				t.Fatalf("%v", err)
			}
			return
		}
		first := written(t, l)
		if second := written(t, parse(t, first)); second != first {
			t.Fatalf("wrote\n%s\nand then\n%s", first, second)
		}
	})
}
