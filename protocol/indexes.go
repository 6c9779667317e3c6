package protocol

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// MaxIndex is the greatest index that an element of a job array may have, as Slurm bounds its own.
const MaxIndex = 4_000_000

// Indexes is a set of indexes of array elements, from 0 to [MaxIndex]. It is kept in runs, so that a large
// array takes little room, each of which ends before the next one begins. A set never changes; nil is empty.
type Indexes []IndexRun

// IndexRun are the indexes First, First+Step, … Last. A run of one index has the step 1.
type IndexRun struct{ First, Last, Step int }

func (r IndexRun) len() int { return (r.Last-r.First)/r.Step + 1 }

func (r IndexRun) has(i int) bool { return i >= r.First && i <= r.Last && (i-r.First)%r.Step == 0 }

// IndexesOf is the set of some indexes, in any order. Those outside of the bounds are left out.
func IndexesOf(all ...int) Indexes {
	sorted := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return i < 0 || i > MaxIndex })
	slices.Sort(sorted)
	return collectIndexes(slices.Values(slices.Compact(sorted)))
}

// collectIndexes is the set of indexes that rise.
func collectIndexes(rising iter.Seq[int]) Indexes {
	var x Indexes
	for i := range rising {
		x = x.add(i)
	}
	return x
}

// add appends an index behind the last one. It may change the last run.
func (x Indexes) add(i int) Indexes {
	last := len(x) - 1
	switch {
	case last < 0:
	case x[last].First == x[last].Last:
		x[last].Last, x[last].Step = i, i-x[last].First
		return x
	case i == x[last].Last+x[last].Step:
		x[last].Last = i
		return x
	case x[last].len() == 2 && x[last].Step > 1: // the second may begin a longer run
		second := x[last].Last
		x[last] = IndexRun{x[last].First, x[last].First, 1}
		return append(x, IndexRun{second, i, i - second})
	}
	return append(x, IndexRun{i, i, 1})
}

// addRun appends the indexes of a run, which begins behind the last one.
func (x Indexes) addRun(r IndexRun) Indexes {
	const begins = 3 // indexes after which the last run has the step of r and goes on with it
	for k := range min(r.len(), begins) {
		x = x.add(r.First + k*r.Step)
	}
	if r.len() > begins {
		x[len(x)-1].Last = r.Last
	}
	return x
}

// Check says what is wrong with the runs of a set that came from elsewhere, if anything.
func (x Indexes) Check() error {
	next := 0
	for i, r := range x {
		switch {
		case r.First < next || r.Last < r.First || r.Last > MaxIndex:
			return fmt.Errorf("run %d is from %d to %d; runs rise, and end at %d at the latest", i, r.First, r.Last, MaxIndex)
		case r.Step < 1 || (r.Last-r.First)%r.Step != 0 || r.First == r.Last && r.Step != 1:
			return fmt.Errorf("run %d, from %d to %d, has the step %d", i, r.First, r.Last, r.Step)
		}
		next = r.Last + 1
	}
	return nil
}

// ParseIndexes reads a list of indexes and ranges, as --array of sbatch(1) has it: 0-9, 0-98:2, or 1,3,5-7.
func ParseIndexes(s string) (Indexes, error) {
	var parts []IndexRun
	named := 0
	for part := range strings.SplitSeq(s, ",") {
		run, err := parseRun(part)
		if err != nil {
			return nil, fmt.Errorf("indexes %.80q: %w", s, err)
		}
		if named += run.len(); named > 2*MaxIndex {
			return nil, fmt.Errorf("indexes %.80q: name each index once", s)
		}
		parts = append(parts, run)
	}
	x, err := mergeRuns(parts)
	if err != nil {
		return nil, fmt.Errorf("indexes %.80q: %w", s, err)
	}
	return x, nil
}

// maxMixed is how far ranges of different steps may reach together where they overlap: there the indexes are looked at one by one.
const maxMixed = 10_000

