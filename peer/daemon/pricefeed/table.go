package pricefeed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
)

// Source is a feed and how it looks at its own sources again.
type Source struct {
	Feed    price.Feed
	Refresh func(context.Context) error // has it look again; the error is what is wrong with its sources
}

// Origin is where prices come from. Those of different origins have nothing to do with each
// other.
type Origin struct {
	Feed   string        `json:"feed"`
	Config settings.Path `json:"config,omitempty"` // the feed's own configuration
	Area   string        `json:"area"`
}

// Table is a table of a peer's configuration that names a feed.
type Table struct {
	Name string // "prices" or "power.series"
	Origin
}

// Prices is the table of the electricity prices.
func Prices(cfg *config.Config) Table {
	return Table{"prices", Origin{cfg.Prices.Feed, cfg.Prices.Config, cfg.Prices.Area}}
}

// Series is the table of the power budgets of a feed.
func Series(cfg *config.Config) Table {
	s := cfg.Power.Series
	return Table{"power.series", Origin{s.Feed, s.Config, s.Area}}
}

// Open opens the built-in feed of the table. The error says what is wrong with the feed's
// own configuration, not with its prices.
func (t Table) Open(log *slog.Logger) (feeds.Feed, error) {
	text, err := t.read()
	if err != nil {
		return nil, err
	}
	return t.parse(text, log)
}

// Check opens the built-in feed of the table and says why it would tell nothing, or not all.
// The purpose, which ends in "by ", says in the error what the feed is for.
func (t Table) Check(ctx context.Context, purpose string) error {
	feed, err := t.Open(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err = feed.Refresh(); err != nil {
		return fmt.Errorf("[%s]: %sthis feed: %w", t.Name, purpose, err)
	}
	described, err := feed.Describe(ctx)
	if err == nil {
		err = CheckArea(described, t.Area)
	}
	switch {
	case errors.Is(err, price.ErrUnknownArea):
		return fmt.Errorf("[%s] area: %sit: %w", t.Name, purpose, err)
	case err != nil:
		return fmt.Errorf("[%s]: %w", t.Name, err)
	}
	return nil
}

// CheckArea says why a feed does not know an area, by an error that wraps
// [price.ErrUnknownArea].
func CheckArea(described price.Description, area string) error {
	if slices.Contains(described.Areas, area) {
		return nil
	}
	return fmt.Errorf("%w: %q; there are %s", price.ErrUnknownArea, area, strings.Join(described.Areas, ", "))
}

// read is the text of the feed's own configuration.
func (t Table) read() (string, error) {
	text, err := os.ReadFile(string(t.Config))
	if err != nil {
		return "", fmt.Errorf("[%s] config: %w", t.Name, err)
	}
	return string(text), nil
}

func (t Table) parse(text string, log *slog.Logger) (feeds.Feed, error) {
	feed, err := feeds.Open(t.Feed, string(t.Config), filepath.Dir(string(t.Config)), text, t.Area, log)
	if err != nil {
		return nil, err // it names the file, the lines and the keys
	}
	return feed, nil
}
