package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/audit"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Pages are what people see of the peer in a browser.
type Pages interface {
	// Watch keeps what the pages need of the past until ctx ends. The client sees all jobs; what it says is for the pages only.
	Watch(ctx context.Context, peer *Client)
	// Show answers a request of a visitor. What it answers to paths below /assets/ is the same for all, and asks the peer nothing.
	// A visitor signs in at /sign-in or below it, and out at /sign-out.
	Show(w http.ResponseWriter, r *http.Request, visitor *Visitor)
}

// Visitor is who looks at the pages.
type Visitor struct {
	// Peer makes requests in the name of the visitor, who sees and may do what the same caller of the API sees and may do;
	// nil: the visitor has to sign in first.
	Peer    *Client
	User    string // empty: the visitor has not signed in
	Scopes  accesstokens.Scopes
	Expired bool // the visitor had signed in, and the session has ended

	rights  Rights
	port    *port
	request *http.Request
	secret  string                      // of the session
	still   func(context.Context) error // says why one who has signed in is let in no more; nil: the visitor has not
}

// Rights are who a visitor is to the peer. Who has the same rights is answered the same to the same question at the same time, and so may be
// shown what was made for the other.
type Rights struct {
	public bool // the visitor has not signed in; the others are not set then
	user   string
	uid    int
	admin  bool
	scopes string
}

// rights are those of a caller over TCP.
func (c *caller) rights() Rights {
	if c.public {
		return Rights{public: true}
	}
	return Rights{user: c.user, uid: c.uid, admin: c.admin, scopes: c.pass.scopes.String()}
}

// Rights are those with which Peer answers. A visitor without Peer has none to share.
func (v *Visitor) Rights() Rights { return v.rights }

// admitted has a visitor make requests as a caller.
func (v *Visitor) admitted(who caller) {
	v.Peer, v.rights = v.port.inside(who), who.rights()
}

// What is allowed to visitors who have not signed in.
const (
	visitPause    = 200 * time.Millisecond // between pages for one address, with more at once:
	visitsAtOnce  = 60
	signInsAtOnce = 20 // at the page to sign in, for one address; then one a second
	publicPages   = 50 // per second, of all addresses, with more at once:
	publicAtOnce  = 500

	maxSessions     = 1000 // of those who have
	maxUserSessions = 20   // of one user
)

// cookieName is the cookie of a session. By the prefix browsers take it over TLS and from this host only. One host may forward
// the ports of several sites, which browsers do not tell apart.
func (p *port) cookieName() string { return "__Host-switchyard-" + string(p.Site) }

// browse answers requests for pages, and leaves those of the API to next.
func (p *port) browse(next http.Handler) http.Handler {
	if p.Network.Pages == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") || r.Header.Get("Authorization") != "" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if err := p.foreign.Check(r); err != nil {
			http.Error(w, "the request comes from another page", http.StatusForbidden)
			return
		}
		visitor, refused := p.visitorOf(w, r) //nolint:contextcheck // that of the request
		if refused != nil {
			refused.send(p, w, r)
			return
		}
		p.Network.Pages.Show(w, r, visitor)
	})
}

// visitorOf is who asks for a page.
func (p *port) visitorOf(w http.ResponseWriter, r *http.Request) (*Visitor, *turnedAway) {
	now := time.Now()
	visitor := &Visitor{port: p, request: r}
	if strings.HasPrefix(r.URL.Path, "/assets/") {
		return visitor, nil
	}
	if refused := p.resume(visitor, w, now); refused != nil || visitor.Peer != nil && !asksIssuer(r) {
		return visitor, refused
	}
	if isSignOut(r) {
		return visitor, nil
	}
	if !p.admits(r, now) {
		refused := tooFast("too many pages; try again in a second, or sign in")
		refused.hangUp = true
		return nil, refused
	}
	if p.Network.Public && visitor.Peer == nil {
		scopes := accesstokens.Scopes{accesstokens.Read}
		visitor.admitted(caller{public: true, uid: -1, pass: &pass{scopes: scopes}, from: r.RemoteAddr})
	}
	return visitor, nil
}

