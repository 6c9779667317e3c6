package daemon

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/metrics"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/audit"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// openAudit opens the audit log, if the configuration has one.
func (d *Daemon) openAudit(context.Context) (err error) {
	cfg := d.cfg.Audit
	if !cfg.Enabled {
		return nil
	}
	d.audit, err = audit.Open(audit.Config{
		Path:    cmp.Or(string(cfg.File), filepath.Join(string(d.cfg.Site.StateDir), "audit.jsonl")),
		MaxSize: cfg.MaxSize.Bytes(), Files: cfg.Files, Log: d.log, Lost: d.meter.AuditLost,
	})
	if err != nil {
		return fmt.Errorf("[audit] file: %w", err)
	}
	d.auditPeer("peer-start", "version "+d.options.Build.Version)
	d.onStop("the audit log", func() error {
		d.auditPeer("peer-stop", "")
		return d.audit.Close()
	})
	return nil
}

// auditPeer records something that the peer itself does.
func (d *Daemon) auditPeer(action, what string) {
	d.audit.Write(audit.Entry{At: time.Now(), Action: action, Way: audit.Peer, Result: audit.Done, Reason: what})
}

// auditSignal records a reload by SIGHUP.
func (d *Daemon) auditSignal(done api.Reloaded, err error) {
	e := audit.Entry{At: time.Now(), Action: "reload", Way: audit.Signal, Result: audit.Done}
	done.Audit(&e)
	if err != nil {
		e.Result, e.Reason = string(view.Unavailable), err.Error()
	}
	d.audit.Write(e)
}

// observer counts what happens to jobs, and records what partners do.
type observer struct {
	*metrics.Metrics

	audit *audit.Log
}

// Count implements [node.Meter].
func (o observer) Count(f event.LogEvent) {
	o.Metrics.Count(f)
	if e, ok := audit.OfEvent(f); ok {
		o.audit.Add(e) // what happens to jobs does not wait for the disk
	}
}
