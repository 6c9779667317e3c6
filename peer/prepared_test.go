package peer_test

import (
	"fmt"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAPreparedGuestOfRestoredRows: by the restored rows a guest is prepared. It may have been
// granted since, and have run: then its origin gets its end and its output, which the local
// scheduler still has. Or it was given back: then its origin may offer it again.
func TestAPreparedGuestOfRestoredRows(t *testing.T) {
	t.Parallel()
	tag := protocol.Tag{Job: protocol.NewJobID(2, 1), Epoch: 3}
	again := protocol.Tag{Job: tag.Job, Epoch: 4}
	spec := protocol.Spec{Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: protocol.Hour}, User: "ada"}
	ended := localsched.Change{Tag: tag, State: protocol.Completed, Outcome: protocol.Outcome{State: protocol.Completed}}
	for name, tt := range map[string]struct {
		watched       []localsched.Change // before the operator's word
		found         localsched.Presence
		output, offer bool // may be fetched, is taken
	}{
		"it has ended":    {[]localsched.Change{ended}, localsched.Present, true, false},
		"it is there":     {nil, localsched.Present, true, false},
		"it never came":   {nil, localsched.Absent, false, true},
		"it is not clear": {nil, localsched.PresenceUnknown, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := row.Rows{}
			rows.Commit(row.Record{Table: row.SiteTable, Key: "site", Row: row.Site{
				FirstStart: 1, Incarnation: 1, FirstSeq: 1, NextSeq: 2, Boot: 3, Recovery: "it is old",
			}})
			rows.Commit(row.Record{Table: row.GuestTable, Key: fmt.Sprintf("%016d", uint64(tag.Job)), Row: row.Guest{
				Spec: spec, Origin: "b", Account: "g-ada", Epoch: tag.Epoch, Phase: row.GuestPrepared, Since: peertest.Epoch,
			}})
			c := newCards(t, rows)
			var sent []protocol.Message
			var answer func(event.Ready)
			answer = func(ready event.Ready) {
				for _, message := range ready.Messages {
					sent = append(sent, message.Body)
				}
				for _, call := range ready.Calls {
					switch call.Op.(type) { //nolint:gochecksumtype // the others are not answered
					case event.WatchOp:
						if changes := tt.watched; changes != nil {
							tt.watched = nil
							watched := localsched.Watched{Changes: changes, Cursor: "1"}
							answer(c.step(event.CallDone{ID: call.ID, Result: event.WatchResult{Watched: watched}}))
						}
					case event.LookupOp:
						answer(c.step(event.CallDone{ID: call.ID, Result: event.LookupResult{Presence: tt.found}}))
					case event.QuoteOp:
						answer(c.step(event.CallDone{ID: call.ID, Result: event.QuoteResult{Quotes: make([]protocol.Quote, 1)}}))
					case event.SubmitOp:
						t.Error("it is submitted")
					}
				}
			}
			answer(c.first)
			c.show("b", 2, 1)
			answer(c.step(event.Recover{Asked: 2, User: "root", Admin: true}))
			for range 10 {
				c.now = c.now.Add(protocol.Second)
				answer(c.step(event.Tick{}))
			}
			if got := c.mayFetch("b", tag) == ""; got != tt.output {
				t.Errorf("its output may be fetched: %t, want %t", got, tt.output)
			}
			var result, prepared bool
			answer(c.step(event.MessageIn{From: "b", Body: protocol.Offer{
				Spec: spec, Epoch: again.Epoch, Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")},
			}}))
			for _, body := range sent {
				switch m := body.(type) { //nolint:gochecksumtype // the others are not looked for
				case protocol.Result:
					result = true
				case protocol.Prepared:
					prepared = m.Tag == again
				}
			}
			if result != (name == "it has ended") || prepared != tt.offer {
				t.Errorf("its end is told: %t; it is taken again: %t; sent %+v", result, prepared, sent)
			}
		})
	}
}
