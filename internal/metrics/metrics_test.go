package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/metrics"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func get(t *testing.T, handler http.Handler, path string) (status int, body string) {
	t.Helper()
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return answer.Code, answer.Body.String()
}

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	status, body := get(t, m.Handler(metrics.Health{}), "/metrics")
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	return body
}

func fresh() *metrics.Metrics {
	m := metrics.New(metrics.Identity{Site: "here", Version: "v1"})
	m.Rules("sender", "tc", "easy")
	return m
}

func want(t *testing.T, body string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("%q is missing", line)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	m := fresh()
	const job protocol.JobID = 1_234_567_890_123
	for _, f := range []event.LogEvent{
		{Kind: event.LogJobSubmitted, Job: job},
		{Kind: event.LogRoundOpened},
		{
			Kind: event.LogRoundDecided, Job: job, Duration: 20, Silent: []string{"deaf"},
			Quotes: []view.Quote{{Site: "here"}, {Site: "there", Declined: "full"}},
		},
		{Kind: event.LogOfferRefused, Job: job, Site: "there"},
		{Kind: event.LogJobHandedOff, Job: job, Site: "there", Duration: 100},
		{Kind: event.LogJobCommitted, Job: job, Site: "here"},
		{Kind: event.LogJobRequeued, Job: job, Site: "there"},
		{Kind: event.LogJobEnded, Job: job, State: protocol.Timeout},
		{Kind: event.LogGuestAccepted, Site: "there"},
		{Kind: event.LogGuestEnded, Site: "there", State: protocol.Completed},
		{Kind: event.LogCallFailed},
		{Kind: event.LogPricesMissing, Site: "here"},
		{Kind: event.LogJobStarted, Job: job},
		{Kind: event.LogVolunteered, Site: "here"},
		{Kind: event.LogPartnerVolunteered, Site: "there"},
		{Kind: event.LogPartnerVolunteered, Site: "there"},
		{Kind: event.LogReconfigured, Site: "here"},
	} {
		m.Count(f)
	}
	m.Refused(view.NoSite)
	m.Rejected("bad-mac")
	m.Plugin("tc", "policy", false, 1)
	m.Plugin("tc", "policy", true, 3)
	body := scrape(t, m)
	want(t, body,
		`switchyard_submissions_total{result="accepted"} 1`,
		`switchyard_submissions_total{result="no-site"} 1`,
		`switchyard_rounds_total 1`,
		`switchyard_quotes_total{partner="here",result="offered"} 1`,
		`switchyard_quotes_total{partner="there",result="declined"} 1`,
		`switchyard_quotes_total{partner="deaf",result="timeout"} 1`,
		`switchyard_placements_total{from="here",policy="tc",result="refused",to="there"} 1`,
		`switchyard_placements_total{from="here",policy="tc",result="handed_off",to="there"} 1`,
		`switchyard_placements_total{from="here",policy="tc",result="committed",to="here"} 1`,
		`switchyard_placements_total{from="here",policy="tc",result="requeued",to="there"} 1`,
		`switchyard_placement_duration_seconds_count 1`,
		`switchyard_handoff_duration_seconds_sum 0.1`,
		`switchyard_jobs_ended_total{state="TIMEOUT"} 1`,
		`switchyard_guest_jobs_total{partner="there",result="accepted"} 1`,
		`switchyard_guest_jobs_total{partner="there",result="COMPLETED"} 1`,
		`switchyard_errors_total{reason="call-failed"} 1`,
		`switchyard_errors_total{reason="prices-missing"} 1`,
		`switchyard_rejected_messages_total{reason="bad-mac"} 1`,
		`switchyard_volunteer_messages_total{partner="here"} 1`,
		`switchyard_volunteer_messages_total{partner="there"} 2`,
		`switchyard_reconfigurations_total 1`,
		`switchyard_config_info{initiation="sender",local_policy="easy",policy="tc"} 1`,
		`switchyard_plugin_up{kind="policy",plugin="tc"} 1`,
		`switchyard_plugin_restarts_total{kind="policy",plugin="tc"} 3`,
		`switchyard_build_info{site="here",version="v1"} 1`,
	)
	if strings.Contains(body, job.String()) {
		t.Error("a job id is in the metrics")
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	m := fresh()
	if strings.Contains(scrape(t, m), "switchyard_price") {
		t.Error("a site without prices has price metrics")
	}
	published, up := time.Time{}, false
	m.WatchPrices(func() (time.Time, bool) { return published, up })
	want(t, scrape(t, m), `switchyard_price_horizon_seconds 0`, `switchyard_price_feed_up 0`)
	published, up = time.Now().Add(-time.Hour), true
	want(t, scrape(t, m), `switchyard_price_horizon_seconds 0`, `switchyard_price_feed_up 1`)
	published = time.Now().Add(24 * time.Hour)
	if body := scrape(t, m); !strings.Contains(body, "switchyard_price_horizon_seconds 86") {
		t.Errorf("a horizon of one day is missing in\n%s", body)
	}
}

// A budget of 0 W is exported as 0; without a budget the metric is absent.
func TestNoPowerIsNotNoBudget(t *testing.T) {
	t.Parallel()
	m, shown := fresh(), view.Site{Site: "here", Self: true, Budget: new(int64(0))}
	m.WatchSites(true, func(context.Context) ([]view.Site, error) { return []view.Site{shown}, nil })
	want(t, scrape(t, m), `switchyard_power_budget_watts 0`)
	shown.Budget = nil
	if body := scrape(t, m); strings.Contains(body, "\nswitchyard_power_budget_watts ") {
		t.Errorf("without a budget:\n%s", body)
	}
}

// Electricity is exported in base units, money by its currency.
func TestElectricity(t *testing.T) {
	t.Parallel()
	m, shown := fresh(), view.Site{Site: "here", Self: true, Draw: 1500}
	m.WatchSites(true, func(context.Context) ([]view.Site, error) { return []view.Site{shown}, nil })
	if body := scrape(t, m); strings.Contains(body, "\nswitchyard_energy") || strings.Contains(body, "\nswitchyard_electricity") {
		t.Errorf("nothing is known:\n%s", body)
	}
	shown.Electricity = &view.Electricity{
		Price: new(36 * protocol.Unit), PriceCurrency: "EUR",
		Totals: view.Totals{Energy: 7_200_500, Money: []view.MoneyTotals{
			{Currency: "CHF", Saved: 2 * protocol.Unit, Lost: protocol.Unit / 2},
			{Currency: "EUR", Cost: 12_500_000, Credit: 250_000},
		}},
	}
	want(t, scrape(t, m), `switchyard_power_draw_watts 1500`, `switchyard_electricity_price_per_joule{currency="EUR"} 1e-08`,
		`switchyard_energy_joules_total 7200.5`, `switchyard_energy_cost_total{currency="EUR"} 12.5`,
		`switchyard_energy_credit_total{currency="EUR"} 0.25`, `switchyard_grid_saved_total{currency="CHF"} 2`,
		`switchyard_grid_lost_total{currency="CHF"} 0.5`)
}

func TestWatchBudget(t *testing.T) {
	t.Parallel()
	m, stale := fresh(), time.Duration(0)
	m.WatchBudget(func() time.Duration { return stale })
	want(t, scrape(t, m), `switchyard_power_budget_stale_seconds 0`)
	stale = 90 * time.Minute
	want(t, scrape(t, m), `switchyard_power_budget_stale_seconds 5400`)
}

func TestRulesChange(t *testing.T) {
	t.Parallel()
	m := fresh()
	m.Count(event.LogEvent{Kind: event.LogJobCommitted})
	m.Rules("receiver", "local", "ff")
	m.Count(event.LogEvent{Kind: event.LogJobCommitted})
	body := scrape(t, m)
	want(t, body,
		`switchyard_config_info{initiation="receiver",local_policy="ff",policy="local"} 1`,
		`switchyard_placements_total{from="here",policy="tc",result="committed",to="here"} 1`,
		`switchyard_placements_total{from="here",policy="local",result="committed",to="here"} 1`,
	)
	if strings.Count(body, "switchyard_config_info{") != 1 {
		t.Errorf("two sets of policies are active:\n%s", body)
	}
}

func TestJobs(t *testing.T) {
	t.Parallel()
	m := fresh()
	want(t, scrape(t, m), `switchyard_jobs{state="PENDING"} 0`, `switchyard_jobs{state="RUNNING"} 0`)
	m.Moved(0, protocol.Pending)
	m.Moved(0, protocol.Pending)
	m.Moved(protocol.Pending, protocol.Running)
	want(t, scrape(t, m), `switchyard_jobs{state="PENDING"} 1`, `switchyard_jobs{state="RUNNING"} 1`)
	m.Moved(protocol.Running, 0)
	want(t, scrape(t, m), `switchyard_jobs{state="RUNNING"} 0`)
}

func TestSites(t *testing.T) {
	t.Parallel()
	m := fresh()
	var trouble error
	m.WatchSites(true, func(context.Context) ([]view.Site, error) {
		return []view.Site{
			{Site: "here", Self: true, Link: "self", CPUs: 64, Busy: 16, Queued: 3, PowerIdledCPUs: 8, Draw: 4500, Budget: new(int64(6000))},
			{Site: "there", Link: "up", CPUs: 8, Draining: "draining: disks", Age: new(protocol.Duration(1500)), Draw: 7, Budget: new(int64(7)), PowerIdledCPUs: 7, LastSeen: 1_800_000_000_500, SentJobs: 2},
			{Site: "away", Link: "down", Drain: &view.Drain{Scope: view.DrainBoth, Reason: "disks"}},
		}, trouble
	})
	body := scrape(t, m)
	want(t, body,
		`switchyard_partner_link_up{partner="there"} 1`, `switchyard_partner_link_up{partner="away"} 0`,
		`switchyard_gossip_age_seconds{partner="there"} 1.5`, `switchyard_gossip_configured 1`,
		`switchyard_partner_last_seen_timestamp_seconds{partner="there"} 1.8000000005e+09`,
		`switchyard_power_draw_watts 4500`, `switchyard_power_budget_watts 6000`, `switchyard_power_idled_cpus 8`,
		`switchyard_site_drained{site="away"} 1`, `switchyard_site_drained{site="here"} 0`,
		`switchyard_partner_draining{partner="there"} 1`, `switchyard_partner_draining{partner="away"} 0`,
		`switchyard_site_busy_cpus{site="here"} 16`, `switchyard_partner_sent_jobs{partner="there"} 2`,
	)
	for _, invalid := range []string{`gossip_age_seconds{partner="away"}`, `partner_link_up{partner="here"}`, `cpus{site="away"}`} {
		if strings.Contains(body, invalid) {
			t.Errorf("%s is there", invalid)
		}
	}
	trouble = errors.New("stopped")
	if strings.Contains(scrape(t, m), "switchyard_partner_link_up") {
		t.Error("a peer that does not answer exports its partners")
	}
}

// Without gossip the age of a load is that of the last quote, which says nothing of the partner.
func TestWithoutGossip(t *testing.T) {
	t.Parallel()
	m := fresh()
	m.WatchSites(false, func(context.Context) ([]view.Site, error) {
		return []view.Site{{Site: "here", Self: true}, {Site: "there", Link: "up", Age: new(protocol.Duration(1500))}}, nil
	})
	body := scrape(t, m)
	want(t, body, `switchyard_gossip_configured 0`, `switchyard_partner_link_up{partner="there"} 1`)
	if strings.Contains(body, "switchyard_gossip_age_seconds{") {
		t.Errorf("an age without gossip:\n%s", body)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	m := fresh()
	m.WatchStore(func() metrics.StoreStats {
		return metrics.StoreStats{Commits: 3, Rows: 30, Busy: 1500 * time.Millisecond, FileBytes: 4096}
	})
	want(t, scrape(t, m), `switchyard_store_commits_total 3`, `switchyard_store_rows_total 30`,
		`switchyard_store_busy_seconds_total 1.5`, `switchyard_store_file_bytes 4096`)
}

func TestHealth(t *testing.T) {
	t.Parallel()
	m := fresh()
	handler := m.Handler(metrics.Health{Ready: func() error { return errors.New("no room on the disk") }})
	if status, body := get(t, handler, "/healthz"); status != http.StatusOK || body != "ok\n" {
		t.Errorf("healthz: %d %q", status, body)
	}
	if status, body := get(t, handler, "/readyz"); status != http.StatusServiceUnavailable || body != "no room on the disk\n" {
		t.Errorf("readyz: %d %q", status, body)
	}
}

func TestTransfers(t *testing.T) {
	t.Parallel()
	m := fresh()
	m.WatchTransfers(func() []metrics.Transfer {
		return []metrics.Transfer{{Partner: "there", Sent: 1, Fetched: 2, SentByNATS: 3, FetchedByNATS: 4, Streams: 5}}
	})
	want(
		t, scrape(t, m),
		`switchyard_transfer_bytes_total{direction="sent",partner="there",path="direct"} 1`,
		`switchyard_transfer_bytes_total{direction="received",partner="there",path="direct"} 2`,
		`switchyard_transfer_bytes_total{direction="sent",partner="there",path="nats"} 3`,
		`switchyard_transfer_bytes_total{direction="received",partner="there",path="nats"} 4`,
		`switchyard_transfer_streams{partner="there"} 5`,
	)
}
