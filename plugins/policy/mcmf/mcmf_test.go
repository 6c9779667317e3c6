package mcmf_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/mcmf"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	second = protocol.Second
	never  = protocol.Never
	euro   = protocol.Unit
)

// quote is what a site says to a job: its wait, the run and the price. A run of 0 stands
// for a quote that was declined.
type quote struct {
	awt, ert protocol.Duration
	cost     protocol.Micro
}

var no = quote{}

// site is one that takes so many jobs and names its prices in euros.
func site(name string, accept int) policy.Site {
	return policy.Site{Name: protocol.SiteName(name), CPUs: 64, MaxJobs: accept, Currency: "EUR"}
}

// snapshot has a row of quotes for each job; none has waited yet.
func snapshot(sites []policy.Site, rows ...[]quote) policy.Snapshot {
	in := policy.Snapshot{Sites: sites}
	for j, row := range rows {
		in.Jobs = append(in.Jobs, policy.Job{ID: protocol.NewJobID(1, uint64(j)), CPUs: 1, WallTime: protocol.Hour})
		for _, q := range row {
			if q.ert == 0 {
				q = quote{never, never, 0}
			}
			in.AWT, in.ERT, in.Cost = append(in.AWT, q.awt), append(in.ERT, q.ert), append(in.Cost, q.cost)
		}
	}
	return in
}

