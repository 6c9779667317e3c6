package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/audit"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/eventstream"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Node is the peer that answers. Errors with a method Refusal() view.Refusal are
// shown as such, others as trouble of the moment.
type Node interface {
	Ask(ctx context.Context, question func(event.AskID) event.Event) (view.Reply, error)
	Job(ctx context.Context, id protocol.JobID) (view.Job, error)
	WaitJob(ctx context.Context, id protocol.JobID) (view.Job, error)
	ArchivedJobs(ctx context.Context, limit int, wanted func(*view.Job) bool) ([]view.Job, error)
	// History lists up to limit of the jobs that have ended, the last one first, from where an earlier
	// page left off. A page may have fewer, or none, although more follow.
	History(ctx context.Context, wanted *view.HistoryFilter, after string, limit int) (view.History, error)
	Explain(id protocol.JobID) ([]event.LogEvent, error)
	Output(
		ctx context.Context, job view.Job, stream protocol.Stream, offset int64, size int,
	) ([]byte, error)
}

// Config is what a server needs. Socket and Node are required.
type Config struct {
	Socket  string
	Node    Node
	Site    protocol.SiteName
	Number  protocol.SiteNumber
	Version string
	Log     *slog.Logger                     // nil: nothing is logged
	Ready   func()                           // called when the socket can be used; may be nil
	Rules   func() Rules                     // returns the active ones; nil if they are not shown
	Plugins func() []Plugin                  // that the peer has started; nil: none
	Changes func() ([]SettingsChange, error) // in the settings, the last one first, or why they cannot be read; nil: none are kept
	Prices  func() *price.Forecast           // of electricity, which quotes go by; nil, or answering nil: none are known
	Power   func(context.Context) *Power     // now; nil, or answering nil: there is no power budget

	Gossip  bool        // whether the site exchanges load data by gossip
	Alone   func() bool // whether no other member of its gossip answers; nil: not known
	Private bool        // people see their own jobs only, but for root, the peer's account and Admins
	Admins  []string    // users who see and may cancel the jobs of all users

	Mail bool // whether the site sends mail about jobs

	SlurmCommands bool // whether jobs that run here find Slurm's commands that speak to this peer
	MaxArraySize  int  // number above the highest index of a job array

	ExportRemote []string // variables that leave the site with every job, as [protocol.Export.Allows] reads them

	Alarms  func() []string // what the site's operator should look at now; nil: nothing
	Staging int64           // bytes of files that go with a job of the site to another one
	Notes   func() []string // what the site's operator should know now; nil: nothing
	Roster  func() string   // that the roster of the grid ends soon or has ended; nil, or answering "": neither
	// Reload reads the configuration again; nil: that cannot be done. What is wrong
	// with it is no error, but part of the answer.
	Reload func(ctx context.Context, user string) (Reloaded, error)

	Database Database // nil: callers cannot look at it

	ReadFile ReadFile // reads the output of jobs for callers who do not read it themselves; nil: they get none

	Network *Network            // the API over TCP; nil: there is none
	Events  *eventstream.Stream // that callers may follow; nil: they may not

	Audit    *audit.Log                         // of what callers change, or may not; nil: none is kept
	Answered func(way audit.Way, result string) // counts requests, by [audit.Done] or the code of the refusal; may be nil
}

const (
	stopGrace   = 5 * time.Second
	readTime    = time.Minute      // for a whole request
	idleTime    = 5 * time.Minute  // between requests of a connection
	waitTime    = 60 * time.Second // the most that a request waits for a job's end
	countsKept  = 2 * time.Second  // between counts of all jobs
	watchPause  = time.Second      // before pages that have failed watch again
	followPause = time.Second      // between looks for new output
	writeTime   = time.Minute      // for a piece of output, over TCP
	serveTime   = 5 * time.Minute  // for any other request, over TCP: longer than waitTime and a round of quotes
	maxHeader   = 256 << 10        // bytes, with the path: a list of jobs may be long
)

