package accesstokens

import (
	"slices"
	"strings"
)

// Scope is what a caller may do.
type Scope string

// The scopes. Each is good for itself only: a token that may submit jobs and look at them has two.
const (
	Read    Scope = "read"    // look at jobs, sites, history, output
	Submit  Scope = "submit"  // submit jobs, ask for quotes, change and cancel one's own jobs
	Operate Scope = "operate" // what the token's user may do as an administrator of the site
)

// Scopes are what a caller may do, each once.
type Scopes []Scope

// All are the scopes of callers on the machine itself.
func All() Scopes { return Scopes{Read, Submit, Operate} }

// Has reports whether the scope is there.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// String is a list with commas.
func (s Scopes) String() string {
	words := make([]string, len(s))
	for i, scope := range s {
		words[i] = string(scope)
	}
	return strings.Join(words, ",")
}

// ParseScopes reads a list with commas.
func ParseScopes(list string) (Scopes, error) {
	var given Scopes
	for word := range strings.SplitSeq(list, ",") {
		given = append(given, Scope(strings.TrimSpace(word)))
	}
	return given, given.check()
}

// check refuses scopes that there are not, none at all, and one twice.
func (s Scopes) check() error {
	if len(s) == 0 {
		return invalid("no scopes; use some of %s", All())
	}
	for i, scope := range s {
		if !All().Has(scope) {
			return invalid("unknown scope %q; use some of %s", scope, All())
		}
		if s[:i].Has(scope) {
			return invalid("the scope %s is given twice", scope)
		}
	}
	return nil
}
