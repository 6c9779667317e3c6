package peer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A partner can have as many facts of some kinds made as it sends messages. So many of a kind
// are made in each period; of more only the number is said, at the end of the period.
const (
	factsOneByOne = 5
	factPeriod    = protocol.Hour
)

// pace counts the facts of a kind about a partner in a period.
type pace struct {
	since  protocol.Instant // when the period began
	made   int
	others int // that were not made
}

// factOf makes a fact that a partner's message brings about, at the pace of its kind. Without
// another site it is about the partner.
func (p *Peer) factOf(one *partner, f event.Fact) {
	f.Site = cmp.Or(f.Site, one.Site)
	if one.paces == nil {
		one.paces = map[event.FactKind]*pace{}
	}
	of := one.paces[f.Kind]
	if of == nil || (of.others == 0 && p.now.Sub(of.since) >= factPeriod) {
		of = &pace{since: p.now}
		one.paces[f.Kind] = of
	}
	if of.made < factsOneByOne {
		of.made++
		p.fact(f)
		return
	}
	of.others++
	end := timer{kind: paceTimer, site: one.Site}
	if !p.timers.Has(end) {
		p.timers.Set(end, of.since.Add(factPeriod))
	}
}

// endPeriod says how many facts about a partner were not made in the periods that are over.
func (p *Peer) endPeriod(one *partner) {
	for _, kind := range slices.Sorted(maps.Keys(one.paces)) {
		of := one.paces[kind]
		end := of.since.Add(factPeriod)
		switch {
		case of.others == 0:
		case p.now < end:
			p.timers.Set(timer{kind: paceTimer, site: one.Site}, end)
		default:
			delete(one.paces, kind)
			p.fact(event.Fact{Kind: kind, Site: one.Site, Others: of.others, Text: fmt.Sprintf(
				"%d more of this kind since %s", of.others, of.since.Text())})
		}
	}
}
