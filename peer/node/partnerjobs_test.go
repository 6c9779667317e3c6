package node_test

import (
	"maps"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestPartnerCounter(t *testing.T) {
	t.Parallel()
	job := func(phase peer.JobPhase, site protocol.SiteName) peer.Record {
		return peer.Record{Table: peer.JobTable, Row: peer.JobRow{State: protocol.Pending, Phase: phase, Site: site}}
	}
	guest := func(phase peer.GuestPhase, origin protocol.SiteName) peer.Record {
		return peer.Record{Table: peer.GuestTable, Row: peer.GuestRow{Phase: phase, Origin: origin}}
	}
	for name, c := range map[string]struct {
		rows []peer.Record
		want peer.PartnerCount
	}{
		"no rows": {},
		"jobs that a partner has or may have": {
			[]peer.Record{
				job(peer.Offered, "b"), job(peer.Granted, "b"), job(peer.Handed, "b"), job(peer.Recalling, "b"), job(peer.Collecting, "b"),
			},
			peer.PartnerCount{"b": {Sent: 5}},
		},
		"jobs at the local site": {[]peer.Record{job(peer.InGridQueue, ""), job(peer.Holding, "a"), job(peer.AtHome, "a")}, nil},
		"guests": {
			[]peer.Record{
				guest(peer.GuestIsPrepared, "b"), guest(peer.GuestIsOwned, "b"), guest(peer.GuestIsAborted, "b"), guest(peer.GuestIsClosed, "b"),
			},
			peer.PartnerCount{"b": {Here: 2}},
		},
		"several partners": {
			[]peer.Record{job(peer.Handed, "b"), guest(peer.GuestIsOwned, "b"), job(peer.Handed, "c"), guest(peer.GuestIsOwned, "d")},
			peer.PartnerCount{"b": {Sent: 1, Here: 1}, "c": {Sent: 1}, "d": {Here: 1}},
		},
		"other tables": {
			[]peer.Record{{Table: peer.PartnerTable, Row: peer.PartnerRow{Site: "b"}}, {Table: peer.SiteTable, Row: peer.SiteRow{}}}, nil,
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
