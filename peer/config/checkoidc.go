package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// checkOIDC checks the tables [[api.oidc]] and [[api.oidc.user]].
func (r *checker) checkOIDC(a *API) {
	names, issuers := map[string]bool{}, map[string]bool{}
	for i := range a.OIDC {
		o, key := &a.OIDC[i], fmt.Sprintf("api.oidc[%d]", i)
		switch {
		case !isIssuerName(o.Name):
			r.Problem(key+".name", "invalid %q; use 1 to %d lower-case letters, digits and hyphens", o.Name, maxIssuerName)
		case names[o.Name]:
			r.Problem(key+".name", "duplicate name %q; give each issuer one of its own", o.Name)
		}
		switch {
		case !isIssuer(o.Issuer):
			r.Problem(key+".issuer", "invalid %q; use the https URL that is the claim iss of the issuer's tokens", o.Issuer)
		case issuers[o.Issuer]:
			r.Problem(key+".issuer", "duplicate issuer %q; keep one table for it", o.Issuer)
		}
		names[o.Name], issuers[o.Issuer] = true, true
		r.checkOIDCTable(key, o)
		r.checkSignIn(key, o, a.Dashboard)
	}
}

// checkSignIn checks how people sign in to the pages at an issuer.
func (r *checker) checkSignIn(key string, o *OIDC, dashboard string) {
	var usual OIDC
	usual.SetDefaults()
	if o.SignInClient == "" {
		for _, one := range []struct {
			key string
			set bool
		}{
			{"sign_in_secret_file", o.SignInSecretFile != ""},
			{"sign_in_scopes", !slices.Equal(o.SignInScopes, usual.SignInScopes)},
			{"sign_in_session", o.SignInSession != usual.SignInSession},
		} {
			if one.set {
				r.Problem(key+"."+one.key, "has no effect without sign_in_client; set that, or remove it")
			}
		}
		return
	}
	if dashboard == Off {
		r.Problem(key+".sign_in_client", "has no effect without pages; set [api] dashboard to %q or %q, or remove it", ByToken, Public)
	}
	if o.SignInClient == o.Audience {
		r.Problem(key+".sign_in_client", "is the audience of access tokens, too: ID tokens could pass for these; have the issuer use another audience")
	}
	for i, scope := range o.SignInScopes {
		if scope == "" || strings.ContainsFunc(scope, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }) {
			r.Problem(fmt.Sprintf("%s.sign_in_scopes[%d]", key, i), "invalid %q; use the name of a scope", scope)
		}
	}
	if o.SignInSession < protocol.Minute || o.SignInSession > accesstokens.SessionLife {
		r.Problem(key+".sign_in_session", "is %s; use 1m to %s", settings.FormatDuration(o.SignInSession), settings.FormatDuration(accesstokens.SessionLife))
	}
}

// checkOIDCTable checks what does not depend on other issuers.
func (r *checker) checkOIDCTable(key string, o *OIDC) {
	for _, one := range []struct{ key, value, advice string }{
		{"audience", o.Audience, "use what tokens for this site have in their claim aud"},
		{"user_claim", o.UserClaim, "use the name of a claim"},
		{"groups_claim", o.GroupsClaim, "use the name of a claim"},
		{"scopes_claim", o.ScopesClaim, "use the name of a claim"},
	} {
		if one.value == "" {
			r.Problem(key+"."+one.key, "is empty; %s", one.advice)
		}
	}
	if len(o.Users) == 0 {
		r.Problem(key, "has no effect without a table [[api.oidc.user]] below it, which says for which user a token stands; add one")
	}
	for i := range o.Users {
		r.checkOIDCUser(fmt.Sprintf("%s.user[%d]", key, i), &o.Users[i])
	}
}

// maxIssuerName is how long the name of an issuer may be.
const maxIssuerName = 40

// isIssuerName reports whether a text can name an issuer: it is part of the paths of pages.
func isIssuerName(name string) bool {
	return name != "" && len(name) <= maxIssuerName && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && name[0] != '-'
}

// isIssuer reports whether a text can be the URL of an issuer.
func isIssuer(text string) bool {
	at, err := url.Parse(text)
	return err == nil && at.Scheme == "https" && at.Host != "" && at.User == nil && at.RawQuery == "" && at.Fragment == ""
}

func (r *checker) checkOIDCUser(key string, u *OIDCUser) {
	switch {
	case u.User == "" && u.Subject != "":
		r.Problem(key+".user", "missing; name the user of this site for whom this subject acts")
	case u.User != "" && u.Subject+u.Email+u.Group+u.Scope == "":
		r.Problem(key, "gives %s to every token of the issuer; add subject, email, group or scope", u.User)
	case u.User != "":
		r.checkUser(key+".user", u.User)
	}
	if _, err := accesstokens.ParseScopes(strings.Join(u.Scopes, ",")); err != nil {
		r.Problem(key+".scopes", "%v", err)
	}
}
