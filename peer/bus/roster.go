package bus

import (
	"errors"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// roster is a set of partners, and the key by which this site shows itself to them. It never changes; the bus gets another.
type roster struct {
	key    *identity.Key
	own    []string // public keys that this site has or had
	bySite map[protocol.SiteName]*partner
	byKey  map[string]*partner
}

// newRoster makes a set, in which partners that stay as they are keep what runs for them if this site's key stays too.
func (b *Bus) newRoster(key *identity.Key, partners []Partner) *roster {
	before := b.roster.Load()
	if before == nil {
		before = &roster{own: b.cfg.Former}
	}
	next := &roster{key: key, own: before.own, bySite: map[protocol.SiteName]*partner{}, byKey: map[string]*partner{}}
	if !slices.Contains(next.own, key.Public()) {
		next.own = append(slices.Clone(next.own), key.Public())
	}
	for _, c := range partners {
		p := before.bySite[c.Site]
		if p == nil || p.Partner != c || key != before.key {
			p = newPartner(b, c)
			p.addLinks()
		}
		next.bySite[c.Site] = p
		for _, key := range c.keys() {
			next.byKey[key] = p
		}
	}
	return next
}

// key is that of this site.
func (b *Bus) key() *identity.Key { return b.roster.Load().key }

// without lists the partners that another set does not have as they are here.
func (r *roster) without(other *roster) (left []*partner) {
	for site, p := range r.bySite {
		if other.bySite[site] != p {
			left = append(left, p)
		}
	}
	return left
}

// SendCard has all partners get this site's card, which is another one now, and makes new sessions for that.
func (b *Bus) SendCard() {
	now := time.Now()
	for _, p := range b.roster.Load().bySite {
		for _, l := range p.links {
			l.sendCard(now)
		}
	}
}

// SetPartners replaces the partners and this site's key while the bus runs, or before. Partners that are there as they
// were keep their sessions, unless the key is another one. The connections of the others end, dialled and accepted ones; a
// partner with another key or address then starts again. After the return, the handler is not called
// for removed partners; for a connected one it has been called with its disconnection. It must not be called by the handler. After an error nothing has changed.
func (b *Bus) SetPartners(key *identity.Key, partners []Partner) error {
	if err := b.cfg.validatePartners(key, partners); err != nil {
		return err
	}
	b.changing.Lock()
	defer b.changing.Unlock()
	before, next := b.roster.Load(), b.newRoster(key, partners)
	if b.begin == nil {
		b.roster.Store(next)
		return nil
	}
	added, left := next.without(before), before.without(next)
	shown, err := b.serverTLS(key)
	if err != nil {
		return err
	}
	if err = b.joinOwn(added); err != nil {
		return err
	}
	b.roster.Store(next)
	if b.acceptor != nil {
		b.acceptor.config.Store(shown)
		b.acceptor.expel(left)
	}
	for _, p := range left {
		p.cancel()
	}
	for _, p := range left {
		p.stop()
		b.cfg.Log.Info("partner_changed", "site", string(p.Site))
	}
	for _, p := range added {
		b.begin(p)
	}
	return nil
}

// joinOwn makes the connections to the own server of partners that are new, all or none.
func (b *Bus) joinOwn(added []*partner) error {
	if b.server == nil {
		return nil
	}
	var errs []error
	for _, p := range added {
		errs = append(errs, b.connectOwn(p))
	}
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	for _, p := range added {
		p.wait()
	}
	return err
}
