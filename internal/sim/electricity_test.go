package sim_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const second, hour = protocol.Instant(protocol.Second), protocol.Instant(protocol.Hour)

// cycles is the small grid under the policy mcmf, by a scheme.
func cycles(t testing.TB, scheme sim.Scheme) sim.Config {
	t.Helper()
	flow, err := mcmf.New(mcmf.Published(mcmf.Full))
	if err != nil {
		t.Fatal(err)
	}
	cfg := three(policy.Cycle)
	cfg.Scheme, cfg.Policy = scheme, flow
	return cfg
}

// schemesOfPeers are the schemes with peers: the live one, and that of [MC].
func schemesOfPeers() []sim.Scheme { return []sim.Scheme{sim.Distributed, sim.Central} }

// prices are slots of an hour from the workload's beginning, in whole units.
func prices(units ...int64) []price.Slot {
	var slots []price.Slot
	for i, one := range units {
		slots = append(slots, price.Slot{
			Start: protocol.Instant(i) * hour, Length: protocol.Hour, Price: protocol.Micro(one) * protocol.Unit,
		})
	}
	return slots
}

// at is electricity of a kilowatt for each CPU, at these prices.
func at(units ...int64) sim.Electricity {
	slots := prices(units...)
	series := price.Series{Slots: slots}
	return sim.Electricity{
		Milliwatts: 1_000_000, Paid: price.NewMeter(series), Slots: slots,
		Ahead: func(query price.Query) (price.Forecast, error) {
			if query.From < 0 || query.From > 400*hour || query.Until.Sub(query.From) != 7*protocol.Day { // or it is on the peers' clock
				return price.Forecast{}, fmt.Errorf("asked for %+v", query)
			}
			return price.Forecast{Prices: series, TwoPrice: series, PublishedUntil: slots[len(slots)-1].End(), Currency: "USD"}, nil
		},
	}
}

// TestHistoryAndLocalShareStayHome: the first jobs and a share of the others run where
// they were submitted, whatever the scheme; the rest goes through the grid.
func TestHistoryAndLocalShareStayHome(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemesOfPeers() {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			cfg := cycles(t, scheme)
			cfg.History, cfg.LocalShare = 100, 300_000
			jobs := work(400, 4)
			r, m := run(t, cfg, jobs)
			grid, moved := 0, 0
			for i, p := range r.Placements {
				through := cfg.ThroughGrid(i)
				if i < cfg.History && through {
					t.Errorf("job %d of the history goes through the grid", i)
				}
				if !through && p.Site != jobs[i].Origin {
					t.Errorf("job %d of site %d stays at home, and ran at %d", i, jobs[i].Origin, p.Site)
				}
				if through {
					grid++
					if p.Site != jobs[i].Origin {
						moved++
					}
				}
			}
			if grid < 180 || grid > 240 || moved < grid/4 {
				t.Errorf("%d of 300 jobs go through the grid, %d of them move", grid, moved)
			}
			if m.Unplaced != 0 || m.Jobs != 300 {
				t.Errorf("%d jobs are measured, %d unplaced", m.Jobs, m.Unplaced)
			}
			other := cfg
			other.Seed++
			same := 0
			for i := cfg.History; i < len(jobs); i++ {
				if other.ThroughGrid(i) == cfg.ThroughGrid(i) {
					same++
				}
			}
			if same > 250 {
				t.Errorf("another seed lets the same %d of 300 jobs stay", same)
			}
		})
	}
}

// TestCyclesByHand: on idle machines jobs of the history start at once; the others in a
// cycle a minute after the first that came into the empty queue, all together.
func TestCyclesByHand(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemesOfPeers() {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			cfg := cycles(t, scheme)
			cfg.History = 1
			var jobs []workload.Job
			for _, submit := range []protocol.Instant{5, 10, 65, 71, 300} {
				jobs = append(jobs, workload.Job{Submit: submit * second, Run: 1000, Estimate: 1000, CPUs: 1})
			}
			r, _ := run(t, cfg, jobs)
			var starts []protocol.Instant
			for _, p := range r.Placements {
				starts = append(starts, p.Start/second)
			}
			want := []protocol.Instant{5, 70, 70, 131, 360}
			if !slices.Equal(starts, want) {
				t.Errorf("starts %v, want %v", starts, want)
			}
		})
	}
}

