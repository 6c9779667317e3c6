package node_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/results"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var transferSize = flag.Int64("transfer.size", 512<<20, "bytes of the file of BenchmarkTransfer")

// BenchmarkTransfer brings a file from a partner at a round trip of 100 ms, beside a bare TCP copy of
// the same file over the same kind of link, one after the other in the same run: from the request
// to the whole file on the disk, checked. The link is one with the bandwidth of a gigabit, one whose
// windows are as Linux has them (6 MiB a connection), and one without bounds. At least 60 % of the
// bare copy's rate are asked for, which is 1.67 times its time.
func BenchmarkTransfer(b *testing.B) {
	const oneWay = 50 * time.Millisecond
	for name, wire := range map[string]wan{
		"gigabit":   {oneWay: oneWay, rate: 125_000_000, window: 64 << 20},
		"windows":   {oneWay: oneWay, window: 6 << 20},
		"unbounded": {oneWay: oneWay, window: 1 << 30},
	} {
		b.Run(name, func(b *testing.B) { benchmarkTransfer(b, wire) })
	}
}

func benchmarkTransfer(b *testing.B, wire wan) {
	b.Helper()
	source := sourceFile(b, *transferSize)
	bare := bareCopy(b, source, wire)
	ours := peerCopy(b, source, wire)
	var bareTimes, ourTimes []time.Duration
	for b.Loop() {
		bareTimes = append(bareTimes, spanOf(bare))
		ourTimes = append(ourTimes, spanOf(ours))
	}
	r, t := median(bareTimes), median(ourTimes)
	rate := func(took time.Duration) float64 { return float64(*transferSize) / 1e6 / took.Seconds() }
	b.ReportMetric(rate(r), "bare-MB/s")
	b.ReportMetric(rate(t), "transfer-MB/s")
	b.ReportMetric(float64(t)/float64(r), "x-bare")
}

func spanOf(f func()) time.Duration {
	begun := time.Now()
	f()
	return time.Since(begun)
}

// source is a file at a partner, and what its result says of it.
type source struct {
	*os.File
	described protocol.File
}

func sourceFile(b *testing.B, size int64) source {
	b.Helper()
	file, err := os.Create(filepath.Join(b.TempDir(), "source"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = file.Close() })
	sum := sha256.New()
	if _, err = io.CopyN(io.MultiWriter(file, sum), rand.NewChaCha8([32]byte{1}), size); err != nil {
		b.Fatal(err)
	}
	return source{file, protocol.File{Stream: protocol.Stdout, Size: size, SHA256: [32]byte(sum.Sum(nil))}}
}

// bareCopy copies the file over one TCP connection, from the dial to the last byte.
func bareCopy(b *testing.B, source source, wire wan) func() {
	b.Helper()
	listener, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(conn, io.NewSectionReader(source, 0, source.described.Size))
			_ = conn.Close()
		}
	}()
	address, path := wire.open(b, listener.Addr().String()), filepath.Join(b.TempDir(), "bare")
	return func() {
		conn, dialErr := new(net.Dialer).DialContext(b.Context(), "tcp", address)
		to, err := os.Create(path)
		if err = errors.Join(dialErr, err); err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(to, conn)
		if err != nil || n != source.described.Size {
			b.Fatalf("%d bytes, %v", n, err)
		}
		if err = errors.Join(to.Close(), conn.Close(), os.Remove(path)); err != nil {
			b.Fatal(err)
		}
	}
}

// peerCopy collects the file as the output of a job, from a partner that is connected.
func peerCopy(b *testing.B, source source, wire wan) func() {
	b.Helper()
	here, there := newKey(b), newKey(b)
	far := startBus(b, bus.Config{
		Site: "there", Key: there, Listen: "127.0.0.1:0",
		Partners: []bus.Partner{{Site: "here", PublicKey: here.Public()}},
		Handler:  serving{source: source},
	})
	up := make(chan struct{}, 8)
	near := startBus(b, bus.Config{
		Site: "here", Key: here, Streams: 4,
		Partners: []bus.Partner{{Site: "there", PublicKey: there.Public(), URL: "nats://" + wire.open(b, far.ListenAddr().String())}},
		Handler:  serving{up: up},
	})
	<-up
	answered := make(chan event.CallDone, 1)
	core := &script{}
	core.step = func(_ protocol.Instant, ev event.Event) (ready event.Ready) {
		switch ev := ev.(type) {
		case event.CallDone:
			answered <- ev
		case event.Connected: // stands for the next file
			op := collecting(int(protocol.NewJobID(1, 5)), "there", "ann", source.described)
			ready.Calls = []event.Call{{ID: 1, Op: op}}
		default:
		}
		return ready
	}
	deliverer := home{outside: &outside{}, dir: &results.Dir{Path: b.TempDir()}}
	cfg := node.Config{Store: newMemory(), Scheduler: deliverer, Policy: deliverer, Deliverer: deliverer}
	n, err := node.NewWith(cfg, core)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	n.Attach(fetching{near}, nil)
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return func() {
		n.Connected(protocol.Card{})
		if done := <-answered; done.Err != nil {
			b.Fatal(done.Err)
		}
	}
}

