package node_test

import (
	"maps"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestPartnerCounter(t *testing.T) {
	t.Parallel()
	job := func(phase row.JobPhase, site protocol.SiteName) row.Record {
		return row.Record{Table: row.JobTable, Row: row.Job{State: protocol.Pending, Phase: phase, Site: site}}
	}
	guest := func(phase row.GuestPhase, origin protocol.SiteName) row.Record {
		return row.Record{Table: row.GuestTable, Row: row.Guest{Phase: phase, Origin: origin}}
	}
	for name, c := range map[string]struct {
		rows []row.Record
		want row.PartnerCount
	}{
		"no rows": {},
		"jobs that a partner has or may have": {
			[]row.Record{
				job(row.JobOffered, "b"), job(row.JobGranted, "b"), job(row.JobHandedOff, "b"), job(row.JobRecalling, "b"), job(row.JobStagingOut, "b"),
			},
			row.PartnerCount{"b": {Sent: 5}},
		},
		"jobs at the local site": {[]row.Record{job(row.JobInGridQueue, ""), job(row.JobReserving, "a"), job(row.JobCommittedLocal, "a")}, nil},
		"guests": {
			[]row.Record{
				guest(row.GuestPrepared, "b"), guest(row.GuestAccepted, "b"), guest(row.GuestAborted, "b"), guest(row.GuestClosed, "b"),
			},
			row.PartnerCount{"b": {Here: 2}},
		},
		"several partners": {
			[]row.Record{job(row.JobHandedOff, "b"), guest(row.GuestAccepted, "b"), job(row.JobHandedOff, "c"), guest(row.GuestAccepted, "d")},
			row.PartnerCount{"b": {Sent: 1, Here: 1}, "c": {Sent: 1}, "d": {Here: 1}},
		},
		"other tables": {
			[]row.Record{{Table: row.PartnerTable, Row: row.Partner{Site: "b"}}, {Table: row.SiteTable, Row: row.Site{}}}, nil,
		},
	} {
		var counter node.PartnerCounter
		for _, row := range rowsOf(t, c.rows...) {
			counter.Add(row.Table, node.Row{Key: row.Key, Value: row.Value})
		}
		if got, err := counter.Count(); err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%s: counted %v, want %v; error %v", name, got, c.want, err)
		}
	}
}

func TestPartnerCounterSaysWhatItCannotRead(t *testing.T) {
	t.Parallel()
	var counter node.PartnerCounter
	counter.Add("archive", node.Row{Key: "1", Value: []byte("{")})
	if _, err := counter.Count(); err != nil {
		t.Errorf("a row without jobs: %v", err)
	}
	counter.Add("guest", node.Row{Key: "1", Value: []byte("{")})
	if got, err := counter.Count(); err == nil {
		t.Errorf("counted %v and no error", got)
	}
}