// mergeRuns is the set of the indexes of runs, which it sorts. It takes time for each run, and not for each index.
func mergeRuns(runs []IndexRun) (x Indexes, err error) {
	slices.SortFunc(runs, func(a, b IndexRun) int { return cmp.Compare(a.First, b.First) })
	for len(runs) > 0 {
		overlap, end := []IndexRun{runs[0]}, runs[0].Last
		for runs = runs[1:]; len(runs) > 0 && runs[0].First <= end; runs = runs[1:] {
			last := &overlap[len(overlap)-1]
			if both, one := joined(*last, runs[0]); one {
				*last = both
			} else {
				overlap = append(overlap, runs[0])
			}
			end = max(end, runs[0].Last)
		}
		if len(overlap) == 1 {
			x = x.addRun(overlap[0])
			continue
		}
		first := overlap[0].First
		if end-first >= maxMixed {
			return nil, fmt.Errorf("ranges of different steps overlap from %d to %d, which is more than %d indexes; name each index once", first, end, maxMixed)
		}
		x = x.addMixed(overlap, first, end)
	}
	return x, nil
}

// joined are the indexes of two runs, of which the second does not begin before the first, if they are a run.
func joined(r, other IndexRun) (both IndexRun, one bool) {
	aligned := other.First <= r.Last+r.Step && (other.First-r.First)%r.Step == 0 && other.Step%r.Step == 0
	if !aligned || other.Last > r.Last && other.Step > r.Step {
		return r, false
	}
	r.Last = max(r.Last, other.Last)
	return r, true
}

// addMixed appends the indexes of runs from first to end, which is behind the last one.
func (x Indexes) addMixed(runs []IndexRun, first, end int) Indexes {
	set := make([]bool, end-first+1)
	for _, r := range runs {
		for i := r.First; i <= r.Last; i += r.Step {
			set[i-first] = true
		}
	}
	for i, there := range set {
		if there {
			x = x.add(first + i)
		}
	}
	return x
}

func parseRun(s string) (IndexRun, error) {
	bounds, stepText, stepped := strings.Cut(s, ":")
	firstText, lastText, ranged := strings.Cut(bounds, "-")
	if !ranged {
		lastText = firstText
	}
	first, err := parseIndex(firstText)
	last, lastErr := parseIndex(lastText)
	step := 1
	switch {
	case cmp.Or(err, lastErr) != nil:
		return IndexRun{}, cmp.Or(err, lastErr)
	case last < first:
		return IndexRun{}, fmt.Errorf("%.40q ends before it begins", s)
	case stepped && !ranged:
		return IndexRun{}, fmt.Errorf("%.40q has a step and no range; write it as 0-98:2", s)
	case stepped:
		if step, err = parseIndex(stepText); err != nil || step == 0 {
			return IndexRun{}, fmt.Errorf("the step of %.40q is not a number from 1 to %d", s, MaxIndex)
		}
	}
	last -= (last - first) % step
	if last == first {
		step = 1
	}
	return IndexRun{first, last, step}, nil
}

func parseIndex(s string) (int, error) {
	if strings.Trim(s, "0123456789") != "" { // Atoi takes signs, too
		return 0, fmt.Errorf("%.40q is not a number", s)
	}
	i, err := strconv.Atoi(s)
	if err != nil || i > MaxIndex {
		return 0, fmt.Errorf("%.40q is not a number from 0 to %d", s, MaxIndex)
	}
	return i, nil
}

// String is the set as Slurm shows it: 1-5,9, or 0-98:2 if it is one long range with a step.
func (x Indexes) String() string {
	const short = 10 // up to this extent Slurm lists indexes of a step
	if len(x) == 1 && x[0].Last-x[0].First > short {
		return x.text()
	}
	var out []byte
	open := IndexRun{First: -1, Step: 1} // not written yet
	for i := range x.All() {
		switch {
		case open.First < 0:
			open.First = i
		case i != open.Last+1:
			out, open.First = open.append(out), i
		}
		open.Last = i
	}
	if open.First >= 0 {
		out = open.append(out)
	}
	return string(out)
}

// text is the set in few characters, with steps wherever there are some.
func (x Indexes) text() string {
	var out []byte
	for _, r := range x {
		out = r.append(out)
	}
	return string(out)
}

