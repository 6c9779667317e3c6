package recording_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/recording"
)

func TestFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "peer.rec")
	for _, where := range []string{path, dir} {
		w, err := recording.Create(where, options())
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(w.Name())
		if err != nil || info.Mode() != 0o600 || filepath.Dir(w.Name()) != dir {
			t.Errorf("%s: %v, %v", w.Name(), info, err)
		}
		if err = w.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := recording.Create(path, options()); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("a recording was written over: %v", err)
	}
	if _, err := recording.Create(filepath.Join(dir, "none", "x"), options()); err == nil {
		t.Error("a file in a folder that does not exist")
	}
}

// disk is a file that can be slow and can be full.
type disk struct {
	mu     sync.Mutex
	data   bytes.Buffer
	room   int           // what fits; 0: all
	arrive chan struct{} // told of each write, which then waits for leave; nil: it does not
	leave  chan struct{}
}

func (d *disk) Write(p []byte) (int, error) {
	if d.arrive != nil {
		d.arrive <- struct{}{}
		<-d.leave
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room > 0 && d.data.Len()+len(p) > d.room {
		n, _ := d.data.Write(p[:d.room-d.data.Len()])
		return n, syscall.ENOSPC
	}
	return d.data.Write(p)
}

func (*disk) Close() error { return nil }
func (*disk) Sync() error  { return nil }

func (d *disk) bytes() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return bytes.Clone(d.data.Bytes())
}

// logged is a log in memory.
func logged() (*slog.Logger, *bytes.Buffer) {
	var out bytes.Buffer
	return slog.New(slog.NewTextHandler(&out, nil)), &out
}

// TestSlowDisk: the peer never waits; the recording ends, says so, and what is in
// it can be used.
func TestSlowDisk(t *testing.T) {
	t.Parallel()
	d := &disk{arrive: make(chan struct{}), leave: make(chan struct{})}
	o := options()
	o.Buffer = 2
	log, lines := logged()
	o.Log = log
	w := recording.NewWriter("slow.rec", d, o)
	go func() {
		<-d.arrive
		d.leave <- struct{}{}
	}()
	p := begun(t, w)
	tick(p, w)
	<-d.arrive // the first step is being written
	for range 10 {
		tick(p, w)
	}
	close(d.leave)
	go func() {
		for range d.arrive {
		}
	}()
	err := w.Close()
	if err == nil || !strings.Contains(err.Error(), "too slow") || !strings.Contains(lines.String(), "recording_ended") {
		t.Errorf("%v; log: %s", err, lines)
	}
	close(d.arrive)
	sum := replayed(t, d.bytes())
	same(t, sum)
	if sum.Steps != 3 || !strings.Contains(sum.End, "too slow") {
		t.Errorf("%+v", sum)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, room := range []int{10, 300, 1500} { // in the title, the header, a step
		d := &disk{room: room}
		o := options()
		log, lines := logged()
		o.Log = log
		w := recording.NewWriter("full.rec", d, o)
		p := begun(t, w)
		for range 100 {
			tick(p, w)
		}
		if err := w.Close(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(lines.String(), "no space left") {
			t.Errorf("room for %d: %v; log: %s", room, err, lines)
		}
		if err := w.Close(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("room for %d, closed again: %v", room, err)
		}
		r, err := recording.NewReader("full.rec", bytes.NewReader(d.bytes()))
		if room < 1500 {
			if err == nil {
				t.Error("a recording without a header was opened")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		sum, err := recording.Replay(r, policies)
		same(t, sum)
		if err != nil || sum.Cut == "" || sum.Steps == 0 {
			t.Errorf("%+v, %v", sum, err)
		}
	}
}

// begun is a peer whose recording has begun.
func begun(t *testing.T, w *recording.Writer) *peer.Peer {
	t.Helper()
	cfg := config("a", 1, "b")
	cfg = w.Listen(cfg)
	p, err := peer.New(cfg, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Begin(cfg, 7, nil)
	return p
}

func tick(p *peer.Peer, w *recording.Writer) {
	w.Stepped(begin, event.Tick{}, p.Step(begin, event.Tick{}))
}

// TestFlushing: a step is in the file when the flush interval is over, or as soon
// as no other waits.
func TestFlushing(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			d := &disk{}
			o := options()
			o.Flush = every
			w := recording.NewWriter("a.rec", d, o)
			p := begun(t, w)
			tick(p, w)
			synctest.Wait()
			if at := bytes.Count(d.bytes(), []byte("\n")); (at == 3) != (every == 0) {
				t.Errorf("%v: %d lines at once", every, at)
			}
			time.Sleep(every)
			synctest.Wait()
			if after := bytes.Count(d.bytes(), []byte("\n")); after != 3 {
				t.Errorf("%v: %d lines afterwards", every, after)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// BenchmarkStepped is what a step costs the goroutine that makes it, and the
// other one (all), for a quote reply.
func BenchmarkStepped(b *testing.B) {
	file, err := os.Create(filepath.Join(b.TempDir(), "x.rec"))
	if err != nil {
		b.Fatal(err)
	}
	o := options()
	o.Buffer = b.N + 1
	w := recording.NewWriter("x.rec", file, o)
	w.Begin(config("a", 1, "b"), 7, nil)
	ev, ready := filled(event.CallDone{}), event.Ready{LogEvents: []event.LogEvent{filled(event.LogEvent{})}}
	b.ResetTimer()
	for range b.N {
		w.Stepped(begin, ev, ready)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "loop-ns/op")
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
