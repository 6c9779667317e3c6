package peer

import (
	"cmp"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/answers"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// answers is what questions are answered by.
func (p *Peer) answers() answers.Answers {
	return answers.Answers{Ledger: p.ledger(), Number: p.cfg.Number, Watched: &p.watched, Objectives: p.objectives()}
}

// here is what the site shows of itself.
func (p *Peer) here() answers.Here {
	return answers.Here{
		Software: p.cfg.Software, Area: p.cfg.Area, Load: p.load, Loaded: p.loadAt != 0, Benefit: p.benefit.PPM(),
	}
}

func (p *Peer) quoted(r *round) view.TestSubmitResult {
	report := p.reportOf(r)
	out := view.TestSubmitResult{Elsewhere: p.admission().MayLeaveTo(r.Specs)}
	for i := 0; i < len(r.Specs); i = r.End(i) {
		quotes := append(report.All(i), p.leftOut(r, i)...)
		slices.SortStableFunc(quotes, func(a, b view.Quote) int { return cmp.Compare(a.ATT(), b.ATT()) })
		out.Jobs = append(out.Jobs, quotes)
	}
	return out
}

// noteBenefit compares a job that has run with what it would have had here.
func (p *Peer) noteBenefit(j *tables.Job) {
	if !j.LocalQuote.Known {
		return
	}
	var there *protocol.Capacity
	if one := p.partners.Of(j.Site); one != nil {
		if one.Card == nil {
			return
		}
		there = &one.Card.Capacity
	}
	p.benefit.AddJob(&j.Job, j.LocalQuote.AWT, &p.cfg.Capacity, there)
}
