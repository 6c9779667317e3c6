package dashboard

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// usageOf is the time over which a page sums up what jobs came to.
const usageOf = 31 * 24 * protocol.Hour

// shownChanges is how many keys that have changed a page lists.
const shownChanges = 30

// sitePage is this site: its rules and plugins, and what its jobs draw and cost.
type sitePage struct {
	Answer   string
	Lines    [][2]string
	Plugins  *sheet         // nil: there are none
	Operated []operated     // for operators; nil: the visitor is none
	Prices   *pricesSection // nil: none are known
	Usage    *sheet         // of the last days; nil: the visitor may not see it, or there was none
	Changes  *sheet         // of settings; nil: the visitor may not see them, or there were none
}

func (d *Dashboard) showSite(r *request) error {
	ctx := r.Context()
	info, err := r.visitor.Peer.Info(ctx)
	if err != nil {
		return err
	}
	sites, err := r.sites()
	if err != nil {
		return err
	}
	plugins, err := r.visitor.Peer.Plugins(ctx)
	if err != nil {
		return err
	}
	site := display.Site{Info: info}
	for _, one := range sites.Sites {
		if one.Self {
			site.Electricity = one.Electricity
		}
	}
	page := sitePage{Answer: "Jobs are placed by these rules: " + display.Rules(info.Rules) + ".", Lines: display.SiteLines(site)}
	if r.visitor.User == "" { // where they are and why they failed is not for strangers
		plugins = slices.Clone(plugins)
		for i := range plugins {
			plugins[i].Path, plugins[i].Failure = "", ""
		}
	}
	page.Operated = operatedOf(r, sites)
	if len(plugins) > 0 {
		page.Plugins = sheetOf("Plugins", display.Plugins(api.Plugins{Plugins: plugins}))
	}
	if err = page.addUsage(r); err != nil {
		return err
	}
	if page.Prices, err = pricesOf(r); err != nil {
		return err
	}
	page.Changes, err = changesOf(r)
	if refused, ok := errors.AsType[*api.Error](err); ok && refused.Code == view.Unavailable {
		page.Lines = append(page.Lines, [2]string{"Changes of settings", refused.Reason})
	} else if err != nil {
		return err
	}
	return d.show(r, http.StatusOK, "site", frame{Title: "This site", Path: "/site", Site: info.Site, Version: info.Version, Body: &page})
}

// changesOf lists what has changed in the settings at last, for visitors who have signed in.
func changesOf(r *request) (*sheet, error) {
	if r.visitor.User == "" {
		return nil, nil
	}
	history, err := r.visitor.Peer.SettingsChanges(r.Context())
	if err != nil || len(history.Changes) == 0 {
		return nil, err
	}
	list := sheetOf("The last changes of settings, in TOML", display.SettingsChanges(history))
	list.Rows = list.Rows[:min(len(list.Rows), shownChanges)]
	return list, nil
}

// addUsage sums up what jobs came to in the last days.
func (p *sitePage) addUsage(r *request) error {
	past := api.Past{}
	past.Since = protocol.InstantOf(time.Now()).Add(-usageOf)
	usage, err := r.visitor.Peer.Usage(r.Context(), past, []string{"origin", "site"})
	if err == nil && len(usage.Lines) > 0 {
		p.Usage = sheetOf("Jobs that ended in the last 31 days, by origin and site", display.Usage(usage))
	}
	if err != nil && asPageError(err).status != http.StatusForbidden {
		return err
	}
	return nil
}
