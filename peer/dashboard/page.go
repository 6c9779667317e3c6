package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func withVisitor(ctx context.Context, visitor *api.Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, visitor)
}

func visitorOf(ctx context.Context) *api.Visitor {
	visitor, _ := ctx.Value(visitorKey{}).(*api.Visitor)
	return visitor
}

// frame is a page with what all of them have.
type frame struct {
	Title   string
	Path    string // of the page, in the navigation
	Site    protocol.SiteName
	Version string
	User    string // empty: the visitor has not signed in
	Live    bool   // whether the page follows the peer
	Reload  string // the page as it is asked for
	Onward  string // the page to which this one leads at once; empty: none
	Studies bool   // whether the navigation has those
	Now     protocol.Instant
	Body    any
}

// Link is an entry of the navigation.
type link struct{ Path, Title string }

// Links are the pages of the navigation.
func (f frame) Links() []link {
	links := []link{{"/", "Grid"}, {"/jobs", "Jobs"}, {"/schedule", "Schedule"}, {"/quotes", "Quotes"}, {"/applications", "Applications"}, {"/site", "Site"}}
	if f.Studies {
		links = append(links, link{"/studies", "Studies"})
	}
	return links
}

// show draws a page. The frame needs its title, path and body.
func (d *Dashboard) show(r *request, status int, name string, page frame) error {
	page.User, page.Studies = r.visitor.User, d.Studies != ""
	page.Now = protocol.InstantOf(time.Now())
	if r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/sign-in/") { // those have secrets, and are good once
		page.Reload = r.URL.RequestURI()
	}
	if r.visitor.Peer != nil && page.Version == "" {
		if info, err := r.visitor.Peer.Info(r.Context()); err == nil {
			page.Site, page.Version = info.Site, info.Version
		}
	}
	var out bytes.Buffer
	if err := d.pages[name].Execute(&out, page); err != nil {
		return err
	}
	r.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	r.w.WriteHeader(status)
	_, err := r.w.Write(out.Bytes())
	return err
}

// showError draws why there is no page.
func (d *Dashboard) showError(r *request, err error) {
	why := asPageError(err)
	if _, own := errors.AsType[*pageError](err); !own && why.status == http.StatusServiceUnavailable && r.visitor.User == "" {
		why.text = "The peer cannot show this page now. Sign in to see why, or try again later."
	}
	shown := d.show(r, why.status, "error", frame{Title: http.StatusText(why.status), Body: why.text})
	if shown != nil {
		d.Log.Debug("response_send_failed", "path", r.URL.Path, "error", shown)
	}
}

// words are the functions of the templates.
func (d *Dashboard) words() template.FuncMap {
	return template.FuncMap{
		"asset":   d.versioned,
		"clock":   console.Clock,
		"utc":     func(t protocol.Instant) string { return t.Time().Format(time.RFC3339) },
		"zone":    func() string { return time.Now().Format("MST (UTC-07:00)") },
		"span":    span,
		"row":     d.drawRow,
		"percent": console.Percent,
		"level":   report.Level,
		"count":   protocol.Count,
	}
}

// span is a duration, or a dash where there is none.
func span(d any) (string, error) {
	switch d := d.(type) {
	case protocol.Duration:
		return console.Span(d), nil
	case *protocol.Duration:
		if d == nil {
			return "–", nil
		}
		return console.Span(*d), nil
	}
	return "", fmt.Errorf("%T is no duration", d)
}
