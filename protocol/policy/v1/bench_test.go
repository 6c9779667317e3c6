package policyv1_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
)

// bigRound is a round of a large grid: one quote in ten is declined, and the
// others have waits of up to a week and costs in millionths.
func bigRound(jobs, sites int) policy.Snapshot {
	random := rand.New(rand.NewPCG(1, 2))
	in := policy.Snapshot{Sites: make([]policy.Site, sites), Jobs: make([]policy.Job, jobs)}
	for s := range in.Sites {
		in.Sites[s] = policy.Site{
			Name: protocol.SiteName(fmt.Sprintf("site-%03d", s)), RUS: random.IntN(protocol.PPM),
			CPUs: 100_000, Free: 5_000, MaxJobs: jobs, Currency: "EUR",
		}
	}
	for j := range in.Jobs {
		in.Jobs[j] = policy.Job{
			ID: protocol.NewJobID(7, uint64(j)), CPUs: 1 + random.IntN(4096),
			WallTime: protocol.Hour, Waited: protocol.Duration(random.Int64N(int64(protocol.Day))),
		}
	}
	for range jobs * sites {
		awt := protocol.Duration(random.Int64N(int64(7 * protocol.Day)))
		ert := protocol.Duration(random.Int64N(int64(protocol.Day)))
		cost := protocol.Micro(random.Int64N(1_000_000_000))
		if random.IntN(10) == 0 {
			awt, ert, cost = protocol.Never, protocol.Never, 0
		}
		in.AWT, in.ERT, in.Cost = append(in.AWT, awt), append(in.ERT, ert), append(in.Cost, cost)
	}
	return in
}

// wholeRound is such a round as a policy that is whole sees it: applications of ten jobs,
// with waiting that costs by working hours, and all parts of prices.
func wholeRound(jobs, sites int) policy.Snapshot {
	in := bigRound(jobs, sites)
	in.Currency = "EUR"
	for first := 0; first < jobs; first += 10 {
		a := policy.Application{ID: in.Jobs[first].ID, Beta: protocol.PPM, MaxCost: 1_000_000_000, MaxTime: 7 * protocol.Day}
		for k := range 14 {
			a.WaitingCost = append(a.WaitingCost, protocol.WaitingRate{From: protocol.Duration(k) * 12 * protocol.Hour, PerHour: protocol.Micro(k%2) * 60_000_000})
		}
		in.Applications = append(in.Applications, a)
	}
	for j := range in.Jobs {
		job := &in.Jobs[j]
		job.Application, job.Alpha, job.Gamma, job.Delta = j/10, protocol.PPM, protocol.PPM, protocol.PPM
	}
	for _, cost := range in.Cost {
		in.UsageCost, in.LicenseCost = append(in.UsageCost, cost/2), append(in.LicenseCost, cost/8)
		in.EnergyCost, in.DataCost = append(in.EnergyCost, cost/4), append(in.DataCost, cost/16)
	}
	return in
}

func bigAnswer(in *policy.Snapshot) []policy.Decision {
	decisions := make([]policy.Decision, len(in.Jobs))
	for j := range decisions {
		site := j % len(in.Sites)
		decisions[j] = policy.Decision{
			Job: j, Site: site, Wait: in.AWT[in.At(j, site)],
			Reason: fmt.Sprintf("the least turnaround, 3h42m0s; next is %s with 3h58m0s", in.Sites[site].Name),
		}
	}
	return decisions
}

// BenchmarkWholeRound is the way there of the same round for a policy that is whole.
func BenchmarkWholeRound(b *testing.B) {
	in := wholeRound(10_000, 58)
	there := wire(b, policyv1.EncodeSnapshot(&in))
	b.Run("there/write", func(b *testing.B) {
		measure(b, len(there), func() { wire(b, policyv1.EncodeSnapshot(&in)) })
	})
	b.Run("there/read", func(b *testing.B) {
		measure(b, len(there), func() {
			m := &policyv1.DecideRequest{}
			fail(b, proto.Unmarshal(there, m))
			_, err := policyv1.DecodeSnapshot(m)
			fail(b, err)
		})
	})
}

// BenchmarkRound is all that a round of 10,000 jobs and 58 sites costs on its way
// to a plugin and back, but for the transport, in milliseconds for each direction.
func BenchmarkRound(b *testing.B) {
	in := bigRound(10_000, 58)
	answer := bigAnswer(&in)
	request, response := policyv1.EncodeSnapshot(&in), policyv1.EncodeDecisions(answer, nil)
	there, back := wire(b, request), wire(b, response)
	b.Run("there/write", func(b *testing.B) {
		measure(b, len(there), func() { wire(b, policyv1.EncodeSnapshot(&in)) })
	})
	b.Run("there/read", func(b *testing.B) {
		measure(b, len(there), func() {
			m := &policyv1.DecideRequest{}
			fail(b, proto.Unmarshal(there, m))
			_, err := policyv1.DecodeSnapshot(m)
			fail(b, err)
		})
	})
	b.Run("there/convert", func(b *testing.B) {
		measure(b, len(there), func() {
			_, err := policyv1.DecodeSnapshot(policyv1.EncodeSnapshot(&in))
			fail(b, err)
		})
	})
	b.Run("back/write", func(b *testing.B) {
		measure(b, len(back), func() { wire(b, policyv1.EncodeDecisions(answer, nil)) })
	})
	b.Run("back/read", func(b *testing.B) {
		measure(b, len(back), func() {
			m := &policyv1.DecideResponse{}
			fail(b, proto.Unmarshal(back, m))
			_, _, err := policyv1.DecodeDecisions(m)
			fail(b, err)
		})
	})
}

func measure(b *testing.B, size int, once func()) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		once()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/direction")
	b.ReportMetric(float64(size), "bytes")
}

func wire(b *testing.B, m proto.Message) []byte {
	b.Helper()
	data, err := proto.Marshal(m)
	fail(b, err)
	return data
}

func fail(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
