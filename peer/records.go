package peer

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// dirtyRow names a row that this step has changed.
type dirtyRow struct {
	table row.Table
	job   protocol.JobID
	epoch protocol.Epoch // of a run
	key   string         // of a dedup row; a partner's name
}

// mark notes that a row has changed or gone. What it holds at the end of the
// step is what is recorded, once.
func (p *Peer) mark(row dirtyRow) {
	if p.marked[row] {
		return
	}
	p.marked[row] = true
	p.dirty = append(p.dirty, row)
}

func (p *Peer) saveJob(id protocol.JobID)   { p.mark(dirtyRow{table: row.JobTable, job: id}) }
func (p *Peer) saveGuest(id protocol.JobID) { p.mark(dirtyRow{table: row.GuestTable, job: id}) }
func (p *Peer) savePayload(id protocol.JobID) {
	p.mark(dirtyRow{table: row.PayloadTable, job: id})
}

func (p *Peer) saveApplication(id protocol.JobID) {
	p.mark(dirtyRow{table: row.ApplicationTable, job: id})
}

func (p *Peer) saveExecutions(key string) {
	p.mark(dirtyRow{table: row.ExecutionTable, key: key})
}

// savePartner keeps what is known of a partner, where stores may be lost or restored.
func (p *Peer) savePartner(one *partner.Partner) {
	if p.cfg.Watermark > 0 {
		p.mark(dirtyRow{table: row.PartnerTable, key: string(one.Site)})
	}
}

func (p *Peer) saveSite()            { p.mark(dirtyRow{table: row.SiteTable}) }
func (p *Peer) saveDedup(key string) { p.mark(dirtyRow{table: row.DedupTable, key: key}) }
func (p *Peer) saveRun(t protocol.Tag) {
	p.mark(dirtyRow{table: row.RunTable, job: t.Job, epoch: t.Epoch})
}

// flush turns the marked rows into records, in the order of their marking.
func (p *Peer) flush() {
	for _, d := range p.dirty {
		must(p.checkRow(d))
		p.out.Records = append(p.out.Records, row.Record{Table: d.table, Key: d.rowKey(), Row: p.rowOf(d)})
	}
	p.raise()
	p.dirty = p.dirty[:0]
	clear(p.marked)
}

func (d dirtyRow) rowKey() string {
	switch d.table {
	case row.SiteTable, row.GenerationTable:
		return string(d.table)
	case row.DedupTable, row.ExecutionTable, row.PartnerTable:
		return d.key
	case row.RunTable:
		return fmt.Sprintf("%s.%d", row.JobKey(d.job), d.epoch)
	case row.JobTable, row.GuestTable, row.PayloadTable, row.ApplicationTable, row.ArchiveTable:
	}
	return row.JobKey(d.job)
}

// rowOf is the row as it is now, nil when it is gone.
func (p *Peer) rowOf(d dirtyRow) row.Row {
	switch d.table {
	case row.SiteTable:
		return p.site.Site
	case row.GenerationTable:
		return row.Generation{Generation: p.site.Generation}
	case row.PartnerTable:
		return p.partners.Row(protocol.SiteName(d.key))
	case row.DedupTable, row.ApplicationTable, row.ExecutionTable:
		return p.wishRowOf(d)
	case row.JobTable:
		if j := p.jobs[d.job]; j != nil {
			return j.Job
		}
	case row.GuestTable:
		if g := p.guests[d.job]; g != nil {
			return g.Guest
		}
	case row.RunTable:
		if r := p.runs[protocol.Tag{Job: d.job, Epoch: d.epoch}]; r != nil {
			return r.Run
		}
	case row.PayloadTable:
		if payload := p.payloadOf(d.job); payload != nil {
			return row.Payload{Payload: payload}
		}
	case row.ArchiveTable:
	}
	return nil
}

// wishRowOf is a row of what was submitted together, or was learnt of it.
func (p *Peer) wishRowOf(d dirtyRow) row.Row {
	if stored, ok := p.dedup[d.key]; ok && d.table == row.DedupTable {
		return stored
	}
	if a := p.applications[d.job]; a != nil && d.table == row.ApplicationTable {
		return a.Application
	}
	if d.table == row.ExecutionTable {
		return p.history.Row(d.key)
	}
	return nil
}

func (p *Peer) payloadOf(id protocol.JobID) *protocol.Payload {
	if j := p.jobs[id]; j != nil {
		return j.payload()
	}
	if g := p.guests[id]; g != nil {
		return g.payload
	}
	return nil
}
