package tables

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// SaveJob marks the row of a job.
func (t *Tables) SaveJob(id protocol.JobID) { t.mark(row.JobTable, id) }

// SaveGuest marks the row of a guest.
func (t *Tables) SaveGuest(id protocol.JobID) { t.mark(row.GuestTable, id) }

// SavePayload marks what a job or guest runs.
func (t *Tables) SavePayload(id protocol.JobID) { t.mark(row.PayloadTable, id) }

// saveRequeueable marks the row of a job or an array that has ended.
func (t *Tables) saveRequeueable(id protocol.JobID) { t.mark(row.RequeueableTable, id) }

// SaveApplication marks the row of an application.
func (t *Tables) SaveApplication(id protocol.JobID) { t.mark(row.ApplicationTable, id) }

// SaveRun marks the row of a run.
func (t *Tables) SaveRun(tag protocol.Tag) {
	t.changed.Mark(step.Row{Table: row.RunTable, Job: tag.Job, Epoch: tag.Epoch})
}

// SaveExecutions marks the run history of a component at a site.
func (t *Tables) SaveExecutions(key string) {
	t.changed.Mark(step.Row{Table: row.ExecutionTable, Key: key})
}

// SaveUse marks the rows of what users have used; an empty key is none.
func (t *Tables) SaveUse(keys ...string) {
	for _, key := range keys {
		if key != "" {
			t.changed.Mark(step.Row{Table: row.UseTable, Key: key})
		}
	}
}

// SaveDedup marks the row of a submission with a key.
func (t *Tables) SaveDedup(key string) { t.changed.Mark(step.Row{Table: row.DedupTable, Key: key}) }

// SaveSite marks the row of the site.
func (t *Tables) SaveSite() { t.changed.Mark(step.Row{Table: row.SiteTable}) }

// SavePartner marks the row of a partner, where stores may be lost or restored.
func (t *Tables) SavePartner(site protocol.SiteName) {
	if t.site.TracksLives() {
		t.SaveDrain(site)
	}
}

// SaveDrain marks the row of a partner that was drained or resumed, wherever stores are kept.
func (t *Tables) SaveDrain(site protocol.SiteName) {
	t.changed.Mark(step.Row{Table: row.PartnerTable, Key: string(site)})
}

func (t *Tables) mark(table row.Table, id protocol.JobID) {
	t.changed.Mark(step.Row{Table: table, Job: id})
}

// Records adds the rows that this step has changed, in the order of their marking; the next step begins
// without any. The error says which rows do not go together: nothing of the step may become durable.
func (t *Tables) Records(out []row.Record) ([]row.Record, error) {
	defer t.changed.Clear()
	t.CountElements()
	changed := t.changed.Changed()
	out = slices.Grow(out, len(changed)+1) // the core adds the generation
	for _, d := range changed {
		if err := t.check(d); err != nil {
			return nil, err
		}
		if d.Table == row.GuestTable || d.Table == row.RunTable {
			t.countGuestFiles(d.Job)
		}
		out = append(out, row.Record{Table: d.Table, Key: d.RecordKey(), Row: t.row(d)})
	}
	return out, nil
}

