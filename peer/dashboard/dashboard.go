package dashboard

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/loadhistory"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// Config is what a dashboard needs. Its fields may be left out.
type Config struct {
	Log      *slog.Logger
	Events   *eventstream.Stream // what happens, by which pages are brought up to date; nil: only as they age
	Interval time.Duration       // for which a page stays as it is once it is up to date, if ten or more follow; 0: [DefaultInterval]
	Studies  string              // directory with a directory for each study; empty: there are none
}

// DefaultInterval is for how long a page may be behind a peer at which things happen all the time.
const DefaultInterval = 3 * time.Second

// Dashboard is the pages of a peer. It is an [api.Pages].
type Dashboard struct {
	Config

	pages       map[string]*template.Template // by the names of their files
	assets      map[string]asset              // by their paths
	mux         *http.ServeMux
	followers   followers
	pulse       pulse
	sharedPages sharedPages
	rows        drawnRows
	studies     studies

	reference *reference // of the API

	mu    sync.Mutex
	loads loadhistory.History
}

// asset is a file that pages load.
type asset struct {
	kind string
	data []byte
}

// New makes the pages.
func New(cfg Config) (*Dashboard, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Interval == 0 {
		cfg.Interval = DefaultInterval
	}
	if cfg.Events == nil {
		cfg.Events = eventstream.New(0, 1, 0)
	}
	d := &Dashboard{
		Config: cfg, pages: map[string]*template.Template{}, assets: map[string]asset{}, mux: http.NewServeMux(),
		followers: followers{pages: map[follower]int{}}, sharedPages: sharedPages{kept: map[sharedKey]*sharedPage{}},
	}
	if err := d.readAssets(); err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	if err := d.readPages(); err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	var err error
	if d.reference, err = readReference(api.OpenAPI()); err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	d.routes()
	return d, nil
}

// readAssets reads the style sheet, which is that of all pages of Switchyard and more, the script and the icon.
func (d *Dashboard) readAssets() error {
	for path, kind := range map[string]string{
		"style.css": "text/css; charset=utf-8", "live.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
	} {
		data, err := assetFiles.ReadFile("assets/" + path)
		if err != nil {
			return err
		}
		if path == "style.css" {
			data = append([]byte(report.Style()), data...)
		}
		d.assets["/assets/"+path] = asset{kind, data}
	}
	return nil
}

