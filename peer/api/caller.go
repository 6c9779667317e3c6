package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
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
// next connection. A look-up that fails is made again by the next request.
func withCaller(ctx context.Context, conn net.Conn, b *bounds, name func(int) (string, error)) context.Context {
	uid, err := uidOf(conn)
	if err == nil && b.enter(conn, uid) {
		err = tooManyConns()
	}
	var mu sync.Mutex
	c, looked := caller{uid: uid, admin: uid == 0 || uid == os.Geteuid(), err: err}, err != nil
	who := func() caller {
		mu.Lock()
		defer mu.Unlock()
		if !looked {
			c.user, c.err = name(uid)
			looked = !errors.Is(c.err, errNoAnswer)
		}
		return c
	}
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
	if errors.Is(who.err, errNoAnswer) {
		return caller{}, refuse(view.Unavailable, "the peer cannot find out who the caller is now; try again: %v", who.err)
	}
	if who.err != nil {
		return caller{}, refuse(view.Denied, "the peer cannot identify the caller: %v", who.err)
	}
	return who, nil
}

// errNoAnswer says that the machine could not be asked who a user is.
var errNoAnswer = errors.New("look-up of users failed")

// userName is the name of a user.
func userName(uid int) (string, error) {
	found, err := passwd.ByUID(context.Background(), uid)
	switch {
	case errors.Is(err, passwd.ErrUnknown):
		return "", fmt.Errorf("user id %d has no user name on this machine; check `getent passwd %d`", uid, uid)
	case err != nil:
		return "", fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return found.Name, nil
}
