package iss_test

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	minute = protocol.Minute
	hour   = protocol.Hour
	never  = protocol.Never
	franc  = protocol.Unit
	one    = protocol.PPM
)

// quote is what a site says: its wait, the run, and the parts of the price in francs.
type quote struct {
	awt, ert                protocol.Duration
	use, license, eco, data int64
}

// no is a quote that was declined.
var no = quote{awt: never}

// site is one with room for all.
func site(name string) policy.Site {
	return policy.Site{Name: protocol.SiteName(name), CPUs: 1000, Free: 1000, MaxJobs: 100, Currency: "CHF"}
}

// wants are those of an application that all terms count once for, without limits.
func wants(first uint64, waiting ...protocol.WaitingRate) policy.Application {
	return policy.Application{
		ID: protocol.NewJobID(1, first), Beta: one, MaxCost: protocol.Unlimited, MaxTime: never, WaitingCost: waiting,
	}
}

// hourly is a k_w that is always the same.
func hourly(francs int64) protocol.WaitingRate {
	return protocol.WaitingRate{PerHour: protocol.Micro(francs) * franc}
}

// row is a job of an application on so many CPUs, and what each site quotes it.
type row struct {
	seq         uint64
	application int
	cpus        int
	quotes      []quote
}

func snapshot(sites []policy.Site, applications []policy.Application, rows ...row) policy.Snapshot {
	in := policy.Snapshot{Self: policy.NoSite, Sites: sites, Applications: applications, Currency: "CHF"}
	for _, r := range rows {
		in.Jobs = append(in.Jobs, policy.Job{
			ID: protocol.NewJobID(1, r.seq), CPUs: r.cpus, WallTime: protocol.Day, Application: r.application, Alpha: one, Gamma: one, Delta: one,
		})
		for _, q := range r.quotes {
			if q.awt == never {
				q.ert = never
			}
			in.AWT, in.ERT = append(in.AWT, q.awt), append(in.ERT, q.ert)
			in.Cost = append(in.Cost, protocol.Micro(q.use+q.license+q.eco+q.data)*franc)
			in.UsageCost, in.LicenseCost = append(in.UsageCost, protocol.Micro(q.use)*franc), append(in.LicenseCost, protocol.Micro(q.license)*franc)
			in.EnergyCost, in.DataCost = append(in.EnergyCost, protocol.Micro(q.eco)*franc), append(in.DataCost, protocol.Micro(q.data)*franc)
		}
	}
	return in
}

