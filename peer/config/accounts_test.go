package config

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
)

// TestDirectoryServiceIsAway: a configuration whose accounts cannot be looked up is read all the same, in the time for
// all of them, with a warning for each place; each is asked about once.
func TestDirectoryServiceIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]int{}
		began := time.Now()
		r := newChecker()
		r.uidOf = (&lookUps{byName: func(ctx context.Context, name string) (passwd.Entry, error) {
			asked[name]++
			<-ctx.Done()
			return passwd.Entry{}, errors.New("no answer")
		}, within: time.Minute}).uid
		r.Text("site.toml", ".", `
			[site]
			name = "north"
			number = 1
			[accounts]
			local = { ada = "a", bob = "b", eve = "a", joe = "c" }
		`)
		c, err := r.finish()
		if err != nil {
			t.Fatal(err)
		}
		warned := 0
		for _, line := range c.Warnings {
			if strings.Contains(line.String(), "cannot be looked up now: no answer") {
				warned++
			}
		}
		if warned != 4 || len(asked) != 3 || asked["a"] != 1 || time.Since(began) != time.Minute {
			t.Errorf("after %v, asked %v, warned %v", time.Since(began), asked, c.Warnings)
		}
	})
}

// TestRootByAnotherName: whom the configuration maps to user 0 is refused, whatever the
// account is called.
func TestRootByAnotherName(t *testing.T) {
	t.Parallel()
	r := newChecker()
	r.uidOf = func(account string) (uint32, error) {
		uid, known := map[string]uint32{"toor": 0, "grid": 1000}[account]
		if !known {
			return 0, passwd.ErrUnknown
		}
		return uid, nil
	}
	r.Text("site.toml", ".", `
		[site]
		name = "north"
		number = 1
		[accounts]
		local = { eve = "toor", ada = "grid" }
		[[partner]]
		name = "south"
		public_key = "UB3AOV7WTGXIUCE46224XH5OQQN3QCFCZVLDIPKZHTRYU3HWK27LJZZQ"
		max_jobs = 1
		users = { mallory = "toor", "*" = "grid", "al\u200bice" = "absent" }
	`)
	_, err := r.finish()
	if err == nil {
		t.Fatal("it is taken")
	}
	for _, want := range []string{
		`accounts.local.eve: is mapped to "toor", which has user ID 0 (root), but no job may run as root`,
		`users.mallory: is mapped to "toor", which has user ID 0 (root)`,
		`the character U+200B (byte 3) cannot be seen`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	if n := strings.Count(err.Error(), "\n"); n != 2 {
		t.Errorf("%d problems:\n%v", n+1, err)
	}
}
