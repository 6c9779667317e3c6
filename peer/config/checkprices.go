package config

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/predict/forecast"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/plugins/price/feeds"
	"github.com/switchyard-hpc/switchyard/plugins/price/priceformat"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The longest times for which a feed is asked at once.
const (
	maxSpan    = 31 * protocol.Day
	maxHistory = 100 * protocol.Day
)

func (r *checker) checkPrices(p *Prices) {
	if _, err := forecast.Named(p.Forecast); err != nil {
		r.Problem("prices.forecast", "%v", err)
	}
	if _, err := feeds.ParseZone(p.TimeZone); err != nil {
		r.Problem("prices.time_zone", "%v", err)
	}
	r.Positive("prices.refresh_interval", p.RefreshInterval)
	r.within("prices.horizon", p.Horizon, protocol.Hour, maxSpan)
	r.within("prices.history", p.History, protocol.Day, maxHistory)
	if p.Area == "" {
		if p.Feed != "" || p.Config != "" {
			r.Problem("prices.area", "is missing; set the price area of this site, as the feed names it")
		}
		return
	}
	if err := priceformat.CheckArea(p.Area); err != nil {
		r.Problem("prices.area", "%v", err)
	}
	r.checkFeed("prices", p.Area, p.Feed, p.Config)
}

// checkFeed checks which feed a table names for an area, and its configuration.
func (r *checker) checkFeed(table, area, feed string, config settings.Path) {
	plugins := r.plugins(PriceKind)
	switch {
	case feed == "":
		r.Problem(table+".feed", "is missing; set the feed of area %q: %q, %q, or the name of a [[plugin]]",
			area, feeds.FileName, feeds.TariffName)
	case slices.Contains(plugins, feed):
		if config != "" {
			r.Problem(table+".config", "is for built-in feeds only; remove it, and set config in the [[plugin]]")
		}
	case !slices.Contains(feeds.Names(), feed):
		r.OneOf(table+".feed", feed, append(feeds.Names(), plugins...)...)
	case config == "":
		r.Problem(table+".config", "is missing; set the path of the TOML file that describes the data, see docs/prices.md")
	}
}

func (r *checker) within(key string, d, least, most protocol.Duration) {
	if d < least || d > most {
		r.Problem(key, "%s is outside %s to %s", settings.FormatDuration(d), settings.FormatDuration(least), settings.FormatDuration(most))
	}
}

// Check checks the table, in whatever file it stands.
func (p *GuestLimits) Check(r *settings.Reader, table string) {
	delay, share := settings.Join(table, "max_owner_delay"), settings.Join(table, "max_cpu_share")
	if r.Set(delay) {
		r.Positive(delay, p.MaxOwnerDelay)
	}
	if r.Set(share) && p.MaxCPUShare == 0 {
		r.Problem(share, "is 0; to refuse all guests, remove max_jobs of the partners; for no limit, remove this key")
	}
}
