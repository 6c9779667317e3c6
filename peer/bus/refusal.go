package bus

import (
	"crypto/tls"
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// When two sites disagree about a key no session comes up, and each end sees half of why. So the
// server sends a caller with an unknown key that key, and a caller says by the
// server name of TLS which site it is, before it knows whether it takes the server's key. What a
// caller says of itself proves nothing: it is reported to the operator, and has no other effect.

const (
	// unknownKey begins what the acceptor answers to a caller whose key is of no partner.
	unknownKey = "unknown public key"
	// badCertificate is in the error of a handshake that the caller ended because of the key.
	badCertificate = "remote error: tls: bad certificate"

	// Limit of reports about refused keys of one partner: keysLogged immediately, then one per
	// logKeysEvery.
	keysLogged   = 3
	logKeysEvery = time.Minute
)

// keyRefused records that a key keeps the link down and why, and calls the handler if the
// reason has changed. Of several links the one that is dialled counts: there
// the partner has shown its key.
func (l *link) keyRefused(why string) {
	p := l.partner
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.connected { // by another link, or a stranger has made it up
		return
	}
	l.refused = why
	for _, one := range p.links {
		if one.refused != "" {
			why = one.refused
			break
		}
	}
	if why != p.refused && p.refusals.Allow() {
		p.refused = why
		p.inbox.change(nil, why)
	}
}

// accepted forgets refused keys, as a session is up. The caller holds the lock.
func (p *partner) accepted() {
	p.refused = ""
	for _, l := range p.links {
		l.refused = ""
	}
}

// shownOther records that the partner's server has another key than configured.
func (l *link) shownOther(state tls.ConnectionState) {
	p := l.partner
	key, err := identity.PeerKey(state)
	if err != nil {
		key = err.Error()
	}
	l.keyRefused(fmt.Sprintf("its key is refused here: its server at %[1]s shows %[2]s, and %[3]s; "+
		"compare with what keygen printed at %[4]s, and with url", p.URL, key, p.keyText(), p.Site))
}

// dialFailed looks whether the partner's server has refused this site's key.
func (l *link) dialFailed(err error) {
	if err == nil || !strings.Contains(err.Error(), unknownKey) {
		return
	}
	p := l.partner
	l.keyRefused(fmt.Sprintf("it refuses this site's key, %s: public_key of [[partner]] %s there is another, or that table is missing; "+
		"ask its administrator to compare them", p.bus.key().Public(), p.bus.cfg.Site))
}

// strangeKey records a caller with an unknown key that claims the name of a partner.
func (b *Bus) strangeKey(name, key string) {
	p := b.roster.Load().bySite[protocol.SiteName(name)]
	if p == nil || p.inbound == nil {
		return
	}
	p.inbound.keyRefused(fmt.Sprintf("its key is refused here: a peer that calls itself %[1]s shows %[2]s, and %[3]s; "+
		"compare with what keygen printed at %[1]s", p.Site, key, p.keyText()))
}

// hungUp records a caller that ended the handshake and claimed the name of a partner.
func (b *Bus) hungUp(name string, err error) {
	p := b.roster.Load().bySite[protocol.SiteName(name)]
	if p == nil || p.inbound == nil || !strings.Contains(err.Error(), badCertificate) {
		return
	}
	p.inbound.keyRefused(fmt.Sprintf("a peer that calls itself %s refuses this site's key, %s: public_key of [[partner]] %s there is another; "+
		"ask its administrator to compare them", p.Site, b.key().Public(), b.cfg.Site))
}

// unsigned records a hello in the partner's name without a valid signature of its key.
func (l *link) unsigned() {
	p := l.partner
	l.keyRefused(fmt.Sprintf("its key is refused here: a hello in its name is signed with another one, and %[1]s; "+
		"compare with what keygen printed at %[2]s", p.keyText(), p.Site))
}

// keyText says which keys of the partner are configured.
func (p Partner) keyText() string {
	text := fmt.Sprintf("public_key of [[partner]] %s is %s", p.Site, p.PublicKey)
	if p.NextPublicKey != "" {
		text += " and next_public_key " + p.NextPublicKey
	}
	return text
}

// refusalOf is what a NATS server says to a caller whose key it does not know.
func refusalOf(key string) []byte {
	return []byte("-ERR '" + unknownKey + " " + key + "'\r\n")
}
