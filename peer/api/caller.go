package api

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer"
)

// caller is who is at the other end of a connection, by the kernel's word.
type caller struct {
	user  string
	admin bool // root, or the account of the peer
	err   error
}

type callerKey struct{}

// withCaller finds out who calls, once for each connection.
func withCaller(ctx context.Context, conn net.Conn, name func(context.Context, int) (string, error)) context.Context {
	uid, err := uidOf(conn)
	who := caller{err: err}
	if err == nil {
		who.admin = uid == 0 || uid == os.Geteuid()
		who.user, who.err = name(ctx, uid)
	}
	return context.WithValue(ctx, callerKey{}, who)
}

// callerOf is who made the request.
func callerOf(ctx context.Context) (caller, error) {
	who, ok := ctx.Value(callerKey{}).(caller)
	if !ok {
		return caller{}, refuse(peer.Denied, "the peer cannot tell who calls")
	}
	if who.err != nil {
		return caller{}, refuse(peer.Denied, "the peer cannot tell who calls: %v", who.err)
	}
	return who, nil
}

// userName is the name of a user. Accounts that only the system's own libraries
// know (LDAP, SSSD) are looked up with getent.
func userName(ctx context.Context, uid int) (string, error) {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username, nil
	}
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	out, err := exec.CommandContext(ctx, "getent", "passwd", id).Output() //nolint:gosec // a number
	name, _, _ := strings.Cut(string(out), ":")
	if err != nil || name == "" {
		return "", fmt.Errorf("user id %d has no name on this machine; see `getent passwd %d`", uid, uid)
	}
	return name, nil
}
