package powerbudget

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched/power"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A budget by a feed of files needs these: the check of a configuration tells what is missing, and
// so does the first start. Later, what was told is known.
func TestBudgetNeedsItsFeed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	feed, csv := filepath.Join(dir, "feed.toml"), filepath.Join(dir, "response.csv")
	writeText(t, feed, "[[file]]\npath = \"response.csv\"\nformat = \"csv\"\narea = \"response\"\ncurrency = \"XXX\"\nunit = \"MWh\"\nslot = \"1h\"\n")
	cfg := budgeted(0, "file")
	cfg.Power.Series.Config, cfg.Power.Series.Area = settings.Path(feed), "response"
	start := func() (string, error) {
		opened, err := pricefeed.Series(cfg).Open(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		k, _ := keeper(cfg, opened)
		k.series.Refresh = func(context.Context) error { return opened.Refresh() }
		logged(k, dir)
		err = k.Start(t.Context())
		limit, _ := k.Current().Signal.At(protocol.InstantOf(time.Now()))
		return power.Text(limit), err
	}
	check := func(area, want string) {
		t.Helper()
		asked := *cfg
		asked.Power.Series.Area = area
		if err := CheckFeeds(t.Context(), &asked); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("the check: %v, want %q", err, want)
		}
	}
	check("response", "response.csv: no such file")
	if _, err := start(); err == nil || !strings.Contains(err.Error(), "[power.series]: the power budget goes by this feed: read prices: ") {
		t.Errorf("the first start: %v", err)
	}
	var lines strings.Builder
	lines.WriteString("start,price\n")
	for now, i := time.Now().UTC().Truncate(time.Hour), -2; i < 24; i++ {
		fmt.Fprintf(&lines, "%s,5\n", now.Add(time.Duration(i)*time.Hour).Format(time.RFC3339))
	}
	writeText(t, csv, lines.String())
	check("response", "")
	check("respond", `[power.series] area: the power budget goes by it: the feed does not know this area: "respond"; there are response`)
	if limit, err := start(); err != nil || limit != "5 kW" {
		t.Errorf("with the file: %s, %v", limit, err)
	}
	if err := os.Remove(csv); err != nil {
		t.Fatal(err)
	}
	if limit, err := start(); err != nil || limit != "5 kW" {
		t.Errorf("without the file, later: %s, %v", limit, err)
	}
	cfg.Power.Series.Area = "respond"
	if _, err := start(); err == nil {
		t.Error("it starts with an area that is not there")
	}
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