// readPages parses the templates: each page with the frame that is around all of them.
func (d *Dashboard) readPages() error {
	frame, err := template.New("frame.html").Funcs(d.words()).ParseFS(pageFiles, "pages/frame.html")
	if err != nil {
		return err
	}
	entries, err := pageFiles.ReadDir("pages")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == "frame.html" {
			continue
		}
		copied, err := frame.Clone()
		if err != nil {
			return err
		}
		if d.pages[strings.TrimSuffix(entry.Name(), ".html")], err = copied.ParseFS(pageFiles, "pages/"+entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// versioned is the path of an asset, another one if its content is another.
func (d *Dashboard) versioned(path string) string {
	sum := sha256.Sum256(d.assets[path].data)
	return path + "?v=" + hex.EncodeToString(sum[:6])
}

type visitorKey struct{}

// Show implements [api.Pages].
func (d *Dashboard) Show(w http.ResponseWriter, r *http.Request, visitor *api.Visitor) {
	header := w.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("X-Frame-Options", "DENY")
	d.mux.ServeHTTP(w, r.WithContext(withVisitor(r.Context(), visitor)))
}

// request is a request for a page.
type request struct {
	*http.Request

	w       http.ResponseWriter
	visitor *api.Visitor
}

// sites are those of the grid. Visitors who have not signed in do not see why a site is as it is, which is for its users and operators: such
// texts name addresses, certificates and files.
func (r *request) sites() (view.Sites, error) {
	sites, err := r.visitor.Peer.Sites(r.Context())
	if err != nil || r.visitor.User != "" {
		return sites, err
	}
	sites.Sites = slices.Clone(sites.Sites) // what the peer answers is not the pages' to change
	for i := range sites.Sites {
		site := &sites.Sites[i]
		site.Reason, site.AskedLastReason, site.Prices, site.Drain, site.Draining = "", "", "", nil, ""
	}
	return sites, nil
}

// routes are the pages by their paths.
func (d *Dashboard) routes() {
	open := map[string]func(*request) error{
		"GET /assets/": d.showAsset, "GET /sign-in": d.showSignIn, "POST /sign-in": d.signIn,
		"GET /sign-in/{issuer}": d.beginSignIn, "GET /sign-in/{issuer}/callback": d.finishSignIn, "POST /sign-out": d.signOut, "/": d.unknown,
	}
	known := map[string]func(*request) error{
		"GET /changes": d.follow, "GET /{$}": d.shared(d.showGrid), "GET /jobs": d.shared(d.showJobs), "GET /jobs/{job}": d.shared(d.showJob),
		"GET /schedule": d.shared(d.showSchedule), "GET /applications": d.shared(d.showApplications),
		"GET /site": d.showSite, "GET /quotes": d.showQuotes, "GET /reference": d.showReference,
		"GET /studies": d.showStudies, "GET /studies/{study}/{$}": d.showStudy,
		"GET /jobs/{job}/{act}": d.confirmAct, "POST /jobs/{job}/{act}": d.doAct,
		"GET /sites/{site}/drain": d.confirmDrain, "POST /sites/{site}/drain": d.drain, "GET /sites/{site}/resume": d.confirmResume, "POST /sites/{site}/resume": d.resume,
		"GET /reload": d.confirmReload, "POST /reload": d.reload,
	}
	for pattern, handle := range open {
		d.mux.HandleFunc(pattern, d.answer(handle))
	}
	for pattern, handle := range known {
		d.mux.HandleFunc(pattern, d.answer(func(r *request) error {
			if r.visitor.Peer == nil {
				return d.askToSignIn(r)
			}
			return handle(r)
		}))
	}
}

// answer makes a handler of a page one of HTTP. Its error becomes a page, and the request is aborted if its visitor has gone:
// an answer that nothing was written to would be an empty page.
func (d *Dashboard) answer(handle func(*request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked := &request{r, w, visitorOf(r.Context())}
		err := handle(asked)
		if err == nil {
			return
		}
		if r.Context().Err() != nil {
			panic(http.ErrAbortHandler)
		}
		if asPageError(err).status == http.StatusForbidden && asked.visitor.User == "" {
			err = d.askToSignIn(asked) //nolint:contextcheck // that of the request
			if err == nil {
				return
			}
		}
		d.Log.Debug("page_refused", "path", r.URL.Path, "error", err)
		d.showError(asked, err) //nolint:contextcheck // that of the request
	}
}

// unknown answers for pages that there are not.
func (*Dashboard) unknown(r *request) error {
	return notFound("There is no page %s.", r.URL.Path)
}

// pageError is why there is no page, for who asks for it.
type pageError struct {
	status int
	text   string
}

func (e *pageError) Error() string { return e.text }

func notFound(format string, args ...any) error {
	return &pageError{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) error {
	return &pageError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// asPageError is what an error says to a visitor.
func asPageError(err error) *pageError {
	if known, ok := errors.AsType[*pageError](err); ok {
		return known
	}
	refused, ok := errors.AsType[*api.Error](err)
	if !ok {
		return &pageError{http.StatusServiceUnavailable, err.Error()}
	}
	status := http.StatusServiceUnavailable
	switch refused.Code {
	case view.BadRequest, view.NoSite:
		status = http.StatusBadRequest
	case view.NotFound:
		status = http.StatusNotFound
	case view.Denied:
		status = http.StatusForbidden
	case view.Conflict:
		status = http.StatusConflict
	case view.Unavailable:
	}
	return &pageError{status, refused.Reason}
}

// showAsset answers with a file that pages load. Its path changes with its content, so that browsers may keep it.
func (d *Dashboard) showAsset(r *request) error {
	found, ok := d.assets[r.URL.Path]
	if !ok {
		return notFound("There is no file %s.", r.URL.Path)
	}
	r.w.Header().Set("Content-Type", found.kind)
	if r.URL.Query().Has("v") {
		r.w.Header().Set("Cache-Control", "max-age=604800, immutable")
	}
	_, err := r.w.Write(found.data)
	return err
}
