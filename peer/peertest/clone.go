package peertest

import (
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// redial is how soon a peer whose session another one took connects again.
const redial = protocol.Second

// Copy is the rows as they are now, for a backup or a clone.
func (r Rows) Copy() Rows {
	out := row.Rows{}
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

// Directory is what a site keeps in its state directory, at some time: rows and spool.
type Directory struct {
	rows  Rows
	batch spool
}

// Directory is what the state directory has now.
func (s *Site) Directory() Directory {
	return Directory{rows: s.rows.Copy(), batch: s.Batch.kept()}
}

// SpoolOf is the directory with the spool as it is now, copied after the rows.
func (d Directory) SpoolOf(s *Site) Directory {
	d.batch = s.Batch.kept()
	return d
}

// RollBack puts the state directory of an earlier time in the place of a site's, while its
// peer is down. What ran then has failed since.
func (w *World) RollBack(site protocol.SiteName, to Directory) {
	w.Restore(site, to.rows)
	s := w.Site(site)
	s.Batch = to.batch.found(w.monitor.startedAt(s), true)
	w.monitor.respool[site] = true
	w.note("%s has the spool of that time", site)
}

// Clone starts a second peer of a site, with a copy of its state directory. What ran then is
// not known there. Sessions go to the one of the two that connected last; the other one dials
// again.
func (w *World) Clone(site protocol.SiteName, from Directory, change func(*rules.Config)) (*Site, error) {
	of := w.Site(site)
	c := newSite(w, SiteOptions{
		Name: of.Name, Number: of.cfg.Number, Capacity: of.cfg.Capacity, Skew: of.skew, Policy: of.policy, Prices: of.prices,
	})
	c.cfg, c.rows = of.cfg, from.rows.Copy()
	c.Batch = from.batch.found(w.monitor.startedAt(c), false)
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
			delete(other.reported, s.Name)
			other.step(event.Disconnected{Site: s.Name})
		}
	}
	maps.DeleteFunc(w.holders, func(_ direction, holder *Site) bool { return holder == s })
	w.sites = slices.DeleteFunc(w.sites, func(other *Site) bool { return other == s })
	w.monitor.restored(w.Site(s.Name)) // the rows of the one that is left count
	w.settle()
}

// AskOne feeds one of the peers of a site that was cloned a question.
func (w *World) AskOne(s *Site, question func(event.AskID) event.Event) event.AskID {
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
	if was == nil || was == s || !was.Up() || !was.reported[other.Name] {
		return
	}
	delete(was.reported, other.Name)
	was.step(event.Disconnected{Site: other.Name})
	w.after(redial, func() {
		if was.Up() && other.Up() && w.holder(was.Name, other.Name) != was {
			w.join(was, other)
		}
	})
}