// TestMaxQ: no site takes more of the grid's jobs in a period than MaxQ, whoever sends them.
// The machines are so large that what is taken starts at once.
func TestMaxQ(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemesOfPeers() {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			cfg := cycles(t, scheme)
			cfg.Tuning.MaxJobsPerCycle = 3
			var jobs []workload.Job
			for i := range 100 {
				jobs = append(jobs, workload.Job{
					Origin: i % 3, Submit: protocol.Instant(i/3) * second, Run: 5000, Estimate: 5000, CPUs: 1,
				})
			}
			r, m := run(t, cfg, jobs)
			taken, most := map[[2]int64]int{}, 0
			for _, p := range r.Placements {
				key := [2]int64{int64(p.Site), int64(p.Start) / int64(protocol.Minute)}
				taken[key]++
				most = max(most, taken[key])
			}
			if most != 3 || m.Unplaced > 0 {
				t.Errorf("a site has taken %d jobs in a period, %d are unplaced", most, m.Unplaced)
			}
			last := slices.MaxFunc(r.Placements, func(a, b sim.Placement) int { return int(a.Start - b.Start) }).Start
			if minute := int64(last) / int64(protocol.Minute); minute < 12 {
				t.Errorf("the last of 100 jobs started in minute %d, though there are 9 a minute", minute)
			}
		})
	}
}

// staged is a site of one CPU, whose jobs of two must go to the other one, which is busy
// for a while. Data take 2 s and a GB at 100 MB/s: 12 s in all.
func staged(scheme sim.Scheme, busy int64) (sim.Config, []workload.Job) {
	cfg := sim.Config{
		Seed: 1, Scheme: scheme, Policy: tc.New(tc.Config{}), Tuning: rules.RuntimeConfig{Initiation: policy.Sender}, History: 1,
		Sites: []sim.Site{
			{Machine: sim.Machine{Name: "a", Nodes: 1, CPUsPerNode: 1}, Local: engine.EASY()},
			{Machine: sim.Machine{Name: "b", Nodes: 2, CPUsPerNode: 1}, Local: engine.EASY()},
		},
		Stage: sim.Stage{Sizes: []int64{1e9}, Links: [][]sim.DataLink{
			{{}, {Latency: 2 * protocol.Second, Bandwidth: 1e8}},
			{{Latency: protocol.Second, Bandwidth: 1e9}, {}},
		}},
	}
	span := protocol.Duration(busy) * protocol.Second
	return cfg, []workload.Job{
		{ID: 1, Origin: 1, Run: span, Estimate: span, CPUs: 2},
		{ID: 2, Origin: 0, Run: 100 * protocol.Second, Estimate: 100 * protocol.Second, CPUs: 2},
	}
}

// TestStageByHand: the response with data is max(wait, transfer) + run ([MC] equation 10);
// nodes stand held meanwhile.
func TestStageByHand(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemesOfPeers() {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			for busy, want := range map[int64]sim.Placement{
				1:  {Site: 1, Start: 1 * second, End: (12 + 100) * second},
				5:  {Site: 1, Start: 5 * second, End: (12 + 100) * second},
				12: {Site: 1, Start: 12 * second, End: (12 + 100) * second},
				30: {Site: 1, Start: 30 * second, End: (30 + 100) * second},
			} {
				cfg, jobs := staged(scheme, busy)
				r, _ := run(t, cfg, jobs)
				if r.Placements[1] != want {
					t.Errorf("behind %d s: %+v, want %+v", busy, r.Placements[1], want)
				}
				if own := r.Placements[0]; own.End != protocol.Instant(busy)*second {
					t.Errorf("at home no data travel: %+v", own)
				}
			}
			cfg, jobs := staged(scheme, 5)
			cfg.Stage.Sizes = nil
			if r, _ := run(t, cfg, jobs); r.Placements[1].End != 105*second {
				t.Errorf("without data: %+v", r.Placements[1])
			}
		})
	}
}

