package mincostflow_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/mincostflow"
)

// reference is a row of expected.csv.
type reference struct {
	jobs, systems, capacity, pairs, flow int
	seed, hash                           uint64
	costSum, cost                        int64
}

// references are the instances that LEMON, and others where they could, solved.
func references(tb testing.TB) []reference {
	tb.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "reference", "mcmf", "expected.csv"))
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		tb.Skip(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	var all []reference
	for _, row := range rows[1:] {
		number := func(i, base int) uint64 {
			n, err := strconv.ParseUint(row[i], base, 64)
			if err != nil {
				tb.Fatal(err)
			}
			return n
		}
		all = append(all, reference{
			jobs: int(number(0, 10)), systems: int(number(1, 10)), capacity: int(number(2, 10)), seed: number(3, 10),
			pairs: int(number(4, 10)), costSum: int64(number(5, 10)), hash: number(6, 16),
			flow: int(number(7, 10)), cost: int64(number(8, 10)),
		})
	}
	return all
}

func instance(tb testing.TB, jobs, systems, capacity int, seed uint64, scale int) *mincostflow.Problem {
	tb.Helper()
	p, err := mincostflow.Instance(jobs, systems, capacity, seed, scale)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// tooLarge instances are left to the benchmark and to switchyard sim flow.
const tooLarge = 10_000_000

// TestReferenceInstances: the generator's bytes, and what others found.
func TestReferenceInstances(t *testing.T) {
	t.Parallel()
	for _, want := range references(t) {
		if want.jobs*want.systems > tooLarge {
			continue
		}
		t.Run(fmt.Sprintf("%dx%dx%d_%d", want.jobs, want.systems, want.capacity, want.seed), func(t *testing.T) {
			t.Parallel()
			p := instance(t, want.jobs, want.systems, want.capacity, want.seed, mincostflow.ReferenceScale)
			if got := p.Fingerprint(); got != (mincostflow.Fingerprint{Pairs: want.pairs, CostSum: want.costSum, Hash: want.hash}) {
				t.Fatalf("fingerprint %+v, want %+v", got, want)
			}
			s := solved(t, p, nil)
			if s.Flow != want.flow || s.Cost != want.cost {
				t.Errorf("flow %d at %d, want %d at %d", s.Flow, s.Cost, want.flow, want.cost)
			}
		})
	}
}

// TestFineInstancesResembleTheReference: a finer scale rounds the same costs later.
func TestFineInstancesResembleTheReference(t *testing.T) {
	t.Parallel()
	const fine = 1_000_000
	coarse, finer := instance(t, 300, 20, 5, 7, mincostflow.ReferenceScale), instance(t, 300, 20, 5, 7, fine)
	for i, c := range coarse.Costs {
		f := finer.Costs[i]
		if (c == mincostflow.Missing) != (f == mincostflow.Missing) {
			t.Fatalf("cost %d is missing at one scale only", i)
		}
		// The reference rounds three times, down twice by at most a hundredth of a unit.
		if off := int64(f) - int64(c)*(fine/mincostflow.ReferenceScale); c != mincostflow.Missing && (off < -5000 || off > 5200) {
			t.Fatalf("cost %d: %d at scale 100, but %d at %d", i, c, f, fine)
		}
	}
}

func TestInstanceRefusesWhatItCannotDraw(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ jobs, systems, capacity, scale int }{
		"jobs": {-1, 1, 1, 100}, "systems": {1, -1, 1, 100}, "capacity": {1, 1, -1, 100},
		"odd scale": {1, 1, 1, 102}, "no scale": {1, 1, 1, 0}, "huge scale": {1, 1, 1, 1_000_000_000},
		"many jobs": {1 << 30, 1, 1, 100}, "many systems": {1, 1 << 30, 1, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if p, err := mincostflow.Instance(c.jobs, c.systems, c.capacity, 1, c.scale); err == nil {
				t.Errorf("drew %d jobs on %d systems", p.Jobs, p.Systems)
			}
		})
	}
}
