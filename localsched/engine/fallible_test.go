package engine_test

import (
	"errors"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The border is the same engine: what one is told, the other knows.
func TestBorderIsTheEngine(t *testing.T) {
	t.Parallel()
	inside := engine.New(engine.PerCPU(protocol.Capacity{CPUs: 4}), engine.EASY())
	border := inside.Fallible()
	if _, err := border.Submit(0, job(1, 4, 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := border.Submit(0, job(1, 4, 100)); !errors.Is(err, localsched.ErrDuplicate) {
		t.Errorf("got %v, want %v", err, localsched.ErrDuplicate)
	}
	load, err := border.Load()
	if err != nil || load != inside.Load() || load.Busy != 4 {
		t.Errorf("got %+v, %v; want %+v", load, err, inside.Load())
	}
	planned, err := border.Plan(10, nil, []protocol.Request{job(2, 1, 5).Request})
	if err != nil || len(planned) != 1 || planned[0].Start != 100 {
		t.Errorf("got %+v, %v; want a start at 100", planned, err)
	}
	actions, err := border.Tick(100)
	if err != nil || len(actions.Kills) != 1 || actions.Kills[0] != tag(1) {
		t.Errorf("got %+v, %v; want the end of job 1", actions, err)
	}
	if _, err = border.Finished(100, tag(1)); err != nil {
		t.Fatal(err)
	}
	if got := inside.Load().Busy; got != 0 {
		t.Errorf("%d CPUs are busy behind the border", got)
	}
}
