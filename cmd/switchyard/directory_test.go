package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// TestUsersOfADirectory: users and groups that only a directory service knows are found by their numbers.
func TestUsersOfADirectory(t *testing.T) {
	dir := t.TempDir()
	script := `#!/bin/sh
case "$1 $2" in
"passwd ldap-ada" | "passwd 77001") echo "ldap-ada:*:77001:77002:Ada:/ldap/ada:/bin/bash" ;;
"group 77002") echo "ldap-users:*:77002:" ;;
*) exit 2 ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "getent"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if names, err := usersNamed(t.Context(), []string{"77001", "bob"}); err != nil || !slices.Equal(names, []string{"ldap-ada", "bob"}) {
		t.Errorf("-u 77001,bob: %q, %v", names, err)
	}
	if _, err := usersNamed(t.Context(), []string{"77003"}); err == nil {
		t.Error("-u 77003 is a user")
	}
	call := &slurmCall{app: &app{getenv: func(string) string { return "" }}, users: map[string]passwd.Entry{}, groups: map[uint32]string{}}
	for range 2 {
		if row := call.row(t.Context(), view.Job{User: "ldap-ada"}, "a1"); row.Group != "ldap-users" || row.GID != 77002 {
			t.Errorf("group %q (%d)", row.Group, row.GID)
		}
	}
}
