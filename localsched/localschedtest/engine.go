package localschedtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// EngineTarget is the engine under test.
type EngineTarget struct {
	// Open makes an engine with an empty machine. One that is an [io.Closer] is
	// closed at the end of a case. An error that wraps [ErrNoSuchMachine] says that
	// the engine has no model of such a machine: the cases on it do not apply.
	Open func(capacity protocol.Capacity) (localsched.Engine, error)
}

// ErrNoSuchMachine says that an engine cannot have such a machine.
var ErrNoSuchMachine = errors.New("the engine has no model of such a machine")

// TestEngine runs the suite for engines as subtests.
func TestEngine(t *testing.T, target EngineTarget) {
	t.Helper()
	conformance.Test(t, EngineCases(target))
}

// EngineCases are the suite for engines. Each rule is tried on a shared machine and
// on one whose nodes run one job at a time.
func EngineCases(target EngineTarget) []conformance.Case {
	var cases []conformance.Case
	for _, m := range []struct {
		name     string
		capacity protocol.Capacity
	}{
		{"shared", protocol.Capacity{CPUs: 24, Nodes: 3, MemoryMB: 4000}},
		{"whole nodes", protocol.Capacity{CPUs: 32, Nodes: 8, WholeNode: true, MaxWallTime: protocol.Day}},
	} {
		for _, r := range engineRules() {
			cases = append(cases, conformance.Case{Name: m.name + ": " + r.name, Run: func(ctx context.Context) error {
				return r.holds(ctx, machine{target, m.capacity})
			}})
		}
	}
	return cases
}

type engineRule struct {
	name  string
	holds func(ctx context.Context, m machine) error
}

func engineRules() []engineRule {
	return []engineRule{
		{"never more runs than the machine holds, and every job starts", everyJobStarts},
		{"a job is ended at its limit, once", endedAtLimits},
		{"equal input gets equal output", equalInput},
		{"plans change nothing", plansChangeNothing},
		{"a plan comes true when nothing else comes", plansComeTrue},
		{"a plan declines what never fits", plansDecline},
		{"a job that never fits is refused", neverFits},
		{"a tag that waits or runs is not taken again", duplicates},
		{"a job that runs is not withdrawn", withdrawStarted},
		{"a withdrawn job never starts", withdrawnNeverStarts},
		{"jobs that are not there are unknown", unknownJobs},
		{"time that runs back counts as the latest", timeRunsBack},
	}
}

// machine opens engines with one capacity.
type machine struct {
	target   EngineTarget
	capacity protocol.Capacity
}

// drive gives use a driver of a new engine.
func (m machine) drive(ctx context.Context, use func(d *driver) error) (err error) {
	engine, err := m.target.Open(m.capacity)
	if errors.Is(err, ErrNoSuchMachine) {
		return conformance.Skip("%v", err)
	}
	if err != nil {
		return fmt.Errorf("open an engine for %+v: %w", m.capacity, err)
	}
	if closer, ok := engine.(io.Closer); ok {
		defer func() { err = errors.Join(err, closer.Close()) }()
	}
	return use(newDriver(ctx, engine, m.capacity))
}

// full is a request for all of the machine.
func (m machine) full(wall protocol.Duration) protocol.Request {
	return protocol.Request{CPUs: m.capacity.CPUs, WallTime: wall}
}