// row is a row as it is now; nil: it is gone.
func (t *Tables) row(d step.Row) row.Row { //nolint:cyclop // one case for each table
	switch d.Table {
	case row.SiteTable:
		return t.site.Site
	case row.GenerationTable:
		return row.Generation{Generation: t.site.Generation}
	case row.PartnerTable:
		return t.partners.Row(protocol.SiteName(d.Key))
	case row.ExecutionTable:
		return t.History.Row(d.Key)
	case row.DedupTable:
		if stored, ok := t.Dedup[d.Key]; ok {
			return stored
		}
	case row.ApplicationTable:
		if a := t.Applications[d.Job]; a != nil {
			return a.Application
		}
	case row.UseTable:
		if u, has := t.Fair.Row(d.Key); has {
			return u
		}
	case row.JobTable:
		if j := t.Jobs[d.Job]; j != nil {
			return j.Job
		}
	case row.ArrayTable:
		if a := t.Arrays[d.Job]; a != nil {
			return a.Array
		}
	case row.RequeueableTable:
		if stored, ok := t.requeueable.row(d.Job); ok {
			return stored
		}
	case row.GuestTable:
		if g := t.Guests[d.Job]; g != nil {
			return g.Guest
		}
	case row.RunTable:
		if r := t.Runs[d.Tag()]; r != nil {
			return r.Run
		}
	case row.PayloadTable:
		if payload := t.payload(d.Job); payload != nil {
			return row.Payload{Payload: payload}
		}
	case row.ArchiveTable, row.EarlierTable:
	}
	return nil
}

func (t *Tables) payload(id protocol.JobID) *protocol.Payload {
	if j := t.Jobs[id]; j != nil {
		return j.Payload()
	}
	if a := t.Arrays[id]; a != nil {
		return a.packed.Unpack(&a.Job)
	}
	if packed, j := t.requeueable.packed(id); j != nil {
		return packed.Unpack(j)
	}
	if g := t.Guests[id]; g != nil {
		return g.Payload
	}
	return nil
}

// check looks at a row that this step has changed, and at those that it must go with.
func (t *Tables) check(d step.Row) error {
	switch d.Table {
	case row.JobTable:
		return t.checkJob(t.Jobs[d.Job])
	case row.GuestTable:
		return t.checkGuest(t.Guests[d.Job])
	case row.RunTable:
		return t.checkRun(d.Tag())
	case row.ArrayTable:
		return t.checkArray(t.Arrays[d.Job])
	case row.PayloadTable, row.DedupTable, row.SiteTable, row.GenerationTable, row.PartnerTable, row.ApplicationTable,
		row.ExecutionTable, row.UseTable, row.RequeueableTable, row.ArchiveTable, row.EarlierTable:
	}
	return nil
}

// checkJob looks at a job of this origin.
//
// Invariant: a job is in the grid queue or needs an operator, or it is placed; committed locally
// it has its run. TestRowsGoTogether checks it.
func (t *Tables) checkJob(j *Job) error {
	if j == nil {
		return nil
	}
	if err := j.Check(); err != nil {
		return err
	}
	here := t.Runs[j.Tag()] != nil
	switch {
	case j.Phase != row.JobInGridQueue && t.queue.Has(j.Spec.Job):
		return fmt.Errorf("job %v is in the grid queue and in phase %s", j.Tag(), j.Phase)
	case here != (j.Phase == row.JobCommittedLocal):
		return fmt.Errorf("job %v is in phase %s, and its run at this site: %t", j.Tag(), j.Phase, here)
	}
	return nil
}

// checkGuest looks at a job of another origin.
//
// Invariant: an accepted guest has its run, and no other one has. TestRowsGoTogether checks it.
func (t *Tables) checkGuest(g *Guest) error {
	if g == nil {
		return nil
	}
	if here := t.Runs[g.Tag()] != nil; here != (g.Phase == row.GuestAccepted) {
		return fmt.Errorf("guest %v is in phase %s, and its run at this site: %t", g.Tag(), g.Phase, here)
	}
	return g.Check()
}

// checkRun looks at a placement in the local queue.
//
// Invariant: a run is of the present epoch of a job or guest. TestRowsGoTogether checks it.
func (t *Tables) checkRun(tag protocol.Tag) error {
	r, j, g := t.Runs[tag], t.Jobs[tag.Job], t.Guests[tag.Job]
	switch {
	case r == nil:
		return nil
	case j != nil && j.Tag() == tag, g != nil && g.Tag() == tag:
		return r.Check()
	}
	return fmt.Errorf("run %v belongs to no job or guest of its epoch", tag)
}
