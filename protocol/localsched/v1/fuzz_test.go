package localschedv1_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// seed adds a few encoded messages.
func seed[N any, M proto.Message](f *testing.F, draw func(*rapid.T) N, encode func(N) M) {
	f.Helper()
	for i := range 4 {
		data, err := proto.Marshal(encode(rapid.Custom(draw).Example(i)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// FuzzDecodeAsked is about what a plugin reads.
func FuzzDecodeAsked(f *testing.F) {
	encodeSubmission := func(s localsched.Submission) *localschedv1.SubmitRequest {
		m, err := localschedv1.EncodeSubmission(s)
		if err != nil {
			panic(err)
		}
		return m
	}
	encodeQueued := func(q localsched.Queued) *localschedv1.EngineSubmitRequest {
		return localschedv1.EncodeQueued(5, q, 7)
	}
	encodeHold := func(h localsched.Reservation) *localschedv1.ReserveRequest {
		m, err := localschedv1.EncodeReservation(h)
		if err != nil {
			panic(err)
		}
		return m
	}
	seed(f, drawHold, encodeHold)
	seed(f, drawQuery, localschedv1.EncodeQuery)
	seed(f, drawSubmission, encodeSubmission)
	seed(f, drawQueued, encodeQueued)
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzed(t, data, func() *localschedv1.QuoteRequest { return &localschedv1.QuoteRequest{} },
			localschedv1.DecodeQuery, localschedv1.EncodeQuery)
		fuzzed(t, data, func() *localschedv1.SubmitRequest { return &localschedv1.SubmitRequest{} },
			localschedv1.DecodeSubmission, encodeSubmission)
		fuzzed(t, data, func() *localschedv1.ReserveRequest { return &localschedv1.ReserveRequest{} },
			localschedv1.DecodeReservation, encodeHold)
		fuzzed(t, data, func() *localschedv1.EngineSubmitRequest { return &localschedv1.EngineSubmitRequest{} },
			func(m *localschedv1.EngineSubmitRequest) (localsched.Queued, error) {
				_, q, err := localschedv1.DecodeQueued(m)
				return q, err
			}, encodeQueued)
	})
}

// actionsAndLoad is what one message holds.
type actionsAndLoad struct {
	actions localsched.Actions
	load    protocol.Load
}

// FuzzDecodeAnswered is about what a host reads.
func FuzzDecodeAnswered(f *testing.F) {
	jobs := []protocol.Request{{Job: 1}, {Job: 2}}
	encodeQuotes := func(quotes []protocol.Quote) *localschedv1.QuoteResponse {
		m, err := localschedv1.EncodeQuotes(jobs, quotes)
		if err != nil {
			panic(err)
		}
		return m
	}
	encodeActions := func(a actionsAndLoad) *localschedv1.ActionsResponse {
		return localschedv1.EncodeActions(a.actions, a.load)
	}
	seed(f, func(t *rapid.T) []protocol.Quote { return drawQuotes(t, jobs) }, encodeQuotes)
	seed(f, drawWatched, localschedv1.EncodeWatched)
	seed(f, func(t *rapid.T) actionsAndLoad { return actionsAndLoad{drawActions(t), protocoltest.Load(t)} }, encodeActions)
	seed(f, func(t *rapid.T) []localsched.Planned {
		return []localsched.Planned{drawPlanned(t), drawPlanned(t)}
	}, localschedv1.EncodePlanned)
	seed(f, func(t *rapid.T) localsched.Description {
		return localsched.Description{Name: "own", Capacity: protocoltest.Capacity(t), Capabilities: []string{"reserve"}}
	}, localschedv1.EncodeDescription)
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzed(t, data, func() *localschedv1.QuoteResponse { return &localschedv1.QuoteResponse{} },
			func(m *localschedv1.QuoteResponse) ([]protocol.Quote, error) {
				return localschedv1.DecodeQuotes(m, jobs)
			},
			encodeQuotes)
		fuzzed(t, data, func() *localschedv1.WatchResponse { return &localschedv1.WatchResponse{} },
			localschedv1.DecodeWatched, localschedv1.EncodeWatched)
		fuzzed(t, data, func() *localschedv1.ActionsResponse { return &localschedv1.ActionsResponse{} },
			func(m *localschedv1.ActionsResponse) (a actionsAndLoad, err error) {
				a.actions, a.load, err = localschedv1.DecodeActions(m)
				return a, err
			}, encodeActions)
		fuzzed(t, data, func() *localschedv1.PlanResponse { return &localschedv1.PlanResponse{} },
			func(m *localschedv1.PlanResponse) ([]localsched.Planned, error) {
				return localschedv1.DecodePlanned(m, 2)
			},
			localschedv1.EncodePlanned)
		fuzzed(t, data, func() *localschedv1.DescribeResponse { return &localschedv1.DescribeResponse{} },
			localschedv1.DecodeDescription, localschedv1.EncodeDescription)
		fuzzed(t, data, func() *localschedv1.SubmitResponse { return &localschedv1.SubmitResponse{} },
			localschedv1.DecodeSubmitted, localschedv1.EncodeSubmitted)
		fuzzed(t, data, func() *localschedv1.WithdrawResponse { return &localschedv1.WithdrawResponse{} },
			localschedv1.DecodeWithdrawal, localschedv1.EncodeWithdrawal)
		fuzzed(t, data, func() *localschedv1.ReserveResponse { return &localschedv1.ReserveResponse{} },
			func(m *localschedv1.ReserveResponse) (protocol.Instant, error) {
				return localschedv1.DecodeReservedFrom(m, 5)
			},
			localschedv1.EncodeReservedFrom)
		m := &localschedv1.FindByTagResponse{}
		if proto.Unmarshal(data, m) == nil {
			_, _, _ = localschedv1.DecodePresence(m)
		}
	})
}
