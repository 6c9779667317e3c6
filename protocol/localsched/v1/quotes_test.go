package localschedv1_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

func TestDecodeQueryRefuses(t *testing.T) {
	t.Parallel()
	type m = *localschedv1.QuoteRequest
	spoilt(t, rightQuery, localschedv1.DecodeQuery, map[string]func(m){
		"query: jobs: job: has 1048577":                     func(m m) { m.Jobs.Job = make([]uint64, localschedv1.MaxJobs+1) },
		"query: jobs: cpus: has 1 entries, not 2":           func(m m) { m.Jobs.Cpus = []int64{1} },
		"query: jobs: nodes: has 1":                         func(m m) { m.Jobs.Nodes = []int64{1} },
		"query: jobs: memory_mb: has 1":                     func(m m) { m.Jobs.MemoryMb = []int64{1} },
		"query: jobs: wall_time: has 3":                     func(m m) { m.Jobs.WallTime = make([]int64, 3) },
		"query: jobs: entry 1: cpus: -1 is outside":         func(m m) { m.Jobs.Cpus[1] = -1 },
		"query: jobs: entry 1: cpus: 2147483648":            func(m m) { m.Jobs.Cpus[1] = 1 << 31 },
		"query: jobs: entry 0: nodes: -1":                   func(m m) { m.Jobs.Nodes[0] = -1 },
		"query: jobs: entry 0: memory_mb: -1 is":            func(m m) { m.Jobs.MemoryMb[0] = -1 },
		"query: jobs: entry 0: wall_time: -2 is":            func(m m) { m.Jobs.WallTime[0] = -2 },
		"query: jobs: power: has 1 entries, not 2":          func(m m) { m.Jobs.Power = []int64{1} },
		"query: jobs: like: has 3 entries, not 2":           func(m m) { m.Jobs.Like = make([]uint64, 3) },
		"query: jobs: entry 1: power: -1 is outside 0":      func(m m) { m.Jobs.Power[1] = -1 },
		"query: jobs: entry 1: power: 100000001 is outside": func(m m) { m.Jobs.Power[1] = protocol.MaxPower + 1 },
		"query: ahead: cpus: has 0":                         func(m m) { m.Ahead.Cpus = nil },
		"query: ahead_epoch: has 1 entries, not 2":          func(m m) { m.AheadEpoch = []uint32{1} },
		"query: ahead_epoch: has 2 entries, not 0":          func(m m) { m.Ahead = nil },
		"query: ahead[1]: tag.epoch: is 0; epochs start":    func(m m) { m.AheadEpoch[1] = 0 },
		"query: guard: 9001 is above 9000":                  func(m m) { m.Guard = 9001 },
		"query: guard: 65537 is above 9000":                 func(m m) { m.Guard = 1<<16 + 1 },
		"query: ahead[0]: tag.job: is 0":                    func(m m) { m.Ahead.Job[0] = 0 },
	})
}

func TestDecodeQuotesRefuses(t *testing.T) {
	t.Parallel()
	type m = *localschedv1.QuoteResponse
	jobs := []protocol.Request{{Job: 1}, {Job: 2}}
	term := func(name string) *localschedv1.Term { return &localschedv1.Term{Name: name, Amount: make([]int64, 2)} }
	decode := func(m m) ([]protocol.Quote, error) { return localschedv1.DecodeQuotes(m, jobs) }
	spoilt(t, rightQuotes, decode, map[string]func(m){
		"declined: has 1 entries, not 2":              func(m m) { m.Declined = []string{""} },
		"awt: has 1 entries, not 2":                   func(m m) { m.Awt = []int64{1} },
		"awt_low: has 0":                              func(m m) { m.AwtLow = nil },
		"awt_high: has 0":                             func(m m) { m.AwtHigh = nil },
		"ert: has 3":                                  func(m m) { m.Ert = make([]int64, 3) },
		"bound: has 1 entries, not 2":                 func(m m) { m.Bound = []int64{1} },
		"delay: has 3 entries, not 2":                 func(m m) { m.Delay = make([]int64, 3) },
		"note: has 1 entries, not 2":                  func(m m) { m.Note = []string{"x"} },
		"quotes[0]: note: has 257":                    func(m m) { m.Note[0] = strings.Repeat("x", 257) },
		"quotes[1]: note: a declined job has none":    func(m m) { m.Note[1] = "x" },
		"quotes[0]: bound: -2 is negative":            func(m m) { m.Bound[0] = -2 },
		"quotes[0]: delay: -2 is negative":            func(m m) { m.Delay[0] = -2 },
		"quotes[1]: awt: a declined quote has no tim": func(m m) { m.Bound[1] = 5 },
		"quotes[1]: awt: a declined quote has no t":   func(m m) { m.Delay[1] = -1 },
		"terms: has 33":                               func(m m) { m.Terms = make([]*localschedv1.Term, 33) },
		"currency: is missing":                        func(m m) { m.Currency = "" },
		"currency: has 17":                            func(m m) { m.Currency = strings.Repeat("x", 17) },
		"terms[0]: name: is missing":                  func(m m) { m.Terms[0].Name = "" },
		"terms[0]: name: has 65":                      func(m m) { m.Terms[0].Name = strings.Repeat("x", 65) },
		"terms[0]: amount: has 1":                     func(m m) { m.Terms[0].Amount = []int64{1} },
		`terms[1]: name: "cpu" is there twice`:        func(m m) { m.Terms = append(m.Terms, term("cpu")) },
		"quotes[0]: awt: -2 is negative":              func(m m) { m.Awt[0] = -2 },
		"quotes[0]: awt_low: -2 is negative":          func(m m) { m.AwtLow[0] = -2 },
		"quotes[0]: awt_high: -2 is negative":         func(m m) { m.AwtHigh[0] = -2 },
		"quotes[0]: ert: -2 is negative":              func(m m) { m.Ert[0] = -2 },
		"quotes[0]: awt: 10ms is outside its range 1": func(m m) { m.AwtLow[0] = 11 },
		"quotes[0]: awt: 10ms is outside its range 5": func(m m) { m.AwtHigh[0] = 9 },
		"quotes[0]: awt: 10ms is outside its range n": func(m m) { m.AwtLow[0] = -1 },
		"quotes[0]: awt: never is outside":            func(m m) { m.Awt[0], m.AwtHigh[0] = -1, 20 },
		"quotes[1]: awt: a declined quote has no":     func(m m) { m.Awt[1] = -1 },
		"quotes[1]: awt: a declined quote":            func(m m) { m.Ert[1] = 5 },
		"quotes[1]: terms: a declined quote has none": func(m m) { m.Terms[0].Amount[1] = -1 },
		"quotes[1]: declined: has 4097":               func(m m) { m.Declined[1] = strings.Repeat("x", 4097) },
	})
}

