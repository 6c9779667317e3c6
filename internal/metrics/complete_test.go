package metrics_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/audit"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/mail"
	"github.com/switchyard-hpc/switchyard/peer/notices"
	"github.com/switchyard-hpc/switchyard/peer/otlp"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rate and increase do not see the first error of a series that begins with it.
func TestErrorsBeginAtZero(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../peer/event/logevent.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`(?m)^\tLog\w+ +LogKind = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(kinds) < 50 {
		t.Fatalf("%d kinds of log events found", len(kinds))
	}
	before := scrape(t, fresh())
	for _, state := range protocol.States() {
		if state.Terminal() {
			want(t, before, `switchyard_jobs_ended_total{state="`+state.String()+`"} 0`)
		}
	}
	for _, result := range []string{mail.Sent, mail.Failed, mail.Dropped} {
		want(t, before, `switchyard_mails_total{result="`+result+`"} 0`)
	}
	for _, result := range []string{notices.Sent, notices.Failed, notices.Dropped} {
		want(t, before, `switchyard_notices_total{result="`+result+`"} 0`)
	}
	for _, result := range []string{otlp.Sent, otlp.Failed, otlp.Dropped} {
		want(t, before, `switchyard_traces_total{result="`+result+`"} 0`)
	}
	for _, found := range kinds {
		m, kind := fresh(), found[1]
		m.Count(event.LogEvent{Kind: event.LogKind(kind)})
		series := `switchyard_errors_total{reason="` + kind + `"} `
		if body := scrape(t, m); strings.Contains(body, series+"1\n") && !strings.Contains(before, series+"0\n") {
			t.Errorf("%s is counted, but not in errorKinds", kind)
		}
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	m, shown := fresh(), view.Site{Site: "here", Self: true}
	m.WatchSites(true, func(context.Context) ([]view.Site, error) { return []view.Site{shown}, nil })
	want(t, scrape(t, m), `switchyard_site_stopped 0`)
	shown.Reason = "the database is older than what b has seen"
	want(t, scrape(t, m), `switchyard_site_stopped 1`)
}

func TestOperatorJobs(t *testing.T) {
	t.Parallel()
	m, shown := fresh(), view.Site{Site: "here", Self: true}
	m.WatchSites(true, func(context.Context) ([]view.Site, error) { return []view.Site{shown, {Site: "there"}}, nil })
	want(t, scrape(t, m), `switchyard_operator_jobs 0`)
	shown.OperatorJobs = 2
	want(t, scrape(t, m), `switchyard_operator_jobs 2`)
}

func TestDiskAndCertificate(t *testing.T) {
	t.Parallel()
	m, failed := fresh(), error(nil)
	m.WatchDisk(func() (uint64, error) { return 4096, failed })
	m.WatchCertificate(func() time.Time { return time.Unix(1_800_000_000, 0) })
	want(t, scrape(t, m), `switchyard_state_dir_free_bytes 4096`, `switchyard_api_certificate_expiry_timestamp_seconds 1.8e+09`)
	failed = errors.New("the disk is gone")
	if strings.Contains(scrape(t, m), "\nswitchyard_state_dir_free_bytes ") {
		t.Error("a disk that cannot be asked has free space")
	}
}

func TestIssuer(t *testing.T) {
	t.Parallel()
	m, failing := fresh(), true
	m.WatchIssuer("login", func() bool { return failing })
	m.WatchIssuer("campus", func() bool { return false })
	want(t, scrape(t, m), `switchyard_oidc_keys_failed{issuer="login"} 1`, `switchyard_oidc_keys_failed{issuer="campus"} 0`)
	failing = false
	want(t, scrape(t, m), `switchyard_oidc_keys_failed{issuer="login"} 0`)
}

func TestRosterEnd(t *testing.T) {
	t.Parallel()
	m, end := fresh(), protocol.Instant(0)
	m.WatchRoster(func() protocol.Instant { return end })
	if strings.Contains(scrape(t, m), "switchyard_roster_end_timestamp_seconds ") {
		t.Error("a site without a roster has the end of one")
	}
	end = 1_800_000_000_000
	want(t, scrape(t, m), `switchyard_roster_end_timestamp_seconds 1.8e+09`)
}

func TestAPIRequests(t *testing.T) {
	t.Parallel()
	m := fresh()
	want(t, scrape(t, m), `switchyard_audit_lost_entries_total 0`)
	m.Requested(audit.Network, string(view.Denied))
	m.AuditLost()
	want(t, scrape(t, m), `switchyard_api_requests_total{result="denied",way="network"} 1`, `switchyard_audit_lost_entries_total 1`)
}
