package daemon

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/peer/identity"
)

func (d *Daemon) startLinks(ctx context.Context) error {
	cfg := bus.Config{
		Site: d.cfg.Site.Name, Key: d.key, Listen: d.cfg.NATS.Listen,
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
	if d.gossip, err = d.startGossip(); err != nil { //nolint:contextcheck // it runs until it is closed
		return err
	}
	if d.gossip == nil {
		d.node.Attach(transport{links}, nil)
		return nil
	}
	d.node.Attach(transport{links}, d.gossip)
	return nil
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

// startGossip returns nil without a table [gossip].
func (d *Daemon) startGossip() (*gossip.Gossip, error) {
	cfg := d.cfg.Gossip
	if cfg == nil {
		return nil, nil //nolint:nilnil // documented
	}
	card := d.node.Card(d.cfg.Site.Name)
	if card.Site == "" {
		return nil, nil //nolint:nilnil // the node has stopped, and says why
	}
	talk, err := gossip.Start(gossip.Config{
		Self: gossip.Identity{
			Site: d.cfg.Site.Name, Number: d.cfg.Site.Number, PublicKey: d.key.Public(),
			FirstStart: card.FirstStart, Incarnation: card.Incarnation,
		},
		Bind: cfg.Bind, Advertise: cfg.Advertise, Join: cfg.Join, KeyringFile: string(cfg.Keyring),
		Every: cfg.AnnounceInterval.Std(), Rejoin: cfg.RejoinInterval.Std(), Trusted: d.cfg.Trusted(),
		Seed:    d.seed() + uint64(d.cfg.Site.Number),
		Sign:    d.key.Signer(identity.Gossip),
		Verify:  identity.Verifier(identity.Gossip),
		Handler: gossipHandler{d.node},
		Logger:  d.log,
	})
	if err != nil {
		return nil, err // it names the key and the remedy
	}
	d.onStop("the gossip", func() error {
		if err := talk.Leave(gossipLeave); err != nil {
			d.log.Debug("gossip_left_in_silence", "error", err) // the others find out by themselves
		}
		return talk.Close()
	})
	return talk, nil
}

// addressRemedy adds the remedy to the error of an address in use.
func addressRemedy(err error, key string) string {
	if errors.Is(err, syscall.EADDRINUSE) {
		return "; another program listens there: stop it, or choose another port in " + key
	}
	return ""
}
