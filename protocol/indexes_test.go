package protocol_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestParseArray: arrays as sbatch takes them, and as Slurm shows them.
func TestParseArray(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		text     string
		elements int
		throttle int
	}{
		"0-99%10":       {"0-99%10", 100, 10},
		"0-98:2":        {"0-98:2", 50, 0},
		"0-99:2":        {"0-98:2", 50, 0},
		"1-8:2":         {"1,3,5,7", 4, 0},
		"7":             {"7", 1, 0},
		"1,3,5-7":       {"1,3,5-7", 5, 0},
		"5-7,1,3":       {"1,3,5-7", 5, 0},
		"1-5,3-9,2":     {"1-9", 9, 0},
		"1,2,3%1":       {"1-3%1", 3, 1},
		"0-4000000":     {"0-4000000", 4_000_001, 0},
		"3-3:7":         {"3", 1, 0},
		"0-20:5,1-21:5": {"0-1,5-6,10-11,15-16,20-21", 10, 0},
		"007":           {"7", 1, 0},
	} {
		got, err := protocol.ParseArray(in)
		if err != nil || got.String() != want.text || got.Indexes.Len() != want.elements || got.Throttle != want.throttle {
			t.Errorf("%s: %s of %d elements, %d at once: %v", in, got, got.Indexes.Len(), got.Throttle, err)
		}
	}
	for _, wrong := range []string{
		"", "%5", "a", "-1", "1-", "5-3", "1-5%", "1-5%0", "1-5%-1", "1-5%+1", "1-5%x", "1:2", "1-5:0", "1-5:", "4000001", "1,,2", "1, 2", "+1",
		"0x1", "1_000", "99999999999999999999", "1-5%1%2", "1-2-3", "0-4000000,0-4000000,1", "0-4000000:2,1-4000000:3",
	} {
		if got, err := protocol.ParseArray(wrong); err == nil {
			t.Errorf("%q is read as %s", wrong, got)
		}
	}
}

// TestIndexes compares sets of indexes with maps, in every operation and through their text.
func TestIndexes(t *testing.T) {
	t.Parallel()
	draw := rapid.Custom(func(t *rapid.T) []int {
		var all []int
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			first, step := rapid.IntRange(0, 60).Draw(t, "first"), rapid.IntRange(1, 5).Draw(t, "step")
			for k := range rapid.IntRange(1, 12).Draw(t, "count") {
				all = append(all, first+k*step)
			}
		}
		return all
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		x, y := protocol.IndexesOf(a...), protocol.IndexesOf(b...)
		inA, inB := set(a), set(b)
		same(t, "of", x, inA)
		same(t, "or", x.Or(y), union(inA, inB))
		same(t, "and", x.And(y), kept(inA, func(i int) bool { return inB[i] }))
		same(t, "without", x.Without(y), kept(inA, func(i int) bool { return !inB[i] }))
		n := rapid.IntRange(0, 1+len(inA)).Draw(t, "n")
		sorted := slices.Sorted(maps.Keys(inA))
		head, tail := x.Split(n)
		same(t, "head", head, set(sorted[:min(n, len(sorted))]))
		same(t, "tail", tail, set(sorted[min(n, len(sorted)):]))
		if x.Equal(y) != maps.Equal(inA, inB) || !x.Equal(head.Or(tail)) {
			t.Fatalf("%v and %v: equal %t", x, y, x.Equal(y))
		}
		if len(sorted) > 0 {
			read, err := protocol.ParseIndexes(x.String())
			if err != nil || !read.Equal(x) || x.First() != sorted[0] || x.Last() != sorted[len(sorted)-1] {
				t.Fatalf("%v: read as %v: %v", x, read, err)
			}
		}
		var back protocol.Indexes
		if data, err := json.Marshal(x); err != nil || json.Unmarshal(data, &back) != nil || !back.Equal(x) {
			t.Fatalf("%v: %s becomes %v: %v", x, data, back, err)
		}
	})
}

func set(all []int) map[int]bool {
	in := map[int]bool{}
	for _, i := range all {
		in[i] = true
	}
	return in
}

func union(a, b map[int]bool) map[int]bool {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

func kept(all map[int]bool, wanted func(int) bool) map[int]bool {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(i int, _ bool) bool { return !wanted(i) })
	return out
}

// same compares a set in all that it says of itself.
func same(t *rapid.T, what string, x protocol.Indexes, want map[int]bool) {
	t.Helper()
	got := slices.Collect(x.All())
	if !slices.Equal(got, slices.Sorted(maps.Keys(want))) || x.Len() != len(want) || x.IsZero() != (len(want) == 0) {
		t.Fatalf("%s: %v (%d), want %v", what, got, x.Len(), want)
	}
	for i := range 130 {
		if x.Has(i) != want[i] {
			t.Fatalf("%s: %v has %d: %t", what, x, i, x.Has(i))
		}
	}
}

// TestIndexesAreSmall: what is regular takes little room, and no long time.
func TestIndexesAreSmall(t *testing.T) {
	t.Parallel()
	all, err := protocol.ParseIndexes("0-4000000:2")
	if err != nil {
		t.Fatal(err)
	}
	_, tail := all.Split(1_000_000)
	if text := tail.String(); text != "2000000-4000000:2" || tail.Step() != 2 {
		t.Errorf("the second half is %s", text)
	}
}

