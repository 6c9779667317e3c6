package peer_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestPhasesChangeByMovesAlone looks for an assignment to a phase in this package: it would go
// around the tables of peer/row.
func TestPhasesChangeByMovesAlone(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			assign, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for _, left := range assign.Lhs {
				if sel, ok := left.(*ast.SelectorExpr); ok && sel.Sel.Name == "Phase" {
					t.Errorf("%v: a phase is assigned; use Peer.moveJob, moveGuest or moveRun", set.Position(left.Pos()))
				}
			}
			return true
		})
	}
}

// TestAFaultStopsThePeer: rows that a step leaves as no rows can be are not made durable, nothing
// of the step is sent or shown, and the peer goes no further.
func TestAFaultStopsThePeer(t *testing.T) {
	t.Parallel()
	id := protocol.NewJobID(1, 7)
	spec := protocol.Spec{Request: protocol.Request{Job: id, CPUs: 1, WallTime: protocol.Hour}, Name: "one", User: "ada"}
	job := row.Job{Spec: spec, Phase: row.JobCommittedLocal, Epoch: 1, Site: "a", CommittedAt: 1, State: protocol.Pending}
	other := job
	other.Site = "" // no step leaves a placed job so
	queued := job
	queued.Phase, queued.Site, queued.CommittedAt = row.JobInGridQueue, "", 0
	run := row.Run{Tag: protocol.Tag{Job: id, Epoch: 1}, Phase: row.RunQueued, Local: "l", Since: 1}
	for name, tt := range map[string]struct {
		job  row.Job
		says string
	}{
		"a row that cannot be":         {other, "it has no site"},
		"rows that do not go together": {queued, "its run at this site: true"},
	} {
		key := row.JobKey(id)
		p, err := peer.New(goodConfig(), 1, []row.Record{
			{Table: row.SiteTable, Key: "site", Row: row.Site{FirstStart: 1, Incarnation: 1, FirstSeq: 7, NextSeq: 8}},
			{Table: row.PayloadTable, Key: key, Row: row.Payload{Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")}}},
			{Table: row.JobTable, Key: key, Row: tt.job},
			{Table: row.RunTable, Key: key + ".1", Row: run},
		})
		if err != nil {
			t.Fatal(err)
		}
		now := peertest.Epoch
		ready := p.Step(now, event.Tick{})
		watch := event.CallID(0)
		for _, call := range ready.Calls {
			if _, ok := call.Op.(event.WatchOp); ok {
				watch = call.ID
			}
		}
		waits := localsched.Change{Tag: run.Tag, State: protocol.Pending, Reason: "PartitionDown"}
		ready = p.Step(now, event.CallDone{ID: watch, Result: event.WatchResult{Watched: localsched.Watched{Changes: []localsched.Change{waits}, Cursor: "1"}}})
		if ready.Fault == nil || !strings.Contains(ready.Fault.Error(), tt.says) || !strings.Contains(ready.Fault.Error(), id.String()) {
			t.Errorf("%s: the fault is %v", name, ready.Fault)
		}
		if len(ready.Records)+len(ready.Messages)+len(ready.Calls)+len(ready.LogEvents)+len(ready.Answers) > 0 || ready.Wake != 0 || ready.Digest != nil {
			t.Errorf("%s: a step that breaks a rule brings %+v", name, ready)
		}
		if again := p.Step(now, event.AskQueue{Asked: 1}); again.Fault == nil || len(again.Answers) > 0 {
			t.Errorf("%s: the peer goes on: %+v", name, again)
		}
	}
}
