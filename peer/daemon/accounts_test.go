package daemon

import (
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/config"
)

// Accounts that this machine lacks can run no job, and nor can others than the peer's own where
// that is not root.
func TestAccountProblems(t *testing.T) {
	t.Parallel()
	const me = "switchyard"
	cfg := &config.Config{Partners: []config.Partner{{Name: "south", Users: map[string]string{"*": "griduser", "bob": me, "eve": "gone"}}}}
	known := func(account string) error {
		if account == "gone" {
			return errors.New("this machine has no such account")
		}
		return nil
	}
	for own, want := range map[string][]string{
		"": {`[[partner]] south: users: user "eve" is mapped to account "gone": this machine has no such account; make the account, or name another one`},
		me: {
			`[[partner]] south: users: every other user is mapped to account "griduser", and a peer of ` + me + " can start jobs only as " + me +
				`; start the peer as root, or map to "` + me + `"`,
			`[[partner]] south: users: user "eve" is mapped to account "gone": this machine has no such account; make the account, or name another one`,
		},
	} {
		if got := accountProblems(cfg, own, known); !slices.Equal(got, want) {
			t.Errorf("%q: got %q", own, got)
		}
	}
}