func made(t testing.TB, cfg mcmf.Config) *mcmf.Policy {
	t.Helper()
	p, err := mcmf.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// weighing is mcmf with so many percent of weight on the response time.
func weighing(percent int) mcmf.Config {
	cfg := mcmf.Published(mcmf.Full)
	cfg.Weight = percent * protocol.PPM / 100
	return cfg
}

func decide(t testing.TB, cfg mcmf.Config, in policy.Snapshot) []policy.Decision {
	t.Helper()
	decisions, _, err := made(t, cfg).Decide(t.Context(), in)
	if err == nil {
		err = in.Check(decisions)
	}
	if err != nil {
		t.Fatal(err)
	}
	return decisions
}

// placed lists the chosen site of each decision as job:site.
func placed(in policy.Snapshot, decisions []policy.Decision) (out []string) {
	for _, d := range decisions {
		out = append(out, fmt.Sprintf("%d:%s", d.Job, in.Sites[d.Site].Name))
	}
	return out
}

// TestEquations works equations 4 to 6 by hand. Two sites: a is fast and dear, b slow
// and cheap. R is 100 s and 300 s for the first job, 200 s and 500 s for the second, so
// c_r is 0, 0.5, 0.25 and 1; E is 6 and 2, 10 and 4 euros, so c_e is 0.5, 0, 1 and 0.25.
func TestEquations(t *testing.T) {
	t.Parallel()
	in := snapshot([]policy.Site{site("a", 1), site("b", 2)},
		[]quote{{40 * second, 60 * second, 6 * euro}, {0, 300 * second, 2 * euro}},
		[]quote{{100 * second, 100 * second, 10 * euro}, {250 * second, 250 * second, 4 * euro}},
	)
	for name, tt := range map[string]struct {
		weight int // percent
		want   []string
	}{
		// Costs 0, 50 and 25, 100: both want a, which takes one; it saves 75 for the second.
		"response alone": {100, []string{
			"b: flow of 2 jobs over 2 sites: cost 50 of 100 here (response 0.50, energy 0.00); cheapest alone: a, cost 0, which is full this cycle",
			"a: flow of 2 jobs over 2 sites: cost 25 of 100 here (response 0.25, energy 1.00); next: b, cost 100, which has room",
		}},
		// Costs 50, 0 and 100, 25.
		"energy alone": {0, []string{
			"b: flow of 2 jobs over 2 sites: cost 0 of 100 here (response 0.50, energy 0.00); next: a, cost 50, which has room",
			"b: flow of 2 jobs over 2 sites: cost 25 of 100 here (response 1.00, energy 0.25); next: a, cost 100, which has room",
		}},
		// Costs 25, 25 and 63 (62.5 rounded up), 63: b for the first leaves either for the second.
		"half and half": {50, []string{
			"cost 25 of 100 here",
			"cost 63 of 100 here",
		}},
		// Costs 38 (37.5 rounded up), 13 (12.5) and 81 (81.25), 44 (43.75).
		"a quarter": {25, []string{
			"b: flow of 2 jobs over 2 sites: cost 13 of 100 here (response 0.50, energy 0.00); next: a, cost 38, which has room",
			"b: flow of 2 jobs over 2 sites: cost 44 of 100 here (response 1.00, energy 0.25); next: a, cost 81, which has room",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decisions := decide(t, weighing(tt.weight), in)
			if len(decisions) != len(tt.want) {
				t.Fatalf("got %+v", decisions)
			}
			for i, d := range decisions {
				if got := fmt.Sprintf("%s: %s", in.Sites[d.Site].Name, d.Reason); !strings.Contains(got, tt.want[i]) {
					t.Errorf("got  %s\nwant %s", got, tt.want[i])
				}
			}
		})
	}
}

// TestDecide: which site each job gets, and what is looked at for it.
func TestDecide(t *testing.T) {
	t.Parallel()
	a, b, c := site("a", 9), site("b", 9), site("c", 9)
	none, one := site("a", 0), site("a", 1)
	far := site("b", 9)
	far.Latency, far.Bandwidth = second, 1_000_000
	moving := func(in policy.Snapshot) policy.Snapshot {
		in.Jobs[0].Data = 60_000_000 // 61 s over the link
		return in
	}
	away := func(in policy.Snapshot) policy.Snapshot {
		in.Self = policy.NoSite
		return in
	}
	for name, tt := range map[string]struct {
		weight int
		in     policy.Snapshot
		want   []string
	}{
		"no jobs":                               {25, snapshot([]policy.Site{a, b}), nil},
		"no sites":                              {25, away(snapshot(nil, nil, nil)), nil},
		"no quotes":                             {25, snapshot([]policy.Site{a, b}, []quote{no, no}), nil},
		"one site for one job":                  {25, snapshot([]policy.Site{a}, []quote{{9, 9, 9}}), []string{"0:a"}},
		"declined sites":                        {25, snapshot([]policy.Site{a, b}, []quote{no, {9, 9, 9}}, []quote{{9, 9, 9}, no}), []string{"0:b", "1:a"}},
		"a site that is full":                   {25, snapshot([]policy.Site{none, b}, []quote{{0, 1, 0}, {9, 9, 9}}), []string{"0:b"}},
		"nobody has room":                       {25, snapshot([]policy.Site{none}, []quote{{0, 1, 0}}), nil},
		"a run that never ends":                 {25, snapshot([]policy.Site{a, b}, []quote{{0, never, 0}, {9, 9, 9}}), []string{"0:b"}},
		"as many as possible":                   {100, snapshot([]policy.Site{one, b}, []quote{{0, 1, 0}, {99, 99, 0}}, []quote{{50, 50, 0}, no}), []string{"0:b", "1:a"}},
		"who gains most":                        {100, snapshot([]policy.Site{one, b}, []quote{{0, 10, 0}, {0, 20, 0}}, []quote{{0, 10, 0}, {0, 90, 0}}), []string{"0:b", "1:a"}},
		"negative prices":                       {0, snapshot([]policy.Site{a, b, c}, []quote{{0, 1, 5}, {0, 1, -3}, {0, 1, -2}}), []string{"0:b"}},
		"wait and run together":                 {100, snapshot([]policy.Site{a, b}, []quote{{50, 10, 0}, {0, 61, 0}}), []string{"0:a"}},
		"data that travel while the job waits":  {100, moving(snapshot([]policy.Site{a, far}, []quote{{62 * second, second, 0}, {60 * second, second, 0}})), []string{"0:b"}},
		"data that travel longer than it waits": {100, moving(snapshot([]policy.Site{a, far}, []quote{{60 * second, second, 0}, {50 * second, second, 0}})), []string{"0:a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := placed(tt.in, decide(t, weighing(tt.weight), tt.in)); !slices.Equal(got, tt.want) {
				t.Errorf("placed %v, want %v", got, tt.want)
			}
		})
	}
}