// TestLinksOfRequestedData: the origin pays for the way of the data that a job's request states, there and back,
// where no site charges anything and no sizes are drawn.
func TestLinksOfRequestedData(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemesOfPeers() {
		for name, c := range map[string]struct {
			data, out int64
			want      protocol.Micro
		}{
			// 12 s there and 7 s back, at 36 an hour, and 1 a GB.
			"there":          {1e9, 0, 1_120_000},
			"back":           {0, 5e8, 570_000},
			"there and back": {1e9, 5e8, 1_690_000},
		} {
			cfg, jobs := staged(scheme, 5)
			cfg.Stage.Sizes = nil
			cfg.Stage.Links[0][1].PerGB, cfg.Stage.Links[0][1].PerHour = protocol.Unit, 36*protocol.Unit
			cfg.Requests = []*protocol.Spec{nil, {Data: c.data, DataOut: c.out}}
			r, _ := run(t, cfg, jobs)
			if len(r.Ledgers) != 2 || r.Ledgers[0].Links != c.want || r.Ledgers[1].Links != 0 || r.Ledgers[1].Income != 0 {
				t.Errorf("%s, %s: %+v, want links of %d", scheme, name, r.Ledgers, c.want)
			}
		}
	}
}

// TestTransferIsSeen: the policy of a site is told the link, and the portal a wait that
// counts it.
func TestTransferIsSeen(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemesOfPeers() {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			cfg, jobs := staged(scheme, 5)
			seen := &witness{Policy: cfg.Policy}
			cfg.Policy = seen
			run(t, cfg, jobs)
			if len(seen.snapshots) != 1 {
				t.Fatalf("%d rounds", len(seen.snapshots))
			}
			in := seen.snapshots[0]
			b := slices.IndexFunc(in.Sites, func(s policy.Site) bool { return s.Name == "b" })
			awt, transfer := in.AWT[in.At(0, b)], in.Transfer(0, b)
			want := [2]protocol.Duration{5 * protocol.Second, 12 * protocol.Second}
			if scheme == sim.Central {
				want = [2]protocol.Duration{12 * protocol.Second, 0}
			}
			if got := [2]protocol.Duration{awt, transfer}; got != want {
				t.Errorf("wait and transfer are %v, want %v", got, want)
			}
		})
	}
}

// witness keeps what a policy is asked.
type witness struct {
	policy.Policy
	snapshots []policy.Snapshot
}

// Describe implements [policy.Describer].
func (w *witness) Describe() policy.Description { return policy.Describe(w.Policy) }

// Decide implements [policy.Policy].
func (w *witness) Decide(ctx context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	w.snapshots = append(w.snapshots, in)
	return w.Policy.Decide(ctx, in)
}