func TestEncodeQuotesRefuses(t *testing.T) {
	t.Parallel()
	jobs := []protocol.Request{{Job: 1}, {Job: 2}}
	right := []protocol.Quote{
		{Job: 1, Terms: []protocol.Term{{Name: "cpu", Amount: 1}}, Currency: "EUR"},
		{Job: 2, Terms: []protocol.Term{{Name: "cpu", Amount: 1}}, Currency: "EUR"},
	}
	second := func(change func(*protocol.Quote)) []protocol.Quote {
		return []protocol.Quote{right[0], with(right[1], change)}
	}
	terms := func(n int) (out []protocol.Term) {
		for i := range n {
			out = append(out, protocol.Term{Name: strings.Repeat("x", i+1)})
		}
		return out
	}
	cases := map[string][]protocol.Quote{
		"1 quotes for 2 jobs":                          right[:1],
		"quotes[0]: is for job 2, not 1":               {right[1], right[0]},
		"quotes[1]: awt: -9223372036854775808 is neg":  second(func(q *protocol.Quote) { q.AWT = -1 << 63 }),
		"quotes[1]: bound: -1 is negative":             second(func(q *protocol.Quote) { q.Bound = -1 }),
		"quotes[1]: delay: -1 is negative":             second(func(q *protocol.Quote) { q.Delay = -1 }),
		"quotes[1]: ert: -1 is negative":               second(func(q *protocol.Quote) { q.ERT = -1 }),
		"quotes[1]: awt: 5ms is outside its range 6ms": second(func(q *protocol.Quote) { q.AWT, q.AWTLow, q.AWTHigh = 5, 6, 7 }),
		"quotes[1]: currency: is USD, but EUR in an e": second(func(q *protocol.Quote) { q.Currency = "USD" }),
		"quotes[1]: currency: is missing":              second(func(q *protocol.Quote) { q.Currency = "" }),
		"quotes[1]: terms[1]: name: \"cpu\" is there ": second(func(q *protocol.Quote) { q.Terms = append(q.Terms[:1:1], q.Terms...) }),
		"quotes[1]: terms[0]: name: is missing":        second(func(q *protocol.Quote) { q.Terms = []protocol.Term{{}} }),
		"quotes[1]: terms[31]: terms: has 33":          second(func(q *protocol.Quote) { q.Terms = terms(33) }),
	}
	for want, quotes := range cases {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, err := localschedv1.EncodeQuotes(jobs, quotes)
			refused(t, err, want)
		})
	}
}

// A scheduler may know a price for one job and not for the next.
func TestTermsOfSomeQuotesAreZeroInTheOthers(t *testing.T) {
	t.Parallel()
	jobs := []protocol.Request{{Job: 1}, {Job: 2}, {Job: 3}}
	m, err := localschedv1.EncodeQuotes(jobs, []protocol.Quote{
		{Job: 1, Terms: []protocol.Term{{Name: "cpu", Amount: 5}}, Currency: "EUR"},
		{Job: 2, Declined: "full", AWT: protocol.Never, ERT: 7},
		{Job: 3, Terms: []protocol.Term{{Name: "energy", Amount: -2}}, Currency: "EUR"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := localschedv1.DecodeQuotes(m, jobs)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Cost() != 5 || got[2].Cost() != -2 || len(got[0].Terms) != 2 || len(got[1].Terms) != 0 || got[1].Currency != "" {
		t.Errorf("got %+v", got)
	}
	// Decoded quotes share memory, and charging one must not write to the next.
	got[0].Terms = append(got[0].Terms, protocol.Term{Name: "tax", Amount: 100})
	if got[2].Cost() != -2 {
		t.Errorf("a term of job 1 reached job 3: %+v", got[2])
	}
}
