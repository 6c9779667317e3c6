package localschedv1_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

var (
	placed = protocol.Tag{Job: protocol.NewJobID(7, 42), Epoch: 3}
	// These are made anew by each call, so that cases can spoil them.
	rightQuery = func() *localschedv1.QuoteRequest {
		request := protocol.Request{Job: placed.Job, CPUs: 1, WallTime: protocol.Never}
		return localschedv1.EncodeQuery(localsched.Query{
			Jobs: []protocol.Request{request, request}, Ahead: []localsched.Tentative{{Tag: placed, Request: request}},
		})
	}
	rightQuotes = func() *localschedv1.QuoteResponse {
		return &localschedv1.QuoteResponse{Quotes: []*commonv1.Quote{
			{Job: 1, AwtMs: 10, Currency: "EUR", Terms: []*commonv1.Term{{Name: "cpu", AmountMicro: 7}}},
			{Job: 2, Declined: "full"},
			{Job: 3, Currency: "EUR"},
		}}
	}
	rightSubmission = func() *localschedv1.SubmitRequest {
		m, err := localschedv1.EncodeSubmission(localsched.Submission{
			Tag:  placed,
			Spec: protocol.Spec{Request: protocol.Request{Job: placed.Job, CPUs: 1, WallTime: 60}, Sites: []protocol.SiteName{"a"}},
			Payload: &protocol.Payload{
				Script: []byte("#!/bin/sh\n"), Args: []string{"x"}, Env: []string{"A=1"},
			},
			Origin: "aurora", Account: "ada",
		})
		if err != nil {
			panic(err)
		}
		return m
	}
	rightWatched = func() *localschedv1.WatchResponse {
		return localschedv1.EncodeWatched(localsched.Watched{Changes: []localsched.Change{
			{Tag: placed, State: protocol.Running, Started: 5},
			{Tag: placed, State: protocol.Failed, Started: 5, Outcome: protocol.Outcome{
				State: protocol.Failed, ExitCode: 3,
				Files: []protocol.File{{Stream: protocol.Stdout}, {Stream: protocol.Stderr}},
			}},
		}})
	}
	rightActions = func() *localschedv1.ActionsResponse {
		return localschedv1.EncodeActions(localsched.Actions{Starts: []protocol.Tag{placed}, Kills: []protocol.Tag{placed}}, protocol.Load{})
	}
)

// spoilt decodes a message after each change, which must be refused in words of
// the case.
func spoilt[M, N any](t *testing.T, right func() M, decode func(M) (N, error), cases map[string]func(M)) {
	t.Helper()
	if _, err := decode(right()); err != nil {
		t.Fatalf("the message is wrong before it is spoilt: %v", err)
	}
	for want, change := range cases {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			m := right()
			change(m)
			_, err := decode(m)
			protocoltest.Refused(t, err, want)
		})
	}
}

func TestDecodeWatchedRefuses(t *testing.T) {
	t.Parallel()
	type m = *localschedv1.WatchResponse
	spoilt(t, rightWatched, localschedv1.DecodeWatched, map[string]func(m){
		"load: is missing":                           func(m m) { m.Load = nil },
		"load.cpus: -1":                              func(m m) { m.Load.Cpus = -1 },
		"cursor: has 4097":                           func(m m) { m.Cursor = strings.Repeat("x", 4097) },
		"changes: has 1048577":                       func(m m) { m.Changes = make([]*localschedv1.Change, localschedv1.MaxJobs+1) },
		"changes[0].tag: is missing":                 func(m m) { m.Changes[0] = nil },
		"changes[0].state: 0 is unknown or missing":  func(m m) { m.Changes[0].State = 0 },
		"changes[0].reason: has 4097":                func(m m) { m.Changes[0].Reason = strings.Repeat("x", 4097) },
		"changes[0].started_ms: -1":                  func(m m) { m.Changes[0].StartedMs = -1 },
		"changes[0].outcome: is there, though RUNN":  func(m m) { m.Changes[0].Outcome = &commonv1.Outcome{} },
		"changes[1].outcome: is missing, though FA":  func(m m) { m.Changes[1].Outcome = nil },
		"changes[1].outcome.state: 0":                func(m m) { m.Changes[1].Outcome.State = 0 },
		"changes[1].outcome.state: is TIMEOUT, but":  func(m m) { m.Changes[1].Outcome.State = commonv1.JobState_JOB_STATE_TIMEOUT },
		"changes[1].outcome.exit_code: is 3, but si": func(m m) { m.Changes[1].Outcome.Signal = 9 },
		"changes[1].outcome.files[0].sha256: has 1":  func(m m) { m.Changes[1].Outcome.Files[0].Sha256 = []byte("x") },
		"changes[1].outcome.bill: is there, and a l": func(m m) { m.Changes[1].Outcome.Bill = &commonv1.Bill{Currency: "EUR"} },
	})
}

