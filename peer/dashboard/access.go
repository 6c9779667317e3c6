package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// maxForm bounds the bodies of forms, in bytes.
const maxForm = 16 << 10

// signInPage is what the page to sign in shows.
type signInPage struct {
	Next    string // where the visitor wanted to go
	Problem string // why the last try failed
	Expired bool
	Issuers []link // at which the visitor can sign in
}

// local is a path on this server; anything else is the first page.
func local(path string) string {
	to, err := url.ParseRequestURI(path)
	if err != nil || to.Scheme != "" || to.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.Contains(path, `\`) || strings.ContainsFunc(path, unicode.IsControl) {
		return "/"
	}
	return path
}

// askToSignIn answers one who has to sign in first.
func (d *Dashboard) askToSignIn(r *request) error {
	next := "/"
	if r.Method == http.MethodGet && r.URL.Path != "/changes" {
		next = r.URL.RequestURI()
	}
	return d.showSignInPage(r, http.StatusUnauthorized, signInPage{Next: next, Expired: r.visitor.Expired})
}

func (d *Dashboard) showSignIn(r *request) error {
	return d.showSignInPage(r, http.StatusOK, signInPage{Next: local(r.URL.Query().Get("next")), Expired: r.visitor.Expired})
}

// showSignInPage shows the page to sign in, with the issuers of the site.
func (d *Dashboard) showSignInPage(r *request, status int, page signInPage) error {
	for _, name := range r.visitor.Issuers() {
		page.Issuers = append(page.Issuers, link{"/sign-in/" + name + "?" + url.Values{"next": {page.Next}}.Encode(), name})
	}
	return d.show(r, status, "sign-in", frame{Title: "Sign in", Body: page})
}

// showFailedSignIn shows the page to sign in with what went wrong.
func (d *Dashboard) showFailedSignIn(r *request, next string, err error) error {
	status := http.StatusUnauthorized
	if refused, ok := errors.AsType[interface {
		error
		Refusal() view.Refusal
	}](err); ok && refused.Refusal().Code != view.Denied {
		status = api.StatusOf(refused.Refusal().Code)
	}
	return d.showSignInPage(r, status, signInPage{Next: next, Problem: err.Error()})
}

// signIn begins a session.
func (d *Dashboard) signIn(r *request) error {
	r.Body = http.MaxBytesReader(r.w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return badRequest("The form cannot be read: %v.", err)
	}
	next := local(r.PostForm.Get("next"))
	if err := r.visitor.SignIn(r.w, r.PostForm.Get("token")); err != nil {
		return d.showFailedSignIn(r, next, err)
	}
	http.Redirect(r.w, r.Request, next, http.StatusSeeOther)
	return nil
}

// beginSignIn leads to an issuer, where the visitor signs in.
func (d *Dashboard) beginSignIn(r *request) error {
	next := local(r.URL.Query().Get("next"))
	address, err := r.visitor.BeginSignIn(r.w, r.PathValue("issuer"), next)
	if err != nil {
		return d.showFailedSignIn(r, next, err)
	}
	http.Redirect(r.w, r.Request, address, http.StatusSeeOther)
	return nil
}

// finishSignIn begins a session of a visitor whom an issuer has sent back. It leads on by a page, not by a redirect: browsers send the
// cookie of the session only with requests that a page of this server has them make.
func (d *Dashboard) finishSignIn(r *request) error {
	r.w.Header().Set("Referrer-Policy", "no-referrer") // the address has the code, which is used up
	next, err := r.visitor.FinishSignIn(r.w, r.PathValue("issuer"))
	if err != nil {
		return d.showFailedSignIn(r, local(next), err)
	}
	return d.show(r, http.StatusOK, "signed-in", frame{Title: "You are signed in", Onward: next, Body: next})
}

// signOut ends the session.
func (*Dashboard) signOut(r *request) error {
	r.visitor.SignOut(r.w)
	http.Redirect(r.w, r.Request, "/", http.StatusSeeOther)
	return nil
}
