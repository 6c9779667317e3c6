// Package accounts says which local account runs whose job, from tables that the
// site's configuration gives. It is pure: it asks no system about accounts.
package accounts

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Tables is the input of [New]. The maps must not change afterwards.
type Tables struct {
	// Own is the account of a peer that cannot change to others, because it does
	// not run as root. It is the only one allowed then. Empty: any account.
	Own string
	// SameNames lets a user of this site who is not in Local run jobs as the
	// account of that name.
	SameNames bool
	// Local maps users of this site to accounts.
	Local map[string]string
	// Guests maps users of partners to accounts; [Anyone] is every user who is
	// not named. A user who is not there is denied.
	Guests map[protocol.SiteName]map[string]string
}

// Anyone stands for all users of a partner that are not named in its table.
const Anyone = "*"

// root is the account that no job runs as.
const root = "root"

// Accounts implements [rules.Accounts].
type Accounts struct{ tables Tables }

var _ rules.Accounts = (*Accounts)(nil)

// New returns the accounts that the tables describe.
func New(tables Tables) *Accounts { return &Accounts{tables} }

// Local implements [rules.Accounts]. Its errors name the key to set.
func (a *Accounts) Local(user string) (string, error) {
	account, listed := a.tables.Local[user]
	switch {
	case user == "":
		return "", denied("the job names no user; submit it again")
	case listed:
	case user == root:
		return "", denied(`jobs of root do not run as root; map it with [accounts] local = { root = "nobody" }, or submit as another user`)
	case !a.tables.SameNames:
		return "", denied(`user %q may run no jobs at this site; add { %q = "account" } to [accounts] local`, user, user)
	default:
		account = user
	}
	return a.allow(account, fmt.Sprintf("user %q", user), "[accounts] local")
}

// Guest implements [rules.Accounts]. Its errors name the key to set.
func (a *Accounts) Guest(site protocol.SiteName, user string) (string, error) {
	table, ok := a.tables.Guests[site]
	if !ok {
		return "", denied("site %q is no partner of this site; add a [[partner]] with its name", string(site))
	}
	account, ok := table[user]
	if !ok {
		account, ok = table[Anyone]
	}
	if !ok || user == "" {
		return "", denied(`user %q of %s may run no jobs at this site; add { %q = "account" } to the users of [[partner]] %s`,
			user, site, user, site)
	}
	return a.allow(account, fmt.Sprintf("user %q of %s", user, site), fmt.Sprintf("the users of [[partner]] %s", site))
}

// allow passes the account on if this peer may start jobs as it.
func (a *Accounts) allow(account, who, where string) (string, error) {
	switch {
	case account == "":
		return "", denied("%s is mapped to no account; name one in %s", who, where)
	case account == root:
		return "", denied("%s is mapped to root, and no job runs as root; name another account in %s", who, where)
	case a.tables.Own != "" && account != a.tables.Own:
		return "", denied("%s runs as account %q, but this peer runs as %q and can start jobs only as that; start the peer as root, or map to %q in %s",
			who, account, a.tables.Own, a.tables.Own, where)
	}
	return account, nil
}

// DeniedError says why somebody may not run jobs here, and what to do.
type DeniedError struct{ Reason string }

func (e *DeniedError) Error() string { return e.Reason }

func denied(format string, args ...any) error {
	return &DeniedError{fmt.Sprintf(format, args...)}
}
