package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/view"
)

// caller is who is at the other end of a connection, by the kernel's word.
type caller struct {
	user  string
	uid   int
	admin bool // root, or the account of the peer
	err   error
}

type callerKey struct{}

// withCaller notes who calls, once for each connection. The name is found out
// with the first request, because that may take a while and this holds up the
// next connection.
func withCaller(ctx context.Context, conn net.Conn, b *bounds, name func(int) (string, error)) context.Context {
	uid, err := uidOf(conn)
	if err == nil && b.enter(conn, uid) {
		err = tooManyConns()
	}
	who := sync.OnceValue(func() caller {
		if err != nil {
			return caller{err: err}
		}
		c := caller{uid: uid, admin: uid == 0 || uid == os.Geteuid()}
		c.user, c.err = name(uid)
		return c
	})
	return context.WithValue(ctx, callerKey{}, who)
}

// callerOf is who made the request.
func callerOf(ctx context.Context) (caller, error) {
	find, ok := ctx.Value(callerKey{}).(func() caller)
	if !ok {
		return caller{}, refuse(view.Denied, "the peer cannot identify the caller")
	}
	who := find()
	if _, refused := errors.AsType[refusal](who.err); refused {
		return caller{}, who.err
	}
	if who.err != nil {
		return caller{}, refuse(view.Denied, "the peer cannot identify the caller: %v", who.err)
	}
	return who, nil
}

// userName is the name of a user. Accounts that only the system's own libraries
// know (LDAP, SSSD) are looked up with getent.
func userName(uid int) (string, error) {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username, nil
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	out, err := exec.CommandContext(ctx, "getent", "passwd", id).Output() //nolint:gosec // a number
	name, _, _ := strings.Cut(string(out), ":")
	if err != nil || name == "" {
		return "", fmt.Errorf("user id %d has no user name on this machine; check `getent passwd %d`", uid, uid)
	}
	return name, nil
}
