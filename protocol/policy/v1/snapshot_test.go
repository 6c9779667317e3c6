package policyv1_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

func drawCount(t *rapid.T) int { return rapid.IntRange(0, math.MaxInt32).Draw(t, "count") }

// drawSpan draws any span: never is one of them.
func drawSpan(t *rapid.T) protocol.Duration {
	return rapid.OneOf(
		rapid.Just(protocol.Never),
		rapid.Map(rapid.Int64Min(0), func(n int64) protocol.Duration { return protocol.Duration(n) }),
	).Draw(t, "span")
}

func drawSites(t *rapid.T) (sites []policy.Site) {
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z0-9-]{0,31}`), 0, 4, rapid.ID).Draw(t, "names")
	slices.Sort(names)
	for _, name := range names {
		sites = append(sites, policy.Site{
			Name: protocol.SiteName(name), RUS: drawCount(t), Age: drawSpan(t), CPUs: drawCount(t),
			Free: drawCount(t), MaxJobs: drawCount(t),
			Currency:  rapid.SampledFrom([]string{"", "EUR", "a core hour"}).Draw(t, "currency"),
			Latency:   rapid.SampledFrom([]protocol.Duration{0, 0, drawSpan(t)}).Draw(t, "latency"),
			Bandwidth: drawSparse(t), MarginalWaits: drawExtra(t),
			NoEnergy: rapid.Bool().Draw(t, "no energy"), Resources: protocoltest.Resources(t),
		})
	}
	return sites
}

// drawSparse draws an amount that often is 0, so that whole columns are.
func drawSparse(t *rapid.T) int64 {
	return rapid.OneOf(rapid.Just(int64(0)), rapid.Just(int64(0)), rapid.Int64Min(0)).Draw(t, "amount")
}

// drawExtra draws waits that do not fall.
func drawExtra(t *rapid.T) []protocol.Duration {
	var extra []protocol.Duration
	for range rapid.SampledFrom([]int{0, 0, 1, 3, protocol.MaxMarginalJobs - 1}).Draw(t, "extras") {
		extra = append(extra, drawSpan(t))
	}
	slices.Sort(extra)
	return extra
}

func drawSnapshot(t *rapid.T) policy.Snapshot {
	in := policy.Snapshot{Sites: drawSites(t), Hint: drawHint(t), Applications: drawApplications(t)}
	in.Self = rapid.IntRange(-1, len(in.Sites)-1).Draw(t, "self")
	for range rapid.IntRange(0, 4).Draw(t, "jobs") {
		in.Jobs = append(in.Jobs, policy.Job{
			ID: protocol.JobID(rapid.Uint64().Draw(t, "id")), CPUs: drawCount(t), WallTime: drawSpan(t), Waited: drawSpan(t),
			Data: drawSparse(t), DataOut: drawSparse(t), MemoryMB: drawSparse(t),
			Nodes: int(min(drawSparse(t), math.MaxInt32)), Resources: protocoltest.Resources(t, protocol.PerNode, protocol.PerJob),
			Features: rapid.SampledFrom([]string{"", "", "a&b|c"}).Draw(t, "features"), Exclusive: rapid.Bool().Draw(t, "exclusive"),
			User: drawText(t, "user"), Account: drawText(t, "account"), Name: drawText(t, "name"),
		})
	}
	in.Outcomes = drawOutcomes(t)
	drawOptions(t, &in)
	for range len(in.Jobs) * len(in.Sites) {
		awt, ert, cost := drawSpan(t), drawSpan(t), protocol.Micro(rapid.Int64().Draw(t, "cost"))
		if awt == protocol.Never {
			ert, cost = protocol.Never, 0
		}
		in.AWT, in.ERT, in.Cost = append(in.AWT, awt), append(in.ERT, ert), append(in.Cost, cost)
	}
	if n := len(in.AWT); n > 0 && rapid.Bool().Draw(t, "some in place") {
		in.InPlace = rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "in place")
		in.InPlace[0] = true // else the column does not travel
	}
	if len(in.Applications) > 0 {
		in.UsageCost, in.LicenseCost, in.EnergyCost, in.DataCost = drawMoney(t, in.AWT), drawMoney(t, in.AWT), drawMoney(t, in.AWT), drawMoney(t, in.AWT)
	}
	return in
}

func drawText(t *rapid.T, what string) string {
	return rapid.OneOf(rapid.Just(""), rapid.StringN(0, 60, policyv1.MaxUser)).Draw(t, what)
}

func drawOutcomes(t *rapid.T) (outcomes []policy.Outcome) {
	for range rapid.SampledFrom([]int{0, 0, 1, policy.MaxOutcomes}).Draw(t, "outcomes") {
		outcomes = append(outcomes, policy.Outcome{
			Job: protocol.JobID(rapid.Uint64().Draw(t, "job")), Site: "site-a", DecidedAt: protocol.Instant(rapid.Int64().Draw(t, "at")),
			QuotedWait: drawSpan(t), Wait: drawSpan(t), State: rapid.SampledFrom(protocol.States()[2:]).Draw(t, "state"), ExitCode: drawCount(t),
		})
	}
	return outcomes
}

// drawApplications draws what policies that are whole are told; often it is nothing.
func drawApplications(t *rapid.T) (applications []policy.Application) {
	for range rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "applications") {
		applications = append(applications, policy.Application{
			ID: protocol.JobID(rapid.Uint64().Draw(t, "id")), Beta: drawCount(t),
			MaxCost: protocol.Micro(drawSpan(t)), // never is without a limit
			MaxTime: drawSpan(t), Elapsed: drawSpan(t), Spent: drawMicro(t), CommittedUntil: drawSpan(t), WaitingCost: drawRates(t),
		})
	}
	return applications
}

func drawMicro(t *rapid.T) protocol.Micro {
	return protocol.Micro(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64()).Draw(t, "amount"))
}

func drawRates(t *rapid.T) (rates []protocol.WaitingRate) {
	n := rapid.SampledFrom([]int{0, 0, 1, 3, policyv1.MaxRates}).Draw(t, "rates")
	for i := range n {
		rates = append(rates, protocol.WaitingRate{From: protocol.Duration(i) * protocol.Hour, PerHour: protocol.Micro(i)})
	}
	if n > 0 {
		rates[n-1].From += protocol.Duration(rapid.Int64Range(0, 99).Draw(t, "last") * int64(n-1))
		rates[0].PerHour = protocol.Micro(rapid.Int64Min(0).Draw(t, "rate"))
	}
	return rates
}

// drawOptions draws what users want of single jobs.
func drawOptions(t *rapid.T, in *policy.Snapshot) {
	if len(in.Applications) == 0 {
		return
	}
	in.Currency = "CHF"
	weight := func() int { return rapid.OneOf(rapid.Just(0), rapid.IntRange(0, math.MaxInt32)).Draw(t, "weight") }
	for i := range in.Jobs {
		j := &in.Jobs[i]
		j.Application = rapid.IntRange(0, len(in.Applications)-1).Draw(t, "application")
		j.Together, j.Alpha, j.Gamma, j.Delta = weight(), weight(), weight(), weight()
	}
}

// drawMoney draws one part of the prices, or a column of zeros.
func drawMoney(t *rapid.T, awt []protocol.Duration) (column []protocol.Micro) {
	named := rapid.Bool().Draw(t, "named")
	for _, wait := range awt {
		amount := protocol.Micro(0)
		if named && wait != protocol.Never {
			amount = drawMicro(t)
		}
		column = append(column, amount)
	}
	return column
}

func drawHint(t *rapid.T) []byte {
	if hint := rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "hint"); len(hint) > 0 {
		return hint
	}
	return nil
}

// travel is what is left of a message on the other side.
func travel[M proto.Message](t interface{ Fatal(args ...any) }, m, into M) M {
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err = proto.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	return into
}

func TestSnapshotsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawSnapshot(t)
		got, err := policyv1.DecodeSnapshot(travel(t, policyv1.EncodeSnapshot(&want), &policyv1.DecideRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	})
}

// A plugin in another language must find the quote where the contract says.
func TestQuotesLieAsTheContractSays(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{
		Sites: []policy.Site{{Name: "a"}, {Name: "b"}}, Jobs: make([]policy.Job, 2),
		AWT:  []protocol.Duration{1, protocol.Never, 3, 4},
		ERT:  []protocol.Duration{5, 6, protocol.Never, 8},
		Cost: []protocol.Micro{9, 10, -11, 12},
	}
	m := policyv1.EncodeSnapshot(&in)
	want := &policyv1.DecideRequest{
		SiteName: []string{"a", "b"}, SiteRus: []int64{0, 0}, SiteAge: []int64{0, 0}, SiteCpus: []int64{0, 0},
		SiteFree: []int64{0, 0}, SiteMaxJobs: []int64{0, 0}, SiteCurrency: []string{"", ""},
		JobId: []uint64{0, 0}, JobCpus: []int64{0, 0}, JobWallTime: []int64{0, 0}, JobWaited: []int64{0, 0},
		Awt: []int64{1, -1, 3, 4}, Ert: []int64{5, -1, -1, 8}, Cost: []int64{9, 0, -11, 12},
	}
	if !proto.Equal(m, want) {
		t.Errorf("got  %v\nwant %v", m, want)
	}
}

// What says nothing does not travel, and each site finds its own waits.
func TestNewColumnsLieAsTheContractSays(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{
		Self: -1,
		Sites: []policy.Site{
			{Name: "a", MarginalWaits: []protocol.Duration{1, 2}}, {Name: "b", Latency: 5, Bandwidth: 6}, {Name: "c", MarginalWaits: []protocol.Duration{protocol.Never}, NoEnergy: true},
		},
		Jobs: []policy.Job{{Data: 7}, {}},
		AWT:  make([]protocol.Duration, 6), ERT: make([]protocol.Duration, 6), Cost: make([]protocol.Micro, 6),
	}
	m := policyv1.EncodeSnapshot(&in)
	for column, want := range map[string][2][]int64{
		"site_latency":        {m.GetSiteLatency(), {0, 5, 0}},
		"site_bandwidth":      {m.GetSiteBandwidth(), {0, 6, 0}},
		"site_marginal_waits": {m.GetSiteMarginalWaits(), {2, 0, 1}},
		"marginal_wait":       {m.GetMarginalWait(), {1, 2, -1}},
		"job_data":            {m.GetJobData(), {7, 0}},
	} {
		if !slices.Equal(want[0], want[1]) {
			t.Errorf("%s: got %v, want %v", column, want[0], want[1])
		}
	}
	if got := m.GetSiteNoEnergy(); !slices.Equal(got, []bool{false, false, true}) {
		t.Errorf("site_no_energy: got %v", got)
	}
	in.Sites[0].MarginalWaits, in.Jobs[0].Data = nil, 0
	in.Sites[1], in.Sites[2] = policy.Site{Name: "b"}, policy.Site{Name: "c"}
	m = policyv1.EncodeSnapshot(&in)
	if m.GetSiteLatency() != nil || m.GetSiteBandwidth() != nil || m.GetSiteMarginalWaits() != nil || m.GetMarginalWait() != nil || m.GetJobData() != nil || m.GetSiteNoEnergy() != nil {
		t.Errorf("columns of zeros travel: %v", m)
	}
}

// A plugin in another language must find an application's columns where the contract says,
// and a policy that is not whole gets none of them.
func TestApplicationsLieAsTheContractSays(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{
		Sites:    []policy.Site{{Name: "a"}, {Name: "b"}},
		Jobs:     []policy.Job{{ID: 7, CPUs: 4}, {ID: 7, CPUs: 8}, {ID: 8, Application: 1, Together: 2, Alpha: 3, Gamma: 4, Delta: 5, DataOut: 6}},
		AWT:      []protocol.Duration{1, protocol.Never, 1, 1, 1, 1},
		ERT:      make([]protocol.Duration, 6),
		Cost:     make([]protocol.Micro, 6),
		Currency: "CHF",
		Applications: []policy.Application{
			{ID: 7, MaxCost: protocol.Unlimited, MaxTime: protocol.Never, WaitingCost: []protocol.WaitingRate{{PerHour: 8}, {From: 9, PerHour: 10}}},
			{ID: 8, Beta: 11, MaxCost: 12, MaxTime: 13, Elapsed: 14, Spent: -15, CommittedUntil: 16, WaitedCost: 17},
		},
		UsageCost: []protocol.Micro{1, 99, 3, 4, 5, -6}, LicenseCost: make([]protocol.Micro, 6), EnergyCost: make([]protocol.Micro, 6), DataCost: make([]protocol.Micro, 6),
	}
	m := policyv1.EncodeSnapshot(&in)
	for column, want := range map[string][2][]int64{
		"application_beta":            {m.GetApplicationBeta(), {0, 11}},
		"application_max_cost":        {m.GetApplicationMaxCost(), {-1, 12}},
		"application_max_time":        {m.GetApplicationMaxTime(), {-1, 13}},
		"application_elapsed":         {m.GetApplicationElapsed(), {0, 14}},
		"application_spent":           {m.GetApplicationSpent(), {0, -15}},
		"application_committed_until": {m.GetApplicationCommittedUntil(), {0, 16}},
		"application_waited_cost":     {m.GetApplicationWaitedCost(), {0, 17}},
		"application_rates":           {m.GetApplicationRates(), {2, 0}},
		"rate_from":                   {m.GetRateFrom(), {0, 9}},
		"rate_per_hour":               {m.GetRatePerHour(), {8, 10}},
		"job_application":             {m.GetJobApplication(), {0, 0, 1}},
		"job_together":                {m.GetJobTogether(), {0, 0, 2}},
		"job_alpha":                   {m.GetJobAlpha(), {0, 0, 3}},
		"job_gamma":                   {m.GetJobGamma(), {0, 0, 4}},
		"job_delta":                   {m.GetJobDelta(), {0, 0, 5}},
		"job_data_out":                {m.GetJobDataOut(), {0, 0, 6}},
		"use_cost":                    {m.GetUsageCost(), {1, 0, 3, 4, 5, -6}},
		"license_cost":                {m.GetLicenseCost(), nil},
		"eco_cost":                    {m.GetEnergyCost(), nil},
		"data_cost":                   {m.GetDataCost(), nil},
	} {
		if !slices.Equal(want[0], want[1]) {
			t.Errorf("%s: got %v, want %v", column, want[0], want[1])
		}
	}
	if got := m.GetApplicationId(); !slices.Equal(got, []uint64{7, 8}) || m.GetCurrency() != "CHF" {
		t.Errorf("application_id: got %v, in %s", got, m.GetCurrency())
	}
}

// What a partner overstates and what a clock set back leaves must not stop the
// rounds of this site.
func TestUnexpectedSnapshotsAreFixed(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{
		Self:  -1,
		Sites: []policy.Site{{Name: "a", RUS: math.MaxInt32 * protocol.PPM}},
		Jobs:  []policy.Job{{ID: 1, Waited: -5}},
		AWT:   []protocol.Duration{0}, ERT: []protocol.Duration{0}, Cost: []protocol.Micro{0},
		Applications: []policy.Application{{ID: 1, Elapsed: -5}},
	}
	got, err := policyv1.DecodeSnapshot(policyv1.EncodeSnapshot(&in))
	if err != nil {
		t.Fatal(err)
	}
	if got.Sites[0].RUS != math.MaxInt32 || got.Jobs[0].Waited != 0 || got.Applications[0].Elapsed != 0 {
		t.Errorf("the utilisation is %d and the wait %v", got.Sites[0].RUS, got.Jobs[0].Waited)
	}
}

// Impossible snapshots must not become possible ones on the way.
func TestImpossibleSnapshotsAreRefused(t *testing.T) {
	t.Parallel()
	one := policy.Snapshot{
		Sites: []policy.Site{{Name: "a"}}, Jobs: []policy.Job{{ID: 1}},
		AWT: []protocol.Duration{0}, ERT: []protocol.Duration{0}, Cost: []protocol.Micro{0},
	}
	cases := map[string]func(*policy.Snapshot){
		"self: -2147483648 is none": func(in *policy.Snapshot) { in.Self = 1 << 32 },
		"self: -2147483648 is":      func(in *policy.Snapshot) { in.Self = -2 },
		"awt[0]":                    func(in *policy.Snapshot) { in.AWT = []protocol.Duration{-1} },
		"ert[0]":                    func(in *policy.Snapshot) { in.ERT = []protocol.Duration{-1} },
		"ert: has 2 entries":        func(in *policy.Snapshot) { in.ERT = make([]protocol.Duration, 2) },
		"cost: has 3 entries":       func(in *policy.Snapshot) { in.Cost = make([]protocol.Micro, 3) },
		"site_cpus[0]: -1":          func(in *policy.Snapshot) { in.Sites = []policy.Site{{Name: "a", CPUs: -1}} },
		"site_rus[0]: -1":           func(in *policy.Snapshot) { in.Sites = []policy.Site{{Name: "a", RUS: -1}} },
		"job_wall_time[0]":          func(in *policy.Snapshot) { in.Jobs = []policy.Job{{WallTime: -1}} },
		"job_data[0]: -1":           func(in *policy.Snapshot) { in.Jobs = []policy.Job{{Data: -1}} },
		"site_latency[0]":           func(in *policy.Snapshot) { in.Sites = []policy.Site{{Name: "a", Latency: -1}} },
		"site_bandwidth[0]: -1":     func(in *policy.Snapshot) { in.Sites = []policy.Site{{Name: "a", Bandwidth: -1}} },
		"marginal_wait[0]": func(in *policy.Snapshot) {
			in.Sites = []policy.Site{{Name: "a", MarginalWaits: []protocol.Duration{-1}}}
		},
		"marginal_wait[1]: 1 is below the 2": func(in *policy.Snapshot) {
			in.Sites = []policy.Site{{Name: "a", MarginalWaits: []protocol.Duration{2, 1}}}
		},
		"job_data_out[0]: -1":              func(in *policy.Snapshot) { in.Jobs = []policy.Job{{DataOut: -1}} },
		"job_together: has 1 entries, no":  func(in *policy.Snapshot) { in.Jobs = []policy.Job{{Together: 1}} },
		"usage_cost: has 1 entries, not 0": func(in *policy.Snapshot) { in.UsageCost = []protocol.Micro{1} },
		"energy_cost: has 2 entries, not 1": func(in *policy.Snapshot) {
			in.Applications, in.EnergyCost = make([]policy.Application, 1), make([]protocol.Micro, 2)
		},
		"job_application[0]: 1 is none of the 1": func(in *policy.Snapshot) {
			in.Applications, in.Jobs = make([]policy.Application, 1), []policy.Job{{Application: 1}}
		},
		"job_application[0]: -1 is none of the 1": func(in *policy.Snapshot) {
			in.Applications, in.Jobs = make([]policy.Application, 1), []policy.Job{{Application: -1}}
		},
		"application_beta[0]: -1":                          func(in *policy.Snapshot) { in.Applications = []policy.Application{{Beta: -1}} },
		"application_max_cost[0]: -92233720368":            func(in *policy.Snapshot) { in.Applications = []policy.Application{{MaxCost: -1}} },
		"application_max_time[0]: -92233720368":            func(in *policy.Snapshot) { in.Applications = []policy.Application{{MaxTime: -1}} },
		"application_committed_until[0]: -922337203685477": func(in *policy.Snapshot) { in.Applications = []policy.Application{{CommittedUntil: -1}} },
		"rate_from[0]: is 1; the first rate": func(in *policy.Snapshot) {
			in.Applications = []policy.Application{{WaitingCost: []protocol.WaitingRate{{From: 1}}}}
		},
		"site_marginal_waits[0]: 64 is outside 0 to 63": func(in *policy.Snapshot) {
			in.Sites = []policy.Site{{Name: "a", MarginalWaits: make([]protocol.Duration, protocol.MaxMarginalJobs)}}
		},
	}
	for want, change := range cases {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			in := one
			change(&in)
			_, err := policyv1.DecodeSnapshot(policyv1.EncodeSnapshot(&in))
			protocoltest.Refused(t, err, want)
		})
	}
}

func FuzzDecodeSnapshot(f *testing.F) {
	for i := range 4 {
		in := rapid.Custom(drawSnapshot).Example(i)
		data, err := proto.Marshal(policyv1.EncodeSnapshot(&in))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &policyv1.DecideRequest{}
		if proto.Unmarshal(data, m) != nil {
			return
		}
		in, err := policyv1.DecodeSnapshot(m)
		if err != nil {
			return
		}
		again, err := policyv1.DecodeSnapshot(travel(t, policyv1.EncodeSnapshot(&in), &policyv1.DecideRequest{}))
		if err != nil || !reflect.DeepEqual(again, in) {
			t.Fatalf("got %+v, %v\nwant %+v", again, err, in)
		}
	})
}
