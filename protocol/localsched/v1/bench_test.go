package localschedv1_test

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// BenchmarkQuotes is all that a query about jobs and its answer cost on their way
// to a plugin and back, but for the transport.
func BenchmarkQuotes(b *testing.B) {
	for _, n := range []int{1, 10_000} {
		var query localsched.Query
		quotes := make([]protocol.Quote, n)
		for i := range quotes {
			job := protocol.NewJobID(7, uint64(i))
			query.Jobs = append(query.Jobs, protocol.Request{Job: job, CPUs: 64, WallTime: protocol.Hour})
			quotes[i] = protocol.Quote{
				Job: job, AWT: protocol.Hour, AWTLow: protocol.Minute, AWTHigh: protocol.Day, ERT: protocol.Hour,
				Terms: []protocol.Term{{Name: "cpu", Amount: 640_000}, {Name: "energy", Amount: 123_456}}, Currency: "EUR",
			}
		}
		b.Run(fmt.Sprintf("%d/there", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := travel(b, localschedv1.EncodeQuery(query), &localschedv1.QuoteRequest{})
				if _, err := localschedv1.DecodeQuery(m); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d/back", n), func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				m, err := localschedv1.EncodeQuotes(query.Jobs, quotes)
				if err != nil {
					b.Fatal(err)
				}
				size = proto.Size(m)
				if _, err = localschedv1.DecodeQuotes(travel(b, m, &localschedv1.QuoteResponse{}), query.Jobs); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
