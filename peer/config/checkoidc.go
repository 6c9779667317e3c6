package config

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
)

// checkOIDC checks the tables [api.oidc] and [[api.oidc.user]].
func (r *checker) checkOIDC(o *OIDC) {
	if o == nil {
		return
	}
	if !isIssuer(o.Issuer) {
		r.Problem("api.oidc.issuer", "invalid %q; use the https URL that is the claim iss of the issuer's tokens", o.Issuer)
	}
	for _, one := range []struct{ key, value, advice string }{
		{"audience", o.Audience, "use what tokens for this site have in their claim aud"},
		{"user_claim", o.UserClaim, "use the name of a claim"},
		{"groups_claim", o.GroupsClaim, "use the name of a claim"},
		{"scopes_claim", o.ScopesClaim, "use the name of a claim"},
	} {
		if one.value == "" {
			r.Problem("api.oidc."+one.key, "is empty; %s", one.advice)
		}
	}
	if len(o.Users) == 0 {
		r.Problem("api.oidc", "has no effect without a table [[api.oidc.user]], which says for which user a token stands; add one")
	}
	for i := range o.Users {
		r.checkOIDCUser(fmt.Sprintf("%s[%d]", oidcUserSection, i), &o.Users[i])
	}
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
