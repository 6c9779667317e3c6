package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/metrics"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// scrapeTimeout bounds what a scrape or a question about the peer's health asks.
const scrapeTimeout = 5 * time.Second

// startMetrics serves the counters and the health, if that is configured.
func (d *Daemon) startMetrics(ctx context.Context) error {
	d.meter.WatchSites(d.cfg.Gossip != nil, d.sites)
	d.meter.WatchStore(d.storeStats)
	d.meter.WatchTransfers(d.transfers)
	d.meter.WatchDisk(d.freeSpace)
	d.meter.WatchRoster(d.rosterEnd)
	if d.cfg.Metrics.Listen == "" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", d.cfg.Metrics.Listen)
	if err != nil {
		return fmt.Errorf("[metrics]: %w%s", err, addressRemedy(err, "[metrics] listen"))
	}
	server := &http.Server{
		Handler:           d.meter.Handler(metrics.Health{Live: d.healthy, Ready: d.healthy}),
		ReadHeaderTimeout: scrapeTimeout,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}
	d.launch(ctx, "the metrics", func(ctx context.Context) error {
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
func (d *Daemon) sites(ctx context.Context) ([]view.Site, error) {
	reply, err := d.node.Ask(ctx, func(asked event.AskID) event.Event { return event.AskSites{Asked: asked} })
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
func (d *Daemon) alive(ctx context.Context) error {
	_, err := d.sites(ctx)
	return err
}

func (d *Daemon) healthy() error {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	return d.alive(ctx)
}

// transfers are the counters of files by partner.
func (d *Daemon) transfers() (all []metrics.Transfer) {
	for _, t := range d.links.Traffic() {
		all = append(all, metrics.Transfer{
			Partner: t.Site, Streams: t.Streams,
			Sent: t.Sent, Fetched: t.Fetched, SentByNATS: t.SentByNATS, FetchedByNATS: t.FetchedByNATS,
		})
	}
	return all
}

func (d *Daemon) storeStats() metrics.StoreStats {
	s := d.store.Stats()
	return metrics.StoreStats{
		Commits: s.Commits, Requests: s.Requests, Rows: s.Rows, Bytes: s.Bytes, Failures: s.Failures,
		Busy: s.Busy, Queued: s.Queued, FileBytes: s.FileBytes, FreeBytes: s.FreeBytes,
	}
}
