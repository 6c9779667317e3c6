// Package passwd looks up users and groups of this machine as the system knows them: users in /etc/passwd,
// else by getent, whatever directory service that is set up for (LDAP, SSSD), and groups by id. A static
// binary cannot ask a directory service by itself, and os/user then sees the files in /etc alone.
package passwd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// ErrUnknown says that the machine knows no such user. With any other error it may know the user, and
// the question may be asked again.
var ErrUnknown = errors.New("this machine has no such account")

// maxWait bounds one question to a directory service.
const maxWait = 30 * time.Second

// Entry is a user in the format of passwd(5).
type Entry struct {
	Name     string
	UID, GID uint32
	Home     string
	Shell    string
}

// ByName is the user of a name.
func ByName(ctx context.Context, name string) (Entry, error) {
	if name == "" || strings.ContainsAny(name, ":\n\x00") || name[0] == '-' {
		return Entry{}, ErrUnknown
	}
	found, err := find(ctx, name, func(e *Entry) bool { return e.Name == name })
	if err != nil && !errors.Is(err, ErrUnknown) {
		return Entry{}, fmt.Errorf("account %q: %w", name, err)
	}
	return found, err
}

// ByUID is the user of a number; of several the first.
func ByUID(ctx context.Context, uid int) (Entry, error) {
	found, err := find(ctx, strconv.Itoa(uid), func(e *Entry) bool { return int(e.UID) == uid })
	if err != nil && !errors.Is(err, ErrUnknown) {
		return Entry{}, fmt.Errorf("user id %d: %w", uid, err)
	}
	return found, err
}

// find asks the machine's own file first, then getent.
func find(ctx context.Context, key string, fits func(*Entry) bool) (Entry, error) {
	file, err := os.ReadFile("/etc/passwd")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Entry{}, err
	}
	if found, ok := read(string(file), fits); ok {
		return found, nil
	}
	out, err := getent(ctx, "passwd", key)
	if err != nil {
		return Entry{}, err
	}
	if found, ok := read(out, fits); ok {
		return found, nil
	}
	return Entry{}, ErrUnknown
}

// getent is what getent says of a key of a database, or [ErrUnknown].
func getent(ctx context.Context, database, key string) (string, error) {
	const noSuchKey = 2
	out, err := ask(ctx, "getent", database, key)
	if code, exited := errors.AsType[*exec.ExitError](err); exited && code.ExitCode() == noSuchKey || errors.Is(err, exec.ErrNotFound) {
		return "", ErrUnknown // without getent there is nothing but the file
	}
	return out, err
}

// GroupByID is the name of the group of a number; of several the first.
func GroupByID(ctx context.Context, gid uint32) (name string, err error) {
	key := strconv.FormatUint(uint64(gid), 10)
	file, err := os.ReadFile("/etc/group")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if name = groupIn(string(file), key); name != "" {
		return name, nil
	}
	out, err := getent(ctx, "group", key)
	switch name = groupIn(out, key); {
	case err != nil && !errors.Is(err, ErrUnknown):
		return "", fmt.Errorf("group id %s: %w", key, err)
	case name == "":
		return "", ErrUnknown
	}
	return name, nil
}

// groupIn is the name of the first group of a number in the format of group(5); empty: there is none.
func groupIn(lines, gid string) string {
	for line := range strings.Lines(lines) {
		if f := strings.Split(strings.TrimRight(line, "\n"), ":"); len(f) == 4 && f[2] == gid {
			return f[0]
		}
	}
	return ""
}

// read finds the first entry that fits in the format of passwd(5). Lines that are not in that format are
// passed over.
func read(lines string, fits func(*Entry) bool) (Entry, bool) {
	for line := range strings.Lines(lines) {
		f := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(f) != 7 {
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
		e := Entry{Name: f[0], UID: uint32(uid), GID: uint32(gid), Home: f[5], Shell: f[6]}
		if fits(&e) {
			return e, true
		}
	}
	return Entry{}, false
}

// Groups are the numbers of all groups of a user, the primary one first. A failure is an error and never
// a smaller list: a job would run without the rights that its user has.
func Groups(ctx context.Context, user Entry) ([]uint32, error) {
	out, err := ask(ctx, "id", "-G", user.Name)
	if err != nil {
		return nil, fmt.Errorf("groups of account %q: %w", user.Name, err)
	}
	var groups []uint32
	for word := range strings.FieldsSeq(out) {
		gid, err := strconv.ParseUint(word, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("groups of account %q: `id -G` said %.200q, which is not a list of numbers", user.Name, out)
		}
		groups = append(groups, uint32(gid))
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("groups of account %q: `id -G` said nothing", user.Name)
	}
	return groups, nil
}

// ask is the output of a command about users.
func ask(ctx context.Context, command string, args ...string) (string, error) {
	limited, stop := context.WithTimeout(ctx, maxWait)
	defer stop()
	out, err := exec.CommandContext(limited, command, args...).Output() //nolint:gosec // not a shell; a name is no option
	if err == nil {
		return string(out), nil
	}
	said := ""
	if failed, exited := errors.AsType[*exec.ExitError](err); exited {
		said = strings.TrimSpace(string(failed.Stderr))
	}
	if limited.Err() != nil && ctx.Err() == nil {
		said = cmp.Or(said, fmt.Sprintf("no answer within %v", maxWait))
	}
	if said != "" {
		return "", fmt.Errorf("`%s %s`: %w: %s", command, strings.Join(args, " "), err, said)
	}
	return "", fmt.Errorf("`%s %s`: %w", command, strings.Join(args, " "), err)
}
