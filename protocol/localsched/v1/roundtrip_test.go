package localschedv1_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// same checks that what was decoded is what was encoded.
func same(t *rapid.T, got, want any, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

// TestRoundTrips is that every noun arrives as it was sent.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*rapid.T){
		"description": func(t *rapid.T) {
			want := localsched.Description{Name: "own", Capacity: protocoltest.Capacity(t)}
			if rapid.Bool().Draw(t, "capable") {
				want.Capabilities = []string{"reserve", "simulate"}
			}
			got, err := localschedv1.DecodeDescription(travel(t, localschedv1.EncodeDescription(want), &localschedv1.DescribeResponse{}))
			same(t, got, want, err)
		},
		"query": func(t *rapid.T) {
			want := drawQuery(t)
			got, err := localschedv1.DecodeQuery(travel(t, localschedv1.EncodeQuery(want), &localschedv1.QuoteRequest{}))
			same(t, got, want, err)
		},
		"quotes": func(t *rapid.T) {
			jobs := protocoltest.Slice(t, drawRequest)
			want := drawQuotes(t, jobs)
			m, err := localschedv1.EncodeQuotes(jobs, want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := localschedv1.DecodeQuotes(travel(t, m, &localschedv1.QuoteResponse{}), jobs)
			same(t, got, want, err)
		},
		"submission": func(t *rapid.T) {
			want := drawSubmission(t)
			m, err := localschedv1.EncodeSubmission(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := localschedv1.DecodeSubmission(travel(t, m, &localschedv1.SubmitRequest{}))
			same(t, got, want, err)
		},
		"hold": func(t *rapid.T) {
			want := drawHold(t)
			m, err := localschedv1.EncodeReservation(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := localschedv1.DecodeReservation(travel(t, m, &localschedv1.ReserveRequest{}))
			same(t, got, want, err)
		},
		"held": func(t *rapid.T) {
			want := protocol.Instant(rapid.Int64Min(1).Draw(t, "start"))
			m := travel(t, localschedv1.EncodeReservedFrom(want), &localschedv1.ReserveResponse{})
			got, err := localschedv1.DecodeReservedFrom(m, protocol.Instant(rapid.Int64Range(0, int64(want)).Draw(t, "asked")))
			same(t, got, want, err)
		},
		"watched": func(t *rapid.T) {
			want := drawWatched(t)
			got, err := localschedv1.DecodeWatched(travel(t, localschedv1.EncodeWatched(want), &localschedv1.WatchResponse{}))
			same(t, got, want, err)
		},
		"queued": func(t *rapid.T) {
			want, now := drawQueued(t), protocol.Instant(protocoltest.Amount(t))
			m := travel(t, localschedv1.EncodeQueued(now, want, 7), &localschedv1.EngineSubmitRequest{})
			at, got, err := localschedv1.DecodeQueued(m)
			same(t, got, want, err)
			if at != now || m.GetEngine() != 7 {
				t.Fatalf("engine %d at %d, want 7 at %d", m.GetEngine(), at, now)
			}
		},
		"actions": func(t *rapid.T) {
			want, wantLoad := drawActions(t), protocoltest.Load(t)
			got, load, err := localschedv1.DecodeActions(travel(t, localschedv1.EncodeActions(want, wantLoad), &localschedv1.ActionsResponse{}))
			same(t, got, want, err)
			same(t, load, wantLoad, nil)
		},
		"planned": func(t *rapid.T) {
			want := protocoltest.Slice(t, drawPlanned)
			got, err := localschedv1.DecodePlanned(travel(t, localschedv1.EncodePlanned(want), &localschedv1.PlanResponse{}), len(want))
			same(t, got, want, err)
		},
	}
	for name, check := range cases {
		t.Run(name, rapid.MakeCheck(check))
	}
}

func TestAnswersRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range []localsched.Presence{localsched.PresenceUnknown, localsched.Present, localsched.Absent} {
		got, id, err := localschedv1.DecodePresence(travel(t, localschedv1.EncodePresence(want, "17"), &localschedv1.FindByTagResponse{}))
		if got != want || id != "17" || err != nil {
			t.Errorf("got %v, %s, %v; want %v", got, id, err, want)
		}
	}
	for _, want := range []localsched.Withdrawal{localsched.Withdrawn, localsched.Started} {
		got, err := localschedv1.DecodeWithdrawal(travel(t, localschedv1.EncodeWithdrawal(want), &localschedv1.WithdrawResponse{}))
		if got != want || err != nil {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
	}
	id, err := localschedv1.DecodeSubmitted(travel(t, localschedv1.EncodeSubmitted("17"), &localschedv1.SubmitResponse{}))
	if id != "17" || err != nil {
		t.Errorf("got %s, %v; want 17", id, err)
	}
}

// The job of a promise is that of its tag, whatever its shape says.
func TestTentativesAreAboutTheirTags(t *testing.T) {
	t.Parallel()
	m := localschedv1.EncodeQuery(localsched.Query{Ahead: []localsched.Tentative{{Tag: placed, Request: protocol.Request{CPUs: 1}}}})
	got, err := localschedv1.DecodeQuery(m)
	if err != nil || got.Ahead[0].Tag != placed || got.Ahead[0].Request.Job != placed.Job {
		t.Errorf("got %+v, %v; want the job of %v", got, err, placed)
	}
}

// A refusal stays one, also one that gives no reason.
func TestRefusalsRoundTrip(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"too big": "too big", "": "no reason was given", "\xff": "?", strings.Repeat("ä", 5000): strings.Repeat("ä", 2048),
	} {
		refused := &localsched.RefusedError{Reason: reason}
		_, err := localschedv1.DecodeSubmitted(travel(t, localschedv1.EncodeRefused(refused), &localschedv1.SubmitResponse{}))
		if got, ok := errors.AsType[*localsched.RefusedError](err); !ok || got.Reason != want {
			t.Errorf("submission: got %v, want a refusal for %q", err, want)
		}
		_, err = localschedv1.DecodeReservedFrom(travel(t, localschedv1.EncodeNoReservation(refused), &localschedv1.ReserveResponse{}), 0)
		if got, ok := errors.AsType[*localsched.RefusedError](err); !ok || got.Reason != want {
			t.Errorf("hold: got %v, want a refusal for %q", err, want)
		}
		load := protocol.Load{CPUs: 8}
		_, after, err := localschedv1.DecodeActions(travel(t, localschedv1.EncodeRefusal(refused, load), &localschedv1.ActionsResponse{}))
		if got, ok := errors.AsType[*localsched.RefusedError](err); !ok || got.Reason != want || after != load {
			t.Errorf("engine: got %v, %v, want a refusal for %q", after, err, want)
		}
	}
}

// What a batch system says must not keep a job's end from being told.
func TestNativeTextsAreFixedAndCut(t *testing.T) {
	t.Parallel()
	native := "slurmstepd:  \xff\xfe " + strings.Repeat("é", localschedv1.MaxReason)
	want := localsched.Watched{Changes: []localsched.Change{{
		Tag: protocol.Tag{Job: 1, Epoch: 1}, State: protocol.Failed, Reason: native,
		Outcome: protocol.Outcome{State: protocol.Failed, ExitCode: 1, Reason: native},
	}}}
	got, err := localschedv1.DecodeWatched(travel(t, localschedv1.EncodeWatched(want), &localschedv1.WatchResponse{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range []string{got.Changes[0].Reason, got.Changes[0].Outcome.Reason} {
		if !strings.HasPrefix(reason, "slurmstepd:  ? éé") || len(reason) < localschedv1.MaxReason-1 {
			t.Errorf("the reason became %.40q with %d bytes", reason, len(reason))
		}
	}
	jobs := []protocol.Request{{Job: 1}, {Job: 2}}
	m, err := localschedv1.EncodeQuotes(jobs, []protocol.Quote{{Job: 1, Declined: native, Note: "lost"}, {Job: 2, Note: native}})
	if err != nil {
		t.Fatal(err)
	}
	quotes, err := localschedv1.DecodeQuotes(travel(t, m, &localschedv1.QuoteResponse{}), jobs)
	if err != nil || quotes[0].Note != "" || len(quotes[1].Note) < 255 || !strings.HasPrefix(quotes[1].Note, "slurmstepd:  ? é") {
		t.Errorf("%v, %+v", err, quotes)
	}
	planned := localschedv1.EncodePlanned([]localsched.Planned{{Declined: native, Start: 9, Note: "lost"}, {Note: native}})
	plans, err := localschedv1.DecodePlanned(travel(t, planned, &localschedv1.PlanResponse{}), 2)
	if err != nil || plans[0].Note != "" || plans[1].Note != quotes[1].Note {
		t.Errorf("%v, %+v", err, plans)
	}
}

// fuzzed decodes bytes, and what that gives again.
func fuzzed[M proto.Message, N any](t *testing.T, data []byte, empty func() M, decode func(M) (N, error), encode func(N) M) {
	t.Helper()
	m := empty()
	if proto.Unmarshal(data, m) != nil {
		return
	}
	noun, err := decode(m)
	if err != nil {
		return
	}
	again, err := decode(travel(t, encode(noun), empty()))
	if err != nil || !reflect.DeepEqual(again, noun) {
		t.Fatalf("got %+v, %v\nwant %+v", again, err, noun)
	}
}