// TestAlternatives: of equally cheap ones the first is named, and one that declined is
// none.
func TestAlternatives(t *testing.T) {
	t.Parallel()
	sites := []policy.Site{site("a", 9), site("b", 9), site("c", 9), site("d", 9)}
	for want, row := range map[string][]quote{
		"; next: b, cost 100, which has room": {{0, 1, 0}, {0, 2, 1}, {0, 2, 1}, no},
		"; next: c, cost 100, which has room": {{0, 1, 0}, no, {0, 2, 1}, {0, 2, 1}},
		"; no other site quoted it":           {{0, 1, 0}, no, no, no},
	} {
		if d := decide(t, weighing(50), snapshot(sites, row))[0]; d.Site != 0 || !strings.HasSuffix(d.Reason, want) {
			t.Errorf("got %s, want %s", d.Reason, want)
		}
	}
}

// TestTheOldChangeNoRange: R runs from now on, so one that has waited for a month leaves
// the costs of the others, and where they go, as they were.
func TestTheOldChangeNoRange(t *testing.T) {
	t.Parallel()
	sites := []policy.Site{site("a", 9), site("b", 9)}
	in := snapshot(sites,
		[]quote{{0, 100 * second, 10 * euro}, {0, 150 * second, 5 * euro}},
		[]quote{{0, 100 * second, 0}, {0, 200 * second, 9 * euro}})
	before := decide(t, weighing(25), in)
	for i, want := range []string{"b: flow of 2 jobs over 2 sites: cost 50 of 100 here (response 0.50, energy 0.50)", "a: flow of 2 jobs over 2 sites: cost 0 of 100 here (response 0.00"} {
		if got := fmt.Sprintf("%s: %s", in.Sites[before[i].Site].Name, before[i].Reason); !strings.HasPrefix(got, want) {
			t.Errorf("job %d: %s, want %s", i, got, want)
		}
	}
	for _, waited := range [][2]protocol.Duration{{30 * protocol.Day, 0}, {0, 30 * protocol.Day}, {never, 0}, {never, never}, {1, 0}} {
		in.Jobs[0].Waited, in.Jobs[1].Waited = waited[0], waited[1]
		if after := decide(t, weighing(25), in); !slices.Equal(after, before) {
			t.Errorf("after %v: %+v, was %+v", waited, after, before)
		}
	}
}

// TestOlderJobsGoFirst when one place is left: of equal jobs the older one, and one that
// costs the whole scale more when it is more than ten minutes older. The response of the
// cycle is from 100 s to 200 s, a cost of 0 to 100; b is full.
func TestOlderJobsGoFirst(t *testing.T) {
	t.Parallel()
	const minute = protocol.Minute
	cheap, expensive := []quote{{0, 100 * second, 0}, {0, 1, 0}}, []quote{{0, 200 * second, 0}, {0, 1, 0}}
	declined, full := []quote{no, no}, []quote{no, {0, 1, 0}}
	for name, tt := range map[string]struct {
		rows   [][]quote
		waited []protocol.Duration // of the same jobs
		want   string
	}{
		"equal jobs, the second older":       {[][]quote{cheap, cheap}, []protocol.Duration{0, 6 * second}, "1:a"},
		"equal jobs, the first older":        {[][]quote{cheap, cheap}, []protocol.Duration{6 * second, 0}, "0:a"},
		"both are old":                       {[][]quote{cheap, cheap}, []protocol.Duration{5000 * minute, 5001 * minute}, "1:a"},
		"dearer, and a little older":         {[][]quote{cheap, expensive}, []protocol.Duration{0, 10*minute - 6*second}, "0:a"},
		"dearer, and so much older":          {[][]quote{cheap, expensive}, []protocol.Duration{0, 10*minute + 6*second}, "1:a"},
		"dearer, and a month older":          {[][]quote{cheap, expensive}, []protocol.Duration{0, 30 * protocol.Day}, "1:a"},
		"cheaper, and a month younger":       {[][]quote{expensive, cheap}, []protocol.Duration{30 * protocol.Day, 0}, "0:a"},
		"beside one that nobody takes":       {[][]quote{cheap, cheap, declined}, []protocol.Duration{0, protocol.Hour, 90 * protocol.Day}, "1:a"},
		"beside one that nobody takes, too":  {[][]quote{cheap, cheap, declined}, []protocol.Duration{protocol.Hour, 0, 90 * protocol.Day}, "0:a"},
		"beside one that only the full take": {[][]quote{cheap, cheap, full}, []protocol.Duration{0, protocol.Hour, never}, "1:a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := snapshot([]policy.Site{site("a", 1), site("b", 0)}, tt.rows...)
			for j, waited := range tt.waited {
				in.Jobs[j].Waited = waited
			}
			if got := placed(in, decide(t, weighing(100), in)); !slices.Equal(got, []string{tt.want}) {
				t.Errorf("placed %v, want %s", got, tt.want)
			}
		})
	}
}