// TestParseIndexesOfRuns compares sets that are read from ranges, which may overlap, with maps.
func TestParseIndexesOfRuns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var parts []string
		want := map[int]bool{}
		for range rapid.IntRange(1, 8).Draw(t, "runs") {
			first, step := rapid.IntRange(0, 60).Draw(t, "first"), rapid.IntRange(1, 5).Draw(t, "step")
			last := rapid.IntRange(first, 129).Draw(t, "last")
			for i := first; i <= last; i += step {
				want[i] = true
			}
			parts = append(parts, fmt.Sprintf("%d-%d:%d", first, last, step))
		}
		x, err := protocol.ParseIndexes(strings.Join(parts, ","))
		if err != nil || x.Check() != nil {
			t.Fatalf("%v: %v, %v", parts, err, x.Check())
		}
		same(t, strings.Join(parts, ","), x, want)
		if of := protocol.IndexesOf(slices.Collect(maps.Keys(want))...); !slices.Equal(x, of) {
			t.Fatalf("%v: has the runs %v, and those of its indexes are %v", parts, []protocol.IndexRun(x), []protocol.IndexRun(of))
		}
	})
}

// TestParsingIndexesIsCheap: long ranges take no more than short ones, whatever else is named with them.
func TestParsingIndexesIsCheap(t *testing.T) { // alone: it measures what is allocated
	for _, text := range []string{
		"0-3999999,3", "3,0-3999999", "0-3999999:2,4", "0-2000000,1000000-4000000", "0-1999999,2000000-3999999", "0-3999999,0-3999999:3",
		"0-3999999:2,1-3999999:3",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 100 {
			_, _ = protocol.ParseIndexes(text) // the last is refused, for this reason
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / 100; each > 4096 {
			t.Errorf("%s takes %d bytes", text, each)
		}
	}
}

// TestJobNames: jobs, elements and lists of elements, as people write them.
func TestJobNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		text string
		id   protocol.JobID
		one  bool
	}{
		"1000000000042":         {"1000000000042", 1000000000042, true},
		"1000000000042_0":       {"1000000000042_0", 1000000000043, true},
		"1000000000042_7":       {"1000000000042_7", 1000000000050, true},
		"1000000000042_[7]":     {"1000000000042_7", 1000000000050, true},
		"1000000000042_[1-5,9]": {"1000000000042_[1-5,9]", 1000000000042, false},
		"1000000000042_[1-5%2]": {"1000000000042_[1-5]", 1000000000042, false},
	} {
		name, err := protocol.ParseJobName(in)
		if id, one := name.ID(); err != nil || name.String() != want.text || id != want.id || one != want.one {
			t.Errorf("%s: %s, %v, %t: %v", in, name, id, one, err)
		}
	}
	for _, wrong := range []string{"", "x", "1000000000042_", "1000000000042_x", "1000000000042_[1-5", "1000000000042_1-5", "1000000000042_[]", "_3", "1000000000042_-1"} {
		if name, err := protocol.ParseJobName(wrong); err == nil {
			t.Errorf("%q is read as %s", wrong, name)
		}
	}
}

// TestBlock: the IDs of an array's elements are in its block, each once, and its own is none of them.
func TestBlock(t *testing.T) {
	t.Parallel()
	a, err := protocol.ParseArray("3,9-20:2")
	if err != nil {
		t.Fatal(err)
	}
	id, seen := protocol.NewJobID(1, 50), map[protocol.JobID]bool{protocol.NewJobID(1, 50): true}
	for i := range a.Indexes.All() {
		one := protocol.Element{Array: id, Index: i}.ID()
		if seen[one] || one.Seq() >= id.Seq()+a.Block() {
			t.Errorf("element %d has the ID %v", i, one)
		}
		seen[one] = true
	}
	for _, wrong := range []*protocol.Array{{}, {Indexes: a.Indexes, Throttle: -1}} {
		if wrong.Check() == nil {
			t.Errorf("%+v is taken for an array", wrong)
		}
	}
}

// FuzzArray reads arrays and names of jobs; what is read is read again from its text.
func FuzzArray(f *testing.F) {
	for _, seed := range []string{"0-99%10", "0-98:2", "1,3,5-7", "5-3", "1000000000042_[1-5,9]", "1000000000042_7"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if a, err := protocol.ParseArray(s); err == nil && a.Check() == nil {
			again, err := protocol.ParseArray(a.String())
			if err != nil || !again.Indexes.Equal(a.Indexes) || again.Throttle != a.Throttle {
				t.Fatalf("%q: %s becomes %s: %v", s, a, again, err)
			}
		}
		if name, err := protocol.ParseJobName(s); err == nil {
			again, err := protocol.ParseJobName(name.String())
			if err != nil || again.Job != name.Job || !again.Elements.Equal(name.Elements) {
				t.Fatalf("%q: %s becomes %s: %v", s, name, again, err)
			}
		}
	})
}
