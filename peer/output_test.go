package peer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestWhoMayFetchOutput: a partner may fetch what its job of this epoch has left here, and what
// a job of its own left that no row knows. Anything else is not here, which ends the job at its
// origin: while these rows may be old, that is not said.
func TestWhoMayFetchOutput(t *testing.T) {
	t.Parallel()
	owned, prepared, closed, aside := protocol.Tag{Job: protocol.NewJobID(2, 1), Epoch: 3},
		protocol.Tag{Job: protocol.NewJobID(2, 2), Epoch: 3}, protocol.Tag{Job: protocol.NewJobID(2, 3), Epoch: 3},
		protocol.Tag{Job: protocol.NewJobID(2, 4), Epoch: 3}
	earlier := protocol.Tag{Job: owned.Job, Epoch: 2}
	type question struct {
		from protocol.SiteName
		tag  protocol.Tag
	}
	here := []question{{"b", owned}, {"b", aside}}
	notHere := []question{{"c", owned}, {"b", earlier}, {"b", prepared}, {"b", closed}, {"c", aside}, {"c", closed}, {"z", aside}}
	for name, tt := range map[string]struct {
		site  row.Site
		later view.RefusalCode // of what is not here
	}{
		"as ever":     {row.Site{Boot: 3}, view.NotFound},
		"in recovery": {row.Site{Boot: 3, Recovery: "it is old"}, view.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := row.Rows{}
			tt.site.FirstStart, tt.site.Incarnation, tt.site.FirstSeq, tt.site.NextSeq = 1, 1, 1, 2
			rows.Commit(row.Record{Table: row.SiteTable, Key: "site", Row: tt.site})
			for tag, phase := range map[protocol.Tag]row.GuestPhase{
				owned: row.GuestAccepted, prepared: row.GuestPrepared, closed: row.GuestClosed,
			} {
				key := fmt.Sprintf("%016d", uint64(tag.Job))
				rows.Commit(row.Record{Table: row.GuestTable, Key: key, Row: row.Guest{
					Spec:   protocol.Spec{Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: protocol.Hour}, User: "ada"},
					Origin: "b", Epoch: tag.Epoch, Phase: phase, Since: peertest.Epoch,
				}})
			}
			c := newCards(t, rows)
			c.show("b", 2, 1)
			c.show("c", 3, 1)
			c.now = c.now.Add(protocol.Minute) // it has listened
			c.step(event.Tick{})
			if code := c.mayFetch("b", aside); code != tt.later {
				t.Errorf("before the batch system has said that it has it: %q", code)
			}
			for _, call := range c.first.Calls {
				if _, watch := call.Op.(event.WatchOp); watch {
					c.step(event.CallDone{ID: call.ID, Result: event.WatchResult{Watched: localsched.Watched{
						Changes: []localsched.Change{{Tag: aside, State: protocol.Completed}}, Cursor: "1",
					}}})
				}
			}
			for _, q := range here {
				if code := c.mayFetch(q.from, q.tag); code != "" {
					t.Errorf("%s may not fetch %v: %s", q.from, q.tag, code)
				}
			}
			for _, q := range notHere {
				if code := c.mayFetch(q.from, q.tag); code != tt.later {
					t.Errorf("%s asks for %v: %q, want %s", q.from, q.tag, code, tt.later)
				}
			}
		})
	}
}

// mayFetch is the code of the refusal; empty: the partner may fetch the output.
func (c *cards) mayFetch(from protocol.SiteName, tag protocol.Tag) view.RefusalCode {
	c.t.Helper()
	switch reply := c.ask(event.AskOutput{Asked: 1, From: from, Tag: tag}).(type) {
	case view.Done:
		return ""
	case view.Refusal:
		return reply.Code
	default:
		c.t.Fatalf("answered %+v", reply)
	}
	return ""
}

