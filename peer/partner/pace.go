package partner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// A partner can cause as many log events of some kinds as it sends messages. Of each kind at
// most factsOneByOne are made in each period; of the rest only the number, at the end of the period.
const (
	factsOneByOne = 5
	factPeriod    = protocol.Hour
)

// paces are the facts that a partner's messages bring about, by their kind.
type paces map[string]*pace

// pace counts the facts of a kind about a partner in a period.
type pace struct {
	since  protocol.Instant // when the period began
	made   int
	others int // that were not made
}

func (of *pace) end() protocol.Instant { return of.since.Add(factPeriod) }

// Pace counts a fact that a partner's message brings about, and says whether it is made. If not,
// end is when its period is over and [Partner.EndPeriod] has to be called.
func (p *Partner) Pace(kind string, now protocol.Instant) (made bool, end protocol.Instant) {
	if p.paces == nil {
		p.paces = paces{}
	}
	of := p.paces[kind]
	if of == nil || (of.others == 0 && now >= of.end()) {
		of = &pace{since: now}
		p.paces[kind] = of
	}
	if of.made < factsOneByOne {
		of.made++
		return true, 0
	}
	of.others++
	return false, of.end()
}

// Unmade are facts of a kind that were not made in a period, of which only the number is said.
type Unmade struct {
	Kind   string
	Others int
	Text   string
}

// EndPeriod are the facts that were not made in the periods which are over. Next is when to look
// again, since another period goes on; 0: none does.
func (p *Partner) EndPeriod(now protocol.Instant) (over []Unmade, next protocol.Instant) {
	for _, kind := range slices.Sorted(maps.Keys(p.paces)) {
		of := p.paces[kind]
		switch {
		case of.others == 0:
		case now < of.end():
			next = of.end()
		default:
			delete(p.paces, kind)
			over = append(over, Unmade{kind, of.others, fmt.Sprintf("%d more of this kind since %s", of.others, of.since.Text())})
		}
	}
	return over, next
}
