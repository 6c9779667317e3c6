package accounts_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/accounts"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func tables() accounts.Tables {
	return accounts.Tables{
		SameNames: true,
		Local:     map[string]string{"root": "nobody", "carol": "c4711", "toor": "root", "void": ""},
		Guests: map[protocol.SiteName]map[string]string{
			"south": {"alice": "guest1", "*": "gridguest", "mallory": "root"},
			"west":  {"alice": "guest2"},
			"east":  nil,
		},
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	unmapped, listed, own := tables(), tables(), tables()
	unmapped.Local = nil
	listed.SameNames = false
	own.Own = "carol"
	cases := map[string]struct {
		tables accounts.Tables
		user   string
		want   string
		denied string // part of the reason
	}{
		"same name":                       {tables(), "alice", "alice", ""},
		"mapped":                          {tables(), "carol", "c4711", ""},
		"root mapped":                     {tables(), "root", "nobody", ""},
		"root not mapped":                 {unmapped, "root", "", `local = { root = "nobody" }`},
		"mapped to root":                  {tables(), "toor", "", "no job runs as root"},
		"mapped to nothing":               {tables(), "void", "", "[accounts] local"},
		"no user":                         {tables(), "", "", "no user"},
		"listed, and there":               {listed, "carol", "c4711", ""},
		"listed, not there":               {listed, "alice", "", `add { "alice" = "account" } to [accounts] local`},
		"unprivileged, own account":       {accounts.Tables{Own: "alice", SameNames: true}, "alice", "alice", ""},
		"unprivileged, another account":   {accounts.Tables{Own: "bob", SameNames: true}, "alice", "", "start the peer as root"},
		"unprivileged, mapped to another": {own, "carol", "", `account "c4711"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := accounts.New(c.tables).Local(c.user)
			check(t, got, err, c.want, c.denied)
		})
	}
}

func TestGuest(t *testing.T) {
	t.Parallel()
	own := tables()
	own.Own = "guest2"
	cases := map[string]struct {
		tables accounts.Tables
		site   protocol.SiteName
		user   string
		want   string
		denied string
	}{
		"named":                          {tables(), "south", "alice", "guest1", ""},
		"anyone":                         {tables(), "south", "bob", "gridguest", ""},
		"root of a partner is like any":  {tables(), "south", "root", "gridguest", ""},
		"named before anyone":            {tables(), "south", "mallory", "", "no job runs as root"},
		"deny by default":                {tables(), "west", "bob", "", `add { "bob" = "account" } to the users of [[partner]] west`},
		"no table":                       {tables(), "east", "alice", "", "[[partner]] east"},
		"no user":                        {tables(), "south", "", "", "may run no jobs"},
		"a stranger":                     {tables(), "north", "alice", "", "no partner"},
		"unprivileged, the own account":  {own, "west", "alice", "guest2", ""},
		"unprivileged, another account":  {own, "south", "alice", "", `map to "guest2" in the users of [[partner]] south`},
		"same names do not hold for all": {accounts.Tables{SameNames: true}, "south", "alice", "", "no partner"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := accounts.New(c.tables).Guest(c.site, c.user)
			check(t, got, err, c.want, c.denied)
		})
	}
}

func check(t *testing.T, got string, err error, want, denied string) {
	t.Helper()
	if denied == "" {
		if err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
		return
	}
	var reason *accounts.DeniedError
	if got != "" || !errors.As(err, &reason) || !strings.Contains(reason.Reason, denied) {
		t.Errorf("got %q, %v; want a denial with %q", got, err, denied)
	}
}

// Whatever the tables say, nobody gets root, an unprivileged peer's jobs all run
// as its own account, and a guest gets only what stands in the partner's table.
func TestNoUserGetsMoreThanTheTables(t *testing.T) {
	t.Parallel()
	name := rapid.SampledFrom([]string{"", "root", "alice", "bob", "*", "guest"})
	table := rapid.MapOf(name, name)
	rapid.Check(t, func(t *rapid.T) {
		in := accounts.Tables{
			Own:       rapid.SampledFrom([]string{"", "alice"}).Draw(t, "own"),
			SameNames: rapid.Bool().Draw(t, "same"),
			Local:     table.Draw(t, "local"),
			Guests:    map[protocol.SiteName]map[string]string{"south": table.Draw(t, "south")},
		}
		user := name.Draw(t, "user")
		local, localErr := accounts.New(in).Local(user)
		guest, guestErr := accounts.New(in).Guest("south", user)
		for account, err := range map[*string]error{&local: localErr, &guest: guestErr} {
			if err == nil && (*account == "" || *account == "root" || (in.Own != "" && *account != in.Own)) {
				t.Fatalf("user %q runs as %q", user, *account)
			}
		}
		if south := in.Guests["south"]; guestErr == nil && guest != south[user] && guest != south["*"] {
			t.Fatalf("guest %q runs as %q, which stands nowhere", user, guest)
		}
	})
}