func newKey(b *testing.B) *identity.Key {
	b.Helper()
	seed, _, err := identity.GenerateKey()
	if err != nil {
		b.Fatal(err)
	}
	key, err := identity.ParseKey(seed)
	if err != nil {
		b.Fatal(err)
	}
	return key
}

func startBus(b *testing.B, cfg bus.Config) *bus.Bus {
	b.Helper()
	cfg.Card = func(protocol.SiteName) protocol.Card {
		return protocol.Card{
			Site: cfg.Site, Number: 1, PublicKey: cfg.Key.Public(), Software: "bench", Protocol: protocol.ProtocolVersion,
			Capacity: protocol.Capacity{CPUs: 64, Nodes: 4},
		}
	}
	links, err := bus.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	if err = links.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(links.Close)
	return links
}

// serving is a site as its bus sees it, with a file or without.
type serving struct {
	source source
	up     chan struct{}
}

func (serving) Received(protocol.SiteName, protocol.Message) {}
func (serving) Disconnected(protocol.SiteName, string)       {}
func (serving) Rejected(bus.Reason)                          {}
func (s serving) Connected(protocol.Card) {
	if s.up != nil {
		s.up <- struct{}{}
	}
}

func (s serving) Fetch(_ context.Context, _ protocol.SiteName, req bus.FetchRequest) ([]byte, error) {
	data := make([]byte, req.Size)
	n, err := s.source.ReadAt(data, req.Offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:n], err
}

// fetching is a bus as the node sees it.
type fetching struct{ *bus.Bus }

func (f fetching) Fetch(
	ctx context.Context, from protocol.SiteName, tag protocol.Tag, stream protocol.Stream, offset int64, size int,
) ([]byte, error) {
	return f.Bus.Fetch(ctx, from, bus.FetchRequest{Tag: tag, Stream: stream, Offset: offset, Size: size})
}

// home has parts on the disk. Where they go from there is not measured.
type home struct {
	*outside
	dir *results.Dir
}

func (h home) Part(tag protocol.Tag, stream protocol.Stream) (node.Part, error) {
	return h.dir.Part(tag, stream)
}

func (home) Deliver(context.Context, string, string, int, io.Reader) error { return nil }

// wan is a link over a long way: what passes in a direction takes its time, at a rate that all
// connections share (bytes a second; 0: any), and of each connection at most a window of bytes is
// on its way or not acknowledged.
type wan struct {
	oneWay time.Duration
	rate   int64
	window int
}

// open passes connections on to an address; it returns where they go.
func (w wan) open(b *testing.B, to string) string {
	b.Helper()
	listener, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	there, back := &lane{rate: w.rate}, &lane{rate: w.rate}
	var passing sync.WaitGroup
	passing.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(b.Context(), "tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			passing.Go(func() { w.pass(there, near, far) })
			passing.Go(func() { w.pass(back, far, near) })
		}
	})
	b.Cleanup(func() {
		_ = listener.Close()
		passing.Wait()
	})
	return listener.Addr().String()
}

// lane is one direction of a link.
type lane struct {
	rate int64
	mu   sync.Mutex
	free time.Time // when all that was sent before has left
}

// leaves says when a number of bytes have left.
func (l *lane) leaves(bytes int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.rate == 0 {
		return now
	}
	if l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(int64(bytes) * int64(time.Second) / l.rate))
	return l.free
}

// window is how many bytes of a connection are on their way or not acknowledged.
type window struct {
	mu     sync.Mutex
	change *sync.Cond
	used   int
	most   int
}

func newWindow(most int) *window {
	w := &window{most: most}
	w.change = sync.NewCond(&w.mu)
	return w
}

// take waits until n more bytes fit.
func (w *window) take(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.used > 0 && w.used+n > w.most {
		w.change.Wait()
	}
	w.used += n
}

func (w *window) give(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used -= n
	w.change.Signal()
}

// pass copies one direction of a connection until it ends.
func (w wan) pass(lane *lane, from, to net.Conn) {
	type ack struct {
		due   time.Time
		bytes int
	}
	window := newWindow(w.window)
	way, acks := make(chan late, 1<<16), make(chan ack, 1<<16)
	buffers := sync.Pool{New: func() any { return new([64 << 10]byte) }} // the link is not what is measured
	go func() {
		defer close(way)
		for {
			data, _ := buffers.Get().(*[64 << 10]byte)
			n, err := from.Read(data[:])
			if n > 0 {
				window.take(n)
				way <- late{due: lane.leaves(n).Add(w.oneWay), data: data[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		for a := range acks {
			time.Sleep(time.Until(a.due))
			window.give(a.bytes)
		}
	}()
	for piece := range way {
		time.Sleep(time.Until(piece.due))
		if _, err := to.Write(piece.data); err != nil {
			window.give(len(piece.data))
			break
		}
		acks <- ack{piece.due.Add(w.oneWay), len(piece.data)}
		buffers.Put((*[64 << 10]byte)(piece.data[:64<<10]))
	}
	close(acks)
	_ = to.Close()
	_ = from.Close()
	for piece := range way {
		window.give(len(piece.data))
	}
}
