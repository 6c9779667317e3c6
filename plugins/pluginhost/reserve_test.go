package pluginhost_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// holder is memory that holds room: from a minute after the time that was asked for.
type holder struct{ memory }

func (h *holder) Describe(ctx context.Context) (localsched.Description, error) {
	d, err := h.memory.Describe(ctx)
	d.Capabilities = []string{localsched.Reserve}
	return d, err
}

func (h *holder) Reserve(_ context.Context, hold localsched.Reservation) (protocol.Instant, error) {
	switch {
	case hold.Account != "alice" || hold.Request.CPUs != 2:
		return 0, errors.New("another hold has arrived")
	case hold.Tag.Job.Seq() == restless:
		return hold.Start - 1, nil
	}
	return hold.Start.Add(protocol.Minute), h.about(hold.Tag)
}

func (h *holder) CancelReservation(_ context.Context, tag protocol.Tag) error { return h.about(tag) }

// holderPlugin is holder as a plugin.
func holderPlugin() sdk.Plugin {
	return sdk.Scheduler[memoryConfig]{
		Name: "holder", Version: "1.0.0",
		Make: func(memoryConfig, sdk.Host) (localsched.Scheduler, error) {
			return &holder{memory{news: make(chan struct{})}}, nil
		},
	}
}

// A scheduler in another process holds room exactly when it says that it can; and so does
// one that is built in.
func TestReserver(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "holder")
	spec.Kind = pluginhost.SchedulerKind
	remote := up(t, spec).Scheduler()
	t.Run("plugin", func(t *testing.T) {
		t.Parallel()
		checkReserver(t, remote, "plugin holder ("+spec.Path+"): ")
	})
	t.Run("built in", func(t *testing.T) {
		t.Parallel()
		checkReserver(t, pluginhost.CheckedScheduler(&holder{}), "local scheduler: ")
	})
}

func checkReserver(t *testing.T, s localsched.Scheduler, name string) {
	t.Helper()
	ctx := t.Context()
	reserver, ok := s.(localsched.Reserver)
	if !ok {
		t.Fatalf("%T holds no room", s)
	}
	if d, err := s.Describe(ctx); err != nil || !slices.Contains(d.Capabilities, localsched.Reserve) {
		t.Errorf("Describe: %+v, %v", d, err)
	}
	hold := func(seq uint64) localsched.Reservation {
		return localsched.Reservation{
			Tag: tagOf(seq), Request: protocol.Request{Job: tagOf(seq).Job, CPUs: 2, WallTime: protocol.Hour}, Start: 5000, Account: "alice",
		}
	}
	start, err := reserver.Reserve(ctx, hold(good))
	if start != 65_000 || err != nil {
		t.Errorf("Reserve: %d, %v", start, err)
	}
	_, err = reserver.Reserve(ctx, hold(restless))
	wants(t, err, name+"Reserve: ", "invalid response: start_ms: 4999 is before the 5000 that was asked for")
	_, err = reserver.Reserve(ctx, hold(refusedJob))
	if refused, is := errors.AsType[*localsched.RefusedError](err); !is || refused.Reason != "too odd" {
		t.Errorf("Reserve refused: %#v", err)
	}
	_, err = reserver.Reserve(ctx, hold(troubled))
	wants(t, err, name+"Reserve: the batch system is on fire")
	if err = reserver.CancelReservation(ctx, tagOf(good)); err != nil {
		t.Errorf("Release: %v", err)
	}
	err = reserver.CancelReservation(ctx, tagOf(troubled))
	wants(t, err, name+"Release: the batch system is on fire")
}

// What cannot hold room does not seem to.
func TestNoReserver(t *testing.T) {
	t.Parallel()
	memorySpec, simulated := specOf(t, "memory"), specOf(t, "holder")
	memorySpec.Kind, simulated.Kind, simulated.Host.Site = pluginhost.SchedulerKind, pluginhost.SchedulerKind, ""
	for name, s := range map[string]localsched.Scheduler{
		"without the capability": up(t, memorySpec).Scheduler(),
		"for no site":            up(t, simulated).Scheduler(),
		"built in":               pluginhost.CheckedScheduler(&memory{}),
	} {
		if _, ok := s.(localsched.Reserver); ok {
			t.Errorf("%s: %T holds room", name, s)
		}
	}
}

// A plugin that was up with the capability keeps it over its restarts, and a hold that does
// not reach it is no refusal.
func TestReserverAfterRestart(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "holder")
	spec.Kind = pluginhost.SchedulerKind
	plugin := up(t, spec)
	restart(t, plugin)
	checkReserver(t, plugin.Scheduler(), "plugin holder ("+spec.Path+"): ")
	if err := plugin.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := plugin.Scheduler().(localsched.Reserver).Reserve(t.Context(), localsched.Reservation{Tag: tagOf(good)})
	if _, down := errors.AsType[*pluginhost.DownError](err); !down {
		t.Errorf("got %v", err)
	}
}
