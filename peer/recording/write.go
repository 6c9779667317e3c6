package recording

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Options say what is recorded and how.
type Options struct {
	Software string // that runs, with its version

	// Bodies records scripts, arguments and environments of jobs, which may be
	// secret. Decisions do not depend on them.
	Bodies bool
	// Clear records each Ready in clear besides its fingerprint, so that a
	// difference shows both sides. Recordings become several times larger.
	Clear bool

	// Buffer is how many steps may wait for the disk; default 16384. One more
	// ends the recording.
	Buffer int
	// Flush is how long a step may stay in memory, where kill -9 loses it; 0: only
	// while more steps are waiting.
	Flush time.Duration
	// Sync makes each flush survive a loss of power, at the price of an fsync.
	Sync bool
	// Grace is how long Close waits for the disk; default 10s.
	Grace time.Duration

	Log *slog.Logger // nil: nothing is logged
}

// Writer records one life of a peer. Begin and Stepped, with the configuration that Listen
// gives, belong to the goroutine that steps the peer; Close may be called from
// any.
type Writer struct {
	o    Options
	name string
	file file
	out  *bufio.Writer

	queue chan item
	heard heard  // in the step that is being made
	steps uint64 // handed over

	stop chan struct{} // closed when no more steps are taken
	done chan struct{} // closed when the file is; nil before Begin

	mu    sync.Mutex
	over  bool  // takes no more steps
	cause error // why it ended early
}

// file is what a recording goes to.
type file interface {
	io.WriteCloser
	Sync() error
}

// item is a step on its way to the file.
type item struct {
	n     uint64
	now   protocol.Instant
	event event.Event
	heard heard
	ready event.Ready
}

// heard is what the code of a peer's configuration answered in a step.
type heard struct {
	answers []Answer
	charges []Charge
	rates   []Rated
}

// Create makes the file, readable by its owner only. If the path is a directory, the
// file gets a name there from the time: each life of a peer has a recording of
// its own. A file that exists is left alone, with an error.
func Create(path string, o Options) (*Writer, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, time.Now().UTC().Format("switchyard-20060102T150405.000Z.rec"))
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("recording %s is there already, and a recording holds one life of a peer; "+
			"move it away, or give a directory", path)
	}
	if err != nil {
		return nil, fmt.Errorf("make the recording: %w", err)
	}
	return newWriter(path, f, o), nil
}

func newWriter(name string, f file, o Options) *Writer {
	o.Buffer = cmp.Or(max(o.Buffer, 0), 16384)
	o.Grace = cmp.Or(o.Grace, 10*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Writer{
		o: o, name: name, file: f, out: bufio.NewWriterSize(f, 64<<10),
		queue: make(chan item, o.Buffer), stop: make(chan struct{}),
	}
}

// Name is the path of the file.
func (w *Writer) Name() string { return w.name }

func (w *Writer) hear(a Answer) {
	for _, one := range w.heard.answers {
		if one.asks(a.Site, a.User) {
			return // accounts are pure: it was the same answer
		}
	}
	w.heard.answers = append(w.heard.answers, a)
}

// Listen returns the configuration with accounts, costs and curves of waiting that answer
// like its own and have their answers recorded. The peer must be made with it.
func (w *Writer) Listen(cfg rules.Config) rules.Config {
	if cfg.Accounts != nil {
		cfg.Accounts = &listener{to: cfg.Accounts, heard: w.hear}
	}
	if cfg.Costs != nil {
		cfg.Costs = &chargeListener{to: cfg.Costs, heard: w.hearCharge}
	}
	curves := maps.Clone(cfg.WaitingCosts)
	for name, curve := range curves {
		curves[name] = &rateListener{curve: name, to: curve, heard: w.hearRates}
	}
	cfg.WaitingCosts = curves
	return cfg
}

func (w *Writer) hearCharge(c Charge) { w.heard.charges = append(w.heard.charges, c) }

func (w *Writer) hearRates(r Rated) {
	for i := range w.heard.rates {
		if w.heard.rates[i].asks(r.Curve, r.Submitted, r.Now, r.Until) {
			return // curves are pure: it was the same answer
		}
	}
	w.heard.rates = append(w.heard.rates, r)
}

// Begin records what the peer is made from. It must be called once, before the
// first step. A failure ends the recording and is logged.
func (w *Writer) Begin(cfg rules.Config, seed uint64, rows []row.Record) {
	w.done = make(chan struct{})
	err := w.begin(cfg, seed, rows)
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		w.end(fmt.Errorf("its beginning could not be written: %w", err))
	} else {
		w.o.Log.Info("recording_began", "path", w.name, "rows", len(rows), "bodies", w.o.Bodies)
	}
	go w.run()
}

func (w *Writer) begin(cfg rules.Config, seed uint64, rows []row.Record) error {
	if _, err := w.out.WriteString(titleOf(w.o.Software)); err != nil {
		return err
	}
	err := w.line(entry{Header: &Header{
		Software: w.o.Software, Seed: seed, Config: cfg.WithDefaults(), Rows: len(rows), Bodies: w.o.Bodies,
	}})
	if err != nil {
		return err
	}
	for _, rec := range rows {
		one, err := rowOf(rec, w.o.Bodies)
		if err != nil {
			return err
		}
		if err = w.line(entry{Row: &one}); err != nil {
			return err
		}
	}
	return nil
}

// Stepped records a step: the event and what the peer made of it, which must not
// change any more. It never waits: when the disk is too slow for the buffer the
// recording ends.
func (w *Writer) Stepped(now protocol.Instant, ev event.Event, ready event.Ready) {
	said := w.heard
	w.heard = heard{}
	if w.ended() {
		return
	}
	w.steps++
	select {
	case w.queue <- item{n: w.steps, now: now, event: ev, heard: said, ready: ready}:
	default:
		w.end(fmt.Errorf("the disk is too slow: %d steps wait for it", len(w.queue)))
	}
}

// Close writes what is left, ends the recording and waits until it is on its way
// to the disk. The error says why the recording ended before, if it did.
func (w *Writer) Close() error {
	if w.done == nil {
		return w.file.Close()
	}
	w.end(nil)
	grace := time.NewTimer(w.o.Grace)
	defer grace.Stop()
	select {
	case <-w.done:
	case <-grace.C:
		return fmt.Errorf("recording %s: the disk does not answer; the last steps are missing", w.name)
	}
	return w.problem()
}

// end takes no more steps. The first problem is kept.
func (w *Writer) end(problem error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		close(w.stop)
	}
	w.over = true
	if w.cause == nil && problem != nil {
		w.cause = fmt.Errorf("recording %s ended early: %w", w.name, problem)
	}
}

func (w *Writer) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

func (w *Writer) problem() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cause
}
