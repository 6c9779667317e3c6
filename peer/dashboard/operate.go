package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// operated is a site with what an operator may do with it.
type operated struct {
	Site    protocol.SiteName
	Self    bool
	Drained string // what is stopped, and why; empty: it is not drained
	Path    string // of the pages that do something with it
}

// operatePage asks an operator to confirm.
type operatePage struct {
	Question string
	Note     string
	Action   string // where the form goes
	Button   string
	Scopes   []drainChoice // of a drain, of which one is chosen; none: it is none
}

// drainChoice is what a drain can stop.
type drainChoice struct {
	Scope view.DrainScope
	Means string
}

// choicesOf are what can be stopped of a site.
func choicesOf(self bool) []drainChoice {
	if self {
		return []drainChoice{
			{view.DrainGuests, "take no jobs of partners"},
			{view.DrainStarts, "take no jobs of partners, start none here, and give back those that wait in the local queue"},
		}
	}
	return []drainChoice{
		{view.DrainBoth, "send it no jobs, and take none of it"},
		{view.DrainSending, "send it no jobs"},
		{view.DrainReceiving, "take no jobs of it"},
		{view.DrainIsolated, "isolate it: also recall the jobs that wait there, and ignore its messages unless running jobs need them"},
	}
}

// mayOperate reports whether the visitor is offered to operate the site. The peer decides whether he may.
func mayOperate(visitor *api.Visitor) bool {
	return visitor.User != "" && visitor.Scopes.Has(accesstokens.Operate)
}

// operatedOf are the sites for an operator; nil: the visitor is none.
func operatedOf(r *request, sites view.Sites) (all []operated) {
	if !mayOperate(r.visitor) {
		return nil
	}
	for i := range sites.Sites {
		all = append(all, operatedSite(&sites.Sites[i]))
	}
	return all
}

func operatedSite(site *view.Site) operated {
	one := operated{Site: site.Site, Self: site.Self, Path: "/sites/" + url.PathEscape(string(site.Site))}
	if site.Drain != nil {
		one.Drained = site.Drain.String()
	}
	return one
}

// requestedSite is the site that a request of an operator names.
func requestedSite(r *request) (operated, error) {
	if r.visitor.User == "" {
		return operated{}, &pageError{http.StatusForbidden, "Sign in to operate this site."}
	}
	sites, err := r.sites()
	if err != nil {
		return operated{}, err
	}
	name := protocol.SiteName(r.PathValue("site"))
	i := slices.IndexFunc(sites.Sites, func(site view.Site) bool { return site.Site == name })
	if i < 0 {
		return operated{}, notFound("There is no site %q in this grid.", name)
	}
	return operatedSite(&sites.Sites[i]), nil
}

// confirmDrain asks an operator what of a site is to be stopped, and why.
func (d *Dashboard) confirmDrain(r *request) error {
	site, err := requestedSite(r)
	if err != nil {
		return err
	}
	page := operatePage{
		Question: "What is to be stopped? Jobs that run go on, and it lasts until it is resumed, also over restarts.", Note: site.Drained, Action: site.Path + "/drain",
		Button: "Drain " + string(site.Site), Scopes: choicesOf(site.Self),
	}
	return d.show(r, http.StatusOK, "operate", frame{Title: page.Button, Path: "/site", Body: &page})
}

// drain drains a site, with the rights of the visitor.
func (*Dashboard) drain(r *request) error {
	site, err := requestedSite(r)
	if err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(r.w, r.Body, maxForm)
	if err = r.ParseForm(); err != nil {
		return badRequest("The form cannot be read: %v.", err)
	}
	scope, reason := view.DrainScope(r.PostForm.Get("scope")), strings.TrimSpace(r.PostForm.Get("reason"))
	switch {
	case !slices.ContainsFunc(choicesOf(site.Self), func(c drainChoice) bool { return c.Scope == scope }):
		return badRequest("Choose what is to be stopped of %s.", site.Site)
	case reason == "":
		return badRequest("Say why: users and partners are shown the reason.")
	}
	return operatedBy(r, r.visitor.Peer.Drain(r.Context(), site.Site, api.Drain{Scope: scope, Reason: reason}))
}

// confirmResume asks an operator whether the drain of a site is to end.
func (d *Dashboard) confirmResume(r *request) error {
	site, err := requestedSite(r)
	if err != nil {
		return err
	}
	page := operatePage{Question: "End the drain of this site? Jobs go there again.", Note: site.Drained, Action: site.Path + "/resume", Button: "Resume " + string(site.Site)}
	return d.show(r, http.StatusOK, "operate", frame{Title: page.Button, Path: "/site", Body: &page})
}

// resume ends the drain of a site, with the rights of the visitor.
func (*Dashboard) resume(r *request) error {
	site, err := requestedSite(r)
	if err != nil {
		return err
	}
	return operatedBy(r, r.visitor.Peer.Resume(r.Context(), site.Site))
}

// operatedBy shows the site after it was operated.
func operatedBy(r *request, err error) error {
	if err == nil {
		http.Redirect(r.w, r.Request, "/site", http.StatusSeeOther)
	}
	return err
}

// confirmReload asks an operator whether the configuration is to be read again.
func (d *Dashboard) confirmReload(r *request) error {
	if r.visitor.User == "" {
		return &pageError{http.StatusForbidden, "Sign in to operate this site."}
	}
	page := operatePage{Question: "Read the configuration of this site again? What may change while the peer runs changes at once. If something is wrong with it, nothing changes.", Action: "/reload", Button: "Reload"}
	return d.show(r, http.StatusOK, "operate", frame{Title: "Reload the configuration", Path: "/site", Body: &page})
}

// reloadedPage says what reading the configuration again has done.
type reloadedPage struct {
	Answer string
	Lists  []titledList
}

type titledList struct {
	ID, Title string
	Lines     []string
}

// reload reads the configuration again, with the rights of the visitor.
func (d *Dashboard) reload(r *request) error {
	if r.visitor.User == "" {
		return &pageError{http.StatusForbidden, "Sign in to operate this site."}
	}
	done, err := r.visitor.Peer.Reload(r.Context())
	if err != nil {
		return err
	}
	page := reloadedPage{Answer: "The configuration was read; nothing has changed."}
	switch {
	case len(done.Problems) > 0:
		page.Answer = "The configuration was not changed: something is wrong with it."
	case len(done.Changed)+len(done.Added)+len(done.Removed) > 0:
		page.Answer = "The configuration was read, and what has changed in it is active."
	case len(done.Restart) > 0:
		page.Answer = "The configuration was read; what has changed in it is active after a restart of the peer."
	}
	for _, one := range []titledList{
		{"problems", "Problems", done.Problems},
		{"warnings", "Warnings", done.Warnings},
		{"added", "Partners added", texts(done.Added)},
		{"removed", "Partners removed", texts(done.Removed)},
		{"changed", "Changed", changesIn(done.Changed)},
		{"restart", "Active after a restart of the peer", changesIn(done.Restart)},
	} {
		if len(one.Lines) > 0 {
			page.Lists = append(page.Lists, one)
		}
	}
	return d.show(r, http.StatusOK, "reloaded", frame{Title: "Reload the configuration", Path: "/site", Body: &page})
}

func texts(sites []protocol.SiteName) (all []string) {
	for _, site := range sites {
		all = append(all, string(site))
	}
	return all
}

func changesIn(changes []api.Change) (all []string) {
	for i := range changes {
		all = append(all, changes[i].Text())
	}
	return all
}