// TestNoJobStarves: under steady overload, three jobs a minute for two places, none that
// came more than ten minutes later goes before one that waits, however dear that is. The
// first of all is the dearest ever.
func TestNoJobStarves(t *testing.T) {
	t.Parallel()
	type waiting struct {
		came protocol.Instant
		row  []quote
	}
	rng := rand.New(rand.NewPCG(3, 3))
	drawn := func() quote {
		return quote{protocol.Duration(rng.Int64N(1000)) * second, second, protocol.Micro(rng.Int64N(1000))}
	}
	queue := []waiting{{0, []quote{{protocol.Day, protocol.Day, 9999}, {protocol.Day, protocol.Day, 9999}}}}
	gone := 0
	for now := protocol.Instant(0); now < protocol.Instant(100*protocol.Minute); now = now.Add(protocol.Minute) {
		for range 3 {
			queue = append(queue, waiting{now, []quote{drawn(), drawn()}})
		}
		var rows [][]quote
		for _, job := range queue {
			rows = append(rows, job.row)
		}
		in := snapshot([]policy.Site{site("a", 1), site("b", 1)}, rows...)
		for j := range in.Jobs {
			in.Jobs[j].Waited = now.Sub(queue[j].came)
		}
		var left []waiting
		latest := protocol.Instant(0)
		decisions := decide(t, weighing(25), in)
		for j, job := range queue {
			if slices.ContainsFunc(decisions, func(d policy.Decision) bool { return d.Job == j }) {
				latest, gone = max(latest, job.came), gone+1
				continue
			}
			left = append(left, job)
		}
		if first := left[0].came; latest.Sub(first) > 10*protocol.Minute+6*second {
			t.Fatalf("at %v one that came at %v goes, and one that came at %v waits", now, latest, first)
		}
		queue = left
	}
	if gone != 200 || queue[0].came == 0 {
		t.Errorf("%d jobs are placed; the first that waits came at %v", gone, queue[0].came)
	}
}

// TestTheFullSayNothing: whatever a site quotes that takes no jobs, the others' places and
// costs are as if it had quoted nothing: not by waits, prices, its currency or its energy.
func TestTheFullSayNothing(t *testing.T) {
	t.Parallel()
	silent := site("d", 0)
	hostile := func(change func(s *policy.Site)) policy.Site {
		s := silent
		change(&s)
		return s
	}
	round := func(full policy.Site, q quote) policy.Snapshot {
		sites := []policy.Site{site("a", 2), site("b", 2), site("c", 2), full}
		sites[0].Currency, sites[1].NoEnergy, sites[2].NoEnergy = "SEK", true, true
		return snapshot(sites,
			[]quote{{0, 60, 7}, {0, 70, 3}, {0, 80, 1}, q}, []quote{{9, 80, 2}, {5, 90, 8}, no, q}, []quote{no, {7, 60, 3}, {8, 10, 5}, q})
	}
	reported := func(in policy.Snapshot) (all []string) {
		for _, d := range decide(t, weighing(50), in) {
			chosen, _, _ := strings.Cut(d.Reason, ");")
			all = append(all, fmt.Sprint(d.Job, d.Site, d.Wait, chosen))
		}
		return all
	}
	want := reported(round(silent, no))
	for name, full := range map[string]policy.Site{
		"as the others":       silent,
		"in another currency": hostile(func(s *policy.Site) { s.Currency = "SEK" }),
		"without energy":      hostile(func(s *policy.Site) { s.NoEnergy = true }),
		"without prices":      hostile(func(s *policy.Site) { s.Currency, s.NoEnergy = "", true }),
	} {
		for _, q := range []quote{{0, 1, 0}, {never - 9, 1, math.MaxInt64}, {1, never - 9, math.MinInt64}, {50, 50, 50}} {
			if got := reported(round(full, q)); !slices.Equal(got, want) {
				t.Errorf("%s, %+v:\n%q, was\n%q", name, q, got, want)
			}
		}
	}
}

