package policytest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// site is a site of 64 CPUs that is half busy and takes any number of jobs.
func site(s int) policy.Site {
	return policy.Site{
		Name: protocol.SiteName(fmt.Sprintf("site-%02d", s)), RUS: protocol.PPM / 2, Age: protocol.Second,
		CPUs: 64, Free: 32, MaxJobs: 1 << 20, Currency: "EUR",
	}
}

// snapshotOf has sites and jobs that are all alike, so that there is nothing but
// ties. The first site decides.
func snapshotOf(sites, jobs int) policy.Snapshot {
	var in policy.Snapshot
	for s := range sites {
		in.Sites = append(in.Sites, site(s))
	}
	for j := range jobs {
		in.Jobs = append(in.Jobs, policy.Job{
			ID: protocol.NewJobID(1, uint64(j)), CPUs: 4, WallTime: protocol.Hour, Waited: protocol.Minute,
		})
		for range sites {
			in.AWT = append(in.AWT, 10*protocol.Minute)
			in.ERT = append(in.ERT, protocol.Hour)
			in.Cost = append(in.Cost, 2_000_000)
		}
	}
	return in
}

// withoutSelf is a peer's that has no machine of its own.
func withoutSelf(in policy.Snapshot) policy.Snapshot {
	in.Self = policy.NoSite
	return in
}

// decline takes back one quote.
func decline(in *policy.Snapshot, at int) {
	in.AWT[at], in.ERT[at], in.Cost[at] = protocol.Never, protocol.Never, 0
}

func allDeclined(in policy.Snapshot) policy.Snapshot {
	for at := range in.AWT {
		decline(&in, at)
	}
	return in
}

// accepting sets how many jobs each site takes.
func accepting(in policy.Snapshot, accept ...int) policy.Snapshot {
	for s, jobs := range accept {
		in.Sites[s].MaxJobs = jobs
	}
	return in
}

// priced sets the currency of each site, and what its quotes cost.
func priced(in policy.Snapshot, currencies []string, cost func(at int) protocol.Micro) policy.Snapshot {
	for s := range in.Sites {
		in.Sites[s].Currency = currencies[s%len(currencies)]
	}
	for at := range in.Cost {
		in.Cost[at] = cost(at)
	}
	return in
}

// costly is a price for each quote, in no order.
func costly(at int) protocol.Micro { return protocol.Micro(at * 7919 % 101) }

// moving gives each job data that must travel, over links of all kinds.
func moving(in policy.Snapshot) policy.Snapshot {
	for s := range in.Sites {
		in.Sites[s].Latency = protocol.Duration(s) * protocol.Second
		in.Sites[s].Bandwidth = []int64{0, 1, 125_000_000}[s%3]
	}
	for j := range in.Jobs {
		in.Jobs[j].Data = int64(j) * 1_000_000_000
	}
	return in
}

// growing has sites say how much longer each further job would wait: some of many jobs,
// some of one, some nothing.
func growing(in policy.Snapshot) policy.Snapshot {
	for s := range in.Sites {
		in.Sites[s].MarginalWaits = nil
		for k := range []int{protocol.MaxMarginalJobs - 1, 0, 1}[s%3] {
			in.Sites[s].MarginalWaits = append(in.Sites[s].MarginalWaits, protocol.Duration(k*k)*protocol.Minute)
		}
	}
	return in
}

