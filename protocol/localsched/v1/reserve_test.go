package localschedv1_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

func TestDecodeReservationRefuses(t *testing.T) {
	t.Parallel()
	type m = *localschedv1.ReserveRequest
	right := func() m {
		hold, err := localschedv1.EncodeReservation(localsched.Reservation{
			Tag: placed, Request: protocol.Request{CPUs: 1, WallTime: 60}, Start: 5, Account: "ada",
		})
		if err != nil {
			panic(err)
		}
		return hold
	}
	spoilt(t, right, localschedv1.DecodeReservation, map[string]func(m){
		"hold.tag: is missing":              func(m m) { m.Tag = nil },
		"hold.tag.epoch: is 0":              func(m m) { m.Tag.Epoch = 0 },
		"hold.request: is missing":          func(m m) { m.Request = nil },
		"hold.request.cpus: -1":             func(m m) { m.Request.Cpus = -1 },
		"hold.request.job: is 5, but the ":  func(m m) { m.Request.Job = 5 },
		"hold.start_ms: -1 is negative":     func(m m) { m.StartMs = -1 },
		"hold.account: has 257":             func(m m) { m.Account = strings.Repeat("x", 257) },
		"hold.account: contains a NUL byte": func(m m) { m.Account = "\x00" },
	})
}

// A hold is about the job of its tag, whatever its shape says.
func TestHoldsAreAboutTheirTags(t *testing.T) {
	t.Parallel()
	m, err := localschedv1.EncodeReservation(localsched.Reservation{Tag: placed, Request: protocol.Request{Job: 9, CPUs: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := localschedv1.DecodeReservation(m); err != nil || got.Tag != placed || got.Request.Job != placed.Job {
		t.Errorf("got %+v, %v; want the job of %v", got, err, placed)
	}
}

func TestHoldsThatCannotTravelAreRefused(t *testing.T) {
	t.Parallel()
	_, err := localschedv1.EncodeReservation(localsched.Reservation{Tag: placed, Account: "caf\xe9"})
	if got, ok := errors.AsType[*localsched.RefusedError](err); !ok || got.Reason != "account: is not UTF-8" {
		t.Errorf("got %v, want a refusal that names the account", err)
	}
}

// Room before the time that was asked for is none: the other components of the application
// are not there yet.
func TestDecodeHeldRefuses(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]*localschedv1.ReserveResponse{
		"start_ms: is missing, and refused too":         {},
		"start_ms: 99 is before the 100 that was asked": {StartMs: 99},
		"start_ms: -1 is before the 100":                {StartMs: -1},
		"refused: is set, and start_ms too":             {StartMs: 100, Refused: "no"},
		"refused: has 4097":                             {Refused: strings.Repeat("x", 4097)},
	} {
		start, err := localschedv1.DecodeReservedFrom(m, 100)
		protocoltest.Refused(t, err, want)
		if _, is := errors.AsType[*localsched.RefusedError](err); is || start != 0 {
			t.Errorf("%s: got %d, %v", want, start, err)
		}
	}
	if start, err := localschedv1.DecodeReservedFrom(&localschedv1.ReserveResponse{StartMs: 100}, 100); start != 100 || err != nil {
		t.Errorf("got %d, %v", start, err)
	}
}
