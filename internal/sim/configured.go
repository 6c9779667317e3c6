package sim

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// configured says whether the sites have rules of their own.
func (c Config) configured() bool {
	return c.Scheme == Distributed && slices.ContainsFunc(c.Sites, func(s Site) bool { return s.Peer != nil })
}

// configure has the peer go by its own configuration. Who it is, and what it would need a
// network, a disk and users for, stay as they are in every simulation.
func (s *site) configure(own *Peer) {
	usual := s.cfg
	s.cfg = own.Config
	s.cfg.Site, s.cfg.Number, s.cfg.PublicKey, s.cfg.Software = usual.Site, usual.Number, usual.PublicKey, usual.Software
	s.cfg.Capacity, s.cfg.Reserves = usual.Capacity, usual.Reserves
	s.cfg.Accounts, s.cfg.DisableLogEvents = usual.Accounts, usual.DisableLogEvents
	s.cfg.MaxGridJobs, s.cfg.MaxUserJobs = usual.MaxGridJobs, usual.MaxUserJobs // a trace has been submitted
	s.cfg.Watermark, s.cfg.Witness, s.cfg.Machine, s.cfg.QueueApart = 0, protocol.Life{}, "", false
	s.cfg.Partners, s.cfg.Fallback = nil, ""
	if own.Fallback != nil {
		s.cfg.Fallback = own.Fallback.Info().Name
	}
}

// partnerConfigured links sites as their configurations do, where both sides say so.
func (g *grid) partnerConfigured() {
	said := func(from, of int) *rules.Partner {
		partners := g.cfg.Sites[from].Peer.Config.Partners
		at := slices.IndexFunc(partners, func(p rules.Partner) bool { return p.Site == g.sites[of].name })
		if at < 0 {
			return nil
		}
		return &partners[at]
	}
	for i, s := range g.sites {
		for other := range g.sites {
			partner := said(i, other)
			if other == i || partner == nil || said(other, i) == nil {
				continue
			}
			one := *partner
			one.PublicKey = g.sites[other].cfg.PublicKey
			s.cfg.Partners = append(s.cfg.Partners, one)
		}
	}
}