// TestPerturbedWaits: each planned wait is off by a chance of its own, within the bound,
// never below 0; the same for the same seed.
func TestPerturbedWaits(t *testing.T) {
	t.Parallel()
	const bound = 20 * protocol.Minute
	waits := func(seed uint64, perturb protocol.Duration) (all []protocol.Duration) {
		cfg := cycles(t, sim.Central)
		cfg.Seed, cfg.Perturb, cfg.History = seed, perturb, 3
		seen := &witness{Policy: cfg.Policy}
		cfg.Policy = seen
		var jobs []workload.Job
		for i := range 3 { // all machines are full for an hour
			jobs = append(jobs, workload.Job{Origin: i, Run: protocol.Hour, Estimate: protocol.Hour, CPUs: 64})
		}
		for range 200 {
			jobs = append(jobs, workload.Job{Submit: second, Run: 1000, Estimate: 1000, CPUs: 1})
		}
		run(t, cfg, jobs)
		for i, awt := range seen.snapshots[0].AWT {
			if i%len(seen.snapshots[0].Sites) != seen.snapshots[0].Self { // the portal
				all = append(all, awt)
			}
		}
		return all
	}
	plain, off := waits(1, 0), waits(1, bound)
	if len(plain) != 600 || !slices.Equal(off, waits(1, bound)) || slices.Equal(off, waits(2, bound)) {
		t.Fatalf("%d waits do not follow from the seed", len(plain))
	}
	least, most, distinct := bound, -bound, map[protocol.Duration]bool{}
	for i := range plain {
		by := off[i] - plain[i]
		least, most = min(least, by), max(most, by)
		distinct[by] = true
	}
	if least < -bound || most > bound || least > -bound*9/10 || most < bound*9/10 || len(distinct) < 550 {
		t.Errorf("waits are off from %v to %v, by %d chances", least, most, len(distinct))
	}
	if huge := waits(1, protocol.Day); slices.Min(huge) != 0 {
		t.Errorf("the least wait is %v", slices.Min(huge))
	}
}

// TestPowerIsDrawn for each job from the seed, within the bounds.
func TestPowerIsDrawn(t *testing.T) {
	t.Parallel()
	shares := func(seed uint64, low, high int) (all []float64) {
		cfg := sim.Config{Seed: seed, PowerLow: low, PowerHigh: high}
		jobs, r := make([]workload.Job, 500), &sim.Result{}
		for i := range jobs {
			cfg.Sites = append(cfg.Sites, sim.Site{Electricity: at(1)})
			jobs[i] = workload.Job{CPUs: 1}
			r.Placements = append(r.Placements, sim.Placement{Site: i, End: hour})
		}
		for _, bill := range cfg.Charge(jobs, r).Sites {
			all = append(all, bill.MWh*1000)
		}
		return all
	}
	drawn := shares(1, 600_000, 1_400_000)
	if !slices.Equal(drawn, shares(1, 600_000, 1_400_000)) || slices.Equal(drawn, shares(2, 600_000, 1_400_000)) {
		t.Error("the power does not follow from the seed")
	}
	if low, high := slices.Min(drawn), slices.Max(drawn); low < 0.6 || low > 0.62 || high > 1.4 || high < 1.38 {
		t.Errorf("jobs draw %v to %v", low, high)
	}
	if all := shares(1, 0, 0); slices.Min(all) != 1 || slices.Max(all) != 1 {
		t.Errorf("without bounds jobs draw %v to %v", slices.Min(all), slices.Max(all))
	}
	if tiny := shares(1, 0, 1); slices.Max(tiny) > 0.000_002 {
		t.Errorf("of next to nothing a job draws %v", slices.Max(tiny))
	}
}

// TestPricesReachThePolicy: on the workload's clock. A CPU for an hour costs 0.01 at once,
// and from half past, with a wait of half an hour, 0.02.
func TestPricesReachThePolicy(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemesOfPeers() {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			cfg := cycles(t, scheme)
			seen := &witness{Policy: cfg.Policy}
			cfg.Policy = seen
			cfg.Tuning.CycleInterval = protocol.Second
			for i := range cfg.Sites {
				cfg.Sites[i].MHz = 0
				cfg.Sites[i].Electricity = at(10, 30, 30)
			}
			cfg.Sites[2].Electricity = sim.Electricity{} // names no prices
			job := workload.Job{Submit: 0, Run: protocol.Hour, Estimate: protocol.Hour, CPUs: 1}
			later := job
			later.Submit = hour / 2
			run(t, cfg, []workload.Job{job, later})
			for round, want := range []protocol.Micro{10_005, 20_005} { // the cycle is a second later
				in := seen.snapshots[round]
				for s, site := range in.Sites {
					cost, currency := want, "USD"
					if site.Name != "m1" && site.Name != "m2" {
						cost, currency = 0, ""
					}
					if got := in.Cost[in.At(0, s)]; got < cost-1 || got > cost+1 || site.Currency != currency {
						t.Errorf("round %d: %s costs %d %q, want %d %q", round, site.Name, got, site.Currency, cost, currency)
					}
				}
			}
		})
	}
}

