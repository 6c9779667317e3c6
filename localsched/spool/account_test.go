package spool_test

import (
	"errors"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/spool"
)

func TestForbidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		uid  uint32
		peer int
		ok   bool
	}{{0, 0, false}, {0, 1000, false}, {1000, 0, true}, {1000, 1000, true}, {1000, 1001, false}} {
		if got := (spool.Account{Name: "a", UID: c.uid}).Forbidden(c.peer); (got == "") != c.ok {
			t.Errorf("a peer with uid %d and uid %d: %q", c.peer, c.uid, got)
		}
	}
}

func TestRunnable(t *testing.T) {
	t.Parallel()
	want, err := user.LookupId(strconv.Itoa(int(me().UID)))
	if err != nil {
		t.Skip("the account that runs the tests has no name:", err)
	}
	groups, err := want.GroupIds()
	if err != nil {
		t.Fatal(err)
	}
	var accounts spool.Accounts
	for range 2 { // looked up, then kept
		got, err := accounts.Runnable(t.Context(), want.Username)
		if err != nil || got.UID != me().UID || got.Home != want.HomeDir || len(got.Groups) > 0 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	for range 2 {
		got, err := accounts.RunnableWithGroups(t.Context(), want.Username)
		if err != nil || got.UID != me().UID || len(got.Groups) != len(groups) {
			t.Errorf("%+v, %v", got, err)
		}
		for _, gid := range got.Groups {
			if !slices.Contains(groups, strconv.Itoa(int(gid))) {
				t.Errorf("it is not in the group %d", gid)
			}
		}
	}
}

func TestNotRunnable(t *testing.T) {
	t.Parallel()
	var accounts spool.Accounts
	cases := map[string]string{
		"root": "uid 0", "no-such-account": "no such account", "": "no such account", "--help": "no such account",
		"root:x": "no such account", "a\nb": "no such account",
	}
	if os.Geteuid() != 0 {
		cases["daemon"] = "only a peer that runs as root"
	}
	for name, reason := range cases {
		_, err := accounts.RunnableWithGroups(t.Context(), name)
		if refused, ok := errors.AsType[*localsched.RefusedError](err); !ok || !strings.Contains(refused.Reason, reason) {
			t.Errorf("%q: %v does not say %q", name, err, reason)
		}
	}
}

func FuzzFindPasswd(f *testing.F) {
	f.Add("root:x:0:0:root:/root:/bin/bash\nbob:x:7:8:Bob,,:/home/bob:/bin/sh\n", "bob")
	f.Add("bob:x:-1:0::/:\nbob:x:4294967296:0::/:\nbob\n", "bob")
	f.Add("\n\n:::", "")
	f.Fuzz(func(t *testing.T, lines, name string) {
		found, ok := spool.FindPasswd(lines, name)
		if ok && (found.Name != name || !strings.Contains(lines, name)) {
			t.Errorf("asked for %q, found %+v", name, found)
		}
	})
}
