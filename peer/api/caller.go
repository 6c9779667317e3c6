package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// caller is who made a request: at the socket by the kernel's word, over TCP by a [pass].
type caller struct {
	user  string
	uid   int
	admin bool   // root, or the account of the peer
	pass  *pass  // nil: the caller is at the socket
	from  string // the address of one that is not
	home  string // of one that is not, and
	shell string
	err   error

	public bool // a visitor of public pages who has not signed in
}

// remote reports whether the caller may be on another machine, where the paths of this one mean nothing.
func (c *caller) remote() bool { return c.pass != nil }

// may reports whether the caller has a scope.
func (c *caller) may(scope accesstokens.Scope) bool {
	return c.pass == nil || c.pass.scopes.Has(scope)
}

// check refuses a request for which the caller lacks the scope.
func (c *caller) check(route route) error {
	switch {
	case c.public && !route.public:
		return refuse(view.Denied, "sign in to see this")
	case route.local && c.remote():
		return refuse(view.Denied, "this is answered on the machine of the peer only; use its socket")
	case !route.local && !c.may(route.scope):
		return refuse(view.Denied, "the %s has no scope %s, which this needs; it has %s", c.pass.kind, route.scope, c.pass.scopes)
	}
	return nil
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
	c, looked := caller{uid: uid, admin: managesPeer(uid), err: err}, err != nil
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

// managesPeer reports whether a user is root or the account of the peer.
func managesPeer(uid int) bool { return uid == 0 || uid == os.Geteuid() }

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
