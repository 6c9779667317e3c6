package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestQuotesAgainstReality(t *testing.T) {
	t.Parallel()
	const second = protocol.Second
	job := func(quote view.QuotedWaits, started protocol.Instant, ran protocol.Duration) *view.Job {
		return &view.Job{Site: "there", State: protocol.Completed, Waits: &quote, Started: started, Ended: started.Add(ran), Ran: ran}
	}
	quote := view.QuotedWaits{At: 1_000_000, AWT: 600 * second, Low: 300 * second, High: 1200 * second, ERT: 600 * second}
	m := fresh()
	m.Ended(job(quote, quote.At.Add(605*second), 550*second))
	m.Ended(job(quote, quote.At.Add(240*second), 600*second)) // within the tolerance
	m.Ended(job(quote, quote.At.Add(239*second), 700*second))
	m.Ended(job(quote, quote.At.Add(1260*second), 600*second)) // within the tolerance
	m.Ended(job(quote, quote.At.Add(1261*second), 600*second))
	m.Ended(job(quote, quote.At.Add(-second), 600*second)) // the clock was set
	m.Ended(job(view.QuotedWaits{At: 1000, AWT: second}, 2000, second))
	failed := job(quote, quote.At.Add(600*second), second)
	failed.State = protocol.Failed
	m.Ended(failed)
	m.Ended(job(view.QuotedWaits{At: 1000, AWT: protocol.Never}, 2000, second)) // has no wait
	m.Ended(job(quote, 0, 0))                                                   // was cancelled before it started
	m.Ended(&view.Job{Site: "there", Started: 2000})                            // was placed without a quote
	want(
		t, scrape(t, m),
		`switchyard_quoted_starts_total{result="within",site="there"} 4`,
		`switchyard_quoted_starts_total{result="early",site="there"} 2`,
		`switchyard_quoted_starts_total{result="late",site="there"} 1`,
		`switchyard_quoted_starts_total{result="no_interval",site="there"} 1`,
		`switchyard_quote_wait_error_seconds_sum{direction="longer",site="there"} 1326`,
		`switchyard_quote_wait_error_seconds_count{direction="longer",site="there"} 5`,
		`switchyard_quote_wait_error_seconds_sum{direction="shorter",site="there"} 1321`,
		`switchyard_quote_run_error_seconds_sum{direction="longer",site="there"} 100`,
		`switchyard_quote_run_error_seconds_sum{direction="shorter",site="there"} 50`,
		`switchyard_quote_run_error_seconds_count{direction="longer",site="there"} 5`,
	)
}

// The wait of a quote begins when its job is committed; a site that says "now" states an interval, too.
func TestQuotedNow(t *testing.T) {
	t.Parallel()
	const minute = 60 * protocol.Second
	m, now := fresh(), view.QuotedWaits{At: 1_000_000}
	ended := func(committed, started protocol.Instant) {
		m.Ended(&view.Job{Site: "there", State: protocol.Completed, Waits: &now, CommittedAt: committed, Started: started, Ended: started})
	}
	ended(now.At.Add(30*minute), now.At.Add(30*minute+300)) // the hand-off took long
	ended(now.At, now.At.Add(60*minute))
	want(
		t, scrape(t, m),
		`switchyard_quoted_starts_total{result="within",site="there"} 1`,
		`switchyard_quoted_starts_total{result="late",site="there"} 1`,
		`switchyard_quoted_starts_total{result="no_interval",site="there"} 0`,
		`switchyard_quote_wait_error_seconds_sum{direction="longer",site="there"} 3600.3`,
	)
}

// Jobs that start at an agreed time say nothing about quotes.
func TestAgreedStartsAreNotCompared(t *testing.T) {
	t.Parallel()
	m, quote := fresh(), view.QuotedWaits{At: 1000, AWT: 10}
	m.Ended(&view.Job{Site: "there", State: protocol.Completed, Waits: &quote, Started: 5_000_000, ReservedAt: 5_000_000})
	m.Ended(&view.Job{Site: "there", State: protocol.Completed, Waits: &quote, Started: 5_000_000, Together: &view.Start{}})
	if body := scrape(t, m); strings.Contains(body, "switchyard_quoted_starts_total{") || strings.Contains(body, "switchyard_quote_wait_error_seconds_count{") {
		t.Errorf("a start that was agreed on is compared:\n%s", body)
	}
}

// A share can be had of a site from its first job on, though that has started early and no other result has occurred.
func TestAllResultsOfASiteBeginTogether(t *testing.T) {
	t.Parallel()
	m := fresh()
	m.Ended(&view.Job{Site: "there", State: protocol.Failed, Waits: &view.QuotedWaits{At: 1000, AWT: 5_000_000}, Started: 2000})
	body := scrape(t, m)
	for _, result := range []string{"early", "within", "late"} {
		want(t, body, `switchyard_quoted_starts_total{result="`+result+`",site="there"} 0`)
	}
	want(t, body, `switchyard_quoted_starts_total{result="no_interval",site="there"} 1`)
	for _, direction := range []string{"longer", "shorter"} {
		want(t, body, `switchyard_quote_run_error_seconds_count{direction="`+direction+`",site="there"} 0`)
	}
	want(t, body, `switchyard_quote_wait_error_seconds_count{direction="longer",site="there"} 0`)
}

func TestAnswered(t *testing.T) {
	t.Parallel()
	m := fresh()
	m.Answered("there", 1500*time.Millisecond)
	want(t, scrape(t, m), `switchyard_quote_latency_seconds_sum{partner="there"} 1.5`)
}
