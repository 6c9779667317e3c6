package policytest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// applications gives a [policy.ApplicationPolicy] jobs with objectives and limits of all kinds:
// its placements must keep the limits of the application, and must be chosen again.
func applications(ctx context.Context, s subject) error {
	if says := s.Describe(); !says.DecidesApplications() {
		return nil
	}
	for seed := range uint64(randomRounds) {
		if err := ctx.Err(); err != nil {
			return err
		}
		random := rand.New(rand.NewPCG(seed, 2))
		in := withApplications(drawn(seed, 1+random.IntN(5), random.IntN(12)), seed)
		before := clone(in)
		first, _, err := decide(ctx, s, in)
		if err == nil {
			err = limitsKept(&in, first)
		}
		if err == nil {
			err = again(ctx, s, before, first)
		}
		if err != nil {
			return fmt.Errorf("applications of snapshot %d: %w", seed, err)
		}
	}
	return nil
}

// extremeApplications gives them the least and largest values.
func extremeApplications(ctx context.Context, s subject) error {
	if says := s.Describe(); !says.DecidesApplications() {
		return nil
	}
	for seed := range uint64(randomRounds) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, _, err := decide(ctx, s, withExtremeApplications(extreme(seed), seed)); err != nil {
			return fmt.Errorf("extreme applications of snapshot %d: %w", seed, err)
		}
	}
	return nil
}

// limitsKept says which application costs more or ends later than it may, if any. Waits
// at a site that others are sent to are the policy's own business.
func limitsKept(in *policy.Snapshot, decisions []policy.Decision) error {
	cost := make([]protocol.Micro, len(in.Applications))
	for a := range cost {
		cost[a] = in.Applications[a].Spent
	}
	for _, d := range decisions {
		if d.Site == policy.NoSite {
			continue
		}
		at, of := in.At(d.Job, d.Site), in.Jobs[d.Job].Application
		a := &in.Applications[of]
		cost[of] = cost[of].Plus(in.UsageCost[at]).Plus(in.LicenseCost[at]).Plus(in.EnergyCost[at]).Plus(in.DataCost[at])
		end := a.Elapsed.Plus(max(d.Wait, in.Transfer(d.Job, d.Site))).Plus(in.ERT[at]).Plus(in.Return(d.Job, d.Site))
		if end > a.MaxTime {
			return fmt.Errorf("job %v of application %v ends %v after the submission, later than %v", in.Jobs[d.Job].ID, a.ID, end, a.MaxTime)
		}
	}
	for a, sum := range cost {
		if limit := in.Applications[a].MaxCost; sum > limit && sum != in.Applications[a].Spent {
			return fmt.Errorf("application %v costs %d millionths, more than %d", in.Applications[a].ID, sum, limit)
		}
	}
	return nil
}

// withApplications makes applications of the jobs: one after the other belongs to the same one, and
// some are shapes of the one before.
func withApplications(in policy.Snapshot, seed uint64) policy.Snapshot {
	random := rand.New(rand.NewPCG(seed, 3))
	in.Currency = "EUR"
	for j := range in.Jobs {
		job := &in.Jobs[j]
		if j == 0 || random.IntN(3) == 0 {
			in.Applications = append(in.Applications, randomApplication(random, job.ID))
		}
		job.Application = len(in.Applications) - 1
		job.Together, job.DataOut = max(0, random.IntN(5)-2), max(0, random.Int64N(20_000_000_000)-10_000_000_000)
		job.Alpha, job.Gamma, job.Delta = random.IntN(2_000_000), random.IntN(2_000_000), random.IntN(2_000_000)
		if before := max(0, j-1); j > 0 && in.Jobs[before].Application == job.Application && random.IntN(3) == 0 {
			cpus := job.CPUs
			*job = in.Jobs[before]
			job.CPUs = cpus
		}
	}
	amount := func() protocol.Micro { return protocol.Micro(random.Int64N(20_000_000) - 2_000_000) }
	for at := range in.AWT {
		use, license, eco, data := amount(), amount(), amount(), amount()
		if in.AWT[at] == protocol.Never {
			use, license, eco, data = 0, 0, 0, 0
		}
		in.UsageCost, in.LicenseCost = append(in.UsageCost, use), append(in.LicenseCost, license)
		in.EnergyCost, in.DataCost = append(in.EnergyCost, eco), append(in.DataCost, data)
	}
	return in
}

// randomApplication has random objectives and limits: half of the limits can be kept or not.
func randomApplication(random *rand.Rand, id protocol.JobID) policy.Application {
	a := policy.Application{ID: id, Beta: random.IntN(2_000_000), MaxCost: protocol.Unlimited, MaxTime: protocol.Never}
	if random.IntN(2) == 0 {
		a.MaxCost = protocol.Micro(random.Int64N(60_000_000))
		a.Spent = protocol.Micro(random.Int64N(10_000_000))
	}
	if random.IntN(2) == 0 {
		a.MaxTime = protocol.Duration(random.Int64N(int64(2 * protocol.Day)))
		a.Elapsed = protocol.Duration(random.Int64N(int64(protocol.Hour)))
	}
	if random.IntN(3) == 0 {
		a.CommittedUntil = protocol.Duration(random.Int64N(int64(protocol.Day)))
	}
	if random.IntN(3) == 0 {
		a.WaitedCost = protocol.Micro(random.Int64N(1000)) * protocol.Unit
	}
	for k := range random.IntN(4) {
		a.WaitingCost = append(a.WaitingCost, protocol.WaitingRate{
			From: protocol.Duration(k) * 6 * protocol.Hour, PerHour: protocol.Micro(random.Int64N(2)) * 50 * protocol.Unit,
		})
	}
	return a
}

// withExtremeApplications has objectives and limits of the least and largest values.
func withExtremeApplications(in policy.Snapshot, seed uint64) policy.Snapshot {
	random := rand.New(rand.NewPCG(seed, 4))
	in = withApplications(in, seed)
	amount := func() protocol.Micro {
		return []protocol.Micro{math.MinInt64, -1, 0, 1, math.MaxInt64}[random.IntN(5)]
	}
	span := func() protocol.Duration {
		return []protocol.Duration{0, 1, protocol.Never - 1, protocol.Never}[random.IntN(4)]
	}
	weight := func() int { return []int{0, 1, math.MaxInt32}[random.IntN(3)] }
	for a := range in.Applications {
		row := &in.Applications[a]
		row.Beta, row.MaxCost, row.Spent = weight(), max(0, amount()), amount()
		row.MaxTime, row.Elapsed, row.CommittedUntil = span(), span(), span()
		row.WaitedCost = max(0, amount())
		row.WaitingCost = []protocol.WaitingRate{{PerHour: max(0, amount())}, {From: min(max(1, span()), protocol.Never-1), PerHour: max(0, amount())}}
	}
	for j := range in.Jobs {
		job := &in.Jobs[j]
		job.Alpha, job.Gamma, job.Delta = weight(), weight(), weight()
		if j > 0 && in.Jobs[j-1].ID == job.ID {
			job.Alpha, job.Gamma, job.Delta = in.Jobs[j-1].Alpha, in.Jobs[j-1].Gamma, in.Jobs[j-1].Delta
		}
	}
	for at := range in.AWT {
		if in.AWT[at] != protocol.Never {
			in.UsageCost[at], in.LicenseCost[at], in.EnergyCost[at], in.DataCost[at] = amount(), amount(), amount(), amount()
		}
	}
	return in
}
