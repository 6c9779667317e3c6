package peer

import (
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/step"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func (p *Peer) saveJob(id protocol.JobID) { p.touched.Mark(step.Row{Table: row.JobTable, Job: id}) }

func (p *Peer) saveGuest(id protocol.JobID) {
	p.touched.Mark(step.Row{Table: row.GuestTable, Job: id})
}

func (p *Peer) savePayload(id protocol.JobID) {
	p.touched.Mark(step.Row{Table: row.PayloadTable, Job: id})
}

func (p *Peer) saveApplication(id protocol.JobID) {
	p.touched.Mark(step.Row{Table: row.ApplicationTable, Job: id})
}

func (p *Peer) saveExecutions(key string) {
	p.touched.Mark(step.Row{Table: row.ExecutionTable, Key: key})
}

// savePartner keeps what is known of a partner, where stores may be lost or restored.
func (p *Peer) savePartner(one *partner.Partner) {
	if p.cfg.Watermark > 0 {
		p.touched.Mark(step.Row{Table: row.PartnerTable, Key: string(one.Site)})
	}
}

func (p *Peer) saveSite()            { p.touched.Mark(step.Row{Table: row.SiteTable}) }
func (p *Peer) saveDedup(key string) { p.touched.Mark(step.Row{Table: row.DedupTable, Key: key}) }
func (p *Peer) saveRun(t protocol.Tag) {
	p.touched.Mark(step.Row{Table: row.RunTable, Job: t.Job, Epoch: t.Epoch})
}

// flush turns the marked rows into records, in the order of their marking.
func (p *Peer) flush() {
	for _, d := range p.touched.Changed() {
		must(p.checkRow(d))
		p.out.Records = append(p.out.Records, row.Record{Table: d.Table, Key: d.RecordKey(), Row: p.rowOf(d)})
	}
	p.raiseGeneration()
	p.touched.Clear()
}

// rowOf is the row as it is now, nil when it is gone.
func (p *Peer) rowOf(d step.Row) row.Row {
	switch d.Table {
	case row.SiteTable:
		return p.site.Site
	case row.GenerationTable:
		return row.Generation{Generation: p.site.Generation}
	case row.PartnerTable:
		return p.partners.Row(protocol.SiteName(d.Key))
	case row.DedupTable, row.ApplicationTable, row.ExecutionTable:
		return p.submissionRow(d)
	case row.JobTable:
		if j := p.jobs[d.Job]; j != nil {
			return j.Job
		}
	case row.GuestTable:
		if g := p.guests[d.Job]; g != nil {
			return g.Guest
		}
	case row.RunTable:
		if r := p.runs[d.Tag()]; r != nil {
			return r.Run
		}
	case row.PayloadTable:
		if payload := p.payloadOf(d.Job); payload != nil {
			return row.Payload{Payload: payload}
		}
	case row.ArchiveTable:
	}
	return nil
}

// submissionRow is a row of what was submitted together, or was learnt of it.
func (p *Peer) submissionRow(d step.Row) row.Row {
	if stored, ok := p.dedup[d.Key]; ok && d.Table == row.DedupTable {
		return stored
	}
	if a := p.applications[d.Job]; a != nil && d.Table == row.ApplicationTable {
		return a.Application
	}
	if d.Table == row.ExecutionTable {
		return p.history.Row(d.Key)
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