// TestFilesThatComeBack: an archive that is too large here leaves the other output to come, and a job whose files are
// not where they are wanted has failed. One whose stdout alone is not has not.
func TestFilesThatComeBack(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		most   int64 // bytes of an archive, at the origin
		user   string
		state  protocol.State
		reason string
		left   []string // files that are not where they are wanted
	}{
		"all come":           {peertest.StageOutBytes, "ada", protocol.Completed, "", nil},
		"too large":          {peertest.StageOutBytes - 1, "ada", protocol.Failed, "100 bytes, more than the 99", []string{"stage-out"}},
		"not written":        {peertest.StageOutBytes, "readonly", protocol.Failed, "output not written", []string{"stdout", "stage-out"}},
		"stdout not written": {peertest.StageOutBytes, "readonly-stdout", protocol.Completed, "output not written", []string{"stdout"}},
		"neither":            {peertest.StageOutBytes - 1, "readonly-stdout", protocol.Failed, "output not written: permission denied; it is kept in /kept/stdout; output not brought from b", []string{"stdout", "stage-out"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := peertest.New(peertest.Options{Seed: 1, Faults: gentle(), Sites: []peertest.SiteOptions{
				{Name: "a", Capacity: protocol.Capacity{CPUs: 1, Nodes: 1}, Config: func(c *rules.Config) { c.MaxStaging = tt.most }},
				{Name: "b", Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}, Config: func(c *rules.Config) { c.MaxStaging = 1000 }},
			}})
			if err != nil {
				t.Fatal(err)
			}
			collected := false
			w.Journal = func(line string) { collected = collected || strings.Contains(line, "call collect") }
			job := twoCPUs(protocol.Second)
			job.Payload.Staging = &protocol.Staging{Out: []string{"."}}
			w.Submit("a", tt.user, "", job)
			w.Advance(2 * protocol.Minute)
			ended := w.Site("a").Finished()
			if len(ended) != 1 || ended[0].State != tt.state || !strings.Contains(ended[0].Reason, tt.reason) || (tt.reason == "") != (ended[0].Reason == "") {
				t.Errorf("%+v", ended)
			}
			var left []string
			for _, file := range ended[0].Undelivered {
				left = append(left, file.File)
			}
			if !slices.Equal(left, tt.left) {
				t.Errorf("%q are not where they are wanted, want %q", left, tt.left)
			}
			if !collected {
				t.Error("nothing was collected")
			}
		})
	}
}

// TestResultsOfAUserWait: results of jobs of one user that are too many at once come home one after the other, those of others
// meanwhile.
func TestResultsOfAUserWait(t *testing.T) {
	t.Parallel()
	rows := row.Rows{}
	rows.Commit(row.Record{Table: row.SiteTable, Key: "site", Row: row.Site{Boot: 3, FirstStart: 1, Incarnation: 1, FirstSeq: 1, NextSeq: 4}})
	for seq, user := range []string{"ada", "ada", "bob"} {
		id := protocol.NewJobID(1, uint64(seq)+1)
		key := fmt.Sprintf("%016d", uint64(id))
		rows.Commit(row.Record{Table: row.JobTable, Key: key, Row: row.Job{
			Spec:  protocol.Spec{Request: protocol.Request{Job: id, CPUs: 1, WallTime: protocol.Hour}, User: user, StageOut: true},
			Phase: row.JobStagingOut, State: protocol.Running, Site: "b", Epoch: 1,
			Outcome: &protocol.Outcome{State: protocol.Completed, Files: []protocol.File{{Stream: protocol.StageOutArchive, Size: 60}}},
		}})
		rows.Commit(row.Record{Table: row.PayloadTable, Key: key, Row: row.Payload{Payload: &protocol.Payload{
			Script: []byte("#!/bin/sh\n"), Staging: &protocol.Staging{Out: []string{"."}},
		}}})
	}
	cfg := goodConfig()
	cfg.MaxStaging, cfg.MaxUserStaging = 100, 100
	c := newCardsOf(t, cfg, rows)
	calls := map[uint64]event.CallID{} // that bring results home, by job
	note := func(ready event.Ready) {
		for _, call := range ready.Calls {
			if op, collects := call.Op.(event.CollectOp); collects {
				calls[op.Tag.Job.Seq()] = call.ID
			}
		}
	}
	pass := func() {
		for range 10 {
			c.now = c.now.Add(protocol.Minute)
			note(c.step(event.Tick{}))
		}
	}
	note(c.first)
	pass()
	if len(calls) != 2 || calls[1] == 0 || calls[3] == 0 {
		t.Fatalf("results are brought home of %v", calls)
	}
	waits, _ := c.ask(event.AskJob{Asked: 1, Job: protocol.NewJobID(1, 2)}).(view.Job)
	if !strings.Contains(waits.Reason, "60 bytes of its user's files are on their way: at most 100 may be at once ([staging] max_user_bytes)") {
		t.Errorf("the other waits with %q", waits.Reason)
	}
	note(c.step(event.CallDone{ID: calls[1], Result: event.CollectResult{}}))
	pass()
	if calls[2] == 0 {
		t.Errorf("results are brought home of %v", calls)
	}
}
