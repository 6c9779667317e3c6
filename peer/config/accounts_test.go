package config

import (
	"strings"
	"testing"
)

// TestRootByAnotherName: whom the configuration maps to user 0 is refused, whatever the
// account is called.
func TestRootByAnotherName(t *testing.T) {
	t.Parallel()
	r := newChecker()
	r.uidOf = func(account string) (uint32, bool) {
		uid, known := map[string]uint32{"toor": 0, "grid": 1000}[account]
		return uid, known
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