// TestSpeedsByMflops: a job goes to where it is allowed to take as long as it takes there.
// TestDataAreDrawnForEachJob: each job has one of the sizes, all about equally often, the
// same for the same seed; and what travels is what the job was drawn.
func TestDataAreDrawnForEachJob(t *testing.T) {
	t.Parallel()
	cfg, first := staged(sim.Distributed, 1)
	cfg.Sites[1].Nodes = 2_000
	cfg.Stage.Sizes = []int64{0, 1e9, 3e9}
	const many = 900
	jobs := first[:1]
	for range many {
		jobs = append(jobs, first[1])
	}
	took := map[protocol.Duration]int{}
	r, _ := run(t, cfg, jobs)
	for i := range many {
		took[r.Placements[1+i].End.Sub(first[1].Submit)-first[1].Run]++
	}
	for _, want := range []protocol.Duration{0, 12 * protocol.Second, 32 * protocol.Second} {
		if n := took[want]; n < many/4 || n > many/2 {
			t.Errorf("the data of %d of %d jobs took %v: %v", n, many, want, took)
		}
	}
	if again, _ := run(t, cfg, jobs); !slices.Equal(again.Placements, r.Placements) {
		t.Error("the same seed draws other sizes")
	}
	cfg.Seed++
	if other, _ := run(t, cfg, jobs); slices.Equal(other.Placements, r.Placements) {
		t.Error("another seed draws the same sizes")
	}
	cfg.Stage.Sizes = []int64{1, -1}
	if _, err := sim.Run(t.Context(), cfg, jobs, nil); err == nil || !strings.Contains(err.Error(), "must not be negative") {
		t.Errorf("a negative size: %v", err)
	}
}

func TestSpeedsByMflops(t *testing.T) {
	t.Parallel()
	for estimate, want := range map[protocol.Duration]sim.Placement{
		100 * protocol.Second: {Site: 1, End: 25 * second},
		200 * protocol.Second: {Site: 1, End: 25 * second},
		201 * protocol.Second: {Site: -1},
	} {
		cfg, _ := staged(sim.Distributed, 1)
		cfg.Stage, cfg.History = sim.Stage{}, 0
		cfg.Sites[0].Mflops, cfg.Sites[1].Mflops = 10, 40
		cfg.Sites[1].MaxWallTime = 50 * protocol.Second
		job := workload.Job{Run: 100 * protocol.Second, Estimate: estimate, CPUs: 2}
		if r, _ := run(t, cfg, []workload.Job{job}); r.Placements[0] != want {
			t.Errorf("estimate %v: %+v, want %+v", estimate, r.Placements[0], want)
		}
	}
}

// whole is a grid with all that [MC] adds.
func whole(t testing.TB, scheme sim.Scheme) sim.Config {
	t.Helper()
	cfg := cycles(t, scheme)
	flow, err := mcmf.New(mcmf.Config{Variant: mcmf.Full, Weight: protocol.PPM / 4, Scale: 100, Marginal: 3})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Policy = flow
	cfg.History, cfg.LocalShare, cfg.Perturb = 30, 100_000, protocol.Minute
	cfg.PowerLow, cfg.PowerHigh = 600_000, 1_400_000
	cfg.Tuning.MaxJobsPerCycle = 4
	cfg.Protect = rules.Protection{Delay: protocol.Hour, Share: 900_000}
	cfg.Stage.Sizes = []int64{1e9}
	for i := range cfg.Sites {
		cfg.Sites[i].Electricity = at(10*int64(i+1), 30, -5, 80)
		cfg.Stage.Links = append(cfg.Stage.Links, slices.Repeat([]sim.DataLink{{Latency: 100, Bandwidth: 1e8}}, len(cfg.Sites)))
	}
	return cfg
}