func (r IndexRun) append(out []byte) []byte {
	if len(out) > 0 {
		out = append(out, ',')
	}
	out = strconv.AppendInt(out, int64(r.First), 10)
	if r.First < r.Last {
		out = strconv.AppendInt(append(out, '-'), int64(r.Last), 10)
	}
	if r.Step > 1 {
		out = strconv.AppendInt(append(out, ':'), int64(r.Step), 10)
	}
	return out
}

// MarshalText is the set as [ParseIndexes] reads it; empty for an empty one.
func (x Indexes) MarshalText() ([]byte, error) { return []byte(x.text()), nil }

// UnmarshalText reads what [Indexes.MarshalText] gives.
func (x *Indexes) UnmarshalText(text []byte) (err error) {
	*x = nil
	if len(text) > 0 {
		*x, err = ParseIndexes(string(text))
	}
	return err
}

// Len is how many indexes there are.
func (x Indexes) Len() (n int) {
	for _, r := range x {
		n += r.len()
	}
	return n
}

// IsZero says whether the set is empty.
func (x Indexes) IsZero() bool { return len(x) == 0 }

// First is the least index, and Last the greatest; -1 for an empty set.
func (x Indexes) First() int {
	if x.IsZero() {
		return -1
	}
	return x[0].First
}

// Last is the greatest index; -1 for an empty set.
func (x Indexes) Last() int {
	if x.IsZero() {
		return -1
	}
	return x[len(x)-1].Last
}

// Step is the distance of neighbors where all are equally far from each other, else 1.
func (x Indexes) Step() int {
	if len(x) == 1 {
		return x[0].Step
	}
	return 1
}

// Has says whether an index is in the set.
func (x Indexes) Has(i int) bool {
	at, _ := slices.BinarySearchFunc(x, i, func(r IndexRun, i int) int { return cmp.Compare(r.Last, i) })
	return at < len(x) && x[at].has(i)
}

// All are the indexes, rising.
func (x Indexes) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range x {
			for i := r.First; i <= r.Last; i += r.Step {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// Split is the set of the n least indexes, and that of the others.
func (x Indexes) Split(n int) (head, tail Indexes) {
	for k, r := range x {
		if r.len() <= n {
			n -= r.len()
			continue
		}
		head, tail = slices.Clone(x[:k]), slices.Clone(x[k:])
		if n > 0 {
			head = append(head, newRun(r.First, r.First+(n-1)*r.Step, r.Step))
			tail[0] = newRun(r.First+n*r.Step, r.Last, r.Step)
		}
		return head, tail
	}
	return x, nil
}

func newRun(first, last, step int) IndexRun {
	if first == last {
		step = 1
	}
	return IndexRun{first, last, step}
}

// And are the indexes that are in both sets.
func (x Indexes) And(other Indexes) Indexes { return x.where(other.Has) }

// Without are the indexes that are not in the other set.
func (x Indexes) Without(other Indexes) Indexes {
	if other.IsZero() {
		return x
	}
	return x.where(func(i int) bool { return !other.Has(i) })
}

func (x Indexes) where(wanted func(int) bool) Indexes {
	return collectIndexes(func(yield func(int) bool) {
		for i := range x.All() {
			if wanted(i) && !yield(i) {
				return
			}
		}
	})
}

// Or are the indexes that are in one of the sets.
func (x Indexes) Or(other Indexes) Indexes {
	switch {
	case x.IsZero():
		return other
	case other.IsZero():
		return x
	}
	next, stop := iter.Pull(other.All())
	defer stop()
	return collectIndexes(func(yield func(int) bool) {
		o, more := next()
		for i := range x.All() {
			for ; more && o < i; o, more = next() {
				if !yield(o) {
					return
				}
			}
			if more && o == i {
				o, more = next()
			}
			if !yield(i) {
				return
			}
		}
		for ; more; o, more = next() {
			if !yield(o) {
				return
			}
		}
	})
}

// Equal says whether two sets have the same indexes.
func (x Indexes) Equal(other Indexes) bool {
	if slices.Equal(x, other) {
		return true
	}
	return x.Len() == other.Len() && x.And(other).Len() == x.Len()
}
