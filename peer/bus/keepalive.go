package bus

import (
	"context"
	"time"
)

// maintain opens sessions, pings and notices silence, until the context ends.
func (l *link) maintain(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-l.wake:
		}
		timer.Reset(jitter(l.step(time.Now())))
	}
}

// step does what is due and returns when to look again.
func (l *link) step(now time.Time) time.Duration {
	timing := l.partner.bus.cfg.Timing
	l.renewForCard()
	l.mu.Lock()
	connected := l.conn != nil && l.connected.Load()
	silent := l.current != nil && (now.Sub(l.heard) > timing.Silence || l.hasLeft(now))
	alive := l.current != nil && !silent
	if alive {
		l.age(now)
	}
	open := l.opener && connected && (!alive || l.renew)
	settled := l.settled()
	l.mu.Unlock()
	if silent {
		l.partner.bus.cfg.Log.Info("partner_unresponsive", "site", string(l.partner.Site))
		l.down()
	}
	if alive {
		_ = l.enqueue(outgoing{op: opPing}) // a full queue keeps the link alive as well
	}
	if open {
		l.sendHello()
	}
	if alive && !open && settled {
		return timing.Keepalive
	}
	return timing.Retry
}

// renewForCard asks for a new session while the partner has a card of this site that is not the current one.
func (l *link) renewForCard() {
	l.mu.Lock()
	outdated := l.current != nil && !l.outdated.IsZero()
	l.mu.Unlock()
	if outdated {
		l.askAgain()
	}
}

// settled says whether the link only has to be kept alive. The caller holds the lock.
func (l *link) settled() bool { return l.gone.IsZero() && l.outdated.IsZero() }

// hasLeft says whether the partner's connection has been closed for long enough.
// The caller holds the lock.
func (l *link) hasLeft(now time.Time) bool {
	return !l.gone.IsZero() && now.Sub(l.gone) >= l.partner.bus.cfg.Timing.Retry
}

// age has a stale session renewed, and forgets the keys of the one before once
// nothing of it can be under way. The caller holds the lock.
func (l *link) age(now time.Time) {
	timing := l.partner.bus.cfg.Timing
	if l.opener && l.current.stale(now, timing.Renew) {
		l.renew = true
	}
	if now.Sub(l.current.since) > timing.Silence {
		l.previous = nil
	}
}

// down ends the session.
func (l *link) down() {
	l.mu.Lock()
	was := l.current != nil
	l.current, l.previous, l.pending, l.opening, l.answered, l.answeredN = nil, nil, nil, nil, nil, nil
	l.renew = false
	l.parts.drop()
	l.mu.Unlock()
	if was {
		l.partner.refresh(nil)
	}
	l.signalStep()
}
