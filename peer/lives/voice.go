package lives

import (
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Voice is what one life of a peer has heard of the lives that speak for a partner. The zero
// Voice has heard none.
type Voice struct {
	Present protocol.Life // that spoke last; zero: none has

	former []protocol.Life // that spoke before it
	twins  []protocol.Life // two that speak by turns; nil: only one does
	stale  string          // why the partner's store is not believed; empty: it is
}

// maxFormer bounds the lives that are remembered of a partner, which may start again and again.
const maxFormer = 8

// Hear takes which life speaks for a partner. Stopped says that it starts nothing until its
// operator decides, and known is the latest life that this site has durably seen of the partner.
// The answer is what is to be said of two peers that have just been found to run as the site;
// empty: nothing.
func (v *Voice) Hear(site protocol.SiteName, life, known protocol.Life, stopped bool) (twoPeers string) {
	last := v.Present
	v.Present = life
	if last.Boot != 0 && !life.Same(last) {
		twoPeers = v.change(site, life, last)
	}
	switch {
	case stopped: // it has done nothing that another life must know
		v.stale = fmt.Sprintf("it starts nothing until its operator has run `switchyard recover` there (%v)", life)
	case !life.Follows(known):
		v.stale = fmt.Sprintf("its store is older than what it has said of it before: it is at %v, and was at %v; "+
			"its operator must run `switchyard recover` there", life, known)
	default:
		v.stale = ""
	}
	return twoPeers
}

// change takes another life than the last one. One that was heard before another one, and is
// heard after it, has run all the time, and so do both.
func (v *Voice) change(site protocol.SiteName, life, last protocol.Life) (twoPeers string) {
	if !slices.ContainsFunc(v.former, life.Same) {
		if v.former = append(v.former, last); len(v.former) > maxFormer {
			v.former = v.former[1:]
		}
		v.twins = nil // it began after both
		return ""
	}
	if !slices.ContainsFunc(v.former, last.Same) {
		v.former = append(v.former, last)
	}
	if len(v.twins) == 0 {
		twoPeers = fmt.Sprintf("two peers run as %s: %v, and %v; no jobs are exchanged with either until one is shut down", site, life, last)
	}
	v.twins = []protocol.Life{life, last}
	return twoPeers
}

// Twin is the other life that is heard beside the present one; zero: there is none.
func (v *Voice) Twin() protocol.Life {
	for _, twin := range v.twins {
		if !twin.Same(v.Present) {
			return twin
		}
	}
	return protocol.Life{}
}

// Late says whether a watermark is of a life that has ended meanwhile: it was under way when
// another one began.
func (v *Voice) Late(life protocol.Life) bool {
	now := v.Present
	later := life.Incarnation > now.Incarnation || life.Incarnation == now.Incarnation && life.Boot > now.Boot
	return !life.Same(now) && !later
}

// OtherThan says whether a life has spoken already that is not the given one.
func (v *Voice) OtherThan(life protocol.Life) bool {
	return v.Present.Boot != 0 && !v.Present.Same(life)
}

// DistrustReason is why nothing is believed that the partner says of jobs; empty: it is.
func (v *Voice) DistrustReason(site protocol.SiteName) string {
	if len(v.twins) > 0 {
		return fmt.Sprintf("two peers run as %s: %v and %v; one must be shut down", site, v.twins[0], v.twins[1])
	}
	return v.stale
}
