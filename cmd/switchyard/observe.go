package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/metrics"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// scrapePatience bounds what a scrape or a question about the peer's health asks.
const scrapePatience = 5 * time.Second

// startMetrics serves the counters and the health, if that is configured.
func (p *peerProcess) startMetrics(ctx context.Context) error {
	p.meter.WatchSites(p.sites)
	p.meter.WatchStore(p.storeStats)
	if p.cfg.Metrics.Listen == "" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", p.cfg.Metrics.Listen)
	if err != nil {
		return fmt.Errorf("[metrics]: %w%s", err, taken(err, "[metrics] listen"))
	}
	server := &http.Server{
		Handler:           p.meter.Handler(metrics.Health{Live: p.well, Ready: p.well}),
		ReadHeaderTimeout: scrapePatience,
		ErrorLog:          slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}
	p.launch(ctx, "the metrics", func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // Serve says how it went
		defer stop()
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("[metrics]: %w", err)
		}
		return nil
	})
	return nil
}

// sites is what the peer knows of every site.
func (p *peerProcess) sites(ctx context.Context) ([]view.Site, error) {
	reply, err := p.node.Ask(ctx, func(asked peer.AskID) peer.Event { return peer.AskSites{Asked: asked} })
	if err != nil {
		return nil, err
	}
	sites, ok := reply.(view.Sites)
	if !ok {
		return nil, fmt.Errorf("the peer answered with %T", reply)
	}
	return sites.Sites, nil
}

// alive asks the peer something.
func (p *peerProcess) alive(ctx context.Context) error {
	_, err := p.sites(ctx)
	return err
}

func (p *peerProcess) well() error {
	ctx, cancel := context.WithTimeout(context.Background(), scrapePatience)
	defer cancel()
	return p.alive(ctx)
}

func (p *peerProcess) storeStats() metrics.StoreStats {
	s := p.store.Stats()
	return metrics.StoreStats{
		Commits: s.Commits, Requests: s.Requests, Rows: s.Rows, Bytes: s.Bytes, Failures: s.Failures,
		Busy: s.Busy, Queued: s.Queued, FileBytes: s.FileBytes, FreeBytes: s.FreeBytes,
	}
}
