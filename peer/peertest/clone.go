package peertest

import (
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// redial is how soon a peer whose session another one took connects again.
const redial = protocol.Second

// Copy is the rows as they are now, for a backup or a clone.
func (r Rows) Copy() Rows {
	out := peer.Rows{}
	for table, rows := range r.Rows {
		out[table] = maps.Clone(rows)
	}
	return Rows{out}
}

// Restore puts the rows of an earlier time in the place of a site's, while its peer is down.
// Its batch system, and what is outside the rows, stay as they are.
func (w *World) Restore(site protocol.SiteName, rows Rows) {
	s := w.Site(site)
	s.crash()
	s.rows = rows.Copy()
	w.monitor.restored(s)
	w.note("%s is restored", site)
}

// Clone starts a second peer of a site, from the rows and with a batch system of its own.
// Sessions go to the one of the two that connected last; the other one dials again.
func (w *World) Clone(site protocol.SiteName, rows Rows, change func(*peer.Config)) (*Site, error) {
	of := w.Site(site)
	c := newSite(w, SiteOptions{
		Name: of.Name, Number: of.cfg.Number, Capacity: of.cfg.Capacity, Skew: of.skew, Policy: of.policy, Prices: of.prices,
	})
	c.cfg, c.rows = of.cfg, rows.Copy()
	c.Batch = NewBatch(engine.Of(of.cfg.Capacity), func(tag protocol.Tag) { w.monitor.started(c, tag) })
	if change != nil {
		change(&c.cfg)
	}
	w.sites = append(w.sites, c)
	w.note("%s is cloned", site)
	if err := c.start(); err != nil {
		return nil, err
	}
	for _, other := range w.partnersOf(c) {
		w.join(c, other)
	}
	w.settle()
	return c, nil
}

// Stop ends one of the peers of a site that was cloned, for good.
func (w *World) Stop(s *Site) {
	s.crash()
	for _, other := range w.partnersOf(s) {
		if w.holder(s.Name, other.Name) == s {
			delete(other.told, s.Name)
			other.step(peer.Disconnected{Site: s.Name})
		}
	}
	maps.DeleteFunc(w.holders, func(_ direction, holder *Site) bool { return holder == s })
	w.sites = slices.DeleteFunc(w.sites, func(other *Site) bool { return other == s })
	w.settle()
}

// AskOne feeds one of the peers of a site that was cloned a question.
func (w *World) AskOne(s *Site, question func(peer.AskID) peer.Event) peer.AskID {
	s.asked++
	s.step(question(s.asked))
	w.settle()
	return s.asked
}

func (w *World) partnersOf(s *Site) []*Site {
	return slices.DeleteFunc(slices.Clone(w.sites), func(other *Site) bool { return other.Name == s.Name || !s.partner(other.Name) })
}

// holder is the peer that speaks for a site to another one.
func (w *World) holder(name, to protocol.SiteName) *Site {
	if s := w.holders[direction{name, to}]; s != nil {
		return s
	}
	return w.Site(name)
}

// take gives a peer its site's session with another one. Another peer of the site loses it,
// and dials again.
func (w *World) take(s, other *Site) {
	key := direction{s.Name, other.Name}
	was := w.holders[key]
	w.holders[key] = s
	if was == nil || was == s || !was.Up() || !was.told[other.Name] {
		return
	}
	delete(was.told, other.Name)
	was.step(peer.Disconnected{Site: other.Name})
	w.after(redial, func() {
		if was.Up() && other.Up() && w.holder(was.Name, other.Name) != was {
			w.join(was, other)
		}
	})
}
