package peer_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestTurnEnds: the turn of a group to seek room at a site ends with its search, however that ends.
func TestTurnEnds(t *testing.T) {
	t.Parallel()
	here := []protocol.SiteName{"b"}
	for name, c := range map[string]struct {
		limit  protocol.Duration
		cancel bool // while room is sought
	}{
		"could not be done in time":        {limit: 2*protocol.Minute + 5*protocol.Second},
		"a member of several is cancelled": {limit: protocol.Never, cancel: true},
		"all start":                        {limit: protocol.Never},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := holders(t, "ab")
			limits := wanting()
			limits.MaxTime = c.limit
			asked := w.Ask("a", func(asked event.AskID) event.Event {
				return event.Submit{Asked: asked, User: "ada", Jobs: pair(1, here, here), Application: limits}
			})
			w.Advance(1)
			submitted, ok := w.Site("a").Answer(asked).(view.Submitted)
			if !ok {
				t.Fatalf("answered %+v", w.Site("a").Answer(asked))
			}
			sought := false
			w.Journal = func(line string) {
				if c.cancel && !sought && strings.Contains(line, "row job a1") && strings.Contains(line, "offered at b") {
					w.After(0, func() { w.Cancel("a", submitted.Jobs[0]) })
				}
				sought = sought || strings.Contains(line, "offered at b")
			}
			if busy := w.RunUntilQuiet(protocol.Hour); busy != "" {
				t.Fatal(busy)
			}
			if sought != (c.limit == protocol.Never) {
				t.Errorf("room was sought: %t", sought)
			}
			if left := w.Site("a").Peer().Leftovers(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
