package otlp

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/spans"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Config is where spans go, and whose they are.
type Config struct {
	Site     protocol.SiteName
	Version  string
	Endpoint string                         // URL of a collector; empty: spans go into a file
	CA       string                         // file with certificates of authorities for Endpoint; empty: those of the system
	Headers  string                         // file with headers of each request to Endpoint; empty: none
	File     string                         // to which lines of OTLP/JSON are appended, without Endpoint
	Log      *slog.Logger                   // required
	Count    func(result string, parts int) // counts jobs and guests: Sent, Failed or Dropped
}

// The results of an export.
const (
	Sent    = "sent"
	Failed  = "failed"  // after the last try
	Dropped = "dropped" // too many waited
)

const (
	waiting  = 1000            // jobs and guests that may wait
	maxSpans = 512             // after which a batch is sent; it may have as many more as one job has
	delay    = 2 * time.Second // for which a batch waits for others
	patience = time.Minute     // for the export of a batch, with its tries
	parting  = 5 * time.Second // for the export of all that waits when the peer stops
)

// Exporter exports spans.
type Exporter struct {
	Config

	queue chan part
	send  func(context.Context, *tracepb.ResourceSpans) error
}

// part is the part of a trace that is of one job at this site.
type part struct {
	job   protocol.JobID
	story func() ([]event.LogEvent, error)
	spans func([]event.LogEvent) []spans.Span
}

// New makes an exporter, which [Exporter.Run] starts. The error says what is wrong with the file CA.
func New(cfg Config) (*Exporter, error) {
	e := &Exporter{Config: cfg, queue: make(chan part, waiting)}
	if cfg.Endpoint == "" {
		e.send = e.append
		return e, nil
	}
	upload, err := uploader(&cfg)
	e.send = upload
	return e, err
}

// Job implements [node.Tracer].
func (e *Exporter) Job(v *view.Job, story func() ([]event.LogEvent, error)) {
	e.enqueue(part{v.ID, story, func(events []event.LogEvent) []spans.Span { return spans.OfJob(v, events) }})
}

// Guest implements [node.Tracer].
func (e *Exporter) Guest(g spans.Guest, run *view.Job, story func() ([]event.LogEvent, error)) {
	e.enqueue(part{g.ID, story, func(events []event.LogEvent) []spans.Span { return g.At(e.Site, run, events) }})
}

func (e *Exporter) enqueue(p part) {
	select {
	case e.queue <- p:
	default:
		e.Count(Dropped, 1)
		e.Log.Warn("trace_dropped", "job", uint64(p.job), "why", fmt.Sprintf("%d wait", waiting))
	}
}

// Run exports spans until ctx ends, and then those that wait.
func (e *Exporter) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case first := <-e.queue:
			e.export(ctx, e.collect(ctx, first))
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	for len(e.queue) > 0 {
		e.export(last, e.collect(ctx, <-e.queue))
	}
	return nil
}

// batch are spans that are sent at once.
type batch struct {
	parts int // of traces
	spans []*tracepb.Span
}

// collect makes a batch of a part and of those that come soon after it; once ctx has ended of those that are there.
func (e *Exporter) collect(ctx context.Context, first part) *batch {
	b := &batch{}
	e.add(b, first)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for ctx.Err() == nil && len(b.spans) < maxSpans {
		select {
		case <-ctx.Done():
		case <-timer.C:
			return b
		case next := <-e.queue:
			e.add(b, next)
		}
	}
	for len(e.queue) > 0 && len(b.spans) < maxSpans {
		e.add(b, <-e.queue)
	}
	return b
}

// add makes the spans of a part. Without its log events it has those that its view shows.
func (e *Exporter) add(b *batch, p part) {
	events, err := p.story()
	if err != nil {
		e.Log.Warn("trace_incomplete", "job", uint64(p.job), "error", err)
	}
	if made := p.spans(events); len(made) > 0 {
		b.parts++
		b.spans = append(b.spans, encode(made)...)
	}
}

func (e *Exporter) export(ctx context.Context, b *batch) {
	if b.parts == 0 {
		return // none of them is sampled
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := e.send(limited, e.ofSite(b.spans)); err != nil {
		e.Count(Failed, b.parts)
		e.Log.Warn("traces_failed", "traces", b.parts, "spans", len(b.spans), "error", err)
		return
	}
	e.Count(Sent, b.parts)
}
