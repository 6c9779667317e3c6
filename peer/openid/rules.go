package openid

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rule says for which tokens it is, by all of its conditions, and what they may do. A condition that is empty holds for all.
type Rule struct {
	Subject string // the claim sub
	Email   string // the claim email, which the issuer has verified
	Group   string // one of the groups
	Scope   string // one of the scopes

	User   string // of the site; empty: the one that the claim of users names
	Scopes accesstokens.Scopes
}

// Claims are the names of the claims that rules look at.
type Claims struct {
	User   string // names the user of the site, for rules that do not; empty: [DefaultUserClaim]
	Groups string // a list of texts, or a text, which is one group; empty: [DefaultGroupsClaim]
	Scopes string // a list of texts, or texts with spaces between; empty: [DefaultScopesClaim]
}

// The claims if nothing else is said.
const (
	DefaultUserClaim   = "preferred_username"
	DefaultGroupsClaim = "groups"
	DefaultScopesClaim = "scope"
)

// claims are those of a token.
type claims map[string]json.RawMessage

// text is a claim that is a text; empty: it is none.
func (c claims) text(name string) string {
	var text string
	if json.Unmarshal(c[name], &text) != nil {
		return ""
	}
	return text
}

// list is a claim that is a list of texts, or a text; nil: it is neither.
func (c claims) list(name string) []string {
	var list []string
	if json.Unmarshal(c[name], &list) == nil {
		return list
	}
	if text := c.text(name); text != "" {
		return []string{text}
	}
	return nil
}

// parted is a claim that is a list of texts, or a text in which spaces part them; nil: it is neither.
func (c claims) parted(name string) []string {
	if text := c.text(name); text != "" {
		return strings.Fields(text)
	}
	return c.list(name)
}

// access refuses a token that is not for access: ID tokens and those about events may have the same header, issuer and audience.
func (c claims) access() error {
	for _, name := range []string{"nonce", "at_hash", "events"} {
		if _, has := c[name]; has {
			return refuse("the token has the claim %s, so it is no access token; use one", name)
		}
	}
	if kind := c.text("typ"); kind != "" && kind != "Bearer" && kind != "at+jwt" { // Keycloak writes it
		return refuse("the token is one of the type %.40q; use an access token", kind)
	}
	return nil
}

// verified reports whether the issuer has verified the address. Some issuers write a text.
func (c claims) verified() bool {
	var so bool
	return json.Unmarshal(c["email_verified"], &so) == nil && so || c.text("email_verified") == "true"
}

// holds reports whether a rule is for a token.
func (r *Rule) holds(c claims, names Claims) bool {
	return (r.Subject == "" || c.text("sub") == r.Subject) &&
		(r.Email == "" || c.verified() && sameAddress(c.text("email"), r.Email)) &&
		(r.Group == "" || slices.Contains(c.list(names.Groups), r.Group)) &&
		(r.Scope == "" || slices.Contains(c.parted(names.Scopes), r.Scope))
}

// sameAddress compares addresses, in which letters of ASCII are the same in upper and lower case. Others are not: a Kelvin sign is no k.
func sameAddress(a, b string) bool { return lower(a) == lower(b) }

func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, text)
}

// grant is what the first rule that is for a token allows.
func grant(rules []Rule, c claims, names Claims) (user string, named bool, scopes accesstokens.Scopes, err error) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.holds(c, names) })
	if i < 0 {
		return "", false, nil, refuse("the token is good, but no table [[api.oidc.user]] of the site is for its subject %.200q", c.text("sub"))
	}
	if rules[i].User != "" {
		return rules[i].User, true, rules[i].Scopes, nil
	}
	user = c.text(names.User)
	if !isName(user) {
		return "", false, nil, refuse("the token's claim %s is %.200q, which is no name of a user", names.User, user)
	}
	return user, false, rules[i].Scopes, nil
}

// isName reports whether a text from a token can be the name of a user: numbers would be looked up as such.
func isName(name string) bool {
	const most = 256
	return name != "" && len(name) <= most && protocol.CheckText(name) == nil && !strings.ContainsAny(name, ":/,* \t") &&
		name[0] != '-' && strings.ContainsFunc(name, func(r rune) bool { return r < '0' || r > '9' })
}

// RefusedError says why a token is not good.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// UnavailableError says that a token cannot be verified or got now, because the issuer does not answer as it should. Strangers get its text: why it is
// so is for logs alone.
type UnavailableError struct {
	Issuer string
	Why    error // in a line; nil: what [Config.Failed] was called with
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("the site cannot ask %s now; try again, or use a token of `switchyard token create`", e.Issuer)
}
