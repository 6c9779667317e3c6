package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/peer/identity"
)

func (d *Daemon) startLinks(ctx context.Context) error {
	cfg := bus.Config{
		Site: d.cfg.Site.Name, Key: d.key, Former: d.keys, Listen: d.cfg.NATS.Listen,
		Card: d.node.Card, Handler: busHandler{d.node}, Log: d.log,
		Streams: d.cfg.Transfer.Streams, MaxRate: int64(d.cfg.Transfer.MaxRate),
	}
	if n := d.cfg.NATS; n.URL != "" {
		cfg.Listen = ""
		cfg.External = &bus.External{
			URL: n.URL, Creds: string(n.Creds), Nkey: string(n.Nkey), Token: string(n.Token), CA: string(n.CA),
		}
	}
	cfg.Partners = busPartners(d.cfg)
	links, err := bus.New(cfg)
	if err == nil {
		err = links.Start(ctx)
	}
	d.links = links
	if err != nil {
		return fmt.Errorf("[nats]: %w%s", err, addressRemedy(err, "[nats] listen"))
	}
	d.onStop("the links", func() error { links.Close(); return nil })
	d.node.Attach(transport{links}, nil)
	if d.cfg.Gossip == nil {
		return nil
	}
	d.onStop("the gossip", func() error {
		d.reloading.Lock()
		defer d.reloading.Unlock()
		return d.stopGossip()
	})
	d.reloading.Lock()
	defer d.reloading.Unlock()
	return d.startGossip(d.cfg, d.key, nil) //nolint:contextcheck // it runs until it is closed
}

// busPartners are the partners as the links need them.
func busPartners(cfg *config.Config) (out []bus.Partner) {
	for _, partner := range cfg.Partners {
		out = append(out, bus.Partner{
			Site: partner.Name, PublicKey: partner.PublicKey, NextPublicKey: partner.NextPublicKey,
			URL: partner.URL, MaxRate: int64(partner.MaxRate),
		})
	}
	return out
}

// gossipLeave is how long leaving the gossip may take.
const gossipLeave = 500 * time.Millisecond

// startGossip begins to gossip as the site with a key, and looks for members at some addresses beside those of the
// configuration. The caller holds reloading.
func (d *Daemon) startGossip(cfg *config.Config, key *identity.Key, members []string) error {
	card := d.node.Card(d.cfg.Site.Name)
	if card.Site == "" {
		return nil // the node has stopped, and says why
	}
	table := d.cfg.Gossip
	talk, err := gossip.Start(gossip.Config{
		Self: gossip.Identity{
			Site: d.cfg.Site.Name, Number: d.cfg.Site.Number, PublicKey: key.Public(),
			FirstStart: card.FirstStart, Incarnation: card.Incarnation,
		},
		Bind: table.Bind, Advertise: table.Advertise, Join: slices.Concat(table.Join, members), KeyringFile: string(table.Keyring),
		Every: table.AnnounceInterval.Std(), Rejoin: table.RejoinInterval.Std(), Trusted: cfg.Trusted(),
		Seed:    d.seed() + uint64(d.cfg.Site.Number),
		Sign:    key.Signer(identity.Gossip),
		Verify:  identity.Verifier(identity.Gossip),
		Handler: gossipHandler{d.node},
		Logger:  d.log,
	})
	if err != nil {
		return err // it names the key and the remedy
	}
	d.gossip.Store(talk)
	d.node.Attach(transport{d.links}, talk)
	return nil
}

// stopGossip ends what startGossip has begun, if it has. The caller holds reloading.
func (d *Daemon) stopGossip() error {
	talk := d.gossip.Load()
	if talk == nil {
		return nil
	}
	d.gossip.Store(nil)
	d.node.Attach(transport{d.links}, nil)
	if err := talk.Leave(gossipLeave); err != nil {
		d.log.Debug("gossip_left_in_silence", "error", err) // the others find out by themselves
	}
	return talk.Close()
}

// gossipsAlone reports whether the site gossips and no other member answers, although it has partners.
func (d *Daemon) gossipsAlone() bool {
	talk := d.gossip.Load()
	return talk != nil && len(d.active.Load().Partners) > 0 && len(talk.Members()) == 0
}

// changeGossip has the gossip go on with the keys of a configuration. Members know this one by its key, so that with another
// one it leaves and joins again.
func (d *Daemon) changeGossip(cfg *config.Config, key *identity.Key) error {
	talk := d.gossip.Load()
	switch {
	case d.cfg.Gossip == nil:
		return nil
	case talk != nil && key.Public() == talk.Self().PublicKey:
		talk.SetTrusted(cfg.Trusted())
		return nil
	}
	var members []string
	if talk != nil {
		for _, one := range talk.Members() {
			members = append(members, one.Address)
		}
	}
	if err := d.stopGossip(); err != nil {
		return err
	}
	return d.startGossip(cfg, key, members)
}

// addressRemedy adds the remedy to the error of an address in use.
func addressRemedy(err error, key string) string {
	if errors.Is(err, syscall.EADDRINUSE) {
		return "; another program listens there: stop it, or choose another port in " + key
	}
	return ""
}
