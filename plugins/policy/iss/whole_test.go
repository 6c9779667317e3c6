package iss_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// drawnWeight is a weight of whole halves, so that no term of whole francs is rounded.
func drawnWeight(t *rapid.T, name string) int {
	return rapid.SampledFrom([]int{0, one / 2, one, 3 * one}).Draw(t, name)
}

// drawnWhole is an application of up to three components in up to two shapes, each with
// weights of its own, where energy may pay and some components are placed already.
func drawnWhole(t *rapid.T) policy.Snapshot {
	number := func(name string, low, high int64) int64 { return rapid.Int64Range(low, high).Draw(t, name) }
	hours := func(name string, low, high int64) protocol.Duration {
		return protocol.Duration(number(name, low, high)) * hour
	}
	sites := []policy.Site{site("a"), site("b"), site("c")}[:number("sites", 1, 3)]
	waiting := []protocol.WaitingRate{hourly(number("rate", 0, 5)), {From: 3 * hour}, {From: 6 * hour, PerHour: franc}}
	var rows []row
	for seq := range number("components", 1, 3) {
		for shape := range number("shapes", 1, 2) {
			quotes := make([]quote, len(sites))
			for s := range quotes {
				quotes[s] = quote{
					hours("wait", 0, 5), hours("run", 1, 5), number("use", 0, 9), number("license", 0, 3), number("eco", -9, 9), number("data", 0, 3),
				}
			}
			rows = append(rows, row{uint64(seq + 1), 0, int(2 - shape), quotes})
		}
	}
	a := wants(1, waiting...)
	a.Beta, a.Spent = drawnWeight(t, "beta"), protocol.Micro(number("spent", -5, 5))*franc
	a.Elapsed, a.CommittedUntil = hours("elapsed", 0, 3), hours("done", 0, 3)
	if rapid.Bool().Draw(t, "limits") {
		a.MaxCost, a.MaxTime = protocol.Micro(number("most", 0, 40))*franc, hours("latest", 1, 12)
	}
	in := snapshot(sites, []policy.Application{a}, rows...)
	for j := range in.Jobs {
		job := &in.Jobs[j]
		if j > 0 && in.Jobs[j-1].ID == job.ID {
			job.Alpha, job.Gamma, job.Delta = in.Jobs[j-1].Alpha, in.Jobs[j-1].Gamma, in.Jobs[j-1].Delta
			continue
		}
		job.Alpha, job.Gamma, job.Delta = drawnWeight(t, "alpha"), drawnWeight(t, "gamma"), drawnWeight(t, "delta")
	}
	return in
}

// worth is what a choice comes to: z of [IS 4.2], when all is done, and whether KMAX and
// TMAX are kept.
type worth struct {
	z    protocol.Micro
	end  protocol.Duration
	kept bool
}

// worthOf works the formula out for rows and sites.
func worthOf(in *policy.Snapshot, chosen []policy.Decision) worth {
	a := &in.Applications[0]
	end, bill, z := a.CommittedUntil, a.Spent, protocol.Micro(0)
	for _, d := range chosen {
		job, at := &in.Jobs[d.Job], in.At(d.Job, d.Site)
		end = max(end, in.AWT[at]+in.ERT[at])
		bill += max(0, in.UsageCost[at]+in.LicenseCost[at]+in.EnergyCost[at]+in.DataCost[at]) // a gain is no credit
		z += protocol.Micro(job.Alpha)*(in.UsageCost[at]+in.LicenseCost[at])/one + protocol.Micro(job.Gamma)*in.EnergyCost[at]/one +
			protocol.Micro(job.Delta)*in.DataCost[at]/one
	}
	z += protocol.Micro(a.Beta) * a.WaitCost(end) / one
	return worth{z, end, bill <= a.MaxCost && (a.MaxTime == never || a.Elapsed+end <= a.MaxTime)}
}

// bestOf tries all choices of the components from a row on.
func bestOf(in *policy.Snapshot, row int, chosen []policy.Decision) (best worth) {
	if row == len(in.Jobs) {
		return worthOf(in, chosen)
	}
	next := row
	for next < len(in.Jobs) && in.Jobs[next].ID == in.Jobs[row].ID {
		next++
	}
	for ; row < next; row++ {
		for s := range in.Sites {
			one := bestOf(in, next, append(slices.Clone(chosen), policy.Decision{Job: row, Site: s}))
			better := cmp.Or(cmp.Compare(one.z, best.z), cmp.Compare(one.end, best.end)) < 0
			if one.kept && (!best.kept || better) {
				best = one
			}
		}
	}
	return best
}

// TestLeast: of all choices that keep the limits, with what is spent and passed already, the
// policy takes one whose z is least, and of those one that ends earliest; where none keeps
// them, it takes none.
func TestLeast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawnWhole(t)
		best, decisions := bestOf(&in, 0, nil), decide(t, in)
		if decisions[0].Site == policy.NoSite {
			if best.kept {
				t.Fatalf("nothing was chosen (%s), and %+v is possible", decisions[0].Reason, best)
			}
			return
		}
		if got := worthOf(&in, decisions); got != best {
			t.Fatalf("got %+v by %v, want %+v", got, placed(in, decisions), best)
		}
	})
}
