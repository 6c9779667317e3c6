package bus_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/switchyard-hpc/switchyard/peer/bus"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// perPartner is how many requests a scatter sends to each of the two partners.
const perPartner = 4

// BenchmarkScatterGather asks two partners perPartner times each and waits for
// all replies: through the bus (protobuf, encryption, TLS, queues), and with bare NATS
// over plain TCP with as many bytes. It reports the medians and their ratio.
func BenchmarkScatterGather(b *testing.B) {
	raw := rawScatter(b)
	through := busScatter(b)
	var rawTimes, busTimes []time.Duration
	for b.Loop() {
		rawTimes = append(rawTimes, timed(raw))
		busTimes = append(busTimes, timed(through))
	}
	r, t := median(rawTimes), median(busTimes)
	b.ReportMetric(float64(r.Microseconds()), "raw-µs")
	b.ReportMetric(float64(t.Microseconds()), "bus-µs")
	b.ReportMetric(float64(t)/float64(r), "x-raw")
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func benchRequest() protocol.QuoteRequest {
	spec := protocol.Spec{
		Request: protocol.Request{Job: tag.Job, CPUs: 16, WallTime: protocol.Hour}, Name: "bench", User: "ada",
	}
	return protocol.QuoteRequest{Round: 1, Deadline: protocol.Second, Jobs: []protocol.Spec{spec, spec, spec, spec}}
}

func benchReply() protocol.QuoteReply {
	quote := protocol.Quote{Job: tag.Job, AWT: 10, AWTLow: 5, AWTHigh: 20, ERT: 30}
	return protocol.QuoteReply{
		Round: 1, Quotes: []protocol.Quote{quote, quote, quote, quote}, Load: protocol.Load{CPUs: 64, Busy: 12}, MaxJobs: 4,
	}
}

// answering is a handler that replies to requests and counts replies.
type answering struct {
	site
	answer  func(to protocol.SiteName) error
	replies chan struct{}
	up      chan struct{}
}

func (a *answering) Received(from protocol.SiteName, m protocol.Message) {
	switch m.(type) {
	case protocol.QuoteRequest:
		_ = a.answer(from)
	case protocol.QuoteReply:
		a.replies <- struct{}{}
	default:
	}
}

func (a *answering) Connected(protocol.Card) { a.up <- struct{}{} }
func (a *answering) Fetch(context.Context, protocol.SiteName, bus.FetchRequest) ([]byte, error) {
	return nil, nil
}

func busScatter(b *testing.B) func() {
	b.Helper()
	sites := map[protocol.SiteName]*answering{}
	for _, name := range []protocol.SiteName{"cern", "desy", "kit"} {
		s := &answering{replies: make(chan struct{}, 64), up: make(chan struct{}, 64)}
		s.name, s.key, s.rejected = name, newSite(b, name).key, map[bus.Reason]int{}
		sites[name] = s
	}
	asker := sites["cern"]
	plain := func(s *answering) bus.Partner { return s.partner() }
	handle := func(s *answering) func(*bus.Config) { return func(c *bus.Config) { c.Handler = s } }
	for _, name := range []protocol.SiteName{"desy", "kit"} {
		s := sites[name]
		s.answer = func(to protocol.SiteName) error { return s.bus.Send(to, benchReply()) }
		s.start(b, loopback, handle(s), plain(asker))
	}
	asker.start(b, loopback, handle(asker), plain(sites["desy"]), plain(sites["kit"]))
	<-asker.up
	<-asker.up
	<-sites["desy"].up
	<-sites["kit"].up
	return func() {
		for range perPartner {
			asker.sends(b, &sites["desy"].site, benchRequest())
			asker.sends(b, &sites["kit"].site, benchRequest())
		}
		for range 2 * perPartner {
			<-asker.replies
		}
	}
}

// wireSize returns as many bytes as the message's frame has.
func wireSize(b *testing.B, m protocol.Message) []byte {
	b.Helper()
	body, err := peerv1.Encode(m)
	if err != nil {
		b.Fatal(err)
	}
	const header = 50 // with op and tag
	return make([]byte, header+len(body))
}

func rawScatter(b *testing.B) func() {
	b.Helper()
	request, reply := wireSize(b, benchRequest()), wireSize(b, benchReply())
	replies := make(chan struct{}, 64)
	var conns []*nats.Conn
	for range 2 {
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
		if err != nil {
			b.Fatal(err)
		}
		go s.Start()
		if !s.ReadyForConnections(2 * time.Minute) {
			b.Fatal("not ready")
		}
		own, err := nats.Connect("", nats.InProcessServer(s))
		if err != nil {
			b.Fatal(err)
		}
		if _, err = own.Subscribe("request", func(*nats.Msg) { _ = own.Publish("reply", reply) }); err != nil {
			b.Fatal(err)
		}
		conn, err := nats.Connect(s.ClientURL())
		if err != nil {
			b.Fatal(err)
		}
		if _, err = conn.Subscribe("reply", func(*nats.Msg) { replies <- struct{}{} }); err != nil {
			b.Fatal(err)
		}
		if err = own.Flush(); err != nil {
			b.Fatal(err)
		}
		if err = conn.Flush(); err != nil {
			b.Fatal(err)
		}
		conns = append(conns, conn)
		b.Cleanup(func() {
			conn.Close()
			own.Close()
			s.Shutdown()
			s.WaitForShutdown()
		})
	}
	return func() {
		for range perPartner {
			for _, conn := range conns {
				_ = conn.Publish("request", request)
			}
		}
		for range 2 * perPartner {
			<-replies
		}
	}
}
