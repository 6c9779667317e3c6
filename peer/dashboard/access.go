package dashboard

import (
	"net/http"
	"strings"
)

// maxForm bounds the bodies of forms, in bytes.
const maxForm = 16 << 10

// signInPage is what the page to sign in shows.
type signInPage struct {
	Next    string // where the visitor wanted to go
	Problem string // why the last try failed
	Expired bool
}

// local is a path on this server; anything else is the first page.
func local(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
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
	return d.show(r, http.StatusUnauthorized, "sign-in", frame{Title: "Sign in", Body: signInPage{Next: next, Expired: r.visitor.Expired}})
}

func (d *Dashboard) showSignIn(r *request) error {
	return d.show(r, http.StatusOK, "sign-in", frame{Title: "Sign in", Body: signInPage{Next: local(r.URL.Query().Get("next")), Expired: r.visitor.Expired}})
}

// signIn begins a session.
func (d *Dashboard) signIn(r *request) error {
	r.Body = http.MaxBytesReader(r.w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return badRequest("The form cannot be read: %v.", err)
	}
	next := local(r.PostForm.Get("next"))
	if err := r.visitor.SignIn(r.w, r.PostForm.Get("token")); err != nil {
		return d.show(r, http.StatusUnauthorized, "sign-in", frame{Title: "Sign in", Body: signInPage{Next: next, Problem: err.Error()}})
	}
	http.Redirect(r.w, r.Request, next, http.StatusSeeOther)
	return nil
}

// signOut ends the session.
func (*Dashboard) signOut(r *request) error {
	r.visitor.SignOut(r.w)
	http.Redirect(r.w, r.Request, "/", http.StatusSeeOther)
	return nil
}