// TestWholeIsDeterministic: two runs with everything on agree in all that happened, and
// every job runs once; another seed is another run.
func TestWholeIsDeterministic(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemesOfPeers() {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			cfg, jobs := whole(t, scheme), work(200, 6)
			a, m := run(t, cfg, jobs)
			b, _ := run(t, whole(t, scheme), jobs)
			if !reflect.DeepEqual(a, b) {
				t.Errorf("two runs differ: %x, %x", a.Hash, b.Hash)
			}
			if m.Unplaced > 0 || m.Jobs != 170 || m.Transferred == 0 {
				t.Errorf("%d jobs ran, %d did not, %.2f moved", m.Jobs, m.Unplaced, m.Transferred)
			}
			if bill := cfg.Charge(jobs, a); !reflect.DeepEqual(bill, cfg.Charge(jobs, b)) || bill.MWh <= 0 {
				t.Errorf("bill %+v", bill)
			}
			cfg.Seed = 99
			if c, _ := run(t, cfg, jobs); c.Hash == a.Hash {
				t.Error("another seed gives the same hash")
			}
		})
	}
}

// TestPredictedWaits: sites may quote what is foreseen instead of the plan; the simulation
// is as deterministic, and another one.
func TestPredictedWaits(t *testing.T) {
	t.Parallel()
	jobs := work(200, 6)
	hashes := map[uint64]waitpredict.Method{}
	for _, method := range append(waitpredict.Methods(), "") {
		cfg := cycles(t, sim.Central)
		cfg.History = 60
		for i := range cfg.Sites {
			cfg.Sites[i].Waits = method
		}
		a, m := run(t, cfg, jobs)
		b, _ := run(t, cfg, jobs)
		if a.Hash != b.Hash || m.Unplaced > 0 {
			t.Errorf("%s: hashes %x and %x, %d unplaced", method, a.Hash, b.Hash, m.Unplaced)
		}
		byPlan := method == waitpredict.Auto || method == "" // place as the plan does
		if before, ok := hashes[a.Hash]; ok != byPlan || byPlan && before != waitpredict.Plan {
			t.Errorf("%q: as another one %t, %q; places by the plan %t", method, ok, before, byPlan)
		}
		if byPlan {
			continue
		}
		hashes[a.Hash] = method
	}
	cfg := cycles(t, sim.Central)
	cfg.Sites[0].Waits = "tea leaves"
	if _, err := sim.Run(context.Background(), cfg, jobs, nil); err == nil {
		t.Error("waits by tea leaves")
	}
}

// TestPredictionsKnowThoseAhead: sites that have learnt nothing foresee no waits, but how
// waits grow with each job of a round is planned: jobs of one cycle spread.
func TestPredictionsKnowThoseAhead(t *testing.T) {
	t.Parallel()
	flow, err := mcmf.New(mcmf.Config{Variant: mcmf.Full, Weight: protocol.PPM, Scale: 100, Marginal: 3})
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Config{Seed: 1, Scheme: sim.Central, Policy: flow, Tuning: rules.RuntimeConfig{Initiation: policy.Cycle}}
	for i, name := range []protocol.SiteName{"a", "b"} {
		cfg.Sites = append(cfg.Sites, sim.Site{
			Machine: sim.Machine{Name: name, Nodes: 1, CPUsPerNode: 1, MHz: 1000 - 100*i}, Local: engine.EASY(), Waits: waitpredict.QBETS,
		})
	}
	jobs := slices.Repeat([]workload.Job{{CPUs: 1, Run: protocol.Hour, Estimate: protocol.Hour}}, 4)
	r, _ := run(t, cfg, jobs)
	var at [2]int
	for _, p := range r.Placements {
		at[p.Site]++
	}
	if at != [2]int{2, 2} {
		t.Errorf("%v jobs at a and b, though each waits an hour more than the one before", at)
	}
}

