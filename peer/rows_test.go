package peer_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/predict/gamma"
	"github.com/switchyard-hpc/switchyard/localsched/fairshare"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// fullRows has one row of each table with every field set.
func fullRows() map[row.Table]row.Row {
	spec := protocol.Spec{
		Request: protocol.Request{Job: 1_000_000_000_007, CPUs: 2, Nodes: 1, MemoryMB: 5, WallTime: 60_000, Power: 3, PowerClass: 1<<64 - 1},
		Name:    "näme", User: "ada", Sites: []protocol.SiteName{"b"}, Requeue: true, Submitted: 9,
	}
	outcome := &protocol.Outcome{
		State: protocol.Failed, ExitCode: 3, Signal: 0, Reason: "why", Waited: 1, Ran: 2,
		Files: []protocol.File{{Stream: protocol.Stdout, Size: 7, SHA256: [32]byte{1, 255}}},
	}
	tag := protocol.Tag{Job: 1_000_000_000_007, Epoch: 4_294_967_295}
	return map[row.Table]row.Row{
		row.JobTable: row.Job{
			Spec: spec, Phase: row.JobStagingOut, Epoch: 3, Site: "b", Cancelling: true, State: protocol.Running, Reason: "r",
			StatusSeq: 4, QuotedAWT: new(protocol.Duration(5)), CommittedAt: 6, Started: 7, Ended: 8, Outcome: outcome, OperatorReason: "s", Reruns: 9, Holder: 10, Restored: true, SkipEpochs: true, Forced: true,
			Fenced:  []row.FencedPlacement{{Site: "c", Epoch: 2, Holder: 3, Lost: true}},
			WorkDir: "/w", Stdout: "/o", Stderr: "/e",
			Application: 1_000_000_000_006, Prediction: &row.Prediction{Cost: -1, End: 2, Run: 3}, ReserveFrom: 4, ReservedAt: 5,
			Component: &protocol.Component{
				Name: "c", Shapes: []protocol.Shape{{CPUs: 1, Nodes: 2, WallTime: 3, Estimate: 4}},
				Behavior: protocol.Behavior{Mflop: 1, Scaling: protocol.Surface}, Alpha: 1, Gamma: 2, Delta: 3, Together: 4,
			},
		},
		row.PayloadTable: row.Payload{Payload: &protocol.Payload{
			Script: []byte("#!/bin/sh\n\xff"), Args: []string{"a\xfeb", ""}, Env: []string{"X=\xff"},
			WorkDir: "/w\xff", Stdout: "/o", Stderr: "/e",
		}},
		row.GuestTable: row.Guest{
			Spec: spec, Origin: "b", Account: "g", Epoch: 2, Phase: row.GuestAccepted, Since: 3,
			Recalled: true, Cancel: true, Fenced: true, ReturnUnacked: true, ReserveFrom: 4, ReservedAt: 5,
		},
		row.RunTable: row.Run{
			Tag: tag, Phase: row.RunEnded, Local: "12", Account: "g", Since: 1, Started: 2, Seq: 3, Acked: 2, Reason: "r",
			Withdraw: true, Kill: true, OperatorReason: "s", Restored: true, Copied: true, Outcome: outcome,
		},
		row.ApplicationTable: row.Application{
			Application: protocol.Application{
				Name: "n", Beta: 1, MaxCost: 2, MaxTime: 3, Waiting: "w", Rates: []protocol.WaitingRate{{PerHour: 4}}, Currency: "CHF",
			},
			ID: 1_000_000_000_007, Count: 5, User: "ada", Submitted: 6, Spent: -7,
		},
		row.ArrayTable: row.Array{
			Job: row.Job{Spec: protocol.Spec{Name: "n"}, Phase: row.JobInGridQueue, State: protocol.Pending, Stdout: "/o-%a"}, Asked: protocol.Array{Indexes: protocol.IndexesOf(1, 2, 5, 9), Throttle: 2},
			Pending: protocol.IndexesOf(5), Cancelled: protocol.IndexesOf(9), Started: 3, ExitCode: 4,
			Ended: row.ArrayEnds{Completed: 1, Failed: 2, Cancelled: 3, Timeout: 4, NodeFail: 5},
		},
		row.ExecutionTable: row.Executions{User: "ada", Component: "c", Site: "b", Runs: []row.Execution{{
			Execution: gamma.Execution{Site: "b", CPUs: 2, Ran: 3, Usage: protocol.Usage{CPU: 4}}, Predicted: 5,
		}}},
		row.UseTable:   row.Use{Site: "b", Origin: "a", Account: "chem", User: "ada", Use: fairshare.Use{Period: 7, Amount: 1 << 60}},
		row.DedupTable: row.Dedup{First: 1_000_000_000_007, Count: 2, At: 3, SHA256: [32]byte{4}},
		row.SiteTable: row.Site{
			FirstStart: 1, Incarnation: 1 << 60, NextSeq: 3, Cursor: "c",
			Boot: 4, Begun: 5, Machine: "m", Recovery: "r", QueueCopied: true,
			Witnessed: protocol.Life{Incarnation: 1, Boot: 2, Begun: 3, Generation: 4},
			Twin:      protocol.Life{Incarnation: 1, Boot: 2, Begun: 3, Generation: 4, Proof: protocol.Proof{1}},
			Settle:    row.SettleByCancel, SettledBy: "b", Gaps: []row.Gap{{From: 1, To: 2}},
		},
		row.GenerationTable: row.Generation{Generation: 1 << 60},
		row.PartnerTable:    row.Partner{Site: "b", Number: 2, Life: protocol.Life{Incarnation: 1, Boot: 2, Begun: 3, Generation: 4, Proof: protocol.Proof{0: 5, 63: 255}}, Quality: row.Quality{Weights: [5]int{1, 2, 3, 4, 5}, Failures: []uint64{6}, Doubtful: true, Probe: 7}},
		row.RequeueableTable: row.Requeueable{
			At: 1, Local: "77", Job: &row.Job{Spec: protocol.Spec{Name: "n"}, Phase: row.JobStagingOut, State: protocol.Failed, Outcome: &protocol.Outcome{State: protocol.Failed, ExitCode: 3}},
		},
		row.ArchiveTable: row.Archived{View: view.Job{ID: 1_000_000_000_007, State: protocol.NodeFail, Name: "n", ExitCode: 4}},
	}
}

