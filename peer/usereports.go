package peer

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/due"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Partners whose users are those of this site get reports of what users have used here (UseReport), all of it every interval: what
// is lost comes again, after a partition within an interval. Between these they get what is said of users whose jobs have started or
// ended here. Theirs are merged ([fairness.Book.Merge]).

// beginUseReports sets the timer of the reports of use, if use is exchanged.
func (p *Peer) beginUseReports() {
	if p.cfg.FairShare.Exchanges() {
		p.after(p.cfg.FairShare.ExchangeInterval, due.Once(due.UseReportTimer))
	}
}

// reportUse sends partners what users have used here, and will again.
func (p *Peer) reportUse(at protocol.Instant) {
	p.every(p.cfg.FairShare.ExchangeInterval, at, due.Once(due.UseReportTimer))
	if p.site.Mute() { // the rows may be a copy's
		return
	}
	p.sendUses(p.rows.Fair.Report(p.now, p.running(p.rows.RunTags())))
}

// reportChanges sends partners what is said of users whose jobs have started or ended here.
func (p *Peer) reportChanges() {
	p.changesReported = p.now
	if uses := p.rows.Fair.ReportChanges(p.now, p.running(p.rows.RunTags())); len(uses) > 0 && !p.site.Mute() {
		p.sendUses(uses)
	}
}

func (p *Peer) sendUses(uses []protocol.Use) {
	parts := slices.Collect(slices.Chunk(uses, protocol.MaxUses))
	if parts == nil {
		parts = [][]protocol.Use{nil} // no use is news, too
	}
	for _, one := range p.partners.All() {
		if !p.cfg.FairShare.HasCommonNames(one.Site) || !one.Linked {
			continue
		}
		for _, part := range parts {
			p.send(one.Site, protocol.UseReport{At: p.now, HalfLife: p.cfg.FairShare.HalfLife, Uses: part})
		}
	}
}

// handleUseReport takes the word of a partner on what users have used there.
func (p *Peer) handleUseReport(one *partner.Partner, m protocol.UseReport) {
	if !one.UseReports.Try(p.now, 1) {
		return // it sends more than it should, and all of it will come again
	}
	cpus := one.Row.UseReport.CPUs
	if one.Card != nil {
		cpus = one.Card.Capacity.CPUs
	}
	keys, kept, err := p.rows.Fair.Merge(one.Site, cpus, m, p.now)
	one.UseRefused = ""
	if err != nil {
		one.UseRefused = err.Error()
		p.logEventAbout(one, event.LogEvent{Kind: event.LogUnexpectedMessage, Text: clip("its report of use does not count: " + err.Error())})
		return
	}
	p.rows.SaveUse(keys...)
	p.useChanged()
	if kept != one.Row.UseReport {
		one.Row.UseReport = kept
		p.rows.SavePartner(one.Site)
	}
}
