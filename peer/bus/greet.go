package bus

import (
	"bytes"
	"time"

	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// What a link spends on hellos, since each costs signatures and key exchanges.
const (
	helloRate    = 100 // checked in a second
	sessionBurst = 4   // answered at once, then one in each Timing.Retry
	warnAgain    = time.Hour
)

// sendHello sends the hello that is not yet answered, or a new one. It stays the
// same until then, so that an answer counts however late it comes.
func (l *link) sendHello() {
	l.mu.Lock()
	o := l.opening
	l.mu.Unlock()
	if o == nil {
		if o = l.newOpening(nil); o == nil {
			return
		}
		l.mu.Lock()
		l.opening = o
		l.mu.Unlock()
	}
	l.warnUnanswered(o, time.Now())
	l.sendRaw(opHello, o.signed)
}

// warnUnanswered says so when the partner's server is reached and its peer does
// not answer: one of another version that is older than this notice does that.
func (l *link) warnUnanswered(o *opening, now time.Time) {
	p := l.partner
	if l != p.outbound || now.Sub(o.made) < p.bus.cfg.Timing.Silence || !l.mismatches.AllowN(now, 1) {
		return
	}
	p.bus.cfg.Log.Warn("handshake_unanswered", "hint", "its peer may not have this site as a partner, or may run another protocol version", "site", string(p.Site), "version", protocol.ProtocolVersion)
}

// newOpening makes a hello or an answer; nil when this site's card is at fault,
// which only its operator can fix.
func (l *link) newOpening(echo []byte) *opening {
	p := l.partner
	o, err := p.bus.newOpening(p.Site, echo)
	if err != nil {
		p.bus.cfg.Log.Error("handshake_send_failed", "site", string(p.Site), "error", err)
		return nil
	}
	return o
}

func (l *link) receiveHello(data []byte) error {
	p := l.partner
	if !l.hellos.Allow() {
		return reject(Overload, "more hellos than %d a second", helloRate)
	}
	g, err := readHello(data, p.bus.cfg.Site, p.Partner)
	switch reasonOf(err) {
	case BadVersion:
		l.refuseVersion(g, err)
	case BadSignature:
		l.unsigned()
	}
	if err != nil {
		return err
	}
	g.card = p.provenCard(g.card)
	if len(g.echo) > 0 {
		return l.finish(g)
	}
	return l.answer(g)
}

// refuseVersion says on both sides that a partner speaks another version: here in
// the log, and there by a hello of this version, which it refuses in its turn. An
// answer is not answered, and nothing more often than hellos are repeated.
func (l *link) refuseVersion(g *greeting, reason error) {
	p := l.partner
	if l.mismatches.Allow() {
		p.bus.cfg.Log.Warn("protocol_version_mismatch",
			"site", string(p.Site), "error", reason)
	}
	if len(g.echo) > 0 || len(g.nonce) != peerv1.NonceSize || !l.sessions.Allow() {
		return
	}
	if o := l.newOpening(g.nonce); o != nil {
		l.sendRaw(opHello, o.signed)
	}
}

// finish takes the answer to our hello: the session is up.
func (l *link) finish(g *greeting) error {
	l.mu.Lock()
	o := l.opening
	l.mu.Unlock()
	if o == nil {
		return nil // a second answer to a repeated hello
	}
	s, err := o.session(g)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.opening, l.renew = nil, false
	l.use(s)
	l.sentCard(o)
	l.mu.Unlock()
	_ = l.enqueue(outgoing{op: opPing}) // shows the partner that we have the keys
	l.partner.refresh(&g.card)
	l.signalStep()
	return nil
}

// sentCard notes that the partner has the card of an opening. The caller holds the lock.
func (l *link) sentCard(o *opening) {
	if o != nil && o.made.After(l.outdated) {
		l.outdated = time.Time{}
	}
}

// sendCard has the partner get this site's card again, with a new session: now, or as soon as sessions may be
// asked for again.
func (l *link) sendCard(now time.Time) {
	l.mu.Lock()
	l.outdated = now
	l.mu.Unlock()
	l.signalStep()
}

// use makes a session the current one. The caller holds the lock.
func (l *link) use(s *session) {
	l.previous, l.current, l.pending = l.current, s, nil
	l.heard = time.Now()
}

// answer answers a partner's hello, the same hello always with the same answer.
func (l *link) answer(g *greeting) error {
	l.mu.Lock()
	o, repeated := l.answered, bytes.Equal(l.answeredN, g.nonce)
	l.mu.Unlock()
	if repeated {
		l.sendRaw(opHello, o.signed)
		return nil
	}
	if !l.sessions.Allow() {
		return reject(Overload, "the partner opens sessions too fast")
	}
	if o = l.newOpening(g.nonce); o == nil {
		return nil
	}
	s, err := o.session(g)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.pending, l.answered, l.answeredN = s, o, g.nonce
	l.mu.Unlock()
	l.sendRaw(opHello, o.signed)
	return nil
}

// receiveAgain starts another handshake at the partner's request. The request is not
// authenticated, so its rate is limited, and the session stays until the
// new hello is answered.
func (l *link) receiveAgain() {
	if l.opener && l.againDue(time.Now()) {
		l.signalStep()
	}
}

// askAgain gets a new session, by opening it or by asking the opener.
func (l *link) askAgain() {
	if !l.againDue(time.Now()) {
		return
	}
	if l.opener {
		l.signalStep()
		return
	}
	l.sendRaw(opAgain, nil)
}

// againDue says whether another session may be asked for already, and if so
// makes step open it.
func (l *link) againDue(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.again) < l.partner.bus.cfg.Timing.Retry {
		return false
	}
	l.again, l.renew = now, l.opener
	return true
}
