package localschedv1_test

import (
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

func TestDecodeQueryRefuses(t *testing.T) {
	t.Parallel()
	type m = *localschedv1.QuoteRequest
	spoilt(t, rightQuery, localschedv1.DecodeQuery, map[string]func(m){
		"query.jobs: has 1048577":                   func(m m) { m.Jobs = make([]*commonv1.Request, localschedv1.MaxJobs+1) },
		"query.jobs[1].cpus: -1 is outside":         func(m m) { m.Jobs[1].Cpus = -1 },
		"query.ahead: has 1048577":                  func(m m) { m.Ahead = make([]*localschedv1.Tentative, localschedv1.MaxJobs+1) },
		"query.ahead[0].tag.epoch: is 0; epochs":    func(m m) { m.Ahead[0].Tag.Epoch = 0 },
		"query.ahead[0].tag: is missing":            func(m m) { m.Ahead[0].Tag = nil },
		"query.ahead[0].request: is missing":        func(m m) { m.Ahead[0].Request = nil },
		"query.ahead[0].request.nodes: -1":          func(m m) { m.Ahead[0].Request.Nodes = -1 },
		"query.ahead[0].request.job: is 5, but the": func(m m) { m.Ahead[0].Request.Job = 5 },
		"query.protect_site: 9001 is above 9000":    func(m m) { m.ProtectSite = 9001 },
		"query.protect_site: 65537 is above 9000":   func(m m) { m.ProtectSite = 1<<16 + 1 },
	})
}

func TestDecodeQuotesRefuses(t *testing.T) {
	t.Parallel()
	type m = *localschedv1.QuoteResponse
	jobs := []protocol.Request{{Job: 1}, {Job: 2}, {Job: 3}}
	decode := func(m m) ([]protocol.Quote, error) { return localschedv1.DecodeQuotes(m, jobs) }
	spoilt(t, rightQuotes, decode, map[string]func(m){
		"quotes: has 2 entries, not 3":                func(m m) { m.Quotes = m.GetQuotes()[:2] },
		"quotes[1]: is for job 3, not 2; keep the or": func(m m) { m.Quotes[1].Job = 3 },
		"quotes[2].currency: is USD, but EUR in an ":  func(m m) { m.Quotes[2].Currency = "USD" },
		"quotes[0].awt_ms: -2 is negative":            func(m m) { m.Quotes[0].AwtMs = -2 },
		"quotes[1].note: a declined quote has none":   func(m m) { m.Quotes[1].Note = "x" },
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
	cases := map[string][]protocol.Quote{
		": 1 quotes for 2 jobs":                       right[:1],
		"quotes[0]: is for job 2, not 1":              {right[1], right[0]},
		"quotes[1].ert_ms: -1 is negative":            second(func(q *protocol.Quote) { q.ERT = -1 }),
		"quotes[1].currency: is USD, but EUR in an e": second(func(q *protocol.Quote) { q.Currency = "USD" }),
	}
	for want, quotes := range cases {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, err := localschedv1.EncodeQuotes(jobs, quotes)
			protocoltest.Refused(t, err, want)
		})
	}
}

// A declined quote says nothing but why, whatever its scheduler reckoned.
func TestDeclinedQuotesAreBare(t *testing.T) {
	t.Parallel()
	jobs := []protocol.Request{{Job: 1}}
	m, err := localschedv1.EncodeQuotes(jobs, []protocol.Quote{{
		Job: 1, Declined: "full", AWT: 7, ERT: 7, Note: "n", Terms: []protocol.Term{{Name: "cpu"}}, Currency: "EUR",
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := localschedv1.DecodeQuotes(m, jobs)
	if want := []protocol.Quote{{Job: 1, Declined: "full"}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
