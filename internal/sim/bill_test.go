package sim_test

import (
	"math"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func close9(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestBillByHand: two jobs over the hours 10, 30 and -20 a MWh.
//
//	hour            0           1           2
//	first   2 kW    .     ######|#####.     |      half of 10 and half of 30, times 0.002 MW
//	second  3 kW    .           |########## |      three quarters of 30, times 0.003 MW
//
// The authors' code counts hours 0 and 1 of the first in full. Of the second it counts
// hour 1 in full, and three quarters of the price of hour 2 as if for a MW.
func TestBillByHand(t *testing.T) {
	t.Parallel()
	first, second := at(10, 30, -20), at(10, 30, -20)
	second.Milliwatts *= 3
	cfg := sim.Config{History: 1, Sites: []sim.Site{
		{Machine: sim.Machine{Name: "a"}, Electricity: first},
		{Machine: sim.Machine{Name: "b"}, Electricity: second},
		{Machine: sim.Machine{Name: "c"}},
	}}
	jobs := []workload.Job{{CPUs: 100}, {CPUs: 2}, {CPUs: 1}, {CPUs: 7}, {CPUs: 50}}
	r := &sim.Result{History: 1, Placements: []sim.Placement{
		{Site: 0, End: 3 * hour}, // of the history
		{Site: 0, Start: hour / 2, End: hour * 3 / 2},
		{Site: 1, Start: hour, End: hour * 7 / 4},
		{Site: -1},
		{Site: 2, End: hour}, // a site that states neither power nor prices
	}}
	b := cfg.Charge(jobs, r)
	close9(t, "cost", b.Cost, 0.002*(5+15)+0.003*22.5)
	close9(t, "MWh", b.MWh, 0.002+0.00225)
	close9(t, "by the authors' way", b.Authors, 0.002*(10+30)+0.003*30+0.75*-20)
	close9(t, "cost of a", b.Sites[0].Cost, 0.04)
	close9(t, "cost of b", b.Sites[1].Cost, 0.0675)
	close9(t, "MWh of a", b.Sites[0].MWh, 0.002)
	close9(t, "MWh of b", b.Sites[1].MWh, 0.00225)
	if b.Sites[0].Site != "a" || b.Sites[1].Site != "b" || b.Sites[2] != (sim.SiteBill{Site: "c"}) {
		t.Errorf("sites %+v", b.Sites)
	}
	r.Placements[1] = sim.Placement{Site: 0, Start: 0, End: hour} // ends with the hour: the authors count the next one
	r.Placements[2] = sim.Placement{Site: -1}
	b = cfg.Charge(jobs, r)
	close9(t, "an hour", b.Cost, 0.02)
	close9(t, "an hour by the authors' way", b.Authors, 0.002*(10+30))
}

// TestFairnessByHand: a's two measured jobs had a response of 100 s and 400 s without the
// grid and of 50 s each with it: the root of 2 · 8 is 4. b's took twice as long. Nobody
// submitted at c.
func TestFairnessByHand(t *testing.T) {
	t.Parallel()
	cfg := sim.Config{History: 1, Sites: make([]sim.Site, 3)}
	jobs := []workload.Job{{Origin: 1}, {Origin: 0, Submit: 1000}, {Origin: 0}, {Origin: 1}, {Origin: 1}}
	end := func(ms ...protocol.Instant) *sim.Result {
		r := &sim.Result{}
		for _, one := range ms {
			r.Placements = append(r.Placements, sim.Placement{End: one})
		}
		return r
	}
	without, with := end(5, 101_000, 400_000, 10_000, 77), end(9999, 51_000, 50_000, 20_000, 1)
	with.Placements[4].Site = -1
	got := cfg.Fairness(jobs, without, with, nil)
	for i, want := range []float64{4, 0.5, 1} {
		close9(t, "fairness", got[i], want)
	}
	got = cfg.Fairness(jobs, without, with, func(index int) bool { return index != 2 })
	close9(t, "of some jobs", got[0], 2)
}