// TestNoEnergyIsNotCheap: prices without the electricity do not count beside some with it;
// if nobody tells it, all count.
func TestNoEnergyIsNotCheap(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		dark []string // sites that do not tell what the electricity costs
		full bool     // c takes no jobs
		want string
	}{
		"one of three":               {[]string{"a"}, false, "b: cost 0 of 100 here (response 0.00, energy 0.00)"},
		"all of them":                {[]string{"a", "b", "c"}, false, "a: cost 0 of 100 here (response 0.00, energy 0.00)"},
		"two, and the third is full": {[]string{"a", "b"}, true, "a: cost 0 of 100 here (response 0.00, energy 0.00)"},
	} {
		in := snapshot([]policy.Site{site("a", 9), site("b", 9), site("c", 9)}, []quote{{0, 9, 1}, {0, 9, 40}, {0, 9, 80}})
		for s := range in.Sites {
			in.Sites[s].NoEnergy = slices.Contains(tt.dark, string(in.Sites[s].Name))
		}
		if tt.full {
			in.Sites[2].MaxJobs = 0
		}
		d := decide(t, weighing(0), in)[0]
		if got := string(in.Sites[d.Site].Name) + ": " + strings.TrimPrefix(d.Reason, "flow of 1 jobs over 3 sites: "); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	in := snapshot([]policy.Site{site("a", 9), site("b", 9)}, []quote{{0, 9, 1}, {0, 99, 40}})
	in.Sites[0].NoEnergy = true
	if d := decide(t, weighing(100), in)[0]; d.Site != 0 || !strings.Contains(d.Reason, "a guess: it does not tell what the electricity costs") {
		t.Errorf("site %d: %s", d.Site, d.Reason)
	}
}