// resume finds the session of a visitor, if there is one. It ends with a user who is let in no more.
func (p *port) resume(visitor *Visitor, w http.ResponseWriter, now time.Time) *turnedAway {
	cookie, err := visitor.request.Cookie(p.cookieName())
	if err != nil {
		return nil
	}
	shown, err := p.sessions.Find(cookie.Value, protocol.InstantOf(now))
	if err == nil {
		if err = shown.still(visitor.request.Context(), protocol.InstantOf(now)); err != nil {
			p.sessions.End(cookie.Value)
		}
	}
	if err != nil {
		visitor.Expired = true
		return nil
	}
	visitor.secret = cookie.Value
	who, refused := p.callerWith(visitor.request, shown, now)
	switch {
	case refused == nil:
		visitor.admitted(who)
		visitor.User, visitor.Scopes, visitor.still = who.user, shown.scopes, stillGood(who)
	case isSignOut(visitor.request): // is never refused
	case refused.why.Code != view.Denied:
		return refused
	default:
		refused.report(p, visitor.request)
		visitor.SignOut(w)
		visitor.secret, visitor.Expired = "", true
	}
	return nil
}

func isSignOut(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/sign-out"
}

// asksIssuer reports whether a request is for a page that signs in at an issuer. These have their pace for those, too, who have signed in.
func asksIssuer(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/sign-in/") }

// admits reports whether a request of somebody who has not signed in is one of those that are answered. Pages, of which there may
// be many wanted, do not keep others from signing in.
func (p *port) admits(r *http.Request, now time.Time) bool {
	if r.URL.Path == "/sign-in" || asksIssuer(r) {
		return p.signIns.Allows(addressOf(r), now)
	}
	return p.visits.Allows(addressOf(r), now) && (!p.Network.Public || p.pages.AllowN(now, 1))
}

// SignIn begins a session with the token that the visitor has shown. The error is a refusal.
func (v *Visitor) SignIn(w http.ResponseWriter, secret string) error {
	now := time.Now()
	token, refused := v.port.find(v.request, strings.TrimSpace(secret), now)
	if refused == nil {
		refused = v.begin(w, v.port.passBy(token), now, token.Expires)
	}
	if refused != nil {
		refused.report(v.port, v.request)
		return refusal{refused.why}
	}
	return nil
}

// begin begins a session with a pass that is good, until this one ends.
func (v *Visitor) begin(w http.ResponseWriter, shown *pass, now time.Time, ends protocol.Instant) *turnedAway {
	who, refused := v.port.callerWith(v.request, shown, now)
	if refused != nil {
		return refused
	}
	if !shown.scopes.Has(accesstokens.Read) {
		return unidentified("the token has no scope %s, which the pages need; it has %s", accesstokens.Read, shown.scopes)
	}
	shown.uid = &who.uid
	v.SignOut(w)
	at := protocol.InstantOf(now)
	v.setCookie(w, v.port.sessions.Begin(shown.user, shown, at, min(ends, at.Add(accesstokens.SessionLife))), 0)
	v.port.Log.Info("session_begun", "token", shown.id, "user", shown.user, "from", v.request.RemoteAddr)
	v.port.Audit.Write(audit.Entry{
		At: now, Action: v.request.Method + " " + v.request.URL.Path, Way: audit.Network, User: who.user, UID: &who.uid, Token: shown.id, From: v.request.RemoteAddr,
		Path: v.request.URL.Path, Changed: []string{"scopes " + shown.scopes.String()}, Result: audit.Done,
	})
	return nil
}

// SignOut ends the session of the visitor, if there is one.
func (v *Visitor) SignOut(w http.ResponseWriter) {
	if v.secret != "" {
		v.port.sessions.End(v.secret)
	}
	v.setCookie(w, "", -1)
}

// setCookie has the browser keep the secret of a session until it is closed; a negative age: forget it.
func (v *Visitor) setCookie(w http.ResponseWriter, secret string, age int) {
	w.Header().Del("Set-Cookie")
	http.SetCookie(w, &http.Cookie{
		Name: v.port.cookieName(), Value: secret, Path: "/", MaxAge: age, Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}

// Current reports whether the visitor may still look: whether the session of one who has signed in has not ended, and the user is still
// let in.
func (v *Visitor) Current() bool {
	if v.secret == "" {
		return v.Peer != nil
	}
	_, err := v.port.sessions.Find(v.secret, protocol.InstantOf(time.Now()))
	return err == nil && (v.still == nil || v.still(v.request.Context()) == nil)
}