// TestRowsRoundTrip: nothing of a row is lost in its durable form, not even bytes
// that are no UTF-8.
func TestRowsRoundTrip(t *testing.T) {
	t.Parallel()
	rows := fullRows()
	for _, table := range append(row.Tables(), row.ArchiveTable) {
		stored := rows[table]
		data, err := row.Encode(stored)
		if err != nil {
			t.Errorf("%s: %v", table, err)
			continue
		}
		got, err := row.Decode(table, data)
		if err != nil || !reflect.DeepEqual(got, stored) {
			t.Errorf("%s: error %v\ngot  %+v\nwant %+v", table, err, got, stored)
		}
	}
}

func TestDecodeRowRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		table row.Table
		data  string
		fault string
	}{
		{"later", "{}", "newer version"},
		{row.JobTable, "", "row of table job"},
		{row.JobTable, `{"state":"SLEEPING"}`, "SLEEPING"},
		{row.RunTable, `{"tag":7}`, "row of table run"},
		{row.PayloadTable, `{"payload":{"args":["%"]}}`, "row of table payload"},
		{row.PayloadTable, `{"payload":{"gpus":[]}}`, "another version"},
		{row.JobTable, `{"spec":{"WallTime":60000}}`, "another version"},
		{row.SiteTable, `{"next_seq":7}{}`, "goes on after its end"},
	} {
		if row, err := row.Decode(tt.table, []byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("table %s, %s: %+v, error %v", tt.table, tt.data, row, err)
		}
	}
}

// TestNewRefusesBadRows: rows that contradict each other are named.
func TestNewRefusesBadRows(t *testing.T) {
	t.Parallel()
	rows := fullRows()
	for fault, records := range map[string][]row.Record{
		"has no payload row": {{Table: row.JobTable, Key: "0001000000000007", Row: rows[row.JobTable]}},
		"belongs to no job":  {{Table: row.RunTable, Key: "0001000000000007.4", Row: rows[row.RunTable]}},
		"has no outcome":     {{Table: row.JobTable, Key: "0001000000000007", Row: row.Job{Phase: row.JobStagingOut}}},
		"has no content":     {{Table: row.JobTable, Key: "0001000000000007"}},
		"payload row":        {{Table: row.PayloadTable, Key: "x", Row: rows[row.PayloadTable]}},
	} {
		if _, err := peer.New(goodConfig(), 1, records); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("error %v, want one about %q", err, fault)
		}
	}
}

func goodConfig() rules.Config {
	return rules.Config{
		Site: "a", Number: 1, Accounts: peertest.Accounts{}, Policy: policy.Describe(tc.New(tc.Config{})),
		Capacity: protocol.Capacity{CPUs: 4, Nodes: 4}, Partners: []rules.Partner{{Site: "c"}, {Site: "b"}},
	}
}

func TestNewRefusesBadConfigs(t *testing.T) {
	t.Parallel()
	if _, err := peer.New(goodConfig(), 1, nil); err != nil {
		t.Fatalf("a good configuration: %v", err)
	}
	for fault, change := range map[string]func(*rules.Config){
		"site name":                  func(c *rules.Config) { c.Site = "A" },
		"site number 0":              func(c *rules.Config) { c.Number = 0 },
		"site number 9001":           func(c *rules.Config) { c.Number = 9001 },
		"accounts are missing":       func(c *rules.Config) { c.Accounts = nil },
		`site name ""`:               func(c *rules.Config) { c.Partners = []rules.Partner{{}} },
		"is configured twice":        func(c *rules.Config) { c.Partners = append(c.Partners, rules.Partner{Site: "b"}) },
		"or is this site":            func(c *rules.Config) { c.Partners = append(c.Partners, rules.Partner{Site: "a"}) },
		`accept initiation "cycle"`:  func(c *rules.Config) { c.Initiation = policy.Cycle },
		"negative latency":           func(c *rules.Config) { c.Partners[0].Bandwidth = -1 },
		"does not accept initiation": func(c *rules.Config) { c.Policy.Initiations = nil },
		"a duration is negative":     func(c *rules.Config) { c.RetryInitial = -1 },
		"a count is negative":        func(c *rules.Config) { c.RoundJobs = -1 },
	} {
		cfg := goodConfig()
		change(&cfg)
		if _, err := peer.New(cfg, 1, nil); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("error %v, want one about %q", err, fault)
		}
	}
}

// TestDefaults: the paper's values where it has some [SS 2.1].
func TestDefaults(t *testing.T) {
	t.Parallel()
	c := rules.Config{}.WithDefaults()
	if c.LocalWaitThreshold != protocol.Minute || c.CheckInterval != 300*protocol.Second || c.Initiation != policy.Sender {
		t.Errorf("φ = %v, σ = %v, initiation %q", c.LocalWaitThreshold, c.CheckInterval, c.Initiation)
	}
	if got := (rules.Config{LocalWaitThreshold: 1}).WithDefaults().LocalWaitThreshold; got != 1 {
		t.Errorf("a φ of 1 ms becomes %v", got)
	}
}
