package node_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// rowsOf gives rows their durable form.
func rowsOf(t *testing.T, records ...row.Record) (rows []node.Put) {
	t.Helper()
	for _, r := range records {
		value, err := row.Encode(r.Row)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, node.Put{Table: string(r.Table), Key: r.Key, Value: value})
	}
	return rows
}

func TestCheckerFindsContradictions(t *testing.T) {
	t.Parallel()
	const key, id = "1000000000007000", 1_000_000_000_007_000
	job := row.Job{Spec: protocol.Spec{Request: protocol.Request{Job: id}}, State: protocol.Pending, Phase: row.JobInGridQueue}
	component, collecting := job, job
	component.Application = 5
	collecting.Phase = row.JobStagingOut
	whole := []row.Record{
		{Table: row.SiteTable, Key: "site", Row: row.Site{NextSeq: 9}},
		{Table: row.PayloadTable, Key: key, Row: row.Payload{Payload: &protocol.Payload{}}},
		{Table: row.JobTable, Key: key, Row: job},
		{Table: row.RunTable, Key: key + ".1", Row: row.Run{Phase: row.RunQueued, Tag: protocol.Tag{Job: id, Epoch: 1}}},
		{Table: row.ArchiveTable, Key: key, Row: row.Archived{View: view.Job{ID: id, State: protocol.Completed}}},
		{Table: row.GuestTable, Key: "0000000000000003", Row: row.Guest{Spec: protocol.Spec{Request: protocol.Request{Job: 3}}, Phase: row.GuestClosed}},
		{Table: row.GenerationTable, Key: "generation", Row: row.Generation{Generation: 7}},
		{Table: row.PartnerTable, Key: "borealis", Row: row.Partner{Site: "borealis", Number: 2}},
	}
	element := job
	element.Spec.Job, element.Element = id+3, protocol.Element{Array: id, Index: 2}
	requeueable := func(id protocol.JobID, of row.Requeueable) row.Record {
		return row.Record{Table: row.RequeueableTable, Key: row.JobKey(id), Row: of}
	}
	ofArray := requeueable(id+3, row.Requeueable{Job: &element})
	guest := row.Record{Table: row.GuestTable, Key: "0000000000000003", Row: row.Guest{Spec: protocol.Spec{Request: protocol.Request{Job: 3}}, Phase: row.GuestAccepted}}
	for name, c := range map[string]struct {
		rows  []node.Put
		table string
		words string // empty: all is well
	}{
		"whole":              {rows: rowsOf(t, whole...)},
		"empty":              {},
		"job, no payload":    {rowsOf(t, whole[0], whole[2], whole[3]), "job", "no payload"},
		"run, no job":        {rowsOf(t, whole[0], whole[1], whole[3]), "run", "belongs to no job"},
		"guest, no payload":  {rowsOf(t, append(whole[:5:5], guest)...), "guest", "no payload"},
		"no counters":        {rowsOf(t, whole[1:]...), "site", "counters"},
		"no application":     {rowsOf(t, whole[0], whole[1], row.Record{Table: row.JobTable, Key: key, Row: component}), "job", "application 5"},
		"no outcome":         {rowsOf(t, whole[0], whole[1], row.Record{Table: row.JobTable, Key: key, Row: collecting}), "job", "no outcome"},
		"under another key":  {rowsOf(t, whole[0], whole[1], row.Record{Table: row.ArchiveTable, Key: "1", Row: whole[4].Row}), "archive", "belongs to the key " + key},
		"payload's key":      {rowsOf(t, row.Record{Table: row.PayloadTable, Key: "x", Row: whole[1].Row}), "payload", "not a job's ID"},
		"a partner's key":    {rowsOf(t, row.Record{Table: row.PartnerTable, Key: "x", Row: whole[7].Row}), "partner", "belongs to the key borealis"},
		"empty payload":      {rowsOf(t, row.Record{Table: row.PayloadTable, Key: key, Row: row.Payload{}}), "payload", "empty"},
		"ended, whole":       {rows: rowsOf(t, whole[0], whole[1], requeueable(id, row.Requeueable{Job: &job}))},
		"ended, no payload":  {rowsOf(t, requeueable(id, row.Requeueable{Job: &job})), "requeueable", "no payload"},
		"ended array":        {rows: rowsOf(t, whole[0], whole[1], ofArray, requeueable(id, row.Requeueable{Array: &row.Array{Job: job}}))},
		"ended, no array":    {rowsOf(t, whole[0], whole[1], ofArray), "requeueable", "element of array"},
		"ended, neither":     {rowsOf(t, requeueable(id, row.Requeueable{})), "requeueable", "a job or an array"},
		"no JSON":            {[]node.Put{{Table: "guest", Key: key, Value: []byte("{")}}, "guest", "cannot be read"},
		"a fact, no JSON":    {[]node.Put{{Table: "fact", Key: key, Value: []byte("{")}}, "fact", "cannot be read"},
		"a table of nobody":  {[]node.Put{{Table: "jpb", Key: key, Value: []byte("{}")}}, "jpb", "newer version"},
		"several, in order ": {append([]node.Put{{Table: "run", Key: key, Value: []byte("{")}}, rowsOf(t, whole[0], whole[2])...), "job", "no payload"},
	} {
		var checker node.Checker
		for _, row := range c.rows {
			checker.Add(row.Table, node.Row{Key: row.Key, Value: row.Value})
		}
		got := checker.Problems()
		switch {
		case c.words == "" && len(got) > 0:
			t.Errorf("%s: %v", name, got)
		case c.words != "" && (len(got) == 0 || got[0].Table != c.table || !strings.Contains(got[0].What, c.words)):
			t.Errorf("%s: %v; want table %s, %q", name, got, c.table, c.words)
		}
	}
}