type server struct {
	Config

	answers http.Handler  // of all requests, for callers who are known
	files   chan struct{} // has one for each file that is read
	moving  chan struct{} // has one for each request that moves files
	started time.Time
	bounds  bounds
}

// Serve answers at the socket, and over TCP if that is configured, until ctx ends. The error says why it could not.
func Serve(ctx context.Context, cfg Config) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &server{Config: cfg, files: make(chan struct{}, readers), moving: make(chan struct{}, placing), started: time.Now()}
	s.answers = s.routes()
	doors, err := s.open(ctx)
	if err != nil {
		return err
	}
	watch, unwatch := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer unwatch() // a door may have failed
	if cfg.Events != nil {
		watching.Go(func() { s.watchSites(watch) })
	}
	if cfg.Network != nil && cfg.Network.Pages != nil {
		watching.Go(func() { s.watchPages(watch) })
	}
	ended := make(chan error, len(doors))
	for _, d := range doors {
		go func() { ended <- d.serve() }()
	}
	if cfg.Ready != nil {
		cfg.Ready()
	}
	left := len(doors)
	select {
	case err = <-ended:
		left--
	case <-ctx.Done():
	}
	stopped := make(chan error, len(doors))
	for _, d := range doors {
		go func() { stopped <- d.stop(ctx) }()
	}
	for range doors {
		err = errors.Join(err, <-stopped)
	}
	for range left {
		err = errors.Join(err, <-ended)
	}
	return err
}

// watchPages has the pages watch until ctx ends. A fault of theirs does not end the peer: they begin again after a pause.
func (s *server) watchPages(ctx context.Context) {
	for s.watchedBadly(ctx) {
		select {
		case <-time.After(watchPause):
		case <-ctx.Done():
			return
		}
	}
}

// watchedBadly has the pages watch, and reports whether they failed.
func (s *server) watchedBadly(ctx context.Context) (failed bool) {
	defer func() {
		if given := recover(); given != nil {
			failed = true
			s.Log.Error("pages_failed", "error", given, "stack", string(debug.Stack()), "advice", "report this; the pages go on")
		}
	}()
	s.Network.Pages.Watch(ctx, s.inside(caller{admin: true}))
	return false
}

// ListenError says that the peer cannot listen where the configuration says.
type ListenError struct {
	Key string // of the configuration
	Err error
}

func (e *ListenError) Error() string { return e.Key + ": " + e.Err.Error() }

// Unwrap returns why.
func (e *ListenError) Unwrap() error { return e.Err }

// door is a listener and what answers there.
type door struct {
	name     string
	listener net.Listener
	web      *http.Server
}

// open opens the socket, and the port if there is one.
func (s *server) open(ctx context.Context) ([]door, error) {
	listener, err := listen(ctx, s.Socket)
	if err != nil {
		return nil, &ListenError{"[site] socket", err}
	}
	web := s.web(ctx, s.answers)
	web.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return withCaller(ctx, conn, &s.bounds, userName)
	}
	web.ConnState = s.bounds.leave
	doors := []door{{"api socket " + s.Socket, listener, web}}
	if s.Network == nil {
		return doors, nil
	}
	port, err := s.openPort(ctx)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return append(doors, port), nil
}

// web is a server of HTTP.
func (s *server) web(ctx context.Context, handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       readTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
}

// serve answers until the door is closed. The error says why it could not.
func (d *door) serve() error {
	if err := d.web.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	return nil
}

// stop closes the door, after the answers that have begun.
func (d *door) stop(ctx context.Context) error {
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer stop()
	if err := d.web.Shutdown(grace); err != nil {
		return d.web.Close()
	}
	return nil
}

// handler answers a request. Its error becomes the answer, if it has not begun
// one.
type handler func(w http.ResponseWriter, r *http.Request, who caller) error

