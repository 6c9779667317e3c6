package display_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// The note of a site whose load cannot be known, or whose link is down, says where the reason is.
func TestNotesOfTrouble(t *testing.T) {
	t.Parallel()
	rules := api.Rules{Initiation: "sender", Policy: "tc", LocalPolicy: "easy"}
	for _, c := range []struct {
		site view.Site
		grid display.Grid
		want string
	}{
		{
			view.Site{Self: true, Link: "self"},
			display.Grid{Rules: rules, Gossip: true},
			"initiation sender, policy tc, local queue easy",
		},
		{
			view.Site{Self: true, Link: "self"},
			display.Grid{Rules: rules, Gossip: true, GossipAlone: true},
			"initiation sender, policy tc, local queue easy; no member of the gossip answers (switchyard doctor says what to look at)",
		},
		{view.Site{Link: "down"}, display.Grid{Gossip: true}, "see switchyard doctor"},
		{view.Site{Link: "down", Reason: "its key is another"}, display.Grid{Gossip: true}, "its key is another"},
		{view.Site{Link: "up"}, display.Grid{Gossip: true}, ""},
	} {
		if got := display.SiteNote(c.site, c.grid); got != c.want {
			t.Errorf("%+v: %q, want %q", c.site, got, c.want)
		}
	}
}