func made(t rapid.TB, cfg iss.Config) *iss.Policy {
	t.Helper()
	p, err := iss.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func decide(t rapid.TB, in policy.Snapshot) []policy.Decision {
	t.Helper()
	decisions, _, err := made(t, iss.Default()).Decide(context.Background(), in)
	if err == nil {
		err = in.Check(decisions)
	}
	if err != nil {
		t.Fatal(err)
	}
	return decisions
}

// placed lists decisions as row:site, or row:reason.
func placed(in policy.Snapshot, decisions []policy.Decision) (out []string) {
	for _, d := range decisions {
		where := d.Reason
		if d.Site != policy.NoSite {
			where = string(in.Sites[d.Site].Name)
		}
		out = append(out, fmt.Sprintf("%d:%s", d.Job, where))
	}
	return out
}

// TestDecide: where jobs go by the formula of [IS 4.2], worked by hand.
func TestDecide(t *testing.T) {
	t.Parallel()
	ab := []policy.Site{site("a"), site("b")}
	// Site a is dear and done in an hour, b is cheap and done in three.
	fast, slow := quote{ert: hour, use: 10, eco: 2}, quote{awt: hour, ert: 2 * hour, use: 5, eco: 1}
	single := func(change func(*policy.Snapshot), waiting ...protocol.WaitingRate) policy.Snapshot {
		in := snapshot(ab, []policy.Application{wants(1, waiting...)}, row{1, 0, 1, []quote{fast, slow}})
		change(&in)
		return in
	}
	same := func(*policy.Snapshot) {}
	weights := func(alpha, beta, gamma, delta int) func(*policy.Snapshot) {
		return func(in *policy.Snapshot) {
			in.Applications[0].Beta = beta
			in.Jobs[0].Alpha, in.Jobs[0].Gamma, in.Jobs[0].Delta = alpha, gamma, delta
		}
	}
	for name, tt := range map[string]struct {
		in   policy.Snapshot
		want string
	}{
		// z is 12 + k_w and 6 + 3·k_w: they meet at 3 francs an hour.
		"waiting is cheap":                   {single(same, hourly(2)), "0:b"},
		"waiting is dear":                    {single(same, hourly(4)), "0:a"},
		"a tie ends earliest":                {single(same, hourly(3)), "0:a"},
		"beta alone is the fastest":          {single(weights(0, one, 0, 0), hourly(1)), "0:a"},
		"without beta the cheapest":          {single(weights(one, 0, one, one), hourly(1000)), "0:b"},
		"beta is a weight":                   {single(weights(one, 4*one, one, one), hourly(1)), "0:a"},
		"gamma is a weight":                  {single(weights(0, one, 3*one, 0), hourly(1)), "0:b"},
		"a wait that costs nothing":          {single(weights(0, one, 0, 0)), "0:a"},
		"the night is free (Figure 2)":       {single(same, hourly(10), protocol.WaitingRate{From: hour}), "0:b"},
		"a plateau of waiting ends earliest": {single(weights(0, one, 0, 0), protocol.WaitingRate{}, protocol.WaitingRate{From: 9 * hour, PerHour: franc}), "0:a"},
		"no sites":                           {snapshot(nil, []policy.Application{wants(1)}, row{1, 0, 1, nil}), ""},
		"no quotes":                          {snapshot(ab, []policy.Application{wants(1)}, row{1, 0, 1, []quote{no, no}}), ""},
		"declined":                           {snapshot(ab, []policy.Application{wants(1)}, row{1, 0, 1, []quote{no, slow}}), "0:b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(placed(tt.in, decide(t, tt.in)), " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestShapes: of a job's rows one is chosen. On 4 CPUs it takes an hour and costs 8, on 2
// two hours and 6.
func TestShapes(t *testing.T) {
	t.Parallel()
	for francs, want := range map[int64]string{1: "1:a", 3: "0:a"} {
		in := snapshot([]policy.Site{site("a")}, []policy.Application{wants(1, hourly(francs))},
			row{1, 0, 4, []quote{{ert: hour, use: 8}}}, row{1, 0, 2, []quote{{ert: 2 * hour, use: 6}}})
		if got := strings.Join(placed(in, decide(t, in)), " "); got != want {
			t.Errorf("at %d francs an hour: %s, want %s", francs, got, want)
		}
	}
}

// TestWaitingCountsOnce: of two components only the later end costs; as printed, both do.
func TestWaitingCountsOnce(t *testing.T) {
	t.Parallel()
	in := snapshot([]policy.Site{site("a"), site("b")}, []policy.Application{wants(1, hourly(2))},
		row{1, 0, 1, []quote{{ert: 5 * hour, use: 1}, no}},
		row{2, 0, 1, []quote{{ert: hour, use: 4}, {ert: 3 * hour, use: 1}}}) // 3 francs for 2 hours sooner
	if got := placed(in, decide(t, in)); !slices.Equal(got, []string{"0:a", "1:b"}) {
		t.Errorf("once: %v", got)
	}
	cfg := iss.Default()
	cfg.Double = true
	decisions, _, err := made(t, cfg).Decide(t.Context(), in)
	if got := placed(in, decisions); err != nil || !slices.Equal(got, []string{"0:a", "1:a"}) {
		t.Errorf("as printed: %v, %v", got, err)
	}
}

// TestTies stay at home, else go to the first site.
func TestTies(t *testing.T) {
	t.Parallel()
	q := quote{ert: hour, use: 1}
	in := snapshot([]policy.Site{site("a"), site("b"), site("c")}, []policy.Application{wants(1)}, row{1, 0, 1, []quote{q, q, q}})
	for self, want := range map[int]string{-1: "0:a", 0: "0:a", 1: "0:b", 2: "0:c"} {
		in.Self = self
		if got := placed(in, decide(t, in)); got[0] != want {
			t.Errorf("at %d: %v, want %s", self, got, want)
		}
	}
}

// TestSharing: a quote answers for its job alone. On the only site one of two jobs waits
// for the other's CPU time; so does the job of a later application.
func TestSharing(t *testing.T) {
	t.Parallel()
	small := site("a")
	small.CPUs, small.Free = 10, 10
	q := []quote{{awt: minute, ert: hour, use: 1}}
	for name, applications := range map[string][]int{"one application": {0, 0}, "two applications": {0, 1}} {
		in := snapshot([]policy.Site{small}, []policy.Application{wants(1), wants(2)}, row{1, applications[0], 6, q}, row{2, applications[1], 6, q})
		got := decide(t, in)
		if len(got) != 2 || got[0].Wait != minute || got[1].Wait != minute+36*minute {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestTogether: components that start together wait for the last of them, or are not
// placed at all.
func TestTogether(t *testing.T) {
	t.Parallel()
	in := snapshot([]policy.Site{site("a"), site("b")}, []policy.Application{wants(1, hourly(1))},
		row{1, 0, 1, []quote{{awt: minute, ert: hour}, no}}, row{2, 0, 1, []quote{no, {awt: hour, ert: hour}}}, row{3, 0, 1, []quote{{ert: hour}, no}})
	in.Jobs[0].Together, in.Jobs[1].Together = 4, 4
	got := decide(t, in)
	if len(got) != 3 || got[0].Wait != hour || got[1].Wait != hour || got[2].Wait != 0 {
		t.Errorf("got %+v", got)
	}
	in.Sites[1].MaxJobs = 0
	if got := placed(in, decide(t, in)); len(got) != 3 || !strings.HasPrefix(got[0], "0:the sites do not take all the components") || got[2] != "2:a" {
		t.Errorf("got %v", got)
	}
}

// TestNoRoom: what fits is placed. What does not is told so, and its least cost is kept
// back.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	narrow := site("a")
	narrow.MaxJobs = 1
	in := snapshot([]policy.Site{narrow}, []policy.Application{wants(1)},
		row{1, 0, 1, []quote{{ert: hour, use: 3}}}, row{2, 0, 1, []quote{{ert: hour, use: 4}}})
	if got := placed(in, decide(t, in)); len(got) != 2 || got[0] != "0:a" || !strings.Contains(got[1], "take no more jobs this round") {
		t.Errorf("got %v", got)
	}
	in.Applications[0].MaxCost = 6 * franc
	got := decide(t, in)
	want := "max_cost: the cheapest choice costs 3.00 CHF besides 4.00 CHF for the other components, 1.00 CHF above max_cost 6.00 CHF; raise max_cost to 7.00 CHF"
	if len(got) != 2 || got[0].Site != policy.NoSite || got[0].Reason != want {
		t.Errorf("got %+v", got)
	}
}

// TestReason tells all terms, what proves the choice, and the next one.
func TestReason(t *testing.T) {
	t.Parallel()
	in := snapshot([]policy.Site{site("a"), site("b")}, []policy.Application{wants(1, hourly(1))},
		row{1, 0, 8, []quote{{awt: minute, ert: hour, use: 3, license: 1, eco: 2, data: 5}, {ert: 9 * hour, use: 4}}})
	want := "z 12.016667 CHF, the least of all choices from 2 quotes, proven; here on 8 CPUs: use 3.00, license 1.00, energy 2.00, data 5.00, weighed 11.00, wait 0:01:00, run 1:00:00; " +
		"all done in 1:01:00, waiting 1.016667; next: b on 8 CPUs, z 13.00, done in 9:00:00"
	if got := decide(t, in)[0].Reason; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	in.Applications[0].MaxTime = 2 * hour
	if got := decide(t, in)[0].Reason; !strings.Contains(got, "the only choice;") || !strings.HasSuffix(got, "; no other choice is within the limits") {
		t.Errorf("got  %s", got)
	}
	in.Applications[0].MaxTime, in.AWT[1], in.ERT[1] = never, never, never
	if got := decide(t, in)[0].Reason; !strings.HasSuffix(got, "; it has no other choice") {
		t.Errorf("got  %s", got)
	}
}

// TestWaitedCost: what waiting has cost since the first submission is part of z, once or with that of each component,
// and changes no choice.
func TestWaitedCost(t *testing.T) {
	t.Parallel()
	in := snapshot([]policy.Site{site("a"), site("b")}, []policy.Application{wants(1, hourly(2))},
		row{1, 0, 8, []quote{{ert: hour, use: 3}, {ert: 2 * hour, use: 2}}})
	for _, c := range []struct {
		double bool
		waited protocol.Micro
		want   []string
	}{
		{false, 0, []string{"z 5.00 CHF", ", waiting 2.00;", "z 6.00, done in 2:00:00"}},
		{false, 10 * franc, []string{"z 15.00 CHF", ", waiting 12.00;", "z 16.00, done in 2:00:00"}},
		{true, 10 * franc, []string{"z 27.00 CHF", ", its own waiting 12.00,", ", waiting 12.00;", "z 30.00, done in 2:00:00"}},
	} {
		in.Applications[0].WaitedCost = c.waited
		cfg := iss.Default()
		cfg.Double = c.double
		decisions, _, err := made(t, cfg).Decide(t.Context(), in)
		if err != nil || len(decisions) != 1 || decisions[0].Site != 0 {
			t.Fatalf("%+v, %v", decisions, err)
		}
		for _, want := range c.want {
			if !strings.Contains(decisions[0].Reason, want) {
				t.Errorf("no %q in %s", want, decisions[0].Reason)
			}
		}
	}
}

// TestReasonsAddUp: what the components weigh and what waiting does is z, to the millionth,
// and so are small amounts by large weights.
func TestReasonsAddUp(t *testing.T) {
	t.Parallel()
	reported := func(reason, name string) (micro int64) {
		found := regexp.MustCompile(`\b` + name + ` (\d+)\.(\d+)`).FindStringSubmatch(reason)
		if found == nil {
			t.Fatalf("no %s in %q", name, reason)
		}
		micro, _ = strconv.ParseInt(found[1]+(found[2] + "000000")[:6], 10, 64)
		return micro
	}
	for _, double := range []bool{false, true} {
		in := snapshot([]policy.Site{site("a"), site("b")}, []policy.Application{wants(1, hourly(1))},
			row{1, 0, 1, []quote{{awt: minute, ert: hour}, no}}, row{2, 0, 1, []quote{no, {ert: minute}}})
		in.Applications[0].Beta, in.Applications[0].WaitedCost = 700_001, 333_334
		for j := range in.Jobs {
			in.Jobs[j].Alpha, in.Jobs[j].Gamma, in.Jobs[j].Delta = 1_500_000, 100_000_000, 333_333
			at := in.At(j, j)
			in.UsageCost[at], in.LicenseCost[at], in.EnergyCost[at], in.DataCost[at] = 1234, 1, 77, 10
		}
		cfg := iss.Default()
		cfg.Double = double
		decisions, _, err := made(t, cfg).Decide(t.Context(), in)
		if err != nil || len(decisions) != 2 {
			t.Fatalf("got %+v, %v", decisions, err)
		}
		z, sum := reported(decisions[0].Reason, "z"), reported(decisions[0].Reason, "done in [^,]*, waiting")
		for _, d := range decisions {
			sum += reported(d.Reason, "weighed")
			if double {
				sum += reported(d.Reason, "its own waiting")
			}
			if got := reported(d.Reason, "energy"); got != 77 {
				t.Errorf("energy %d of 77: %s", got, d.Reason)
			}
		}
		if sum != z {
			t.Errorf("they add up to %d, z is %d: %s", sum, z, decisions[0].Reason)
		}
	}
}

// TestLimits: what no choice keeps is told with the smallest change.
func TestLimits(t *testing.T) {
	t.Parallel()
	sites := []policy.Site{site("a"), site("b")}
	quotes := []quote{{ert: hour, use: 20}, {ert: 4 * hour, use: 12, eco: 1}}
	for name, tt := range map[string]struct {
		cost  protocol.Micro
		time  protocol.Duration
		spent protocol.Micro
		since protocol.Duration
		want  string
	}{
		"cost": {cost: 10 * franc, time: never, want: "max_cost: the cheapest choice costs 13.00 CHF, 3.00 CHF above max_cost 10.00 CHF; raise max_cost to 13.00 CHF"},
		"cost, of which some is spent": {
			cost: 15 * franc, time: never, spent: 3*franc + 1,
			want: "max_cost: the cheapest choice costs 13.00 CHF besides 3.000001 CHF for the other components, 1.000001 CHF above max_cost 15.00 CHF; raise max_cost to 16.000001 CHF",
		},
		"time": {
			cost: protocol.Unlimited, time: hour, since: minute,
			want: "max_time: the fastest choice is done in 1:00:00, 1:01:00 from its submission, 0:01:00 after max_time 1:00:00; raise max_time to 1:01:00",
		},
		"time, which is over": {
			cost: protocol.Unlimited, time: hour, since: hour,
			want: "max_time: 1:00:00 since its submission are over; cancel the application and submit it again",
		},
		"either": {
			cost: 15 * franc, time: 2 * hour,
			want: "max_cost and max_time: in time, the cheapest choice costs 20.00 CHF, 5.00 CHF above max_cost 15.00 CHF; " +
				"within the cost, the fastest choice is done in 4:00:00, 2:00:00 after max_time 2:00:00; raise max_cost to 20.00 CHF or max_time to 4:00:00",
		},
		"both": {
			cost: franc, time: minute,
			want: "max_cost and max_time: the fastest choice is done in 1:00:00, 0:59:00 after max_time 0:01:00, " +
				"and then the cheapest choice costs 20.00 CHF, 19.00 CHF above max_cost 1.00 CHF; raise max_cost to 20.00 CHF and max_time to 1:00:00",
		},
		"neither": {cost: 13 * franc, time: 4 * hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := snapshot(sites, []policy.Application{wants(1)}, row{1, 0, 1, quotes})
			a := &in.Applications[0]
			a.MaxCost, a.MaxTime, a.Spent, a.Elapsed = tt.cost, tt.time, tt.spent, tt.since
			d := decide(t, in)[0]
			if tt.want == "" && d.Site == policy.NoSite || tt.want != "" && (d.Site != policy.NoSite || d.Reason != tt.want) {
				t.Errorf("got  %+v\nwant %s", d, tt.want)
			}
		})
	}
}

// TestPlacedBefore: the end of components that are placed already bounds what waiting for
// TestGainsAreNoCredit: what one component would bring in does not pay for another one.
func TestGainsAreNoCredit(t *testing.T) {
	t.Parallel()
	limited := wants(1)
	limited.MaxCost = 10 * franc
	in := snapshot([]policy.Site{site("a")}, []policy.Application{limited},
		row{1, 0, 1, []quote{{ert: hour, use: 1, eco: -6}}}, row{2, 0, 1, []quote{{ert: hour, use: 15}}})
	for _, d := range decide(t, in) {
		if d.Site != policy.NoSite || !strings.Contains(d.Reason, "the cheapest choice costs 15.00 CHF") {
			t.Errorf("job %d goes to %d: %s", d.Job, d.Site, d.Reason)
		}
	}
	in.Applications[0].MaxCost = 15 * franc
	for _, d := range decide(t, in) {
		if d.Site != 0 {
			t.Errorf("job %d goes to %d: %s", d.Job, d.Site, d.Reason)
		}
	}
}

// the others costs: it is no use to be done before.
func TestPlacedBefore(t *testing.T) {
	t.Parallel()
	in := snapshot([]policy.Site{site("a"), site("b")}, []policy.Application{wants(1, hourly(100))},
		row{2, 0, 1, []quote{{ert: hour, use: 2}, {ert: 3 * hour, use: 1}}})
	for done, want := range map[protocol.Duration]string{0: "0:a", 3 * hour: "0:b"} {
		in.Applications[0].CommittedUntil = done
		if got := placed(in, decide(t, in)); got[0] != want {
			t.Errorf("done in %v: %v, want %s", done, got, want)
		}
	}
}

// TestRestore: it becomes again what it says of itself, and nothing else.
func TestRestore(t *testing.T) {
	t.Parallel()
	p := made(t, iss.Config{Gap: 5, Nodes: 6, Double: true})
	again, err := iss.Restore(p.Info().Params)
	if err != nil || again.Config != p.Config {
		t.Errorf("got %+v, %v", again, err)
	}
	for _, value := range []string{"", "x", "-1"} {
		params := p.Info().Params
		params[1].Value = value
		if again, err = iss.Restore(params); err == nil {
			t.Errorf("nodes %q become %+v", value, again)
		}
	}
	if _, err = iss.New(iss.Config{Gap: -1, Nodes: math.MaxInt}); err == nil || strings.Count(err.Error(), "policy iss: ") != 2 {
		t.Errorf("got %v", err)
	}
}

// TestFront: all choices that none beats, and the one that weights and limits choose.
func TestFront(t *testing.T) {
	t.Parallel()
	sites := []policy.Site{site("a"), site("b"), site("c")}
	in := snapshot(sites, []policy.Application{wants(1, hourly(1)), wants(2)},
		row{1, 0, 8, []quote{{ert: hour, use: 20}, {awt: hour, ert: hour, use: 15}, {ert: 6 * hour, use: 10}}},
		row{1, 0, 4, []quote{{ert: 3 * hour, use: 18}, no, {ert: 8 * hour, eco: 5}}},
		row{2, 1, 1, []quote{no, no, no}})
	p := made(t, iss.Default())
	reported := func(f policy.ParetoFront) (out []string) {
		for _, point := range f.Points {
			words := []string{fmt.Sprintf("%v %d", point.Time, point.Cost/franc)}
			for _, c := range point.Choices {
				words = append(words, fmt.Sprintf("%s:%d", in.Sites[c.Site].Name, c.CPUs))
			}
			if point.Chosen {
				words = append(words, "chosen")
			}
			out = append(out, strings.Join(words, " "))
		}
		return out
	}
	front, err := p.FrontOf(in, 0)
	want := []string{"1h0m0s 20 a:8", "2h0m0s 15 b:8", "6h0m0s 10 c:8", "8h0m0s 5 c:4 chosen"}
	if err != nil || front.Gap != 0 || front.Reason != "" || front.Currency != "CHF" || !slices.Equal(reported(front), want) {
		t.Errorf("got %q, %+v, %v", reported(front), front, err)
	}
	in.Applications[0].MaxTime = 5 * hour
	front, err = p.FrontOf(in, 0)
	if err != nil || !slices.Contains(reported(front), "2h0m0s 15 b:8 chosen") {
		t.Errorf("within 5 hours: %q, %v", reported(front), err)
	}
	in.Jobs[0].Alpha, in.Jobs[1].Alpha, in.Applications[0].Beta = 0, 0, 0 // the use of machines counts nothing
	in.Applications[0].MaxCost = 4 * franc
	front, err = p.FrontOf(in, 0)
	if err != nil || len(front.Points) != 4 || !strings.HasPrefix(front.Reason, "max_cost") {
		t.Errorf("without enough money: %q, %+v, %v", reported(front), front, err)
	}
	front, err = p.FrontOf(in, 1)
	if err != nil || len(front.Points) != 0 || front.Reason != "no site can run component 1 of 1" {
		t.Errorf("without quotes: %+v, %v", front, err)
	}
	if _, err = p.FrontOf(in, 2); err == nil {
		t.Error("there is a front of an application that there is not")
	}
}

// TestFrontOfMany: one of more choices than are shown says so.
func TestFrontOfMany(t *testing.T) {
	t.Parallel()
	for many, more := range map[int]bool{iss.MaxPoints: false, iss.MaxPoints + 1: true} {
		sites, quotes := make([]policy.Site, many), make([]quote, many)
		for i := range sites {
			sites[i] = site(fmt.Sprintf("site-%d", i))
			quotes[i] = quote{ert: protocol.Duration(i+1) * hour, use: int64(many - i)}
		}
		in := snapshot(sites, []policy.Application{wants(1, hourly(1))}, row{1, 0, 8, quotes})
		front, err := made(t, iss.Default()).FrontOf(in, 0)
		if err != nil || front.More != more || more == (len(front.Points) == many) {
			t.Errorf("of %d choices %d are shown, more: %v, %v", many, len(front.Points), front.More, err)
		}
	}
}
