package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/localsched"
)

// Account is a local account as a job needs it.
type Account struct {
	Name   string   `json:"name"`
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups,omitempty"` // all of them; empty where they were not looked up
	Home   string   `json:"home"`
	Shell  string   `json:"shell"`
}

// Forbidden is why a peer with this uid must not run jobs as the account; empty
// when it may.
func (a Account) Forbidden(peer int) (reason string) {
	switch {
	case a.UID == 0:
		return fmt.Sprintf("account %q has uid 0; map the user to another account", a.Name)
	case peer != 0 && int(a.UID) != peer:
		return fmt.Sprintf("account %q is not the peer's own (uid %d); only a peer that runs as root can change to it",
			a.Name, peer)
	}
	return ""
}

// accountCacheTime is how long an answer about an account is good. Directory
// services are slow, and many jobs come from few accounts.
const accountCacheTime = time.Minute

// Accounts looks accounts up and keeps the answers for a minute. The zero value is
// ready for use, by any number of goroutines.
type Accounts struct {
	mu   sync.Mutex
	kept map[string]keptAccount
}

type keptAccount struct {
	account Account
	until   time.Time
}

// Runnable is the account of that name if jobs may run as it here. Its groups are
// not asked for. The error is a *[localsched.RefusedError] when no job may.
func (a *Accounts) Runnable(ctx context.Context, name string) (Account, error) {
	found, err := a.get(ctx, name)
	if errors.Is(err, passwd.ErrUnknown) {
		return Account{}, &localsched.RefusedError{Reason: fmt.Sprintf("account %q: %v", name, err)}
	}
	if err != nil {
		return Account{}, err
	}
	if reason := found.Forbidden(os.Geteuid()); reason != "" {
		return Account{}, &localsched.RefusedError{Reason: reason}
	}
	return found, nil
}

// RunnableWithGroups is [Accounts.Runnable] with the account's groups, for a
// scheduler that changes to the account itself. Groups that cannot be looked up now are an
// error that passes: the account may have them.
func (a *Accounts) RunnableWithGroups(ctx context.Context, name string) (Account, error) {
	found, err := a.Runnable(ctx, name)
	if err != nil || len(found.Groups) > 0 {
		return found, err
	}
	groups, err := passwd.Groups(ctx, passwd.Entry{Name: found.Name})
	if err != nil {
		return Account{}, err
	}
	found.Groups = groups
	a.keep(found)
	return found, nil
}

func (a *Accounts) get(ctx context.Context, name string) (Account, error) {
	a.mu.Lock()
	known, ok := a.kept[name]
	a.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.account, nil
	}
	entry, err := passwd.ByName(ctx, name)
	if err != nil {
		return Account{}, err
	}
	found := Account{Name: entry.Name, UID: entry.UID, GID: entry.GID, Home: entry.Home, Shell: entry.Shell}
	a.keep(found)
	return found, nil
}

func (a *Accounts) keep(found Account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil {
		a.kept = map[string]keptAccount{}
	}
	a.kept[found.Name] = keptAccount{found, time.Now().Add(accountCacheTime)}
}
