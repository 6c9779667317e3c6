package tables_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// house is a set of tables and what stands beside it.
type house struct {
	tables.Tables
	site     lives.Store
	partners partner.Set
	queue    gridqueue.Queue
}

func newHouse() *house {
	h := &house{site: lives.New(lives.Here{Site: "a", Number: 1, TrackLives: true}), partners: partner.NewSet()}
	h.partners.Begin(rules.Partner{Site: "b"})
	h.Tables = tables.New(&h.site, &h.partners, &h.queue)
	return h
}

var seven = protocol.NewJobID(1, 7)

func specOf(id protocol.JobID) protocol.Spec {
	return protocol.Spec{Request: protocol.Request{Job: id, CPUs: 1, WallTime: protocol.Hour}, User: "ada"}
}

func jobIn(phase row.JobPhase) *tables.Job {
	j := &tables.Job{Job: row.Job{Spec: specOf(seven), Phase: phase, Epoch: 2, State: protocol.Pending}}
	if phase != row.JobInGridQueue {
		j.Site, j.CommittedAt = "b", 1
	}
	return j
}

func guestIn(phase row.GuestPhase) *tables.Guest {
	return &tables.Guest{Guest: row.Guest{Spec: specOf(seven), Origin: "b", Phase: phase, Epoch: 2}}
}

// TestRowsGoTogether: the invariants of the rows of a job, a guest and their runs.
func TestRowsGoTogether(t *testing.T) {
	t.Parallel()
	now, before := protocol.Tag{Job: seven, Epoch: 2}, protocol.Tag{Job: seven, Epoch: 1}
	for name, tt := range map[string]struct {
		job   *tables.Job
		guest *tables.Guest
		run   protocol.Tag // none has the epoch 0
		queue bool
		ok    bool
	}{
		"a job in the local queue":          {jobIn(row.JobCommittedLocal), nil, now, false, true},
		"without its run":                   {jobIn(row.JobCommittedLocal), nil, protocol.Tag{}, false, false},
		"a job at a partner":                {jobIn(row.JobGranted), nil, protocol.Tag{}, false, true},
		"with a run here":                   {jobIn(row.JobGranted), nil, now, false, false},
		"in the grid queue, too":            {jobIn(row.JobGranted), nil, protocol.Tag{}, true, false},
		"a job in the grid queue":           {jobIn(row.JobInGridQueue), nil, protocol.Tag{}, true, true},
		"a job that needs an operator":      {jobIn(row.JobInGridQueue), nil, protocol.Tag{}, false, true},
		"an accepted guest":                 {nil, guestIn(row.GuestAccepted), now, false, true},
		"an accepted guest without its run": {nil, guestIn(row.GuestAccepted), protocol.Tag{}, false, false},
		"a prepared guest":                  {nil, guestIn(row.GuestPrepared), protocol.Tag{}, false, true},
		"a prepared guest with a run":       {nil, guestIn(row.GuestPrepared), now, false, false},
		"a closed guest with a run":         {nil, guestIn(row.GuestClosed), now, false, false},
		"a run of no row":                   {nil, nil, now, false, false},
		"a run of an earlier epoch":         {jobIn(row.JobInGridQueue), nil, before, true, false},
		"a guest's run of an earlier epoch": {nil, guestIn(row.GuestClosed), before, false, false},
	} {
		h := newHouse()
		if tt.job != nil {
			h.AddJob(tt.job, &protocol.Payload{})
		}
		if tt.guest != nil {
			h.Guests[seven] = tt.guest
			h.SaveGuest(seven)
		}
		if tt.run.Epoch != 0 {
			h.Runs[tt.run] = &localrun.Run{Run: row.Run{Tag: tt.run, Phase: row.RunQueued}}
			h.SaveRun(tt.run)
		}
		if tt.queue {
			h.queue.Put(seven)
		}
		records, err := h.Records(nil)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && len(records) > 0 {
			t.Errorf("%s: records in spite of %v", name, err)
		}
	}
}

// TestRecords: each row is recorded once, as it is at the end of the step, in the order of the marks.
func TestRecords(t *testing.T) {
	t.Parallel()
	h := newHouse()
	h.SaveSite()
	h.SavePartner("b")
	h.AddJob(jobIn(row.JobInGridQueue), &protocol.Payload{Script: []byte("x")})
	h.SaveJob(seven)
	h.Jobs[seven].Reason = "changed after the mark"
	h.Dedup["k"] = row.Dedup{Count: 3}
	h.SaveDedup("k")
	h.SaveDedup("gone")
	h.SaveApplication(9)
	h.SaveExecutions("ada\x00solver\x00b")
	h.site.NextSeq, h.site.Generation = 8, 4
	want := []string{"site site", "partner b", "job 0000000000000007", "payload", "dedup k", "dedup gone", "application", "execution ada\x00solver\x00b"}
	records, err := h.Records(nil)
	if err != nil || len(records) != len(want) {
		t.Fatalf("%d records: %v, %v", len(records), records, err)
	}
	for i, rec := range records {
		table, key, _ := strings.Cut(want[i], " ")
		if string(rec.Table) != table || key != "" && i != 2 && rec.Key != key {
			t.Errorf("record %d is of %s %q, want %s", i, rec.Table, rec.Key, want[i])
		}
		if gone := i >= 5; (rec.Row == nil) != gone {
			t.Errorf("record %d of %s %q: %+v", i, rec.Table, rec.Key, rec.Row)
		}
	}
	if site, _ := records[0].Row.(row.Site); site.NextSeq != 8 {
		t.Errorf("the row of the site: %+v", site)
	}
	if job, _ := records[2].Row.(row.Job); job.Reason != "changed after the mark" {
		t.Errorf("the row of the job: %+v", job)
	}
	if again, failed := h.Records(nil); failed != nil || len(again) > 0 {
		t.Errorf("the next step begins with %v, %v", again, failed)
	}
	h.RemoveJob(h.Jobs[seven])
	records, err = h.Records(nil)
	if err != nil || len(records) != 2 || records[0].Row != nil || records[1].Row != nil || h.JobsOf("ada") != 0 {
		t.Errorf("a job that ends leaves %v, %v, and %d of its user", records, err, h.JobsOf("ada"))
	}
}

