package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// errNoAccount says that the machine knows no such account.
var errNoAccount = errors.New("this machine has no such account")

// CheckAccount says why no job can run as the account of a name, in the machine's opinion.
func CheckAccount(ctx context.Context, name string) error {
	_, err := lookUp(ctx, name)
	return err
}

// lookUp asks the machine about an account: first its own file, then, through
// getent, whatever directory service it is set up for. A static binary cannot ask
// that by itself.
func lookUp(ctx context.Context, name string) (Account, error) {
	if name == "" || strings.ContainsAny(name, ":\n\x00") || name[0] == '-' {
		return Account{}, errNoAccount
	}
	file, err := os.ReadFile("/etc/passwd")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Account{}, fmt.Errorf("account %q: %w", name, err)
	}
	found, ok := findPasswd(string(file), name)
	if !ok {
		found, ok, err = askDirectory(ctx, name)
	}
	if err != nil {
		return Account{}, fmt.Errorf("account %q: %w", name, err)
	}
	if !ok {
		return Account{}, errNoAccount
	}
	return found, nil
}

// askDirectory asks getent.
func askDirectory(ctx context.Context, name string) (found Account, ok bool, err error) {
	const noSuchKey = 2
	out, err := exec.CommandContext(ctx, "getent", "passwd", name).Output() //nolint:gosec // not a shell; the name is no option
	if code, exited := errors.AsType[*exec.ExitError](err); exited && code.ExitCode() == noSuchKey || errors.Is(err, exec.ErrNotFound) {
		return Account{}, false, nil
	}
	if err != nil {
		return Account{}, false, fmt.Errorf("ask getent: %w", err)
	}
	found, ok = findPasswd(string(out), name)
	return found, ok, nil
}

// findPasswd finds an account in the format of passwd(5). Lines that are not in
// that format are passed over.
func findPasswd(lines, name string) (Account, bool) {
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
		return Account{Name: name, UID: uint32(uid), GID: uint32(gid), Home: f[5], Shell: f[6]}, true
	}
	return Account{}, false
}

// groupsOf lists the account's groups. Without a usable answer it is the primary
// one alone, which never gives a job too much.
func groupsOf(ctx context.Context, a Account) []uint32 {
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