// TestVariants: inst sees no waits; what energy is to cost is asked of the sites.
func TestVariants(t *testing.T) {
	t.Parallel()
	in := snapshot([]policy.Site{site("a", 9), site("b", 9)}, []quote{{0, 60 * second, 0}, {protocol.Day, 59 * second, 0}})
	for variant, want := range map[mcmf.Variant]struct {
		pricing protocol.EnergyPricing
		placed  string
		wait    protocol.Duration
	}{
		mcmf.Full:     {protocol.Hourly, "0:a", 0},
		mcmf.TwoPrice: {protocol.TwoPrice, "0:a", 0},
		mcmf.Inst:     {protocol.AtOnce, "0:b", protocol.Day}, // it is told the quoted wait all the same
	} {
		t.Run(string(variant), func(t *testing.T) {
			t.Parallel()
			cfg := mcmf.Published(variant)
			decisions := decide(t, cfg, in)
			if got := placed(in, decisions); got[0] != want.placed || decisions[0].Wait != want.wait {
				t.Errorf("placed %v with a wait of %v", got, decisions[0].Wait)
			}
			info := policy.Describe(made(t, cfg))
			if info.Name != string(variant) || info.EnergyPricing != want.pricing || len(info.Can) != 0 || info.MarginalJobs != 0 {
				t.Errorf("it says %+v", info)
			}
			if err := info.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUnknownPrices: a site that names no prices, or some that cannot be compared, is
// taken to cost the job the mean of what the others do.
func TestUnknownPrices(t *testing.T) {
	t.Parallel()
	in := func(d string, rows ...[]quote) policy.Snapshot {
		sites := []policy.Site{site("a", 9), site("b", 9), site("c", 9), site("d", 9)}
		sites[3].Currency = d
		return snapshot(sites, rows...)
	}
	cheap := []quote{{0, 9, 0}, {0, 9, 6}, {0, 9, 100}, {0, 9, 1}}
	for name, tt := range map[string]struct {
		in   policy.Snapshot
		want string
	}{
		"known":            {in("EUR", []quote{no, no, {0, 9, 100}, {0, 9, 1}}, cheap[:4]), "energy 0.01)"},
		"none":             {in("", []quote{no, no, no, {0, 9, 1}}, cheap), "energy 0.50, a guess: it names no prices)"},
		"the mean of two":  {in("", []quote{{0, 99, 0}, {0, 99, 30}, no, {0, 9, 1}}, cheap), "energy 0.15, a guess: it names no prices)"},
		"another currency": {in("SEK", []quote{{0, 99, 0}, {0, 99, 30}, no, {0, 9, 1}}, cheap), "energy 0.15, a guess: its prices are in SEK, most in EUR)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := weighing(100)
			if name == "known" {
				cfg = weighing(0)
			}
			d := decide(t, cfg, tt.in)[0]
			if tt.in.Sites[d.Site].Name != "d" || !strings.Contains(d.Reason, tt.want) {
				t.Errorf("job 0 goes to %s: %s", tt.in.Sites[d.Site].Name, d.Reason)
			}
		})
	}
}

// TestUnknownIsNotFree: a site without prices does not draw the jobs, nor lose them all.
func TestUnknownIsNotFree(t *testing.T) {
	t.Parallel()
	sites := []policy.Site{site("a", 9), site("b", 9), site("c", 9)}
	sites[2].Currency = ""
	in := snapshot(sites, []quote{{0, 9, 10}, {0, 9, 50}, {0, 9, 0}}, []quote{no, {0, 9, 50}, {0, 9, 0}}, []quote{{0, 9, 50}, {0, 9, 50}, {0, 8, 0}})
	if got, want := placed(in, decide(t, weighing(1), in)), []string{"0:a", "1:b", "2:c"}; got[0] != want[0] || got[2] != want[2] {
		t.Errorf("placed %v, want %v", got, want)
	}
}

// TestCurrencies: the commonest counts, of equally common ones the first by name; sites
// that quote nothing have no say.
func TestCurrencies(t *testing.T) {
	t.Parallel()
	for currencies, want := range map[string]string{
		"EUR EUR SEK": "", "SEK EUR NOK": "its prices are in SEK, most in EUR", "SEK SEK EUR": "",
		"SEK EUR": "its prices are in SEK, most in EUR", "SEK EUR - -": "its prices are in SEK, most in EUR", "NOK - - -": "",
	} {
		var sites []policy.Site
		var row []quote
		for i, currency := range strings.Fields(currencies) {
			s := site(string(rune('a'+i)), 9)
			q := quote{0, protocol.Duration(9 + i), 1}
			if s.Currency = currency; currency == "-" {
				s.Currency, q = "SEK", no // it has no say
			}
			sites, row = append(sites, s), append(row, q)
		}
		d := decide(t, weighing(100), snapshot(sites, row))[0]
		if d.Site != 0 || strings.Contains(d.Reason, "a guess") != (want != "") || !strings.Contains(d.Reason, want) {
			t.Errorf("%s: job 0 goes to site %d: %s", currencies, d.Site, d.Reason)
		}
	}
}

// TestMarginal: jobs spread over sites when the later ones would wait longer, which they
// are told; beyond what a site says it goes on as it grew last.
func TestMarginal(t *testing.T) {
	t.Parallel()
	sites := []policy.Site{site("a", 9), site("b", 9)}
	sites[0].MarginalWaits = []protocol.Duration{10 * second, 30 * second} // then 50 s, 70 s
	row := []quote{{0, 100 * second, 0}, {0, 160 * second, 0}}
	in := snapshot(sites, row, row, row, row, row)
	cfg := weighing(100)
	if got := placed(in, decide(t, cfg, in)); len(got) != 5 || slices.Contains(got, "0:b") || strings.Contains(strings.Join(got, " "), "b") {
		t.Errorf("without it: placed %v", got)
	}
	cfg.Marginal = 3
	if extra := policy.Describe(made(t, cfg)).MarginalJobs; extra != 3 {
		t.Errorf("it asks for %d waits", extra)
	}
	decisions := decide(t, cfg, in)
	var atA []protocol.Duration
	slow := 0
	for _, d := range decisions {
		if d.Site == 0 {
			atA = append(atA, d.Wait)
			continue
		}
		if slow++; d.Wait != 0 || !strings.Contains(d.Reason, "cheapest alone: a, cost 0, which the others sent there make slower") {
			t.Errorf("job %d at b waits %v: %s", d.Job, d.Wait, d.Reason)
		}
	}
	// The fifth would wait 70 s at a, and takes 60 s longer at b.
	if want := []protocol.Duration{0, 10 * second, 30 * second, 50 * second}; !slices.Equal(atA, want) || slow != 1 {
		t.Errorf("waits at a: %v, want %v; %d jobs at b", atA, want, slow)
	}
}

// TestAnHourHasAPrice: a job that may save little does not wait for it, and one that may save
// much does, whatever else is in the round; by round, the same share of the range decides.
func TestAnHourHasAPrice(t *testing.T) {
	t.Parallel()
	sites := []policy.Site{site("home", 9), site("cheap", 9)}
	small := []quote{{0, protocol.Hour, 600}, {4 * protocol.Hour, protocol.Hour, 300}}
	large := []quote{{0, 10 * protocol.Hour, 90 * euro}, {4 * protocol.Hour, 10 * protocol.Hour, 80 * euro}}
	price := mcmf.Default(mcmf.Full)
	for _, tt := range []struct {
		name string
		cfg  mcmf.Config
		rows [][]quote
		want []string
	}{
		{"a small job by round", weighing(25), [][]quote{small}, []string{"0:cheap"}},
		{"a small job", price, [][]quote{small}, []string{"0:home"}},
		{"a large job", price, [][]quote{large}, []string{"0:cheap"}},
		{"both", price, [][]quote{small, large, small}, []string{"0:home", "1:cheap", "2:home"}},
	} {
		in := snapshot(sites, tt.rows...)
		if got := placed(in, decide(t, tt.cfg, in)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	price.Currency = "SEK"
	in := snapshot(sites, large)
	got := decide(t, price, in)
	if where := placed(in, got); !slices.Equal(where, []string{"0:home"}) ||
		!strings.Contains(got[0].Reason, "a guess: its prices are in EUR, an hour is paid in SEK, weight of the response 1 at 1.00 SEK an hour") {
		t.Errorf("with hours in SEK: %v, %s", where, got[0].Reason)
	}
}

// TestGrowthSaturates: whatever a site says, waits and costs stay in their range.
func TestGrowthSaturates(t *testing.T) {
	t.Parallel()
	cfg := mcmf.Published(mcmf.Full)
	cfg.Marginal = protocol.MaxMarginalJobs
	for _, extra := range [][]protocol.Duration{{never}, {never, never}, {0, never - 1}, {never / 2, never / 2}, {1, never / 3}} {
		sites := []policy.Site{site("a", 1<<30), site("b", 2)}
		sites[0].MarginalWaits = extra
		row := []quote{{0, 1, 0}, {1, 1, 1}}
		in := snapshot(sites, slices.Repeat([][]quote{row}, 9)...)
		if decisions := decide(t, cfg, in); len(decisions) != 9 {
			t.Errorf("%v: %d jobs of 9 are placed", extra, len(decisions))
		}
	}
}

// TestLeastRange: costs that range over less count as if they ranged over it, so that a
// cent is no reason to wait; those that range over more count as before.
func TestLeastRange(t *testing.T) {
	t.Parallel()
	sites := []policy.Site{site("a", 1), site("b", 1)}
	cfg := weighing(25)
	for _, c := range []struct {
		expensive, least protocol.Micro
		want             string
	}{
		{euro / 100, 0, "0:b"}, {euro / 100, euro, "0:a"}, {euro * 2, euro, "0:b"}, {euro / 4, euro / 2, "0:b"}, {euro / 4, euro, "0:a"},
	} {
		cfg.LeastRange = c.least
		in := snapshot(sites, []quote{{0, 100 * second, c.expensive}, {0, 300 * second, 0}})
		if got := placed(in, decide(t, cfg, in)); len(got) != 1 || got[0] != c.want {
			t.Errorf("%v dearer, at least %v: %v, want %s", c.expensive, c.least, got, c.want)
		}
	}
}

func TestInfoAndRestore(t *testing.T) {
	t.Parallel()
	for _, cfg := range []mcmf.Config{
		mcmf.Published(mcmf.Full), mcmf.Default(mcmf.Inst),
		{Variant: mcmf.TwoPrice, Weight: 0, Scale: 1_000_000, Marginal: 64},
		{Variant: mcmf.Full, Scale: 100, ByPrice: true},
		{Variant: mcmf.Inst, Scale: 1, ByPrice: true, DelayPrice: euro / 50, Currency: "EUR"},
		{Variant: mcmf.Full, Scale: 100, LeastRange: euro},
	} {
		p := made(t, cfg)
		info := p.Info()
		want := []policy.Param{
			{Name: "marginal", Value: strconv.Itoa(cfg.Marginal)},
			{Name: "scale", Value: strconv.Itoa(cfg.Scale)},
			{Name: "variant", Value: string(cfg.Variant)},
			{Name: "weight_ppm", Value: strconv.Itoa(cfg.Weight)},
		}
		if cfg.ByPrice {
			delay := strconv.FormatInt(int64(cfg.DelayPrice), 10)
			want = append([]policy.Param{{Name: "currency", Value: cfg.Currency}, {Name: "delay_price_micro", Value: delay}}, want...)
		}
		if cfg.LeastRange > 0 {
			want = append([]policy.Param{{Name: "least_range_micro", Value: strconv.FormatInt(int64(cfg.LeastRange), 10)}}, want...)
		}
		if !slices.Equal(info.Params, want) || !slices.Equal(info.Initiations, []policy.Initiation{policy.Sender, policy.Cycle}) {
			t.Errorf("Info() = %+v", info)
		}
		if got, err := mcmf.Restore(info.Params); err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%+v becomes %+v, %v", cfg, got, err)
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	right := made(t, mcmf.Published(mcmf.Full)).Info().Params
	with := func(i int, name, value string) []policy.Param {
		params := slices.Clone(right)
		params[i] = policy.Param{Name: name, Value: value}
		return params
	}
	for want, params := range map[string][]policy.Param{
		`some are missing: ["weight_ppm"]`:              right[:3],
		`some are missing: ["currency"]`:                append(with(0, "marginal", "0"), policy.Param{Name: "delay_price_micro", Value: "1"}),
		`parameter delay_price_micro is ".5", not a`:    append(with(0, "marginal", "0"), policy.Param{Name: "delay_price_micro", Value: ".5"}),
		`no parameter "weight", or has had it already`:  with(3, "weight", "0"),
		`no parameter "scale", or has had it already`:   with(3, "scale", "100"),
		`parameter scale is "1e2", not a number`:        with(1, "scale", "1e2"),
		`cost_steps: 0 is outside 1 to 1000000`:         with(1, "scale", "0"),
		`no parameter "variant", or has had it already`: with(3, "variant", "mcmf"),
		`variant: "best" is unknown`:                    with(2, "variant", "best"),
	} {
		if p, err := mcmf.Restore(params); p != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", params, err, want)
		}
	}
}

// TestNewTellsAllProblems at once.
func TestNewTellsAllProblems(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cfg  mcmf.Config
		want []string
	}{
		{mcmf.Config{}, []string{`variant: "" is unknown; use mcmf, inst or twoprice`, "cost_steps: 0 is outside 1 to 1000000"}},
		{mcmf.Config{Variant: mcmf.Full, Weight: -1, Scale: 1_000_001, Marginal: -1}, []string{"weight: -1", "cost_steps: 1000001", "marginal_jobs: -1"}},
		{mcmf.Config{Variant: mcmf.Full, Weight: 1_000_001, Scale: 1, Marginal: 65}, []string{"weight: 1000001", "marginal_jobs: 65"}},
		{mcmf.Config{Variant: mcmf.Full, Scale: 1, Marginal: 1}, []string{"marginal_jobs: 1 is neither 0 (none) nor 2 to 64"}},
		{mcmf.Config{Variant: mcmf.Full, Scale: 1, ByPrice: true, DelayPrice: -1}, []string{"delay_price: -0.000001 is outside 0 to 1000000"}},
		{mcmf.Config{Variant: mcmf.Full, Scale: 1, DelayPrice: 1}, []string{`delay_price: it has no effect with normalise = "round"`}},
		{mcmf.Config{Variant: mcmf.Full, Scale: 1, ByPrice: true, Weight: 1}, []string{`weight: it has no effect with normalise = "price"`}},
		{mcmf.Config{Variant: mcmf.Inst, Scale: 1, Marginal: 2}, []string{"marginal_jobs: inst knows no waits"}},
	} {
		p, err := mcmf.New(tt.cfg)
		if p != nil || err == nil {
			t.Errorf("%+v is taken", tt.cfg)
			continue
		}
		if lines := strings.Split(err.Error(), "\n"); len(lines) != len(tt.want) {
			t.Errorf("%+v: %q, want %d problems", tt.cfg, lines, len(tt.want))
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %s", tt.cfg, err, want)
			}
		}
	}
}