// blunt is an engine that cannot tell delays.
type blunt struct{ localsched.Engine }

// TestProtectedDelayNeedsAGuard: a limit that could not be kept is a mistake.
func TestProtectedDelayNeedsAGuard(t *testing.T) {
	t.Parallel()
	cfg, jobs := cycles(t, sim.Central), work(10, 6)
	under := cfg.Sites[1].Local
	cfg.Sites[1].Engine = func(c protocol.Capacity) (localsched.Engine, error) {
		return blunt{engine.New(engine.Of(c), under).Fallible()}, nil
	}
	cfg.Protect.Delay = protocol.Hour
	if _, err := sim.Run(t.Context(), cfg, jobs, nil); err == nil || !strings.Contains(err.Error(), "its batch system cannot tell delays") ||
		!strings.Contains(err.Error(), string(cfg.Sites[1].Name)) {
		t.Errorf("got %v", err)
	}
	cfg.Protect = rules.Protection{Share: 900_000}
	if _, err := sim.Run(t.Context(), cfg, jobs, nil); err != nil {
		t.Error(err)
	}
}

// TestProtectedShare: guests never hold more of a machine than it allows.
func TestProtectedShare(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemesOfPeers() {
		t.Run(string(scheme), func(t *testing.T) {
			t.Parallel()
			cfg := cycles(t, scheme)
			cfg.Protect.Share = 250_000
			jobs := work(200, 7)
			for i := range jobs {
				jobs[i].CPUs = min(jobs[i].CPUs, 16)
			}
			r, m := run(t, cfg, jobs)
			if m.Unplaced > 0 {
				t.Errorf("%d unplaced", m.Unplaced)
			}
			for i, p := range r.Placements {
				held := 0
				for k, q := range r.Placements {
					guest := jobs[k].Origin != q.Site || scheme == sim.Central // all that the portal sends are
					if guest && q.Site == p.Site && q.Start <= p.Start && p.Start < q.End {
						held += jobs[k].CPUs
					}
				}
				if allowed := cfg.Sites[p.Site].CPUs() / 4; held > allowed {
					t.Fatalf("at the start of job %d guests have %d CPUs of site %d, which allows %d", i, held, p.Site, allowed)
				}
			}
		})
	}
}

// TestStageAtTheLimit: a job that asks for all the wall time that a site allows may run
// there, held for its data besides.
func TestStageAtTheLimit(t *testing.T) {
	t.Parallel()
	cfg := sim.Config{Seed: 1, Scheme: sim.Central, Policy: tc.New(tc.Config{}), Tuning: rules.RuntimeConfig{Initiation: policy.Sender}}
	for _, name := range []protocol.SiteName{"a", "b"} {
		cfg.Sites = append(cfg.Sites, sim.Site{
			Machine: sim.Machine{Name: name, Nodes: 1, CPUsPerNode: 1, MaxWallTime: protocol.Hour}, Local: engine.EASY(),
		})
	}
	link := sim.DataLink{Bandwidth: 1e6}
	cfg.Stage = sim.Stage{Sizes: []int64{60e6}, Links: [][]sim.DataLink{{link, link}, {link, link}}}
	var jobs []workload.Job
	for range 4 {
		jobs = append(jobs, workload.Job{CPUs: 1, Run: protocol.Hour, Estimate: protocol.Hour})
	}
	r, m := run(t, cfg, jobs)
	if m.Transferred != 0.5 || m.Unplaced > 0 {
		t.Errorf("%.2f of the jobs moved, %d did not run: %+v", m.Transferred, m.Unplaced, r.Placements)
	}
}
