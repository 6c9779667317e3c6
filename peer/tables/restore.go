package tables

import (
	"fmt"
	"iter"

	"github.com/switchyard-hpc/switchyard/peer/compact"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Restore takes the rows of an earlier time in, for a machine that runs are scaled to. It ends with
// the first error.
func (t *Tables) Restore(rows iter.Seq2[row.Record, error], on *protocol.Capacity) error {
	payloads := map[protocol.JobID]compact.Payload{}
	for rec, err := range rows {
		if err != nil {
			return err
		}
		if err := t.restoreRow(rec, payloads); err != nil {
			return err
		}
	}
	if err := t.restoreArrays(payloads); err != nil {
		return err
	}
	if err := t.restoreJobs(payloads); err != nil {
		return err
	}
	t.restoreRequeueable(payloads)
	for id, g := range t.Guests {
		if payload := payloads[id]; !payload.None() {
			g.Payload = payload.Unpack(&row.Job{})
		}
	}
	for tag, r := range t.Runs {
		spec := t.SpecOf(tag)
		if spec == nil {
			return fmt.Errorf("run %v belongs to no job", tag)
		}
		r.Request = spec.ScaledRequest(on)
	}
	for id := range t.Guests {
		t.countGuestFiles(id)
	}
	return nil
}

func (t *Tables) restoreRow(rec row.Record, payloads map[protocol.JobID]compact.Payload) error { //nolint:cyclop // one case for each table
	switch stored := rec.Row.(type) {
	case row.Site:
		t.site.Site = stored
	case row.Generation:
		t.site.Generation = stored.Generation
	case row.Partner:
		t.partners.Restore(stored)
		t.Fair.RestoreReport(stored.Site, stored.UseReport)
	case row.Job:
		if stored.Phase == row.JobStagingOut && stored.Outcome == nil {
			return fmt.Errorf("row %q: a job in phase %s has no outcome", rec.Key, stored.Phase)
		}
		t.alike.Row(&stored)
		t.Jobs[stored.Spec.Job] = &Job{Job: stored}
		t.countOpen(&stored.Spec, +1)
	case row.Requeueable:
		if (stored.Job == nil) != (stored.Array == nil) {
			t.requeueable.restoreRow(stored)
		} else if id, err := row.ParseJobKey(rec.Key); err == nil {
			t.saveRequeueable(id) // it goes: no job is in it
		}
	case row.Array:
		t.alike.Row(&stored.Job)
		t.enterArray(&Array{Array: stored})
	case row.Guest:
		t.Guests[stored.Spec.Job] = &Guest{Guest: stored}
	case row.Run:
		t.Runs[stored.Tag] = &localrun.Run{Run: stored}
	case row.Dedup:
		t.Dedup[rec.Key] = stored
	case row.Payload:
		id, err := row.ParseJobKey(rec.Key)
		if err != nil {
			return fmt.Errorf("payload row %q: %w", rec.Key, err)
		}
		if stored.Payload != nil {
			payloads[id] = t.alike.Pack(compact.Owner(stored.Payload.Env), &row.Job{}, stored.Payload)
		}
	case row.Application:
		t.Applications[stored.ID] = &Application{Application: stored}
	case row.Executions:
		t.History.Restore(stored)
	case row.Use:
		t.Fair.Restore(stored)
	case row.Archived, row.EarlierRun:
	default:
		return fmt.Errorf("row %q of table %s has no content", rec.Key, rec.Table)
	}
	return nil
}

// restoreJobs gives jobs what they run, and applications their components.
func (t *Tables) restoreJobs(payloads map[protocol.JobID]compact.Payload) error {
	for _, id := range t.JobIDs() { // in this order neighbors are alike
		payload, j := payloads[id], t.Jobs[id]
		t.waiting.add(&j.Job, j.Element.Array != 0)
		if j.Element.Array != 0 {
			if err := t.restoreElement(j); err != nil {
				return err
			}
			continue
		}
		if payload.None() {
			return fmt.Errorf("job %v has no payload row", id)
		}
		j.packed = t.alike.Pack(j.Spec.User, &j.Job, payload.Unpack(&j.Job))
		if j.Application == 0 {
			continue
		}
		a := t.Applications[j.Application]
		if a == nil {
			return fmt.Errorf("job %v is of application %v, which has no row", id, j.Application)
		}
		a.Join(j)
	}
	for _, a := range t.Applications {
		if err := t.FollowAll(a); err != nil {
			return err
		}
	}
	return nil
}

// restoreRequeueable gives jobs and arrays that have ended what they run. The next step deletes the rows of those that have nothing.
func (t *Tables) restoreRequeueable(payloads map[protocol.JobID]compact.Payload) {
	dropped := t.requeueable.restore(t.Arrays, func(of *row.Job) compact.Payload {
		payload := payloads[of.Spec.Job]
		if payload.None() {
			return payload
		}
		return t.alike.Pack(of.Spec.User, of, payload.Unpack(of))
	})
	for _, id := range dropped {
		t.saveRequeueable(id)
		t.SavePayload(id)
	}
}