func TestDecodeActionsRefuses(t *testing.T) {
	t.Parallel()
	type m = *localschedv1.ActionsResponse
	decode := func(m m) (localsched.Actions, error) {
		actions, _, err := localschedv1.DecodeActions(m)
		if _, ok := errors.AsType[*localsched.RefusedError](err); ok {
			return actions, nil // another matter
		}
		return actions, err
	}
	spoilt(t, rightActions, decode, map[string]func(m){
		"load: is missing":          func(m m) { m.Load = nil },
		"wake_ms: -1 is negative":   func(m m) { m.WakeMs = -1 },
		"starts: has 1048577":       func(m m) { m.Starts = make([]*commonv1.Tag, localschedv1.MaxJobs+1) },
		"kills: has 1048577":        func(m m) { m.Kills = make([]*commonv1.Tag, localschedv1.MaxJobs+1) },
		"starts[0].tag: is missing": func(m m) { m.Starts[0] = nil },
		"kills[0].tag.epoch: is 0":  func(m m) { m.Kills[0].Epoch = 0 },
		"refused: has 4097":         func(m m) { m.Refused = strings.Repeat("x", 4097) },
	})
}

func TestDecodePlannedRefuses(t *testing.T) {
	t.Parallel()
	type m = *localschedv1.PlanResponse
	right := func() m {
		return &localschedv1.PlanResponse{Planned: []*localschedv1.Planned{{StartMs: -1, Note: "off-peak"}, {Declined: "full"}}}
	}
	decode := func(m m) ([]localsched.Planned, error) { return localschedv1.DecodePlanned(m, 2) }
	spoilt(t, right, decode, map[string]func(m){
		"planned: has 1 entries, not 2":                   func(m m) { m.Planned = m.GetPlanned()[:1] },
		"planned[0].start_ms: -2 is negative":             func(m m) { m.Planned[0].StartMs = -2 },
		"planned[1].start_ms: is -1, but the job is decl": func(m m) { m.Planned[1].StartMs = -1 },
		"planned[1].declined: has 4097":                   func(m m) { m.Planned[1].Declined = strings.Repeat("x", 4097) },
		"planned[0].note: has 257":                        func(m m) { m.Planned[0].Note = strings.Repeat("x", 257) },
		"planned[1].note: a declined job has none":        func(m m) { m.Planned[1].Note = "x" },
	})
}

func TestDecodeDescriptionRefuses(t *testing.T) {
	t.Parallel()
	type m = *localschedv1.DescribeResponse
	right := func() m {
		return &localschedv1.DescribeResponse{
			Name: "own", Capacity: &commonv1.Capacity{Cpus: 8}, Capabilities: []string{"reserve", "simulate"},
		}
	}
	spoilt(t, right, localschedv1.DecodeDescription, map[string]func(m){
		"description.name: is missing":                            func(m m) { m.Name = "" },
		"description.name: has 65":                                func(m m) { m.Name = strings.Repeat("x", 65) },
		"description.capacity: is missing":                        func(m m) { m.Capacity = nil },
		"description.capacity.cpus: is missing":                   func(m m) { m.Capacity.Cpus = 0 },
		"description.capacity.cpus: -1":                           func(m m) { m.Capacity.Cpus = -1 },
		"description.capabilities: has 65":                        func(m m) { m.Capabilities = make([]string, 65) },
		"description.capabilities[0].name: is missing":            func(m m) { m.Capabilities[0] = "" },
		"description.capabilities[1].name: has 65":                func(m m) { m.Capabilities[1] = strings.Repeat("x", 65) },
		`description.capabilities[1]: "reserve" does not sort af`: func(m m) { m.Capabilities[1] = "reserve" },
	})
}

