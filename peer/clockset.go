package peer

import "github.com/switchyard-hpc/switchyard/protocol"

// clockSet puts off, by as much as the clock was set forward, all that is to happen after some
// time, and with it how long ago others were heard: the time has not gone by for anybody. Else
// partners would seem silent, and jobs with Requeue would be taken from a site that is well.
// Rows keep their instants, which people read. As these may have come to seem old at one blow,
// by a clock that is wrong now, a long step puts off what is forgotten by its age.
func (p *Peer) clockSet(by protocol.Duration) {
	if by <= 0 {
		return
	}
	if by >= p.cfg.TombstoneTTL/2 {
		p.keepAll = p.now.Add(p.cfg.TombstoneTTL)
	}
	p.timers.PutOff(by)
	p.queue.PutOff(by)
	putOff(by, &p.hinted, &p.loadAt)
	for _, one := range p.partners.All() {
		one.PutOff(by)
	}
	for _, j := range p.rows.Jobs {
		putOff(by, &j.Asked)
		j.Excluded.PutOff(by)
	}
	for _, r := range p.rounds {
		putOff(by, &r.Opened)
	}
}

// putOff moves instants, but for those that are 0: they have not come about.
func putOff(by protocol.Duration, instants ...*protocol.Instant) {
	for _, at := range instants {
		if *at != 0 {
			*at = at.Add(by)
		}
	}
}