// route is a request that the peer answers.
type route struct {
	pattern string // of its method and path
	scope   accesstokens.Scope
	local   bool // answered on this machine only
	public  bool // answered to visitors of public pages who have not signed in, too
	query   bool // the handler reads parameters, and refuses those that it does not know; the other requests take none
	handle  handler
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, route := range s.requests() {
		mux.HandleFunc(route.pattern, s.answer(route))
	}
	other := func(handle handler) http.HandlerFunc {
		return s.answer(route{pattern: "/", scope: accesstokens.Read, query: true, handle: handle})
	}
	mux.HandleFunc("/", other(func(_ http.ResponseWriter, r *http.Request, _ caller) error { return unknown(mux, r) }))
	unclean := other(uncleanPath)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at := r.URL.EscapedPath(); at != cleaned(at) { // the mux would redirect, by a page
			unclean(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// cleaned is a path without empty parts and those that are dots.
func cleaned(at string) string {
	clean := path.Clean("/" + at)
	if clean != "/" && strings.HasSuffix(at, "/") {
		clean += "/"
	}
	return clean
}

// requests are all that the peer answers.
func (s *server) requests() []route {
	open := !s.Private // whether all may look at the jobs of all
	return []route{
		{pattern: "POST /v1/jobs", scope: accesstokens.Submit, handle: s.submit},
		{pattern: "POST /v1/quotes", scope: accesstokens.Submit, handle: s.quotes},
		{pattern: "GET /v1/jobs", scope: accesstokens.Read, public: open, query: true, handle: s.queue},
		{pattern: "GET /v1/jobs/{id}", scope: accesstokens.Read, public: open, handle: s.job},
		{pattern: "DELETE /v1/jobs/{id}", scope: accesstokens.Submit, query: true, handle: s.cancel},
		{pattern: "PATCH /v1/jobs/{id}", scope: accesstokens.Submit, handle: s.update},
		{pattern: "POST /v1/jobs/{id}/hold", scope: accesstokens.Submit, handle: s.hold},
		{pattern: "POST /v1/jobs/{id}/release", scope: accesstokens.Submit, handle: s.release},
		{pattern: "POST /v1/jobs/{id}/requeue", scope: accesstokens.Submit, handle: s.requeue},
		{pattern: "GET /v1/jobs/{id}/wait", scope: accesstokens.Read, handle: s.wait},
		{pattern: "GET /v1/jobs/{id}/explain", scope: accesstokens.Read, public: open, handle: s.explain},
		{pattern: "GET /v1/jobs/{id}/output", scope: accesstokens.Read, query: true, handle: s.output},
		{pattern: "GET /v1/jobs/{id}/files", scope: accesstokens.Submit, query: true, handle: s.fetch},
		{pattern: "POST /v1/files", scope: accesstokens.Submit, query: true, handle: s.place},
		{pattern: "GET /v1/sites", scope: accesstokens.Read, public: true, handle: s.sites},
		{pattern: "GET /v1/counts", scope: accesstokens.Read, public: true, handle: newCounted(s.Node).answer},
		{pattern: "POST /v1/sites/{site}/drain", scope: accesstokens.Operate, handle: s.drain},
		{pattern: "POST /v1/sites/{site}/resume", scope: accesstokens.Operate, handle: s.resume},
		{pattern: "GET /v1/shares", scope: accesstokens.Read, handle: s.shares},
		{pattern: "GET /v1/history", scope: accesstokens.Read, public: open, query: true, handle: s.history},
		{pattern: "GET /v1/usage", scope: accesstokens.Read, public: open, query: true, handle: s.usage},
		{pattern: "GET /v1/runs", scope: accesstokens.Read, query: true, handle: s.runHistory},
		{pattern: "GET /v1/events", scope: accesstokens.Read, query: true, handle: s.events},
		{pattern: "GET /v1/info", scope: accesstokens.Read, public: true, handle: s.info},
		{pattern: "GET /v1/recovery", scope: accesstokens.Read, handle: s.recovery},
		{pattern: "POST /v1/recovery", scope: accesstokens.Operate, handle: s.recover},
		{pattern: "GET /v1/plugins", scope: accesstokens.Read, public: true, handle: s.plugins},
		{pattern: "GET /v1/prices", scope: accesstokens.Read, public: true, handle: s.prices},
		{pattern: "GET /v1/settings/changes", scope: accesstokens.Read, handle: s.settingsChanges},
		{pattern: "POST /v1/reload", scope: accesstokens.Operate, handle: s.reload},
		{pattern: "GET /v1/store", local: true, query: true, handle: s.store},
		{pattern: "POST /v1/store/backup", local: true, handle: s.backupStore},
		{pattern: "POST /v1/store/compact", local: true, handle: s.compactStore},
		{pattern: "GET /v1/tokens", local: true, query: true, handle: s.tokens},
		{pattern: "POST /v1/tokens", local: true, handle: s.createToken},
		{pattern: "DELETE /v1/tokens/{token}", local: true, handle: s.revokeToken},
		{pattern: "GET /v1/openapi.json", scope: accesstokens.Read, handle: s.openAPI},
	}
}

// answer makes a handler one of HTTP.
func (s *server) answer(route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := callerOf(r.Context())
		if err == nil {
			progress := newProgress(w, r, who)
			defer progress.end()
			w = progress
			noted := s.note(route, w, r)
			if noted != nil {
				noted.done = func() { s.record(noted, r, who, nil) }
			}
			if err = cmp.Or(who.check(route), route.checkQuery(r)); err == nil {
				err = route.handle(noted.writer(w), r, who)
			}
			if noted == nil || noted.answer == nil {
				s.record(noted, r, who, err)
			}
		} else {
			s.count(audit.Socket, resultOf(err))
			w.Header().Set("Connection", "close") // the next request would get the same answer
		}
		if err == nil {
			return // all is said
		}
		if r.Context().Err() != nil { // the peer stops, or the caller has gone
			panic(http.ErrAbortHandler) // an empty answer would read as a whole one
		}
		refusal := refusalOf(err)
		s.Log.Debug("request_refused", "path", r.URL.Path, "user", who.user, "code", string(refusal.Code),
			"reason", refusal.Reason)
		status := StatusOf(refusal.Code)
		if _, ok := errors.AsType[crowdedError](err); ok {
			status = http.StatusTooManyRequests
			w.Header().Set("Retry-After", "1")
		}
		if wrong, ok := errors.AsType[methodError](err); ok {
			status = http.StatusMethodNotAllowed
			w.Header().Set("Allow", strings.Join(wrong.allowed, ", "))
		}
		if err = reply(w, status, refusal); err != nil {
			s.Log.Debug("response_send_failed", "path", r.URL.Path, "error", err)
		}
	}
}

// methodError refuses a request with a method that its path does not have.
type methodError struct {
	refusal

	allowed []string
}

// unknown refuses a request that the mux has no other route for.
func unknown(mux *http.ServeMux, r *http.Request) error {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if _, pattern := mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL}); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		return methodError{refusal{view.Refusal{Code: view.NotFound, Reason: fmt.Sprintf(
			"unknown request %s %s; the methods of this path are %s; the version of the peer may differ from that of this command, see `switchyard --version`",
			r.Method, r.URL.Path, strings.Join(allowed, ", "),
		)}}, allowed}
	}
	return refuse(view.NotFound, "unknown request %s %s; the version of the peer may differ from that of this command, see `switchyard --version`",
		r.Method, r.URL.Path)
}

// uncleanPath refuses a request with a path that another one stands for.
func uncleanPath(_ http.ResponseWriter, r *http.Request, _ caller) error {
	return refuse(view.NotFound, "unknown request %s %s; use the path %s", r.Method, r.URL.EscapedPath(), cleaned(r.URL.EscapedPath()))
}
