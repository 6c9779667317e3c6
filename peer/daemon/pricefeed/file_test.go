package pricefeed_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/daemon/pricefeed"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const contract = "area = \"x\"\ncurrency = \"EUR\"\nzone = \"UTC\"\nprice = 90\n"

// tariffFile opens a contract as the feed of [prices], in a file of its own.
func tariffFile(t *testing.T) (path string, files []*pricefeed.File, asked *pricefeed.Source) {
	t.Helper()
	path, asked = filepath.Join(t.TempDir(), "feed.toml"), new(pricefeed.Source)
	writeText(t, path, contract)
	table := pricefeed.Table{Name: "prices", Origin: pricefeed.Origin{Feed: "tariff", Config: settings.Path(path), Area: "x"}}
	file, err := pricefeed.OpenFile(table, func(from pricefeed.Source) { *asked = from }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return path, []*pricefeed.File{file}, asked
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A feed that another configuration does not name as before is left alone, though its own is gone.
func TestReopenLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	path, files, _ := tariffFile(t)
	if all, err := pricefeed.Reopen(files, nil, log); err != nil || len(all) != 0 {
		t.Errorf("unchanged: %v, %v", all, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := pricefeed.Reopen(files, nil, log); err == nil || !strings.Contains(err.Error(), "[prices] config: ") {
		t.Errorf("gone: %v", err)
	}
	for _, key := range []string{"prices.config", "prices.feed", "prices.area"} {
		if all, err := pricefeed.Reopen(files, []api.Change{{Key: key}}, log); err != nil || len(all) != 0 {
			t.Errorf("%s: %v, %v", key, all, err)
		}
	}
}

// A changed configuration is in use from Use on, and not before: a reload may fail elsewhere.
func TestReopenedIsInUseByUse(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	path, files, asked := tariffFile(t)
	costs := func(want protocol.Micro) {
		t.Helper()
		series, err := asked.Feed.Prices(t.Context(), price.Query{Area: "x", Until: protocol.Instant(protocol.Day)})
		if err != nil || len(series.Slots) == 0 || series.Slots[0].Price != want*protocol.Unit {
			t.Errorf("%+v, %v, want %d", series, err, want)
		}
	}
	writeText(t, path, strings.Replace(contract, "90", "20", 1))
	if _, err := pricefeed.Reopen(files, nil, log); err != nil { // and dropped
		t.Fatal(err)
	}
	costs(90)
	all, err := pricefeed.Reopen(files, nil, log)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	if change := all[0].Use(); change != (api.Change{Key: "prices.config", From: path + " as it was", To: "as it is now"}) {
		t.Errorf("says %+v", change)
	}
	costs(20)
	if all, err = pricefeed.Reopen(files, nil, log); err != nil || len(all) != 0 {
		t.Errorf("again: %v, %v", all, err)
	}
}