// TestPartnersAreKept only where lives of stores are told apart.
func TestPartnersAreKept(t *testing.T) {
	t.Parallel()
	site, partners, queue := lives.New(lives.Here{Site: "a"}), partner.NewSet(), gridqueue.Queue{}
	h := tables.New(&site, &partners, &queue)
	h.SavePartner("b")
	if records, err := h.Records(nil); err != nil || len(records) > 0 {
		t.Errorf("%v, %v", records, err)
	}
}

// TestRestore: tables that are restored from records are those that wrote them.
func TestRestore(t *testing.T) {
	t.Parallel()
	h := newHouse()
	h.site.NextSeq = 9
	member := jobIn(row.JobCommittedLocal)
	member.Application, member.Component = seven, &protocol.Component{Together: 1}
	app := &tables.Application{Application: row.Application{ID: seven, Count: 2}}
	app.Join(member)
	h.Applications[seven] = app
	h.AddJob(member, &protocol.Payload{Script: []byte("x"), Env: []string{"USER=ada"}})
	run := protocol.Tag{Job: seven, Epoch: 2}
	h.Runs[run] = &localrun.Run{Run: row.Run{Tag: run, Phase: row.RunQueued}}
	guest := guestIn(row.GuestPrepared)
	guest.Spec.Job, guest.Payload = protocol.NewJobID(2, 30), &protocol.Payload{Script: []byte("y")}
	h.Guests[guest.Spec.Job] = guest
	h.Dedup["k"] = row.Dedup{First: seven, Count: 1}
	h.SaveSite()
	h.SaveApplication(seven)
	h.SaveRun(run)
	h.SaveGuest(guest.Spec.Job)
	h.SavePayload(guest.Spec.Job)
	h.SaveDedup("k")
	records, err := h.Records(nil)
	if err != nil {
		t.Fatal(err)
	}
	restore := func(records []row.Record) (*house, error) {
		h := newHouse()
		return h, h.Restore(func(yield func(row.Record, error) bool) {
			for _, rec := range records {
				if !yield(rec, nil) {
					return
				}
			}
		}, &protocol.Capacity{CPUs: 8})
	}
	again, err := restore(records)
	if err != nil {
		t.Fatal(err)
	}
	j := again.Jobs[seven]
	g, rows := again.Group(j)
	if string(j.Payload().Script) != "x" || again.JobsOf("ada") != 1 || j.ApplicationRow().Count != 2 || g == nil || len(rows.Members) != 1 {
		t.Errorf("the job is %+v, its group %v", j, g)
	}
	if string(again.Guests[guest.Spec.Job].Payload.Script) != "y" || again.site.NextSeq != 9 || again.Dedup["k"].Count != 1 {
		t.Errorf("the guest, the site or the submission: %+v", again)
	}
	if got := again.Runs[run].Request; got.CPUs != 1 || got.Job != seven {
		t.Errorf("the run asks for %+v", got)
	}
	if got := []any{again.JobIDs(), again.GuestIDs(), again.RunTags()}; !reflect.DeepEqual(got, []any{
		[]protocol.JobID{seven}, []protocol.JobID{guest.Spec.Job}, []protocol.Tag{run},
	}) {
		t.Errorf("the ids are %v", got)
	}
	for table, says := range map[row.Table]string{
		row.PayloadTable: "no payload row", row.ApplicationTable: "which has no row", row.JobTable: "belongs to no job",
	} {
		var fewer []row.Record
		for _, rec := range records {
			if rec.Table != table {
				fewer = append(fewer, rec)
			}
		}
		if _, err := restore(fewer); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("without the table %s: %v, want %q", table, err, says)
		}
	}
	if _, err := restore([]row.Record{{Table: row.JobTable, Key: "k"}}); err == nil {
		t.Error("a row without content is taken")
	}
	staging := *jobIn(row.JobStagingOut)
	if _, err := restore([]row.Record{{Table: row.JobTable, Key: "k", Row: staging.Job}}); err == nil || !strings.Contains(err.Error(), "no outcome") {
		t.Errorf("a job without its outcome: %v", err)
	}
}
