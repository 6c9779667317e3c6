package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
)

// account is a local account as a job needs it.
type account struct {
	Name   string   `json:"name"`
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups"` // all of them
	Home   string   `json:"home"`
	Shell  string   `json:"shell"`
}

// errNoAccount says that the machine knows no such account.
var errNoAccount = errors.New("this machine has no such account")

// accountsKept is how long an answer about an account is good. Directory
// services are slow, and many jobs come from few accounts.
const accountsKept = time.Minute

// accounts looks accounts up and keeps the answers for a while.
type accounts struct {
	mu   sync.Mutex
	kept map[string]keptAccount
}

type keptAccount struct {
	account account
	until   time.Time
}

// runnable is the account of that name if jobs may run as it here. The error is
// a *[localsched.RefusedError] when they may not.
func (a *accounts) runnable(ctx context.Context, name string) (account, error) {
	found, err := a.get(ctx, name)
	if errors.Is(err, errNoAccount) {
		return account{}, &localsched.RefusedError{Reason: fmt.Sprintf("account %q: %v", name, errNoAccount)}
	}
	if err != nil {
		return account{}, err
	}
	if reason := forbidden(found, os.Geteuid()); reason != "" {
		return account{}, &localsched.RefusedError{Reason: reason}
	}
	return found, nil
}

// forbidden is why a peer with this uid must not run jobs as the account; empty
// when it may.
func forbidden(a account, peer int) (reason string) {
	switch {
	case a.UID == 0:
		return fmt.Sprintf("account %q has uid 0; map the user to another account", a.Name)
	case peer != 0 && int(a.UID) != peer:
		return fmt.Sprintf("account %q is not the peer's own (uid %d); only a peer that runs as root can change to it",
			a.Name, peer)
	}
	return ""
}

func (a *accounts) get(ctx context.Context, name string) (account, error) {
	a.mu.Lock()
	known, ok := a.kept[name]
	a.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.account, nil
	}
	found, err := lookUp(ctx, name)
	if err != nil {
		return account{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil {
		a.kept = map[string]keptAccount{}
	}
	a.kept[name] = keptAccount{found, time.Now().Add(accountsKept)}
	return found, nil
}

// lookUp asks the machine about an account: first its own file, then, through
// getent, whatever directory service it is set up for. A static binary cannot ask
// that by itself.
func lookUp(ctx context.Context, name string) (account, error) {
	if name == "" || strings.ContainsAny(name, ":\n\x00") || name[0] == '-' {
		return account{}, errNoAccount
	}
	file, err := os.ReadFile("/etc/passwd")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return account{}, fmt.Errorf("account %q: %w", name, err)
	}
	found, ok := findPasswd(string(file), name)
	if !ok {
		found, ok, err = askDirectory(ctx, name)
	}
	if err != nil {
		return account{}, fmt.Errorf("account %q: %w", name, err)
	}
	if !ok {
		return account{}, errNoAccount
	}
	found.Groups = groupsOf(ctx, found)
	return found, nil
}

// askDirectory asks getent, whose exit code 2 means that there is no such
// account.
func askDirectory(ctx context.Context, name string) (found account, ok bool, err error) {
	out, err := exec.CommandContext(ctx, "getent", "passwd", name).Output() //nolint:gosec // not a shell; the name is no option
	if code := new(exec.ExitError); errors.As(err, &code) && code.ExitCode() == 2 || errors.Is(err, exec.ErrNotFound) {
		return account{}, false, nil
	}
	if err != nil {
		return account{}, false, fmt.Errorf("ask getent: %w", err)
	}
	found, ok = findPasswd(string(out), name)
	return found, ok, nil
}

// findPasswd finds an account in the format of passwd(5). Lines that are not in
// that format are passed over.
func findPasswd(lines, name string) (account, bool) {
	for line := range strings.Lines(lines) {
		f := strings.Split(strings.TrimRight(line, "\n"), ":")
		if f[0] != name || len(f) != 7 {
			continue
		}
		uid, err := strconv.ParseUint(f[2], 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(f[3], 10, 32)
		if err != nil {
			continue
		}
		return account{Name: name, UID: uint32(uid), GID: uint32(gid), Home: f[5], Shell: f[6]}, true
	}
	return account{}, false
}

// groupsOf lists the account's groups. Without a usable answer it is the primary
// one alone, which never gives a job too much.
func groupsOf(ctx context.Context, a account) []uint32 {
	out, err := exec.CommandContext(ctx, "id", "-G", a.Name).Output() //nolint:gosec // not a shell; the name is no option
	if err != nil {
		return []uint32{a.GID}
	}
	var groups []uint32
	for word := range strings.FieldsSeq(string(out)) {
		gid, err := strconv.ParseUint(word, 10, 32)
		if err != nil {
			return []uint32{a.GID}
		}
		groups = append(groups, uint32(gid))
	}
	return groups
}
