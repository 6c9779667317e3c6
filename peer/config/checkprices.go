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
			r.Problem("prices.area", "is missing; name the area of the feed where this site buys its electricity")
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
		r.Problem(table+".feed", "is missing; say which feed knows area %q: %q, %q, or the name of a [[plugin]]",
			area, feeds.FileName, feeds.TariffName)
	case slices.Contains(plugins, feed):
		if config != "" {
			r.Problem(table+".config", "is for the built-in feeds; a plugin's is named in its [[plugin]], so leave it out")
		}
	case !slices.Contains(feeds.Names(), feed):
		r.OneOf(table+".feed", feed, append(feeds.Names(), plugins...)...)
	case config == "":
		r.Problem(table+".config", "is missing; name the TOML file that says where the data are, as docs/prices.md explains")
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
		r.Problem(share, "is 0; to take no guests at all, leave max_jobs of the partners out, and to take any number, this")
	}
}
