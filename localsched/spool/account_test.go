package spool_test

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
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

// TestGroupsThatCannotBeLookedUp: an account whose groups nobody says now is neither refused nor taken with
// fewer groups, and its groups are asked for again.
func TestGroupsThatCannotBeLookedUp(t *testing.T) {
	me, err := user.LookupId(strconv.Itoa(int(me().UID)))
	if err != nil {
		t.Skip("the account that runs the tests has no name:", err)
	}
	dir := t.TempDir()
	once := "#!/bin/sh\nif [ -e " + dir + "/asked ]; then echo 7 8 9; else : >" + dir + "/asked; echo no server >&2; exit 1; fi\n"
	if err = os.WriteFile(filepath.Join(dir, "id"), []byte(once), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	var accounts spool.Accounts
	got, err := accounts.RunnableWithGroups(t.Context(), me.Username)
	if _, refused := errors.AsType[*localsched.RefusedError](err); refused || err == nil || !strings.Contains(err.Error(), "no server") {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = accounts.RunnableWithGroups(t.Context(), me.Username)
	if err != nil || !slices.Equal(got.Groups, []uint32{7, 8, 9}) {
		t.Errorf("%+v, %v", got, err)
	}
}