// drawn is a random snapshot: machines of all sizes, some full, some that take few
// jobs, links and prices of all kinds, a third of the quotes declined.
func drawn(seed uint64, sites, jobs int) policy.Snapshot {
	random := rand.New(rand.NewPCG(seed, 0))
	in := snapshotOf(sites, jobs)
	for s := range in.Sites {
		row := &in.Sites[s]
		row.RUS = random.IntN(protocol.PPM + 1)
		row.Age = protocol.Duration(random.Int64N(int64(protocol.Hour)))
		row.CPUs = 1 + random.IntN(1000)
		row.Free = random.IntN(row.CPUs + 1)
		row.MaxJobs = random.IntN(max(2, jobs))
		row.Currency, row.NoEnergy = []string{"", "EUR", "USD"}[random.IntN(3)], random.IntN(4) == 0
		row.Latency = protocol.Duration(random.Int64N(int64(protocol.Second)))
		row.Bandwidth = random.Int64N(1_000_000_000)
		for range random.IntN(4) {
			row.MarginalWaits = append(row.MarginalWaits, protocol.Duration(random.Int64N(int64(protocol.Hour))))
		}
		slices.Sort(row.MarginalWaits)
		if random.IntN(2) == 0 {
			row.Resources = []protocol.Resource{{Name: protocol.GPU, Type: "a100", Count: 1 + random.IntN(64)}, {Name: "nic", Count: 1}}
		}
	}
	for j := range in.Jobs {
		in.Jobs[j].CPUs = 1 + random.IntN(500)
		in.Jobs[j].WallTime = 1 + protocol.Duration(random.Int64N(int64(protocol.Day)))
		in.Jobs[j].Waited = protocol.Duration(random.Int64N(int64(protocol.Day)))
		in.Jobs[j].Data = max(0, random.Int64N(20_000_000_000)-10_000_000_000) // half have none
		in.Jobs[j].User = fmt.Sprintf("user-%d", random.IntN(4))
		in.Jobs[j].Account, in.Jobs[j].Name = in.Jobs[j].User, []string{"", "train", "render"}[random.IntN(3)]
		in.Jobs[j].MemoryMB = max(0, random.Int64N(64_000)-32_000)
		if random.IntN(3) == 0 {
			in.Jobs[j].Nodes = 1 + random.IntN(4)
			in.Jobs[j].Resources = []protocol.Resource{{Name: protocol.GPU, Count: 1 + random.IntN(8), Per: protocol.PerNode}}
			in.Jobs[j].Features, in.Jobs[j].Exclusive = "ssd|nvme", true
		}
	}
	for at := range in.AWT {
		in.AWT[at] = protocol.Duration(random.Int64N(int64(protocol.Hour)))
		in.ERT[at] = 1 + protocol.Duration(random.Int64N(int64(protocol.Day)))
		in.Cost[at] = protocol.Micro(random.Int64N(2_000_000_000) - 1_000_000_000)
		if random.IntN(3) == 0 {
			decline(&in, at)
		}
	}
	in.Self = random.IntN(sites+1) - 1
	if random.IntN(4) == 0 {
		for range in.AWT {
			in.InPlace = append(in.InPlace, random.IntN(2) == 0)
		}
	}
	return in
}

// extreme is a random snapshot of least and largest values, as far as they travel.
func extreme(seed uint64) policy.Snapshot {
	random := rand.New(rand.NewPCG(seed, 1))
	in := snapshotOf(1+random.IntN(4), 1+random.IntN(8))
	count := func() int { return []int{0, 1, math.MaxInt32 - 1, math.MaxInt32}[random.IntN(4)] }
	span := func() protocol.Duration {
		return []protocol.Duration{0, 1, protocol.Day, protocol.Never / 2, protocol.Never - 1, protocol.Never}[random.IntN(6)]
	}
	bytes := func() int64 { return []int64{0, 1, math.MaxInt64}[random.IntN(3)] }
	for s := range in.Sites {
		row := &in.Sites[s]
		row.RUS = []int{0, protocol.PPM}[random.IntN(2)]
		row.Age, row.CPUs, row.MaxJobs = span(), count(), count()
		row.Free = min(row.CPUs, count())
		row.Currency, row.NoEnergy = []string{"", "EUR", "currency-16bytes"}[random.IntN(3)], random.IntN(2) == 0
		row.Latency, row.Bandwidth = span(), bytes()
		for range random.IntN(4) {
			row.MarginalWaits = append(row.MarginalWaits, span())
		}
		slices.Sort(row.MarginalWaits)
	}
	for j := range in.Jobs {
		in.Jobs[j].CPUs, in.Jobs[j].WallTime, in.Jobs[j].Waited = max(1, count()), max(1, span()), span()
		in.Jobs[j].Data = bytes()
	}
	for at := range in.AWT {
		in.AWT[at], in.ERT[at] = span(), span()
		in.Cost[at] = []protocol.Micro{math.MinInt64, -1, 0, 1, math.MaxInt64}[random.IntN(5)]
		if in.AWT[at] == protocol.Never {
			decline(&in, at)
		}
	}
	return in
}

