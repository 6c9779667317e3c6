package passwd_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
)

// directory puts commands of the given scripts in front of the machine's own.
func directory(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// TestUsers: those of the file and those that only a directory service knows, by name and by number.
func TestUsers(t *testing.T) {
	directory(t, map[string]string{"getent": `
case "$1 $2" in
"passwd ldap-ada" | "passwd 77001") echo "ldap-ada:*:77001:77002:Ada:/ldap/ada:/bin/bash" ;;
"passwd ldap-odd") echo "ldap-odd:*:minus:1::/:" ;;
"passwd ldap-down" | "passwd 77009") echo "cannot reach the server" >&2; exit 1 ;;
*) exit 2 ;;
esac
`})
	want := passwd.Entry{Name: "ldap-ada", UID: 77001, GID: 77002, Home: "/ldap/ada", Shell: "/bin/bash"}
	if got, err := passwd.ByName(t.Context(), "ldap-ada"); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := passwd.ByUID(t.Context(), 77001); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := passwd.ByName(t.Context(), "root"); err != nil || got.UID != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := passwd.ByUID(t.Context(), 0); err != nil || got.Name != "root" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, name := range []string{"ldap-nobody", "ldap-odd", "", "--help", "root:x", "a\nb"} {
		if got, err := passwd.ByName(t.Context(), name); !errors.Is(err, passwd.ErrUnknown) {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
	if got, err := passwd.ByUID(t.Context(), 77003); !errors.Is(err, passwd.ErrUnknown) {
		t.Errorf("%+v, %v", got, err)
	}
	_, byName := passwd.ByName(t.Context(), "ldap-down")
	_, byUID := passwd.ByUID(t.Context(), 77009)
	for _, err := range []error{byName, byUID} {
		if err == nil || errors.Is(err, passwd.ErrUnknown) || !strings.Contains(err.Error(), "cannot reach the server") {
			t.Errorf("a directory that cannot be asked: %v", err)
		}
	}
}

// TestGroupNames: those of the file and those that only a directory service knows.
func TestGroupNames(t *testing.T) {
	directory(t, map[string]string{"getent": `
case "$1 $2" in
"group 77002") echo "ldap-users:*:77002:ada,bob" ;;
"group 77009") echo "cannot reach the server" >&2; exit 1 ;;
*) exit 2 ;;
esac
`})
	for gid, want := range map[uint32]string{0: "root", 77002: "ldap-users"} {
		if got, err := passwd.GroupByID(t.Context(), gid); err != nil || got != want {
			t.Errorf("%d: %q, %v", gid, got, err)
		}
	}
	if got, err := passwd.GroupByID(t.Context(), 77003); !errors.Is(err, passwd.ErrUnknown) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := passwd.GroupByID(t.Context(), 77009); err == nil || errors.Is(err, passwd.ErrUnknown) || !strings.Contains(err.Error(), "cannot reach") {
		t.Errorf("while the service is down: %v", err)
	}
}

// TestGroups: all of them or an error, never a part.
func TestGroups(t *testing.T) {
	directory(t, map[string]string{"id": `
case "$1 $2" in
"-G ada") echo 100 2000 3000 ;;
"-G half") echo 100; echo "cannot find the rest" >&2; exit 1 ;;
"-G odd") echo 100 staff ;;
esac
`})
	ada := passwd.Entry{Name: "ada", GID: 100}
	if got, err := passwd.Groups(t.Context(), ada); err != nil || !slices.Equal(got, []uint32{100, 2000, 3000}) {
		t.Errorf("%v, %v", got, err)
	}
	for name, why := range map[string]string{"half": "cannot find the rest", "odd": "not a list of numbers", "silent": "said nothing"} {
		got, err := passwd.Groups(t.Context(), passwd.Entry{Name: name, GID: 100})
		if len(got) > 0 || err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, %v; want %q", name, got, err, why)
		}
	}
}