func TestUnknownAnswersAreRefused(t *testing.T) {
	t.Parallel()
	_, _, err := localschedv1.DecodePresence(&localschedv1.FindByTagResponse{Presence: 3})
	protocoltest.Refused(t, err, "presence: 3 is unknown")
	_, _, err = localschedv1.DecodePresence(&localschedv1.FindByTagResponse{LocalId: strings.Repeat("x", 257)})
	protocoltest.Refused(t, err, "local_id: has 257")
	_, err = localschedv1.DecodeWithdrawal(&localschedv1.WithdrawResponse{})
	protocoltest.Refused(t, err, "withdrawal: 0 is unknown or missing")
	_, err = localschedv1.DecodeWithdrawal(localschedv1.EncodeWithdrawal(9))
	protocoltest.Refused(t, err, "withdrawal: 0")
	_, err = localschedv1.DecodeSubmitted(&localschedv1.SubmitResponse{LocalId: "1", Refused: "no"})
	protocoltest.Refused(t, err, "refused: is set, and local_id too")
	_, err = localschedv1.DecodeSubmitted(&localschedv1.SubmitResponse{LocalId: strings.Repeat("x", 257)})
	protocoltest.Refused(t, err, "local_id: has 257")
	_, err = localschedv1.DecodeSubmitted(&localschedv1.SubmitResponse{Refused: strings.Repeat("x", 4097)})
	protocoltest.Refused(t, err, "refused: has 4097")
}

// Values that cannot be must not become others that can on the way.
func TestImpossibleNounsAreRefused(t *testing.T) {
	t.Parallel()
	change := func(o protocol.Outcome) error {
		_, err := localschedv1.DecodeWatched(localschedv1.EncodeWatched(localsched.Watched{
			Changes: []localsched.Change{{Tag: placed, State: protocol.Failed, Outcome: o}},
		}))
		return err
	}
	protocoltest.Refused(t, change(protocol.Outcome{State: protocol.Failed, ExitCode: 1 << 32}), "exit_code: -1")
	protocoltest.Refused(t, change(protocol.Outcome{State: protocol.Failed, Signal: 1<<32 + 9}), "signal: -1")
	protocoltest.Refused(t, change(protocol.Outcome{State: protocol.Failed, Ran: -1}), "ran_ms: -1")
	empty, err := localschedv1.EncodeSubmission(localsched.Submission{Tag: placed, Spec: protocol.Spec{Request: protocol.Request{Job: placed.Job}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = localschedv1.DecodeSubmission(empty)
	protocoltest.Refused(t, err, "submission.payload: is missing")
	_, err = localschedv1.DecodePlanned(localschedv1.EncodePlanned([]localsched.Planned{{Start: -1}}), 1)
	protocoltest.Refused(t, err, "planned[0].start_ms")
	_, err = localschedv1.DecodeRequests("jobs", localschedv1.EncodeRequests([]protocol.Request{{WallTime: -1}}))
	protocoltest.Refused(t, err, "jobs[0].wall_time_ms")
	_, err = localschedv1.DecodeCapacity(commonv1.EncodeCapacity(protocol.Capacity{CPUs: 1, MaxWallTime: -1}))
	protocoltest.Refused(t, err, "max_wall_time_ms")
	_, _, err = localschedv1.DecodeQueued(localschedv1.EncodeQueued(0, localsched.Queued{Tag: placed, Request: protocol.Request{CPUs: -1}}, 1))
	protocoltest.Refused(t, err, "cpus: -1")
	_, _, err = localschedv1.DecodeQueued(localschedv1.EncodeQueued(0, localsched.Queued{}, 1))
	protocoltest.Refused(t, err, "tag: is missing")
	_, _, err = localschedv1.DecodeQueued(localschedv1.EncodeQueued(0, localsched.Queued{Tag: placed, Since: -1}, 1))
	protocoltest.Refused(t, err, "since_ms: -1 is negative")
}