// outcomes returns n outcomes of earlier decisions, at the sites of the snapshot and at one that is
// gone, with waits from none to the largest.
func outcomes(in *policy.Snapshot, seed uint64, n int) (all []policy.Outcome) {
	random := rand.New(rand.NewPCG(seed, 2))
	wait := func() protocol.Duration {
		return []protocol.Duration{0, 1, protocol.Hour, protocol.Never - 1, protocol.Never}[random.IntN(5)]
	}
	for i := range n {
		site := protocol.SiteName("a-site-that-left")
		if s := random.IntN(len(in.Sites) + 1); s < len(in.Sites) {
			site = in.Sites[s].Name
		}
		all = append(all, policy.Outcome{
			Job: protocol.NewJobID(1, uint64(i)), Site: site, DecidedAt: protocol.Instant(i), QuotedWait: wait(), Wait: wait(),
			State: protocol.States()[2+random.IntN(5)], ExitCode: random.IntN(256),
		})
	}
	return all
}

// clone is a deep copy.
func clone(in policy.Snapshot) policy.Snapshot {
	in.Sites, in.Jobs = slices.Clone(in.Sites), slices.Clone(in.Jobs)
	for s := range in.Sites {
		in.Sites[s].MarginalWaits = slices.Clone(in.Sites[s].MarginalWaits)
		in.Sites[s].Resources = slices.Clone(in.Sites[s].Resources)
	}
	for j := range in.Jobs {
		in.Jobs[j].Resources = slices.Clone(in.Jobs[j].Resources)
	}
	in.AWT, in.ERT, in.Cost, in.InPlace = slices.Clone(in.AWT), slices.Clone(in.ERT), slices.Clone(in.Cost), slices.Clone(in.InPlace)
	in.Applications = slices.Clone(in.Applications)
	for a := range in.Applications {
		in.Applications[a].WaitingCost = slices.Clone(in.Applications[a].WaitingCost)
	}
	in.UsageCost, in.LicenseCost, in.EnergyCost, in.DataCost = slices.Clone(in.UsageCost), slices.Clone(in.LicenseCost), slices.Clone(in.EnergyCost), slices.Clone(in.DataCost)
	in.Outcomes, in.Hint = slices.Clone(in.Outcomes), slices.Clone(in.Hint)
	return in
}

// reordered is the snapshot with its rows in another order: job j of the result is
// jobs[j] of the snapshot, and so for sites, whose names stay sorted.
func reordered(in policy.Snapshot, sites, jobs []int) policy.Snapshot {
	out := clone(in)
	columns := func(of *policy.Snapshot) [][]protocol.Micro {
		return [][]protocol.Micro{of.UsageCost, of.LicenseCost, of.EnergyCost, of.DataCost}
	}
	for s, from := range sites {
		name := in.Sites[s].Name
		out.Sites[s] = in.Sites[from]
		out.Sites[s].Name = name
		if from == in.Self {
			out.Self = s
		}
	}
	for j, row := range jobs {
		out.Jobs[j] = in.Jobs[row]
		for s, column := range sites {
			to, from := out.At(j, s), in.At(row, column)
			out.AWT[to], out.ERT[to], out.Cost[to] = in.AWT[from], in.ERT[from], in.Cost[from]
			if len(in.InPlace) > 0 {
				out.InPlace[to] = in.InPlace[from]
			}
			for c, column := range columns(&out) {
				if len(column) > 0 {
					column[to] = columns(&in)[c][from]
				}
			}
		}
	}
	return out
}

// inOrder are the numbers from 0 to n-1.
func inOrder(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}
