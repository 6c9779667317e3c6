package accounting_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/accounting"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestSumsLoseNothing: whatever jobs are added up by, the lines together are all jobs, exactly.
func TestSumsLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		by := rapid.SliceOfNDistinct(rapid.SampledFrom(accounting.Properties()), 0, 6, rapid.ID[string]).Draw(rt, "by")
		sums, err := accounting.NewSums(by)
		if err != nil {
			rt.Fatal(err)
		}
		jobs := rapid.IntRange(0, 30).Draw(rt, "jobs")
		cpu, energy, cost := new(big.Int), new(big.Int), map[string]*big.Int{}
		for range jobs {
			job := view.Job{
				User: rapid.SampledFrom([]string{"ann", "bob"}).Draw(rt, "user"), State: rapid.SampledFrom([]protocol.State{protocol.Failed, protocol.Completed}).Draw(rt, "state"),
				CPUs: rapid.IntRange(1, 1<<20).Draw(rt, "CPUs"), Ran: protocol.Duration(rapid.Int64Range(1, 1<<36).Draw(rt, "ran")),
				Ended: protocol.Instant(rapid.Int64Range(0, 1<<41).Draw(rt, "ended")), Usage: protocol.Usage{Energy: rapid.Int64Range(1, 1<<50).Draw(rt, "energy")},
				Bill: &view.Bill{Cost: protocol.Micro(rapid.Int64Range(-1<<50, 1<<50).Draw(rt, "cost")), Currency: rapid.SampledFrom([]string{"CHF", "EUR"}).Draw(rt, "currency")},
			}
			sums.Add(&job)
			cpu.Add(cpu, new(big.Int).Mul(big.NewInt(int64(job.CPUs)), big.NewInt(int64(job.Ran))))
			energy.Add(energy, big.NewInt(job.Usage.Energy))
			if cost[job.Bill.Currency] == nil {
				cost[job.Bill.Currency] = new(big.Int)
			}
			cost[job.Bill.Currency].Add(cost[job.Bill.Currency], big.NewInt(int64(job.Bill.Cost)))
		}
		known := sums.Usage()
		for i, line := range known.Lines {
			jobs -= int(line.Jobs)
			cpu.Sub(cpu, big.NewInt(int64(line.CPUTime)))
			energy.Sub(energy, big.NewInt(line.Energy))
			cost[line.Currency].Sub(cost[line.Currency], big.NewInt(int64(line.Cost)))
			for _, name := range by {
				if i > 0 && name == by[0] && accounting.PropertyOf(&line, name) < accounting.PropertyOf(&known.Lines[i-1], name) {
					rt.Fatalf("line %d is out of order by %s", i, name)
				}
			}
		}
		if jobs != 0 || cpu.Sign() != 0 || energy.Sign() != 0 {
			rt.Fatalf("%d jobs, %v CPU ms and %v mJ are missing", jobs, cpu, energy)
		}
		for currency, left := range cost {
			if left.Sign() != 0 {
				rt.Fatalf("%v %s are missing", left, currency)
			}
		}
	})
}

// TestSumsStayAtTheMost: a sum that no number can hold is the largest one, and not a negative one.
func TestSumsStayAtTheMost(t *testing.T) {
	t.Parallel()
	sums, _ := accounting.NewSums(nil)
	for range 3 {
		sums.Add(&view.Job{CPUs: math.MaxInt64, Ran: 1 << 40, Usage: protocol.Usage{Energy: math.MaxInt64}, Bill: &view.Bill{Cost: math.MinInt64, Currency: "CHF"}})
	}
	line := sums.Usage().Lines[0]
	if line.CPUTime != math.MaxInt64 || line.Energy != math.MaxInt64 || line.Cost != -math.MaxInt64 {
		t.Errorf("%+v", line)
	}
}

// TestWhatAJobCounts: run times of earlier versions' archives, energy without a measurement, bills that are open.
func TestWhatAJobCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		job  view.Job
		want view.UsageLine
	}{
		"as measured": {
			view.Job{CPUs: 2, Ran: 10, Started: 5, Ended: 100, Usage: protocol.Usage{CPU: 7, Energy: 3}, Energy: &view.JobEnergy{Used: 9}},
			view.UsageLine{Jobs: 1, CPUTime: 20, UsedCPU: 7, Energy: 3},
		},
		"by its power":             {view.Job{CPUs: 2, Ran: 10, Energy: &view.JobEnergy{Used: 9}}, view.UsageLine{Jobs: 1, CPUTime: 20, Energy: 9}},
		"by counters":              {view.Job{Energy: &view.JobEnergy{Used: 9, Measured: 8}}, view.UsageLine{Jobs: 1, Energy: 8}},
		"of an earlier version":    {view.Job{CPUs: 2, Started: 5, Ended: 100}, view.UsageLine{Jobs: 1, CPUTime: 190}},
		"never started":            {view.Job{CPUs: 2, Ended: 100}, view.UsageLine{Jobs: 1}},
		"never placed":             {view.Job{CPUs: 2, Array: &view.Array{Elements: protocol.IndexesOf(1, 4, 9)}}, view.UsageLine{Jobs: 3}},
		"billed":                   {view.Job{Bill: &view.Bill{Cost: 4, Currency: "CHF"}}, view.UsageLine{Jobs: 1, Cost: 4, Currency: "CHF"}},
		"billed so far, and ended": {view.Job{Bill: &view.Bill{Cost: 4, Currency: "CHF", Open: true}}, view.UsageLine{Jobs: 1}},
	} {
		sums, _ := accounting.NewSums(nil)
		sums.Add(&c.job)
		if got := sums.Usage().Lines; len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestAccountsOfUsage: the case of an account does not count, as in Slurm.
func TestAccountsOfUsage(t *testing.T) {
	t.Parallel()
	sums, err := accounting.NewSums([]string{"account"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Physics", "physics"} {
		job := view.Job{}
		job.Account = name
		sums.Add(&job)
	}
	if got := sums.Usage().Lines; len(got) != 1 || got[0].Account != "physics" || got[0].Jobs != 2 {
		t.Errorf("%+v", got)
	}
}

func TestMonths(t *testing.T) {
	t.Parallel()
	month, err := accounting.ParseMonth("2026-12")
	since, until := month.Bounds()
	if err != nil || since.Text() != "2026-12-01 00:00:00Z" || until.Text() != "2027-01-01 00:00:00Z" {
		t.Errorf("%v to %v, %v", since.Text(), until.Text(), err)
	}
	if accounting.MonthOf(since) != month || accounting.MonthOf(until-1) != month || accounting.MonthOf(until) == month || month.String() != "2026-12" {
		t.Errorf("the month of its bounds: %v, %v", accounting.MonthOf(since), accounting.MonthOf(until-1))
	}
	for _, text := range []string{"", "2026", "2026-13", "2026-1", "11-2026", "2026-11-01", "1969-12"} {
		if _, err = accounting.ParseMonth(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
